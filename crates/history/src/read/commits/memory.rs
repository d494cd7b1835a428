//! What memory held at first, as far as a log shows it.
//!
//! A log begins somewhere: the program is loaded, perhaps one hart has prepared the data. What a log
//! does not say is inferred, in this order:
//!
//! 1. The single-hart prefix: what the only hart so far has stored or loaded.
//! 2. A value that is read and that nobody else writes, nor the reader before: memory must have held
//!    it.
//! 3. The value that the first access reads, if that is a read and the lines are in the order of
//!    commits: a store that is committed later is not seen yet.
//! 4. Else 0.
//!
//! The first is a fact of the log, the second follows from coherence, the third from how processors
//! are built. The fourth is an assumption: if memory held something else, nobody has seen it for sure.
//!
//! Where all accesses of some bytes are of the same bytes, that is a question about whole values;
//! where they overlap only partly, about each byte.

use rustc_hash::{FxHashMap, FxHashSet};

use super::run::Commit;
use crate::event::ByteRange;

/// A value, and the line that shows it; line 0 if it is assumed.
type ValueAndLine = (u64, u32);

/// What memory held at first, by the bytes of accesses.
pub(super) struct Initial {
    values: FxHashMap<(u64, u8), ValueAndLine>,
    /// Whether a read returned what neither the prefix left nor anybody wrote since.
    pub(super) contradicted: bool,
}

/// Bytes that are known, from a prefix.
#[derive(Default)]
pub(super) struct Image(FxHashMap<u64, (u8, u32)>);

impl Image {
    /// What an access of the prefix shows.
    pub(super) fn see(&mut self, commit: &Commit) {
        if !(commit.reads() || commit.writes()) {
            return;
        }
        let value = if commit.writes() { commit.written } else { commit.read };
        for at in 0..commit.size {
            self.0.insert(commit.address + u64::from(at), (byte(value, at), commit.line));
        }
    }

    /// The value of bytes, if all are known, and the line that shows it.
    fn value(&self, address: u64, size: u8) -> Option<ValueAndLine> {
        joined(address, size, |address| {
            self.0.get(&address).map(|&(byte, line)| (u64::from(byte), line))
        })
    }
}

/// A byte of a value.
fn byte(value: u64, at: u8) -> u8 {
    (value >> (8 * u32::from(at))) as u8
}

/// The value of bytes of which each is known, with the last of their lines.
fn joined(
    address: u64,
    size: u8,
    byte: impl Fn(u64) -> Option<ValueAndLine>,
) -> Option<ValueAndLine> {
    (0..size).try_fold((0, 0), |(value, line), at| {
        let (byte, seen) = byte(address + u64::from(at))?;
        Some((value | byte << (8 * u32::from(at)), line.max(seen)))
    })
}

impl Initial {
    /// What memory held before these accesses.
    pub(super) fn new<'c>(
        image: &Image,
        accesses: impl Iterator<Item = &'c Commit> + Clone,
        in_order: bool,
    ) -> Self {
        let overlapping = overlapping(accesses.clone());
        let whole = |commit: &&Commit| !overlapping.contains(&(commit.address, commit.size));
        let places = accesses.clone().filter(whole).map(|commit| Place {
            key: (commit.address, commit.size),
            read: commit.reads().then_some(commit.read),
            written: commit.writes().then_some(commit.written),
            line: commit.line,
            hart: commit.hart,
        });
        let mut contradicted = false;
        let known = |(address, size)| image.value(address, size);
        let mut values = infer(places, known, in_order, &mut contradicted);
        let partly = accesses.filter(|commit| !whole(commit));
        let bytes = partly.flat_map(|commit| {
            (0..commit.size).map(|at| Place {
                key: (commit.address + u64::from(at), 1),
                read: commit.reads().then_some(byte(commit.read, at).into()),
                written: commit.writes().then_some(byte(commit.written, at).into()),
                line: commit.line,
                hart: commit.hart,
            })
        });
        let bytes = infer(bytes, known, in_order, &mut contradicted);
        for &(address, size) in &overlapping {
            let value = joined(address, size, |address| bytes.get(&(address, 1)).copied());
            values.extend(value.map(|value| ((address, size), value)));
        }
        Initial { values, contradicted }
    }

    /// What these bytes held, once; `None` if that is 0 and nothing shows it.
    pub(super) fn take(&mut self, range: ByteRange) -> Option<ValueAndLine> {
        self.values.remove(&(range.start(), range.size())).filter(|&seen| seen != (0, 0))
    }
}

/// An access of a place.
#[derive(Clone, Copy)]
struct Place {
    key: (u64, u8),
    read: Option<u64>,
    written: Option<u64>,
    line: u32,
    hart: u16,
}

/// Who writes a value first: a hart with its line, or several harts.
#[derive(Clone, Copy)]
enum Writer {
    One(u16, u32),
    Several,
}

/// What places held at first.
fn infer(
    accesses: impl Iterator<Item = Place> + Clone,
    known: impl Fn((u64, u8)) -> Option<ValueAndLine>,
    in_order: bool,
    contradicted: &mut bool,
) -> FxHashMap<(u64, u8), ValueAndLine> {
    let mut writers: FxHashMap<((u64, u8), u64), Writer> = FxHashMap::default();
    for Place { key, written, line, hart, .. } in accesses.clone() {
        let Some(value) = written else { continue };
        let writer = writers.entry((key, value)).or_insert(Writer::One(hart, line));
        if matches!(*writer, Writer::One(other, _) if other != hart) {
            *writer = Writer::Several;
        }
    }
    let is_written = |key, value, hart, line| match writers.get(&(key, value)) {
        None => false,
        Some(Writer::Several) => true,
        Some(&Writer::One(by, first)) => by != hart || first < line,
    };
    let mut values: FxHashMap<(u64, u8), ValueAndLine> = FxHashMap::default();
    let mut settled: FxHashSet<(u64, u8)> = FxHashSet::default();
    for access in accesses {
        let Place { key, read, line, hart, .. } = access;
        let value = values.entry(key).or_insert_with(|| match known(key) {
            Some(seen) => {
                settled.insert(key);
                seen
            }
            None => read.filter(|_| in_order).map_or((0, 0), |value| (value, line)),
        });
        let unwritten = read.filter(|&read| !is_written(key, read, hart, line));
        if let Some(read) = unwritten {
            if settled.insert(key) {
                *value = (read, line);
            }
            *contradicted |= value.0 != read;
        }
    }
    values
}

/// The bytes of accesses that others touch partly.
fn overlapping<'c>(accesses: impl Iterator<Item = &'c Commit>) -> FxHashSet<(u64, u8)> {
    let all: FxHashSet<(u64, u8)> = accesses.map(|each| (each.address, each.size)).collect();
    let mut sorted: Vec<(u64, u8)> = all.into_iter().collect();
    sorted.sort_unstable();
    let mut found = FxHashSet::default();
    for (at, &(address, size)) in sorted.iter().enumerate() {
        // Addresses ascend and sizes are at most 8, so few others come into question.
        let last = address + (u64::from(size) - 1);
        for &other in sorted[at + 1..].iter().take_while(|&&(start, _)| start <= last) {
            found.extend([(address, size), other]);
        }
    }
    found
}
