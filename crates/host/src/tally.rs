//! Counts how often each outcome was seen.

use rustc_hash::FxHashMap;

/// Outcomes, as the values of a run, with their counts.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: FxHashMap<Box<[u64]>, u64>,
    /// Runs in which a thread went round a loop too often.
    pub(crate) given_up: u64,
}

impl Tally {
    /// One more run that yielded this.
    pub(crate) fn add(&mut self, values: &[u64]) {
        match self.counts.get_mut(values) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(values.into(), 1);
            }
        }
    }

    /// The number of distinct outcomes.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Everything counted, in the order of the values.
    pub(crate) fn sorted(self) -> Vec<(Box<[u64]>, u64)> {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_unstable();
        all
    }
}
