//! What the workers of a search found, added up, and the answer that comes of it.
//!
//! Nothing here depends on who found what first: counts are sums, of findings the least one counts,
//! and after a finding only what lies before its level is counted.

use std::collections::BTreeSet;
use std::time::Instant;

use murphi::goal::Goals;
use murphi::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::System;
use crate::counterexample;
use crate::finding::{Finding, Kind};
use crate::growth::{Depths, Growth};
use crate::hash::Partition;
use crate::liveness::{self, Kept};
use crate::memory::Meter;
use crate::reduction::Reduction;
use crate::result::{Exploration, Liveness, PassedOver, Reason, Verdict, ViolatingRun, Violation};
use crate::runner::Runner;
use crate::storage::Storage;
use crate::store::Store;
use crate::watch::{Caller, Watch};
use crate::worker::{Count, Worker};

/// What one worker has found. Processes send it to each other.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkerTotals {
    /// What was counted, and what was before the last level.
    count: Count,
    before: Count,
    /// States of the last level and before it.
    through_level: u64,
    level: u32,
    deepest: u32,
    bounded: bool,
    covered: Vec<bool>,
    finding: Option<Finding>,
    passed_over: BTreeSet<(u32, Finding)>,
    depths: Depths,
    growth: Growth,
}

impl WorkerTotals {
    pub(crate) fn of<M: Machine, C: Storage, R: Reduction, S: Store>(
        worker: &mut Worker<'_, M, C, R, S>,
    ) -> Self {
        WorkerTotals {
            count: std::mem::take(&mut worker.tally.count),
            before: std::mem::take(&mut worker.before),
            through_level: worker.through_level,
            level: worker.level,
            deepest: worker.deepest,
            bounded: worker.bounded,
            covered: worker.runner.machine.covered().to_vec(),
            finding: worker.tally.finding.take(),
            passed_over: std::mem::take(&mut worker.passed_over),
            depths: std::mem::take(&mut worker.depths),
            growth: std::mem::take(&mut worker.growth),
        }
    }
}

/// What all workers together have found.
pub(crate) struct Totals {
    pub(crate) count: Count,
    pub(crate) depth: u32,
    /// The last level that was searched.
    pub(crate) level: u32,
    pub(crate) bounded: bool,
    pub(crate) covered: Vec<bool>,
    pub(crate) finding: Option<Finding>,
    /// What was passed over, with its level.
    pub(crate) passed_over: BTreeSet<(u32, Finding)>,
    /// The representatives on the way to the finding.
    pub(crate) way: Vec<Vec<u8>>,
    /// If the finding is that a goal is out of reach, its number.
    pub(crate) goal: Option<usize>,
    depths: Depths,
    growth: Growth,
}

impl Totals {
    pub(crate) fn new(rules: usize) -> Self {
        Totals {
            count: Count { firings: vec![0; rules], ..Count::default() },
            depth: 0,
            level: 0,
            bounded: false,
            covered: Vec::new(),
            finding: None,
            passed_over: BTreeSet::new(),
            way: Vec::new(),
            goal: None,
            depths: Depths::default(),
            growth: Growth::default(),
        }
    }

    /// Adds up what workers found. So many of what they passed over are kept.
    pub(crate) fn add(
        &mut self,
        workers: impl IntoIterator<Item = WorkerTotals>,
        pass_over: usize,
    ) {
        let mut workers: Vec<WorkerTotals> = workers.into_iter().collect();
        for worker in &mut workers {
            self.passed_over.append(&mut worker.passed_over);
            if let Some(finding) = worker.finding.take() {
                finding.keep_least(&mut self.finding);
            }
        }
        while self.passed_over.len() > pass_over {
            self.passed_over.pop_last();
        }
        // The first worker has counted for all.
        if let Some(first) = workers.first_mut() {
            self.depths = std::mem::take(&mut first.depths);
            self.growth = std::mem::take(&mut first.growth);
        }
        for worker in workers {
            let fired = match self.finding {
                Some(_) => &worker.before,
                None => &worker.count,
            };
            self.count.stored += match self.finding {
                Some(_) => worker.through_level,
                None => worker.count.stored,
            };
            self.count.excluded += worker.count.excluded;
            self.count.fired += fired.fired;
            for (sum, firings) in self.count.firings.iter_mut().zip(&fired.firings) {
                *sum += firings;
            }
            self.depth = self.depth.max(worker.deepest);
            self.level = worker.level;
            self.bounded = worker.bounded;
            self.covered.resize(self.covered.len().max(worker.covered.len()), false);
            for (any, covered) in self.covered.iter_mut().zip(worker.covered) {
                *any |= covered;
            }
        }
    }

    /// After a search that has visited every state: whether each of them has all goals within
    /// reach. If one has not, it is the finding.
    pub(crate) fn liveness<M, F, C, R, S>(
        &mut self,
        system: &System<'_, F, C, R>,
        caller: &mut Caller,
        stores: &[S],
        (partition, watch, meter): (Partition, &Watch, &Meter),
    ) -> Liveness
    where
        M: Machine,
        F: Fn() -> M + Sync,
        C: Storage,
        R: Reduction,
        S: Store,
    {
        let goals = &caller.options.goals;
        let kept = Kept::of(stores, self.level).filter(|_| !goals.is_empty());
        let Some(kept) = kept else { return Liveness::Open };
        let since = Instant::now();
        let (depth, threads) = (self.level, partition.workers);
        let question = liveness::Question { goals, partition, depth, threads, watch, meter };
        let found = watch.watch_over(caller, meter, || kept.check(system, &question));
        let found = found.unwrap_or_else(|error| {
            watch.fail(error);
            None
        });
        self.conclude_liveness(found, watch.reason(), since)
    }

    /// What is known of liveness, given the first state from which a goal is out of reach and why the
    /// decision was ended early, if it was.
    pub(crate) fn conclude_liveness(
        &mut self,
        found: Option<liveness::Found>,
        ended: Option<Reason>,
        since: Instant,
    ) -> Liveness {
        match (found, ended) {
            (None, Some(reason)) => Liveness::Ended(reason),
            (Some(found), _) => {
                self.level = found.level;
                self.goal = (found.finding.kind == Kind::OutOfReach).then_some(found.goal);
                self.finding = Some(found.finding);
                Liveness::Open
            }
            (None, None) => Liveness::Holds { seconds: since.elapsed().as_secs_f64() },
        }
    }

    /// The totals; the verdict as if nothing was found.
    pub(crate) fn exploration(&self, stopped: Option<Reason>) -> Exploration {
        let reason = stopped.or(self.bounded.then_some(Reason::Depth));
        let states = self.count.stored - self.count.excluded;
        let mut depths = self.depths.clone();
        depths.adjust(states, self.level + 1);
        Exploration {
            verdict: reason.map_or(Verdict::Holds(()), Verdict::Undecided),
            states,
            rules_fired: self.count.fired,
            depth: self.depth,
            covered: self.covered.clone(),
            firings: self.count.firings.clone(),
            depths,
            growth: self.growth.clone(),
            ..Exploration::nothing(0)
        }
    }
    /// The answer, given what was passed over and why the search was ended early, if it was.
    pub(crate) fn conclude<M: Machine, C: Storage, R: Reduction>(
        &self,
        runner: &mut Runner<'_, M, C, R>,
        goals: &Goals,
        passed_over: Vec<PassedOver>,
        stopped: Option<Reason>,
    ) -> Exploration {
        let mut exploration = self.exploration(stopped);
        if let Some(finding) = &self.finding {
            let (steps, instance) = counterexample::steps(runner, &self.way, finding);
            let instance = match self.goal {
                Some(goal) => goal_here(runner, goals, goal),
                None => instance,
            };
            let violation = finding.violation(instance);
            exploration.verdict = Verdict::Broken(ViolatingRun { violation, steps });
        } else if let Some(first) = passed_over.first() {
            let violation = Violation::Broken { property: first.property };
            let steps = first.run.clone();
            exploration.verdict = Verdict::Broken(ViolatingRun { violation, steps });
        }
        exploration.passed_over = passed_over;
        exploration
    }
}

/// The instance of a liveness property at the end of a run, where the runner is, that is called
/// `goal` in the names of the representative.
fn goal_here<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    goals: &Goals,
    goal: usize,
) -> u64 {
    let renaming = runner.canonicalize();
    let image = |number: usize| match &renaming {
        Some(renaming) => goals.image(number, |ty, member| renaming.image(ty, member)),
        None => number,
    };
    let here = (0..goals.len()).find(|&number| image(number) == goal);
    goals.get(here.unwrap_or(goal)).instance
}
