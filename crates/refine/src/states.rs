//! Reached states, packed, one after the other.
//!
//! States are identified by hashes; two states with the same hash count as one. Only guesses depend on
//! this, and the final search, which stores all states, checks them.

use explore::Engine;
use murphi::machine::Codec;
use rustc_hash::FxHashSet;

/// The number of a state in the order of discovery.
pub(super) type StateNumber = u32;

/// Some states of a program.
pub(super) struct States {
    engine: Engine,
    packed_size: usize,
    packed: Vec<u8>,
    hashes: FxHashSet<u64>,
}

impl States {
    /// An empty set, for states of the program of this engine.
    pub(super) fn new(engine: Engine) -> States {
        let packed_size = engine.packed_size();
        States { engine, packed_size, packed: Vec::new(), hashes: FxHashSet::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn contains(&self, state: &[u8]) -> bool {
        self.hashes.contains(&hash_of(state))
    }

    /// Adds a state. Returns its number if it is new.
    pub(super) fn add(&mut self, state: &[u8]) -> Option<StateNumber> {
        let number = self.len();
        if !self.hashes.insert(hash_of(state)) {
            return None;
        }
        self.packed.resize((number + 1) * self.packed_size, 0);
        self.engine.pack(state, &mut self.packed[number * self.packed_size..]);
        Some(number as StateNumber)
    }

    /// Writes a state to `state`, whose padding is zero.
    pub(super) fn read(&self, number: StateNumber, state: &mut [u8]) {
        let packed = &self.packed[number as usize * self.packed_size..][..self.packed_size];
        self.engine.unpack(packed, state);
    }

    /// Removes all states after the first `length`.
    pub(super) fn shorten(&mut self, length: usize) {
        let mut state = vec![0; self.engine.state_size()];
        for number in length..self.len() {
            self.read(number as StateNumber, &mut state);
            self.hashes.remove(&hash_of(&state));
        }
        self.packed.truncate(length * self.packed_size);
    }

    /// The memory in use, in bytes (estimate).
    pub(super) fn bytes(&self) -> usize {
        self.packed.capacity() + 9 * self.hashes.capacity()
    }
}

fn hash_of(state: &[u8]) -> u64 {
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut hash = 0u64;
    for part in state.chunks(8) {
        hash = (hash.rotate_left(23) ^ word(part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    hash
}
