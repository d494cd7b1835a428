//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

mod common;
mod explanations;
mod lines;
mod verification;
