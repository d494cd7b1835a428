//! A set of signatures: a few bits of a state's hash in place of the state.
//!
//! States are dealt out to 2^12 shards by one hash and have a signature of 40 to 64 bits from
//! another. A shard is an open-addressing table of signatures in as many whole bytes as they need,
//! probed linearly from the place that the signature itself names, so that a table can grow
//! without the states. Tables are at most 85 % full and grow by 30 %, at different times: 1.35
//! slots for each signature on average.
//!
//! Two states with the same shard and signature are taken for one, and what can only be reached
//! through the second is then missed. If hashes are as good as random, two states are confused
//! with probability 2^−B, B = 12 + bits of the signature; so among n states some pair is with
//! probability at most n(n−1) / 2^(B+1). (The analysis of P. Wolper and D. Leroy, "Reliable hashing
//! without collision detection", CAV 1993; U. Stern and D. Dill, "Improved probabilistic
//! verification by hash compaction", CHARME 1995, lower it by comparing fewer pairs, as the shards
//! do here.)

use std::sync::Arc;

use crate::hash::Partition;
use crate::memory::Meter;
use crate::store::StoreError;

/// Bits of the shard's number.
const SHARD_BITS: u32 = 12;
/// By how much a table grows.
const GROWTH: f64 = 1.3;
/// Slots of the smallest table.
const SMALLEST: f64 = 16.0;

/// The signatures of one worker's states.
#[derive(Debug)]
pub(crate) struct Signatures {
    shards: Vec<Shard>,
    partition: Partition,
    first: usize,
    bits: u32,
    /// Bytes of a slot.
    width: usize,
    meter: Arc<Meter>,
}

#[derive(Debug)]
struct Shard {
    /// Slots, and room after the last to read eight bytes from it. An empty slot is 0.
    table: Vec<u8>,
    slots: usize,
    /// The number of slots before it is rounded.
    size: f64,
    length: usize,
}

/// A bound on the probability that among so many states two are confused.
pub(crate) fn omission_probability(states: u64, bits: u32) -> f64 {
    let states = states as f64;
    let pairs = states * (states - 1.0).max(0.0) / 2.0;
    (pairs / f64::from(SHARD_BITS + bits).exp2()).min(1.0)
}

impl Signatures {
    /// An empty set for the states that `worker` owns, with so many bits for each, 40 to 64.
    pub(crate) fn new(
        bits: u32,
        partition: Partition,
        worker: usize,
        meter: Arc<Meter>,
    ) -> Result<Self, StoreError> {
        let width = bits.div_ceil(8) as usize;
        let range = partition.shards_of(worker);
        let mut shards = Vec::with_capacity(range.len());
        for shard in range.clone() {
            let step = shard as f64 / partition.shards as f64;
            shards.push(Shard::new(SMALLEST * GROWTH.powf(step), width, &meter)?);
        }
        Ok(Signatures { shards, partition, first: range.start, bits, width, meter })
    }

    /// The shards for so many workers: always as many.
    pub(crate) fn partition(workers: usize) -> Partition {
        Partition { workers, shards: 1 << SHARD_BITS }
    }

    /// Of a hash the bits that are kept, never 0.
    #[inline(always)]
    fn signature(&self, hash: u64) -> u64 {
        (hash >> (64 - self.bits)).max(1)
    }

    /// Loads what looking up these states will read.
    pub(crate) fn touch(&self, hashes: &[u64], signatures: &[u64]) {
        let mut sum = 0;
        for (&hash, &signature) in hashes.iter().zip(signatures) {
            let shard = &self.shards[self.partition.shard(hash) - self.first];
            let slot = shard.slot(self.signature(signature), self.bits);
            sum ^= shard.table[slot * self.width];
        }
        std::hint::black_box(sum);
    }

    /// Adds the signature of a state, given both its hashes. Returns whether it is new.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64, signature: u64) -> Result<bool, StoreError> {
        let signature = self.signature(signature);
        let index = self.partition.shard(hash) - self.first;
        let shard = &mut self.shards[index];
        if shard.place(signature, self.bits, self.width) {
            if shard.length * 20 > shard.slots * 17 {
                self.grow(index)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    #[cold]
    fn grow(&mut self, index: usize) -> Result<(), StoreError> {
        let old = &self.shards[index];
        let mut new = Shard::new(old.size * GROWTH, self.width, &self.meter)?;
        for slot in 0..old.slots {
            let signature = old.get(slot, self.width);
            if signature != 0 {
                new.place(signature, self.bits, self.width);
            }
        }
        self.meter.give(old.table.len() as u64);
        self.shards[index] = new;
        Ok(())
    }
}

impl Shard {
    fn new(size: f64, width: usize, meter: &Meter) -> Result<Self, StoreError> {
        let slots = size as usize;
        let bytes = slots * width + 8;
        match meter.take(bytes as u64) {
            true => Ok(Shard { table: vec![0; bytes], slots, size, length: 0 }),
            false => Err(StoreError::Memory),
        }
    }

    /// Where looking for a signature begins.
    #[inline(always)]
    fn slot(&self, signature: u64, bits: u32) -> usize {
        (((signature >> (bits - 32)) * self.slots as u64) >> 32) as usize
    }

    #[inline(always)]
    fn get(&self, slot: usize, width: usize) -> u64 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.table[slot * width..slot * width + 8]);
        u64::from_le_bytes(eight) << (64 - 8 * width) >> (64 - 8 * width)
    }

    /// Puts a signature into its place. Returns whether it is new. There always is a free slot.
    #[inline(always)]
    fn place(&mut self, signature: u64, bits: u32, width: usize) -> bool {
        let mut slot = self.slot(signature, bits);
        loop {
            match self.get(slot, width) {
                0 => break,
                found if found == signature => return false,
                _ => slot = if slot + 1 == self.slots { 0 } else { slot + 1 },
            }
        }
        let bytes = &signature.to_le_bytes()[..width];
        self.table[slot * width..(slot + 1) * width].copy_from_slice(bytes);
        self.length += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{PLACE, SIGNATURE, hash};

    #[test]
    fn a_hundred_thousand_numbers_are_told_apart_with_any_number_of_bits() {
        for bits in [40, 41, 48, 57, 64] {
            let meter = Arc::new(Meter::new(None));
            let partition = Signatures::partition(1);
            let mut set = Signatures::new(bits, partition, 0, meter).unwrap();
            for round in 0..2 {
                for number in 0..100_000u64 {
                    let bytes = number.to_le_bytes();
                    let new = set.insert(hash(&bytes, PLACE), hash(&bytes, SIGNATURE)).unwrap();
                    assert_eq!(new, round == 0, "{number} with {bits} bits");
                }
            }
        }
    }

    #[test]
    fn the_probability_grows_with_pairs_and_halves_with_bits() {
        assert_eq!(omission_probability(1, 40), 0.0);
        assert_eq!(omission_probability(2, 40), 2f64.powi(-52));
        assert_eq!(omission_probability(2, 41), 2f64.powi(-53));
        assert_eq!(omission_probability(1 << 40, 40), 1.0);
    }
}
