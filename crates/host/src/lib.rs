//! What this machine's memory does: test programs as machine code on pinned cores.
//!
//! [`Host`] is a [`Target`](stress::Target): each thread of a program becomes straight-line machine code, runs on a
//! core of its own, and is started together with the others thousands of times, at slightly
//! different times, on memory laid out in different ways, with caches in different states. What
//! comes back is how often each outcome was seen.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use std::sync::atomic::AtomicBool;
//! use stress::{Action, Instruction, Place, Program, RunResult, Runs, Target};
//!
//! let thread = |mine, other| {
//!     let store = Action::Store { place: mine, value: 1 };
//!     let load = Action::Load { place: other };
//!     vec![Instruction::plain(store), Instruction::plain(load)]
//! };
//! let program = Program {
//!     name: "SB".into(),
//!     places: vec![Place::named("x", 0), Place::named("y", 1)],
//!     threads: vec![thread(0, 1), thread(1, 0)],
//! };
//! let stop = AtomicBool::new(false);
//! let runs = Runs { count: 1_000_000, seed: 1, stop: &stop };
//! tribunal_host::Host::new()?.run(&program, runs, &mut |ran| {
//!     if let RunResult::Outcome(outcome, times) = ran {
//!         println!("{times:8} {:?}", outcome.reads);
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), stress::TargetError>(())
//! ```
//!
//! [`Host::litmus`] runs litmus tests of herdtools in the same way: their own instructions, on their
//! own registers. [`Observed`] counts their final states and compares them with what models allow.
//!
//! The crate is unsafe where it runs what it has assembled (`arch/*/code.rs`, called from
//! `workers.rs`), where it uses the processor's clock and caches (`arch/*/processor.rs`) and where it
//! pins threads (`cores.rs`).

mod arch;
mod cores;
mod entropy;
mod host;
mod job;
mod litmus;
mod memory;
mod observed;
mod tally;
mod timing;
mod workers;

pub use host::Host;
pub use litmus::Observation;
pub use observed::Observed;
