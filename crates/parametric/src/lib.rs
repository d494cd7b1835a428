//! How is it shown for any number of processors?
//!
//! A [`Question`] is a protocol with a memory model, or with its own invariants. [`plan`] says what
//! will be done about it, as steps that can be printed: which claims are abstracted, in which views,
//! and where few processors are searched first. [`carry_out`] does it. A claim is shown by crate
//! `refine`, which finds lemmas for crate `abstraction`; a violation is reported only with a run of
//! the protocol as it was written. [`answer`] carries a plan out and makes a [`report::Report`] of it.

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
pub use outcome::{AddressProof, Addresses, Audit, End, Excluded, Found, Outcome, Shown, Via};
pub use plan::{Claim, OneAddress, Plan, Step, plan};
pub use question::{Failure, Listener, Question};
pub use report::{Answer, Told, Unanswered, answer};
pub use simulation::{Simulation, Unseen};
