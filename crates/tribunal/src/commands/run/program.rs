//! Programs on reference machines, on commands, on protocols and on this machine.
//!
//! Outcomes are counted, program by program. Without --check each is written as a trace, once; with
//! --check each is judged, once, and a table says how often it was seen.

use hunt::{Judged, TargetOptions, target, unfinished};
use judge::AnyModel;
use stress::{
    Effort, Experiment, Program, ProgramFileError, Target, TargetError, TargetName, Test,
    read_programs,
};

use super::super::record::{Wanted, prepare};
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
    // Each program has its share.
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
        if let Err(error) = seen.run(&test.program, target.as_mut(), effort, &stop, &mut watch) {
            progress.hide();
            ending = ending.and(complain(&error, &test.program)?);
        }
        ending =
            ending.and(print_outcomes(arguments, check.as_ref(), test, name, &seen, &mut sink)?);
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

/// What runs the programs, or how the run ends without it.
fn make(
    arguments: &RunArguments,
    name: &TargetName,
    tests: &[Test],
) -> Result<Result<Box<dyn Target>, Ending>, Failure> {
    let protocol = match name {
        TargetName::Protocol(file) => {
            let wanted = Wanted {
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

/// Says what went wrong with a target: one that misbehaved is a finding, any other cannot be asked.
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

/// Judges each different outcome, or writes it as a trace.
fn print_outcomes(
    arguments: &RunArguments,
    check: Option<&AnyModel>,
    test: &Test,
    target: &TargetName,
    seen: &Experiment,
    sink: &mut Sink,
) -> Result<Ending, Failure> {
    let senseless = |error: stress::OutcomeError| Failure::Usage(error.to_string());
    if let Some(model) = check {
        let judged = Judged::new(test, target, model, seen).map_err(senseless)?;
        let text = match arguments.json.json {
            true => judged.json() + "\n",
            false => judged.table(arguments.quiet.quiet),
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
            ProgramFileError::Input(error) => Failure::Input(error),
            ProgramFileError::File(name, error) => Failure::File { name, action: "read", error },
            ProgramFileError::Empty(_) => Failure::Usage(error.to_string()),
        }
    }
}
