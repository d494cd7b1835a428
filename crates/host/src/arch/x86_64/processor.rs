//! The processor itself: its clock, its caches, and whether it will do.

use std::arch::x86_64::{__cpuid, _MM_HINT_ET0, _MM_HINT_T0, _mm_clflush, _mm_prefetch, _rdtsc};

use crate::memory::Memory;
use crate::timing::Warm;

/// Whether tests can be run here, and if not, why.
pub(crate) fn check() -> Result<(), String> {
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    let last = __cpuid(0x8000_0000).eax;
    if last < POWER || __cpuid(POWER).edx & INVARIANT == 0 {
        return Err(
            "the time-stamp counter of this processor is not invariant, so its cores have \
                    no common clock to start a race by"
                .into(),
        );
    }
    Ok(())
}

/// The time, in ticks that all cores share.
#[inline]
pub(crate) fn now() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe { _rdtsc() }
}

/// Prepares the cache for an access to the line at an offset.
#[inline]
pub(crate) fn warm_line(memory: &Memory, offset: usize, how: Warm) {
    let line = memory.address(offset);
    match how {
        Warm::Not => {}
        // SAFETY: a prefetch never faults and changes nothing that a program could see.
        Warm::Read => unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) },
        // SAFETY: as above.
        Warm::Write => unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.cast()) },
        // SAFETY: the line is memory of ours; pushing it out of the caches does not change it.
        Warm::Flush => unsafe { _mm_clflush(line) },
    }
}
