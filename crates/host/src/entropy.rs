//! How mixed the outcomes of a batch are: their entropy, in bits, estimated from some of the runs.
//!
//! Threads that do not meet end in few ways, one for each order of them. The more ways a batch ends
//! in, and the more evenly, the more its threads met.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::{FxHashMap, FxHasher};

/// The number of runs that are sampled.
const SAMPLE: u32 = 1024;

/// Outcomes of some runs.
#[derive(Debug, Default)]
pub(crate) struct OutcomeSample {
    counts: FxHashMap<u64, u32>,
    runs: u32,
}

impl OutcomeSample {
    /// One more run that yielded this.
    #[inline]
    pub(crate) fn add(&mut self, values: &[u64]) {
        if self.runs < SAMPLE {
            self.runs += 1;
            let key = BuildHasherDefault::<FxHasher>::default().hash_one(values);
            *self.counts.entry(key).or_default() += 1;
        }
    }

    /// The entropy; forgets the runs.
    pub(crate) fn take(&mut self) -> f64 {
        let runs = f64::from(std::mem::take(&mut self.runs));
        let bits = self.counts.drain().map(|(_, count)| {
            let share = f64::from(count) / runs;
            -share * share.log2()
        });
        bits.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ways_and_more_even_ones_count_more() {
        let mixed = |counts: &[usize]| {
            let mut sample = OutcomeSample::default();
            for (outcome, &count) in counts.iter().enumerate() {
                (0..count).for_each(|_| sample.add(&[outcome as u64]));
            }
            sample.take()
        };
        assert_eq!(mixed(&[100]), 0.0);
        assert!((mixed(&[50, 50]) - 1.0).abs() < 1e-9);
        assert!(mixed(&[98, 1, 1]) < mixed(&[49, 49, 2]));
        assert!(mixed(&[49, 49, 2]) < mixed(&[40, 40, 20]));
    }
}
