//! `tribunal hunt`: runs a campaign against a target, and writes a folder with its findings.

use std::ops::ControlFlow;
use std::time::Duration;

use evidence::Verdict;
use hunt::{HuntOptions, SavedFinding, Session, StopConditions, TargetOptions, supply};
use report::ci::{Case, Complaint};
use serde_json::{Value, json};
use stress::TargetName;
use stress::protocol::Protocol;

use super::record::{PreparationOptions, prepare};
use super::{explore::model, generate, remark};
use crate::arguments::{EventFlags, HuntArguments, ProtocolFlags};
use crate::cases::Cases;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

/// The number of stores of a test without flags: four threads of 32 instructions.
const STORES: u64 = 128;

pub(crate) fn run(arguments: &HuntArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut cases = Cases::open(&arguments.ci, "hunt", interrupt)?;
    let ended = hunt(arguments, &mut cases, interrupt);
    cases.conclude(&arguments.on.to_string(), ended)
}

/// Hunts, and prints the summary of the folder.
fn hunt(
    arguments: &HuntArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let bug = generate::bug(arguments.bug)?;
    let protocol = match &arguments.on {
        TargetName::Protocol(file) => match protocol(arguments, file)? {
            Ok(protocol) => Some(protocol),
            Err(ending) => return Ok(ending),
        },
        _ => None,
    };
    let making = TargetOptions { bug, timeout: arguments.timeout.timeout, protocol };
    let (abilities, supply) = supply(&arguments.on, making).map_err(|why| usage(&why))?;
    let hunted = HuntOptions {
        target: arguments.on.clone(),
        model: arguments.model.memory_model()?,
        wishes: arguments.wishes(),
        bug,
        protocol: protocol_options(arguments),
    };
    let folder = arguments.out.clone().unwrap_or_else(|| hunted.default_folder());
    let until =
        StopConditions { tests: arguments.tests, time: arguments.time, first: arguments.first };
    let session = Session::open(&hunted, abilities, &folder, until, arguments.jobs.count());
    let mut session = session.map_err(|why| usage(&why))?;
    if let (Some(sentence), false) = (session.resumed(), arguments.quiet.quiet) {
        remark(&sentence);
    }
    let mut output = Output::stdout();
    hunt_on(arguments, &mut session, &supply, &mut output, interrupt)?;
    let text = session.finish(arguments.json.json).map_err(|why| usage(&why))?;
    if cases.are_wanted() {
        add_cases(&session, &hunted, cases);
    }
    let ending = match interrupt.happened() {
        true => Ending::Interrupted,
        false => Ending::of(&session.verdict()),
    };
    match output.print(&text).and_then(|()| output.flush()) {
        Ok(()) | Err(Failure::BrokenPipe) => Ok(ending),
        Err(failure) => Err(failure),
    }
}

/// Adds a case for each finding of the folder; one for the hunt if there are none.
fn add_cases(session: &Session, hunted: &HuntOptions, cases: &mut Cases) {
    let (target, model) = (hunted.target.to_string(), hunted.model.name());
    // The time of the hunt is that of its first case, so that the sum over all is right.
    let mut time = session.elapsed();
    for kept in session.findings() {
        let name = format!("{model}: finding {} {}", kept.finding, kept.name);
        let complaint = Complaint::violation(session.line(kept), session.explanation(kept));
        cases.add(&Case::failed(&target, name, complaint).took(time));
        time = Duration::ZERO;
    }
    let name = format!("hunt under {model}");
    match session.verdict() {
        Verdict::Broken(()) => {}
        Verdict::Holds(()) => cases.add(&Case::passed(&target, name).took(session.elapsed())),
        Verdict::Undecided(()) => {
            let sentence = "some outcomes are undecided";
            let complaint = Complaint::undecided(sentence, session.progress());
            cases.add(&Case::failed(&target, name, complaint).took(session.elapsed()));
        }
    }
}

/// Hunts, and prints new findings.
fn hunt_on(
    arguments: &HuntArguments,
    session: &mut Session,
    supply: &hunt::TargetSupply,
    output: &mut Output,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    interrupt.listen(|| ());
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let mut failure = None;
    let mut print = |session: &Session, new: &[SavedFinding]| -> Result<(), Failure> {
        for kept in new {
            progress.hide();
            let line = match arguments.json.json {
                true => session.found_json(kept),
                false => session.found(kept),
            };
            output.print(&(line + "\n"))?;
        }
        if new.is_empty() { Ok(()) } else { output.flush() }
    };
    let hunted = session.hunt(supply, &interrupt.flag(), &mut |session, new| {
        let printed = print(session, new);
        reporter.say(|| session.progress());
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    });
    drop(progress);
    hunted.map_err(|why| usage(&why))?;
    match failure {
        None | Some(Failure::BrokenPipe) => Ok(()),
        Some(failure) => Err(failure),
    }
}

/// The prepared protocol; an ending if it cannot be prepared.
fn protocol(arguments: &HuntArguments, file: &str) -> Result<Result<Protocol, Ending>, Failure> {
    let wishes = arguments.wishes();
    let instructions = wishes.threads.zip(wishes.instructions);
    let stores = instructions.map_or(STORES, |(threads, each)| (threads * each) as u64);
    let wanted = PreparationOptions {
        flags: &arguments.protocol,
        stores: stores.max(STORES),
        colour: output::colours(arguments.colour, &std::io::stderr()),
        quiet: arguments.quiet.quiet,
    };
    prepare(&model::read_source(file)?, &wanted)
}

/// The options with which a protocol was prepared.
fn protocol_options(arguments: &HuntArguments) -> Vec<(&'static str, Value)> {
    let TargetName::Protocol(_) = arguments.on else { return Vec::new() };
    let ProtocolFlags { language, values, weights, events, commit } = &arguments.protocol;
    let EventFlags { load, store } = events;
    let constants = language.constants.iter().map(|(name, value)| format!("{name}={value}"));
    let mut options = vec![
        ("--const", json!(constants.collect::<Vec<_>>().join(" "))),
        ("--values", json!(values)),
        ("--load", json!(load)),
        ("--store", json!(store)),
        ("--commit", json!(commit)),
    ];
    // Older folders do not record weights; without weights, the options are equal.
    if !weights.is_empty() {
        let weights = weights.iter().map(|(rule, factor)| format!("{rule}={factor}"));
        options.push(("--weight", json!(weights.collect::<Vec<_>>().join(", "))));
    }
    options
}

fn usage(why: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(why.to_string())
}
