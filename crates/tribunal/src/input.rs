//! Traces in: a file named on the command line, opened as its flags say.

use std::io::Read;

use history::{Format, InputError, ReadOptions, TraceReader};

use crate::arguments::{InputFlags, MemoryFlag};

/// The traces of a file, still to be read.
pub(crate) type Traces = TraceReader<Box<dyn Read + Send>>;

impl InputFlags {
    /// How to read this file.
    pub(crate) fn options(&self, file: &str, memory: &MemoryFlag) -> ReadOptions {
        ReadOptions {
            format: self.format.unwrap_or_else(|| Format::guess(file)),
            thin_air: self.thin_air,
            memory: memory.memory,
            ..ReadOptions::default()
        }
    }
}

/// Opens a file of traces.
pub(crate) fn traces(file: &str, options: ReadOptions) -> Result<Traces, InputError> {
    Ok(TraceReader::new(history::open(file)?, shown(file), options))
}

/// What messages call a file.
pub(crate) fn shown(file: &str) -> &str {
    match file {
        "-" => "<stdin>",
        file => file,
    }
}
