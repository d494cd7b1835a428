//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

mod arbitrations_and_views;
mod causal_definitions;
mod causal_proofs_found;
mod clauses;
mod common;
mod derivations;
mod extensions;
mod extensions_attacked;
mod large;
mod machines_and_axioms;
mod orders;
mod store_proofs_found;
mod stronger_runs;
