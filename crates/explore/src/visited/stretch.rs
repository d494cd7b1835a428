//! Stretches of the visited set: records of a shard that are neighbours, in the order of insertion.

use std::ops::Range;

use super::VisitedSet;

impl VisitedSet {
    /// The shards of this set among all.
    pub(crate) fn shards(&self) -> Range<usize> {
        self.first..self.first + self.shards.len()
    }

    /// A packed state with its hint.
    #[inline(always)]
    pub(crate) fn record(&self, part: usize, number: u32) -> &[u8] {
        self.arena.get(&self.shards[part].chunks, number)
    }

    /// The level of a state.
    pub(crate) fn level_of(&self, part: usize, number: u32) -> u32 {
        let levels = &self.shards[part].levels;
        let after = levels.partition_point(|&(_, start)| start <= number);
        match after.checked_sub(1) {
            Some(at) if number < self.shards[part].building => levels[at].0,
            _ => self.depth,
        }
    }

    /// Where a level ends.
    pub(crate) fn end_of_level(&self, part: usize, level: u32) -> u32 {
        self.shards[part].level(level).end
    }

    /// The states of the level being built.
    pub(crate) fn built(&self, part: usize) -> Range<u32> {
        self.shards[part].building..self.shards[part].length
    }

    /// The states of the level being read that were not read yet.
    pub(crate) fn unread(&self, part: usize) -> Range<u32> {
        let shard = &self.shards[part];
        let start = match part.cmp(&self.cursor.0) {
            std::cmp::Ordering::Less => shard.building,
            std::cmp::Ordering::Equal => self.cursor.1,
            std::cmp::Ordering::Greater => shard.reading,
        };
        start..shard.building
    }
}
