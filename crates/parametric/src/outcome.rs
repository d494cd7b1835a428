//! The result of carrying out a plan: how it ended, the claims that were proved or not, with their views
//! and lemmas, and the violation if there is one.

use abstraction::{Exclusion, View, Witness};
use conform::Unestablished;
use explore::Exploration;
use murphi::interpret::Interpreter;
use murphi::source::Source;
use refine::{UsedLemma, Verdict, Verification};
use serde::Serialize;

use crate::plan::{Claim, Plan};
use crate::question::Question;

/// What came of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The claims that were tried, in their order, with what came of each. If one address stood for
    /// all, the one claim that holds.
    pub shown: Vec<ClaimProof>,
    /// How it ended.
    pub end: End,
    /// What the claims that hold rest on and is not established, with its places.
    pub open: Vec<Unestablished>,
    /// What they rest on, is not established, and is assumed because that was asked for.
    pub assumed: Vec<Unestablished>,
    /// How many values they are about, if it is about memory and not any number.
    pub values: Option<u64>,
}

/// How a plan ended.
#[derive(Debug)]
pub enum End {
    /// Nothing is wrong with a definite number of processors: what is known is what claims say.
    Claims,
    /// The protocol as it was written is wrong with so many processors, or raises an alarm.
    Found(Found),
    /// A prepared program is wrong with so many processors, and the protocol is not.
    Unconfirmed {
        /// How many.
        processors: u64,
    },
    /// No start state is one that an observer begins with, or assumptions exclude all of them, so
    /// that nothing was looked at. If there are others, [`Outcome::open`] has them.
    NoStart,
}

/// Something that is wrong with the protocol, with so many processors.
#[derive(Debug)]
pub enum Found {
    /// A verdict on the memory model that is not "verified" or "undecided".
    Memory {
        /// The protocol with so many processors, and its constants.
        source: Source,
        /// The constants.
        options: Box<conform::Options>,
        /// What was found.
        verification: Box<conform::Verification>,
    },
    /// The protocol breaks a claim of its own.
    Own {
        /// How many processors there are.
        processors: u64,
        /// The protocol with so many.
        interpreter: Box<Interpreter>,
        /// What was found.
        exploration: Box<Exploration>,
    },
}

/// A claim with what came of it.
#[derive(Debug)]
pub struct ClaimProof {
    /// The claim.
    pub claim: Claim,
    /// What came of it.
    pub found: Verification,
    /// What was kept of processors.
    pub view: View,
    /// How its program comes from the protocol.
    pub via: Abstracted,
    /// How invariants that ask for some processor are claimed, where the program says so.
    pub witnesses: Vec<Witness>,
}

/// How the program of a claim comes from the protocol.
#[derive(Debug, Clone)]
pub enum Abstracted {
    /// It is the protocol, composed with an observer if it is about memory.
    Composition,
    /// One address stands for all.
    OneAddress(AddressProof),
}

/// What lets one address stand for all.
#[derive(Debug, Clone, Default)]
pub struct AddressProof {
    /// What a processor does at one address at a time, and how that was shown.
    pub exclusions: Vec<ProvedExclusion>,
    /// Lemmas about other addresses, which the program claims of its own one.
    pub lemmas: Vec<UsedLemma>,
    /// With how many processors these lemmas were found, if they were looked for.
    pub processors: Option<u64>,
}

/// That a processor does some things at one address at a time, whatever the number of processors.
#[derive(Debug, Clone)]
pub struct ProvedExclusion {
    /// What it does.
    pub exclusions: Vec<Exclusion>,
    /// What was kept of processors to show it.
    pub view: View,
    /// The lemmas that show it.
    pub lemmas: Vec<UsedLemma>,
}

/// How a verdict was tried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// Random steps of instances that are steps of the abstraction.
    pub steps: u64,
    /// In how many views they were looked at, all together.
    pub views: u64,
    /// With how many processors at most.
    pub processors: u64,
    /// Up to how many processors all states of the protocol were visited, if they were.
    pub searched: Option<u64>,
    /// How many states that were.
    pub states: u64,
}

/// For how many addresses something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// As many as the model has.
    Exactly(u64),
    /// Any number.
    Any,
}

impl ClaimProof {
    /// Whether the claim holds for any number of processors.
    pub fn holds(&self) -> bool {
        matches!(self.found.verdict, Verdict::Holds(()))
    }

    /// Whether nothing was looked at because there is nothing to begin with.
    pub(crate) fn begins_nowhere(&self) -> bool {
        self.found.small.iter().any(|small| small.complete && small.states == 0)
    }

    /// Whether it holds because the abstract program has no states at all.
    pub(crate) fn says_nothing(&self) -> bool {
        let is_empty = |exploration: &explore::Exploration| exploration.states == 0;
        self.holds() && self.found.exploration.as_ref().is_some_and(is_empty)
    }
}

impl Outcome {
    /// What came of it, and what the claims that hold rest on.
    pub(crate) fn new(
        question: &Question<'_>,
        plan: &Plan,
        shown: Vec<ClaimProof>,
        end: End,
    ) -> Self {
        let (mut open, mut assumed, mut values) = (Vec::new(), Vec::new(), None);
        if let Some(grounds) = &plan.grounds {
            let holding = shown.iter().filter(|shown| shown.holds());
            let names: Vec<&str> = holding.map(|shown| &*shown.claim.name).collect();
            (open, assumed) = grounds.of(&names, question.options.assume_independence);
            values = grounds.own_values(&names);
            if matches!(end, End::NoStart) {
                open = grounds.left_out();
            }
        }
        Outcome { shown, end, open, assumed, values }
    }

    /// Whether the claims that were shown answer the question: all of the plan, or one that is
    /// enough, and everything that they rest on. A program of which an invariant was left out does
    /// not count.
    pub fn holds(&self, plan: &Plan) -> bool {
        let holds = |shown: &ClaimProof| shown.holds() && shown.found.left_out.is_empty();
        let is_enough = |shown: &ClaimProof| {
            plan.one_is_enough || matches!(shown.via, Abstracted::OneAddress(_))
        };
        let claims = plan.claims().count();
        let all_hold = self.shown.len() == claims && self.shown.iter().all(holds);
        let one_holds = self.shown.iter().any(|shown| holds(shown) && is_enough(shown));
        matches!(self.end, End::Claims)
            && self.open.is_empty()
            && claims > 0
            && (all_hold || one_holds)
    }
}
