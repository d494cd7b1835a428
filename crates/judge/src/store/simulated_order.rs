//! The simulated order: a topological sort of what is known that runs the memory as it goes.
//!
//! A write is held back while the value it would overwrite still has readers to come. Among writes
//! that may go, the one whose last reader is due first goes: it blocks its address for the shortest
//! time. If the sort comes through like that, its order is a witness already, and nothing has to be
//! inferred. If it gets stuck, the write held back longest goes after all: the order is no witness
//! then, but close to one, and saturation along it has less to go back for. O(n log n).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use history::{EventId, Source};

use super::graph::{EdgeId, NodeId, node};
use super::problem::Problem;

const NONE: u32 = u32::MAX;

/// An order of all nodes that every edge follows.
pub(crate) struct SimulatedOrder {
    pub(crate) order: Vec<NodeId>,
    /// Every read saw what it read. This makes a witness if all sources are known.
    pub(crate) reads_are_right: bool,
}

/// Sorts the nodes of a problem, or finds a cycle.
pub(crate) fn simulate(problem: &Problem) -> Result<SimulatedOrder, Vec<EdgeId>> {
    let mut run = Run::new(problem);
    loop {
        run.emit_ready();
        if !run.let_one_go() {
            break;
        }
    }
    debug_assert!(run.order.len() <= problem.graph.node_count(), "each node goes once");
    if run.order.len() < problem.graph.node_count() {
        return Err(problem.graph.some_cycle(|n| run.indegree[n as usize] > 0));
    }
    Ok(SimulatedOrder { order: run.order, reads_are_right: run.reads_are_right })
}

struct Run<'p, 'h> {
    problem: &'p Problem<'h>,
    indegree: Vec<u32>,
    /// Readers of each write that are still to come.
    unread: Vec<u32>,
    /// The last write of each address.
    current: Vec<Option<EventId>>,
    /// Nodes that are not writes and wait for nothing.
    free: Vec<NodeId>,
    /// Writes that wait for nothing, with when they are due.
    ready: BinaryHeap<Reverse<(u64, EventId)>>,
    /// The writes held back at each address, as lists through `next_held`.
    first_held: Vec<u32>,
    next_held: Vec<u32>,
    /// Writes in the order in which they were held back; some have gone since.
    held: VecDeque<EventId>,
    is_held: Vec<bool>,
    order: Vec<NodeId>,
    reads_are_right: bool,
}

impl<'p, 'h> Run<'p, 'h> {
    fn new(problem: &'p Problem<'h>) -> Self {
        let history = problem.history;
        let nodes = problem.graph.node_count();
        let indegree = problem.graph.indegrees();
        let mut unread = vec![0; history.len()];
        for source in &problem.sources {
            if let Some(Source::Write(write)) = source {
                unread[write.index()] += 1;
            }
        }
        let mut run = Self {
            problem,
            free: Vec::new(),
            ready: BinaryHeap::new(),
            indegree,
            unread,
            current: vec![None; history.address_count()],
            first_held: vec![NONE; history.address_count()],
            next_held: vec![NONE; history.len()],
            held: VecDeque::new(),
            is_held: vec![false; history.len()],
            order: Vec::with_capacity(nodes),
            reads_are_right: true,
        };
        for n in 0..nodes as NodeId {
            if run.indegree[n as usize] == 0 {
                run.list(n);
            }
        }
        run
    }

    /// Lists a node that waits for nothing.
    fn list(&mut self, n: NodeId) {
        match self.problem.graph.event(n) {
            Some(event) if self.problem.history.kinds_of(event).writes => {
                self.ready.push(Reverse((self.due(event), event)));
            }
            _ => self.free.push(n),
        }
    }

    /// When the last reader of a write comes, by how far into its thread it stands.
    fn due(&self, write: EventId) -> u64 {
        let history = self.problem.history;
        let stands = |event: EventId| {
            history.times(event).begin.unwrap_or_else(|| {
                let range = history.thread_range(history.thread_of(event));
                (((event.index() - range.start) as u64) << 32) / range.len() as u64
            })
        };
        let readers = self.problem.readers.of(write).iter().map(|&read| stands(read));
        readers.max().unwrap_or_else(|| stands(write))
    }

    fn emit_ready(&mut self) {
        loop {
            while let Some(n) = self.free.pop() {
                self.emit(n);
            }
            match self.ready.pop() {
                Some(Reverse((_, write))) if self.must_wait(write) => self.hold(write),
                Some(Reverse((_, write))) => self.emit(node(write)),
                None => break,
            }
        }
    }

    /// Whether this would overwrite a value that others have yet to read.
    fn must_wait(&self, write: EventId) -> bool {
        let history = self.problem.history;
        let current = history.address_of(write).and_then(|a| self.current[a.index()]);
        current.is_some_and(|current| {
            let own = self.problem.sources[write.index()] == Some(Source::Write(current));
            self.unread[current.index()] > u32::from(own)
        })
    }

    fn hold(&mut self, write: EventId) {
        let Some(address) = self.problem.history.address_of(write) else { return };
        let first = &mut self.first_held[address.index()];
        self.next_held[write.index()] = std::mem::replace(first, node(write));
        if !std::mem::replace(&mut self.is_held[write.index()], true) {
            self.held.push_back(write);
        }
    }

    /// The writes held back at an address may go now, if they still have to wait they will be held
    /// again.
    fn release(&mut self, address: usize) {
        let mut held = std::mem::replace(&mut self.first_held[address], NONE);
        while held != NONE {
            // Those let go since have been emitted.
            if self.is_held[held as usize] {
                self.list(held);
            }
            held = self.next_held[held as usize];
        }
    }

    /// Lets the write go that was held back longest. False if none is.
    fn let_one_go(&mut self) -> bool {
        while let Some(write) = self.held.pop_front() {
            if std::mem::take(&mut self.is_held[write.index()]) {
                self.reads_are_right = false;
                self.emit(node(write));
                return true;
            }
        }
        false
    }

    fn emit(&mut self, n: NodeId) {
        debug_assert!(self.indegree[n as usize] == 0, "nothing is left to wait for");
        self.order.push(n);
        if let Some(event) = self.problem.graph.event(n) {
            self.perform(event);
        }
        for to in self.problem.graph.successors(n) {
            self.indegree[to as usize] -= 1;
            if self.indegree[to as usize] == 0 {
                self.list(to);
            }
        }
    }

    fn perform(&mut self, event: EventId) {
        let history = self.problem.history;
        let Some(address) = history.address_of(event).map(|a| a.index()) else { return };
        if let Some(Source::Write(source)) = self.problem.sources[event.index()] {
            self.unread[source.index()] -= 1;
            if self.unread[source.index()] <= 1 && self.current[address] == Some(source) {
                self.release(address);
            }
        }
        if history.kinds_of(event).writes {
            self.is_held[event.index()] = false;
            self.current[address] = Some(event);
            self.release(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use certify::certify;
    use evidence::{Certificate, Evidence, Witness};
    use models::{Model, Rules};
    use oracle::{Shape, random_histories, text};

    use super::simulate;
    use crate::store::linearize::accesses;
    use crate::store::problem::Problem;

    #[test]
    fn a_simulated_order_whose_reads_are_right_is_a_witness() {
        let mut witnesses = 0;
        for shape in Shape::all() {
            for (seed, history) in random_histories(&shape, 0..2_000) {
                for model in Model::ALL {
                    let Rules::Store(rules) = model.rules() else { continue };
                    let Ok(problem) = Problem::new(&history, rules, false) else { continue };
                    let Ok(simulated_order) = simulate(&problem) else { continue };
                    if !history.is_unambiguous() || !simulated_order.reads_are_right {
                        continue;
                    }
                    witnesses += 1;
                    let witness = Witness::Order(accesses(&problem, &simulated_order.order));
                    let evidence = Evidence::Consistent(witness);
                    if let Err(why) = certify(&history, &Certificate { trace: 1, model, evidence })
                    {
                        panic!("{model}, seed {seed}: {why}\n{}", text(&history));
                    }
                }
            }
        }
        assert!(witnesses > 1_000, "{witnesses}");
    }
}
