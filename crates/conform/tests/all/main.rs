//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

mod chosen_constants;
mod commits;
mod foundations;
mod limits;
mod mutants;
mod report;
mod sequential;
mod support;
mod total_store_order;
