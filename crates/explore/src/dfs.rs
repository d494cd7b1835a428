//! Depth-first search: into the depth at once, with the path at hand.
//!
//! One thread, the same visited set as breadth-first search with one worker. The successors of a
//! state that are not known yet wait on a stack of packed states; the first rule's is followed
//! first. What is on the path when something wrong is found is the counterexample, long as it may
//! be, and the search stops there and then. A state that was first reached near the bound is not
//! expanded again when it is reached on a shorter way, so a bounded search may miss states that a
//! breadth-first search with this bound visits.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use murphi::machine::{Check, Machine, Outcome};

use crate::System;
use crate::arena::reserve;
use crate::counterexample;
use crate::finding::{Finding, Kind};
use crate::hash;
use crate::memory::Meter;
use crate::options::Deadlock;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Reason, Verdict, ViolatingRun};
use crate::runner::{Portion, Rules, Runner};
use crate::store::{Store, StoreError};
use crate::visited::VisitedSet;
use crate::watch::{Caller, Watch};

/// States between two reports of how far the search is.
const REPORT: u64 = 1024;

/// Depth-first search.
pub(crate) fn explore<M, F, C, R>(system: &System<'_, F, C, R>, caller: &mut Caller) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let started = Instant::now();
    let options = caller.options;
    let meter = Arc::new(Meter::new(options.memory));
    let watch = Watch::new(1, started);
    let packed = system.codec.packed_size();
    let set = VisitedSet::new(packed, VisitedSet::partition(1), 0, meter.clone());
    let mut search = Search {
        runner: Runner::obeying(system, watch.halt()),
        watch: &watch,
        meter: &meter,
        bound: options.depth.map_or(usize::MAX, |depth| depth as usize + 1),
        way: Way { packed, deadlock: options.deadlock, ..Way::new(system.rules) },
        stored: 0,
        bounded: false,
    };
    let ran = set.and_then(|mut set| watch.watch_over(caller, &meter, || search.run(&mut set)));
    if let Err(error) = ran {
        watch.fail(error);
    }
    let reason = watch.reason().or(search.bounded.then_some(Reason::Depth));
    let covered = search.runner.machine.covered().to_vec();
    let found = search.way.finish(reason, &mut Runner::new(system));
    let (bytes, seconds) = (meter.peak(), started.elapsed().as_secs_f64());
    Exploration { covered, bytes, seconds, ..found }
}

struct Search<'a, M, C: Codec, R: Reduction> {
    runner: Runner<'a, M, C, R>,
    watch: &'a Watch,
    meter: &'a Meter,
    /// How many states a path may have.
    bound: usize,
    way: Way,
    stored: u64,
    bounded: bool,
}

/// Where the search is, and what it has found.
struct Way {
    packed: usize,
    deadlock: Deadlock,
    /// The packed states from a start state to the current one.
    path: Vec<u8>,
    /// Packed successors that were not known when they were found, the next one last.
    pending: Vec<u8>,
    /// For each state of the path, where its successors begin among those pending.
    frames: Vec<usize>,
    found: Exploration,
    finding: Option<Finding>,
}

impl<M: Machine, C: Codec, R: Reduction> Search<'_, M, C, R> {
    fn run(&mut self, set: &mut VisitedSet) -> Result<(), StoreError> {
        let packed = self.way.packed;
        self.push_successors(set, None)?;
        // Room for a packed state and the hint, which this search has no use for.
        let mut record = vec![0; packed + 1];
        let mut bottom = 0;
        while self.way.finding.is_none() && !self.watch.stopped() {
            let way = &mut self.way;
            if way.pending.len() == bottom {
                // Everything after the current state is done.
                if way.frames.is_empty() {
                    break;
                }
                way.path.truncate(way.path.len() - packed);
                way.frames.pop();
                bottom = way.frames.last().copied().unwrap_or(0);
                continue;
            }
            let at = way.pending.len() - packed - 1;
            record.copy_from_slice(&way.pending[at..]);
            way.pending.truncate(at);
            let hash = hash::hash(&record[..packed], hash::PLACE);
            if set.insert(&record, &[hash])? == 0 {
                continue;
            }
            self.stored += 1;
            if self.stored.is_multiple_of(REPORT) {
                self.publish();
            }
            if self.visit(set, &record[..packed])? {
                bottom = self.way.frames.last().copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Looks at a new state and, if it counts, makes it the current one.
    fn visit(&mut self, set: &VisitedSet, packed: &[u8]) -> Result<bool, StoreError> {
        self.runner.load(packed);
        let check = self.runner.check();
        if check == Check::Excluded || self.watch.stopped() {
            return Ok(false);
        }
        let way = &mut self.way;
        way.found.states += 1;
        way.found.depth = way.found.depth.max(way.frames.len() as u32);
        reserve(&mut way.path, way.packed, self.meter)?;
        way.path.extend_from_slice(packed);
        reserve(&mut way.frames, 1, self.meter)?;
        way.frames.push(way.pending.len());
        match check {
            Check::Broken(property) => way.note(Kind::Broken, packed, property, 0),
            Check::Failed(property) => way.note(Kind::PropertyFailed, packed, property, 0),
            _ if way.frames.len() == self.bound => self.bounded = true,
            _ => self.push_successors(set, Some(packed))?,
        }
        Ok(true)
    }

    /// Pushes what start states, or the rules from `source`, led to, the first one last.
    fn push_successors(
        &mut self,
        set: &VisitedSet,
        source: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let Search { runner, watch, meter, way, .. } = self;
        let rules = source.map_or(Rules::Start, |_| Rules::Applying);
        let first = way.pending.len();
        let mut leaves = way.deadlock == Deadlock::Off || source.is_none();
        let mut result = Ok(());
        runner.run(rules, |portion| {
            // What was cut short means nothing.
            if result.is_ok() && !watch.stopped() {
                match way.take(portion, set, source, meter) {
                    Ok(left) => leaves |= left,
                    Err(error) => {
                        watch.halt().store(true, Relaxed);
                        result = Err(error);
                    }
                }
            }
        });
        result?;
        runner.count(meter)?;
        if let (false, Some(packed), false) = (leaves, source, watch.stopped()) {
            way.note(Kind::Deadlock, packed, 0, 0);
        }
        way.reverse_pending(first);
        Ok(())
    }

    fn publish(&self) {
        let (counters, found) = (&self.watch.counters[0], &self.way.found);
        counters.states.store(found.states, Relaxed);
        counters.fired.store(found.rules_fired, Relaxed);
        counters.expanded.store(found.states - self.way.frames.len() as u64, Relaxed);
        self.watch.depth.store(found.depth, Relaxed);
    }
}

impl Way {
    fn new(rules: usize) -> Self {
        Way {
            packed: 0,
            deadlock: Deadlock::Off,
            path: Vec::new(),
            pending: Vec::new(),
            frames: Vec::new(),
            found: Exploration::nothing(rules),
            finding: None,
        }
    }

    /// Pushes the successors of a portion, in order, and keeps what is wrong. Says whether the
    /// state they come from can be left.
    fn take<C: Codec, R: Reduction>(
        &mut self,
        portion: &mut Portion<'_, '_, C, R>,
        set: &VisitedSet,
        source: Option<&[u8]>,
        meter: &Meter,
    ) -> Result<bool, StoreError> {
        let mut leaves = false;
        for number in 0..portion.firings().len() {
            let firing = portion.firings()[number];
            let kind = match (firing.outcome, source) {
                (Outcome::Done, _) => {
                    if source.is_some() {
                        self.found.rules_fired += 1;
                        self.found.firings[firing.rule as usize] += 1;
                    }
                    if source.is_none() || portion.changes(number) {
                        leaves = leaves || source.is_none() || portion.leaves(number);
                        self.push_successor(portion, set, number, meter)?;
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
        Ok(leaves)
    }

    fn push_successor<C: Codec, R: Reduction>(
        &mut self,
        portion: &mut Portion<'_, '_, C, R>,
        set: &VisitedSet,
        number: usize,
        meter: &Meter,
    ) -> Result<(), StoreError> {
        let start = self.pending.len();
        reserve(&mut self.pending, self.packed + 1, meter)?;
        self.pending.resize(start + self.packed + 1, 0);
        let packed = &mut self.pending[start..start + self.packed];
        portion.pack(number, packed)?;
        if set.contains(packed, hash::hash(packed, hash::PLACE)) {
            self.pending.truncate(start);
        }
        Ok(())
    }

    /// Reverses the order of what is pending from `first` on.
    fn reverse_pending(&mut self, first: usize) {
        let (record, records) = (self.packed + 1, &mut self.pending[first..]);
        // All bytes, and then each record again.
        records.reverse();
        records.chunks_exact_mut(record).for_each(<[u8]>::reverse);
    }

    fn note(&mut self, kind: Kind, packed: &[u8], rule: u32, instance: u64) {
        let (packed, stored) = (packed.to_vec(), packed.to_vec());
        Finding { kind, packed, rule, instance, stored }.keep_least(&mut self.finding);
    }

    fn finish<M: Machine, C: Codec, R: Reduction>(
        self,
        reason: Option<Reason>,
        runner: &mut Runner<'_, M, C, R>,
    ) -> Exploration {
        let mut found = self.found;
        found.verdict = reason.map_or(Verdict::Holds(()), Verdict::Undecided);
        if let Some(finding) = &self.finding {
            let states = 0..self.frames.len();
            let state = |at: usize| self.path[at * self.packed..(at + 1) * self.packed].to_vec();
            let way: Vec<Vec<u8>> = states.map(state).collect();
            let (steps, instance) = counterexample::steps(runner, &way, finding);
            let violation = finding.violation(instance);
            found.verdict = Verdict::Broken(ViolatingRun { violation, steps });
        }
        found
    }
}
