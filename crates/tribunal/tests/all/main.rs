//! The tests of this crate that see it from outside, one module for each subject.
//!
//! They are one program: linking a program for each takes longer than running most of them.

#![allow(clippy::unwrap_used)] // a test may fail

mod any_processors;
mod architecture;
mod axe;
mod certify;
mod certify_protocol;
mod charts;
mod check;
mod checkpoint;
mod ci;
mod cluster;
mod common;
mod convert;
mod established;
mod examples;
mod explore;
mod explore_limits;
mod explore_replay;
mod generate;
mod hostile;
mod hunt;
mod interface;
#[cfg(unix)]
mod interrupted;
mod litmus;
mod live;
mod model_files;
mod pages;
mod printed;
mod protocols;
mod readme;
mod recorded;
mod recorded_protocols;
mod run;
mod shrink;
mod stream;
mod verify;
mod verify_grounds;
