//! Traces in: a file named on the command line, opened as its flags say.

use history::ReadOptions;

pub(crate) use history::{shown, traces};

use crate::arguments::{InputFlags, MemoryFlag};

impl InputFlags {
    /// How to read this file.
    pub(crate) fn options(&self, file: &str, memory: &MemoryFlag) -> ReadOptions {
        self.options_of_any(memory).of_file(file, self.format)
    }

    /// How to read files, whatever their format.
    pub(crate) fn options_of_any(&self, memory: &MemoryFlag) -> ReadOptions {
        ReadOptions {
            thin_air: self.thin_air,
            memory: memory.memory,
            misaligned: self.misaligned,
            commits: self.commits.options(),
            ..ReadOptions::default()
        }
    }
}
