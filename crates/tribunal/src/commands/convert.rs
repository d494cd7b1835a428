//! `tribunal convert`: between trace formats, one trace at a time.

use std::io::{self, Write};

use history::{Format, History};

use crate::arguments::ConvertArguments;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::Sink;

pub(crate) fn run(arguments: &ConvertArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let options = arguments.input.options(&arguments.file, &arguments.memory);
    let mut traces = input::traces(&arguments.file, options)?;
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    while let Some(history) = traces.next_trace()? {
        sink.write(|out| write_trace(&history, arguments.to, out))?;
        sink.flush()?;
    }
    sink.finish()?;
    Ok(Ending::Kept)
}

/// Writes a trace in a format.
pub(super) fn write_trace(
    history: &History,
    format: Format,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => history::write_text(history, &mut out),
        Format::JsonLines => history::write_jsonl(history, &mut out),
        Format::Tracegen => Err(io::Error::other("traces are not written as tracegen")),
    }
}
