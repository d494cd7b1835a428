//! Proposals: an order of the writes of every address, as it probably was, and what is wrong with it.
//!
//! The memory is simulated along the edges of a search ([`simulated_order`](super::simulated_order)).
//! The result is an order of all nodes, and with it an order of the writes of every address: each
//! write comes before the next, and so do its readers. If every read saw what it read, the order is a
//! witness. Elsewhere a read stands behind the write that it must come before. If there is a way from
//! that write to the read, the two close a cycle, and some neighbours on it belong the other way
//! round. The way is looked for among the nodes that stand between the two, so it costs what they are
//! far apart, and not what the trace is long.
//!
//! After saturation, long traces of weak machines have one such place in some hundred events. All of them
//! are found in one pass of O(n log n), and a dozen passes mend them all, whatever the length and the
//! number of threads. Proposals prove nothing: cycles are left to whoever asked.

use std::collections::VecDeque;

use evidence::Because;
use history::{EventId, Source};

use super::choices::{Choices, Chosen, Combined, Ground, Hop};
use super::cycles::cycles;
use super::graph::{EdgeId, NodeId, node};
use super::linearize::Follow;
use super::simulated_order::{Hints, simulate_along};

/// How many nodes the search for a way visits.
const MOST_VISITED: u32 = 1 << 12;

const NONE: u32 = u32::MAX;

/// About what a proposal takes for each node.
pub(super) const BYTES_A_NODE: usize = 48;

/// What became of a proposal.
pub(super) enum Proposal {
    /// An order of all nodes that is a witness.
    Witness(Vec<NodeId>),
    /// Cycles of the edges of the search alone.
    Contradictions(Vec<Vec<Hop>>),
    /// Cycles that the proposal closes. If there are none, there is a cycle that was not found.
    Cycles(Vec<Vec<Hop>>),
}

/// Makes one proposal after the other for the same problem.
pub(super) struct Proposer {
    hints: Hints,
    ways: Ways,
}

impl Proposer {
    pub(super) fn new(choices: &Choices) -> Self {
        let nodes = choices.problem.graph.node_count();
        Self { hints: Hints::new(choices.problem.history), ways: Ways::new(nodes) }
    }

    /// Proposes an order of all writes that follows the edges of a search. Where these contradict
    /// each other, up to `most` of their cycles are found, or all that are short.
    pub(super) fn propose(
        &mut self,
        choices: &Choices,
        edges: &Combined,
        sources: &[Option<Source>],
        most: usize,
    ) -> Proposal {
        let problem = choices.problem;
        if self.ways.has_order {
            let cycles = self.ways.cycles_of_search(&Proposed::nothing(choices, edges, sources));
            if !cycles.is_empty() {
                return Proposal::Contradictions(cycles);
            }
        }
        let Some(simulated) = simulate_along(problem, edges, sources, &self.hints) else {
            let cycles = cycles(edges, most);
            // Where chains are thin, the graph itself may have a cycle.
            return match cycles.is_empty() {
                true => Proposal::Cycles(cycles),
                false => Proposal::Contradictions(cycles),
            };
        };
        if simulated.reads_are_right {
            return Proposal::Witness(simulated.order);
        }
        self.ways.follow(&simulated.order);
        let proposed = Proposed::new(choices, edges, sources, &simulated.order);
        let cycles = self.ways.cycles_of_proposal(&proposed, &simulated.order);
        match cycles.is_empty().then(|| proposed.topological_order()).flatten() {
            Some(order) => Proposal::Witness(order),
            None => Proposal::Cycles(cycles),
        }
    }
}

/// The edges of a search with those of proposed orders of writes.
struct Proposed<'a, 'p, 'h> {
    choices: &'a Choices<'p, 'h>,
    edges: &'a Combined<'p>,
    sources: &'a [Option<Source>],
    /// The write after each write.
    next: Vec<u32>,
    /// The first write of each address.
    first: Vec<u32>,
}

impl<'a, 'p, 'h> Proposed<'a, 'p, 'h> {
    /// Only the edges of the search.
    fn nothing(
        choices: &'a Choices<'p, 'h>,
        edges: &'a Combined<'p>,
        sources: &'a [Option<Source>],
    ) -> Self {
        Self { choices, edges, sources, next: Vec::new(), first: Vec::new() }
    }

    /// The writes of each address in the order in which they stand in `order`.
    fn new(
        choices: &'a Choices<'p, 'h>,
        edges: &'a Combined<'p>,
        sources: &'a [Option<Source>],
        order: &[NodeId],
    ) -> Self {
        let history = choices.problem.history;
        let mut next = vec![NONE; history.len()];
        let mut first = vec![NONE; history.address_count()];
        let mut last = vec![NONE; history.address_count()];
        for event in order.iter().filter_map(|&n| choices.problem.graph.event(n)) {
            if history.kinds_of(event).writes
                && let Some(address) = history.address_of(event)
            {
                match std::mem::replace(&mut last[address.index()], node(event)) {
                    NONE => first[address.index()] = node(event),
                    before => next[before as usize] = node(event),
                }
            }
        }
        Self { next, first, ..Self::nothing(choices, edges, sources) }
    }

    /// The write that comes right after the one a read saw, unless that is the read itself.
    fn overwritten_by(&self, read: EventId) -> Option<NodeId> {
        let next = match self.sources[read.index()]? {
            Source::Write(write) => self.next.get(write.index()),
            Source::Initial => {
                let address = self.choices.problem.history.address_of(read)?;
                self.first.get(address.index())
            }
        };
        next.copied().filter(|&next| next != NONE && next != node(read))
    }

    /// The write after a write.
    fn next(&self, n: NodeId) -> Option<NodeId> {
        self.next.get(n as usize).copied().filter(|&next| next != NONE)
    }

    /// The edge from a read to what overwrites its value. Reads of initial values have edges in the
    /// graph instead.
    fn hop_of_read(&self, read: NodeId, to: NodeId) -> Option<Hop> {
        let event = self.choices.problem.graph.event(read)?;
        let Some(source @ Source::Write(write)) = self.sources[event.index()] else { return None };
        let ground = Ground::Proposed(write, EventId::new(to as usize));
        let made = [None, self.choices.reads_made(event, source)];
        Some(Hop::Chosen(Chosen { from: read, to, because: Because::FromRead, made, ground }))
    }

    fn hop_of_write(&self, from: NodeId, to: NodeId) -> Hop {
        let [a, b] = [from, to].map(|n| EventId::new(n as usize));
        let (made, ground) = ([None, None], Ground::Proposed(a, b));
        Hop::Chosen(Chosen { from, to, because: Because::WriteOrder, made, ground })
    }

    /// All nodes in an order that every edge follows.
    fn topological_order(&self) -> Option<Vec<NodeId>> {
        let mut indegree = self.indegrees();
        let nodes = 0..indegree.len() as NodeId;
        let mut order: Vec<NodeId> = nodes.filter(|&n| indegree[n as usize] == 0).collect();
        let mut done = 0;
        while done < order.len() {
            let n = order[done];
            done += 1;
            self.successors(n, |to| {
                indegree[to as usize] -= 1;
                if indegree[to as usize] == 0 {
                    order.push(to);
                }
            });
        }
        (order.len() == indegree.len()).then_some(order)
    }
}

impl Follow for Proposed<'_, '_, '_> {
    fn successors(&self, n: NodeId, mut f: impl FnMut(NodeId)) {
        self.edges.successors(n, &mut f);
        self.next(n).into_iter().for_each(&mut f);
        let event = self.choices.problem.graph.event(n);
        event.and_then(|event| self.overwritten_by(event)).into_iter().for_each(f);
    }

    fn indegrees(&self) -> Vec<u32> {
        let mut indegree = self.edges.indegrees();
        let reads = self.choices.problem.history.event_ids();
        let overwriting = reads.filter_map(|read| self.overwritten_by(read));
        let next = self.next.iter().copied().filter(|&next| next != NONE);
        for to in overwriting.chain(next) {
            indegree[to as usize] += 1;
        }
        indegree
    }
}

/// How a way came to a node.
#[derive(Clone, Copy)]
enum Reached {
    Fixed(EdgeId),
    /// By a chosen edge, by its index.
    Chosen(u32),
    Next,
    Overwritten,
}

/// Short ways along the order of the last proposal. The tables are reset by counting.
struct Ways {
    has_order: bool,
    /// Where each node stands in that order.
    place: Vec<u32>,
    round: u32,
    seen: Vec<u32>,
    done: Vec<u32>,
    cost: Vec<u32>,
    reached: Vec<(NodeId, Reached)>,
}

impl Ways {
    fn new(nodes: usize) -> Self {
        Self {
            has_order: false,
            place: vec![0; nodes],
            round: 0,
            seen: vec![0; nodes],
            done: vec![0; nodes],
            cost: vec![0; nodes],
            reached: vec![(NONE, Reached::Next); nodes],
        }
    }

    fn follow(&mut self, order: &[NodeId]) {
        self.has_order = true;
        for (at, &node) in (0..).zip(order) {
            self.place[node as usize] = at;
        }
    }

    /// A cycle through each read that stands behind the write that overwrites its value, where
    /// there is a short way back.
    fn cycles_of_proposal(&mut self, proposed: &Proposed, order: &[NodeId]) -> Vec<Vec<Hop>> {
        let mut cycles = Vec::new();
        for &n in order {
            let Some(read) = proposed.choices.problem.graph.event(n) else { continue };
            if let Some(write) = proposed.overwritten_by(read)
                && self.place[write as usize] < self.place[n as usize]
                && let Some(hop) = proposed.hop_of_read(n, write)
                && let Some(mut cycle) = self.way(proposed, write, n)
            {
                cycle.push(hop);
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// A cycle through each chosen edge that the last proposal did not follow, where there is a
    /// short way back.
    fn cycles_of_search(&mut self, search: &Proposed) -> Vec<Vec<Hop>> {
        let mut cycles = Vec::new();
        for &edge in &search.edges.chosen {
            if self.place[edge.to as usize] < self.place[edge.from as usize]
                && let Some(mut cycle) = self.way(search, edge.to, edge.from)
            {
                cycle.push(Hop::Chosen(edge));
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The way with the fewest edges that are not of the graph, among the nodes that stand between
    /// two, along edges that the order follows.
    fn way(&mut self, proposed: &Proposed, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        self.round += 1;
        let edges = proposed.edges;
        let last = self.place[to as usize];
        let mut queue = VecDeque::from([from]);
        self.seen[from as usize] = self.round;
        self.cost[from as usize] = 0;
        let mut visited = 0;
        while let Some(n) = queue.pop_front() {
            if std::mem::replace(&mut self.done[n as usize], self.round) == self.round {
                continue;
            }
            if n == to {
                return self.way_back(proposed, from, to);
            }
            visited += 1;
            if visited > MOST_VISITED {
                return None;
            }
            for edge in edges.graph.out(n) {
                let target = edges.graph.to(edge);
                if self.improves(n, target, last, 0, Reached::Fixed(edge)) {
                    queue.push_front(target);
                }
            }
            let start = edges.chosen.partition_point(|edge| edge.from < n) as u32;
            let chosen = (start..).zip(edges.chosen_from(n));
            let chosen = chosen.map(|(i, edge)| (edge.to, Reached::Chosen(i)));
            let event = edges.graph.event(n);
            let overwritten_by = event.and_then(|event| proposed.overwritten_by(event));
            let next = proposed.next(n).map(|to| (to, Reached::Next));
            let overwritten = overwritten_by.map(|to| (to, Reached::Overwritten));
            for (target, by) in chosen.chain(next).chain(overwritten) {
                if self.improves(n, target, last, 1, by) {
                    queue.push_back(target);
                }
            }
        }
        None
    }

    fn improves(&mut self, from: NodeId, to: NodeId, last: u32, cost: u32, by: Reached) -> bool {
        let cost = self.cost[from as usize] + cost;
        let at = to as usize;
        let improves = self.place[at] <= last
            && self.place[at] > self.place[from as usize]
            && self.done[at] != self.round
            && (self.seen[at] != self.round || cost < self.cost[at]);
        if improves {
            self.seen[at] = self.round;
            self.cost[at] = cost;
            self.reached[at] = (from, by);
        }
        improves
    }

    fn way_back(&self, proposed: &Proposed, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let mut way = Vec::new();
        let mut n = to;
        while n != from {
            let (before, by) = self.reached[n as usize];
            way.push(match by {
                Reached::Fixed(edge) => Hop::Fixed(edge),
                Reached::Chosen(i) => Hop::Chosen(proposed.edges.chosen[i as usize]),
                Reached::Next => proposed.hop_of_write(before, n),
                Reached::Overwritten => proposed.hop_of_read(before, n)?,
            });
            n = before;
        }
        way.reverse();
        Some(way)
    }
}
