//! Saturation for accesses of mixed sizes: rules R6 and R7 of efficient-tso-verification, cell by
//! cell, over the reachability of whole accesses.
//!
//! For a part that read from `s`, and another write `w` of its cell: if `w` comes before the read,
//! then before `s`; if `w` comes after `s`, then after the read. Reachability is a matrix of bits,
//! made anew in every round; rounds end when nothing new follows. For traces of thousands of
//! accesses: n²/8 bytes and O(n·m/64) a round.

use history::{EventId, Source};

use super::problem::{MixedSizeProblem, by_thread};
use crate::Budget;
use crate::store::graph::{EdgeId, Graph, NodeId, Origin, node};

/// Which nodes come after which.
pub(crate) struct Reach {
    words: usize,
    rows: Vec<u64>,
}

impl Reach {
    /// The bytes of the matrix of so many nodes.
    pub(crate) fn bytes(nodes: usize) -> usize {
        nodes.saturating_mul(nodes.div_ceil(64)).saturating_mul(8)
    }

    /// What comes after each node, or a cycle.
    fn new(graph: &Graph) -> Result<Self, Vec<EdgeId>> {
        let order = graph.topological_order()?;
        let words = graph.node_count().div_ceil(64);
        let mut reach = Self { words, rows: vec![0; words * graph.node_count()] };
        for &n in order.iter().rev() {
            for to in graph.successors(n) {
                reach.join(n, to);
            }
        }
        Ok(reach)
    }

    /// What comes after `to`, and `to` itself, come after `from`.
    fn join(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (from as usize * self.words, to as usize * self.words);
        for word in 0..self.words {
            self.rows[from + word] |= self.rows[to + word];
        }
        let bit = to / self.words.max(1);
        self.rows[from + bit / 64] |= 1 << (bit % 64);
    }

    /// Whether one access is known to come before another.
    pub(crate) fn precedes(&self, first: EventId, second: EventId) -> bool {
        let (row, bit) = (first.index() * self.words, second.index());
        self.rows[row + bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// Why saturation ended early.
pub(crate) enum Stopped {
    Cycle(Vec<EdgeId>),
    Time,
}

/// Infers what follows, to a fixpoint.
pub(crate) fn saturate(glued: &mut MixedSizeProblem, budget: &Budget) -> Result<Reach, Stopped> {
    loop {
        let reach = Reach::new(&glued.problem.graph).map_err(Stopped::Cycle)?;
        if budget.is_spent() {
            return Err(Stopped::Time);
        }
        let new = round(glued, &reach);
        if new.is_empty() {
            return Ok(reach);
        }
        for (from, to, origin) in new {
            glued.problem.graph.infer(from, to, origin);
        }
    }
}

/// What follows from what is known.
fn round(glued: &MixedSizeProblem, reach: &Reach) -> Vec<(EventId, EventId, Origin)> {
    let parts = glued.parts();
    let mut new: Vec<(EventId, EventId, Origin)> = Vec::new();
    for part in parts.event_ids() {
        let Some(Source::Write(source)) = glued.sources[part.index()] else { continue };
        let Some(cell) = parts.address_of(part) else { continue };
        let (read, source) = (glued.access(part), glued.access(source));
        for own in by_thread(parts, cell) {
            let others = || own.iter().map(|&w| glued.access(w)).filter(|&w| w != source);
            // Writes of one thread and cell are in order: the last before and the first after.
            let before = others().rev().find(|&w| w != read && reach.precedes(w, read));
            if let Some(write) = before.filter(|&w| !reach.precedes(w, source)) {
                new.push((write, source, Origin::SeenBefore { read }));
            }
            let after = others().find(|&w| w != read && reach.precedes(source, w));
            if let Some(write) = after.filter(|&w| !reach.precedes(read, w)) {
                new.push((read, write, Origin::Overwrites { source }));
            }
        }
    }
    new.sort_by_key(|&(from, to, _)| (from, to));
    new.dedup_by_key(|&mut (from, to, _)| (node(from), node(to)));
    new
}
