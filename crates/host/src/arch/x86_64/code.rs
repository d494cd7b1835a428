//! Machine code that may be run: one of the places where this crate is unsafe.

use std::fmt;

use dynasmrt::{AssemblyOffset, ExecutableBuffer};

/// The machine code of one thread of a test.
pub(crate) struct Code {
    buffer: ExecutableBuffer,
    results: usize,
    reach: usize,
    loops: bool,
}

/// The parameters of the code: the memory of an instance, the base of the run's values, and a
/// buffer for the results.
type Entry = extern "sysv64" fn(memory: *mut u8, base: u64, results: *mut u64);

impl Code {
    /// Code that begins at the first byte of the buffer, keeps the calling convention of
    /// [`Entry`], writes `results` results, and accesses nothing else but the first `reach` bytes
    /// of the instance, each as part of an aligned word. Only the assembler makes these.
    pub(super) fn new(buffer: ExecutableBuffer, results: usize, reach: usize) -> Self {
        Code { buffer, results, reach, loops: false }
    }

    /// Sets whether the last result says that a loop was abandoned.
    pub(super) fn with_loops(self, loops: bool) -> Self {
        Code { loops, ..self }
    }

    /// Whether the code has loops: then its last result is not 0 if the run was abandoned.
    pub(crate) fn loops(&self) -> bool {
        self.loops
    }

    /// The number of results that the code writes.
    pub(crate) fn results(&self) -> usize {
        self.results
    }

    /// Bytes of an instance that it may access.
    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    /// Runs it.
    ///
    /// # Safety
    ///
    /// `memory` must point to [`reach`](Self::reach) bytes that live through the call and that
    /// nobody accesses meanwhile but through atomics or other code like this.
    #[inline]
    pub(crate) unsafe fn run(&self, memory: *mut u8, base: u64, results: &mut [u64]) {
        assert!(results.len() >= self.results);
        let entry = self.buffer.ptr(AssemblyOffset(0));
        // SAFETY: the assembler put a function of this type at the beginning of the buffer, which
        // is executable as long as it lives.
        let entry: Entry = unsafe { std::mem::transmute(entry) };
        entry(memory, base, results.as_mut_ptr());
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code")
            .field("bytes", &self.buffer.len())
            .field("results", &self.results)
            .field("reach", &self.reach)
            .finish()
    }
}
