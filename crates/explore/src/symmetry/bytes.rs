//! Slots in padded buffers: every buffer has [`PADDING`] bytes of zeros after the state, so that a
//! slot of any width is one unaligned load of eight bytes and a mask.

/// Bytes after a state that may be read along with its last slot.
pub(super) const PADDING: usize = 8;

/// Bytes that are compared at once: a few instructions, since their number is fixed.
const LINE: usize = 64;

/// The eight bytes from `at` on.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    let window: [u8; 8] = bytes[at..at + 8].try_into().expect("a range of eight bytes");
    u64::from_le_bytes(window)
}

/// Appends the numbers of the words of eight bytes in which two states differ. States are whole
/// words.
#[inline(always)]
pub(crate) fn changed_words(left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    let (left_lines, left_rest) = left.as_chunks::<LINE>();
    let (right_lines, right_rest) = right.as_chunks::<LINE>();
    for (line, (left, right)) in (0u32..).zip(left_lines.iter().zip(right_lines)) {
        if !same_line(left, right) {
            words_of_line(line, left, right, changed);
        }
    }
    words_of_line(left_lines.len() as u32, left_rest, right_rest, changed);
}

/// Whether two lines are equal; written out, since a call costs more.
#[inline(always)]
fn same_line(left: &[u8; LINE], right: &[u8; LINE]) -> bool {
    let (left, right) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let words = left.iter().zip(right);
    let difference = words.fold(0, |sum, (&left, &right)| {
        sum | (u64::from_ne_bytes(left) ^ u64::from_ne_bytes(right))
    });
    difference == 0
}

#[inline(always)]
fn words_of_line(line: u32, left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    let words = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0);
    for (word, (left, right)) in (8 * line..).zip(words) {
        if left != right {
            changed.push(word);
        }
    }
}

/// Copies words from one state to another, which may be padded.
#[inline(always)]
pub(super) fn copy_words(words: &[u32], from: &[u8], to: &mut [u8]) {
    for &word in words {
        let word = 8 * word as usize;
        to[word..word + 8].copy_from_slice(&from[word..word + 8]);
    }
}

/// The bits of a slot this many bytes wide.
pub(super) fn width_mask(width: u32) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}
