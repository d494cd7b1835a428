//! What came of verifying a protocol against its memory model, as plain words and numbers:
//! [`text`] tells it to a person, [`json`] to a program.
//!
//! As with an [exploration](crate::exploration), whoever searched has rendered everything that
//! knows how states look.

pub mod json;
pub mod text;

use explore::report::{Broken, Counterexample, Settings};
use serde::Serialize;

use crate::json::milliseconds;

/// What was asked, what was found, and what it took.
#[derive(Debug, Clone, Default)]
pub struct Verification {
    /// The file of the protocol, as the user named it.
    pub model: String,
    /// The memory model.
    pub memory_model: MemoryModel,
    /// What was found.
    pub verdict: Verdict,
    /// What the verdict says in a sentence, or why there is none.
    pub sentence: String,
    /// How many processors, addresses and values the protocol has.
    pub sizes: Sizes,
    /// Whether causality and data independence are established: a few values stand for any number.
    pub independent: bool,
    /// Whether fewer values were told apart than there may be, so that the answer rests on that.
    pub reduced: bool,
    /// What the answer would rest on and is not established.
    pub open: Vec<Open>,
    /// What is not established and was assumed because the user said so.
    pub assuming: Vec<String>,
    /// Whether the protocol marks where stores begin to count.
    pub commits: bool,
    /// What was asked.
    pub settings: Settings,
    /// For each kind of memory event (`load`, `store` …), the procedure that marks it.
    pub events: Vec<(&'static str, String)>,
    /// Whether the observer of `tso` was exact from the beginning.
    pub exact: bool,
    /// What was searched, in order.
    pub lemmas: Vec<Lemma>,
    /// The number of the lemma that is told of below, from 1.
    pub told_lemma: Option<usize>,
    /// What is broken, if anything is.
    pub broken: Option<Broken>,
    /// The run of the composed model that breaks it.
    pub counterexample: Option<Counterexample>,
    /// The loads and stores of that run, if an observer objects to them.
    pub memory: Option<Memory>,
    /// What could not be established, each in a sentence with its place.
    pub warnings: Vec<String>,
    /// Commands to go on with.
    pub commands: Vec<String>,
}

/// Something that is not established.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Open {
    /// What it is about: `data-independence`, `start-states` ….
    pub what: String,
    /// Where: `protocol.m:12:3`.
    pub place: String,
    /// Why, in a sentence.
    pub sentence: String,
}

/// How many there are of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Processors.
    pub processors: u64,
    /// Addresses.
    pub addresses: u64,
    /// Values.
    pub values: u64,
}

/// The memory models that protocols are verified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryModel {
    /// Sequential consistency.
    #[default]
    Sc,
    /// Total store order.
    Tso,
}

impl MemoryModel {
    /// Its name in docs/interface.md.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sc",
            MemoryModel::Tso => "tso",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Every lemma holds.
    Verified,
    /// The memory model is violated.
    Violation,
    /// An observer objects to what the memory model allows.
    FalseAlarm,
    /// The protocol breaks a claim of its own, fails or gets stuck.
    Broken,
    /// Nothing is broken so far.
    #[default]
    Undecided,
}

impl Verdict {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::Violation => "violation",
            Verdict::FalseAlarm => "false-alarm",
            Verdict::Broken => "broken",
            Verdict::Undecided => "undecided",
        }
    }
}

/// A model that was searched.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lemma {
    /// What it claims.
    pub name: String,
    /// States that were visited: orbits, under symmetry.
    pub states: u64,
    /// Rules that were fired.
    pub rules_fired: u64,
    /// The greatest distance of a visited state from the start states.
    pub depth: u64,
    /// Seconds of the search.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// Whether the claim holds; nothing if the search was ended early.
    pub holds: Option<bool>,
    /// How many alarms were passed over because the memory model allows them.
    #[serde(skip_serializing_if = "is_zero")]
    pub passed_over: usize,
}

/// The loads and stores of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Memory {
    /// The trace in Tribunal's format.
    pub trace: Vec<String>,
    /// The cycle, if there is one to show.
    pub cycle: Vec<Edge>,
    /// What the trace checker says of the trace, a line each.
    pub judged: Vec<String>,
}

/// That one event comes before another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The earlier event, as a line of the trace.
    pub from: String,
    /// The later event.
    pub to: String,
    /// Why.
    pub because: &'static str,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
