//! Traces in: a file named on the command line, opened as its flags say.

use std::io::Read;

use history::{Format, InputError, ReadOptions, TraceReader};

use crate::arguments::{InputFlags, MemoryFlag};
use crate::pipeline::Questions;

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

/// Opens a file of traces to ask about: whatever was asked is answered before more is waited for.
pub(crate) fn traces_to_ask<Q: Send + 'static, A: Send + 'static>(
    questions: &Questions<Q, A>,
    file: &str,
    options: ReadOptions,
) -> Result<Traces, InputError> {
    questions.hand_out();
    let input: Box<dyn Read + Send> = Box::new(questions.patient(history::open(file)?));
    Ok(TraceReader::new(input, shown(file), options))
}

/// What messages call a file.
pub(crate) fn shown(file: &str) -> &str {
    match file {
        "-" => "<stdin>",
        file => file,
    }
}
