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

/// The result of carrying out a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The claims that were tried, in order, each with its result. If a claim about one address was
    /// proved, it is the only one.
    pub shown: Vec<ClaimProof>,
    /// How the plan ended.
    pub end: End,
    /// Assumptions that the proved claims need and that are not established, with their places.
    pub open: Vec<Unestablished>,
    /// Assumptions that are not established, and that the user has allowed (`--assume`).
    pub assumed: Vec<Unestablished>,
    /// The number of values that the claims are about, for a memory model; `None` if any number.
    pub values: Option<u64>,
}

/// How a plan ended.
#[derive(Debug)]
pub enum End {
    /// No violation was found in a definite number of processors: the claims decide.
    Claims,
    /// A violation or false alarm of the protocol as written, with a definite number of processors.
    Found(Found),
    /// The prepared program violates a claim with this number of processors, and the protocol does
    /// not.
    Unconfirmed {
        /// The number of processors.
        processors: u64,
    },
    /// The program has no start state, because assumptions or the start of the observer exclude all
    /// of them, so nothing was checked. [`Outcome::open`] lists start states that the observer
    /// cannot begin with.
    NoStart,
}

/// A violation or false alarm of the protocol, with a definite number of processors.
#[derive(Debug)]
pub enum Found {
    /// The answer to the question about the memory model: a violation, a false alarm or a broken
    /// protocol.
    Memory {
        /// The protocol with this number of processors.
        source: Source,
        /// The options, with the constants of this instance.
        options: Box<conform::Options>,
        /// The result of the search.
        verification: Box<conform::Verification>,
    },
    /// An invariant or assertion of the protocol fails.
    Own {
        /// The number of processors.
        processors: u64,
        /// The protocol with this number of processors.
        interpreter: Box<Interpreter>,
        /// The result of the search.
        exploration: Box<Exploration>,
    },
}

/// A claim with its result.
#[derive(Debug)]
pub struct ClaimProof {
    /// The claim.
    pub claim: Claim,
    /// The result of the refinement.
    pub found: Verification,
    /// The concrete processors, and whether one more is known by name.
    pub view: View,
    /// How the program of the claim is derived from the protocol.
    pub via: Abstracted,
    /// How invariants with `exists` over processors are proved by witnesses, if the program uses
    /// witnesses.
    pub witnesses: Vec<Witness>,
}

/// How the program of a claim is derived from the protocol.
#[derive(Debug, Clone)]
pub enum Abstracted {
    /// It is the protocol, or its composition with an observer.
    Composition,
    /// It is the abstraction of addresses to one.
    OneAddress(AddressProof),
}

/// The facts that justify the abstraction of addresses to one.
#[derive(Debug, Clone, Default)]
pub struct AddressProof {
    /// Conditions that hold of a processor at one address at a time, with their proofs.
    pub exclusions: Vec<ProvedExclusion>,
    /// Lemmas about other addresses. The program claims them of its own address.
    pub lemmas: Vec<UsedLemma>,
    /// The number of processors of the instance in which these lemmas were found; `None` without
    /// lemmas.
    pub processors: Option<u64>,
}

/// A proof, for any number of processors, that conditions hold of a processor at one address at a
/// time.
#[derive(Debug, Clone)]
pub struct ProvedExclusion {
    /// The conditions.
    pub exclusions: Vec<Exclusion>,
    /// The view of the proof.
    pub view: View,
    /// The lemmas of the proof.
    pub lemmas: Vec<UsedLemma>,
}

/// The result of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// The number of random steps of instances, each of which is a step of the abstraction.
    pub steps: u64,
    /// The number of views in which each step was checked, over all claims.
    pub views: u64,
    /// The largest number of processors of an instance.
    pub processors: u64,
    /// The largest number of processors whose instance was searched exhaustively, if any was.
    pub searched: Option<u64>,
    /// The number of states of that search.
    pub states: u64,
}

/// The number of addresses that a proof is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The number that the model declares.
    Exactly(u64),
    /// Any number.
    Any,
}

impl ClaimProof {
    /// Whether the claim holds for any number of processors.
    pub fn holds(&self) -> bool {
        matches!(self.found.verdict, Verdict::Holds(()))
    }

    /// Whether nothing was checked because the program has no start state.
    pub(crate) fn has_no_start(&self) -> bool {
        self.found.small.iter().any(|small| small.complete && small.states == 0)
    }

    /// Whether the claim is vacuous: the abstract program has no states.
    pub(crate) fn is_vacuous(&self) -> bool {
        let is_empty = |exploration: &explore::Exploration| exploration.states == 0;
        self.holds() && self.found.exploration.as_ref().is_some_and(is_empty)
    }
}

impl Outcome {
    /// The outcome, with the assumptions of the claims that were proved.
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

    /// Whether the proved claims answer the question: all claims of the plan, or one that is
    /// sufficient, and every assumption that they need. A program without one of its invariants
    /// does not count.
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
