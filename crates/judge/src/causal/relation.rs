//! Relations as predecessor lists: kept program order, reads-from, and layers of derived edges.
//!
//! Every relation a causal model speaks of is the transitive closure of one of these. Layers are
//! shared between relations (hb and pww both hold the observed edges) and only ever grow. Nothing
//! needs successors: orders, clocks and shortest paths all walk backwards.

use super::operations::{From, Op, Operations, ReadsFrom};
use super::program_order::{Base, ProgramOrderPart};

/// What an edge is, and where its derivation is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tag {
    /// ProgramOrderPart program order.
    Program,
    /// Program order kept because of a fence.
    Fence,
    /// Reads-from.
    Reads,
    /// Rule (2) of happens-before, by an entry in the log of a scope.
    Observed { side: u8, scope: u32, entry: u32 },
    /// cf: the first write comes before this read of the second.
    Conflict { side: u8, read: Op },
    /// An `order` line, or the `final` line of that index.
    Declared { final_line: Option<u32> },
    /// Two writes of one address, the first happening before the second.
    HappensBefore,
    /// A pair of the partial store order.
    StoreOrder,
    /// rw: the first, a read, read what the second overwrote.
    Overwritten,
    /// Atomicity, by an entry in the list of such edges.
    Atomic { edge: u32 },
}

/// A growing set of edges, kept as a list for each target; an empty one takes no room.
#[derive(Debug, Default)]
pub(super) struct Edges {
    heads: Vec<u32>,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    from: Op,
    next: u32,
    tag: Tag,
}

const END: u32 = u32::MAX;

impl Edges {
    pub(super) fn add(&mut self, ops: &Operations, from: Op, to: Op, tag: Tag) {
        if self.heads.is_empty() {
            self.heads = vec![END; ops.len()];
        }
        let head = &mut self.heads[to.index()];
        self.items.push(Item { from, next: *head, tag });
        *head = self.items.len() as u32 - 1;
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn ending_at(&self, to: Op) -> impl Iterator<Item = (Op, Tag)> + '_ {
        let mut at = self.heads.get(to.index()).copied().unwrap_or(END);
        std::iter::from_fn(move || {
            let item = self.items.get(at as usize)?;
            at = item.next;
            Some((item.from, item.tag))
        })
    }
}

/// A relation, as far as a backward walk needs it.
pub(super) trait Predecessors {
    /// Calls `visit` with every direct predecessor and what the edge is.
    fn before(&self, op: Op, visit: impl FnMut(Op, Tag));
}

/// ProgramOrderPart program order, the reads-from it sees, and layers of derived edges.
pub(super) struct Relation<'a> {
    pub(super) ops: &'a Operations,
    pub(super) base: &'a Base,
    pub(super) reads_from: &'a ReadsFrom,
    pub(super) layers: Vec<&'a Edges>,
}

/// What of program order leads to `op`, and the read it took its value by.
pub(super) fn base_before(
    (ops, base, reads_from): (&Operations, &Base, &ReadsFrom),
    op: Op,
    mut visit: impl FnMut(Op, Tag),
) {
    let across_fence = |from: Op| {
        base.kept == ProgramOrderPart::Preserved && ops.is_write(from) && !ops.is_write(op)
    };
    for from in base.before(ops, op) {
        visit(from, if across_fence(from) { Tag::Fence } else { Tag::Program });
    }
    if let From::Write(write) = reads_from.source(op)
        && base.sees(ops, write, op)
    {
        visit(write, Tag::Reads);
    }
}

impl Relation<'_> {
    /// The first predecessor of an operation, but for the one in its lane, that passes a test.
    pub(super) fn across(&self, op: Op, mut test: impl FnMut(Op) -> bool) -> Option<Op> {
        let far = self.base.far(op);
        if far.is_some() && test(far) {
            return Some(far);
        }
        let source = self.reads_from.write(op);
        if source.is_some() && self.base.sees(self.ops, source, op) && test(source) {
            return Some(source);
        }
        for layer in &self.layers {
            let mut at = layer.heads.get(op.index()).copied().unwrap_or(END);
            while let Some(item) = layer.items.get(at as usize) {
                if test(item.from) {
                    return Some(item.from);
                }
                at = item.next;
            }
        }
        None
    }

    /// Calls `visit` with every operation, in an order that extends the relation; or the operations
    /// of a cycle, each before the next.
    ///
    /// Each lane is followed until it has to wait for another, so a lane waits at most once at a
    /// time: O(n + edges), and a stack as deep as there are lanes.
    pub(super) fn sweep(&self, mut visit: impl FnMut(Op)) -> Result<(), Vec<Op>> {
        let (ops, base) = (self.ops, self.base);
        let mut done = vec![false; ops.len()];
        let mut next = base.heads().to_vec();
        let mut waits = vec![false; next.len()];
        // Lanes, and what has to be done in each before the one below can go on.
        let mut stack: Vec<(usize, Op)> = Vec::new();
        for lane in 0..next.len() {
            stack.push((lane, Op::NONE));
            while let Some(&(lane, goal)) = stack.last() {
                let op = next[lane];
                if !op.is_some() || (goal.is_some() && done[goal.index()]) {
                    waits[lane] = false;
                    stack.pop();
                    continue;
                }
                waits[lane] = true;
                match self.across(op, |from| !done[from.index()]) {
                    None => {
                        visit(op);
                        done[op.index()] = true;
                        next[lane] = base.next(ops, op);
                    }
                    Some(from) => {
                        let other = base.lane(ops, from);
                        if waits[other] {
                            return Err(self.cycle(&stack, &next, from));
                        }
                        stack.push((other, from));
                    }
                }
            }
        }
        Ok(())
    }

    /// The cycle that closes when a lane would have to wait for `from`, in a lane that waits.
    fn cycle(&self, stack: &[(usize, Op)], next: &[Op], from: Op) -> Vec<Op> {
        let lane = self.base.lane(self.ops, from);
        let start = stack.iter().position(|&(waiting, _)| waiting == lane).unwrap_or(0);
        let mut cycle = Vec::new();
        let mut along = |lane: usize, goal: Op| {
            let mut op = next[lane];
            while op.is_some() {
                cycle.push(op);
                op = if op == goal { Op::NONE } else { self.base.next(self.ops, op) };
            }
        };
        along(lane, from);
        for &(lane, goal) in stack[start + 1..].iter().rev() {
            along(lane, goal);
        }
        cycle
    }
}

impl Predecessors for Relation<'_> {
    fn before(&self, op: Op, mut visit: impl FnMut(Op, Tag)) {
        base_before((self.ops, self.base, self.reads_from), op, &mut visit);
        for layer in &self.layers {
            for (from, tag) in layer.ending_at(op) {
                visit(from, tag);
            }
        }
    }
}

/// Everything from `roots` backwards in an order that extends the relation, or the operations of a
/// cycle, each before the next. What one root leads to stands before the next root.
pub(super) fn topological_order(
    relation: &impl Predecessors,
    size: usize,
    roots: impl Iterator<Item = Op>,
) -> Result<Vec<Op>, Vec<Op>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; size];
    let mut order = Vec::with_capacity(size);
    // An operation is on the stack once to be entered, and again, marked, to be left.
    let mut stack: Vec<(Op, bool)> = Vec::new();
    for root in roots {
        stack.push((root, false));
        while let Some((op, leave)) = stack.pop() {
            if leave {
                state[op.index()] = DONE;
                order.push(op);
                continue;
            }
            match state[op.index()] {
                DONE => continue,
                OPEN => {
                    let mut cycle: Vec<Op> =
                        stack.iter().filter(|entry| entry.1).map(|entry| entry.0).collect();
                    let start = cycle.iter().position(|&o| o == op).unwrap_or(0);
                    cycle.drain(..start);
                    cycle[1..].reverse();
                    return Err(cycle);
                }
                _ => {}
            }
            state[op.index()] = OPEN;
            stack.push((op, true));
            relation.before(op, |from, _| {
                if state[from.index()] != DONE {
                    stack.push((from, false));
                }
            });
        }
    }
    Ok(order)
}
