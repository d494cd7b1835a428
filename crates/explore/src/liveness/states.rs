//! All states of all workers, with one number for each.

use std::ops::Range;

use crate::hash::{self, Partition};
use crate::store::Numbered;

/// How many states a thread takes at a time.
const RUN: u32 = 512;

/// The states of a search.
pub(super) struct States<'a> {
    stores: Vec<&'a dyn Numbered>,
    partition: Partition,
    /// For each store and each of its parts, how many states come before it.
    first: Vec<Vec<u64>>,
    count: u64,
}

/// Neighbours in a part of a store that belong to one level.
pub(super) struct Run {
    pub(super) level: u32,
    store: usize,
    part: usize,
    pub(super) numbers: Range<u32>,
}

impl<'a> States<'a> {
    /// Those of these stores.
    pub(super) fn new(stores: &[&'a dyn Numbered], partition: Partition) -> Self {
        let mut count = 0;
        let mut before = |length: u32| {
            count += u64::from(length);
            count - u64::from(length)
        };
        let first = stores.iter().map(|store| store.parts().into_iter().map(&mut before).collect());
        let first = first.collect();
        States { stores: stores.to_vec(), partition, first, count }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// All of them up to a level, level by level.
    pub(super) fn runs(&self, depth: u32) -> Vec<Run> {
        let mut runs = Vec::new();
        for level in 0..=depth {
            for (store, states) in self.stores.iter().enumerate() {
                for part in 0..self.first[store].len() {
                    let all = states.level(part, level);
                    let starts = all.clone().step_by(RUN as usize);
                    runs.extend(starts.map(|start| {
                        let numbers = start..all.end.min(start + RUN);
                        Run { level, store, part, numbers }
                    }));
                }
            }
        }
        runs
    }

    /// The number of a state of a run among all states.
    #[inline(always)]
    pub(super) fn number(&self, run: &Run, number: u32) -> u64 {
        self.first[run.store][run.part] + u64::from(number)
    }

    /// A state of a run.
    #[inline(always)]
    pub(super) fn state(&self, run: &Run, number: u32) -> &'a [u8] {
        self.stores[run.store].state(run.part, number)
    }

    /// The number of a state among all.
    #[inline(always)]
    pub(super) fn find(&self, packed: &[u8]) -> Option<u64> {
        let hash = hash::hash(packed, hash::PLACE);
        let store = self.partition.owner(hash);
        let (part, number) = self.stores[store].find(packed, hash)?;
        Some(self.first[store][part] + u64::from(number))
    }

    /// The state with this number among all.
    pub(super) fn get(&self, number: u64) -> &'a [u8] {
        let store = self.first.partition_point(|parts| parts.first().is_some_and(|&n| n <= number));
        let store = store - 1;
        // Of several parts with the same first number all but the last are empty.
        let part = self.first[store].partition_point(|&first| first <= number) - 1;
        self.stores[store].state(part, (number - self.first[store][part]) as u32)
    }
}
