//! From what a trace calls things to the numbers they have here.
//!
//! Labels come from the input, so their hash must not be one for which a trace of colliding labels
//! can be written down in passing, and runs must repeat, so it must not be a random one either:
//! SipHash with a fixed key. Small numbers, which are nearly all there are, need no hash, and large
//! ones used a moment ago none that is safe.

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
    /// Large labels used lately, each at the place its product gives it, with its index plus one.
    recent: Vec<(u64, u32)>,
}

/// Labels that are names, each with the index of the thing it stands for.
#[derive(Default, Debug)]
pub(crate) struct NameLabels {
    all: LabelMap<Box<[u8]>, u32>,
    /// Short names used lately, each at the place its product gives it, with its index plus one.
    recent: Vec<(u64, u32)>,
}

/// A name of at most eight bytes as a number. No byte of a name is 0, so no two names are the same
/// number.
#[inline]
fn packed(name: &[u8]) -> Option<u64> {
    if name.len() > 8 || name.contains(&0) {
        return None;
    }
    let byte = |packed: u64, &byte: &u8| packed << 8 | u64::from(byte);
    Some(name.iter().fold(0, byte))
}

impl NameLabels {
    /// The index of a name, if it has one.
    #[inline]
    pub(crate) fn get(&mut self, name: &[u8]) -> Option<usize> {
        let packed = packed(name);
        if let Some(packed) = packed
            && let Some(&(known, next)) = self.recent.get(place(packed))
            && known == packed
            && next > 0
        {
            return Some(next as usize - 1);
        }
        self.get_any(name, packed)
    }

    fn get_any(&mut self, name: &[u8], packed: Option<u64>) -> Option<usize> {
        let index = *self.all.get(name)?;
        if let Some(packed) = packed {
            self.recent.resize(1 << RECENT, (0, 0));
            self.recent[place(packed)] = (packed, index + 1);
        }
        Some(index as usize)
    }

    /// Gives a name its index.
    pub(crate) fn insert(&mut self, name: &[u8], index: usize) {
        self.all.insert(name.into(), index as u32);
    }
}

/// How many labels count as small.
const SMALL: u64 = 1024;

/// How many bits number the places of recent labels.
const RECENT: u32 = 10;

/// The place of a recent label. Labels may share one, and then forget each other.
#[inline]
fn place(label: u64) -> usize {
    (label.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT)) as usize
}

impl NumberLabels {
    /// The index of a label, if it has one.
    #[inline]
    pub(crate) fn get(&mut self, label: u64) -> Option<usize> {
        if label < SMALL {
            return self.small.get(label as usize).and_then(|&i| (i as usize).checked_sub(1));
        }
        match self.recent.get(place(label)) {
            Some(&(known, next)) if known == label && next > 0 => Some(next as usize - 1),
            _ => self.get_large(label),
        }
    }

    fn get_large(&mut self, label: u64) -> Option<usize> {
        let index = *self.large.get(&label)?;
        self.recent.resize(1 << RECENT, (0, 0));
        self.recent[place(label)] = (label, index + 1);
        Some(index as usize)
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
