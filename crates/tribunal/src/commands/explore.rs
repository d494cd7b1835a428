//! `tribunal explore`: model-check a Murphi model.
//!
//! The model is read and compiled, searched, and what was found is told by the reference
//! interpreter: a counterexample is run again before it is shown.

use std::sync::Arc;
use std::time::Instant;

use murphi::check::{Dialect, Options};
use murphi::interpret::{Interpreter, Unrunnable};
use murphi::ir::{Model, PropertyKind};
use murphi::source::Source;
use report::exploration::recorded::{self, Recorded};
use report::exploration::{self as told, json, text};

use super::remark;
use crate::arguments::{DeadlockChoice, DialectChoice, ExploreArguments, LanguageFlags};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Output, Saved};

mod breach;
mod fold;
pub(super) mod memory;
pub(super) mod model;
mod narrate;
pub(super) mod replay;
pub(super) mod search;
mod values;

/// How many rounds a loop may take if nothing is said: what CMurphi allows.
const LOOP_LIMIT: u64 = 1000;

pub(crate) fn run(arguments: &ExploreArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if arguments.file == "-" && arguments.evidence.replay.as_deref() == Some("-") {
        let sentence = "only one of the model and the counterexample can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    match &arguments.evidence.replay {
        Some(file) => check(arguments, file),
        None => explore(arguments, interrupt),
    }
}

/// Searches the model and reports.
fn explore(arguments: &ExploreArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let start = Instant::now();
    let language = Language::asked(&arguments.language);
    let Some(interpreter) = loaded(arguments, &language)? else { return Ok(Ending::Unasked) };
    let save = arguments.evidence.save.as_deref();
    let save = save.map(|path| Saved::create(path, interrupt)).transpose()?;
    let colour = output::colours(arguments.colour, &std::io::stdout()) && !arguments.json.json;
    let found = search::search(&interpreter, arguments, colour, interrupt)?;
    let exploration = told::Exploration {
        model: input::shown(&arguments.file).to_owned(),
        settings: told::Settings {
            constants: language.constants,
            dialect: language.dialect.name().to_owned(),
            loop_limit: language.loop_limit,
            ..found.settings
        },
        totals: told::Totals { seconds: start.elapsed().as_secs_f64(), ..found.totals },
        ..found
    };
    if let Some(mut file) = save {
        file.write((json::object(&exploration) + "\n").as_bytes())?;
        file.finish()?;
    }
    deliver(arguments, &exploration, colour, interrupt)
}

/// Prints what was found, and says how the run ended.
fn deliver(
    arguments: &ExploreArguments,
    exploration: &told::Exploration,
    colour: bool,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let detail =
        text::Detail { colour, quiet: arguments.quiet.quiet, coverage: arguments.coverage };
    let report = match arguments.json.json {
        true => json::object(exploration) + "\n",
        false => text::report(exploration, detail),
    };
    let ending = match exploration.verdict {
        told::Verdict::Verified => Ending::Kept,
        told::Verdict::Violation | told::Verdict::Deadlock => Ending::Broken,
        told::Verdict::Undecided if interrupt.happened() => Ending::Interrupted,
        told::Verdict::Undecided => Ending::Undecided,
    };
    output::deliver(&report, None, ending, interrupt)
}

/// Checks a recorded counterexample.
fn check(arguments: &ExploreArguments, file: &str) -> Result<Ending, Failure> {
    let unreadable = |reason| Failure::Usage(format!("{}: {reason}", input::shown(file)));
    let recorded = recorded::read(&model::read_text(file)?).map_err(unreadable)?;
    let language = Language::recorded(&arguments.language, &recorded).map_err(unreadable)?;
    let deadlock = deadlock_of(arguments.search.deadlock, &recorded).map_err(unreadable)?;
    let Some(interpreter) = loaded(arguments, &language)? else { return Ok(Ending::Unasked) };
    let result = replay::replay(&interpreter, &recorded, deadlock);
    let name = input::shown(file);
    replayed(input::shown(&arguments.file), name, arguments.json.json, &recorded, &result)
}

/// Says what came of a replay.
pub(super) fn replayed(
    model: &str,
    file: &str,
    json: bool,
    recorded: &Recorded,
    result: &Result<(), replay::Refuted>,
) -> Result<Ending, Failure> {
    let line = match json {
        true => replay_json(model, file, recorded, result),
        false => replay_line(model, file, recorded, result),
    };
    let mut output = Output::stdout();
    output.print(&line)?;
    output.flush()?;
    Ok(if result.is_ok() { Ending::Kept } else { Ending::Broken })
}

fn replay_line(
    model: &str,
    file: &str,
    recorded: &Recorded,
    result: &Result<(), replay::Refuted>,
) -> String {
    let claim = match recorded.verdict == recorded.property {
        true => recorded.verdict.clone(),
        false => format!("{}: {}", recorded.verdict, recorded.property),
    };
    match result {
        Ok(()) => {
            let steps = text::counted(recorded.steps.len() as u64, "step");
            format!("{file}: {model}: {claim}: counterexample of {steps} holds\n")
        }
        Err(replay::Refuted { place, reason }) => {
            format!("{file}: {model}: {claim}: rejected at {place}: {reason}\n")
        }
    }
}

fn replay_json(
    model: &str,
    file: &str,
    recorded: &Recorded,
    result: &Result<(), replay::Refuted>,
) -> String {
    let mut object = serde_json::json!({
        "file": file,
        "model": model,
        "verdict": recorded.verdict,
        "property": recorded.property,
        "steps": recorded.steps.len(),
        "holds": result.is_ok(),
    });
    if let Err(replay::Refuted { place, reason }) = result {
        object["place"] = place.as_str().into();
        object["reason"] = reason.as_str().into();
    }
    format!("{object}\n")
}

/// How the language is read.
pub(super) struct Language {
    pub(super) constants: Vec<(String, String)>,
    pub(super) dialect: DialectChoice,
    pub(super) loop_limit: u64,
}

impl Language {
    pub(super) fn asked(flags: &LanguageFlags) -> Self {
        Language {
            constants: flags.constants.clone(),
            dialect: flags.dialect.unwrap_or(DialectChoice::Cmurphi),
            loop_limit: flags.loop_limit.unwrap_or(LOOP_LIMIT),
        }
    }

    /// The same for whoever reads the model.
    pub(super) fn options(&self) -> Options {
        Options {
            constants: self.constants.clone(),
            dialect: match self.dialect {
                DialectChoice::Cmurphi => Dialect::CMurphi,
                DialectChoice::Rumur => Dialect::Rumur,
            },
            loop_limit: self.loop_limit,
            ..Options::default()
        }
    }

    /// As it was when a counterexample was recorded, unless something else is asked for.
    pub(super) fn recorded(flags: &LanguageFlags, recorded: &Recorded) -> Result<Self, String> {
        let mut constants = recorded.constants.clone();
        constants.retain(|(name, _)| flags.constants.iter().all(|(given, _)| given != name));
        constants.extend(flags.constants.iter().cloned());
        let dialect = match recorded.dialect.as_deref() {
            Some(name) => DialectChoice::of_name(name)?,
            None => DialectChoice::Cmurphi,
        };
        Ok(Language {
            constants,
            dialect: flags.dialect.unwrap_or(dialect),
            loop_limit: flags.loop_limit.or(recorded.loop_limit).unwrap_or(LOOP_LIMIT),
        })
    }
}

pub(super) fn deadlock_of(
    asked: Option<DeadlockChoice>,
    recorded: &Recorded,
) -> Result<DeadlockChoice, String> {
    match (asked, recorded.deadlock.as_deref()) {
        (Some(asked), _) => Ok(asked),
        (None, Some(name)) => DeadlockChoice::of_name(name),
        (None, None) => Ok(DeadlockChoice::Stuttering),
    }
}

/// The model of the command line, ready to be run. `None` if it is wrong: then that has been said.
fn loaded(
    arguments: &ExploreArguments,
    language: &Language,
) -> Result<Option<Interpreter>, Failure> {
    let source = model::read_source(&arguments.file)?;
    let colour = output::colours(arguments.colour, &std::io::stderr());
    load(&source, language, arguments.quiet.quiet, colour)
}

/// A model, ready to be run. `None` if it is wrong: then that has been said.
pub(super) fn load(
    source: &Source,
    language: &Language,
    quiet: bool,
    colour: bool,
) -> Result<Option<Interpreter>, Failure> {
    let checked = match murphi::load(source.clone(), &language.options()) {
        Ok(checked) => checked,
        Err(diagnostics) => {
            model::complain(&diagnostics, source, colour);
            remark(&model::verdict_on(&diagnostics, source));
            return Ok(None);
        }
    };
    if !quiet {
        model::complain(&checked.warnings, source, colour);
    }
    let model = Arc::new(checked.model);
    match Interpreter::new(Arc::clone(&model)) {
        Ok(interpreter) => Ok(Some(interpreter)),
        Err(why) => Err(Failure::Usage(format!("{}: {}", source.name, unrunnable(&model, why)))),
    }
}

fn unrunnable(model: &Model, why: Unrunnable) -> String {
    match why {
        Unrunnable::TooLarge(too_large) => {
            let name = model.types[too_large.ty.0 as usize].name.as_deref();
            let what = name.map_or("a state".to_owned(), |name| format!("type `{name}`"));
            format!("{what} would take {} bytes; make the model smaller", too_large.bytes)
        }
        Unrunnable::TooManyInstances(name) => {
            format!("\"{name}\" has more instances than can be counted")
        }
    }
}

/// `2 invariants hold`, and so on for each kind of property the model has.
fn facts(model: &Model) -> Vec<String> {
    let of = |kind| model.properties.iter().filter(|p| p.kind == kind).count();
    let mut facts = Vec::new();
    match of(PropertyKind::Invariant) {
        0 => {}
        1 => facts.push("1 invariant holds".to_owned()),
        invariants => facts.push(format!("{invariants} invariants hold")),
    }
    match of(PropertyKind::Cover) + model.covers.len() {
        0 => {}
        1 => facts.push("1 cover is reached".to_owned()),
        covers => facts.push(format!("{covers} covers are reached")),
    }
    facts
}
