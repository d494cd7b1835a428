//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod bounds;
mod by_definition;
mod by_file;
mod causal;
mod causal_pairs;
mod commit_logs;
mod engines;
mod file_certificates;
mod frontiers;
mod herd;
mod lattice;
mod papers;
mod properties;
mod recorded;
mod replicas;
mod scale;
mod sizes;
mod traces;
