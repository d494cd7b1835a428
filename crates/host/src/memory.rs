//! The memory that tests race on: many instances side by side, aligned to pages.
//!
//! Rust looks at it through atomics only, so that machine code that writes it from several threads
//! at once breaks no promise of the language.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page.
const PAGE: usize = 4096;

#[repr(C, align(4096))]
struct Page([AtomicU64; PAGE / 8]);

/// Aligned memory, shared by all threads.
pub(crate) struct Memory {
    pages: Box<[Page]>,
}

impl Memory {
    /// At least `bytes` bytes of zeroed memory.
    pub(crate) fn new(bytes: usize) -> Self {
        let page = || Page(std::array::from_fn(|_| AtomicU64::new(0)));
        Memory { pages: (0..bytes.div_ceil(PAGE)).map(|_| page()).collect() }
    }

    /// The word at an offset in bytes, which must be a multiple of 8.
    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.pages[offset / PAGE].0[offset % PAGE / 8]
    }

    #[inline]
    pub(crate) fn get(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, offset: usize, value: u64) {
        self.word(offset).store(value, Ordering::Relaxed);
    }

    /// Where an instance begins, for machine code. All of the memory may be accessed through it.
    #[inline]
    pub(crate) fn address(&self, offset: usize) -> *mut u8 {
        self.pages.as_ptr().cast_mut().cast::<u8>().wrapping_add(offset)
    }
}
