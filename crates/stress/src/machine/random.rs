//! A reference machine as a target: runs at random, counted by what they read.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use history::History;

use super::bug::Bug;
use super::compile::Compiled;
use super::rules::MemoryModel;
use super::walk::{Fault, Walk};
use crate::outcome::Outcome;
use crate::program::Program;
use crate::target::{RunResult, Runs, Target, TargetError};
use chance::Rng;

/// A machine that runs programs at random. What it reads satisfies its model by construction,
/// unless it has a bug.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::AtomicBool;
/// use tribunal_stress::{Cycle, Machine, MemoryModel, RunResult, Runs, Target};
///
/// let program = "PodWR Fre PodWR Fre".parse::<Cycle>()?.test().program;
/// let mut machine = Machine::new(MemoryModel::Tso);
/// let mut relaxed = 0;
/// let runs = Runs { count: 1000, seed: 1, stop: &AtomicBool::new(false) };
/// machine.run(&program, runs, &mut |ran| {
///     if let RunResult::Outcome(outcome, count) = ran && outcome.reads == [0, 0] {
///         relaxed += count;
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert!(relaxed > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    model: MemoryModel,
    bug: Option<(Bug, f64)>,
}

/// So many runs are counted together before they are handed over, at most.
const BATCH: u64 = 1 << 14;

/// So many instructions are run before what came of them is handed over, about.
const BATCH_INSTRUCTIONS: u64 = 1 << 20;

impl Machine {
    /// How often a bug strikes where it can by default.
    pub const DEFAULT_RATE: f64 = 0.05;

    /// A machine without a bug.
    pub fn new(model: MemoryModel) -> Self {
        Machine { model, bug: None }
    }

    /// The same machine with a bug that strikes at this rate, from 0 to 1, where it can. An error,
    /// with the reason, if the machine cannot have it.
    pub fn with_bug(self, bug: Bug, rate: f64) -> Result<Self, TargetError> {
        match bug.absent_from(self.model) {
            Some(reason) => Err(TargetError::Unsuitable(reason)),
            None => Ok(Machine { bug: Some((bug, rate)), ..self }),
        }
    }

    /// One run with a recorder attached: the history has its events in the order in which they
    /// retired, which is program order within a thread; a store may reach the memory later.
    pub fn record(&self, program: &Program, seed: u64) -> Result<History, TargetError> {
        program.check()?;
        let compiled = Compiled::new(program, self.model);
        let (outcome, turns) = self.walk(&compiled).record(&mut Rng::new(seed));
        let history = program.recorded(&outcome, turns);
        history.map_err(|error| TargetError::Unsuitable(error.to_string()))
    }

    fn walk<'p>(&self, compiled: &'p Compiled) -> Walk<'p> {
        let fault = self.bug.map(|(bug, rate)| Fault {
            bug,
            chance: (rate.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32,
        });
        Walk::new(compiled, self.model == MemoryModel::Sc, fault)
    }

    /// The model it implements.
    pub fn model(&self) -> MemoryModel {
        self.model
    }
}

impl Target for Machine {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        program.check()?;
        let compiled = Compiled::new(program, self.model);
        let mut walk = self.walk(&compiled);
        let mut rng = Rng::new(runs.seed);
        let batch = (BATCH_INSTRUCTIONS / (program.len() as u64 + 1)).clamp(1, BATCH);
        let mut left = runs.count;
        while left > 0 && !runs.stop.load(Ordering::Relaxed) {
            let mut counts: BTreeMap<Outcome, u64> = BTreeMap::new();
            for _ in 0..left.min(batch) {
                *counts.entry(walk.run(&mut rng)).or_default() += 1;
            }
            left -= left.min(batch);
            for (outcome, count) in counts {
                if receive(RunResult::Outcome(outcome, count)).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
