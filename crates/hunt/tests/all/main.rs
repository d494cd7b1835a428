//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod campaign_log;
mod common;
mod coverage;
mod machines;
mod plan;
mod separate;
mod shapes;
