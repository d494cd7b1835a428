//! Places that a run of the machine with store buffers can go back to.
//!
//! A checkpoint has what is small: what addresses hold and what is in buffers. What there is one of for
//! each event is undone event by event. The first checkpoint is kept, and the latest few.

use std::collections::VecDeque;

use super::buffers::State;

/// How many checkpoints are kept beside the first.
const KEPT: usize = 32;

/// The events between two checkpoints, at least.
const INTERVAL: usize = 512;

/// The state before an event.
struct Checkpoint {
    /// The place of that event in the recorded order.
    at: u32,
    /// How many accesses had taken effect.
    length: usize,
    state: State,
}

pub(super) struct Checkpoints {
    all: VecDeque<Checkpoint>,
    size: usize,
    interval: u32,
    next: u32,
}

impl Checkpoints {
    /// None yet. The more addresses and threads there are, the larger a checkpoint is, and the farther
    /// apart.
    pub(super) fn new(size: usize) -> Self {
        Self { all: VecDeque::new(), size, interval: INTERVAL.max(2 * size) as u32, next: 0 }
    }

    /// What it takes to go back, in events, about.
    pub(super) fn size(&self) -> usize {
        64 + self.size
    }

    #[inline]
    pub(super) fn is_due(&self, now: u32) -> bool {
        now >= self.next
    }

    pub(super) fn add(&mut self, at: u32, length: usize, state: &State) {
        self.next = at + self.interval;
        match self.all.len() > KEPT {
            true => {
                // The oldest but for the first makes room, and its tables are used again.
                let Some(mut reused) = self.all.remove(1) else { return };
                (reused.at, reused.length) = (at, length);
                reused.state.clone_from(state);
                self.all.push_back(reused);
            }
            false => self.all.push_back(Checkpoint { at, length, state: state.clone() }),
        }
    }

    /// The latest checkpoint that is not behind this place. Later ones are forgotten.
    pub(super) fn before(&mut self, place: u32) -> Option<(u32, usize, &State)> {
        while self.all.back().is_some_and(|checkpoint| checkpoint.at > place) {
            self.all.pop_back();
        }
        let Checkpoint { at, length, state } = self.all.back()?;
        self.next = at + self.interval;
        Some((*at, *length, state))
    }

    /// The writes of these addresses have moved among those by deadline, as far forward as these
    /// places.
    pub(super) fn look_again(&mut self, moved: &[(usize, usize)]) {
        for checkpoint in &mut self.all {
            for &(address, place) in moved {
                let first = &mut checkpoint.state.first_due[address];
                *first = (*first).min(place as u32);
            }
        }
    }
}
