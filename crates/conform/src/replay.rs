//! Is this counterexample of a verification one?
//!
//! The lemma that it is about is composed anew, and the reference interpreter takes the run step by
//! step. Nothing that was searched is believed.

use std::fmt;
use std::sync::Arc;

use explore::{Deadlock, Refuted};
use murphi::interpret::Interpreter;
use murphi::source::Source;
use serde_json::Value;

use crate::events::EventNames;
use crate::failure::{self, Failure};
use crate::verify::{Options, plan};

/// A recorded counterexample, with what was asked when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The run.
    pub run: explore::Recorded,
    /// The name of the lemma that it is about, if it is said.
    pub lemma: Option<String>,
    /// The memory model, if it is said.
    pub memory_model: Option<String>,
    /// What the procedures that mark events are called, if it is said.
    pub events: Option<EventNames>,
}

/// Why a counterexample is not looked at.
#[derive(Debug, Clone)]
pub enum NotReplayed {
    /// The protocol cannot be composed with observers.
    Refused(Failure),
    /// It is not said which lemma it is about.
    NoLemma,
}

impl Recorded {
    /// Reads a counterexample from the JSON of a verification. The error is a sentence that says what
    /// is wrong with it and where.
    pub fn read(text: &str) -> Result<Recorded, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let run = explore::read_run(&value)?;
        let string = |name: &str| value[name].as_str().map(str::to_owned);
        let events = match (string("load"), string("store")) {
            (Some(load), Some(store)) => Some(EventNames { load, store, commit: string("commit") }),
            _ => None,
        };
        Ok(Recorded { run, lemma: lemma(&value), memory_model: string("memory_model"), events })
    }
}

/// The name of the lemma that a counterexample is about.
fn lemma(value: &Value) -> Option<String> {
    let number = usize::try_from(value["lemma"].as_u64()?).ok()?;
    let name = value["lemmas"].get(number.checked_sub(1)?)?["name"].as_str()?;
    Some(name.to_owned())
}

/// Runs a recorded counterexample of a protocol. `options` say how the protocol is composed, and
/// `deadlock` what counts as one.
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
    // What is not a composition is the protocol itself.
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
