//! Who wrote which value where, for values that count up.
//!
//! Most traces number their values, each address for itself or all together. Then a table with one
//! entry for each value between the least and the greatest is no larger than the trace, needs no
//! hash, and is walked from one end to the other by a trace in the order of time. An entry names
//! the one write of its value; values written more than once, or there from the start, are left to
//! the hash table of `writers.rs`.

use crate::columns::{Access, Columns, for_each_write};
use crate::event::{AddressId, EventId, Source, Value};
use crate::history::Address;
use crate::origin::Origin;
use crate::workers::in_ranges;

/// How many entries there may be for a write.
const ENTRIES: u64 = 2;

/// An entry that is no use: not exactly one write of this value.
const ELSEWHERE: Origin = Origin::INITIAL;

/// What was written to an address: how often, and between which values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) count: u32,
    least: Value,
    greatest: Value,
}

impl Written {
    pub(crate) const NOTHING: Written = Written { count: 0, least: Value::MAX, greatest: 0 };

    #[inline]
    pub(crate) fn add(&mut self, value: Value) {
        self.count += 1;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// What was written to each address.
    pub(crate) fn of_all(events: &Columns, addresses: usize, workers: usize) -> Vec<Written> {
        // Not worth it where the results are as large as the trace.
        let workers = if addresses > events.len() / 8 { 1 } else { workers };
        let parts = in_ranges(workers, events.len(), |range| {
            let mut written = vec![Written::NOTHING; addresses];
            for_each_write(&events.accesses()[range.clone()], |write, address| {
                let value = events.exchange(range.start + write.index()).written;
                written[address.index()].add(value);
            });
            written
        });
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.iter_mut().zip(part).for_each(|(all, part)| *all = all.union(part));
        }
        all
    }

    fn union(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }

    /// How many values there are between the least and the greatest; one less if it is all 2^64.
    fn width(self) -> u64 {
        if self.count == 0 { 0 } else { (self.greatest - self.least).saturating_add(1) }
    }
}

/// The values of an address from `first` on, and where their entries are.
#[derive(Clone, Copy)]
struct Span {
    first: Value,
    length: u64,
    start: usize,
}

/// The table; empty if the values of the trace are too far apart.
pub(crate) struct Dense {
    spans: Vec<Span>,
    entries: Vec<Origin>,
    /// How many writes it does not hold.
    pub(crate) missing: usize,
}

impl Dense {
    pub(crate) fn new(events: &Columns, addresses: &[Address], written: &[Written]) -> Self {
        let writes = written.iter().map(|written| written.count as usize).sum();
        let (spans, length) = arrange(written, writes as u64 * ENTRIES);
        let entries = vec![Origin::NOBODY; length];
        let mut dense = Self { spans, entries, missing: writes };
        if length > 0 {
            dense.fill(events, addresses);
        }
        dense
    }

    fn fill(&mut self, events: &Columns, addresses: &[Address]) {
        for (a, address) in addresses.iter().enumerate() {
            if let Some(at) = self.entry(AddressId::new(a), address.initial) {
                self.entries[at] = ELSEWHERE;
            }
        }
        let mut held = 0;
        for_each_write(events.accesses(), |write, address| {
            let value = events.exchange(write.index()).written;
            let Some(at) = self.entry(address, value) else { return };
            let entry = &mut self.entries[at];
            if *entry == Origin::NOBODY {
                *entry = Origin::write(write);
                held += 1;
            } else {
                held -= usize::from(*entry != ELSEWHERE);
                *entry = ELSEWHERE;
            }
        });
        self.missing -= held;
    }

    #[inline]
    fn entry(&self, address: AddressId, value: Value) -> Option<usize> {
        let span = &self.spans[address.index()];
        let offset = value.wrapping_sub(span.first);
        (offset < span.length).then(|| span.start + offset as usize)
    }

    /// Where a value of an address comes from, if this table knows.
    #[inline]
    pub(crate) fn origin(
        &self,
        address: AddressId,
        value: Value,
        accesses: &[Access],
    ) -> Option<Origin> {
        let entry = self.entries[self.entry(address, value)?];
        match entry.only() {
            Some(Source::Initial) => None,
            Some(Source::Write(write)) if accesses[write.index()].address() != Some(address) => {
                Some(Origin::NOBODY)
            }
            _ => Some(entry),
        }
    }

    /// Whether this table knows a write.
    #[inline]
    pub(crate) fn holds(&self, write: EventId, address: AddressId, value: Value) -> bool {
        self.entry(address, value).is_some_and(|at| self.entries[at] == Origin::write(write))
    }
}

/// Entries for every address, or the same ones for all of them, or none: whatever fits so many.
/// Returns how many there are.
fn arrange(written: &[Written], limit: u64) -> (Vec<Span>, usize) {
    let mut apart = 0_u64;
    let mut spans: Vec<Span> = Vec::with_capacity(written.len());
    for written in written {
        let (first, length) = (written.least, written.width());
        spans.push(Span { first, length, start: apart as usize });
        apart = apart.saturating_add(length);
    }
    if apart <= limit {
        return (spans, apart as usize);
    }
    let all = written.iter().copied().fold(Written::NOTHING, Written::union);
    // With more writes than values, some of them have the same entry.
    let fits = all.width() <= limit && all.width() >= u64::from(all.count);
    let length = if fits { all.width() } else { 0 };
    spans.fill(Span { first: all.least, length, start: 0 });
    (spans, length as usize)
}
