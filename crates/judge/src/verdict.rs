//! What a judgement says: the verdict with its evidence, what gave it and what it took.

use std::fmt;
use std::str::FromStr;

use evidence::{Proof, Witness};
use models::Model;

/// How to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// Cheapest first, complete at the end.
    #[default]
    Auto,
    /// The order of the lines as the witness, or undecided.
    Recorded,
    /// Needs the write order in the trace.
    Linear,
    /// Polynomial, may be undecided.
    Saturation,
    /// Complete search by SAT modulo acyclicity.
    Sat,
    /// Complete search by enumerating write orders.
    Enumerate,
    /// The O*(2^k) dynamic programme over snapshot orders.
    Subsets,
    /// Runs of the machine of sc or tso, with memory of dead ends.
    Frontiers,
}

impl Engine {
    /// Every engine with its name on the command line and what it is.
    pub const ALL: &'static [(Engine, &'static str, &'static str)] = &[
        (
            Engine::Auto,
            "auto",
            "cheap engines first, a complete one at the end; the right choice unless you compare \
             engines",
        ),
        (
            Engine::Recorded,
            "recorded",
            "tries the order of the lines as the witness, in linear time; otherwise undecided",
        ),
        (
            Engine::Linear,
            "linear",
            "infers orders in linear time; needs the coherence order (`order` lines, or one write \
             per address)",
        ),
        (
            Engine::Saturation,
            "saturation",
            "adds every order that must hold until a cycle appears; polynomial time, may be \
             undecided",
        ),
        (Engine::Sat, "sat", "saturation, then a SAT search over the remaining orders; complete"),
        (Engine::Enumerate, "enumerate", "tries all coherence orders; complete, for small traces"),
        (
            Engine::Subsets,
            "subsets",
            "dynamic programming over sets of unordered writes; complete for unique values",
        ),
        (
            Engine::Frontiers,
            "frontiers",
            "searches runs of the sc or tso machine; complete for these two; good when values \
             repeat",
        ),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// A name that is no engine's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownEngine(pub String);

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown engine `{}`; the engines are", self.0)?;
        for (i, (_, name, _)) in Engine::ALL.iter().enumerate() {
            write!(f, "{} {name}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownEngine {}

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        Engine::ALL
            .iter()
            .find(|row| row.1.eq_ignore_ascii_case(name))
            .map(|row| row.0)
            .ok_or_else(|| UnknownEngine(name.to_owned()))
    }
}

/// Which part of an engine gave the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each is the engine or phase of that name
pub enum DecidedBy {
    Recorded,
    Linear,
    Saturation,
    TotalOrder,
    Sat,
    Enumerate,
    Subsets,
    Frontiers,
    Causal,
    /// The search of models as files, over who read from whom and the orders of writes.
    Choices,
}

impl DecidedBy {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            DecidedBy::Recorded => "recorded",
            DecidedBy::Linear => "linear",
            DecidedBy::Saturation => "saturation",
            DecidedBy::TotalOrder => "total-order",
            DecidedBy::Sat => "sat",
            DecidedBy::Enumerate => "enumerate",
            DecidedBy::Subsets => "subsets",
            DecidedBy::Frontiers => "frontiers",
            DecidedBy::Causal => "causal",
            DecidedBy::Choices => "choices",
        }
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The verdict on a history: that it satisfies the model, with a witness; that it violates the
/// model, with a proof; or why there is no answer.
///
/// ```
/// use tribunal_judge::{Budget, Engine, Outcome, judge};
///
/// let history = history::parse_text("0: x := 1\n1: x == 1\n1: x == 0")?;
/// let judged = judge(&history, models::Model::Sc, Engine::Auto, &Budget::unlimited());
/// let Outcome::Broken(proof) = &judged.outcome else { panic!("x was 1 already") };
/// assert_eq!(judged.outcome.broken(), Some(proof));
/// # Ok::<(), history::InputError>(())
/// ```
pub type Outcome = evidence::Verdict<Witness, Proof, Undecided>;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The reason.
    pub reason: Reason,
    /// What was established all the same, as a sentence; empty if nothing.
    pub established: String,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time budget ran out.
    Time,
    /// The next table would not fit the memory budget.
    Memory,
    /// The check was interrupted before there was an answer.
    Interrupted,
    /// The chosen engine does not apply or is incomplete; the sentence says why.
    Engine(String),
}

/// What the check did, for those who ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Unordered pairs of writes of one address.
    pub write_pairs: Option<u64>,
    /// Those of them that saturation left open.
    pub unordered_write_pairs: Option<u64>,
    /// Edges that saturation inferred.
    pub inferred_edges: u64,
    /// Decisions of the search.
    pub decisions: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
}

/// One history, judged by one model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// The model.
    pub model: Model,
    /// The answer with its evidence.
    pub outcome: Outcome,
    /// What gave it.
    pub decided_by: DecidedBy,
    /// What it took.
    pub stats: Stats,
}

/// An outcome without an answer.
pub(crate) fn undecided(reason: Reason, established: impl Into<String>) -> Outcome {
    Outcome::Undecided(Undecided { reason, established: established.into() })
}
