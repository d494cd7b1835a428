//! Short paths and cycles in a relation, for evidence.
//!
//! A run of program order becomes one edge, so a step of it costs next to nothing, but not quite:
//! otherwise every search would go back to the beginning. Reads-from and declared orders cost one
//! crossing; a derived edge costs more, because its derivation has to be shown as well. Paths are
//! found backwards from their end by Dijkstra's algorithm, O(edges · log n) over what is nearer than
//! the start.

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

/// An edge that is shown, in steps of program order.
const CROSSING: u64 = 1 << 10;

fn cost(tag: Tag) -> u64 {
    match tag {
        Tag::Program | Tag::Fence => 1,
        Tag::Reads | Tag::Declared { .. } | Tag::HappensBefore => CROSSING,
        _ => 3 * CROSSING,
    }
}

fn is_crossing(hop: &Hop) -> bool {
    cost(hop.tag) >= CROSSING
}

/// Cheapest paths from operations to one end.
pub(super) struct Paths {
    end: Op,
    /// The cost from here to the end, and the first edge on the way.
    next: FxHashMap<Op, (u64, Hop)>,
}

impl Paths {
    /// Cheapest paths to `end` over allowed edges, from everything or, if `until` holds somewhere
    /// (an operation and its cost), at least from there.
    pub(super) fn to(
        end: Op,
        relation: &impl Predecessors,
        allowed: impl Fn(Tag) -> bool,
        mut until: impl FnMut(Op, u64) -> bool,
    ) -> Self {
        let mut paths = Paths { end, next: FxHashMap::default() };
        let mut heap = BinaryHeap::from([Reverse((0, end))]);
        while let Some(Reverse((so_far, op))) = heap.pop() {
            if op != end && paths.next.get(&op).is_some_and(|known| known.0 < so_far) {
                continue;
            }
            if op != end && until(op, so_far) {
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

    pub(super) fn cost_from(&self, op: Op) -> Option<u64> {
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
    Paths::to(to, relation, allowed, |op, _| op == from).from(from)
}

/// How many edges of a known cycle are tried as part of a cheaper one.
const TRIES: usize = 64;

/// How many operations are looked at for a cheaper cycle, in all.
const LOOKS: usize = 1 << 16;

/// A cheap cycle, given the operations of some cycle, each before the next.
pub(super) fn cheap_cycle(relation: &impl Predecessors, cycle: &[Op]) -> Vec<Hop> {
    let mut known: Vec<Hop> = (0..cycle.len())
        .filter_map(|i| edge(relation, cycle[i], cycle[(i + 1) % cycle.len()]))
        .collect();
    // Let no run of program order go around the end.
    let start = known.iter().position(is_crossing).unwrap_or(0);
    known.rotate_left(start);
    let crossings: Vec<Hop> = known.iter().copied().filter(is_crossing).collect();
    let step = crossings.len().div_ceil(TRIES).max(1);
    let mut best = known;
    let mut best_cost: u64 = best.iter().map(|hop| cost(hop.tag)).sum();
    let mut looks = LOOKS;
    for &first in crossings.iter().step_by(step) {
        let is_far = |op: Op, so_far: u64| {
            looks = looks.saturating_sub(1);
            op == first.to || so_far + cost(first.tag) >= best_cost || looks == 0
        };
        let back = Paths::to(first.from, relation, |_| true, is_far);
        let Some(rest) = back.cost_from(first.to) else { continue };
        let total = rest + cost(first.tag);
        if total < best_cost {
            best_cost = total;
            best = std::iter::once(first).chain(back.from(first.to)).collect();
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
