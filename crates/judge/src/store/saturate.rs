//! Saturation: everything that rules R6 and R7 of efficient-tso-verification (§4.2, §4.4) infer.
//!
//! * R6: a write before a read of another write of its address comes before that one.
//! * R7: a read of a write comes before every later write of its address.
//!
//! Read-modify-writes need no rule of their own: they are one node, and both rules apply to it.
//! The least fixpoint is computed by a worklist ordered along the graph: a node is looked at again
//! only when its clock has changed. For a read that means asking, per chain, for the last write of
//! its address before it (R6); for a write, for the last other write of its address before it,
//! whose readers must come first (R7). Only the last ones matter: earlier writes of a chain come
//! before them. A violation shows as a write that comes before itself.
//!
//! Sound for every store model, complete for none (Fig. 5 of the paper, mirrored).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::{EventId, Source};

use super::clocks::{Chains, Clocks, PrecedesItself};
use super::graph::{EdgeId, NodeId, Origin, node};
use super::problem::Problem;
use crate::Budget;

/// Why saturation gave no clocks.
pub(crate) enum Stopped {
    /// A cycle: the history is a violation.
    Cycle(Vec<EdgeId>),
    /// Time is up.
    Time,
    /// The clocks would not fit.
    Memory,
}

/// Infers all it can into the graph of the problem.
pub(crate) fn saturate(problem: &mut Problem, budget: &Budget) -> Result<Clocks, Stopped> {
    let order = problem.graph.topological_order().map_err(Stopped::Cycle)?;
    let chains = Chains::new(problem);
    if !budget.allows(Clocks::bytes(&chains, problem.graph.node_count())) {
        return Err(Stopped::Memory);
    }
    let mut rank = vec![0u32; order.len()];
    for (i, &n) in order.iter().enumerate() {
        rank[n as usize] = i as u32;
    }
    let saturation = Saturation {
        clocks: Clocks::new(chains, order.len()),
        seen: SeenWrites::new(problem),
        queued: vec![true; order.len()],
        // Sorted ascending is a heap already.
        queue: (0..order.len() as u32).map(Reverse).collect(),
        order,
        rank,
        problem,
    };
    saturation.run(budget)
}

struct Saturation<'p, 'h> {
    problem: &'p mut Problem<'h>,
    clocks: Clocks,
    seen: SeenWrites,
    order: Vec<NodeId>,
    rank: Vec<u32>,
    queue: BinaryHeap<Reverse<u32>>,
    queued: Vec<bool>,
}

/// For each write and each chain that writes its address, how many of those writes R7 has seen
/// before it.
struct SeenWrites {
    starts: Vec<u32>,
    counts: Vec<u32>,
}

impl SeenWrites {
    fn new(problem: &Problem) -> Self {
        let history = problem.history;
        let threads_writing: Vec<u32> = history
            .address_ids()
            .map(|a| {
                let writes = &history.address(a).writes;
                writes.chunk_by(|a, b| history.event(*a).thread == history.event(*b).thread).count()
                    as u32
            })
            .collect();
        let mut starts = Vec::with_capacity(history.len());
        let mut total = 0;
        for event in history.events() {
            starts.push(total);
            if let (true, Some(address)) = (event.is_write(), event.address()) {
                total += threads_writing[address.index()];
            }
        }
        Self { starts, counts: vec![0; total as usize] }
    }

    fn of(&mut self, write: EventId, chain_of_address: usize) -> &mut u32 {
        &mut self.counts[self.starts[write.index()] as usize + chain_of_address]
    }
}

impl Saturation<'_, '_> {
    fn run(mut self, budget: &Budget) -> Result<Clocks, Stopped> {
        let mut steps = 0u32;
        while let Some(Reverse(rank)) = self.queue.pop() {
            let node = self.order[rank as usize];
            self.queued[node as usize] = false;
            if let Err(PrecedesItself(write)) = self.visit(node) {
                return Err(Stopped::Cycle(self.cycle_through(write)));
            }
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(4096) && budget.is_spent() {
                return Err(Stopped::Time);
            }
        }
        Ok(self.clocks)
    }

    fn cycle_through(&self, write: NodeId) -> Vec<EdgeId> {
        let graph = &self.problem.graph;
        graph
            .shortest_path(write, write, graph.edge_count())
            .expect("a clock only counts what a path leads from")
    }

    /// Applies the rules to a node whose clock has changed, then tells its successors.
    fn visit(&mut self, node: NodeId) -> Result<(), PrecedesItself> {
        if let Some(event) = self.problem.graph.event(node) {
            if let Some(Source::Write(source)) = self.problem.sources[event.index()] {
                self.seen_before_read(event, source)?;
            }
            if self.problem.history.event(event).is_write() {
                self.overwritten_by(event)?;
            }
        }
        self.tell_successors(node)
    }

    fn tell_successors(&mut self, node: NodeId) -> Result<(), PrecedesItself> {
        let event = self.problem.graph.event(node);
        let mut next = self.problem.graph.first(node);
        while let Some(edge) = next {
            let to = self.problem.graph.to(edge);
            let to_event = self.problem.graph.event(to);
            if self.clocks.learn(to, node, event, to_event)? {
                self.enqueue(to);
            }
            next = self.problem.graph.next(edge);
        }
        Ok(())
    }

    fn enqueue(&mut self, node: NodeId) {
        if !self.queued[node as usize] {
            self.queued[node as usize] = true;
            self.queue.push(Reverse(self.rank[node as usize]));
        }
    }

    /// R6 for one read.
    fn seen_before_read(&mut self, read: EventId, source: EventId) -> Result<(), PrecedesItself> {
        let Some(address) = self.problem.history.event(read).address() else { return Ok(()) };
        for i in 0..self.clocks.chains.of_address(address).len() {
            let chain = &self.clocks.chains.of_address(address)[i];
            let count = self.clocks.last_before(node(read), chain);
            let Some(&write) = chain.writes[..count].last() else { continue };
            if write != source && !self.clocks.precedes(write, node(source)) {
                self.add(write, source, Origin::SeenBefore { read })?;
            }
        }
        Ok(())
    }

    /// R7 for one write: whoever read an earlier write of the address came before this one.
    fn overwritten_by(&mut self, write: EventId) -> Result<(), PrecedesItself> {
        let Some(address) = self.problem.history.event(write).address() else { return Ok(()) };
        for i in 0..self.clocks.chains.of_address(address).len() {
            let chain = &self.clocks.chains.of_address(address)[i];
            let count = self.clocks.last_before(node(write), chain) as u32;
            if count <= *self.seen.of(write, i) {
                continue;
            }
            let source = chain.writes[count as usize - 1];
            *self.seen.of(write, i) = count;
            for read in self.problem.latest(self.problem.readers.of(source)) {
                if read != write {
                    self.add(read, write, Origin::Overwrites { source })?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, from: EventId, to: EventId, origin: Origin) -> Result<(), PrecedesItself> {
        self.problem.graph.infer(from, to, origin);
        if self.clocks.learn(node(to), node(from), Some(from), Some(to))? {
            self.enqueue(node(to));
        }
        Ok(())
    }
}
