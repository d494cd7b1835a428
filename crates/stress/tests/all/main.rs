//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod both_halves;
mod bugs;
mod crosscheck;
mod exec;
mod formats;
mod generators;
mod machines;
mod packets;
mod programs;
mod protocol;
mod recorded;
