//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

mod breadth;
mod brute_force;
mod cluster;
mod disk;
mod liveness;
mod liveness_together;
mod messages;
mod order_of_members;
mod orders;
mod portions;
mod renaming;
mod sketch;
mod state_graph;
mod strategies;
mod stress;
mod symmetric_programs;
mod symmetric_types;
mod symmetry;
mod symmetry_oracle;
mod symmetry_protocols;
mod symmetry_support;
mod towards;
mod toys;
