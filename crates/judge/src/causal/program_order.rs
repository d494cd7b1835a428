//! What of program order a causal model keeps, as at most two nearest predecessors an operation.
//!
//! `cc`, `ccv`, `cm` and `ccm` keep all of it. `wccm` looks at two parts of it (Gradual
//! Consistency Checking, section 4): ppo, which gives up writes before reads except across a fence
//! that orders them, and po-loc, which keeps the accesses of one address in order. Each is the
//! transitive closure of the edges listed here, O(n) of them.

use history::{History, Operation};

use super::operations::{Op, Operations};

/// Which part of program order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgramOrderPart {
    /// All of it.
    Program,
    /// All but writes before reads, and those too across a fence.
    Preserved,
    /// Accesses of one address.
    Location,
}

/// The part of program order that a relation is built on.
///
/// Operations that follow each other in it form *lanes*: the operations of a thread, its reads, its
/// writes, or its accesses of an address.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) kept: ProgramOrderPart,
    /// The operations before and after in the lane; empty where a lane is a thread.
    near: Vec<Op>,
    next: Vec<Op>,
    /// The lane of each operation, for po-loc.
    lanes: Vec<u32>,
    /// The first operation of each lane.
    heads: Vec<Op>,
    /// Preserved only: of a write, the last read before it; of a read, the last write before the
    /// last fence that orders writes before reads. Left out where `near` leads there anyway.
    far: Vec<Op>,
}

impl Base {
    pub(super) fn new(history: &History, ops: &Operations, kept: ProgramOrderPart) -> Self {
        let (near, next, lanes, heads, far) = Default::default();
        let mut base = Base { kept, near, next, lanes, heads, far };
        if kept != ProgramOrderPart::Program {
            base.near = vec![Op::NONE; ops.len()];
            base.next = vec![Op::NONE; ops.len()];
        }
        match kept {
            ProgramOrderPart::Program => base.link_threads(ops),
            ProgramOrderPart::Preserved => base.link_reads_and_writes(history, ops),
            ProgramOrderPart::Location => base.link_accesses(history, ops),
        }
        base
    }

    fn link_threads(&mut self, ops: &Operations) {
        let head = |thread| ops.of_thread(thread).next().unwrap_or(Op::NONE);
        self.heads = (0..ops.thread_count()).map(head).collect();
    }

    /// Lets an operation follow the last one of its lane.
    fn follow(&mut self, lane: usize, last: Op, op: Op) {
        if last.is_some() {
            self.near[op.index()] = last;
            self.next[last.index()] = op;
        } else {
            self.heads[lane] = op;
        }
    }

    fn link_reads_and_writes(&mut self, history: &History, ops: &Operations) {
        self.far = vec![Op::NONE; ops.len()];
        self.heads = vec![Op::NONE; 2 * ops.thread_count()];
        for thread in history.threads() {
            let lane = 2 * thread.index();
            let (mut last_read, mut last_write) = (Op::NONE, Op::NONE);
            // A write that a fence has put before the reads to come.
            let mut fenced = Op::NONE;
            for id in history.thread_events(thread) {
                let event = history.event(id);
                if let Operation::Fence { before, after } = event.operation {
                    if before.writes && after.reads {
                        fenced = last_write;
                    }
                    continue;
                }
                if event.is_read() {
                    let read = ops.read_of(id);
                    self.follow(lane, last_read, read);
                    self.far[read.index()] = std::mem::replace(&mut fenced, Op::NONE);
                    last_read = read;
                }
                if event.is_write() {
                    let write = ops.write_of(id);
                    self.follow(lane + 1, last_write, write);
                    if last_read.is_some() && (!last_write.is_some() || last_write < last_read) {
                        self.far[write.index()] = last_read;
                    }
                    last_write = write;
                }
            }
        }
    }

    fn link_accesses(&mut self, history: &History, ops: &Operations) {
        self.lanes = vec![0; ops.len()];
        let mut last = vec![Op::NONE; history.address_count()];
        for op in ops.all() {
            let previous = std::mem::replace(&mut last[ops.address(op).index()], op);
            let follows = previous.is_some() && ops.thread(previous) == ops.thread(op);
            if follows {
                self.lanes[op.index()] = self.lanes[previous.index()];
                self.follow(0, previous, op);
            } else {
                self.lanes[op.index()] = self.heads.len() as u32;
                self.heads.push(op);
            }
        }
    }

    /// The first operation of each lane, or [`Op::NONE`].
    pub(super) fn heads(&self) -> &[Op] {
        &self.heads
    }

    /// The lane of an operation.
    pub(super) fn lane(&self, ops: &Operations, op: Op) -> usize {
        match self.kept {
            ProgramOrderPart::Program => ops.thread(op),
            ProgramOrderPart::Preserved => 2 * ops.thread(op) + usize::from(ops.is_write(op)),
            ProgramOrderPart::Location => self.lanes[op.index()] as usize,
        }
    }

    /// The operation before in the lane, or [`Op::NONE`].
    pub(super) fn near(&self, ops: &Operations, op: Op) -> Op {
        match self.kept {
            ProgramOrderPart::Program => ops.previous(op),
            ProgramOrderPart::Preserved | ProgramOrderPart::Location => self.near[op.index()],
        }
    }

    /// The operation after in the lane, or [`Op::NONE`].
    pub(super) fn next(&self, ops: &Operations, op: Op) -> Op {
        match self.kept {
            ProgramOrderPart::Program => ops.following(op),
            ProgramOrderPart::Preserved | ProgramOrderPart::Location => self.next[op.index()],
        }
    }

    /// The predecessor in another lane of the thread, or [`Op::NONE`].
    pub(super) fn far(&self, op: Op) -> Op {
        self.far.get(op.index()).copied().unwrap_or(Op::NONE)
    }

    /// The nearest predecessors of an operation.
    pub(super) fn before(&self, ops: &Operations, op: Op) -> impl Iterator<Item = Op> + use<> {
        [self.near(ops, op), self.far(op)].into_iter().filter(|p| p.is_some())
    }

    /// Whether the model sees a read take its value: under the relaxed orders, only a read from
    /// another thread is an edge.
    pub(super) fn sees(&self, ops: &Operations, write: Op, read: Op) -> bool {
        self.kept == ProgramOrderPart::Program || ops.thread(write) != ops.thread(read)
    }
}

/// The sets of reads that happens-before is computed for, one for each thread (for po-loc, for
/// each thread and address): hb_o grows along the order, so the last read speaks for all before
/// it, and operations that no read follows derive nothing.
#[derive(Debug)]
pub(super) struct Scopes {
    reads: Vec<Op>,
    starts: Vec<u32>,
}

impl Scopes {
    pub(super) fn new(ops: &Operations, kept: ProgramOrderPart) -> Self {
        let mut reads: Vec<Op> = ops.all().filter(|&op| !ops.is_write(op)).collect();
        if kept == ProgramOrderPart::Location {
            reads.sort_unstable_by_key(|&read| (ops.thread(read), ops.address(read), read));
        }
        let mut starts = Vec::new();
        for (i, &read) in reads.iter().enumerate() {
            let follows = i > 0
                && ops.thread(reads[i - 1]) == ops.thread(read)
                && (kept != ProgramOrderPart::Location
                    || ops.address(reads[i - 1]) == ops.address(read));
            if !follows {
                starts.push(i as u32);
            }
        }
        starts.push(reads.len() as u32);
        Scopes { reads, starts }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The reads of a scope, in program order.
    pub(super) fn reads(&self, scope: usize) -> &[Op] {
        &self.reads[self.starts[scope] as usize..self.starts[scope + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use history::parse_text;

    use super::*;

    fn before(trace: &str, kept: ProgramOrderPart) -> Vec<Vec<usize>> {
        let history = parse_text(trace).expect("the trace is well-formed");
        let ops = Operations::new(&history);
        let base = Base::new(&history, &ops, kept);
        ops.all().map(|op| base.before(&ops, op).map(Op::index).collect()).collect()
    }

    const TRACE: &str = "
        0: x := 1
        0: y == 0
        0: fence w,r
        0: x == 1
        0: <y == 0; y := 2>
        0: x == 1";

    #[test]
    fn ppo_keeps_reads_and_writes_apart_but_for_fences() {
        let links = before(TRACE, ProgramOrderPart::Preserved);
        assert_eq!(links, [vec![], vec![], vec![1, 0], vec![2], vec![0, 3], vec![3]]);
    }

    #[test]
    fn po_loc_links_the_accesses_of_an_address() {
        let links = before(TRACE, ProgramOrderPart::Location);
        assert_eq!(links, [vec![], vec![], vec![0], vec![1], vec![3], vec![2]]);
    }

    #[test]
    fn scopes_are_threads_or_threads_at_addresses() {
        let history = parse_text(TRACE).expect("the trace is well-formed");
        let ops = Operations::new(&history);
        assert_eq!(Scopes::new(&ops, ProgramOrderPart::Preserved).len(), 1);
        assert_eq!(Scopes::new(&ops, ProgramOrderPart::Location).len(), 2);
    }
}
