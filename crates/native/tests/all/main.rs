//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

mod cache;
mod constructs;
mod differential;
mod kept_results;
mod orders;
mod portions;
mod recursion;
mod support;
mod undefined;
