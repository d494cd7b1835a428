//! pww, address by address along an order, and rw over it.

use std::collections::BTreeMap;

use super::clocks::{Rows, join};
use super::layout::{Chain, Layout};
use super::side::Side;
use super::{NONE, Rules, out_of_order};
use crate::causal::operations::{From, Operations};
use crate::rejection::Fault;

/// For each write, writes of its address that come before it: with those that come before them, and
/// with program order, all.
pub(super) struct StoreOrder {
    before: Vec<u32>,
    /// Where those of each slot begin and end.
    ranges: Vec<(usize, u32)>,
}

impl StoreOrder {
    /// Computes pww, given what is known of each write by hb and its conflicts, and checks that it and
    /// rw go up on every side. The pairs are kept only if they are needed.
    pub(super) fn new(
        operations: &Operations<'_>,
        layout: &Layout,
        sides: &[Side],
        rules: Rules,
        known: Rows,
        is_kept: bool,
    ) -> Result<Self, Fault> {
        let mut declared: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(earlier, later) in &operations.write_order {
            declared.entry(later as u32).or_default().push(earlier as u32);
        }
        let read_last = LastReads::new(operations, layout, sides, rules);
        let kept = if is_kept { layout.write_count() } else { 0 };
        let store_order = StoreOrder { before: Vec::new(), ranges: vec![(0, 0); kept] };
        let mut walk = Walk {
            operations,
            layout,
            sides,
            declared,
            read_last,
            order: known,
            reached: vec![[NONE; 2]; layout.write_count()],
            store_order,
            is_kept,
        };
        for address in operations.history.address_ids() {
            walk.follow(layout.chains_of(address), address.index())?;
        }
        Ok(walk.store_order)
    }

    /// The writes that come before the one at a slot.
    pub(super) fn before(&self, slot: usize) -> &[u32] {
        let (start, count) = self.ranges[slot];
        &self.before[start..start + count as usize]
    }
}

/// Where the last read of each write, and of each initial write, stands on each side, plus one: it must
/// come before whatever overwrites what it read.
struct LastReads {
    writes: Vec<[u32; 2]>,
    initial: Vec<[u32; 2]>,
}

impl LastReads {
    fn new(operations: &Operations<'_>, layout: &Layout, sides: &[Side], rules: Rules) -> Self {
        let mut last = Self {
            writes: vec![[0; 2]; layout.write_count()],
            initial: vec![[0; 2]; operations.history.address_count()],
        };
        if rules.store_order {
            for (read, from) in operations.reads() {
                let places = match from {
                    From::Write(write) => &mut last.writes[layout.slot(write as u32)],
                    From::Initial => &mut last.initial[operations.all[read].address.index()],
                };
                for (last, side) in places.iter_mut().zip(sides) {
                    *last = (*last).max(side.place(read as u32) + 1);
                }
            }
        }
        last
    }
}

struct Walk<'a> {
    operations: &'a Operations<'a>,
    layout: &'a Layout,
    sides: &'a [Side],
    /// What `order` and `final` lines put before a write.
    declared: BTreeMap<u32, Vec<u32>>,
    read_last: LastReads,
    /// What is known of each write; once it was walked over, its clock in pww.
    order: Rows,
    /// The last place, plus one, of a read of a write that comes before the write, on each side.
    reached: Vec<[u32; 2]>,
    store_order: StoreOrder,
    is_kept: bool,
}

impl Walk<'_> {
    /// Walks over the writes of an address in the order of the first side.
    fn follow(&mut self, chains: &[Chain], address: usize) -> Result<(), Fault> {
        let (Some(first), Some(last)) = (chains.first(), chains.last()) else { return Ok(()) };
        let mut writes: Vec<(u32, u32, u32)> =
            Vec::with_capacity(last.slots.end - first.slots.start);
        for (number, chain) in (0..).zip(chains) {
            for slot in chain.slots.clone() {
                let place = self.sides[0].place(self.layout.write_at(slot));
                writes.push((place, slot as u32, number));
            }
        }
        writes.sort_unstable();
        let mut candidates = Vec::new();
        let mut row = vec![0; self.layout.threads];
        for (_, slot, number) in writes {
            let (slot, own) = (slot as usize, &chains[number as usize]);
            let previous = (slot > own.slots.start).then(|| slot - 1);
            row.fill(0);
            let mut reached = self.read_last.initial[address];
            if let Some(previous) = previous {
                row.copy_from_slice(self.order.row(previous));
                reached = self.reached_over(previous, reached);
            }
            candidates.clear();
            for chain in chains {
                let known = self.order.row(slot)[chain.thread];
                if known > row[chain.thread] {
                    let latest = self.layout.latest(chain, known);
                    candidates.extend(latest.filter(|&at| at != slot && Some(at) != previous));
                }
            }
            let write = self.layout.write_at(slot);
            if let Some(declared) = self.declared.get(&write) {
                candidates.extend(declared.iter().map(|&before| self.layout.slot(before)));
            }
            reached = self.join_all(slot, &candidates, &mut row, reached)?;
            row[own.thread] = self.layout.rank_at(slot) + 1;
            self.order.row_mut(slot).copy_from_slice(&row);
            self.reached[slot] = reached;
            if let Some(side) = self.sides.iter().zip(reached).position(|(s, r)| s.place(write) < r)
            {
                return Err(self.overwritten_before(side, reached[side] - 1, write));
            }
        }
        Ok(())
    }

    /// Joins what comes before some writes into the row of a later one. The last of them first: it has
    /// most of the others.
    fn join_all(
        &mut self,
        slot: usize,
        candidates: &[usize],
        row: &mut [u32],
        mut reached: [u32; 2],
    ) -> Result<[u32; 2], Fault> {
        let write = self.layout.write_at(slot);
        let start = self.store_order.before.len();
        let place = |slot: usize| self.sides[0].place(self.layout.write_at(slot));
        let last = candidates.iter().copied().max_by_key(|&slot| place(slot));
        for before in last.into_iter().chain(candidates.iter().copied()) {
            let earlier = self.layout.write_at(before);
            if self.sides.iter().any(|side| side.place(earlier) >= side.place(write)) {
                let why = "the order of writes of one address";
                return Err(out_of_order(self.operations, earlier, write, why));
            }
            let thread = self.operations.all[earlier as usize].thread;
            if row[thread] > self.layout.rank_at(before) {
                continue;
            }
            join(row, self.order.row(before));
            reached = self.reached_over(before, reached);
            if self.is_kept {
                self.store_order.before.push(before as u32);
            }
        }
        if self.is_kept {
            let count = self.store_order.before.len() - start;
            self.store_order.ranges[slot] = (start, count as u32);
        }
        Ok(reached)
    }

    /// The last reads of a write and of those before it, and others.
    fn reached_over(&self, before: usize, others: [u32; 2]) -> [u32; 2] {
        let (reached, last) = (self.reached[before], self.read_last.writes[before]);
        std::array::from_fn(|side| others[side].max(reached[side]).max(last[side]))
    }

    /// The fault of a write that stands before a read of what it overwrites.
    fn overwritten_before(&self, side: usize, read: u32, write: u32) -> Fault {
        let read = self.sides[side].sequence[read as usize];
        out_of_order(self.operations, read, write, "what it overwrites")
    }
}
