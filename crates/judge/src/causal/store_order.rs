//! The partial store order: pww of `ccm`, wpww of `wccm` (Gradual Consistency Checking, sections
//! 3.2 and 4.1).
//!
//! pww is the closure of three relations between writes of one address (happens-before, conflict,
//! `order` and `final` lines), so it falls apart by address. It is kept as clocks again: for each
//! write and each chain of its address, how many writes of the chain come before or are it.
//! Happens-before is closed already: where an address has no further edges, its clocks say all, and
//! else only rows that further edges have added to are joined. O(writes · threads) time and space,
//! and a factor of threads for rows with additions.

use std::ops::Range;

use history::AddressId;

use super::clocks::{Clocks, zeros};
use super::operations::{Op, Operations};
use super::pairs::{WritePairs, known_counts};
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
        let row = self.happens_before.view(ops, write);
        for chain in ops.chains_of(ops.address(write)) {
            let thread = ops.chain(chain).thread;
            // Its own entry counts the write itself.
            let known =
                if thread == ops.thread(write) { ops.rank(write) } else { row.count(thread) };
            if let Some(last) = ops.last_of_prefix(chain, known) {
                visit(last, Tag::HappensBefore);
            }
        }
        for (from, tag) in self.further.ending_at(write) {
            visit(from, tag);
        }
    }
}

/// pww, as clocks over the chains of each address.
#[derive(Debug)]
pub(super) struct StoreOrder {
    table: Vec<u32>,
    /// Where the rows of each address start.
    rows: Vec<usize>,
}

/// An address while its part of the closure is computed.
struct Part {
    chains: Range<usize>,
    places: Range<usize>,
    /// Where its rows start.
    rows: usize,
}

impl Part {
    fn row(&self, place: usize) -> Range<usize> {
        let start = self.rows + (place - self.places.start) * self.chains.len();
        start..start + self.chains.len()
    }
}

impl StoreOrder {
    /// The closure, or a cycle in it, or a reason to stop.
    pub(super) fn closure(
        pairs: &StorePairs<'_>,
        budget: &Budget,
    ) -> Result<Result<Self, Vec<Op>>, Reason> {
        let ops = pairs.ops;
        let mut rows = Vec::with_capacity(ops.address_count());
        let mut length = 0_usize;
        for address in (0..ops.address_count()).map(AddressId::new) {
            rows.push(length);
            length += ops.places_of(address).len() * ops.chains_of(address).len();
        }
        let mut store_order = StoreOrder { table: zeros(length, budget)?, rows };
        let mut is_extended = vec![false; ops.write_count()];
        for address in (0..ops.address_count()).map(AddressId::new) {
            let part = store_order.part(ops, address);
            known_counts(ops, pairs.happens_before, address, |place, counts| {
                store_order.table[part.row(place)].copy_from_slice(counts);
            });
            let has_edges =
                |place: usize| pairs.further.ending_at(ops.write_at(place)).next().is_some();
            if part.places.clone().any(has_edges)
                && store_order.extend(pairs, &part, &mut is_extended).is_err()
            {
                let writes = part.places.map(|place| ops.write_at(place));
                let cycle = topological_order(pairs, ops.len(), writes).err();
                return Ok(Err(cycle.unwrap_or_default()));
            }
        }
        Ok(Ok(store_order))
    }

    fn part(&self, ops: &Operations, address: AddressId) -> Part {
        let (chains, places) = (ops.chains_of(address), ops.places_of(address));
        Part { chains, places, rows: self.rows[address.index()] }
    }

    /// Adds what further edges say. Each chain is followed until it has to wait for another, which
    /// must not wait itself.
    fn extend(
        &mut self,
        pairs: &StorePairs<'_>,
        part: &Part,
        is_extended: &mut [bool],
    ) -> Result<(), Cyclic> {
        let ops = pairs.ops;
        let width = part.chains.len();
        let chain_of = |place: usize| ops.chain_of_place(place) - part.chains.start;
        let start_of = |chain: usize| ops.chain(part.chains.start + chain).places().start;
        let end_of = |chain: usize| ops.chain(part.chains.start + chain).places().end;
        let mut next: Vec<usize> = (0..width).map(start_of).collect();
        let mut waits = vec![false; width];
        let mut stack: Vec<(usize, usize)> = Vec::new();
        let mut row = vec![0; width];
        for chain in 0..width {
            stack.push((chain, end_of(chain)));
            while let Some(&(chain, goal)) = stack.last() {
                let place = next[chain];
                if place >= goal {
                    waits[chain] = false;
                    stack.pop();
                    continue;
                }
                waits[chain] = true;
                row.copy_from_slice(&self.table[part.row(place)]);
                // Its own entry counts the write itself.
                row[chain] -= 1;
                let mut wanted = (0..width)
                    .map(|other| (other, start_of(other) + row[other] as usize))
                    .chain((pairs.further.ending_at(ops.write_at(place))).map(|(from, _)| {
                        let from = ops.place_of(from);
                        (chain_of(from), from + 1)
                    }))
                    .filter(|&(other, end)| next[other] < end);
                if let Some((other, end)) = wanted.next() {
                    if waits[other] {
                        return Err(Cyclic);
                    }
                    stack.push((other, end));
                    continue;
                }
                drop(wanted);
                self.extend_row(pairs, part, place, &mut row, is_extended);
                next[chain] = place + 1;
            }
        }
        Ok(())
    }

    /// Joins the rows that a write comes after and that were added to. `row` has what happens
    /// before it.
    fn extend_row(
        &mut self,
        pairs: &StorePairs<'_>,
        part: &Part,
        place: usize,
        row: &mut [u32],
        is_extended: &mut [bool],
    ) {
        let ops = pairs.ops;
        let mut has_grown = false;
        let mut join = |row: &mut [u32], from: usize| {
            for (a, &b) in row.iter_mut().zip(&self.table[part.row(from)]) {
                has_grown |= *a < b;
                *a = (*a).max(b);
            }
        };
        for chain in 0..row.len() {
            let start = ops.chain(part.chains.start + chain).places().start;
            let end = start + row[chain] as usize;
            if end > start && is_extended[end - 1] {
                join(row, end - 1);
            }
        }
        for (from, _) in pairs.further.ending_at(ops.write_at(place)) {
            join(row, ops.place_of(from));
        }
        if has_grown {
            row[ops.chain_of_place(place) - part.chains.start] += 1;
            self.table[part.row(place)].copy_from_slice(row);
            is_extended[place] = true;
        }
    }

    /// Whether the first write comes before or is the second, of the same address.
    #[cfg(test)]
    fn has(&self, ops: &Operations, first: Op, second: Op) -> bool {
        let part = self.part(ops, ops.address(first));
        let place = ops.place_of(first);
        let chain = ops.chain_of_place(place);
        let position = place - ops.chain(chain).places().start;
        let row = &self.table[part.row(ops.place_of(second))];
        row[chain - part.chains.start] as usize > position
    }

    /// How many pairs of writes of one address there are, and how many of them it leaves open.
    pub(super) fn pairs(&self, ops: &Operations) -> WritePairs {
        WritePairs::counted(ops, self.table.iter().map(|&count| u64::from(count)).sum())
    }

    /// Calls `visit` with the places of two writes of one address where the first comes before the
    /// second and no other stands between; what overwrites the initial write comes with no first.
    pub(super) fn neighbours(&self, ops: &Operations, mut visit: impl FnMut(Option<usize>, usize)) {
        let mut nearest = Vec::new();
        let mut depths = Vec::new();
        for address in (0..ops.address_count()).map(AddressId::new) {
            let part = self.part(ops, address);
            depths.clear();
            depths.extend(part.places.clone().map(|place| {
                let row = &self.table[part.row(place)];
                row.iter().map(|&count| u64::from(count)).sum::<u64>()
            }));
            for chain in part.chains.clone() {
                let places = ops.chain(chain).places();
                for place in places.clone() {
                    let previous = (place > places.start).then(|| place - 1);
                    self.nearest(ops, &part, &depths, (previous, place), &mut nearest);
                    for &before in &nearest {
                        visit(Some(before), place);
                    }
                    if nearest.is_empty() {
                        visit(None, place);
                    }
                }
            }
        }
    }

    /// The writes right before one, given the one before in its chain: of the last known of each
    /// chain that the one before did not know, those that no other of them comes after.
    fn nearest(
        &self,
        ops: &Operations,
        part: &Part,
        depths: &[u64],
        (previous, place): (Option<usize>, usize),
        nearest: &mut Vec<usize>,
    ) {
        nearest.clear();
        let own = ops.chain_of_place(place);
        let row = &self.table[part.row(place)];
        let known = previous.map(|previous| &self.table[part.row(previous)]);
        let candidates = (part.chains.clone().zip(row).enumerate())
            .filter(|&(i, (chain, &count))| chain != own && count > known.map_or(0, |k| k[i]))
            .map(|(_, (chain, &count))| ops.chain(chain).places().start + count as usize - 1);
        nearest.extend(candidates.chain(previous));
        // The deepest first: nothing comes after what is deeper.
        nearest.sort_unstable_by_key(|&p| (std::cmp::Reverse(depths[p - part.places.start]), p));
        let mut kept = 0;
        for i in 0..nearest.len() {
            let candidate = nearest[i];
            let chain = ops.chain_of_place(candidate);
            let position = candidate - ops.chain(chain).places().start;
            let is_before = |&later: &usize| {
                self.table[part.row(later)][chain - part.chains.start] as usize > position
            };
            if !nearest[..kept].iter().any(is_before) {
                nearest[kept] = candidate;
                kept += 1;
            }
        }
        nearest.truncate(kept);
    }
}

/// The store order has a cycle.
struct Cyclic;

#[cfg(test)]
mod tests {
    use evidence::Witness;
    use history::{EventId, History};
    use models::Model;
    use oracle::{Shape, random_histories};

    use super::*;
    use crate::causal::check::{Check, Problem, check};
    use crate::causal::operations::ReadsFrom;
    use crate::{Engine, Outcome, judge};

    /// The pairs of the partial store order, if the history satisfies the model.
    fn pairs(history: &History, model: Model) -> Option<Vec<(EventId, EventId)>> {
        let problem = Problem::new(history, model.causal_rules()?);
        let reads_from = ReadsFrom::certain(history, &problem.ops);
        let budget = Budget::unlimited();
        check(&problem, &reads_from, &budget).ok()?;
        let ops = &problem.ops;
        let store_order = Check::new(&problem, &reads_from, &budget).partial_store_order().ok()?;
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
                let Outcome::Holds(Witness::Order(order)) = verdict.outcome else { continue };
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
