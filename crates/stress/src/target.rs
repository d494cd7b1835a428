//! What can run a program.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use history::History;

use crate::outcome::Outcome;
use crate::program::{Program, ProgramError};

/// The number of runs of a program, and their seed.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// The number of runs.
    pub count: u64,
    /// Where a target draws at random, it draws from this.
    pub seed: u64,
    /// Ends the runs early when set.
    pub stop: &'a AtomicBool,
}

/// A result of runs.
#[derive(Debug)]
pub enum RunResult {
    /// So many runs read this.
    Outcome(Outcome, u64),
    /// One run, as the target recorded it.
    Recorded(Box<History>),
    /// One run that did not come to an end, as far as it came, if that is known. The beginning of
    /// a run can be judged like a whole one.
    Unfinished(Option<Box<History>>),
}

/// Something that runs programs.
pub trait Target {
    /// Runs a program and hands over results as they arrive, until the number of runs is reached,
    /// the receiver breaks, or `stop` is set.
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError>;
}

/// Why a target did not run a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetError {
    /// The program cannot be run there, and why.
    Unsuitable(String),
    /// The target cannot be used here at all, and why.
    Unavailable(String),
    /// The target crashed, hung or said something that cannot be understood: a finding.
    Misbehaved(String),
}

impl From<ProgramError> for TargetError {
    fn from(error: ProgramError) -> Self {
        TargetError::Unsuitable(error.to_string())
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Unsuitable(why)
            | TargetError::Unavailable(why)
            | TargetError::Misbehaved(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for TargetError {}
