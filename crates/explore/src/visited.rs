//! The visited set: every state that was reached, exactly, in little more than its packed bytes.
//!
//! States are dealt out to shards by their hash. A shard has its records (packed state and a byte,
//! see below) in the order of insertion and an open-addressing table of 32-bit slots: the index of
//! a record, and as many bits of its hash as there is room for. Sixteen slots are a bucket of one
//! cache line, looked at as a whole; a full bucket overflows to the next. A table is at most 7/8
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
//! batches, and a batch is first touched in tight loops so that its misses overlap.

use std::sync::Arc;

use crate::arena::{Arena, Chunks, push};
use crate::hash::{self, Partition, scaled};
use crate::memory::Meter;
use crate::store::{Store, StoreError};

/// Slots of a bucket.
const WIDTH: usize = 16;
/// Slots of a bucket that are filled on average when a table grows.
const FULL: usize = 14;
/// By how much a table grows.
const GROWTH: f64 = 1.5;
/// Buckets of the smallest table.
const SMALLEST: f64 = 4.0;
/// A slot that holds nothing. No index has all its bits set.
const EMPTY: u32 = u32::MAX;

#[derive(Debug, Clone)]
#[repr(align(64))]
struct Bucket([u32; WIDTH]);

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
    meter: Arc<Meter>,
}

#[derive(Debug)]
struct Shard {
    table: Vec<Bucket>,
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
        Ok(VisitedSet { shards, arena, packed, partition, first, depth: 0, cursor: (0, 0), meter })
    }

    /// How many shards suit a number of workers.
    pub(crate) fn partition(workers: usize) -> Partition {
        Partition { workers, shards: (workers * 8).next_power_of_two().max(128) }
    }

    #[inline(always)]
    fn shard_of(&self, hash: u64) -> usize {
        self.partition.shard(hash) - self.first
    }

    /// Adds a record unless it is there. Returns whether it was added.
    #[inline(always)]
    fn insert_one(&mut self, record: &[u8], hash: u64) -> Result<bool, StoreError> {
        let index = self.shard_of(hash);
        let shard = &mut self.shards[index];
        let packed = &record[..self.packed];
        let tag = shard.tag(hash);
        let mut at = shard.bucket(hash);
        loop {
            let bucket = &shard.table[at].0;
            let mut matches = matching(bucket, tag, shard.index_bits);
            while matches != 0 {
                let slot = bucket[matches.trailing_zeros() as usize];
                let found = slot & shard.index_mask();
                if found < shard.length && same(self.arena.get(&shard.chunks, found), packed) {
                    if found >= shard.building {
                        let kept = self.arena.get_mut(&shard.chunks, found);
                        kept[self.packed] = kept[self.packed].min(record[self.packed]);
                    }
                    return Ok(false);
                }
                matches &= matches - 1;
            }
            if bucket[WIDTH - 1] == EMPTY {
                break;
            }
            at = if at + 1 == shard.table.len() { 0 } else { at + 1 };
        }
        if shard.is_full() {
            self.grow(index)?;
            at = self.shards[index].bucket(hash);
        }
        let shard = &mut self.shards[index];
        self.arena.make_room(&mut shard.chunks, shard.length, &self.meter)?;
        self.arena.get_mut(&shard.chunks, shard.length).copy_from_slice(record);
        shard.place(at, shard.tag(hash) | shard.length);
        shard.length += 1;
        Ok(true)
    }

    /// Replaces the table of a shard by a larger one.
    #[cold]
    fn grow(&mut self, index: usize) -> Result<(), StoreError> {
        let old = &self.shards[index];
        let mut shard = Shard::new(old.size * GROWTH, &self.meter)?;
        if old.length >= shard.index_mask() || shard.index_bits > 30 {
            return Err(StoreError::Memory);
        }
        for record in 0..old.length {
            let packed = &self.arena.get(&old.chunks, record)[..self.packed];
            let hash = hash::hash(packed, hash::PLACE);
            shard.place(shard.bucket(hash), shard.tag(hash) | record);
        }
        let old = &mut self.shards[index];
        self.meter.give((old.table.len() * size_of::<Bucket>()) as u64);
        (old.table, old.size, old.index_bits) = (shard.table, shard.size, shard.index_bits);
        Ok(())
    }

    /// Loads what looking up these records will read, many at a time.
    fn touch(&self, hashes: &[u64]) {
        let mut sum = 0;
        for &hash in hashes {
            let shard = &self.shards[self.shard_of(hash)];
            sum ^= shard.table[shard.bucket(hash)].0[0];
        }
        std::hint::black_box(sum);
        let mut sum = 0;
        for &hash in hashes {
            let shard = &self.shards[self.shard_of(hash)];
            let bucket = &shard.table[shard.bucket(hash)].0;
            let matches = matching(bucket, shard.tag(hash), shard.index_bits);
            if matches != 0 {
                let slot = bucket[matches.trailing_zeros() as usize];
                let index = slot & shard.index_mask();
                if index < shard.length {
                    sum ^= self.arena.get(&shard.chunks, index)[0];
                }
            }
        }
        std::hint::black_box(sum);
    }

    /// The record of a state.
    fn find(&self, packed: &[u8], hash: u64) -> Option<&[u8]> {
        let shard = &self.shards[self.shard_of(hash)];
        let mut at = shard.bucket(hash);
        loop {
            let bucket = &shard.table[at].0;
            for &slot in bucket {
                let record = slot & shard.index_mask();
                if slot != EMPTY && slot & !shard.index_mask() == shard.tag(hash) {
                    let record = self.arena.get(&shard.chunks, record);
                    if same(record, packed) {
                        return Some(record);
                    }
                }
            }
            if bucket[WIDTH - 1] == EMPTY {
                return None;
            }
            at = (at + 1) % shard.table.len();
        }
    }

    /// Whether a state is in the set.
    pub(crate) fn contains(&self, packed: &[u8], hash: u64) -> bool {
        self.find(packed, hash).is_some()
    }
}

impl Shard {
    fn new(size: f64, meter: &Meter) -> Result<Self, StoreError> {
        let buckets = size as usize;
        if !meter.take((buckets * size_of::<Bucket>()) as u64) {
            return Err(StoreError::Memory);
        }
        Ok(Shard {
            table: vec![Bucket([EMPTY; WIDTH]); buckets],
            size,
            // So many bits that the greatest index is not all ones.
            index_bits: (buckets * FULL + 1).ilog2() + 1,
            chunks: Chunks::default(),
            length: 0,
            building: 0,
            reading: 0,
            levels: Vec::new(),
        })
    }

    #[inline(always)]
    fn index_mask(&self) -> u32 {
        (1 << self.index_bits) - 1
    }

    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        ((hash >> 40) as u32) << self.index_bits
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        scaled(hash, self.table.len())
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.length as usize >= self.table.len() * FULL
    }

    /// Puts a slot into the first free place from bucket `at` on. A table is never full.
    #[inline(always)]
    fn place(&mut self, mut at: usize, slot: u32) {
        loop {
            let bucket = &mut self.table[at].0;
            if bucket[WIDTH - 1] == EMPTY {
                let free = bucket.iter().filter(|&&taken| taken != EMPTY).count();
                bucket[free] = slot;
                return;
            }
            at = if at + 1 == self.table.len() { 0 } else { at + 1 };
        }
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

/// Which slots of a bucket have this tag, as a mask. An empty slot may seem to; its index does not
/// exist.
#[inline(always)]
fn matching(bucket: &[u32; WIDTH], tag: u32, index_bits: u32) -> u32 {
    let mut mask = 0;
    for (at, &slot) in bucket.iter().enumerate() {
        mask |= u32::from((slot ^ tag) >> index_bits == 0) << at;
    }
    mask
}

/// Whether a record has this packed state.
#[inline(always)]
fn same(record: &[u8], packed: &[u8]) -> bool {
    &record[..packed.len()] == packed
}

impl Store for VisitedSet {
    fn insert(&mut self, records: &[u8], hashes: &[u64]) -> Result<u64, StoreError> {
        self.touch(hashes);
        let mut new = 0;
        for (record, &hash) in records.chunks_exact(self.packed + 1).zip(hashes) {
            new += u64::from(self.insert_one(record, hash)?);
        }
        Ok(new)
    }

    fn next_level(&mut self) -> Result<u64, StoreError> {
        let mut states = 0;
        for shard in &mut self.shards {
            if shard.length > shard.building {
                push(&mut shard.levels, (self.depth, shard.building), &self.meter)?;
            }
            states += u64::from(shard.length - shard.building);
            (shard.reading, shard.building) = (shard.building, shard.length);
        }
        self.depth += 1;
        self.cursor = (0, self.shards.first().map_or(0, |shard| shard.reading));
        Ok(states)
    }

    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError> {
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

    fn hint_of(&self, packed: &[u8], hash: u64) -> Option<u8> {
        self.find(packed, hash).map(|record| record[self.packed])
    }
}
