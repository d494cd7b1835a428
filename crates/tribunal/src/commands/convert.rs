//! `tribunal convert`: between trace formats, one trace at a time.

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
        sink.write(|out| arguments.to.write_recorded(&history, out))?;
        sink.flush()?;
    }
    sink.finish()?;
    Ok(Ending::NoViolation)
}
