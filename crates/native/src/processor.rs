//! Two things that processors do and that safe Rust has no word for: comparing sixteen numbers at
//! once, and loading a cache line early.
//!
//! The visited set of a search does little else. Where a processor cannot do them, the first is done
//! one number after the other, and the second is left out; nothing but the time depends on it.

/// Which of sixteen numbers are `wanted` in the bits of `care`, as a mask. The numbers are read as
/// the processor reads them.
#[inline(always)]
pub fn equal_numbers(numbers: &[[u8; 4]; 16], wanted: u32, care: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has SSE2.
    return unsafe { equal_by_fours(numbers, wanted, care) };
    #[cfg(not(target_arch = "x86_64"))]
    return equal_one_by_one(numbers, wanted, care);
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn equal_by_fours(numbers: &[[u8; 4]; 16], wanted: u32, care: u32) -> u32 {
    use std::arch::x86_64::*;
    let (wanted, care) = (_mm_set1_epi32(wanted as i32), _mm_set1_epi32(care as i32));
    let (fours, _) = numbers.as_chunks::<4>();
    let four = |at: usize| {
        // SAFETY: sixteen bytes are read from a reference to as many.
        let four = unsafe { _mm_loadu_si128((&raw const fours[at]).cast()) };
        _mm_cmpeq_epi32(_mm_and_si128(four, care), wanted)
    };
    let (low, high) = (_mm_packs_epi32(four(0), four(1)), _mm_packs_epi32(four(2), four(3)));
    _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn equal_one_by_one(numbers: &[[u8; 4]; 16], wanted: u32, care: u32) -> u32 {
    let is_equal = |number: [u8; 4]| u32::from_ne_bytes(number) & care == wanted;
    (0..16).fold(0, |mask, at| mask | u32::from(is_equal(numbers[at])) << at)
}

/// Has the cache line of a byte loaded, without waiting for it.
#[inline(always)]
pub fn load_early(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has SSE, and this never faults, whatever the
    // address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>((&raw const *byte).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_at_once_like_one_after_the_other() {
        let mut random = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 16) as u32
        };
        let mut met = 0;
        for _ in 0..100_000 {
            let care = u32::MAX << (next() % 32);
            let numbers: [[u8; 4]; 16] = std::array::from_fn(|_| match next() % 3 {
                0 => [0; 4],
                1 => (u32::MAX << (next() % 32)).to_ne_bytes(),
                _ => next().to_ne_bytes(),
            });
            let wanted = u32::from_ne_bytes(numbers[next() as usize % 16]) & care;
            let expected = equal_one_by_one(&numbers, wanted, care);
            assert_eq!(equal_numbers(&numbers, wanted, care), expected);
            met |= expected;
        }
        assert_eq!(met, 0xFFFF);
    }
}
