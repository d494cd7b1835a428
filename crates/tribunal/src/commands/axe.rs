//! `tribunal axe`: the commands of Axe (Naylor, Moore and Mujumdar, 2016), with its output.
//!
//! `check` prints `OK` or `NO` for each trace and exits 0 either way, as Axe does; `test` compares
//! with a file of expected answers. There is no third word, so a trace that could not be decided
//! ends the run with exit code 3.

use std::fs;

use evidence::Verdict;
use history::ReadOptions;
use judge::axe::{Answer, Expected, Tested, answers, compare, expected};
use judge::stream::{Answers, Asked, Job};

use super::{count, remark};
use crate::arguments::{AxeFlags, AxeTestArguments};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::Output;

pub(crate) fn check(flags: &AxeFlags, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut answers = start(flags, interrupt);
    let mut output = Output::stdout();
    let mut number = 0;
    while let Some(answer) = answers.next_or(|| output.flush())? {
        number += 1;
        match answer {
            Ok(Verdict::Holds(())) => output.print("OK\n")?,
            Ok(Verdict::Broken(())) => output.print("NO\n")?,
            Ok(Verdict::Undecided(())) => return output.flush().map(|()| undecided(number)),
            Err(unread) => return output.flush().and(Err(unread.error.into())),
        }
    }
    output.flush()?;
    Ok(if interrupt.happened() { Ending::Interrupted } else { Ending::NoViolation })
}

pub(crate) fn test(arguments: &AxeTestArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let expected = read_expected(arguments)?;
    let mut answers = start(&arguments.axe, interrupt);
    let (text, ending) = match compare(&mut answers, &expected) {
        Tested::Passed => (format!("Ok, passed {} tests.\n", expected.len()), Ending::NoViolation),
        Tested::Failed(index, Expected { name, .. }) => {
            let name = match &**name {
                "" => String::new(),
                name => format!("Test name: {name}\n"),
            };
            (format!("Test {index} failed\n{name}"), Ending::Violation)
        }
        Tested::Undecided(number) => return Ok(undecided(number)),
        Tested::Unreadable(error) => return Err(error.into()),
        Tested::Ended(_) if interrupt.happened() => return Ok(Ending::Interrupted),
        Tested::Ended(have) => return Err(different_lengths(arguments, &expected, have, "only ")),
        Tested::Unexpected => {
            let have = expected.len() + 1;
            return Err(different_lengths(arguments, &expected, have, "at least "));
        }
    };
    let mut output = Output::stdout();
    output.print(&text)?;
    output.flush()?;
    Ok(ending)
}

/// The error about files with different numbers of answers and traces.
fn different_lengths(
    arguments: &AxeTestArguments,
    expected: &[Expected],
    traces: usize,
    at: &str,
) -> Failure {
    let (file, answers) = (input::shown(&arguments.axe.file), arguments.expected.display());
    Failure::Usage(format!(
        "{answers} has {}, but {file} has {at}{}: give one answer for each trace",
        count(expected.len(), "answer"),
        count(traces, "trace")
    ))
}

fn undecided(number: usize) -> Ending {
    remark(&format!("trace {number} is undecided: --budget or --memory ran out"));
    Ending::Undecided
}

/// Judges all traces of the file, up to the first that cannot be read.
fn start(flags: &AxeFlags, interrupt: &Interrupt) -> Answers<Answer> {
    let answers = answers(Job {
        options: ReadOptions {
            memory: flags.limits.memory.memory,
            thin_air: flags.thin_air,
            ..ReadOptions::default()
        },
        // As axe does.
        allow_empty: true,
        asked: vec![Asked::Model(flags.model)],
        without_times: flags.ignore_times,
        limits: flags.limits.limits(),
        jobs: flags.jobs.count(),
        stop: interrupt.flag(),
        ..Job::new(vec![flags.file.clone()])
    });
    interrupt.listen(answers.stopper());
    answers
}

fn read_expected(arguments: &AxeTestArguments) -> Result<Vec<Expected>, Failure> {
    let name = arguments.expected.display().to_string();
    let text = fs::read_to_string(&arguments.expected).map_err(|error| Failure::File {
        name: name.clone(),
        action: "read",
        error,
    })?;
    expected(&text)
        .map_err(|line| Failure::Usage(format!("{name}:{line}:1: expected `OK` or `NO`")))
}
