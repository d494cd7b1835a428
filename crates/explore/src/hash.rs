//! The hash of a packed state, and what its bits decide.
//!
//! Eight bytes at a time are folded in by a 64 × 64 → 128-bit multiplication whose halves are
//! xored: about a nanosecond for each eight bytes. It is the same in every run and on every
//! machine, since who owns a state, and with it the work of each thread, follows from it.
//!
//! From the low end: the shard (and by it the worker), the bucket in the table of the shard, the
//! tag in a slot of the bucket. The highest byte is the *hint* that a state's successors remember.

/// Seed of the hash by which states are placed.
pub(crate) const PLACE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Seed of the hash from which signatures are taken.
pub(crate) const SIGNATURE: u64 = 0xd1b5_4a32_d192_ed03;

const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;
const FINISHER: u64 = 0xe703_7ed1_a0b4_28db;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// The first eight bytes as a number.
#[inline(always)]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(eight)
}

#[inline(always)]
fn short(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The hash of `bytes`. All hashed strings of an exploration have the same length.
#[inline]
pub(crate) fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut sum = seed;
    if bytes.len() < 8 {
        sum = fold(sum ^ short(bytes), MULTIPLIER);
    } else {
        for eight in bytes.chunks_exact(8) {
            sum = fold(sum ^ word(eight), MULTIPLIER).wrapping_add(seed);
        }
        if !bytes.len().is_multiple_of(8) {
            // The last eight bytes, some of them for the second time.
            sum = fold(sum ^ word(&bytes[bytes.len() - 8..]), MULTIPLIER).wrapping_add(seed);
        }
    }
    fold(sum ^ FINISHER, MULTIPLIER) ^ sum.rotate_left(32)
}

/// What successors remember of a state.
#[inline(always)]
pub(crate) fn hint(hash: u64) -> u8 {
    (hash >> 56) as u8
}

/// How the shards of the visited set are dealt out to workers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partition {
    /// How many workers.
    pub(crate) workers: usize,
    /// How many shards there are in all, a power of two of at most 2^16.
    pub(crate) shards: usize,
}

impl Partition {
    /// The shard of a state, among all.
    #[inline(always)]
    pub(crate) fn shard(self, hash: u64) -> usize {
        hash as usize & (self.shards - 1)
    }

    /// The worker that owns a state.
    #[inline(always)]
    pub(crate) fn owner(self, hash: u64) -> usize {
        match self.workers {
            1 => 0,
            workers => self.shard(hash) * workers / self.shards,
        }
    }

    /// The shards of a worker.
    pub(crate) fn shards_of(self, worker: usize) -> std::ops::Range<usize> {
        let first = |worker: usize| (worker * self.shards).div_ceil(self.workers);
        first(worker)..first(worker + 1)
    }
}

/// `hash` scaled down to 0 … `range`−1, by bits that neither the shard nor the tag use.
#[inline(always)]
pub(crate) fn scaled(hash: u64, range: usize) -> usize {
    ((u64::from((hash >> 8) as u32) * range as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shard_has_the_worker_that_owns_its_states() {
        for workers in 1..=40 {
            let partition = Partition { workers, shards: 128 };
            let mut next = 0;
            for worker in 0..workers {
                let range = partition.shards_of(worker);
                assert_eq!(range.start, next);
                next = range.end;
                for shard in range {
                    assert_eq!(partition.owner(shard as u64), worker);
                }
            }
            assert_eq!(next, 128);
        }
    }

    #[test]
    fn neighbouring_states_are_spread_evenly_by_every_part_of_the_hash() {
        let count = 1 << 16;
        for shift in [0, 16, 24, 32, 40, 48, 56] {
            let mut filled = [0u32; 256];
            for state in 0..count as u64 {
                let bytes = [&state.to_le_bytes()[..], &[0; 5]].concat();
                filled[(hash(&bytes, PLACE) >> shift) as usize & 255] += 1;
            }
            let (least, most) = (filled.iter().min().unwrap(), filled.iter().max().unwrap());
            assert!(*least > 190 && *most < 330, "{least} … {most} at bit {shift}");
        }
    }

    #[test]
    fn every_byte_of_a_state_matters() {
        for length in 1..=40 {
            let zeros = vec![0; length];
            let mut hashes = vec![hash(&zeros, PLACE)];
            for at in 0..length {
                let mut bytes = zeros.clone();
                bytes[at] = 1;
                hashes.push(hash(&bytes, PLACE));
            }
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), length + 1);
        }
    }
}
