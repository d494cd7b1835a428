//! Runs programs on reference machines, commands, protocols and this machine.
//!
//! Outcomes are counted for each program. Without --check each distinct outcome is written as a
//! trace; with --check each is judged, and a table says how often it occurred.

use hunt::{Judged, TargetOptions, target, unfinished};
use judge::AnyModel;
use stress::{
    Effort, Experiment, Program, ProgramFileError, Target, TargetError, TargetName, Test,
    read_programs,
};

use super::super::record::{PreparationOptions, prepare};
use super::super::{explore::model, generate, remark};
use crate::arguments::{RunArguments, SingleModel};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Sink};
use crate::progress::Progress;

pub(super) fn run(
    arguments: &RunArguments,
    name: &TargetName,
    file: &str,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let check = arguments.check.as_ref().map(SingleModel::memory_model).transpose()?;
    let tests = read_programs(file)?;
    let mut target = match make(arguments, name, &tests)? {
        Ok(target) => target,
        Err(ending) => return Ok(ending),
    };
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    // Each program gets an equal share of the time.
    let share = u32::try_from(tests.len()).unwrap_or(u32::MAX);
    let time = arguments.budget.map(|time| time / share);
    let mut effort = Effort::new(name, arguments.traces, time, arguments.seed);
    if arguments.exhaustive {
        effort.runs = 1;
    }
    let mut ending = Ending::NoViolation;
    for test in &tests {
        let mut seen = Experiment::default();
        let mut watch = |runs| reporter.say(|| format!("runs: {runs}"));
        let ran = seen.run(&test.program, target.as_mut(), effort, &stop, &mut watch);
        if let Err(error) = &ran {
            progress.hide();
            ending = ending.and(complain(error, &test.program)?);
        }
        let ran = CheckedTest { test, seen: &seen, failed: ran.is_err() };
        ending = ending.and(print_outcomes(arguments, check.as_ref(), ran, name, &mut sink)?);
        sink.flush()?;
        if interrupt.happened() {
            ending = Ending::Interrupted;
            break;
        }
    }
    drop(progress);
    sink.finish()?;
    Ok(ending)
}

/// The target of the programs; an ending if it cannot be prepared.
fn make(
    arguments: &RunArguments,
    name: &TargetName,
    tests: &[Test],
) -> Result<Result<Box<dyn Target>, Ending>, Failure> {
    let protocol = match name {
        TargetName::Protocol(file) => {
            let wanted = PreparationOptions {
                flags: &arguments.protocol,
                stores: tests.iter().map(|test| test.program.len()).max().unwrap_or(0) as u64,
                colour: output::colours(arguments.colour, &std::io::stderr()),
                quiet: arguments.quiet.quiet,
            };
            match prepare(&model::read_source(file)?, &wanted)? {
                Ok(protocol) => Some(protocol),
                Err(ending) => return Ok(Err(ending)),
            }
        }
        _ => None,
    };
    let bug = generate::bug(arguments.bug)?;
    let making = TargetOptions { bug, timeout: arguments.timeout.timeout, protocol };
    let target = target(name, making, arguments.exhaustive);
    target.map(Ok).map_err(|why| Failure::Usage(why.to_string()))
}

/// Prints the error of a target: misbehaviour is a finding, anything else bad input.
fn complain(error: &TargetError, program: &Program) -> Result<Ending, Failure> {
    let name = match program.name.as_str() {
        "" => "a program",
        name => name,
    };
    match error {
        TargetError::Misbehaved(what) => {
            remark(&format!("{name}: {what}"));
            Ok(Ending::Violation)
        }
        TargetError::Unsuitable(why) | TargetError::Unavailable(why) => {
            Err(Failure::Usage(format!("{name}: {why}")))
        }
    }
}

/// A test with the outcomes of its runs.
struct CheckedTest<'a> {
    test: &'a Test,
    seen: &'a Experiment,
    /// Whether the target failed, so that there were no further runs.
    failed: bool,
}

/// Judges each distinct outcome, or writes it as a trace.
fn print_outcomes(
    arguments: &RunArguments,
    check: Option<&AnyModel>,
    CheckedTest { test, seen, failed }: CheckedTest<'_>,
    target: &TargetName,
    sink: &mut Sink,
) -> Result<Ending, Failure> {
    let senseless = |error: stress::OutcomeError| Failure::Usage(error.to_string());
    if let Some(model) = check {
        let judged = Judged::new(test, target, model, seen).map_err(senseless)?;
        let text = match arguments.json.json {
            true => judged.json() + "\n",
            false => judged.table(failed, arguments.quiet.quiet),
        };
        sink.write(|out| out.write_all(text.as_bytes()))?;
        return Ok(Ending::of(&judged.verdict()));
    }
    let format = arguments.format.unwrap_or(arguments.json.trace_format());
    let histories = seen.histories(&test.program).map_err(senseless)?;
    sink.write(|out| seen.write(&histories, (&test.program, target), format, out))?;
    if seen.unfinished > 0 && !arguments.quiet.quiet {
        remark(&format!("{}: {} runs{}", test.program.name, seen.runs, unfinished(seen)));
    }
    Ok(if seen.is_empty() { Ending::Undecided } else { Ending::NoViolation })
}

impl From<ProgramFileError> for Failure {
    fn from(error: ProgramFileError) -> Self {
        match error {
            ProgramFileError::Input(error) => Failure::Program(error),
            ProgramFileError::File(name, error) => Failure::File { name, action: "read", error },
            ProgramFileError::Empty(_) => Failure::Usage(error.to_string()),
        }
    }
}
