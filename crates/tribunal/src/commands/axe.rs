//! `tribunal axe`: the commands of Axe (Naylor, Moore and Mujumdar, 2016), with its output.
//!
//! `check` prints `OK` or `NO` for each trace and exits 0 either way, as Axe does; `test` compares
//! with a file of expected answers. There is no third word, so a trace that could not be decided
//! ends the run with exit code 3. Unlike Axe, values may repeat and 0 may be written.

use std::fs;

use history::{History, InputError, ReadOptions};
use judge::{Engine, Outcome, judge};

use super::{budget, remark};
use crate::arguments::{AxeFlags, AxeTestArguments};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::pipeline::{Pipeline, Questions};

/// A trace, or why there are no more.
type Trace = Result<History, InputError>;

/// What is said about a trace.
enum Reply {
    Ok,
    No,
    Undecided,
    BadInput(InputError),
}

pub(crate) fn check(flags: &AxeFlags, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut replies = replies(flags, interrupt);
    let mut output = Output::stdout();
    let mut number = 0;
    loop {
        let reply = match replies.ready() {
            Some(reply) => reply,
            None => {
                output.flush()?;
                match replies.wait() {
                    Some(reply) => reply,
                    None => break,
                }
            }
        };
        number += 1;
        match reply {
            Reply::Ok => output.print("OK\n")?,
            Reply::No => output.print("NO\n")?,
            Reply::Undecided => {
                output.flush()?;
                return Ok(undecided(number));
            }
            Reply::BadInput(error) => {
                output.flush()?;
                return Err(error.into());
            }
        }
    }
    Ok(if interrupt.happened() { Ending::Interrupted } else { Ending::Kept })
}

pub(crate) fn test(arguments: &AxeTestArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let expected = Expected::read(arguments)?;
    let mut replies = replies(&arguments.axe, interrupt);
    let mut output = Output::stdout();
    for (number, answer) in expected.0.iter().enumerate() {
        let said = match replies.wait() {
            Some(Reply::Ok) => true,
            Some(Reply::No) => false,
            Some(Reply::Undecided) => return Ok(undecided(number + 1)),
            Some(Reply::BadInput(error)) => return Err(error.into()),
            None if interrupt.happened() => return Ok(Ending::Interrupted),
            None => {
                let file = input::shown(&arguments.axe.file);
                let (have, expected) = (number, expected.0.len());
                let sentence = format!("{expected} answers are expected, but {file} has {have}");
                return Err(Failure::Usage(format!("{sentence} traces")));
            }
        };
        if said != answer.ok {
            output.print(&format!("Test {number} failed\n"))?;
            if !answer.name.is_empty() {
                output.print(&format!("Test name: {}\n", answer.name))?;
            }
            output.flush()?;
            return Ok(Ending::Broken);
        }
    }
    output.print(&format!("Ok, passed {} tests.\n", expected.0.len()))?;
    output.flush()?;
    Ok(Ending::Kept)
}

fn undecided(number: usize) -> Ending {
    remark(&format!("trace {number} is undecided: the budget ran out"));
    Ending::Undecided
}

/// The replies to all traces of the file, up to the first that cannot be read.
fn replies(flags: &AxeFlags, interrupt: &Interrupt) -> Pipeline<Trace, Reply> {
    let options = ReadOptions {
        memory: flags.limits.memory.memory,
        axe_addresses: true,
        ..ReadOptions::default()
    };
    let file = flags.file.clone();
    let read = move |questions: &mut Questions<Trace, Reply>| {
        let traces = match input::traces_to_ask(questions, &file, options) {
            Ok(traces) => traces,
            Err(error) => return drop(questions.ask(Err(error), 0)),
        };
        for trace in traces {
            let load = trace.as_ref().map_or(0, History::len);
            if questions.ask(trace, load).is_err() {
                return;
            }
        }
    };
    let (model, ignore_times) = (flags.model, flags.ignore_times);
    let (limits, stop) = (flags.limits.clone(), interrupt.clone());
    let answer = move |trace: Trace| {
        let history = match trace {
            Ok(history) if ignore_times => history.without_times(),
            Ok(history) => history,
            Err(error) => return Some(Reply::BadInput(error)),
        };
        let verdict = judge(&history, model, Engine::Auto, &budget(&limits, &stop));
        match verdict.outcome {
            Outcome::Holds(_) => Some(Reply::Ok),
            Outcome::Broken(_) => Some(Reply::No),
            Outcome::Undecided(_) if stop.happened() => None,
            Outcome::Undecided(_) => Some(Reply::Undecided),
        }
    };
    Pipeline::start(flags.jobs.count(), interrupt, read, answer)
}

/// The expected answers.
struct Expected(Vec<Answer>);

struct Answer {
    ok: bool,
    name: String,
}

impl Expected {
    fn read(arguments: &AxeTestArguments) -> Result<Self, Failure> {
        let file = arguments.expected.display().to_string();
        let text = fs::read_to_string(&arguments.expected).map_err(|error| Failure::File {
            name: file.clone(),
            action: "read",
            error,
        })?;
        let mut answers = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let (word, name) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            let ok = match word {
                "OK" => true,
                "NO" => false,
                "" => continue,
                _ => {
                    let place = format!("{file}:{}:1", number + 1);
                    return Err(Failure::Usage(format!("{place}: expected `OK` or `NO`")));
                }
            };
            answers.push(Answer { ok, name: name.trim().to_owned() });
        }
        Ok(Self(answers))
    }
}
