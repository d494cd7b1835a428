//! Atomicity: the whole relation with the pairs of the certificate, along its order, and the check that
//! atomicity adds nothing to it.
//!
//! Of the two relations of `wccm`, what one derives for the writes of an address holds in both. It is
//! enough to look at that over ppo, if it orders all writes of one address that the one over po-loc
//! orders without atomicity, which is checked. For then what is added over po-loc are pairs of writes that
//! are ordered over ppo; each path over po-loc between writes is such a pair, too; and a cycle would be
//! one of these pairs.

use std::collections::BTreeMap;

use history::EventId;

use super::clocks::{Rows, join};
use super::layout::{Layout, thread};
use super::side::Side;
use super::store_order::StoreOrder;
use super::{NONE, Rules, out_of_order};
use crate::causal::operations::{From, Operations};
use crate::names;
use crate::rejection::Fault;

/// The pairs of writes that the certificate lists: for each write, those that come before it.
pub(super) type Added = BTreeMap<u32, Vec<u32>>;

/// The pairs of the certificate as operations.
pub(super) fn added(
    operations: &Operations<'_>,
    pairs: &[(EventId, EventId)],
) -> Result<Added, Fault> {
    let write = |event: EventId| operations.write_of[event.index()].map(|write| write as u32);
    let mut added = Added::new();
    for &(earlier, later) in pairs {
        let (Some(a), Some(b)) = (write(earlier), write(later)) else {
            let [a, b] = [earlier, later].map(|event| names::event(operations.history, event));
            return Err(Fault::OrderOfNonWrites { a, b });
        };
        added.entry(b).or_default().push(a);
    }
    Ok(added)
}

/// Checks that the whole relation with these pairs goes up along its order, and that it is closed under
/// atomicity.
pub(super) fn are_whole(
    operations: &Operations<'_>,
    layout: &Layout,
    sides: &[Side],
    rules: Rules,
    store_order: &StoreOrder,
    added: &Added,
) -> Result<(), Fault> {
    let whole = clocks(operations, layout, &sides[0], rules, store_order, added)?;
    if let Some(location) = sides.get(1) {
        let none = Added::new();
        let location = clocks(operations, layout, location, rules, store_order, &none)?;
        for slot in 0..layout.write_count() {
            if location.row(slot).iter().zip(whole.row(slot)).any(|(own, whole)| own > whole) {
                return Err(Fault::NotTogether {
                    write: operations.name(layout.write_at(slot) as usize),
                });
            }
        }
    }
    let blocks = Blocks::new(operations, layout);
    let closed = Closed { operations, layout, whole, blocks };
    operations.history.address_ids().try_for_each(|address| closed.address(address.index()))
}

/// The clocks of the whole relation on a side, with some pairs.
fn clocks(
    operations: &Operations<'_>,
    layout: &Layout,
    side: &Side,
    rules: Rules,
    store_order: &StoreOrder,
    added: &Added,
) -> Result<Rows, Fault> {
    let threads = layout.threads;
    let mut clocks = Rows::new(threads, layout.len());
    // What the readers so far of each write, and of each initial write, know.
    let addresses = if rules.store_order { operations.history.address_count() } else { 0 };
    let writes = if rules.store_order { layout.write_count() } else { 0 };
    let (mut initial, mut readers) = (Rows::new(threads, addresses), Rows::new(threads, writes));
    let mut row = vec![0; threads];
    for &op in &side.sequence {
        let (slot, operation) = (layout.slot(op), &operations.all[op as usize]);
        row.fill(0);
        for before in side.before(op) {
            join(&mut row, clocks.row(layout.slot(before)));
        }
        if let Some(from) = operation.read {
            match from {
                _ if !rules.store_order => {}
                From::Initial => initial.raise(operation.address.index(), &row),
                From::Write(write) => readers.raise(layout.slot(write as u32), &row),
            }
        } else {
            let known_before = store_order.before(slot).iter().map(|&before| before as usize);
            for before in known_before.clone() {
                if row[thread(operations, layout.write_at(before))] <= layout.rank_at(before) {
                    join(&mut row, clocks.row(before));
                }
            }
            if rules.store_order {
                join(&mut row, initial.row(operation.address.index()));
                let own = slot.checked_sub(1).filter(|&before| {
                    let before = &operations.all[layout.write_at(before) as usize];
                    (before.thread, before.address) == (operation.thread, operation.address)
                });
                known_before.chain(own).for_each(|before| join(&mut row, readers.row(before)));
            }
            for &before in added.get(&op).into_iter().flatten() {
                if side.place(before) >= side.place(op) {
                    return Err(out_of_order(operations, before, op, "what the certificate adds"));
                }
                join(&mut row, clocks.row(layout.slot(before)));
            }
            let own = &mut row[operation.thread];
            *own = (*own).max(layout.rank_at(slot) + 1);
        }
        clocks.row_mut(slot).copy_from_slice(&row);
    }
    Ok(clocks)
}

/// Who is atomic with whom.
struct Blocks {
    /// By the slot of a write: the read-modify-writes that read it, the first of them and the next with
    /// the same source.
    update: Vec<u32>,
    next: Vec<u32>,
    /// The read-modify-writes that read the initial write, by address.
    initial: Vec<Vec<u32>>,
}

impl Blocks {
    fn new(operations: &Operations<'_>, layout: &Layout) -> Self {
        let mut blocks = Self {
            update: vec![NONE; layout.write_count()],
            next: vec![NONE; layout.write_count()],
            initial: vec![Vec::new(); operations.history.address_count()],
        };
        for (update, from) in operations.atomics() {
            let update = update as u32;
            match from {
                From::Initial => {
                    blocks.initial[operations.all[update as usize].address.index()].push(update);
                }
                From::Write(write) => {
                    let first = &mut blocks.update[layout.slot(write as u32)];
                    blocks.next[layout.slot(update)] = std::mem::replace(first, update);
                }
            }
        }
        blocks
    }

    /// The read-modify-writes that read the write at a slot.
    fn updates(&self, layout: &Layout, slot: usize) -> impl Iterator<Item = u32> {
        let some = |update: u32| (update != NONE).then_some(update);
        std::iter::successors(some(self.update[slot]), move |&update| {
            some(self.next[layout.slot(update)])
        })
    }
}

struct Closed<'a> {
    operations: &'a Operations<'a>,
    layout: &'a Layout,
    whole: Rows,
    blocks: Blocks,
}

impl Closed<'_> {
    /// Whether a write comes before another.
    fn precedes(&self, earlier: u32, later: usize) -> bool {
        self.whole.row(later)[thread(self.operations, earlier)] > self.layout.rank(earlier)
    }

    fn not_atomic(&self, update: u32, other: u32) -> Fault {
        let name = |op: u32| self.operations.name(op as usize);
        Fault::NotAtomic { atomic: name(update), other: name(other) }
    }

    /// Along each chain of an address, a write knows more and more of each chain; what is new is looked
    /// at once.
    fn address(&self, address: usize) -> Result<(), Fault> {
        let layout = self.layout;
        let chains = layout.chains_of(history::AddressId::new(address));
        for own in chains {
            // The other writes of the chain come later.
            let first = own.slots.start;
            let write = layout.write_at(first);
            let mut atomics = self.blocks.initial[address].iter();
            let late = |&&u: &&u32| u != write && !self.precedes(u, first);
            if let Some(&update) = atomics.find(late) {
                return Err(self.not_atomic(update, write));
            }
            for chain in chains {
                let mut known = chain.slots.start;
                for slot in own.slots.clone() {
                    let count = self.whole.row(slot)[chain.thread];
                    while known < chain.slots.end && layout.rank_at(known) < count && known != slot
                    {
                        self.comes_after(known, slot)?;
                        known += 1;
                    }
                    let latest = known.checked_sub(1).filter(|&at| at >= chain.slots.start);
                    if let Some(latest) = latest {
                        self.comes_before(latest, slot)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A write comes after another: then it does so after what updates that.
    fn comes_after(&self, earlier: usize, slot: usize) -> Result<(), Fault> {
        let write = self.layout.write_at(slot);
        let mut updates = self.blocks.updates(self.layout, earlier);
        match updates.find(|&update| update != write && !self.precedes(update, slot)) {
            Some(update) => Err(self.not_atomic(update, write)),
            None => Ok(()),
        }
    }

    /// A write of a chain comes before another write, the last of the chain to do so: if the other is a
    /// read-modify-write, the one is what that read, or it comes before that. So do those before it in
    /// the chain.
    fn comes_before(&self, latest: usize, slot: usize) -> Result<(), Fault> {
        let update = self.layout.write_at(slot);
        let read = (update as usize).checked_sub(1).map(|read| &self.operations.all[read]);
        let event = self.operations.all[update as usize].event;
        // One that read the initial write comes before the first write of each chain: nothing is before.
        let Some(From::Write(source)) =
            read.filter(|read| read.event == event).and_then(|read| read.read)
        else {
            return Ok(());
        };
        let other = self.layout.write_at(latest);
        match source as u32 == other || self.precedes(other, self.layout.slot(source as u32)) {
            true => Ok(()),
            false => Err(self.not_atomic(update, other)),
        }
    }
}
