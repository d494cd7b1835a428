//! Depth-first search: into the depth at once, with the path at hand.
//!
//! One thread, the same visited set as breadth-first search with one worker. The successors of a
//! state that are not known yet wait on a stack of packed states; the first rule's is followed
//! first. What is on the path when something wrong is found is the counterexample, long as it may
//! be, and the search stops there and then. A state that was first reached near the bound is not
//! expanded again when it is reached on a shorter way, so a bounded search may miss states that a
//! breadth-first search with this bound visits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use murphi::machine::{Check, Machine, Outcome};

use crate::System;
use crate::arena::reserve;
use crate::counterexample;
use crate::finding::{Finding, Kind};
use crate::hash;
use crate::memory::Meter;
use crate::options::{Deadlock, Options};
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Progress, Reason, Verdict};
use crate::runner::Runner;
use crate::store::{Store, StoreError};
use crate::visited::VisitedSet;
use crate::watch::{Reporter, Watch};

/// States between two looks at the clock.
const LOOK: u64 = 1024;

/// Depth-first search.
pub(crate) fn explore<M, F, C, R>(
    options: &Options,
    system: &System<'_, F, C, R>,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let started = Instant::now();
    let meter = Arc::new(Meter::new(options.memory));
    let watch = Watch::new(1, started);
    let packed = system.codec.packed_size();
    let set = VisitedSet::new(packed, VisitedSet::partition(1), 0, meter.clone());
    let mut search = Search {
        runner: Runner::new(system),
        packed,
        deadlock: options.deadlock,
        bound: options.depth.map_or(usize::MAX, |depth| depth as usize + 1),
        meter: &meter,
        path: Vec::new(),
        pending: Vec::new(),
        frames: Vec::new(),
        found: Exploration::nothing(system.rules),
        stored: 0,
        bounded: false,
        finding: None,
    };
    let mut reporter = Reporter::new(started);
    let mut look = |found: &Exploration, frames: usize| {
        watch.look(options, interrupt);
        let snapshot = || Progress {
            states: found.states,
            rules_fired: found.rules_fired,
            frontier: frames as u64,
            depth: found.depth,
            bytes: meter.used(),
            seconds: started.elapsed().as_secs_f64(),
            rate: 0.0,
        };
        reporter.report(snapshot, progress);
        watch.stopped()
    };
    if let Err(error) = set.and_then(|mut set| search.run(&mut set, &mut look)) {
        watch.fail(error);
    }
    let reason = watch.reason().or(search.bounded.then_some(Reason::Depth));
    search.finish(reason, meter.peak(), started)
}

struct Search<'a, M, C, R: Reduction> {
    runner: Runner<'a, M, C, R>,
    packed: usize,
    deadlock: Deadlock,
    /// How many states a path may have.
    bound: usize,
    meter: &'a Meter,
    /// The packed states from a start state to the current one.
    path: Vec<u8>,
    /// Packed successors that were not known when they were found, the next one last.
    pending: Vec<u8>,
    /// For each state of the path, where its successors begin among those pending.
    frames: Vec<usize>,
    found: Exploration,
    stored: u64,
    bounded: bool,
    finding: Option<Finding>,
}

impl<M: Machine, C: Codec, R: Reduction> Search<'_, M, C, R> {
    fn run(
        &mut self,
        set: &mut VisitedSet,
        look: &mut dyn FnMut(&Exploration, usize) -> bool,
    ) -> Result<(), StoreError> {
        self.runner.start();
        self.push_successors(set, None)?;
        // Room for a packed state and the hint, which this search has no use for.
        let mut record = vec![0; self.packed + 1];
        let mut bottom = 0;
        while self.finding.is_none() {
            if self.pending.len() == bottom {
                // Everything after the current state is done.
                if self.frames.is_empty() {
                    break;
                }
                self.path.truncate(self.path.len() - self.packed);
                self.frames.pop();
                bottom = self.frames.last().copied().unwrap_or(0);
                continue;
            }
            let at = self.pending.len() - self.packed - 1;
            record.copy_from_slice(&self.pending[at..]);
            self.pending.truncate(at);
            let hash = hash::hash(&record[..self.packed], hash::PLACE);
            if set.insert(&record, &[hash])? == 0 {
                continue;
            }
            self.stored += 1;
            if self.stored.is_multiple_of(LOOK) && look(&self.found, self.frames.len()) {
                break;
            }
            if self.visit(set, &record[..self.packed])? {
                bottom = self.frames.last().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Looks at a new state and, if it counts, makes it the current one.
    fn visit(&mut self, set: &VisitedSet, packed: &[u8]) -> Result<bool, StoreError> {
        self.runner.load(packed);
        let check = self.runner.check();
        if check == Check::Excluded {
            return Ok(false);
        }
        self.found.states += 1;
        self.found.depth = self.found.depth.max(self.frames.len() as u32);
        reserve(&mut self.path, self.packed, self.meter)?;
        self.path.extend_from_slice(packed);
        reserve(&mut self.frames, 1, self.meter)?;
        self.frames.push(self.pending.len());
        match check {
            Check::Broken(property) => self.note(Kind::Broken, packed, property, 0),
            Check::Failed(property) => self.note(Kind::PropertyFailed, packed, property, 0),
            _ if self.frames.len() == self.bound => self.bounded = true,
            _ => {
                self.runner.expand();
                self.push_successors(set, Some(packed))?;
            }
        }
        Ok(true)
    }

    /// Pushes what start states, or the rules from `source`, led to, the first one last.
    fn push_successors(
        &mut self,
        set: &VisitedSet,
        source: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let mut leaves = self.deadlock == Deadlock::Off || source.is_none();
        for number in (0..self.runner.successors.firings.len()).rev() {
            let firing = self.runner.successors.firings[number];
            let kind = match (firing.outcome, source) {
                (Outcome::Done, _) => {
                    if source.is_some() {
                        self.found.rules_fired += 1;
                        self.found.firings[firing.rule as usize] += 1;
                    }
                    if source.is_none() || self.runner.changes(number) {
                        leaves = true;
                        self.push_successor(set, number)?;
                    }
                    leaves |= self.deadlock == Deadlock::Stuck;
                    continue;
                }
                (Outcome::Excluded, _) => continue,
                (_, None) => Kind::StartFailed,
                (Outcome::Failed, _) => Kind::RuleFailed,
                (Outcome::GuardFailed, _) => Kind::GuardFailed,
            };
            leaves = true;
            self.note(kind, source.unwrap_or(&[]), firing.rule, firing.instance);
        }
        if let (false, Some(packed)) = (leaves, source) {
            self.note(Kind::Deadlock, packed, 0, 0);
        }
        Ok(())
    }

    fn push_successor(&mut self, set: &VisitedSet, number: usize) -> Result<(), StoreError> {
        let start = self.pending.len();
        reserve(&mut self.pending, self.packed + 1, self.meter)?;
        self.pending.resize(start + self.packed + 1, 0);
        let packed = &mut self.pending[start..start + self.packed];
        self.runner.pack(number, packed);
        if set.contains(packed, hash::hash(packed, hash::PLACE)) {
            self.pending.truncate(start);
        }
        Ok(())
    }

    fn note(&mut self, kind: Kind, packed: &[u8], rule: u32, instance: u64) {
        Finding { kind, packed: packed.to_vec(), rule, instance }.keep_least(&mut self.finding);
    }

    fn finish(mut self, reason: Option<Reason>, bytes: u64, started: Instant) -> Exploration {
        let mut found = self.found;
        found.covered = self.runner.machine.covered().to_vec();
        found.verdict = reason.map_or(Verdict::Verified, Verdict::Undecided);
        if let Some(finding) = &self.finding {
            let states = 0..self.frames.len();
            let state = |at: usize| self.path[at * self.packed..(at + 1) * self.packed].to_vec();
            let way: Vec<Vec<u8>> = states.map(state).collect();
            let (steps, instance) = counterexample::steps(&mut self.runner, &way, finding);
            found.verdict = finding.verdict(instance);
            found.counterexample = steps;
        }
        found.bytes = bytes;
        found.seconds = started.elapsed().as_secs_f64();
        found
    }
}
