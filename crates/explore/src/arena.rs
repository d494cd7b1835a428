//! Records of one size, handed out in chunks that never move.
//!
//! Every shard of the visited set keeps its records in chunks of about four kilobytes, and the
//! chunks of all shards of a worker are cut from the same slabs. So growth copies nothing, half a
//! chunk is lost for each shard and half a slab for each worker, and a chunk is named by four
//! bytes, which keeps the tables that are read on every look-up small. Slabs grow with the arena,
//! to at most a thirty-second of it.

use crate::block::Block;
use crate::memory::Meter;
use crate::store::StoreError;

/// Bytes that a chunk has at most (unless a single record has more). It has more than half.
const CHUNK: usize = 4096;
/// The low bits of a chunk's name: its number in the slab.
const WITHIN: u32 = 13;
/// Bytes of a slab, and from which size of the arena on.
const SLABS: [(usize, usize); 3] = [(16 << 20, 512 << 20), (2 << 20, 64 << 20), (256 << 10, 0)];

/// The slabs.
#[derive(Debug)]
pub(crate) struct Arena {
    slabs: Vec<Block>,
    /// Bytes of all slabs.
    size: usize,
    /// The next chunk in the last slab, and how many that has.
    next: u32,
    end: u32,
    record: usize,
    /// A chunk has 2^`shift` records.
    shift: u32,
}

/// Where a record is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    slab: u32,
    /// The first byte in the slab.
    at: u32,
}

/// The chunks of one shard, in the order of its records.
#[derive(Debug, Default)]
pub(crate) struct Chunks(Vec<u32>);

impl Arena {
    /// An empty arena for records of this size, which is not zero.
    pub(crate) fn new(record: usize) -> Self {
        let shift = (CHUNK / record).max(1).ilog2();
        Arena { slabs: Vec::new(), size: 0, next: 0, end: 0, record, shift }
    }

    /// The bytes of a record.
    #[inline(always)]
    pub(crate) fn get(&self, chunks: &Chunks, index: u32) -> &[u8] {
        self.at(self.place(chunks, index))
    }

    /// The bytes of a record, to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, chunks: &Chunks, index: u32) -> &mut [u8] {
        self.at_mut(self.place(chunks, index))
    }

    /// Where a record is.
    #[inline(always)]
    pub(crate) fn place(&self, chunks: &Chunks, index: u32) -> Place {
        let chunk = chunks.0[(index >> self.shift) as usize];
        let within = chunk & ((1 << WITHIN) - 1);
        let record = index & ((1 << self.shift) - 1);
        let at = ((within << self.shift) + record) * self.record as u32;
        Place { slab: chunk >> WITHIN, at }
    }

    /// The bytes of the record at a place.
    #[inline(always)]
    pub(crate) fn at(&self, Place { slab, at }: Place) -> &[u8] {
        &self.slabs[slab as usize].bytes()[at as usize..at as usize + self.record]
    }

    /// The bytes of the record at a place, to be changed.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, Place { slab, at }: Place) -> &mut [u8] {
        &mut self.slabs[slab as usize].bytes_mut()[at as usize..at as usize + self.record]
    }

    /// Makes room for the record `index`, the next one of a shard.
    #[inline(always)]
    pub(crate) fn make_room(
        &mut self,
        chunks: &mut Chunks,
        index: u32,
        meter: &Meter,
    ) -> Result<(), StoreError> {
        match ((index >> self.shift) as usize) < chunks.0.len() {
            true => Ok(()),
            false => self.add_chunk(chunks, meter),
        }
    }

    fn add_chunk(&mut self, chunks: &mut Chunks, meter: &Meter) -> Result<(), StoreError> {
        if self.next == self.end {
            self.add_slab(meter)?;
        }
        let slab = self.slabs.len() as u32 - 1;
        push(&mut chunks.0, slab << WITHIN | self.next, meter)?;
        self.next += 1;
        Ok(())
    }

    fn add_slab(&mut self, meter: &Meter) -> Result<(), StoreError> {
        let chunk = self.record << self.shift;
        let fitting = SLABS.iter().find(|&&(_, from)| self.size >= from);
        let bytes = fitting.map_or(chunk, |&(bytes, _)| bytes.max(chunk));
        let end = bytes / chunk;
        if self.slabs.len() >> (u32::BITS - WITHIN) != 0 || end >> WITHIN != 0 {
            return Err(StoreError::Memory);
        }
        reserve(&mut self.slabs, 1, meter)?;
        self.slabs.push(Block::new(bytes, meter)?);
        self.size += bytes;
        (self.next, self.end) = (0, end as u32);
        Ok(())
    }
}

/// Pushes to a vector whose growth is counted.
pub(crate) fn push<T>(list: &mut Vec<T>, value: T, meter: &Meter) -> Result<(), StoreError> {
    reserve(list, 1, meter)?;
    list.push(value);
    Ok(())
}

/// Makes room for `more` elements in a vector that grows by a quarter, and counts its growth.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize, meter: &Meter) -> Result<(), StoreError> {
    if list.capacity() - list.len() < more {
        let more = more.max(list.len() / 4).max(4);
        if !meter.take((more * size_of::<T>()) as u64) {
            return Err(StoreError::Memory);
        }
        list.reserve_exact(more);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_two_shards_stay_where_they_are() {
        for size in [1, 3, 26, 5000] {
            let (mut arena, meter) = (Arena::new(size), Meter::new(None));
            let mut shards = [Chunks::default(), Chunks::default()];
            for index in 0..3000u32 {
                for (shard, chunks) in shards.iter_mut().enumerate() {
                    arena.make_room(chunks, index, &meter).unwrap();
                    arena.get_mut(chunks, index).fill(index as u8 ^ shard as u8);
                }
            }
            for index in 0..3000u32 {
                for (shard, chunks) in shards.iter().enumerate() {
                    let expected = index as u8 ^ shard as u8;
                    assert!(arena.get(chunks, index).iter().all(|&byte| byte == expected));
                }
            }
        }
    }
}
