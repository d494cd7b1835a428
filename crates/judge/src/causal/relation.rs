//! Relations as predecessor lists: kept program order, reads-from, and layers of derived edges.
//!
//! Every relation a causal model speaks of is the transitive closure of one of these. Layers are
//! shared between relations (hb and pww both hold the observed edges) and only ever grow. Nothing
//! needs successors: orders, clocks and shortest paths all walk backwards.

use super::kept::Base;
use super::operations::{From, Op, Operations, ReadsFrom};

/// What an edge is, and where its derivation is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tag {
    /// Kept program order.
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

/// A growing set of edges, kept as a list for each target.
#[derive(Debug)]
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
    pub(super) fn new(ops: &Operations) -> Self {
        Edges { heads: vec![END; ops.len()], items: Vec::new() }
    }

    pub(super) fn add(&mut self, from: Op, to: Op, tag: Tag) {
        let head = &mut self.heads[to.index()];
        self.items.push(Item { from, next: *head, tag });
        *head = self.items.len() as u32 - 1;
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn ending_at(&self, to: Op) -> impl Iterator<Item = (Op, Tag)> + '_ {
        let mut at = self.heads[to.index()];
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

/// Kept program order, the reads-from it sees, and layers of derived edges.
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
    use super::kept::Kept;
    let across_fence =
        |from: Op| base.kept == Kept::Preserved && ops.is_write(from) && !ops.is_write(op);
    for from in base.before(op) {
        visit(from, if across_fence(from) { Tag::Fence } else { Tag::Program });
    }
    if let From::Write(write) = reads_from.source(op)
        && base.sees(ops, write, op)
    {
        visit(write, Tag::Reads);
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
