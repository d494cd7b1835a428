//! The visited set: every state that was reached, exactly, in little more than its packed bytes.
//!
//! States are dealt out to shards by their hash. A shard has its records (packed state and a byte,
//! see below) in the order of insertion and an open-addressing table of 32-bit slots: the index of
//! a record, and as many bits of its hash as there is room for. Sixteen slots are a bucket of one
//! cache line, looked at as a whole; a full bucket overflows to its neighbour. A table is at most 7/8
//! full and then grows by half, one shard at a time. Shards start with sizes spread evenly over
//! such a step, so that at any time some have just grown and some are about to: together they
//! always take about 5.6 bytes for a state, and with the hint, 6.7 on top of the packed state.
//!
//! The records in the order of insertion are the breadth-first frontier too: a level is a range
//! of indices in each shard. There are no pointers to parents. Instead, a record keeps one byte of
//! its parent's hash, the least among all parents in the level before (so it does not depend on
//! the order of insertion): the parent of a state is found again by expanding one in 256 states of
//! the level before.
//!
//! A look-up costs about two cache misses, in the table and in the records. Look-ups come in
//! batches, and a batch is gone through in tight loops so that its misses overlap: one that touches
//! the buckets, one that touches the record with the right tag, one that compares and inserts.

mod bucket;
mod numbered;
mod stretch;

use std::sync::Arc;

use native::load_early;

use self::bucket::{EMPTY, Slots, WIDTH, first_empty, matching};
use crate::arena::{Arena, Chunks, Place, push};
use crate::block::Block;
use crate::hash::{self, Partition, scaled};
use crate::memory::Meter;
use crate::store::{Numbered, Store, StoreError};
use crate::watch::Watch;

/// Slots of a bucket that are filled on average when a table grows.
const FULL: usize = 14;
/// By how much a table grows.
const GROWTH: f64 = 1.5;
/// Buckets of the smallest table.
const SMALLEST: f64 = 4.0;
/// Bytes of a bucket.
const BUCKET: usize = 4 * WIDTH;
/// No record.
const NONE: u32 = u32::MAX;

/// The states of one worker.
#[derive(Debug)]
pub(crate) struct VisitedSet {
    shards: Vec<Shard>,
    arena: Arena,
    packed: usize,
    partition: Partition,
    /// The first shard of this worker.
    first: usize,
    /// The level being built.
    depth: u32,
    /// Where reading has got to: a shard, and a record of it.
    cursor: (usize, u32),
    /// If states are read as they were added: for each of the level being built and of the one
    /// being read, its shard; and how many were read.
    inserted: Option<Inserted>,
    /// For each state of a batch, the record that it may be, or [`NONE`], and where that is.
    likely: Vec<(u32, Place)>,
    meter: Arc<Meter>,
}

/// The order in which states were added.
#[derive(Debug, Default)]
struct Inserted {
    building: Vec<u16>,
    reading: Vec<u16>,
    read: usize,
}

#[derive(Debug)]
struct Shard {
    table: Block,
    buckets: usize,
    /// The number of buckets before it is rounded.
    size: f64,
    /// The low bits of a slot that are an index.
    index_bits: u32,
    chunks: Chunks,
    length: u32,
    /// Where the level being built begins, and the one being read.
    building: u32,
    reading: u32,
    /// For each level with states in this shard, its number and where it begins.
    levels: Vec<(u32, u32)>,
}

impl VisitedSet {
    /// An empty set for the states that `worker` owns.
    pub(crate) fn new(
        packed: usize,
        partition: Partition,
        worker: usize,
        meter: Arc<Meter>,
    ) -> Result<Self, StoreError> {
        let range = partition.shards_of(worker);
        let mut shards = Vec::with_capacity(range.len());
        for shard in range.clone() {
            let step = shard as f64 / partition.shards as f64;
            shards.push(Shard::new(SMALLEST * GROWTH.powf(step), &meter)?);
        }
        let arena = Arena::new(packed + 1);
        let first = range.start;
        Ok(VisitedSet {
            shards,
            arena,
            packed,
            partition,
            first,
            depth: 0,
            cursor: (0, 0),
            inserted: None,
            likely: Vec::new(),
            meter,
        })
    }

    /// The same set, whose levels are read as they were added and not shard by shard; to be called
    /// while there are no states. States that were added one after the other have successors in common:
    /// these are then in a cache still when they are met again.
    pub(crate) fn read_as_added(mut self) -> Self {
        self.inserted = Some(Inserted::default());
        self
    }

    /// Numbers levels from this one on; to be called while there are no states.
    pub(crate) fn begin_at(&mut self, level: u32) {
        self.depth = level;
    }

    /// How many shards suit a number of workers.
    pub(crate) fn partition(workers: usize) -> Partition {
        Partition { workers, shards: (workers * 8).next_power_of_two().max(32) }
    }

    #[inline(always)]
    fn shard_of(&self, hash: u64) -> usize {
        self.partition.shard(hash) - self.first
    }

    /// Finds, for each hash, a record that may be the one: for most, it is. What looking them up will
    /// read is loaded early, so that the processor waits for many of them at once.
    fn touch(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            let shard = &self.shards[self.shard_of(hash)];
            load_early(&shard.table.bytes()[shard.bucket(hash) * BUCKET]);
        }
        self.likely.clear();
        for &hash in hashes {
            let shard = &self.shards[self.shard_of(hash)];
            let likely = shard.likely(hash);
            let mut place = Place::default();
            if likely != NONE {
                place = self.arena.place(&shard.chunks, likely);
                // A record may be in two lines.
                let record = self.arena.at(place);
                load_early(&record[0]);
                load_early(&record[self.packed]);
            }
            self.likely.push((likely, place));
        }
    }

    /// Adds a record unless it is there. Returns whether it was added.
    #[inline(always)]
    fn insert_one(
        &mut self,
        record: &[u8],
        hash: u64,
        (likely, place): (u32, Place),
    ) -> Result<bool, StoreError> {
        let shard = self.shard_of(hash);
        let packed = &record[..self.packed];
        if likely != NONE && same(self.arena.at(place), packed) {
            self.meet_again(shard, likely, place, record[self.packed]);
            return Ok(false);
        }
        match self.seek(shard, packed, hash) {
            Ok(index) => {
                let place = self.arena.place(&self.shards[shard].chunks, index);
                self.meet_again(shard, index, place, record[self.packed]);
                Ok(false)
            }
            Err(bucket) => self.add(shard, record, hash, bucket).map(|()| true),
        }
    }

    /// Keeps the least hint of a record of the level being built.
    #[inline(always)]
    fn meet_again(&mut self, shard: usize, index: u32, place: Place, hint: u8) {
        if index >= self.shards[shard].building {
            let kept = &mut self.arena.at_mut(place)[self.packed];
            *kept = hint.min(*kept);
        }
    }

    /// The index of a state among the records of its shard.
    fn find(&self, shard: usize, packed: &[u8], hash: u64) -> Option<u32> {
        self.seek(shard, packed, hash).ok()
    }

    /// The index of a state among the records of its shard; if it is not there, the bucket with room
    /// for it.
    fn seek(&self, shard: usize, packed: &[u8], hash: u64) -> Result<u32, usize> {
        let shard = &self.shards[shard];
        let mut last = 0;
        for bucket in shard.probe(hash) {
            let slots = shard.slots(bucket);
            let mut matches = matching(slots, shard.tag(hash), shard.index_bits);
            while matches != 0 {
                let index = shard.index(slots[matches.trailing_zeros() as usize]);
                if index < shard.length && same(self.arena.get(&shard.chunks, index), packed) {
                    return Ok(index);
                }
                matches &= matches - 1;
            }
            last = bucket;
            if slots[WIDTH - 1] == EMPTY {
                break;
            }
        }
        Err(last)
    }

    /// Adds a record that is not there, for which there is room in this bucket unless the table is
    /// full.
    fn add(
        &mut self,
        index: usize,
        record: &[u8],
        hash: u64,
        bucket: usize,
    ) -> Result<(), StoreError> {
        let is_full = self.shards[index].is_full();
        if is_full {
            self.grow(index)?;
        }
        let shard = &mut self.shards[index];
        self.arena.make_room(&mut shard.chunks, shard.length, &self.meter)?;
        self.arena.get_mut(&shard.chunks, shard.length).copy_from_slice(record);
        shard.length += 1;
        match is_full {
            true => shard.place(hash, shard.length),
            false => shard.fill(bucket, hash, shard.length),
        }
        if let Some(inserted) = &mut self.inserted {
            push(&mut inserted.building, index as u16, &self.meter)?;
        }
        Ok(())
    }

    /// Replaces the table of a shard by a larger one.
    #[cold]
    fn grow(&mut self, index: usize) -> Result<(), StoreError> {
        let old = &self.shards[index];
        let mut shard = Shard::new(old.size * GROWTH, &self.meter)?;
        if shard.index_bits > 30 {
            return Err(StoreError::Memory);
        }
        for record in 0..old.length {
            let packed = &self.arena.get(&old.chunks, record)[..self.packed];
            shard.place(hash::hash(packed, hash::PLACE), record + 1);
        }
        let old = &mut self.shards[index];
        (old.buckets, old.size, old.index_bits) = (shard.buckets, shard.size, shard.index_bits);
        std::mem::replace(&mut old.table, shard.table).free(&self.meter);
        Ok(())
    }

    /// Whether a state is in the set.
    pub(crate) fn contains(&self, packed: &[u8], hash: u64) -> bool {
        self.find(self.shard_of(hash), packed, hash).is_some()
    }
}

impl Shard {
    fn new(size: f64, meter: &Meter) -> Result<Self, StoreError> {
        // Pairs of buckets.
        let buckets = (size as usize).next_multiple_of(2);
        Ok(Shard {
            table: Block::new_in_use(buckets * BUCKET, meter)?,
            buckets,
            size,
            // Enough for the indices from 1 on that a full table has.
            index_bits: (buckets * FULL).ilog2() + 1,
            chunks: Chunks::default(),
            length: 0,
            building: 0,
            reading: 0,
            levels: Vec::new(),
        })
    }

    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        ((hash >> 40) as u32) << self.index_bits
    }

    /// The index in a slot; one that no record has if the slot is empty.
    #[inline(always)]
    fn index(&self, slot: [u8; 4]) -> u32 {
        (u32::from_ne_bytes(slot) & ((1 << self.index_bits) - 1)).wrapping_sub(1)
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        scaled(hash, self.buckets)
    }

    /// The buckets to look at for a hash, until one is not full: its own; the other one of its
    /// pair, which processors load along with it; then pair after pair.
    #[inline(always)]
    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let (home, buckets) = (self.bucket(hash), self.buckets);
        (0..).map(move |number| match number {
            0 => home,
            1 => home ^ 1,
            _ => ((home & !1) + number) % buckets,
        })
    }

    #[inline(always)]
    fn slots(&self, bucket: usize) -> &Slots {
        let bytes = &self.table.bytes()[bucket * BUCKET..(bucket + 1) * BUCKET];
        bytes.as_chunks().0.first_chunk().expect("a bucket has so many slots")
    }

    /// The first record with the tag of this hash, or [`NONE`].
    #[inline(always)]
    fn likely(&self, hash: u64) -> u32 {
        for bucket in self.probe(hash) {
            let slots = self.slots(bucket);
            let matches = matching(slots, self.tag(hash), self.index_bits);
            if matches != 0 {
                // Of an empty slot this is NONE.
                return self.index(slots[matches.trailing_zeros() as usize]);
            }
            if slots[WIDTH - 1] == EMPTY {
                break;
            }
        }
        NONE
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.length as usize >= self.buckets * FULL
    }

    /// Puts an index, counted from 1, into the first free slot. A table is never full.
    #[inline(always)]
    fn place(&mut self, hash: u64, index: u32) {
        for bucket in self.probe(hash) {
            let slots = self.slots(bucket);
            if slots[WIDTH - 1] == EMPTY {
                return self.fill(bucket, hash, index);
            }
        }
    }

    /// Puts an index, counted from 1, into the first free slot of a bucket, which is not full.
    #[inline(always)]
    fn fill(&mut self, bucket: usize, hash: u64, index: u32) {
        let start = bucket * BUCKET + 4 * first_empty(self.slots(bucket));
        let slot = self.tag(hash) | index;
        self.table.bytes_mut()[start..start + 4].copy_from_slice(&slot.to_ne_bytes());
    }

    /// The records of a level.
    fn level(&self, depth: u32) -> std::ops::Range<u32> {
        let start = |depth: u32| {
            let at = self.levels.partition_point(|&(level, _)| level < depth);
            self.levels.get(at).map_or(self.building, |&(_, start)| start)
        };
        start(depth)..start(depth + 1)
    }
}

/// Whether a record has this packed state.
#[inline(always)]
fn same(record: &[u8], packed: &[u8]) -> bool {
    let length = packed.len();
    if length < 8 {
        return record[..length].iter().zip(packed).all(|(a, b)| a == b);
    }
    let differ = |at: usize| hash::word(&record[at..]) != hash::word(&packed[at..]);
    // The last eight bytes first: there is the end of the last word.
    !differ(length - 8) && !(0..length / 8).any(|word| differ(8 * word))
}

impl Store for VisitedSet {
    const ENDS_LEVELS_AT_ONCE: bool = true;

    fn insert(&mut self, records: &[u8], hashes: &[u64]) -> Result<u64, StoreError> {
        self.touch(hashes);
        let mut new = 0;
        let records = records.chunks_exact(self.packed + 1);
        for (number, (record, &hash)) in records.zip(hashes).enumerate() {
            let likely = self.likely[number];
            new += u64::from(self.insert_one(record, hash, likely)?);
        }
        Ok(new)
    }

    fn next_level(&mut self, _watch: &Watch) -> Result<u64, StoreError> {
        let mut states = 0;
        for shard in &mut self.shards {
            if shard.length > shard.building {
                push(&mut shard.levels, (self.depth, shard.building), &self.meter)?;
            }
            states += u64::from(shard.length - shard.building);
            (shard.reading, shard.building) = (shard.building, shard.length);
        }
        self.depth += 1;
        if let Some(inserted) = &mut self.inserted {
            std::mem::swap(&mut inserted.building, &mut inserted.reading);
            inserted.building.clear();
            inserted.read = 0;
        }
        self.cursor = (0, self.shards.first().map_or(0, |shard| shard.reading));
        Ok(states)
    }

    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError> {
        if let Some(inserted) = &mut self.inserted {
            let end = inserted.reading.len().min(inserted.read + most);
            let count = end - inserted.read;
            for &shard in &inserted.reading[inserted.read..end] {
                // What was added to a shard is there in the same order.
                let shard = &mut self.shards[usize::from(shard)];
                states.extend_from_slice(
                    &self.arena.get(&shard.chunks, shard.reading)[..self.packed],
                );
                shard.reading += 1;
            }
            inserted.read = end;
            return Ok(count);
        }
        let mut count = 0;
        while let Some(shard) = self.shards.get(self.cursor.0) {
            let end = shard.building.min(self.cursor.1 + (most - count) as u32);
            for index in self.cursor.1..end {
                states.extend_from_slice(&self.arena.get(&shard.chunks, index)[..self.packed]);
            }
            count += (end - self.cursor.1) as usize;
            self.cursor.1 = end;
            if count == most {
                break;
            }
            let next = self.cursor.0 + 1;
            self.cursor = (next, self.shards.get(next).map_or(0, |shard| shard.reading));
        }
        Ok(count)
    }

    fn candidates(
        &mut self,
        depth: u32,
        hint: Option<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        for shard in &self.shards {
            for index in shard.level(depth) {
                let packed = &self.arena.get(&shard.chunks, index)[..self.packed];
                let own = hash::hint(hash::hash(packed, hash::PLACE));
                if hint.is_none_or(|hint| hint == own) {
                    visit(packed);
                }
            }
        }
        Ok(())
    }

    fn hint_of(&self, packed: &[u8], hash: u64) -> Result<Option<u8>, StoreError> {
        let shard = self.shard_of(hash);
        let index = self.find(shard, packed, hash);
        Ok(index.map(|index| self.arena.get(&self.shards[shard].chunks, index)[self.packed]))
    }

    fn numbered(&self) -> Option<&dyn Numbered> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::hash::{PLACE, hash};

    fn set(packed: usize) -> VisitedSet {
        let meter = Arc::new(Meter::new(None));
        VisitedSet::new(packed, VisitedSet::partition(1), 0, meter).unwrap()
    }

    fn insert(set: &mut VisitedSet, numbers: impl Iterator<Item = u32>, hint: u8) -> u64 {
        let (mut records, mut hashes) = (Vec::new(), Vec::new());
        for number in numbers {
            let packed = &number.to_le_bytes()[..set.packed];
            records.extend_from_slice(packed);
            records.push(hint);
            hashes.push(hash(packed, PLACE));
        }
        set.insert(&records, &hashes).unwrap()
    }

    #[test]
    fn a_state_is_added_once_however_often_tables_grow() {
        let mut set = set(4);
        for start in (0..300_000).step_by(1000) {
            assert_eq!(insert(&mut set, start..start + 1000, 0), 1000);
            assert_eq!(insert(&mut set, (start..start + 1000).rev(), 0), 0);
        }
        assert_eq!(insert(&mut set, 0..300_001, 0), 1);
    }

    #[test]
    fn a_state_that_comes_twice_in_a_batch_is_added_once() {
        let mut set = set(4);
        assert_eq!(insert(&mut set, [5, 7, 5, 5, 7].into_iter(), 0), 2);
    }

    #[test]
    fn the_least_hint_of_the_level_being_built_is_kept() {
        let mut set = set(4);
        let packed = 9u32.to_le_bytes();
        let kept = |set: &VisitedSet| set.hint_of(&packed, hash(&packed, PLACE)).unwrap();
        let watch = Watch::new(1, Instant::now());
        assert_eq!(kept(&set), None);
        for hint in [30, 20, 40] {
            insert(&mut set, 9..10, hint);
        }
        assert_eq!(kept(&set), Some(20));
        set.next_level(&watch).unwrap();
        insert(&mut set, 9..10, 10);
        assert_eq!(kept(&set), Some(20));
    }

    #[test]
    fn levels_are_read_and_remembered() {
        let mut set = set(4);
        let level = |depth: u32| depth * 10_000..depth * 10_000 + depth % 3 * 400;
        let sorted = |states: &[u8]| {
            let number = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap());
            let mut numbers: Vec<u32> = states.chunks_exact(4).map(number).collect();
            numbers.sort_unstable();
            numbers
        };
        let watch = Watch::new(1, Instant::now());
        for depth in 0..9 {
            insert(&mut set, level(depth), 0);
            assert_eq!(set.next_level(&watch).unwrap(), level(depth).len() as u64);
            let mut states = Vec::new();
            while set.read(7, &mut states).unwrap() > 0 {}
            assert_eq!(sorted(&states), level(depth).collect::<Vec<_>>());
        }
        insert(&mut set, 900_000..900_100, 0);
        for depth in 0..9 {
            let mut states = Vec::new();
            set.candidates(depth, None, &mut |state| states.extend_from_slice(state)).unwrap();
            assert_eq!(sorted(&states), level(depth).collect::<Vec<_>>());
        }
    }

    #[test]
    fn levels_are_read_as_they_were_added_if_that_is_asked_for() {
        let mut set = set(4).read_as_added();
        let watch = Watch::new(1, Instant::now());
        for depth in 0..3 {
            let level = (depth * 10_000..depth * 10_000 + 6300).step_by(7);
            insert(&mut set, level.clone(), 0);
            insert(&mut set, level.clone().rev(), 0);
            assert_eq!(set.next_level(&watch).unwrap(), 900);
            let mut states = Vec::new();
            while set.read(7, &mut states).unwrap() > 0 {}
            let expected: Vec<u8> = level.flat_map(u32::to_le_bytes).collect();
            assert_eq!(states, expected);
        }
    }

    #[test]
    fn states_of_any_size_are_told_apart_by_every_byte() {
        for size in (0..40).chain([4095, 5000]) {
            let mut set = set(size);
            let mut states = vec![vec![0; size]];
            states.extend((0..size).map(|at| (0..size).map(|byte| u8::from(byte == at)).collect()));
            for round in 0..2 {
                for state in &states {
                    let record = [&state[..], &[0]].concat();
                    let new = set.insert(&record, &[hash(state, PLACE)]).unwrap();
                    assert_eq!(new, 1 - round);
                }
            }
        }
    }
}
