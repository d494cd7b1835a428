//! From what a trace calls things to the numbers they have here.
//!
//! Labels come from the input, so their hash must not be one for which a trace of colliding labels
//! can be written down in passing, and runs must repeat, so it must not be a random one either:
//! SipHash with a fixed key. Small numbers, which are nearly all there are, need no hash.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A map whose keys the input chooses.
pub(crate) type LabelMap<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Labels that are numbers, each with the index of the thing it stands for.
#[derive(Default, Debug)]
pub(crate) struct NumberLabels {
    /// The index of a small label, plus one; 0 if it is not there.
    small: Vec<u32>,
    large: LabelMap<u64, u32>,
}

/// How many labels count as small.
const SMALL: u64 = 1024;

impl NumberLabels {
    /// The index of a label, if it has one.
    #[inline]
    pub(crate) fn get(&self, label: u64) -> Option<usize> {
        if label < SMALL {
            return self.small.get(label as usize).and_then(|&i| (i as usize).checked_sub(1));
        }
        self.large.get(&label).map(|&index| index as usize)
    }

    /// Gives a label its index.
    pub(crate) fn insert(&mut self, label: u64, index: usize) {
        if label < SMALL {
            let length = self.small.len().max(label as usize + 1);
            self.small.resize(length, 0);
            self.small[label as usize] = index as u32 + 1;
        } else {
            self.large.insert(label, index as u32);
        }
    }
}
