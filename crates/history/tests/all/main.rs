//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod commits;
mod common;
mod common_lines;
mod corpus;
mod diagnostics;
mod mutated_logs;
mod packed;
mod pieces;
mod retain;
mod round_trips;
mod sizes;
mod sources;
mod streaming;
mod text_format;
mod tracegen;
mod workers;
