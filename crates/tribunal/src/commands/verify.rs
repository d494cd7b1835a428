//! `tribunal verify`: does a protocol implement its memory model?
//!
//! The protocol is composed with observers and each composition is searched. What was found is
//! told by others than those who found it: the run by the reference interpreter, its memory trace
//! by the trace checker, and the checker's evidence by the small kernel.

use std::path::Path;

use conform::{EventNames, MOST_ALARMS, MemoryModel, Options};
use explore::Deadlock;
use murphi::check;
use murphi::source::Source;
use report::verification::{self as told, json, text};

use super::explore::{language, model};
use super::remark;
use crate::arguments::{AssumptionChoice, MemoryModelChoice, VerifyArguments, WitnessChoice};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

mod any;
mod grounds;
mod keep;
mod mutants;
mod replay;
pub(super) mod stop;
mod tell;

use stop::Stop;

/// How many alarms are passed over at most, where that is asked for.
const MORE_ALARMS: usize = 1_000;

pub(crate) fn run(arguments: &VerifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if arguments.file == "-" && arguments.replay.as_deref() == Some("-") {
        let sentence = "only one of the protocol and the counterexample can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    match &arguments.replay {
        Some(file) => replay::check(arguments, file),
        None => verify(arguments, interrupt),
    }
}

/// What is asked, together.
#[derive(Clone, Copy)]
struct Question<'a> {
    arguments: &'a VerifyArguments,
    source: &'a Source,
    language: &'a check::Options,
    options: &'a Options,
    /// Whether the report has colours.
    colour: bool,
}

/// Verifies the protocol and reports.
fn verify(arguments: &VerifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let source = model::read_source(&arguments.file)?;
    let language = language(&arguments.language);
    let options = options(arguments, &language);
    let colour = output::colours(arguments.colour, &std::io::stdout()) && !arguments.json.json;
    let question =
        Question { arguments, source: &source, language: &language, options: &options, colour };
    if arguments.mutants {
        return mutants::run(&question, interrupt);
    }
    if arguments.any.any_processors {
        return any::run(&question, interrupt);
    }
    if let Some(directory) = &arguments.emit {
        match conform::compositions(&source, &options) {
            Ok(composed) => keep::emit(directory, &composed, interrupt)?,
            Err(why) => return refused(&question, why, interrupt),
        }
    }
    if let Some(directory) = &arguments.out {
        keep::create(directory)?;
    }
    let stop = Stop::new(arguments.limits.budget, interrupt);
    let progress = Progress::start(arguments.quiet.quiet);
    let teller = progress.teller();
    let mut watch = |lemma: &str, now: &explore::Progress| {
        teller.say(|| format!("{lemma}: {now}"));
    };
    let found = conform::verify(&source, &options, &mut watch, stop.flag());
    drop(progress);
    let found = match found {
        Ok(found) => found,
        Err(why) => return refused(&question, why, interrupt),
    };
    if !arguments.quiet.quiet {
        let colour = output::colours(arguments.colour, &std::io::stderr());
        model::complain(&found.warnings, &source, colour);
    }
    if matches!(found.verdict, conform::Verdict::NoStart) {
        return Err(no_start(&source));
    }
    let tale = tell::tell(&question, &found, stop.timed_out())?;
    let commands = match &arguments.out {
        Some(directory) => keep::keep(&question, &tale, directory, interrupt)?,
        None => tell::commands(&question, &tale),
    };
    deliver(&question, tale.verification, commands, interrupt)
}

/// That the protocol begins nowhere.
fn no_start(source: &Source) -> Failure {
    Failure::Usage(format!(
        "{}: there is no start state: the assumptions of the protocol exclude them all",
        source.name
    ))
}

/// What is asked of the library.
fn options(arguments: &VerifyArguments, language: &check::Options) -> Options {
    let limits = &arguments.limits;
    let passes = arguments.pass_over || arguments.witness == WitnessChoice::None;
    Options {
        memory_model: memory_model(arguments.model.unwrap_or(MemoryModelChoice::Sc)),
        events: EventNames {
            load: arguments.events.load.clone(),
            store: arguments.events.store.clone(),
            commit: arguments.commit.clone(),
        },
        language: language.clone(),
        search: explore::Options {
            threads: limits.threads(),
            deadlock: deadlock(arguments),
            memory: Some(limits.memory.unwrap_or_else(explore::default_budget) as u64),
            ..explore::Options::default()
        },
        symmetry: arguments.symmetry.into(),
        only: arguments.lemma,
        exact: arguments.exact,
        assume_independence: arguments.assume.contains(&AssumptionChoice::DataIndependence),
        pass_over: if passes { MORE_ALARMS } else { MOST_ALARMS },
        ..Options::default()
    }
}

/// What counts as a deadlock. With any number of processors nothing is claimed about them, so that
/// one is looked for in small instances only where that is asked for.
fn deadlock(arguments: &VerifyArguments) -> Deadlock {
    arguments.deadlock.map_or(
        match arguments.any.any_processors {
            true => Deadlock::Off,
            false => Deadlock::Stuttering,
        },
        Into::into,
    )
}

fn memory_model(choice: MemoryModelChoice) -> MemoryModel {
    match choice {
        MemoryModelChoice::Sc => MemoryModel::Sc,
        MemoryModelChoice::Tso => MemoryModel::Tso,
    }
}

/// The same for whoever tells.
fn told_model(memory_model: MemoryModel) -> told::MemoryModel {
    match memory_model {
        MemoryModel::Sc => told::MemoryModel::Sc,
        MemoryModel::Tso => told::MemoryModel::Tso,
    }
}

/// Says why there is no answer.
fn refused(
    question: &Question<'_>,
    why: conform::Failure,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let source = question.source;
    let colour = output::colours(question.arguments.colour, &std::io::stderr());
    match why {
        conform::Failure::Unsuitable(problems) => {
            model::complain(&problems, source, colour);
            remark(&model::verdict_on(&problems, source));
            Ok(Ending::Unasked)
        }
        conform::Failure::Composition(problems) => {
            model::complain(&problems, source, colour);
            remark("the protocol composed with an observer is refused; see it with --emit DIR");
            Ok(Ending::Unasked)
        }
        conform::Failure::TooLarge => {
            let sentence =
                "composed with an observer, a state is too large; make the model smaller";
            Err(Failure::Usage(format!("{}: {sentence}", source.name)))
        }
        conform::Failure::NotRepeatable(why) => {
            let sentence = format!(
                "an alarm whose run cannot be taken again with other values ({why}): data is not \
                 independent, and nothing is known"
            );
            let verification = tell::unanswered(question, sentence);
            deliver(question, verification, Vec::new(), interrupt)
        }
    }
}

/// Prints what was found, and says how the run ended.
fn deliver(
    question: &Question<'_>,
    verification: told::Verification,
    commands: Vec<String>,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let arguments = question.arguments;
    let report = match arguments.json.json {
        true => json::object(&verification) + "\n",
        false => {
            let shown =
                tell::without_observer(told::Verification { commands, ..verification.clone() });
            text::report(&shown, arguments.quiet.quiet, question.colour)
        }
    };
    let ending = match verification.verdict {
        told::Verdict::Verified => Ending::Kept,
        told::Verdict::Violation | told::Verdict::Broken => Ending::Broken,
        _ if interrupt.happened() => Ending::Interrupted,
        told::Verdict::FalseAlarm | told::Verdict::Undecided => Ending::Undecided,
    };
    output::deliver(&report, None, ending, interrupt)
}

/// A path as it is written in a command.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
