//! Who wrote which value where, for large traces: reads and writes are brought together part by part.
//!
//! A hash table over all writes of a large trace does not fit a cache, and every access to it waits for
//! memory. So reads and writes are first sorted into parts by a hash of address and value, and each
//! part, which has a small table of its own, is looked at for itself; parts are shared out among
//! threads. What comes out depends neither on the threads nor on the number of parts.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::FxHashMap;

use crate::columns::Columns;
use crate::event::{AddressId, EventId, Source, Value};
use crate::history::Address;
use crate::origin::Origin;
use crate::workers::in_ranges;
use crate::writers::{REACH, Slot, hash, room_for, spread};

/// How many events a part has, about.
const PART: usize = 1 << 14;

/// How many parts there are at most: each thread writes to all of them at once.
const MOST_PARTS: usize = 512;

/// What happened with a value of an address.
#[derive(Clone, Copy)]
struct Entry {
    value: Value,
    address: AddressId,
    /// Who did it: an event that wrote, [`INITIAL`], or with [`READ`] an event that read.
    who: u32,
}

/// The value was there at first.
const INITIAL: u32 = READ - 1;

/// The event read the value. Events have numbers below that.
const READ: u32 = 1 << 31;

/// What was found out about all parts.
#[derive(Default)]
pub(crate) struct Joined {
    pub(crate) of: Vec<Origin>,
    /// The same for the values asked for beside.
    pub(crate) asked: FxHashMap<(AddressId, Value), Origin>,
    /// How many reads returned what nobody wrote.
    pub(crate) unknown: usize,
    /// The sources of values written more than once, each with its class; classes count from 1.
    pub(crate) shared: Vec<(u32, Source)>,
    pub(crate) classes: u32,
}

/// Where what each event read comes from, and each value asked for beside, which are all different.
/// `None` if the trace has too many values with the same hash.
pub(crate) fn join(
    events: &Columns,
    addresses: &[Address],
    asked: &[(AddressId, Value)],
    workers: usize,
) -> Option<Joined> {
    let parts = (events.len() / PART).clamp(1, MOST_PARTS);
    let sorted = in_ranges(workers, events.len(), |range| match range.start {
        0 => Sorted::new(events, range, addresses, asked, parts),
        _ => Sorted::new(events, range, &[], &[], parts),
    });
    let readers = events.len() + asked.len();
    let of: Vec<AtomicU32> =
        (0..readers).map(|_| AtomicU32::new(Origin::NOBODY.to_bits())).collect();
    let results = in_ranges(workers, parts, |range| {
        let mut table = Table::default();
        range.map(|part| table.look_up(part, &sorted, &of)).collect::<Option<Vec<_>>>()
    });
    let results = results.into_iter().collect::<Option<Vec<_>>>()?;
    let mut joined = Joined::default();
    let mut several = Vec::new();
    for result in results.into_iter().flatten() {
        joined.unknown += result.unknown;
        let shared = result.shared.into_iter();
        joined.shared.extend(shared.map(|(class, source)| (joined.classes + class, source)));
        let readers = result.readers_of_several.into_iter();
        several.extend(readers.map(|(reader, class)| (reader, joined.classes + class)));
        joined.classes += result.classes;
    }
    joined.of = of.into_iter().map(|bits| Origin::from_bits(bits.into_inner())).collect();
    for (reader, class) in several {
        joined.of[reader as usize] = Origin::of_class(class);
    }
    joined.asked = asked.iter().copied().zip(joined.of.split_off(events.len())).collect();
    joined.unknown -= joined.asked.values().filter(|&&origin| origin == Origin::NOBODY).count();
    Some(joined)
}

/// What happened in a range of events, part by part, and within a part in the order of the events.
struct Sorted {
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

impl Sorted {
    fn new(
        events: &Columns,
        range: Range<usize>,
        initial: &[Address],
        asked: &[(AddressId, Value)],
        parts: usize,
    ) -> Self {
        let mut starts = vec![0; parts + 1];
        each(events, range.clone(), initial, asked, |entry| starts[entry.part(parts) + 1] += 1);
        for part in 0..parts {
            starts[part + 1] += starts[part];
        }
        let nothing = Entry { value: 0, address: AddressId::new(0), who: INITIAL };
        let mut entries = vec![nothing; starts[parts]];
        let mut next = starts.clone();
        each(events, range, initial, asked, |entry| {
            let next = &mut next[entry.part(parts)];
            entries[*next] = entry;
            *next += 1;
        });
        Self { starts, entries }
    }

    fn part(&self, part: usize) -> &[Entry] {
        &self.entries[self.starts[part]..self.starts[part + 1]]
    }
}

impl Entry {
    #[inline]
    fn part(&self, parts: usize) -> usize {
        spread(hash(self.address, self.value), parts)
    }
}

/// Calls `f` with what addresses held at first, with what is asked for, as if events behind all others
/// read it, and with what was read and written in a range of events.
#[inline]
fn each(
    events: &Columns,
    range: Range<usize>,
    initial: &[Address],
    asked: &[(AddressId, Value)],
    mut f: impl FnMut(Entry),
) {
    for (number, &(address, value)) in asked.iter().enumerate() {
        f(Entry { value, address, who: (events.len() + number) as u32 | READ });
    }
    for (a, address) in initial.iter().enumerate() {
        f(Entry { value: address.initial, address: AddressId::new(a), who: INITIAL });
    }
    for event in range {
        let access = events.access(event);
        let Some(address) = access.address() else { continue };
        let (kinds, exchange) = (access.kinds(), events.exchange(event));
        if kinds.reads {
            f(Entry { value: exchange.read, address, who: event as u32 | READ });
        }
        if kinds.writes {
            f(Entry { value: exchange.written, address, who: event as u32 });
        }
    }
}

/// What was found out about a part. Its classes count from 1.
#[derive(Default)]
struct Result {
    unknown: usize,
    shared: Vec<(u32, Source)>,
    classes: u32,
    readers_of_several: Vec<(u32, u32)>,
}

/// The writes of a part.
#[derive(Default)]
struct Table(Vec<Slot>);

impl Table {
    /// Finds the origins of all reads of a part. `None` if there is no room within reach.
    fn look_up(&mut self, part: usize, sorted: &[Sorted], of: &[AtomicU32]) -> Option<Result> {
        let entries = || sorted.iter().flat_map(|sorted| sorted.part(part));
        let writes = entries().filter(|entry| entry.who < READ).count();
        let empty = Slot { value: 0, address: AddressId::new(0), origin: Origin::NOBODY };
        self.0.clear();
        self.0.resize(room_for(writes), empty);
        let mut result = Result::default();
        for entry in entries().filter(|entry| entry.who < READ) {
            let origin = match entry.who {
                INITIAL => Origin::INITIAL,
                write => Origin::write(EventId::new(write as usize)),
            };
            let at = self.find(entry)?;
            match self.0[at].origin {
                Origin::NOBODY => {
                    self.0[at] = Slot { value: entry.value, address: entry.address, origin };
                }
                known => self.0[at].origin = result.share(known, origin),
            }
        }
        for entry in entries().filter(|entry| entry.who >= READ) {
            let reader = entry.who - READ;
            let origin = self.find(entry).map_or(Origin::NOBODY, |at| self.0[at].origin);
            match origin.class() {
                None => of[reader as usize].store(origin.to_bits(), Ordering::Relaxed),
                Some(0) => result.unknown += 1,
                Some(class) => result.readers_of_several.push((reader, class)),
            }
        }
        Some(result)
    }

    /// The slot of a key, or the one where it belongs; `None` if there is none within reach.
    #[inline]
    fn find(&self, entry: &Entry) -> Option<usize> {
        // The upper bits of the hash are the same for all of a part.
        let wanted = spread(hash(entry.address, entry.value).rotate_left(32), self.0.len());
        for mut at in wanted..wanted + REACH {
            if at >= self.0.len() {
                at %= self.0.len();
            }
            let slot = &self.0[at];
            if slot.origin == Origin::NOBODY || slot.key() == (entry.address, entry.value) {
                return Some(at);
            }
        }
        None
    }
}

impl Result {
    /// One more source of a value that has one: the class of both.
    #[cold]
    fn share(&mut self, known: Origin, more: Origin) -> Origin {
        let class = known.class().unwrap_or_else(|| {
            self.classes += 1;
            self.shared.extend(known.only().map(|first| (self.classes, first)));
            self.classes
        });
        self.shared.extend(more.only().map(|more| (class, more)));
        Origin::of_class(class)
    }
}
