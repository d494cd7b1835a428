//! Replays a counterexample of a verification.
//!
//! The lemma of the counterexample is composed again, and the reference interpreter runs each step.
//! The result of the search is not used.

use std::fmt;
use std::sync::Arc;

use explore::{Deadlock, Refuted};
use murphi::interpret::Interpreter;
use murphi::source::Source;
use serde_json::Value;

use crate::events::EventNames;
use crate::failure::{self, Failure};
use crate::verify::{Options, plan};

/// A recorded counterexample, with the question that it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The run.
    pub run: explore::Recorded,
    /// The name of its lemma, if recorded.
    pub lemma: Option<String>,
    /// The memory model, if recorded.
    pub memory_model: Option<String>,
    /// The names of the procedures that mark events, if recorded.
    pub events: Option<EventNames>,
}

/// Why a counterexample cannot be replayed.
#[derive(Debug, Clone)]
pub enum NotReplayed {
    /// The protocol cannot be composed with observers.
    Refused(Failure),
    /// The file does not say which lemma the counterexample violates.
    NoLemma,
}

impl Recorded {
    /// Reads a counterexample from the JSON of a verification. The error says what is wrong and
    /// where.
    pub fn read(text: &str) -> Result<Recorded, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            format!("not a counterexample of `tribunal verify --out` or `--json`: {error}")
        })?;
        let run = explore::read_run(&value)?;
        let string = |name: &str| value[name].as_str().map(str::to_owned);
        let events = match (string("load"), string("store")) {
            (Some(load), Some(store)) => Some(EventNames { load, store, commit: string("commit") }),
            _ => None,
        };
        Ok(Recorded { run, lemma: lemma(&value), memory_model: string("memory_model"), events })
    }
}

/// The name of the lemma that a counterexample violates.
fn lemma(value: &Value) -> Option<String> {
    let number = usize::try_from(value["lemma"].as_u64()?).ok()?;
    let name = value["lemmas"].get(number.checked_sub(1)?)?["name"].as_str()?;
    Some(name.to_owned())
}

/// Runs a recorded counterexample of a protocol. `options` say how the protocol is composed;
/// `deadlock` says what counts as a deadlock.
pub fn replay(
    source: &Source,
    options: &Options,
    recorded: &Recorded,
    deadlock: Deadlock,
) -> Result<Result<(), Refuted>, NotReplayed> {
    let refused = NotReplayed::Refused;
    let protocol =
        failure::protocol(source, &options.language, &options.events).map_err(refused)?;
    let lemma = recorded.lemma.as_ref().ok_or(NotReplayed::NoLemma)?;
    // A run without a lemma is one of the protocol itself.
    let model = match plan(&protocol, options).into_iter().find(|(name, _)| name == lemma) {
        Some((_, composition)) => {
            Arc::new(failure::composed(&protocol, &composition.program).map_err(refused)?)
        }
        None => Arc::clone(&protocol.model),
    };
    let interpreter = Interpreter::new(model).map_err(|_| refused(Failure::TooLarge))?;
    Ok(explore::replay(&interpreter, &recorded.run, deadlock))
}

impl fmt::Display for NotReplayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReplayed::Refused(why) => why.fmt(f),
            NotReplayed::NoLemma => f.write_str(
                "the field `lemma` is missing: expected a counterexample that `tribunal verify` \
                 wrote",
            ),
        }
    }
}

impl std::error::Error for NotReplayed {}
