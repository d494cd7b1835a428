//! Large blocks of zeroed memory, straight from the operating system.
//!
//! The visited set is read at random, so most of its reads miss not only the caches but also the
//! translation of addresses. Blocks of two megabytes and more are therefore offered to the system
//! for huge pages, which makes such a read about twice as fast where they are given. A block costs
//! memory only where it has been written to, and a system that has no more says so instead of
//! ending the process.

use memmap2::{MmapMut, MmapOptions};

use crate::memory::Meter;
use crate::store::StoreError;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Bytes of a page, at least.
const PAGE: usize = 4096;

/// A block.
#[derive(Debug)]
pub(crate) struct Block(MmapMut);

impl Block {
    /// A block of so many bytes, which is not zero, all of them 0.
    pub(crate) fn new(bytes: usize, meter: &Meter) -> Result<Self, StoreError> {
        if !meter.take(bytes as u64) {
            return Err(StoreError::Memory);
        }
        let map = MmapOptions::new().len(bytes).map_anon().map_err(|_| {
            meter.give(bytes as u64);
            StoreError::Memory
        })?;
        #[cfg(target_os = "linux")]
        if bytes >= HUGE {
            // Without huge pages it is only slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Block(map))
    }

    /// A block that will be written to everywhere soon, and is read before. A page that is read
    /// first is mapped twice, and the second time all cores are interrupted; so each is written to at
    /// once.
    pub(crate) fn new_in_use(bytes: usize, meter: &Meter) -> Result<Self, StoreError> {
        let mut block = Block::new(bytes, meter)?;
        block.bytes_mut().iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
        Ok(block)
    }

    /// Gives a block back.
    pub(crate) fn free(self, meter: &Meter) {
        meter.give(self.0.len() as u64);
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_zero_counted_and_refused_beyond_the_limit() {
        let meter = Meter::new(Some(3 * HUGE as u64));
        let mut block = Block::new(2 * HUGE, &meter).unwrap();
        assert!(block.bytes().iter().all(|&byte| byte == 0));
        block.bytes_mut()[2 * HUGE - 1] = 1;
        assert!(Block::new(2 * HUGE, &meter).is_err());
        block.free(&meter);
        assert_eq!(meter.used(), 0);
    }
}
