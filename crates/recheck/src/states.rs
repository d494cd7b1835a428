//! A set of states, which are byte strings of equal size, numbered in the order of insertion.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The largest fraction of the table that is filled: 3 of 4 slots.
const FULL: (usize, usize) = (3, 4);

/// A set of states.
pub(crate) struct States {
    size: usize,
    length: usize,
    /// The states, one after the other.
    bytes: Vec<u8>,
    /// An open-addressing hash table of their numbers, each increased by 1; 0 is a free slot. Its
    /// length is a power of 2.
    table: Vec<u32>,
    hasher: BuildHasherDefault<DefaultHasher>,
}

impl States {
    /// An empty set of states of this size.
    pub(crate) fn new(size: usize) -> States {
        let (bytes, table) = (Vec::new(), vec![0; 1024]);
        States { size, length: 0, bytes, table, hasher: BuildHasherDefault::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The state with this number.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.size..(number + 1) * self.size]
    }

    /// All states, in the order of their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.length).map(|number| self.get(number))
    }

    /// The memory in use, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.bytes.capacity() + self.table.len() * size_of::<u32>()) as u64
    }

    pub(crate) fn contains(&self, state: &[u8]) -> bool {
        self.table[self.place(state)] != 0
    }

    /// Adds a state, unless it is in the set.
    pub(crate) fn insert(&mut self, state: &[u8]) {
        assert_eq!(state.len(), self.size, "all states have one size");
        let place = self.place(state);
        if self.table[place] != 0 {
            return;
        }
        self.bytes.extend_from_slice(state);
        self.length += 1;
        self.table[place] = u32::try_from(self.length).expect("there are fewer than 2^32 states");
        if self.length * FULL.1 > self.table.len() * FULL.0 {
            self.grow();
        }
    }

    /// The slot of a state, or the free slot where it would be inserted.
    fn place(&self, state: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(state) as usize & mask;
        while let Some(number) = self.table[place].checked_sub(1) {
            if self.get(number as usize) == state {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for number in 0..self.length {
            let place = self.place(self.get(number));
            self.table[place] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::States;

    #[test]
    fn a_state_is_there_once_under_the_number_of_its_coming() {
        let mut states = States::new(3);
        let state = |number: u32| [number as u8, (number >> 8) as u8, (number * 7) as u8];
        for number in (0..5000).chain((0..5000).rev()) {
            states.insert(&state(number));
        }
        assert_eq!(states.len(), 5000);
        for number in 0..5000 {
            assert_eq!(states.get(number as usize), state(number));
            assert!(states.contains(&state(number)));
        }
        assert!(!states.contains(&state(5000)));
    }

    #[test]
    fn there_is_one_state_without_bytes() {
        let mut states = States::new(0);
        assert!(!states.contains(&[]));
        states.insert(&[]);
        states.insert(&[]);
        assert_eq!(states.len(), 1);
    }
}
