//! What is found out about a protocol: the answer, what was searched for it, and the run that raised
//! an alarm.

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

/// What was found out about a protocol.
#[derive(Debug, Clone)]
pub struct Verification {
    /// What was searched, in order.
    pub lemmas: Vec<Lemma>,
    /// The answer.
    pub verdict: Verdict,
    /// What fails, in the protocol as it was written, if the protocol alone does not notice.
    pub broken: Option<Diagnostic>,
    /// What could not be established about the protocol, and other warnings.
    pub warnings: Vec<Diagnostic>,
    /// What is not established about the protocol. Not everything matters for every verdict.
    pub foundations: Foundations,
    /// What a verdict of "verified" rests on.
    pub rests_on: Vec<Premises>,
    /// What of that was not established, and assumed because that was asked for.
    pub assumed: Vec<Unestablished>,
    /// Whether causality, data independence and free values are established: a few values stand
    /// for any number of them.
    pub independent: bool,
    /// Claims of the protocol that nothing looks at: `liveness "name"`.
    pub unchecked: Vec<String>,
    /// Whether the protocol marks where stores begin to count.
    pub commits: bool,
    /// How many processors, addresses and values the protocol has.
    pub sizes: Sizes,
}

/// How many processors, addresses and values a protocol has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Processors.
    pub processors: u64,
    /// Addresses.
    pub addresses: u64,
    /// Values.
    pub values: u64,
}

/// `2 processors, 1 address`: what every verdict is limited to.
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
    /// What it claims.
    pub name: String,
    /// The composed model, as a Murphi source and ready to be run.
    pub interpreter: Interpreter,
    /// What the search found.
    pub exploration: Exploration,
    /// How many alarms were passed over.
    pub passed_over: usize,
    /// What its answer rests on.
    pub rests_on: Premises,
}

impl Lemma {
    /// Whether it is the protocol itself, and something that it says is reached is not. An observer
    /// leaves runs out, so that nothing follows from what a composition does not reach.
    pub fn misses_cover(&self) -> bool {
        self.rests_on == Premises::NOTHING
            && report::misses_cover(self.interpreter.model(), &self.exploration)
    }
}

/// The answer. If it holds, every lemma holds, and what they rest on is established or was to be
/// assumed: the protocol implements the memory model for these sizes.
pub type Verdict = evidence::Verdict<(), Breach, Unknown>;

/// What is wrong.
#[derive(Debug, Clone)]
pub enum Breach {
    /// The memory model is violated.
    MemoryModel(Box<Counterexample>),
    /// The last lemma met a run-time error or a deadlock of the protocol, or the protocol breaks a
    /// claim of its own.
    Protocol,
}

/// Why nothing is known.
#[derive(Debug, Clone)]
pub enum Unknown {
    /// Every lemma holds, but something that they rest on is not established.
    NotEstablished(Vec<Unestablished>),
    /// Every alarm that was looked at is allowed by the memory model: the way of verification is
    /// too strict for this protocol.
    FalseAlarm(Box<Counterexample>),
    /// The search was ended early, for this reason.
    Ended(Reason),
    /// There is no start state: assumptions of the protocol exclude them all.
    NoStart,
}

/// A run that raised an alarm.
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// The number of the lemma, from 0.
    pub lemma: usize,
    /// The claim of the observer that it breaks.
    pub claim: String,
    /// The run of the composed model.
    pub run: Vec<Step>,
    /// Its loads and stores, with unique values.
    pub trace: MemoryTrace,
    /// For `sc`: the nice cycle.
    pub cycle: Option<NiceCycle>,
    /// The trace as the trace checker reads it.
    pub history: History,
    /// What it says about the trace.
    pub judged: judge::Judgement,
    /// What is wrong with a commit of the run, in a sentence: then the order of commits is not that
    /// of the stores, and the alarm says nothing about the memory model.
    pub misuse: Option<String>,
}
