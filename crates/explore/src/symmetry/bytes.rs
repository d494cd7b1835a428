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

/// Appends the numbers of the words of eight bytes in which two states differ. States are whole
/// words.
#[inline(always)]
pub(super) fn changed_words(left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    const LINE: usize = 64;
    let (left, right) = (left.chunks(LINE), right.chunks(LINE));
    for (line, (left, right)) in left.zip(right).enumerate() {
        let (left, right) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
        // Written out, since a call costs more.
        let difference = |(left, right): (&[u8; 8], &[u8; 8])| {
            u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right)
        };
        if left.iter().zip(right).map(difference).fold(0, |sum, word| sum | word) == 0 {
            continue;
        }
        let words = (line * LINE / 8) as u32..;
        let differing =
            words.zip(left.iter().zip(right)).filter(|(_, (left, right))| left != right);
        changed.extend(differing.map(|(word, _)| word));
    }
}

/// The bits of a slot this many bytes wide.
pub(super) fn width_mask(width: u32) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}
