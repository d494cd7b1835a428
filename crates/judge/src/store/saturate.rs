//! Saturation: everything that rules R6 and R7 of efficient-tso-verification (§4.2, §4.4) infer.
//!
//! * R6: a write before a read of another write of its address comes before that one.
//! * R7: a read of a write comes before every later write of its address.
//!
//! Read-modify-writes need no rule of their own: they are one node, and both rules apply to it.
//! The least fixpoint is computed along a topological order of what is known, going back only to
//! nodes whose clock has changed, and there only to the chains in which it has. For a read that
//! means asking, per chain, for the last write of its address before it (R6); for a write, for the
//! last other write of its address before it, whose readers must come first (R7). Only the last
//! ones matter: earlier writes of a chain come before them. An edge is inferred only if the clocks
//! do not know it, so there are few. A violation shows as an event that comes before itself.
//!
//! Sound for every store model, complete for none (Fig. 5 of the paper, mirrored). The guess goes
//! on from the fixpoint with edges it tries; what it tries can be taken back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::{AddressId, EventId, Kinds, Source};

use super::chains::Chains;
use super::clocks::{ChainSet, Changed, Clocks, PrecedesItself, chain_bit, place};
use super::graph::{EdgeId, NodeId, Origin, node};
use super::nodes::NodeSet;
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
pub(crate) fn saturate<'p, 'h>(
    problem: &'p mut Problem<'h>,
    budget: &Budget,
) -> Result<Saturation<'p, 'h>, Stopped> {
    let order = problem.graph.topological_order().map_err(Stopped::Cycle)?;
    let chains = Chains::new(problem);
    if !budget.allows(Clocks::bytes(&chains, problem.graph.node_count())) {
        return Err(Stopped::Memory);
    }
    let mut saturation = Saturation::new(problem, chains, &order);
    saturation.run(&order, budget)?;
    Ok(saturation)
}

/// A problem with its clocks: closed under the rules whenever the queue is empty.
pub(crate) struct Saturation<'p, 'h> {
    pub(crate) problem: &'p mut Problem<'h>,
    pub(crate) clocks: Clocks,
    /// In which chains the clock of a node has changed since the rules were applied to it.
    dirty: Vec<ChainSet>,
    rank: Vec<u32>,
    /// Ranks of dirty nodes to go back to; a node is named by `order` while it is scanned, and by
    /// its id in the pair.
    queue: BinaryHeap<Reverse<(u32, NodeId)>>,
    /// Nodes of this rank and beyond have not been reached by the scan yet.
    reached: u32,
    /// Where the last search among the writes of each part of an address ended.
    cursors: Vec<u32>,
    /// What a guess has put in order already.
    pub(crate) emitted: NodeSet,
    /// What has changed since a guess began, if one did.
    pub(crate) log: Option<Vec<Changed>>,
    /// How many edges from nodes not emitted lead to each node, kept for a guess.
    pub(crate) indegree: Vec<u32>,
}

impl<'p, 'h> Saturation<'p, 'h> {
    fn new(problem: &'p mut Problem<'h>, chains: Chains, order: &[NodeId]) -> Self {
        let nodes = order.len();
        let mut rank = vec![0u32; nodes];
        for (i, &n) in order.iter().enumerate() {
            rank[n as usize] = i as u32;
        }
        Self {
            cursors: vec![0; chains.part_count()],
            clocks: Clocks::new(chains, nodes),
            dirty: vec![ChainSet::MAX; nodes],
            rank,
            queue: BinaryHeap::new(),
            reached: 0,
            emitted: NodeSet::none(),
            log: None,
            indegree: Vec::new(),
            problem,
        }
    }

    /// Scans all nodes in order, going back where something has changed.
    fn run(&mut self, order: &[NodeId], budget: &Budget) -> Result<(), Stopped> {
        for (i, &n) in order.iter().enumerate() {
            self.reached = i as u32 + 1;
            let visited = self.visit(n).and_then(|()| self.propagate());
            if let Err(PrecedesItself(event)) = visited {
                return Err(Stopped::Cycle(self.cycle_through(event)));
            }
            if i.is_multiple_of(4096) && budget.is_spent() {
                return Err(Stopped::Time);
            }
        }
        Ok(())
    }

    fn cycle_through(&self, event: NodeId) -> Vec<EdgeId> {
        let graph = &self.problem.graph;
        graph
            .shortest_path(event, event, graph.edge_count())
            .expect("a clock only knows what a path leads from")
    }

    /// Applies the rules to everything that has changed.
    pub(crate) fn propagate(&mut self) -> Result<(), PrecedesItself> {
        while let Some(Reverse((_, n))) = self.queue.pop() {
            self.visit(n)?;
        }
        Ok(())
    }

    /// Forgets what has changed: the clocks are about to be restored.
    pub(crate) fn drop_queue(&mut self) {
        for Reverse((_, n)) in self.queue.drain() {
            self.dirty[n as usize] = 0;
        }
    }

    /// Applies the rules to a node whose clock has changed, then tells its successors.
    fn visit(&mut self, n: NodeId) -> Result<(), PrecedesItself> {
        let changed = std::mem::take(&mut self.dirty[n as usize]);
        let event = self.problem.graph.event(n);
        let kinds = event.map_or(Kinds::NONE, |e| self.problem.history.kinds_of(e));
        if let Some(event) = event
            && let Some(address) = self.problem.history.address_of(event)
        {
            if let Some(Source::Write(source)) = self.problem.sources[event.index()] {
                self.seen_before_read(event, source, address, changed)?;
            }
            if kinds.writes {
                self.overwritten_by(event, address, changed)?;
            }
        }
        self.tell_successors(n, event, kinds)
    }

    fn tell_successors(
        &mut self,
        n: NodeId,
        event: Option<EventId>,
        kinds: Kinds,
    ) -> Result<(), PrecedesItself> {
        let mut next = self.problem.graph.first(n);
        while let Some(edge) = next {
            self.tell(n, event, kinds, self.problem.graph.to(edge))?;
            next = self.problem.graph.next(n, edge);
        }
        Ok(())
    }

    /// Lets `to` know what `n` knows, and `n` itself.
    fn tell(
        &mut self,
        n: NodeId,
        event: Option<EventId>,
        kinds: Kinds,
        to: NodeId,
    ) -> Result<(), PrecedesItself> {
        let history = self.problem.history;
        let mut changed = self.clocks.learn(to, n, self.log.as_mut());
        if let Some(event) = event {
            if kinds.writes
                && let Some(chain) = self.clocks.chains.of_write(history, event)
            {
                changed |= self.clocks.learn_event(to, chain, event, self.log.as_mut());
            }
            if kinds.reads
                && let Some(chain) = self.clocks.chains.of_read(history, event)
            {
                changed |= self.clocks.learn_event(to, chain, event, self.log.as_mut());
            }
        }
        if changed == 0 {
            return Ok(());
        }
        if let Some(later) = self.problem.graph.event(to)
            && self.clocks.precedes_itself(history, later, history.kinds_of(later))
        {
            return Err(PrecedesItself(to));
        }
        let rank = self.rank[to as usize];
        let dirty = &mut self.dirty[to as usize];
        let is_queued = *dirty != 0;
        *dirty |= changed;
        if !is_queued && rank < self.reached {
            self.queue.push(Reverse((rank, to)));
        }
        Ok(())
    }

    /// R6 for one read: the writes of its address before it come before what it read.
    fn seen_before_read(
        &mut self,
        read: EventId,
        source: EventId,
        address: AddressId,
        changed: ChainSet,
    ) -> Result<(), PrecedesItself> {
        for part in self.clocks.chains.parts_of(address) {
            let Some((chain, write)) = self.last_before(read, address, part, changed) else {
                continue;
            };
            if write != source && place(write) >= self.clocks.reach(node(source), chain) {
                self.add(write, source, Origin::SeenBefore { read })?;
            }
        }
        Ok(())
    }

    /// R7 for one write: whoever read an earlier write of the address came before this one.
    fn overwritten_by(
        &mut self,
        write: EventId,
        address: AddressId,
        changed: ChainSet,
    ) -> Result<(), PrecedesItself> {
        for part in self.clocks.chains.parts_of(address) {
            let Some((_, source)) = self.last_before(write, address, part, changed) else {
                continue;
            };
            for i in 0..self.problem.readers.of(source).len() {
                let read = self.problem.readers.of(source)[i];
                if read != write && !self.read_is_before(read, write) {
                    self.add(read, write, Origin::Overwrites { source })?;
                }
            }
        }
        Ok(())
    }

    /// The last write of a part of an address that comes before an event, with its chain; `None`
    /// if there is none or if that cannot have changed.
    fn last_before(
        &mut self,
        later: EventId,
        address: AddressId,
        part: usize,
        changed: ChainSet,
    ) -> Option<(usize, EventId)> {
        let writes = self.clocks.chains.part(self.problem.history, address, part);
        if changed & chain_bit(writes.chain) == 0 {
            return None;
        }
        let reach = self.clocks.reach(node(later), writes.chain);
        if place(writes.writes[0]) >= reach {
            return None;
        }
        let cursor = &mut self.cursors[part];
        let count = gallop(writes.writes, *cursor as usize, reach);
        *cursor = count as u32;
        Some((writes.chain, writes.writes[count - 1]))
    }

    /// Whether the clocks know that a read comes before a write.
    pub(crate) fn read_is_before(&self, read: EventId, write: EventId) -> bool {
        let chain = self.clocks.chains.of_read(self.problem.history, read);
        chain.is_some_and(|chain| self.clocks.reaches(node(write), chain, read))
    }

    /// Adds an inferred edge. In a guess, what has been emitted comes before everything else.
    pub(crate) fn add(
        &mut self,
        from: EventId,
        to: EventId,
        origin: Origin,
    ) -> Result<(), PrecedesItself> {
        if self.emitted.contains(node(from)) {
            return Ok(());
        }
        if self.emitted.contains(node(to)) {
            return Err(PrecedesItself(node(to)));
        }
        self.problem.graph.infer(from, to, origin);
        if let Some(indegree) = self.indegree.get_mut(to.index()) {
            *indegree += 1;
        }
        let kinds = self.problem.history.kinds_of(from);
        self.tell(node(from), Some(from), kinds, node(to))
    }
}

/// How many of these ascending writes lie below `reach`, searching outwards from a first guess.
fn gallop(writes: &[EventId], guess: usize, reach: i32) -> usize {
    let below = |i: usize| place(writes[i]) < reach;
    let guess = guess.min(writes.len());
    let (mut low, mut high) = (guess, guess);
    let mut step = 1;
    if guess < writes.len() && below(guess) {
        // All up to `low` lie below.
        while high < writes.len() && below(high) {
            low = high + 1;
            high = (high + step).min(writes.len());
            step *= 2;
        }
    } else {
        // None from `high` on does.
        while low > 0 && !below(low - 1) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + writes[low..high].partition_point(|&w| place(w) < reach)
}
