//! Short paths and cycles in a relation, for evidence.
//!
//! Program order costs nothing, for a run of it becomes one edge; reads-from and declared orders
//! cost one; a derived edge costs more, because its derivation has to be told as well. Paths are
//! found backwards from their end by Dijkstra's algorithm, O(edges · log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::causal::operations::Op;
use crate::causal::relation::{Predecessors, Tag};

/// An edge on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    pub(super) from: Op,
    pub(super) to: Op,
    pub(super) tag: Tag,
}

fn cost(tag: Tag) -> u32 {
    match tag {
        Tag::Program | Tag::Fence => 0,
        Tag::Reads | Tag::Declared { .. } | Tag::HappensBefore => 1,
        _ => 3,
    }
}

/// Cheapest paths from operations to one end.
pub(super) struct Paths {
    end: Op,
    /// The cost from here to the end, and the first edge on the way.
    next: FxHashMap<Op, (u32, Hop)>,
}

impl Paths {
    /// Cheapest paths to `end` over allowed edges, from everything or, if `until` holds somewhere,
    /// at least from there.
    pub(super) fn to(
        end: Op,
        relation: &impl Predecessors,
        allowed: impl Fn(Tag) -> bool,
        mut until: impl FnMut(Op) -> bool,
    ) -> Self {
        let mut paths = Paths { end, next: FxHashMap::default() };
        let mut heap = BinaryHeap::from([Reverse((0, end))]);
        while let Some(Reverse((so_far, op))) = heap.pop() {
            if op != end && paths.next.get(&op).is_some_and(|known| known.0 < so_far) {
                continue;
            }
            if op != end && until(op) {
                break;
            }
            relation.before(op, |from, tag| {
                let total = so_far + cost(tag);
                if from == end || !allowed(tag) {
                    return;
                }
                if paths.next.get(&from).is_none_or(|known| total < known.0) {
                    paths.next.insert(from, (total, Hop { from, to: op, tag }));
                    heap.push(Reverse((total, from)));
                }
            });
        }
        paths
    }

    pub(super) fn reaches_from(&self, op: Op) -> bool {
        self.next.contains_key(&op)
    }

    pub(super) fn cost_from(&self, op: Op) -> Option<u32> {
        self.next.get(&op).map(|known| known.0)
    }

    /// The path from an operation to the end.
    pub(super) fn from(&self, start: Op) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut at = start;
        while at != self.end {
            let Some(&(_, hop)) = self.next.get(&at) else { break };
            hops.push(hop);
            at = hop.to;
        }
        hops
    }
}

/// A cheapest path between two operations.
pub(super) fn path(
    from: Op,
    to: Op,
    relation: &impl Predecessors,
    allowed: impl Fn(Tag) -> bool,
) -> Vec<Hop> {
    Paths::to(to, relation, allowed, |op| op == from).from(from)
}

/// How many edges of a known cycle are tried as part of a cheaper one.
const TRIES: usize = 64;

/// A cheap cycle, given the operations of some cycle, each before the next.
pub(super) fn cheap_cycle(relation: &impl Predecessors, cycle: &[Op]) -> Vec<Hop> {
    let mut known: Vec<Hop> = (0..cycle.len())
        .filter_map(|i| edge(relation, cycle[i], cycle[(i + 1) % cycle.len()]))
        .collect();
    // Let no run of program order go around the end.
    let start = known.iter().position(|hop| cost(hop.tag) > 0).unwrap_or(0);
    known.rotate_left(start);
    let crossings: Vec<Hop> = known.iter().copied().filter(|hop| cost(hop.tag) > 0).collect();
    let step = crossings.len().div_ceil(TRIES).max(1);
    let mut best = known;
    let mut best_cost: u32 = best.iter().map(|hop| cost(hop.tag)).sum();
    for &first in crossings.iter().step_by(step) {
        let back = Paths::to(first.from, relation, |_| true, |op| op == first.to);
        let Some(rest) = back.cost_from(first.to) else { continue };
        let total = rest + cost(first.tag);
        let hops = || std::iter::once(first).chain(back.from(first.to)).collect::<Vec<Hop>>();
        if total < best_cost {
            best_cost = total;
            best = hops();
        }
    }
    best
}

/// The cheapest edge between two operations.
fn edge(relation: &impl Predecessors, from: Op, to: Op) -> Option<Hop> {
    let mut best: Option<Hop> = None;
    relation.before(to, |origin, tag| {
        if origin == from && best.is_none_or(|known| cost(tag) < cost(known.tag)) {
            best = Some(Hop { from, to, tag });
        }
    });
    best
}
