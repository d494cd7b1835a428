//! The simulated order: a topological sort of what is known that runs the memory as it goes.
//!
//! A write is held back while the value it would overwrite still has readers to come. Among writes
//! that may go, the one whose last reader is due first goes: it blocks its address for the shortest
//! time. If the sort comes through like that, its order is a witness already, and nothing has to be
//! inferred. If it gets stuck, the write held back longest goes after all: the order is no witness
//! then, but close to one, and saturation along it has less to go back for. O(n log n).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use history::{EventId, History, Source};

use super::graph::{EdgeId, NodeId, node};
use super::linearize::Follow;
use super::problem::Problem;

const NONE: u32 = u32::MAX;

/// The order of the lines says something if another thread comes more often than this.
const TURNS_A_THREAD: usize = 4;

/// An order of all nodes that every edge follows.
pub(crate) struct SimulatedOrder {
    pub(crate) order: Vec<NodeId>,
    /// Every read saw what it read. This makes a witness if all sources are known.
    pub(crate) reads_are_right: bool,
}

/// When events probably happened.
pub(crate) struct Hints {
    /// The place of each event in the recorded order; empty if that says nothing.
    position: Vec<u32>,
}

impl Hints {
    /// The order of the lines, if threads take turns there.
    pub(crate) fn new(history: &History) -> Self {
        let order = history.recorded_order();
        let thread = |event: EventId| history.thread_of(event);
        let turns = order.windows(2).filter(|pair| thread(pair[0]) != thread(pair[1])).count();
        let mut position = Vec::new();
        if turns > TURNS_A_THREAD * history.thread_count() {
            position = vec![0; history.len()];
            for (at, event) in (0..).zip(order) {
                position[event.index()] = at;
            }
        }
        Self { position }
    }

    /// By the clock of the trace if it has one, else by the recorded order, else by how far into its
    /// thread the event stands.
    fn of(&self, history: &History, event: EventId) -> u64 {
        if let Some(begin) = history.times(event).begin {
            return begin;
        }
        if let Some(&position) = self.position.get(event.index()) {
            return u64::from(position);
        }
        let range = history.thread_range(history.thread_of(event));
        (((event.index() - range.start) as u64) << 32) / range.len() as u64
    }
}

/// Sorts the nodes of a problem, or finds a cycle.
pub(crate) fn simulate(problem: &Problem) -> Result<SimulatedOrder, Vec<EdgeId>> {
    let hints = Hints::new(problem.history);
    Run::new(problem, &problem.graph, &problem.sources, &hints)
        .simulate()
        .map_err(|indegree| problem.graph.some_cycle(|n| indegree[n as usize] > 0))
}

/// The same along the edges of a search, with its sources. Nothing if the edges have a cycle.
pub(crate) fn simulate_along(
    problem: &Problem,
    edges: &impl Follow,
    sources: &[Option<Source>],
    hints: &Hints,
) -> Option<SimulatedOrder> {
    Run::new(problem, edges, sources, hints).simulate().ok()
}

struct Run<'p, 'h, E> {
    problem: &'p Problem<'h>,
    edges: &'p E,
    sources: &'p [Option<Source>],
    hints: &'p Hints,
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

impl<'p, 'h, E: Follow> Run<'p, 'h, E> {
    fn new(
        problem: &'p Problem<'h>,
        edges: &'p E,
        sources: &'p [Option<Source>],
        hints: &'p Hints,
    ) -> Self {
        let history = problem.history;
        let nodes = problem.graph.node_count();
        let indegree = edges.indegrees();
        let mut unread = vec![0; history.len()];
        for source in sources {
            if let Some(Source::Write(write)) = source {
                unread[write.index()] += 1;
            }
        }
        let mut run = Self {
            problem,
            edges,
            sources,
            hints,
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

    /// An order of all nodes, or how many edges lead to each from nodes that wait for each other.
    fn simulate(mut self) -> Result<SimulatedOrder, Vec<u32>> {
        loop {
            self.emit_ready();
            if !self.let_one_go() {
                break;
            }
        }
        debug_assert!(self.order.len() <= self.indegree.len(), "each node goes once");
        if self.order.len() < self.indegree.len() {
            return Err(self.indegree);
        }
        Ok(SimulatedOrder { order: self.order, reads_are_right: self.reads_are_right })
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

    /// When the last reader of a write probably comes.
    fn due(&self, write: EventId) -> u64 {
        let stands = |event: EventId| self.hints.of(self.problem.history, event);
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
            let own = self.sources[write.index()] == Some(Source::Write(current));
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
        let edges = self.edges;
        edges.successors(n, |to| {
            self.indegree[to as usize] -= 1;
            if self.indegree[to as usize] == 0 {
                self.list(to);
            }
        });
    }

    fn perform(&mut self, event: EventId) {
        let history = self.problem.history;
        let Some(address) = history.address_of(event).map(|a| a.index()) else { return };
        if let Some(Source::Write(source)) = self.sources[event.index()] {
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
