//! The partial store order: pww of `ccm`, wpww of `wccm` (Gradual Consistency Checking, sections
//! 3.2 and 4.1), and the from-reads rw[pww] it induces.
//!
//! pww is the closure of three relations between writes of one address (happens-before, conflict,
//! `order` and `final` lines), so it falls apart by address. It is kept as clocks again: for each
//! write and each chain of its address, how many writes of the chain come before or are it. Of the
//! pairs of happens-before only the last write of each chain is looked at, and of the from-reads of
//! a write only the first overwriting write of each chain that no other such write precedes:
//! O(writes · threads · (threads + log n)) time, O(writes · threads) space.

use history::AddressId;

use super::clocks::{Clocks, zeros};
use super::operations::{Op, Operations};
use super::relation::{Edges, Predecessors, Tag, topological_order};
use crate::{Budget, Reason};

/// The pairs whose closure is pww: happens-before (as clocks) and a layer of further edges.
pub(super) struct StorePairs<'a> {
    pub(super) ops: &'a Operations,
    pub(super) happens_before: &'a Clocks,
    pub(super) further: &'a Edges,
}

impl Predecessors for StorePairs<'_> {
    /// The last write of each chain that happens before, and the further edges.
    fn before(&self, write: Op, mut visit: impl FnMut(Op, Tag)) {
        let ops = self.ops;
        let row = self.happens_before.row(write);
        for chain in ops.chains_of(ops.address(write)) {
            let thread = ops.chain(chain).thread;
            // Its own entry counts the write itself.
            let known = if thread == ops.thread(write) { ops.rank(write) } else { row[thread] };
            if let Some(last) = ops.last_of_prefix(chain, known) {
                visit(last, Tag::HappensBefore);
            }
        }
        for (from, tag) in self.further.ending_at(write) {
            visit(from, tag);
        }
    }
}

/// Pairs of writes of one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WritePairs {
    pub(super) all: u64,
    /// Those that pww does not order.
    pub(super) unordered: u64,
}

/// pww, as clocks over the chains of each address.
#[derive(Debug)]
pub(super) struct StoreOrder {
    table: Vec<u32>,
    /// Where the row of the write at each place starts.
    rows: Vec<usize>,
}

impl StoreOrder {
    /// The closure, or a cycle in it, or a reason to stop.
    pub(super) fn closure(
        pairs: &StorePairs<'_>,
        budget: &Budget,
    ) -> Result<Result<Self, Vec<Op>>, Reason> {
        let ops = pairs.ops;
        let writes = (0..ops.write_count()).map(|place| ops.write_at(place));
        let order = match topological_order(pairs, ops.len(), writes) {
            Ok(order) => order,
            Err(cycle) => return Ok(Err(cycle)),
        };
        let mut rows = Vec::with_capacity(ops.write_count());
        let mut length = 0_usize;
        for place in 0..ops.write_count() {
            rows.push(length);
            length += ops.chains_of(ops.address(ops.write_at(place))).len();
        }
        let mut store_order = StoreOrder { table: zeros(length, budget)?, rows };
        let mut row = Vec::new();
        for write in order {
            store_order.fill_row(pairs, write, &mut row);
        }
        Ok(Ok(store_order))
    }

    fn fill_row(&mut self, pairs: &StorePairs<'_>, write: Op, row: &mut Vec<u32>) {
        let ops = pairs.ops;
        let chains = ops.chains_of(ops.address(write));
        row.clear();
        row.resize(chains.len(), 0);
        pairs.before(write, |from, _| {
            // A predecessor of a predecessor already joined brings nothing new.
            if row[ops.chain_of(from) - chains.start] <= self.position(ops, from) {
                for (a, &b) in row.iter_mut().zip(self.row(ops, from)) {
                    *a = (*a).max(b);
                }
            }
        });
        let own = &mut row[ops.chain_of(write) - chains.start];
        *own = (*own).max(self.position(ops, write) + 1);
        self.table[self.rows[ops.place_of(write)]..][..row.len()].copy_from_slice(row);
    }

    fn row(&self, ops: &Operations, write: Op) -> &[u32] {
        let width = ops.chains_of(ops.address(write)).len();
        &self.table[self.rows[ops.place_of(write)]..][..width]
    }

    /// The position of a write in its chain.
    fn position(&self, ops: &Operations, write: Op) -> u32 {
        (ops.place_of(write) - ops.chain(ops.chain_of(write)).places().start) as u32
    }

    /// Whether the first write comes before or is the second, of the same address.
    pub(super) fn has(&self, ops: &Operations, first: Op, second: Op) -> bool {
        let chains = ops.chains_of(ops.address(first));
        self.row(ops, second)[ops.chain_of(first) - chains.start] > self.position(ops, first)
    }

    /// How many pairs of writes of one address there are, and how many of them it leaves open.
    pub(super) fn pairs(&self, ops: &Operations) -> WritePairs {
        let (mut all, mut ordered) = (0, 0);
        for place in 0..ops.write_count() {
            let write = ops.write_at(place);
            let first = ops.chain(ops.chains_of(ops.address(write)).start).places().start;
            all += (place - first) as u64;
            // Its row counts the write itself.
            ordered += self.row(ops, write).iter().map(|&count| u64::from(count)).sum::<u64>() - 1;
        }
        WritePairs { all, unordered: all - ordered }
    }

    /// For each chain, the last write that comes before `write`, without those that another of
    /// them comes after.
    pub(super) fn nearest_before(&self, ops: &Operations, write: Op) -> Vec<Op> {
        let chains = ops.chains_of(ops.address(write));
        let row = self.row(ops, write);
        let mut last: Vec<Op> = Vec::with_capacity(chains.len());
        for (chain, &count) in chains.zip(row) {
            let own = chain == ops.chain_of(write);
            let before = if own { count - 1 } else { count };
            if before > 0 {
                let place = ops.chain(chain).places().start + before as usize - 1;
                last.push(ops.write_at(place));
            }
        }
        let nearest = |&w: &Op| !last.iter().any(|&other| other != w && self.has(ops, w, other));
        last.iter().copied().filter(nearest).collect()
    }

    /// For each chain, the first write that comes after `write`, without those that another of
    /// them comes before.
    pub(super) fn nearest_after(&self, ops: &Operations, write: Op) -> Vec<Op> {
        let mut first: Vec<Op> = Vec::new();
        for chain in ops.chains_of(ops.address(write)) {
            let places = ops.chain(chain).places();
            let after = places.start
                + partition(places.len(), |i| {
                    !self.has(ops, write, ops.write_at(places.start + i))
                });
            // In its own chain the first that has it is the write itself.
            let after = if chain == ops.chain_of(write) { after + 1 } else { after };
            if after < places.end {
                first.push(ops.write_at(after));
            }
        }
        self.earliest(ops, first)
    }

    /// The first write of each chain of an address, without those that another of them comes
    /// before: what overwrites the initial write.
    pub(super) fn first_of(&self, ops: &Operations, address: AddressId) -> Vec<Op> {
        let first =
            ops.chains_of(address).map(|c| ops.write_at(ops.chain(c).places().start)).collect();
        self.earliest(ops, first)
    }

    fn earliest(&self, ops: &Operations, writes: Vec<Op>) -> Vec<Op> {
        let earliest = |&w: &Op| !writes.iter().any(|&other| other != w && self.has(ops, other, w));
        writes.iter().copied().filter(earliest).collect()
    }
}

/// The first index below `length` for which `before` does not hold, if it holds for a prefix.
fn partition(length: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use evidence::Witness;
    use history::{EventId, History};
    use models::Model;
    use oracle::{Shape, random_histories};

    use super::*;
    use crate::causal::check::{Problem, check};
    use crate::causal::operations::ReadsFrom;
    use crate::{Engine, Outcome, judge};

    /// The pairs of the partial store order, if the history satisfies the model.
    fn pairs(history: &History, model: Model) -> Option<Vec<(EventId, EventId)>> {
        let problem = Problem::new(history, model.causal_rules()?);
        let reads_from = ReadsFrom::certain(history, &problem.ops);
        let established = check(&problem, &reads_from, &Budget::unlimited()).ok()?;
        let ops = &problem.ops;
        let store_order = established.store_order?;
        let writes = || (0..ops.write_count()).map(|place| ops.write_at(place));
        let ordered =
            |a: Op, b: Op| a != b && ops.address(a) == ops.address(b) && store_order.has(ops, a, b);
        let pairs = writes().flat_map(|a| writes().map(move |b| (a, b)));
        let events = |(a, b)| (ops.event(a), ops.event(b));
        Some(pairs.filter(|&(a, b)| ordered(a, b)).map(events).collect())
    }

    /// Lemmas 2 and 3 of the paper, and that their partial orders are part of every total one.
    #[test]
    fn every_store_order_extends_the_partial_one() {
        let mut compared = 0;
        for (seed, history) in random_histories(&Shape::plain().with_events(16), 0..150) {
            for (store, causal) in [(Model::Sc, Model::Ccm), (Model::Tso, Model::Wccm)] {
                let verdict = judge(&history, store, Engine::Auto, &Budget::unlimited());
                let Outcome::Consistent(Witness::Order(order)) = verdict.outcome else { continue };
                let at = |event: EventId| order.iter().position(|&e| e == event);
                let pairs =
                    pairs(&history, causal).expect("the store model implies the causal one");
                assert!(pairs.iter().all(|&(a, b)| at(a) < at(b)), "{seed} {store}");
                compared += pairs.len();
            }
        }
        assert!(compared > 100);
    }
}
