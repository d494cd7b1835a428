//! The states of the visited set by number: their place among the records of their shard.

use std::ops::Range;

use super::VisitedSet;
use crate::store::Numbered;

impl Numbered for VisitedSet {
    fn parts(&self) -> Vec<u32> {
        self.shards.iter().map(|shard| shard.length).collect()
    }

    fn level(&self, part: usize, depth: u32) -> Range<u32> {
        self.shards[part].level(depth)
    }

    fn state(&self, part: usize, number: u32) -> &[u8] {
        &self.arena.get(&self.shards[part].chunks, number)[..self.packed]
    }

    fn find(&self, packed: &[u8], hash: u64) -> Option<(usize, u32)> {
        let part = self.shard_of(hash);
        VisitedSet::find(self, part, packed, hash).map(|number| (part, number))
    }
}
