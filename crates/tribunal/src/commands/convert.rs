//! `tribunal convert`: between trace formats, one trace at a time.

use std::io::{self, Write};
use std::path::Path;

use history::{Format, History};

use crate::arguments::ConvertArguments;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{Output, Saved};

pub(crate) fn run(arguments: &ConvertArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let options = arguments.input.options(&arguments.file, &arguments.memory);
    let mut traces = input::traces(&arguments.file, options)?;
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    while let Some(history) = traces.next_trace()? {
        sink.write(&history, arguments.to)?;
    }
    sink.finish()?;
    Ok(Ending::Kept)
}

enum Sink {
    Stdout(Output),
    File(Saved),
}

impl Sink {
    fn open(to: Option<&Path>, interrupt: &Interrupt) -> Result<Self, Failure> {
        match to {
            Some(path) if path != Path::new("-") => Saved::create(path, interrupt).map(Sink::File),
            _ => Ok(Sink::Stdout(Output::stdout())),
        }
    }

    fn write(&mut self, history: &History, format: Format) -> Result<(), Failure> {
        match self {
            Sink::Stdout(output) => {
                write_trace(history, format, output.writer()).map_err(Failure::of_stdout)?;
                output.flush()
            }
            Sink::File(file) => {
                let written = write_trace(history, format, file.writer());
                written.map_err(|error| file.failure(error))
            }
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Sink::Stdout(mut output) => output.flush(),
            Sink::File(file) => file.finish(),
        }
    }
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
    }
}
