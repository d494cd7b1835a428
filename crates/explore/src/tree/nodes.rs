//! Interned parts: for each content one number, for all threads.
//!
//! A part is a few words. Parts are dealt out to shards by their hash; a shard has a table of
//! numbers behind a lock, and its parts in segments that never move and are read without the lock.
//! Segments and tables grow by an eighth to a quarter and by half, so little is allocated before
//! it is used. A thread asks its own [`Cache`] first, so locks are taken for parts that are rare
//! or new.
//!
//! A number is published by whoever was given it, through a lock or a channel; so the part behind
//! a number that a thread has come to know is there to be read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::memory::Meter;
use crate::store::StoreError;

/// Shards, a power of two.
const SHARDS: u32 = 64;
/// Parts of the first segments of a shard, a power of two.
const FIRST: u32 = 32;
/// Segments for each doubling of a shard, a power of two.
const STEPS: u32 = 4;
/// The most bits of an index within a shard.
const INDEX_BITS: u32 = u32::BITS - SHARDS.ilog2();
/// Slots of the smallest table.
const SMALLEST: usize = 32;
/// An empty slot.
const EMPTY: u32 = 0;

/// Words of a part.
pub(super) type Part<const W: usize> = [u64; W];

/// All parts of a length.
#[derive(Debug)]
pub(super) struct Nodes<const W: usize> {
    shards: Vec<Shard>,
}

#[derive(Debug)]
struct Shard {
    segments: Vec<OnceLock<Box<[AtomicU64]>>>,
    table: Mutex<Table>,
}

/// An open-addressing table of indices, counted from 1, with as much of the hash above the index as
/// there is room for.
#[derive(Debug)]
struct Table {
    slots: Vec<u32>,
    length: u32,
}

#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}

/// The hash of a part, which is an even number of words.
#[inline(always)]
pub(super) fn hash<const W: usize>(part: &Part<W>) -> u64 {
    let mut sum = 0u64;
    for (number, pair) in (1u64..).zip(part.as_chunks::<2>().0) {
        // Pairs are independent of each other, so that they are multiplied side by side.
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum = sum.wrapping_add(fold(pair[0] ^ number, pair[1] ^ 0xa076_1d64_78bd_642f ^ number));
    }
    fold(sum, 0xe703_7ed1_a0b4_28db)
}

/// The segment of an index, and the place in it.
#[inline(always)]
fn place(index: u32) -> (usize, usize) {
    let number = index + FIRST;
    let top = number.ilog2();
    let within = top - STEPS.ilog2();
    let step = number >> within & (STEPS - 1);
    let segment = (top - FIRST.ilog2()) * STEPS + step;
    (segment as usize, (number & ((1 << within) - 1)) as usize)
}

/// Parts of a segment.
fn segment_length(segment: usize) -> usize {
    ((FIRST / STEPS) as usize) << (segment / STEPS as usize)
}

impl<const W: usize> Nodes<W> {
    pub(super) fn new(meter: &Meter) -> Result<Self, StoreError> {
        let segments = (place((1 << INDEX_BITS) - FIRST - 1).0 + 1) as u32;
        let bytes = SHARDS as usize * segments as usize * size_of::<OnceLock<Box<[AtomicU64]>>>();
        if !meter.take((bytes + SHARDS as usize * SMALLEST * size_of::<u32>()) as u64) {
            return Err(StoreError::Memory);
        }
        let shard = |_| Shard {
            segments: (0..segments).map(|_| OnceLock::new()).collect(),
            table: Mutex::new(Table { slots: vec![EMPTY; SMALLEST], length: 0 }),
        };
        Ok(Nodes { shards: (0..SHARDS).map(shard).collect() })
    }

    /// The part with this number.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Part<W> {
        self.shards[(number % SHARDS) as usize].get(number / SHARDS)
    }

    /// The number of a part, a new one if it has none.
    pub(super) fn number(
        &self,
        part: &Part<W>,
        hash: u64,
        meter: &Meter,
    ) -> Result<u32, StoreError> {
        let shard_number = hash as u32 % SHARDS;
        let shard = &self.shards[shard_number as usize];
        let mut table = shard.lock();
        let mut at = table.first(hash);
        while table.slots[at] != EMPTY {
            if table.tag_is(at, hash) {
                let index = table.index(at);
                if shard.get::<W>(index) == *part {
                    return Ok(index * SHARDS + shard_number);
                }
            }
            at = table.next(at);
        }
        let index = shard.add(&mut table, part, hash, meter)?;
        Ok(index * SHARDS + shard_number)
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Whoever panicked has left the table as it was.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    fn get<const W: usize>(&self, index: u32) -> Part<W> {
        let (segment, at) = place(index);
        let words = self.segments[segment].get().map_or(&[][..], |words| words);
        let words = &words[at * W..(at + 1) * W];
        std::array::from_fn(|word| words[word].load(Relaxed))
    }

    /// Adds a part that is not there.
    fn add<const W: usize>(
        &self,
        table: &mut Table,
        part: &Part<W>,
        hash: u64,
        meter: &Meter,
    ) -> Result<u32, StoreError> {
        let index = table.length;
        if index >= (1 << INDEX_BITS) - FIRST - 1 {
            return Err(StoreError::Memory);
        }
        if (table.length as usize + 1) * 4 > table.slots.len() * 3 {
            self.grow::<W>(table, meter)?;
        }
        let (segment, at) = place(index);
        let words = match self.segments[segment].get() {
            Some(words) => words,
            None => {
                let words = segment_length(segment) * W;
                if !meter.take(8 * words as u64) {
                    return Err(StoreError::Memory);
                }
                self.segments[segment]
                    .get_or_init(|| (0..words).map(|_| AtomicU64::new(0)).collect())
            }
        };
        for (word, &content) in words[at * W..(at + 1) * W].iter().zip(part) {
            word.store(content, Relaxed);
        }
        table.length += 1;
        table.place(index, hash);
        Ok(index)
    }

    #[cold]
    fn grow<const W: usize>(&self, table: &mut Table, meter: &Meter) -> Result<(), StoreError> {
        let slots = table.slots.len() / 2 * 3;
        if !meter.take(4 * slots as u64) {
            return Err(StoreError::Memory);
        }
        meter.give(4 * table.slots.len() as u64);
        table.slots = vec![EMPTY; slots];
        for index in 0..table.length {
            table.place(index, hash(&self.get::<W>(index)));
        }
        Ok(())
    }
}

impl Table {
    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        ((u64::from((hash >> 8) as u32) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline(always)]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// The low bits of a slot that are an index.
    #[inline(always)]
    fn index_bits(&self) -> u32 {
        usize::BITS - self.slots.len().leading_zeros()
    }

    #[inline(always)]
    fn index(&self, at: usize) -> u32 {
        (self.slots[at] & ((1 << self.index_bits()) - 1)) - 1
    }

    #[inline(always)]
    fn tag_is(&self, at: usize, hash: u64) -> bool {
        (self.slots[at] ^ (hash >> 32) as u32) >> self.index_bits() == 0
    }

    /// Puts an index into a free slot; there always is one.
    fn place(&mut self, index: u32, hash: u64) {
        let mut at = self.first(hash);
        while self.slots[at] != EMPTY {
            at = self.next(at);
        }
        let low = (1u32 << self.index_bits()) - 1;
        self.slots[at] = (hash >> 32) as u32 & !low | (index + 1);
    }
}

/// What a thread remembers of the numbers of parts: the last part for each of some hashes.
#[derive(Debug)]
pub(super) struct Cache<const W: usize> {
    entries: Vec<Entry<W>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry<const W: usize> {
    part: Part<W>,
    /// `u32::MAX` where nothing is remembered.
    number: u32,
}

impl<const W: usize> Cache<W> {
    /// One that remembers so many, a power of two.
    pub(super) fn new(entries: usize) -> Self {
        Cache { entries: vec![Entry { part: [0; W], number: u32::MAX }; entries] }
    }

    /// Bytes of a cache with so many entries.
    pub(super) fn bytes(entries: usize) -> usize {
        entries * size_of::<Entry<W>>()
    }

    /// The number of a part, a new one if it has none.
    #[inline(always)]
    pub(super) fn number(
        &mut self,
        nodes: &Nodes<W>,
        part: &Part<W>,
        meter: &Meter,
    ) -> Result<u32, StoreError> {
        let hash = hash(part);
        let at = (hash >> 20) as usize & (self.entries.len() - 1);
        let entry = &mut self.entries[at];
        if entry.number != u32::MAX && entry.part == *part {
            return Ok(entry.number);
        }
        let number = nodes.number(part, hash, meter)?;
        *entry = Entry { part: *part, number };
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other_without_gaps() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == segment_length(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn threads_give_a_part_one_number_and_read_it_back() {
        let (nodes, meter) = (Nodes::<2>::new(&Meter::new(None)).unwrap(), Meter::new(None));
        let part = |number: u64| [number % 1000, number / 1000];
        let numbers = |first: u64| {
            let mut cache = Cache::<2>::new(64);
            (0..60_000)
                .map(|step| (first + step * 7) % 60_000)
                .map(|number| (number, cache.number(&nodes, &part(number), &meter).unwrap()))
                .collect::<std::collections::BTreeMap<_, _>>()
        };
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                [0, 1, 30_000].map(|first| scope.spawn(move || numbers(first))).into();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
        let distinct: std::collections::BTreeSet<u32> = all[0].values().copied().collect();
        assert_eq!(distinct.len(), 60_000);
        for (&number, &name) in &all[0] {
            assert_eq!(nodes.get(name), part(number));
        }
    }

    #[test]
    fn no_memory_is_an_answer() {
        let meter = Meter::new(Some(1 << 20));
        let nodes = Nodes::<4>::new(&meter).unwrap();
        let refused = (0..100_000u64)
            .find_map(|number| nodes.number(&[number; 4], hash(&[number; 4]), &meter).err());
        assert!(matches!(refused, Some(StoreError::Memory)));
    }
}
