//! A bit for each state and each goal.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::Meter;
use crate::store::StoreError;

/// The bits of a state are neighbours.
pub(super) struct Bits {
    words: Vec<AtomicU64>,
    goals: usize,
}

impl Bits {
    /// All of them 0.
    pub(super) fn new(states: u64, goals: usize, meter: &Meter) -> Result<Self, StoreError> {
        let words = (states as usize).checked_mul(goals).ok_or(StoreError::Memory)?.div_ceil(64);
        if !meter.take(8 * words as u64) {
            return Err(StoreError::Memory);
        }
        Ok(Bits { words: (0..words).map(|_| AtomicU64::new(0)).collect(), goals })
    }

    /// Gives the room back.
    pub(super) fn free(self, meter: &Meter) {
        meter.give(8 * self.words.len() as u64);
    }

    /// All of them 0 again.
    pub(super) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    #[inline(always)]
    fn place(&self, state: u64, goal: usize) -> (usize, u64) {
        let bit = state as usize * self.goals + goal;
        (bit / 64, 1 << (bit % 64))
    }

    /// Whether a goal is known to be within reach of a state.
    #[inline(always)]
    pub(super) fn has(&self, state: u64, goal: usize) -> bool {
        let (word, bit) = self.place(state, goal);
        self.words[word].load(Relaxed) & bit != 0
    }

    /// Notes that a goal is within reach of a state.
    #[inline(always)]
    pub(super) fn set(&self, state: u64, goal: usize) {
        let (word, bit) = self.place(state, goal);
        self.words[word].fetch_or(bit, Relaxed);
    }

    /// The bit of a state and a goal, counted from 0.
    #[inline(always)]
    pub(super) fn number(&self, state: u64, goal: usize) -> u64 {
        state * self.goals as u64 + goal as u64
    }

    /// Whether a bit, counted from 0, is set.
    #[inline(always)]
    pub(super) fn is_set(&self, bit: u64) -> bool {
        self.words[bit as usize / 64].load(Relaxed) & 1 << (bit % 64) != 0
    }

    /// Sets a bit, counted from 0, where no other thread sets any.
    #[inline(always)]
    pub(super) fn set_alone(&self, bit: u64) {
        let word = &self.words[bit as usize / 64];
        word.store(word.load(Relaxed) | 1 << (bit % 64), Relaxed);
    }

    /// The goals that are not known to be within reach of a state.
    #[inline(always)]
    pub(super) fn missing(&self, state: u64) -> impl Iterator<Item = usize> {
        (0..self.goals).filter(move |&goal| !self.has(state, goal))
    }

    /// Whether all goals are within reach of a state.
    #[inline(always)]
    pub(super) fn all(&self, state: u64) -> bool {
        (0..self.goals).all(|goal| self.has(state, goal))
    }
}
