//! A relation over operations, closed transitively and checked for cycles.
//!
//! Operations are divided into *chains*, each a sequence that the relation keeps in order. What
//! comes before an operation is then a prefix of every chain, so the closure is a table of
//! prefixes: operations × chains. It is filled in one pass along a topological order; if there is
//! none, the relation has a cycle.

use super::operations::{Op, Operation, Operations};
use crate::rejection::Fault;

/// How operations are divided into chains, and which program order runs along them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// po: a chain is a thread.
    Program,
    /// ppo: po without pairs of a write and a later read, unless a fence orders them. A thread is
    /// two chains, its reads and its writes.
    Preserved,
    /// po-loc: a chain is a thread at one address. Only operations of one address are ever
    /// related, so that chains of different addresses may share a column of the table.
    Location,
    /// po between writes of one address, a chain being a thread at one address as above. Says
    /// nothing about reads.
    Writes,
}

/// Which chain an operation is in, and its place there.
struct Chains {
    count: usize,
    chain: Vec<usize>,
    place: Vec<u32>,
}

impl Chains {
    fn new(operations: &Operations<'_>, order: Order) -> Self {
        let threads = operations.history.thread_count();
        let count = if order == Order::Preserved { 2 * threads } else { threads };
        let (mut chain, mut place) = (Vec::new(), Vec::new());
        // How long the chains of the thread at hand are so far; they are distinguished by a key.
        let mut lengths = vec![(usize::MAX, 0); operations.history.address_count().max(2)];
        for o in &operations.all {
            let role = usize::from(o.is_write());
            let key = match order {
                Order::Program => 0,
                Order::Preserved => role,
                Order::Location | Order::Writes => o.address.index(),
            };
            if lengths[key].0 != o.thread {
                lengths[key] = (o.thread, 0);
            }
            place.push(lengths[key].1);
            lengths[key].1 += 1;
            chain.push(if order == Order::Preserved { 2 * o.thread + role } else { o.thread });
        }
        Self { count, chain, place }
    }
}

/// The pairs of neighbours in program order; with their closure, all of it.
pub(super) fn program_order(operations: &Operations<'_>, order: Order) -> Vec<(Op, Op)> {
    match order {
        Order::Program => {
            let pairs = (1..operations.all.len()).map(|op| (op - 1, op));
            let thread = |op: Op| operations.all[op].thread;
            pairs.filter(|&(a, b)| thread(a) == thread(b)).collect()
        }
        Order::Preserved => preserved(operations),
        Order::Location => at_addresses(operations, |_| true),
        Order::Writes => at_addresses(operations, Operation::is_write),
    }
}

/// Neighbours in program order at one address, among some of the operations.
fn at_addresses(operations: &Operations<'_>, among: fn(&Operation) -> bool) -> Vec<(Op, Op)> {
    let mut edges = Vec::new();
    let mut last: Vec<Option<Op>> = vec![None; operations.history.address_count()];
    for (op, o) in operations.all.iter().enumerate().filter(|(_, o)| among(o)) {
        match last[o.address.index()].replace(op) {
            Some(before) if operations.all[before].thread == o.thread => edges.push((before, op)),
            _ => {}
        }
    }
    edges
}

/// A read comes before all that follows, a write before later writes, and before later reads if a
/// fence says so.
fn preserved(operations: &Operations<'_>) -> Vec<(Op, Op)> {
    let mut edges = Vec::new();
    let mut op = 0;
    for thread in operations.history.threads() {
        let (mut read, mut write, mut fenced) = (None, None, None);
        for e in operations.history.thread_events(thread) {
            if let history::Operation::Fence { before, after } =
                operations.history.event(e).operation
            {
                if before.writes && after.reads {
                    fenced = write;
                }
                continue;
            }
            while op < operations.all.len() && operations.all[op].event == e {
                edges.extend(read.map(|read| (read, op)));
                if operations.all[op].is_write() {
                    edges.extend(write.replace(op).map(|write| (write, op)));
                } else {
                    edges.extend(fenced.map(|fenced| (fenced, op)));
                    read = Some(op);
                }
                op += 1;
            }
        }
    }
    edges
}

/// A relation: a program order and more edges.
pub(super) struct Relation<'a> {
    operations: &'a Operations<'a>,
    chains: Chains,
    edges: Vec<(Op, Op)>,
    /// What a sentence calls it.
    name: &'static str,
}

impl<'a> Relation<'a> {
    /// The program order alone.
    pub(super) fn new(operations: &'a Operations<'a>, order: Order, name: &'static str) -> Self {
        let chains = Chains::new(operations, order);
        Self { operations, chains, edges: program_order(operations, order), name }
    }

    /// This relation with more edges.
    pub(super) fn with(mut self, edges: impl IntoIterator<Item = (Op, Op)>) -> Self {
        self.edges.extend(edges);
        self
    }

    pub(super) fn add(&mut self, edges: &[(Op, Op)]) {
        self.edges.extend_from_slice(edges);
    }

    /// Whether the closure fits the memory, with what it takes to find it. There is never more than
    /// one at a time.
    fn fits(&self) -> Result<(), Fault> {
        let length = self.operations.all.len();
        let row = self.chains.count.saturating_mul(size_of::<u32>()) + 3 * size_of::<Op>();
        let edges = self.edges.len().saturating_mul(2 * size_of::<(Op, Op)>());
        let bytes = length.saturating_mul(row).saturating_add(edges);
        let allowed = self.operations.memory;
        if bytes > allowed { Err(Fault::TooLarge { bytes, allowed }) } else { Ok(()) }
    }

    /// The transitive closure, unless there is a cycle.
    pub(super) fn close(&self) -> Result<Closure<'_>, Fault> {
        self.fits()?;
        let (length, width) = (self.operations.all.len(), self.chains.count);
        let mut waiting = vec![0usize; length];
        let mut first_edge = vec![0; length + 1];
        for &(from, to) in &self.edges {
            waiting[to] += 1;
            first_edge[from + 1] += 1;
        }
        for op in 0..length {
            first_edge[op + 1] += first_edge[op];
        }
        // The ends of the edges, by their beginnings.
        let mut ends = vec![0; self.edges.len()];
        let mut next_edge = first_edge.clone();
        for &(from, to) in &self.edges {
            ends[next_edge[from]] = to;
            next_edge[from] += 1;
        }
        drop(next_edge);
        let mut free: Vec<Op> = (0..length).filter(|&op| waiting[op] == 0).collect();
        let mut past = vec![0u32; length * width];
        let mut row = vec![0u32; width];
        let mut done = 0;
        while let Some(op) = free.pop() {
            done += 1;
            row.copy_from_slice(&past[op * width..][..width]);
            row[self.chains.chain[op]] = self.chains.place[op] + 1;
            for &next in &ends[first_edge[op]..first_edge[op + 1]] {
                for (known, new) in past[next * width..][..width].iter_mut().zip(&row) {
                    *known = (*known).max(*new);
                }
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    free.push(next);
                }
            }
        }
        if done < length {
            return Err(Fault::Cyclic { relation: self.name });
        }
        Ok(Closure { operations: self.operations, chains: &self.chains, past })
    }
}

/// For each address, how many of its writes in each thread came before the operation that was asked
/// about last. Any numbers will do.
pub(super) struct Hints(Vec<Vec<usize>>);

impl Hints {
    pub(super) fn new(operations: &Operations<'_>) -> Self {
        Self(vec![Vec::new(); operations.history.address_count()])
    }
}

/// A transitive relation without cycles.
pub(super) struct Closure<'a> {
    operations: &'a Operations<'a>,
    chains: &'a Chains,
    /// For each operation, how much of each chain comes before it.
    past: Vec<u32>,
}

impl Closure<'_> {
    /// Whether `a` comes before `b`. In [`Order::Location`] and [`Order::Writes`] this may only be
    /// asked about operations of one address.
    pub(super) fn precedes(&self, a: Op, b: Op) -> bool {
        self.past[b * self.chains.count + self.chains.chain[a]] > self.chains.place[a]
    }

    /// The latest write of its address in each thread that comes before `op`. The others of the
    /// thread come before that one. It is looked for first where the last search of its kind ended,
    /// which for the operations of a thread, one after the other, is near.
    pub(super) fn latest_writes<'c>(
        &'c self,
        op: Op,
        hints: &'c mut Hints,
    ) -> impl Iterator<Item = Op> + 'c {
        let lists = self.operations.writers_at(op).iter();
        let hints = &mut hints.0[self.operations.all[op].address.index()];
        hints.resize(lists.len(), 0);
        lists.zip(hints).filter_map(move |(list, hint)| {
            let comes_before = |write: Op| self.precedes(write, op);
            let mut before = *hint;
            if before > 0 && !comes_before(list[before - 1]) {
                before = list[..before].partition_point(|&write| comes_before(write));
            } else {
                while before < list.len() && comes_before(list[before]) {
                    before += 1;
                }
            }
            *hint = before;
            before.checked_sub(1).map(|last| list[last])
        })
    }

    /// How much of each chain comes before an operation.
    pub(super) fn past(&self, op: Op) -> &[u32] {
        &self.past[op * self.chains.count..][..self.chains.count]
    }

    /// The place of an operation in its chain.
    pub(super) fn place(&self, op: Op) -> u32 {
        self.chains.place[op]
    }

    /// The earliest write of its address in each thread that comes after the write `op`. The
    /// others of the thread come after that one.
    pub(super) fn earliest_after(&self, op: Op) -> impl Iterator<Item = Op> + '_ {
        self.operations.writers_at(op).iter().filter_map(move |list| {
            let after = list.partition_point(|&write| !self.precedes(op, write));
            list.get(after).copied()
        })
    }
}
