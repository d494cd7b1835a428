//! The sixteen slots of a bucket, compared as a whole.

use native::equal_numbers;

/// Slots of a bucket.
pub(super) const WIDTH: usize = 16;
/// A slot that holds nothing: the index in a slot is counted from 1.
pub(super) const EMPTY: [u8; 4] = [0; 4];
/// The slots of a bucket.
pub(super) type Slots = [[u8; 4]; WIDTH];

/// Which slots have this tag above so many bits of an index, as a mask. An empty slot may seem to;
/// no record has its index.
#[inline(always)]
pub(super) fn matching(slots: &Slots, tag: u32, index_bits: u32) -> u32 {
    equal_numbers(slots, tag, u32::MAX << index_bits)
}

/// The first empty slot of a bucket that is not full. Slots are filled from the first.
#[inline(always)]
pub(super) fn first_empty(slots: &Slots) -> usize {
    equal_numbers(slots, 0, u32::MAX).trailing_zeros() as usize
}
