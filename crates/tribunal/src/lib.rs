//! Decides whether a shared memory keeps its promise.
//!
//! An execution is a set of events, a memory model says which orders between them must hold, and
//! the question is whether those orders can all hold at once. This crate is the door to the rooms
//! that answer it: [`history`] (what was observed), [`models`] (what is promised), [`mod@judge`] (is
//! the promise kept), [`evidence`] and [`mod@certify`] (is the answer right) and [`report`] (what a
//! person sees).
//!
//! ```
//! use tribunal::{Budget, Certificate, Engine, Evidence, Model, Outcome, parse_text};
//!
//! // Two threads each write one variable and read the other. That both read 0 is impossible in
//! // any interleaving, but every machine with store buffers does it.
//! let history = parse_text(
//!     "0: M[x] := 1
//!      0: M[y] == 0
//!      1: M[y] := 1
//!      1: M[x] == 0",
//! )?;
//! let budget = Budget::unlimited();
//! let tso = tribunal::judge(&history, Model::Tso, Engine::Auto, &budget);
//! assert!(matches!(tso.outcome, Outcome::Holds(_)));
//!
//! let sc = tribunal::judge(&history, Model::Sc, Engine::Auto, &budget);
//! let Outcome::Broken(proof) = sc.outcome else { panic!("a cycle exists") };
//!
//! // Nobody has to trust the engines: a small kernel checks the proof.
//! let evidence = Evidence::Violation(proof);
//! let certificate = Certificate { trace: 1, model: Model::Sc, evidence };
//! tribunal::certify(&history, &certificate)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ::{certify, evidence, history, judge, models, report};

pub use ::certify::{Rejection, certify};
pub use ::evidence::{Certificate, Evidence, Proof, Witness};
pub use ::history::{Builder, History, ReadOptions, TraceReader, parse_text};
pub use ::judge::{Budget, Engine, Judgement, Outcome, ShrinkOptions, Shrunk, judge, shrink};
pub use ::models::Model;
