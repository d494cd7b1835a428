//! Who wrote which value where: a table for values that count up (`dense.rs`), and one flat hash
//! table for all others, or many small ones where the trace is large (`join.rs`).
//!
//! The hash table holds a slot of 16 bytes for every value of every address and is made in its final
//! size. Reads are looked up on the way, in the order of the trace, where what they read has
//! mostly just been written and is still in the cache; those whose write comes later in the trace
//! wait for a second pass.
//!
//! The trace chooses the keys, and runs must repeat, so no hash is safe from a trace made to
//! collide. A key is therefore never kept further than [`REACH`] slots from where its hash wants
//! it. Where that cannot be done, the slots are sorted instead and looked up by bisection: any
//! trace takes O(n log n), and all but the crafted ones O(n).

use rustc_hash::FxHashMap;

use crate::columns::{Columns, Exchange, for_each_write};
use crate::dense::{Dense, Written};
use crate::event::{AddressId, EventId, Source, Value};
use crate::history::Address;
use crate::join::join;
use crate::origin::Origin;
use crate::workers::in_parts;

/// The furthest a key may be from where its hash wants it. At two thirds full, a hash that
/// scatters a billion keys stays well below.
pub(crate) const REACH: usize = 512;

/// A trace of fewer events has a table that fits a cache.
const LARGE: usize = 1 << 18;

/// A value of an address, and where it comes from; `Origin::NOBODY` in an empty slot.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    pub(crate) address: AddressId,
    pub(crate) origin: Origin,
}

impl Slot {
    pub(crate) fn key(&self) -> (AddressId, Value) {
        (self.address, self.value)
    }
}

/// The writes of a trace, by address and value.
pub(crate) struct Writers<'e> {
    events: &'e Columns,
    dense: Dense,
    slots: Vec<Slot>,
    sorted: bool,
    /// The sources of values written more than once, each with its class; classes count from 1.
    shared: Vec<(u32, Source)>,
    classes: u32,
    /// What was asked for, where that is all that is known.
    asked: Option<FxHashMap<(AddressId, Value), Origin>>,
}

/// Where what each event read comes from.
pub(crate) struct Origins {
    pub(crate) of: Vec<Origin>,
    /// How many reads returned what nobody wrote.
    pub(crate) unknown: usize,
}

/// A key found no slot within reach.
struct TableFull;

impl<'e> Writers<'e> {
    /// The writes of a trace, and the origin of what each of its events read. What else is asked for:
    /// different values of addresses.
    pub(crate) fn new(
        events: &'e Columns,
        addresses: &[Address],
        written: &[Written],
        asked: &[(AddressId, Value)],
        workers: usize,
    ) -> (Self, Origins) {
        let mut writers = Self {
            events,
            dense: Dense::new(events, addresses, written),
            slots: Vec::new(),
            sorted: false,
            shared: Vec::new(),
            classes: 0,
            asked: None,
        };
        if writers.dense.missing > 0
            && events.len() >= LARGE
            && let Some(joined) = join(events, addresses, asked, workers)
        {
            writers.asked = Some(joined.asked);
            (writers.shared, writers.classes) = (joined.shared, joined.classes);
            return (writers, Origins { of: joined.of, unknown: joined.unknown });
        }
        let mut origins = writers.insert_all(addresses, workers).unwrap_or_else(|TableFull| {
            writers.sort_all(addresses);
            Origins { of: vec![Origin::NOBODY; events.len()], unknown: events.len() }
        });
        if origins.unknown > 0 || writers.classes > 0 {
            writers.look_again(&mut origins);
        }
        (writers, origins)
    }

    /// Inserts every write, and looks every read up as far as the writes before it allow.
    fn insert_all(&mut self, addresses: &[Address], workers: usize) -> Result<Origins, TableFull> {
        let keys = addresses.len() + self.dense.missing;
        let address = AddressId::new(0);
        let empty = Slot { value: 0, address, origin: Origin::NOBODY };
        self.slots = vec![empty; room_for(keys)];
        for (a, address) in addresses.iter().enumerate() {
            self.insert(AddressId::new(a), address.initial, Origin::INITIAL)?;
        }
        if self.dense.missing == 0 {
            return Ok(self.look_all_up(workers));
        }
        let events = self.events;
        let mut origins = Origins { of: Vec::with_capacity(events.len()), unknown: 0 };
        for (event, &access) in events.accesses().iter().enumerate() {
            let Exchange { read, written } = events.exchange(event);
            let kinds = access.kinds();
            let Some(address) = access.address() else {
                origins.of.push(Origin::NOBODY);
                continue;
            };
            // Looking up what a write wrote is of no use, and cheaper than a branch.
            let found = self.origin(address, read);
            origins.of.push(if kinds.reads { found } else { Origin::NOBODY });
            origins.unknown += usize::from(kinds.reads & (found == Origin::NOBODY));
            if kinds.writes {
                self.insert_sparse(EventId::new(event), address, written)?;
            }
        }
        Ok(origins)
    }

    /// Looks every read up, when all writes are known.
    fn look_all_up(&self, workers: usize) -> Origins {
        let mut of = vec![Origin::NOBODY; self.events.len()];
        let unknown = in_parts(workers, &mut of, |first, part| {
            let mut unknown = 0;
            for (event, origin) in (first..).zip(part) {
                let access = self.events.access(event);
                let Some(address) = access.address() else { continue };
                // Looking up what a write wrote is of no use, and cheaper than a branch.
                let found = self.origin(address, self.events.exchange(event).read);
                let reads = access.kinds().reads;
                *origin = if reads { found } else { Origin::NOBODY };
                unknown += usize::from(reads & (found == Origin::NOBODY));
            }
            unknown
        });
        Origins { of, unknown: unknown.into_iter().sum() }
    }

    /// Looks up again: what comes later in the trace, and what turned out to be a class.
    #[cold]
    fn look_again(&self, origins: &mut Origins) {
        origins.unknown = 0;
        for (event, origin) in origins.of.iter_mut().enumerate() {
            let access = self.events.access(event);
            if let (true, Some(address)) = (access.kinds().reads, access.address()) {
                *origin = self.origin(address, self.events.exchange(event).read);
                origins.unknown += usize::from(*origin == Origin::NOBODY);
            }
        }
    }

    /// Inserts a write unless the other table holds it.
    #[inline]
    fn insert_sparse(
        &mut self,
        write: EventId,
        address: AddressId,
        value: Value,
    ) -> Result<(), TableFull> {
        if self.dense.holds(write, address, value) {
            return Ok(());
        }
        self.insert(address, value, Origin::write(write))
    }

    #[inline]
    fn insert(
        &mut self,
        address: AddressId,
        value: Value,
        origin: Origin,
    ) -> Result<(), TableFull> {
        let Some(at) = self.find(address, value) else { return Err(TableFull) };
        let slot = &mut self.slots[at];
        if slot.origin == Origin::NOBODY {
            *slot = Slot { value, address, origin };
        } else {
            self.share(at, origin);
        }
        Ok(())
    }

    /// One more source of a value that has one.
    #[cold]
    fn share(&mut self, at: usize, origin: Origin) {
        let known = self.slots[at].origin;
        let class = known.class().unwrap_or_else(|| {
            self.classes += 1;
            self.slots[at].origin = Origin::of_class(self.classes);
            self.shared.extend(known.only().map(|first| (self.classes, first)));
            self.classes
        });
        self.shared.extend(origin.only().map(|more| (class, more)));
    }

    /// The slot of a key, or the one where it belongs; `None` if there is none within reach.
    #[inline]
    fn find(&self, address: AddressId, value: Value) -> Option<usize> {
        let wanted = spread(hash(address, value), self.slots.len());
        for mut at in wanted..wanted + REACH {
            if at >= self.slots.len() {
                at %= self.slots.len();
            }
            let slot = &self.slots[at];
            if slot.key() == (address, value) || slot.origin == Origin::NOBODY {
                return Some(at);
            }
        }
        None
    }

    /// Where a value of an address comes from, which was asked for when the writers were collected.
    pub(crate) fn origin_asked(&self, address: AddressId, value: Value) -> Origin {
        match &self.asked {
            Some(asked) => asked.get(&(address, value)).copied().unwrap_or(Origin::NOBODY),
            None => self.origin(address, value),
        }
    }

    /// Where a value of an address comes from.
    #[inline]
    fn origin(&self, address: AddressId, value: Value) -> Origin {
        if let Some(origin) = self.dense.origin(address, value, self.events.accesses()) {
            return origin;
        }
        let at = if self.sorted {
            self.slots.binary_search_by_key(&(address, value), Slot::key).ok()
        } else {
            self.find(address, value)
        };
        at.map_or(Origin::NOBODY, |at| self.slots[at].origin)
    }

    /// Does without a hash, for a trace whose keys crowd in one place.
    #[cold]
    fn sort_all(&mut self, addresses: &[Address]) {
        let initial = addresses.iter().enumerate().map(|(a, address)| {
            let (value, address) = (address.initial, AddressId::new(a));
            Slot { value, address, origin: Origin::INITIAL }
        });
        let mut all: Vec<Slot> = initial.collect();
        for_each_write(self.events.accesses(), |write, address| {
            let value = self.events.exchange(write.index()).written;
            if !self.dense.holds(write, address, value) {
                all.push(Slot { value, address, origin: Origin::write(write) });
            }
        });
        all.sort_by_key(Slot::key);
        self.slots = Vec::new();
        self.sorted = true;
        self.shared.clear();
        self.classes = 0;
        for slot in all {
            match self.slots.last() {
                Some(last) if last.key() == slot.key() => {
                    self.share(self.slots.len() - 1, slot.origin);
                }
                _ => self.slots.push(slot),
            }
        }
    }

    /// The sources of each class of values written more than once.
    pub(crate) fn into_shared(self) -> Vec<(u32, Source)> {
        self.shared
    }
}

/// How many slots so many keys need: they fill two thirds of them.
pub(crate) fn room_for(keys: usize) -> usize {
    keys + keys / 2 + 1
}

/// Mixes a key; the high bits are the better ones.
#[inline]
pub(crate) fn hash(address: AddressId, value: Value) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xd6e8_feb8_6659_fd93;
    let mixed = value ^ (address.index() as u64 + 1).wrapping_mul(B).rotate_left(23);
    let product = u128::from(mixed) * u128::from(A);
    ((product >> 64) as u64 ^ product as u64).wrapping_mul(B)
}

/// Where among so many slots a hash belongs.
#[inline]
pub(crate) fn spread(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Operation, ThinAir};

    #[test]
    fn a_trace_made_to_collide_is_sorted_instead() {
        const WRITES: usize = 700;
        let x = AddressId::new(0);
        let slots = room_for(1 + WRITES);
        let crowd: Vec<Value> =
            (1 << 50..).filter(|&value| spread(hash(x, value), slots) == 0).take(WRITES).collect();
        let mut builder = Builder::new();
        assert_eq!(builder.address_numbered(0), x);
        for &value in &crowd {
            builder
                .event(0, Operation::Write { address: x, value }, 0)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        for &value in crowd.iter().chain([&0]) {
            builder
                .event(1, Operation::Read { address: x, value }, 0)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        let written = builder.written(1);
        let (writers, origins) = builder.writers(&written, 1);
        assert!(writers.sorted && origins.unknown == 0);
        let history = builder.finish(ThinAir::Malformed).unwrap_or_else(|e| panic!("{e}"));
        for (write, read) in history.event_ids().zip(history.event_ids().skip(WRITES)).take(WRITES)
        {
            assert_eq!(history.only_source(read), Some(Source::Write(write)));
        }
        let last = EventId::new(2 * WRITES);
        assert_eq!(history.only_source(last), Some(Source::Initial));
    }
}
