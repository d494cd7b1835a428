//! The writes of each address that come right before a write, along an order that extends a
//! relation.
//!
//! The *front* of an address has the writes so far that none so far comes after. A write that knows
//! all of them comes right after them, and everything else lies behind. Behind a write of the front
//! that it does not know, it may know something: what that one came right after is looked at in its
//! place, and so on. After a number of steps the last write known of each chain is looked up
//! instead. O(1) a write where few are concurrent, O(threads · log n) at worst.

use super::clocks::{Clocks, View};
use super::operations::{Op, Operations};

const END: u32 = u32::MAX;

/// The fronts of all addresses, and what came right before each write so far. Writes are named by
/// their places.
pub(super) struct Fronts<'a> {
    ops: &'a Operations,
    clocks: &'a Clocks,
    /// The writes right before the latest write.
    pub(super) nearest: Vec<u32>,
    /// A list for each address.
    fronts: Vec<u32>,
    /// A list for each write.
    before: Vec<u32>,
    /// The items of all lists: a place, and the next item.
    items: Vec<(u32, u32)>,
    /// Items of fronts that may be used again.
    free: Vec<u32>,
    /// The write that was compared to each last.
    compared: Vec<u32>,
    unknown: Vec<u32>,
}

impl<'a> Fronts<'a> {
    pub(super) fn new(ops: &'a Operations, clocks: &'a Clocks) -> Self {
        Fronts {
            ops,
            clocks,
            nearest: Vec::new(),
            fronts: vec![END; ops.address_count()],
            before: vec![END; ops.write_count()],
            items: Vec::with_capacity(ops.write_count()),
            free: Vec::new(),
            compared: vec![END; ops.write_count()],
            unknown: Vec::new(),
        }
    }

    fn knows(&self, view: View<'_>, place: u32) -> bool {
        let chain = self.ops.chain(self.ops.chain_of_place(place as usize));
        view.count(chain.thread) > self.ops.rank_at(place as usize)
    }

    /// Goes on to the next write of the order.
    pub(super) fn advance(&mut self, write: Op, place: usize) {
        let view = self.clocks.view(self.ops, write);
        self.nearest.clear();
        self.unknown.clear();
        self.leave_front(view, self.ops.address(write).index());
        let mut steps = 4 * self.ops.thread_count();
        while let Some(unknown) = self.unknown.pop() {
            let mut at = self.before[unknown as usize];
            while let Some(&(earlier, next)) = self.items.get(at as usize) {
                at = next;
                steps = steps.saturating_sub(1);
                let compared = &mut self.compared[earlier as usize];
                if std::mem::replace(compared, place as u32) == place as u32 {
                    continue;
                }
                let known = self.knows(view, earlier);
                if known { self.nearest.push(earlier) } else { self.unknown.push(earlier) }
            }
            if steps == 0 {
                last_known(self.ops, view, place, &mut self.nearest);
                break;
            }
        }
        for i in 0..self.nearest.len() {
            let item = (self.nearest[i], self.before[place]);
            self.before[place] = self.items.len() as u32;
            self.items.push(item);
        }
        self.join_front(place, self.ops.address(write).index());
    }

    /// What the write knows of the front is behind it now.
    fn leave_front(&mut self, view: View<'_>, address: usize) {
        let mut at = std::mem::replace(&mut self.fronts[address], END);
        while let Some(&(place, next)) = self.items.get(at as usize) {
            if self.knows(view, place) {
                self.nearest.push(place);
                self.free.push(at);
            } else {
                self.unknown.push(place);
                self.items[at as usize].1 = std::mem::replace(&mut self.fronts[address], at);
            }
            at = next;
        }
    }

    fn join_front(&mut self, place: usize, address: usize) {
        let item = (place as u32, self.fronts[address]);
        self.fronts[address] = match self.free.pop() {
            Some(free) => {
                self.items[free as usize] = item;
                free
            }
            None => {
                self.items.push(item);
                self.items.len() as u32 - 1
            }
        };
    }
}

/// The last write of each chain of its address that a write knows, and the one before in its own.
pub(super) fn last_known(ops: &Operations, view: View<'_>, place: usize, nearest: &mut Vec<u32>) {
    nearest.clear();
    let own = ops.chain_of_place(place);
    for chain in ops.chains_of(ops.address(ops.write_at(place))) {
        let count = view.count(ops.chain(chain).thread);
        let end = if chain == own { place } else { ops.end_of_prefix(chain, count) };
        if end > ops.chain(chain).places().start {
            nearest.push(end as u32 - 1);
        }
    }
}
