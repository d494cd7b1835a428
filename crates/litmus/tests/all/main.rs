//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod brute_force;
mod computing;
mod corpus;
mod cycles;
mod every_execution;
mod picks;
mod published;
mod reading;
mod sizes;
mod verdicts;
