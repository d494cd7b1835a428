//! Verification for any number of processors: from a question to a report.
//!
//! A [`Question`] is a protocol with a memory model, or with its own invariants. [`plan`] turns it into
//! steps that can be printed: which claims are abstracted, in which views, and when instances with few
//! processors are searched first. [`carry_out`] executes the steps. Crate `refine` proves a claim, with
//! lemmas that it finds for the abstractions of crate `abstraction`. A violation is reported only with a
//! counterexample of the protocol as written. [`answer`] does all of this and returns a
//! [`report::Report`].
//!
//! Soundness rests on crate `abstraction` alone; this crate decides only what is tried, and in which
//! order. The cost is that of the searches, which the plan bounds by numbers of states, so that a run
//! can be repeated.

mod audit;
mod by_address;
mod carry_out;
mod certificate;
mod emit;
mod instance;
mod outcome;
mod place;
mod plan;
mod projection;
mod question;
pub mod report;
mod simulation;
mod witness;

pub use audit::audit;
pub use carry_out::carry_out;
pub use certificate::certificate;
pub use emit::{emit, with_ranges};
pub use outcome::{
    Abstracted, AddressProof, Addresses, Audit, ClaimProof, End, Found, Outcome, ProvedExclusion,
};
pub use plan::{Claim, OneAddress, Plan, Step, plan};
pub use question::{Failure, Listener, Question};
pub use report::{Answer, AnswerReport, EmittedAbstraction, Unanswered, answer};
pub use simulation::{MissingStep, Simulation};
