//! Merging what is in order: runs on disk, and stretches of the visited set in memory, which are put
//! in order one shard at a time.

use std::ops::Range;

use super::cursor::{Cursor, Section};
use crate::store::StoreError;
use crate::visited::VisitedSet;

/// Records in ascending order of their keys.
pub(super) enum Source<'a> {
    Disk(Cursor),
    Memory(Stretches<'a>),
}

impl Source<'_> {
    /// The records of a section.
    pub(super) fn of(section: &Section) -> Self {
        Source::Disk(Cursor::new(section))
    }

    #[inline(always)]
    fn key(&self) -> &[u8] {
        match self {
            Source::Disk(cursor) => cursor.key(),
            Source::Memory(stretches) => &stretches.key,
        }
    }

    #[inline(always)]
    fn record(&self) -> (u32, u8) {
        match self {
            Source::Disk(cursor) => (cursor.level(), cursor.hint()),
            Source::Memory(stretches) => (stretches.level, stretches.hint),
        }
    }

    #[inline(always)]
    fn advance(&mut self) -> Result<bool, StoreError> {
        match self {
            Source::Disk(cursor) => cursor.advance(),
            Source::Memory(stretches) => Ok(stretches.advance()),
        }
    }
}

/// Some records of a visited set, in order.
pub(super) struct Stretches<'a> {
    set: &'a VisitedSet,
    /// For each part of the set, which records.
    ranges: Vec<Range<u32>>,
    /// The part whose records are in `order`, and how many of them were passed.
    part: usize,
    passed: usize,
    /// The first eight bytes of a state and its number.
    order: Vec<(u64, u32)>,
    key: Vec<u8>,
    hint: u8,
    level: u32,
}

impl<'a> Stretches<'a> {
    /// Those of these ranges, one for each part of the set.
    pub(super) fn new(set: &'a VisitedSet, ranges: Vec<Range<u32>>, packed: usize) -> Self {
        let mut stretches = Stretches {
            set,
            ranges,
            part: 0,
            passed: 0,
            order: Vec::new(),
            key: vec![0; packed + 1],
            hint: 0,
            level: 0,
        };
        stretches.sort();
        stretches
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.iter().all(Range::is_empty)
    }

    /// The least and the greatest level of these records; of none, 0.
    pub(super) fn levels(&self) -> (u32, u32) {
        let parts = self.ranges.iter().enumerate().filter(|(_, range)| !range.is_empty());
        let ends = parts.map(|(part, range)| {
            (self.set.level_of(part, range.start), self.set.level_of(part, range.end - 1))
        });
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
    }

    /// Puts the records of the part in order.
    fn sort(&mut self) {
        let Stretches { set, ranges, part, order, .. } = self;
        order.clear();
        self.passed = 0;
        let Some(range) = ranges.get(*part) else { return };
        let (set, part): (&VisitedSet, usize) = (set, *part);
        let packed = self.key.len() - 1;
        let state = |number: u32| &set.record(part, number)[..packed];
        order.extend(range.clone().map(|number| (prefix(state(number)), number)));
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| match packed > 8 {
                true => state(a.1)[8..].cmp(&state(b.1)[8..]),
                false => std::cmp::Ordering::Equal,
            })
        });
    }

    fn advance(&mut self) -> bool {
        while self.passed == self.order.len() {
            if self.part + 1 >= self.ranges.len() {
                return false;
            }
            self.part += 1;
            self.sort();
        }
        let number = self.order[self.passed].1;
        self.passed += 1;
        let record = self.set.record(self.part, number);
        let packed = self.key.len() - 1;
        self.key[0] = (self.set.shards().start + self.part) as u8;
        self.key[1..].copy_from_slice(&record[..packed]);
        self.hint = record[packed];
        self.level = self.set.level_of(self.part, number);
        true
    }
}

/// The first eight bytes of a state as a number that is ordered as they are.
#[inline(always)]
fn prefix(state: &[u8]) -> u64 {
    let mut eight = [0; 8];
    let length = state.len().min(8);
    eight[..length].copy_from_slice(&state[..length]);
    u64::from_be_bytes(eight)
}

/// Takes each key once, in order, with the least level that it has and the least hint there.
pub(super) fn merge(
    mut sources: Vec<Source<'_>>,
    mut take: impl FnMut(&[u8], u8, u32) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut first = 0;
    while first < sources.len() {
        match sources[first].advance()? {
            true => first += 1,
            false => drop(sources.swap_remove(first)),
        }
    }
    let mut equal = Vec::new();
    while !sources.is_empty() {
        equal.clear();
        equal.push(0);
        for at in 1..sources.len() {
            match sources[at].key().cmp(sources[equal[0]].key()) {
                std::cmp::Ordering::Less => {
                    equal.clear();
                    equal.push(at);
                }
                std::cmp::Ordering::Equal => equal.push(at),
                std::cmp::Ordering::Greater => {}
            }
        }
        let (level, hint) = match &equal[..] {
            [one] => sources[*one].record(),
            many => many.iter().map(|&at| sources[at].record()).min().expect("at least one"),
        };
        take(sources[equal[0]].key(), hint, level)?;
        for &at in equal.iter().rev() {
            if !sources[at].advance()? {
                sources.swap_remove(at);
            }
        }
    }
    Ok(())
}

/// From which run on runs of these sizes, the oldest first, are merged into one: a run stays as it is
/// only if it is more than twice as large as all after it together, so that there are few of them
/// and none is merged often.
pub(super) fn merged_from(sizes: &[u64]) -> usize {
    let (mut from, mut after) = (sizes.len(), 0);
    for (at, &size) in sizes.iter().enumerate().rev() {
        if after > 0 && size <= 2 * after {
            from = at;
        }
        after += size;
    }
    from
}
