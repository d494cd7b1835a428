//! A program run many times on a target: how often each different outcome was seen, and the traces
//! that makes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use history::{Format, History};

use crate::name::TargetName;
use crate::outcome::{Outcome, OutcomeError};
use crate::program::Program;
use crate::target::{RunResult, Runs, Target, TargetError};

/// The number of runs of a program, and their seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The largest number of runs.
    pub runs: u64,
    /// The number of runs between two looks at the clock.
    pub slice: u64,
    /// The time, if it is bounded.
    pub time: Option<Duration>,
    /// Where a target draws at random, it draws from this.
    pub seed: u64,
}

impl Effort {
    /// The default number of runs.
    pub const RUNS: u64 = 100;
    const SLICE: u64 = 1000;
    /// On the host runs are cheap.
    const HOST_RUNS: u64 = 1_000_000;
    const HOST_SLICE: u64 = 1 << 18;

    /// The requested number of runs; by default as many as the time allows, and without a time a
    /// number that suits the target.
    pub fn new(target: &TargetName, runs: Option<u64>, time: Option<Duration>, seed: u64) -> Self {
        let (few, slice) = match target {
            TargetName::Host => (Effort::HOST_RUNS, Effort::HOST_SLICE),
            _ => (Effort::RUNS, Effort::SLICE),
        };
        let runs = runs.unwrap_or(if time.is_some() { u64::MAX } else { few });
        Effort { runs, slice, time, seed }
    }
}

/// What came of a program.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use tribunal_stress::{Effort, Experiment, Machine, TargetName, parse_programs};
///
/// let text = "program SB\n0: M[x] := 1\n0: M[y] ?\n1: M[y] := 1\n1: M[x] ?\nend\n";
/// let test = parse_programs("sb", text)?.remove(0);
/// let target: TargetName = "machine:tso".parse()?;
/// let TargetName::Machine(model) = target else { unreachable!() };
/// let mut seen = Experiment::default();
/// let effort = Effort::new(&target, Some(1000), None, 7);
/// let stop = AtomicBool::new(false);
/// seen.run(&test.program, &mut Machine::new(model), effort, &stop, &mut |_| ())?;
/// assert_eq!((seen.runs, seen.outcomes.len()), (1000, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Experiment {
    /// The number of runs.
    pub runs: u64,
    /// Runs that did not come to an end.
    pub unfinished: u64,
    /// The outcomes with their counts.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Runs as the target recorded them.
    pub recorded: Vec<History>,
    /// The known parts of runs that did not finish.
    pub beginnings: Vec<History>,
}

/// A history, its count, and its outcome, if it is an outcome of a complete run.
pub type Counted<'a> = (History, u64, Option<&'a Outcome>);

impl Experiment {
    /// Runs the program and adds the results. `watch` is called with the number of runs so far.
    pub fn run(
        &mut self,
        program: &Program,
        target: &mut dyn Target,
        effort: Effort,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(u64),
    ) -> Result<(), TargetError> {
        let ends = effort.time.map(|time| Instant::now() + time);
        let (mut left, mut seed) = (effort.runs, effort.seed);
        while left > 0 && !stop.load(Ordering::Relaxed) {
            if self.runs > 0 && ends.is_some_and(|ends| Instant::now() >= ends) {
                break;
            }
            let count = if ends.is_some() { left.min(effort.slice) } else { left };
            target.run(program, Runs { count, seed, stop }, &mut |ran| {
                self.add(ran);
                watch(self.runs);
                ControlFlow::Continue(())
            })?;
            left -= count;
            seed = seed.wrapping_add(1);
        }
        Ok(())
    }

    fn add(&mut self, ran: RunResult) {
        match ran {
            RunResult::Outcome(outcome, count) => {
                self.runs += count;
                *self.outcomes.entry(outcome).or_default() += count;
            }
            RunResult::Recorded(history) => {
                self.runs += 1;
                self.recorded.push(*history);
            }
            RunResult::Unfinished(history) => {
                self.runs += 1;
                self.unfinished += 1;
                self.beginnings.extend(history.map(|history| *history));
            }
        }
    }

    /// Whether no run came to an end: nothing is known then.
    pub fn is_empty(&self) -> bool {
        self.unfinished == self.runs
    }

    /// The number of distinct outcomes of complete runs.
    pub fn different(&self) -> usize {
        self.outcomes.len() + self.recorded.len()
    }

    /// All distinct outcomes as histories, with their counts.
    pub fn histories(&self, program: &Program) -> Result<Vec<Counted<'_>>, OutcomeError> {
        let mut histories = Vec::new();
        for (outcome, &count) in &self.outcomes {
            histories.push((program.history(outcome)?, count, Some(outcome)));
        }
        let recorded = self.recorded.iter().chain(&self.beginnings);
        histories.extend(recorded.map(|history| (history.clone(), 1, None)));
        Ok(histories)
    }

    /// Writes these histories of a program as traces; the text says where each is from.
    pub fn write(
        &self,
        histories: &[Counted<'_>],
        (program, target): (&Program, &TargetName),
        format: Format,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (number, (history, count, _)) in histories.iter().enumerate() {
            if format == Format::Text {
                let times = match count {
                    1 if number >= self.different() => ", unfinished".to_owned(),
                    1 => String::new(),
                    count => format!(", {count} times"),
                };
                writeln!(out, "# {} on {target}{times}", program.name)?;
            }
            format.write_recorded(history, out)?;
        }
        Ok(())
    }
}
