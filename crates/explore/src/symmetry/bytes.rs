//! Slots in padded buffers: every buffer has [`PADDING`] bytes of zeros after the state, so that a
//! slot of any width is one unaligned load of eight bytes and a mask.

/// Bytes after a state that may be read along with its last slot.
pub(super) const PADDING: usize = 8;

/// The eight bytes from `at` on.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    let window: [u8; 8] = bytes[at..at + 8].try_into().expect("a range of eight bytes");
    u64::from_le_bytes(window)
}

/// The bits of a slot this many bytes wide.
pub(super) fn width_mask(width: u32) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}
