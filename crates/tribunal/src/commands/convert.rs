//! `tribunal convert`: converts traces between formats, one at a time, and litmus tests to test
//! programs and back.

use std::io::Write;

use diagnostics::source::Source;
use history::Format;
use hunt::program_of;
use stress::{Assembly, read_programs};

use super::{count, remark};
use crate::arguments::{Colour, ColourFlag, ConvertArguments, ConvertTo};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::kind::Kind;
use crate::output::{self, Sink};

pub(crate) fn run(arguments: &ConvertArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let text = match arguments.to {
        ConvertTo::Traces(format) => return traces(arguments, format, interrupt),
        ConvertTo::Program => match program(&arguments.file)? {
            Some(text) => text,
            None => return Ok(Ending::BadRequest),
        },
        ConvertTo::Litmus(assembly) => litmus_test(&arguments.file, assembly)?,
    };
    let out = arguments.out.output.as_deref();
    output::deliver(&text, out, Ending::NoViolation, interrupt)
}

fn traces(
    arguments: &ConvertArguments,
    format: Format,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let options = arguments.input.options(&arguments.file, &arguments.memory);
    let mut traces = input::traces(&arguments.file, options)?;
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    while let Some(history) = traces.next_trace()? {
        sink.write(|out| format.write_recorded(&history, out))?;
        sink.flush()?;
    }
    sink.finish()?;
    Ok(Ending::NoViolation)
}

/// A litmus test as a test program; `None`, with a message, if it cannot be read.
fn program(file: &str) -> Result<Option<String>, Failure> {
    let source = Source { name: input::shown(file).to_owned(), text: litmus::read_text(file)? };
    let test = match litmus::parse(&source.text) {
        Ok(test) => test,
        Err(problem) => {
            let colour = output::colours(ColourFlag { color: Colour::Auto }, &std::io::stderr());
            let message = problem.render(&source, colour) + &Kind::Litmus.hint(&source.name);
            let _ = std::io::stderr().write_all(message.as_bytes());
            return Ok(None);
        }
    };
    let converted = program_of(&test)
        .map_err(|why| Failure::Usage(format!("{} is not a test program: {why}", source.name)))?;
    if let Some(note) = converted.note {
        remark(&format!("{}: {note}", source.name));
    }
    Ok(Some(converted.test.to_string()))
}

/// A test program as a litmus test.
fn litmus_test(file: &str, assembly: Assembly) -> Result<String, Failure> {
    let tests = read_programs(file)?;
    let name = input::shown(file);
    let [test] = &tests[..] else {
        let have = count(tests.len(), "program");
        return Err(Failure::Usage(format!(
            "a litmus file holds one test, and {name} has {have}: convert them one by one"
        )));
    };
    test.litmus(assembly).map_err(|why| Failure::Usage(format!("{name}: {why}")))
}
