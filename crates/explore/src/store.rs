//! What a breadth-first search asks of the place where a worker keeps its states.
//!
//! There are three such places: the exact visited set, whose records are also the frontier; the same
//! on disk, where it does not fit into memory; and signatures in memory with the states on disk.

use crate::disk::Runs;
use crate::liveness::{InMemory, Located};
use crate::watch::Watch;

/// Why a store cannot take more.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// The memory budget is used up.
    Memory,
    /// Reading or writing states on disk failed.
    Disk(std::io::Error),
    /// It was stopped before the end.
    Stopped,
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        StoreError::Disk(error)
    }
}

/// One worker's part of the states, in levels.
///
/// A *record* is a packed state followed by one byte, the hint of the state it was reached from.
pub(crate) trait Store: Send {
    /// Whether ending a level is next to no work, so that one thread may do it for all workers.
    const ENDS_LEVELS_AT_ONCE: bool = false;

    /// Adds those of `records` that are new to the level being built, and says how many, or 0 where
    /// that is known at the end of the level only.
    fn insert(&mut self, records: &[u8], hashes: &[u64]) -> Result<u64, StoreError>;

    /// Ends the level being built: it is the one to be read, and the next is being built. Says
    /// how many states it has.
    fn next_level(&mut self, watch: &Watch) -> Result<u64, StoreError>;

    /// Appends up to `most` further packed states of the level to be read, and says how many.
    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError>;

    /// Calls `visit` with every state of level `depth` that may have led to a state of the next
    /// level with this hint; with all of them if there is no hint.
    fn candidates(
        &mut self,
        depth: u32,
        hint: Option<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError>;

    /// The hint that was kept with a state of this store.
    fn hint_of(&self, packed: &[u8], hash: u64) -> Result<Option<u8>, StoreError>;

    /// The same states with a number for each, if all of them are at hand.
    fn numbered(&self) -> Option<&dyn Numbered> {
        None
    }

    /// The same states wherever they are, up to the last level, each with a number; nothing if they
    /// are not kept.
    fn located(&self, depth: u32) -> Option<Box<dyn Located + '_>> {
        let numbered = self.numbered()?;
        Some(Box::new(InMemory::new(numbered, depth)))
    }

    /// All states up to a level, on disk, for a checkpoint.
    fn persist(&mut self, _level: u32, _watch: &Watch) -> Result<Runs, StoreError> {
        Ok(Runs::default())
    }
}

/// States that can be found by number, and whose number can be found. They are in *parts*, and
/// numbered from 0 in each.
pub(crate) trait Numbered: Sync {
    /// How many states each part has.
    fn parts(&self) -> Vec<u32>;

    /// The states of a part that belong to this level.
    fn level(&self, part: usize, depth: u32) -> std::ops::Range<u32>;

    /// A state.
    fn state(&self, part: usize, number: u32) -> &[u8];

    /// The part and the number of a state.
    fn find(&self, packed: &[u8], hash: u64) -> Option<(usize, u32)>;
}
