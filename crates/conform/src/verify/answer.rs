//! The result of a verification: the verdict, the searches, and the run of an alarm.

use std::fmt;

use explore::report::counted;
use explore::{Exploration, Reason, Step, report};
use history::History;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use serde::Serialize;

use crate::cycle::NiceCycle;
use crate::foundations::{Foundations, Premises, Unestablished};
use crate::trace::MemoryTrace;

/// The result of a verification.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The searches, in order.
    pub lemmas: Vec<Lemma>,
    /// The verdict.
    pub verdict: Verdict,
    /// The place of an error in the protocol, if the protocol alone does not detect it.
    pub broken: Option<Diagnostic>,
    /// Warnings, including assumptions that are not established.
    pub warnings: Vec<Diagnostic>,
    /// The assumptions that are not established. A verdict may need only some of them.
    pub foundations: Foundations,
    /// The assumptions that a verdict "verified" needs.
    pub rests_on: Vec<Premises>,
    /// The assumptions that were not established, and that the user has allowed (`--assume`).
    pub assumed: Vec<Unestablished>,
    /// Whether causality, data independence and free values are established, so that a few values
    /// stand for any number.
    pub independent: bool,
    /// Properties of the protocol that were not checked: `liveness "name"`.
    pub unchecked: Vec<String>,
    /// Whether the protocol marks where stores enter the coherence order.
    pub commits: bool,
    /// The numbers of processors, addresses and values.
    pub sizes: Sizes,
}

/// The numbers of processors, addresses and values of a protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Processors.
    pub processors: u64,
    /// Addresses.
    pub addresses: u64,
    /// Values.
    pub values: u64,
}

/// `2 processors, 1 address`: the scope of every verdict.
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", counted(self.processors, "processor"))?;
        match self.addresses {
            1 => f.write_str("1 address"),
            addresses => write!(f, "{addresses} addresses"),
        }
    }
}

/// A model that was searched.
#[derive(Debug, Clone)]
pub struct Lemma {
    /// The claim.
    pub name: String,
    /// The composed model, as a Murphi source and ready to be run.
    pub interpreter: Interpreter,
    /// The result of the search.
    pub exploration: Exploration,
    /// The number of alarms that were passed over.
    pub passed_over: usize,
    /// The assumptions that the claim needs.
    pub rests_on: Premises,
}

impl Lemma {
    /// Whether this is the protocol itself, and a cover was never reached. Observers exclude runs,
    /// so a cover that a composition does not reach means nothing.
    pub fn misses_cover(&self) -> bool {
        self.rests_on == Premises::NOTHING
            && report::misses_cover(self.interpreter.model(), &self.exploration)
    }
}

/// The verdict. If it holds, every lemma holds, and the assumptions that they need are established
/// or allowed: the protocol implements the memory model for these sizes.
pub type Verdict = evidence::Verdict<(), ViolationKind, Unknown>;

/// The kind of violation.
#[derive(Debug, Clone)]
pub enum ViolationKind {
    /// The memory model is violated.
    MemoryModel(Box<Counterexample>),
    /// The last search found a run-time error, a deadlock, or a violation of one of the protocol's
    /// own properties.
    Protocol,
}

/// Why the question is undecided.
#[derive(Debug, Clone)]
pub enum Unknown {
    /// Every lemma holds, but an assumption is not established.
    NotEstablished(Vec<Unestablished>),
    /// The memory model allows the run of every alarm that was judged: the observers are too strict
    /// for this protocol.
    FalseAlarm(Box<Counterexample>),
    /// A search ended early, for this reason.
    Ended(Reason),
    /// There is no start state: assumptions of the protocol exclude them all.
    NoStart,
}

/// The run of an alarm.
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// The number of the lemma, from 0.
    pub lemma: usize,
    /// The claim of the observer that it violates.
    pub claim: String,
    /// The run of the composed model.
    pub run: Vec<Step>,
    /// Its loads and stores, with unique values.
    pub trace: MemoryTrace,
    /// For `sc`: the ordering cycle.
    pub cycle: Option<NiceCycle>,
    /// The trace as the trace checker reads it.
    pub history: History,
    /// The verdict on the trace.
    pub judged: judge::Judgement,
    /// What is wrong with a commit of the run, as a sentence. Then the order of commits is not the
    /// coherence order, and the alarm says nothing about the memory model.
    pub misuse: Option<String>,
}
