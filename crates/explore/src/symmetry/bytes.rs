//! Slots in padded buffers: every buffer has [`PADDING`] bytes of zeros after the state, so that a
//! slot of any width is one unaligned load of eight bytes and a mask.

use murphi::machine::line_bits;

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
        // Arrays of this size are compared with a few vectors.
        if left != right {
            words_of_line(line, left, right, changed);
        }
    }
    words_of_line(left_lines.len() as u32, left_rest, right_rest, changed);
}

/// The same for two states that differ in some of their [lines](murphi::machine::line_bits) at most.
#[inline(always)]
pub(crate) fn changed_words_in(mut lines: u64, left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    let line_bits = line_bits(left.len());
    while lines != 0 {
        let start = (lines.trailing_zeros() as usize) << line_bits;
        lines &= lines - 1;
        let end = left.len().min(start + (1 << line_bits));
        if start < end {
            words_from(start as u32 / 8, &left[start..end], &right[start..end], changed);
        }
    }
}

#[inline(always)]
fn words_of_line(line: u32, left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    words_from((LINE / 8) as u32 * line, left, right, changed);
}

/// The words that differ, where the first has this number.
#[inline(always)]
fn words_from(first: u32, left: &[u8], right: &[u8], changed: &mut Vec<u32>) {
    let words = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0);
    for (word, (left, right)) in (first..).zip(words) {
        if left != right {
            changed.push(word);
        }
    }
}

/// Copies words from one state to another, which may be padded.
#[inline(always)]
pub(crate) fn copy_words(words: &[u32], from: &[u8], to: &mut [u8]) {
    for &word in words {
        let word = 8 * word as usize;
        to[word..word + 8].copy_from_slice(&from[word..word + 8]);
    }
}

/// The bits of a slot this many bytes wide.
pub(super) fn width_mask(width: u32) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_found_in_all_lines_and_in_those_that_are_named() {
        let left: Vec<u8> = (0..5000u32).map(|byte| byte as u8).collect();
        let mut right = left.clone();
        // Lines have 128 bytes here; the last one is shorter.
        for at in [0, 127, 128, 1024, 4999] {
            right[at] ^= 1;
        }
        let (mut all, mut some) = (Vec::new(), Vec::new());
        changed_words(&left, &right, &mut all);
        assert_eq!(all, [0, 15, 16, 128, 624]);
        changed_words_in(u64::MAX, &left, &right, &mut some);
        assert_eq!(some, all);
        some.clear();
        changed_words_in(1 << 1 | 1 << 5 | 1 << 39, &left, &right, &mut some);
        assert_eq!(some, [16, 624]);
    }
}
