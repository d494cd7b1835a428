//! `tribunal verify --replay`: is this counterexample one?
//!
//! What was asked when it was recorded is asked again, as far as the command line does not say
//! otherwise: the same lemma is composed anew, and the reference interpreter takes the run step by
//! step.

use murphi::check;
use murphi::source::Source;
use serde_json::Value;

use super::keep::for_replay;
use super::{memory_model, options, refused};
use crate::arguments::{MemoryModelChoice, VerifyArguments};
use crate::commands::explore::{deadlock_of, load, model, recorded_language, replayed};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output;

/// Checks a recorded counterexample.
pub(super) fn check(arguments: &VerifyArguments, file: &str) -> Result<Ending, Failure> {
    let name = input::shown(file);
    let unreadable = |reason: String| Failure::Usage(format!("{name}: {reason}"));
    let text = model::read_text(file)?;
    let value: Value =
        serde_json::from_str(&text).map_err(|error| unreadable(format!("no JSON: {error}")))?;
    let recorded = explore::read_recorded(&for_replay(&text)).map_err(unreadable)?;
    let language = recorded_language(&arguments.language, &recorded).map_err(unreadable)?;
    let deadlock = deadlock_of(arguments.deadlock, &recorded).map_err(unreadable)?;
    let mut options = options(arguments, &language);
    if let (None, Some(name)) = (arguments.model, value["memory_model"].as_str()) {
        options.memory_model = memory_model(MemoryModelChoice::of_name(name).map_err(unreadable)?);
    }
    if let (Some(load), Some(store)) = (value["load"].as_str(), value["store"].as_str()) {
        (options.events.load, options.events.store) = (load.to_owned(), store.to_owned());
        options.events.commit = value["commit"].as_str().map(str::to_owned);
    }
    let source = model::read_source(&arguments.file)?;
    let composed = match conform::compositions(&source, &options) {
        Ok(composed) => composed,
        Err(why) => {
            let colour = false;
            let (source, language, options) = (&source, &language, &options);
            let question = super::Question { arguments, source, language, options, colour };
            return refused(&question, why, &Interrupt::default());
        }
    };
    let lemma = lemma_of(&value).ok_or_else(|| {
        unreadable(
            "it does not say which lemma it is about; is it from tribunal verify?".to_owned(),
        )
    })?;
    let colour = output::colours(arguments.colour, &std::io::stderr());
    let quiet = true;
    // What is not a composition is the protocol itself.
    let loaded = match composed.into_iter().find(|(name, _)| name == lemma) {
        Some((_, text)) => {
            let language = check::Options { constants: Vec::new(), ..language };
            load(&Source { name: source.name.clone(), text }, &language, quiet, colour)?
        }
        None => load(&source, &language, quiet, colour)?,
    };
    let Some(composed) = loaded else { return Ok(Ending::Unasked) };
    let result = composed.replay(&recorded, deadlock);
    replayed(input::shown(&arguments.file), name, arguments.json.json, &recorded, &result)
}

/// The name of the lemma that a counterexample is about.
fn lemma_of(value: &Value) -> Option<&str> {
    let number = usize::try_from(value["lemma"].as_u64()?).ok()?;
    value["lemmas"].get(number.checked_sub(1)?)?["name"].as_str()
}
