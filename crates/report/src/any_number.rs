//! What came of verifying a protocol for any number of processors, as plain words and numbers:
//! [`text`] tells it to a person, [`json`] to a program.

pub mod json;
pub mod text;

use explore::report::{Broken, Counterexample, Settings};
use serde::Serialize;

use crate::json::milliseconds;
use crate::verification::Open;

/// What was asked and what was found.
#[derive(Debug, Clone, Default)]
pub struct AnyNumber {
    /// The file of the protocol, as the user named it.
    pub model: String,
    /// `sc` or `tso`, or nothing if it is the protocol's own claims.
    pub memory_model: Option<String>,
    /// The answer.
    pub verdict: Verdict,
    /// The answer in words.
    pub sentence: String,
    /// The type of processors.
    pub processor: String,
    /// How many processors stay as they are.
    pub concrete: u64,
    /// How it was searched.
    pub settings: Settings,
    /// What was claimed, one after the other.
    pub claims: Vec<Claim>,
    /// What is broken at the end of the run, if there is one.
    pub broken: Option<Broken>,
    /// A run of the abstraction that no lemma excludes, or of an instance with
    /// [`AnyNumber::processors`] processors.
    pub counterexample: Option<Counterexample>,
    /// Of how many processors the run is; nothing if it is one of the abstraction.
    pub processors: Option<u64>,
    /// What could be done, a line each.
    pub advice: Vec<String>,
    /// What to know about it.
    pub notes: Vec<String>,
    /// What the answer would rest on and is not established.
    pub open: Vec<Open>,
    /// What is not established and was assumed because the user said so.
    pub assuming: Vec<String>,
    /// How the verdict was tried out, if it was.
    pub audit: Option<Audit>,
}

/// How a verdict was tried out on instances.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Audit {
    /// Random steps of instances that are steps of the abstraction.
    pub steps: u64,
    /// In how many views they were looked at, all together.
    pub views: u64,
    /// With how many processors at most.
    pub processors: u64,
    /// Up to how many processors all states were visited, if they were.
    pub searched: Option<u64>,
    /// How many states that were.
    pub states: u64,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// It holds for any number of processors.
    Verified,
    /// It does not hold for some number of processors.
    Violation,
    /// Nothing is known: a lemma is missing, or a search was ended early.
    #[default]
    Undecided,
}

impl Verdict {
    /// Its name in docs/interface.md.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::Violation => "violation",
            Verdict::Undecided => "undecided",
        }
    }
}

/// Something that was claimed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Claim {
    /// What.
    pub name: String,
    /// Whether it holds for any number; nothing if that is not known.
    pub holds: Option<bool>,
    /// States, rules fired and depth of the last search of the abstraction, and its time.
    pub states: u64,
    /// See `states`.
    pub rules_fired: u64,
    /// See `states`.
    pub depth: u64,
    /// See `states`.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// How often the abstraction was searched for alarms.
    pub rounds: usize,
    /// Whether one more processor was known by its name.
    pub named: bool,
    /// Whether no lemma can be left out.
    pub minimal: bool,
    /// The lemmas.
    pub lemmas: Vec<Lemma>,
    /// The concrete instances that were looked at.
    pub instances: Vec<Instance>,
}

/// A lemma.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lemma {
    /// The rule it is about.
    pub rule: String,
    /// What it says whenever the rule applies.
    pub condition: String,
    /// All of it, as an invariant in Murphi.
    pub invariant: String,
    /// The step that called for it; nothing if the user gave it.
    pub called_for: Option<String>,
}

/// A concrete instance.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Instance {
    /// How many processors it has.
    pub processors: u64,
    /// How many of its states were looked at.
    pub states: u64,
    /// Whether these are all, or a random walk.
    pub complete: bool,
}
