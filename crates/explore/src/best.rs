//! Best-first search: of all states that wait, one that is nearest to a condition comes next.
//!
//! It is for bugs in models that are too large to finish: the condition says where they may be, and
//! `towards.rs` how far away a state is. Of equally near states the one that was found first comes
//! first, so that the search goes breadth-first where the distance says nothing. Counterexamples are
//! not shortest. If nothing is wrong, every state is visited, and the verdict is that of any other
//! search.
//!
//! One thread, so that the order is the same every time. A state costs eight bytes more than in
//! breadth-first search, for where it was reached from, and eight while it waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use murphi::machine::{Check, Machine, Outcome};

use crate::System;
use crate::arena::push;
use crate::counterexample;
use crate::finding::{Finding, Kind};
use crate::hash;
use crate::memory::Meter;
use crate::options::Deadlock;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Nearest, Reason, Verdict, ViolatingRun};
use crate::runner::{Portion, Rules, Runner};
use crate::store::{Numbered, Store, StoreError};
use crate::towards::Distance;
use crate::visited::VisitedSet;
use crate::watch::{Caller, Watch};

/// States between two reports of how far the search is.
const REPORT: u64 = 256;

/// Distances beyond this are alike.
const MOST_QUEUES: usize = 1 << 14;

/// A state: its part of the visited set, and its number there.
type Place = (u32, u32);

/// No state.
const NOWHERE: Place = (u32::MAX, u32::MAX);

/// Best-first search.
pub(crate) fn explore<M, F, C, R>(
    distance: &Distance,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
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
    let set = VisitedSet::new(packed, VisitedSet::partition(1), 0, Arc::clone(&meter));
    let ran = set.map(|set| {
        let mut search = Search {
            runner: Runner::obeying(system, watch.halt()),
            estimator: (system.machine)(),
            distance,
            reached: vec![false; options.goals.len()],
            bound: options.depth.unwrap_or(u32::MAX),
            deadlock: options.deadlock,
            watch: &watch,
            meter: &meter,
            packed,
            parents: set.parts().iter().map(|_| Vec::new()).collect(),
            set,
            open: Vec::new(),
            waiting: 0,
            found: Exploration::nothing(system.rules),
            bounded: false,
            finding: None,
            nearest: None,
        };
        let ended = watch.watch_over(caller, &meter, || search.run());
        if let Err(error) = ended {
            watch.fail(error);
        }
        search.finish(&mut Runner::new(system))
    });
    let mut found = ran.unwrap_or_else(|error| {
        watch.fail(error);
        let verdict = Verdict::Undecided(watch.reason().unwrap_or(Reason::Memory));
        Exploration { verdict, ..Exploration::nothing(system.rules) }
    });
    (found.bytes, found.seconds) = (meter.peak(), started.elapsed().as_secs_f64());
    found
}

struct Search<'a, M, C: Codec, R: Reduction> {
    runner: Runner<'a, M, C, R>,
    /// A machine that looks at the condition only.
    estimator: M,
    distance: &'a Distance,
    reached: Vec<bool>,
    bound: u32,
    deadlock: Deadlock,
    watch: &'a Watch,
    meter: &'a Meter,
    packed: usize,
    set: VisitedSet,
    /// For each part of the set and each of its states, where it was reached from.
    parents: Vec<Vec<Place>>,
    /// States that wait, with their steps from a start state, by their distance.
    open: Vec<VecDeque<(Place, u32)>>,
    waiting: u64,
    found: Exploration,
    bounded: bool,
    finding: Option<(Finding, Place)>,
    nearest: Option<Nearest>,
}

/// A state that was reached, and what its distance is.
struct Reached {
    record: Vec<u8>,
    distance: u32,
}

impl<M: Machine, C: Codec, R: Reduction> Search<'_, M, C, R> {
    fn run(&mut self) -> Result<(), StoreError> {
        self.expand(NOWHERE, 0, &[])?;
        let mut state = Vec::new();
        while self.finding.is_none() && !self.watch.stopped() {
            let Some((place, steps)) = self.open.iter_mut().find_map(VecDeque::pop_front) else {
                break;
            };
            self.waiting -= 1;
            state.clear();
            state.extend_from_slice(self.set.state(place.0 as usize, place.1));
            self.visit(place, steps, &state)?;
        }
        Ok(())
    }

    /// Looks at a state and expands it.
    fn visit(&mut self, place: Place, steps: u32, packed: &[u8]) -> Result<(), StoreError> {
        self.runner.load(packed);
        let check = self.runner.check();
        if check == Check::Excluded || self.watch.stopped() {
            return Ok(());
        }
        self.found.states += 1;
        self.found.depth = self.found.depth.max(steps);
        if self.found.states.is_multiple_of(REPORT) {
            self.publish();
        }
        match check {
            Check::Broken(property) => self.note(Kind::Broken, place, packed, (property, 0)),
            Check::Failed(property) => {
                self.note(Kind::PropertyFailed, place, packed, (property, 0))
            }
            _ if steps >= self.bound => self.bounded = true,
            _ => self.expand(place, steps, packed)?,
        }
        Ok(())
    }

    /// Takes in what start states led to, or rules from a state.
    fn expand(&mut self, from: Place, steps: u32, packed: &[u8]) -> Result<(), StoreError> {
        let source = (from != NOWHERE).then_some(packed);
        let rules = source.map_or(Rules::Start, |_| Rules::Applying);
        let mut leaves = self.deadlock == Deadlock::Off || source.is_none();
        let mut failed: Option<(Kind, (u32, u64))> = None;
        let mut new = Vec::new();
        let mut result = Ok(());
        let Search { runner, estimator, distance, reached, set, watch, found, deadlock, .. } = self;
        let size = self.packed;
        runner.run(rules, |portion| {
            // What was cut short means nothing.
            if result.is_err() || watch.stopped() {
                return;
            }
            for number in 0..portion.firings().len() {
                let firing = portion.firings()[number];
                let kind = match firing.outcome {
                    Outcome::Done => {
                        if source.is_some() {
                            found.rules_fired += 1;
                            found.firings[firing.rule as usize] += 1;
                        }
                        if source.is_none() || portion.changes(number) {
                            leaves = leaves || portion.leaves(number);
                            let distance = estimate(portion, number, estimator, distance, reached);
                            match pack(portion, number, size, set) {
                                Ok(Some(record)) => new.push(Reached { record, distance }),
                                Ok(None) => {}
                                Err(error) => {
                                    watch.halt().store(true, Relaxed);
                                    result = Err(error);
                                    return;
                                }
                            }
                        }
                        leaves |= *deadlock == Deadlock::Stuck;
                        continue;
                    }
                    Outcome::Excluded => continue,
                    _ if source.is_none() => Kind::StartFailed,
                    Outcome::Failed => Kind::RuleFailed,
                    Outcome::GuardFailed => Kind::GuardFailed,
                };
                leaves = true;
                let what = (kind, (firing.rule, firing.instance));
                failed = Some(failed.map_or(what, |least| least.min(what)));
            }
        });
        result?;
        runner.count(self.meter)?;
        if self.watch.stopped() {
            return Ok(());
        }
        let steps = if source.is_some() { steps + 1 } else { 0 };
        for reached in new {
            self.add(from, steps, &reached)?;
        }
        if let Some((kind, what)) = failed {
            self.note(kind, from, packed, what);
        } else if !leaves {
            self.note(Kind::Deadlock, from, packed, (0, 0));
        }
        Ok(())
    }

    /// Adds a state, unless it is known.
    fn add(&mut self, from: Place, steps: u32, reached: &Reached) -> Result<(), StoreError> {
        let packed = &reached.record[..self.packed];
        let hash = hash::hash(packed, hash::PLACE);
        if self.set.insert(&reached.record, &[hash])? == 0 {
            return Ok(());
        }
        let Some((part, number)) = Numbered::find(&self.set, packed, hash) else { return Ok(()) };
        push(&mut self.parents[part], from, self.meter)?;
        let at = (reached.distance as usize).min(MOST_QUEUES - 1);
        if self.open.len() <= at {
            self.open.resize_with(at + 1, VecDeque::new);
        }
        let queue = &mut self.open[at];
        if queue.len() == queue.capacity() {
            let more = queue.len().max(4);
            if !self.meter.take((more * size_of::<(Place, u32)>()) as u64) {
                return Err(StoreError::Memory);
            }
            queue.reserve_exact(more);
        }
        queue.push_back(((part as u32, number), steps));
        self.waiting += 1;
        let nearest = Nearest { distance: reached.distance, steps };
        if self.nearest.is_none_or(|before| nearest.distance < before.distance) {
            self.nearest = Some(nearest);
        }
        Ok(())
    }

    fn note(&mut self, kind: Kind, at: Place, packed: &[u8], (rule, instance): (u32, u64)) {
        let (packed, stored) = (packed.to_vec(), packed.to_vec());
        self.finding = Some((Finding { kind, packed, rule, instance, stored }, at));
    }

    fn publish(&self) {
        let counters = &self.watch.counters[0];
        counters.states.store(self.found.states + self.waiting, Relaxed);
        counters.fired.store(self.found.rules_fired, Relaxed);
        counters.expanded.store(self.found.states, Relaxed);
        self.watch.depth.store(self.found.depth, Relaxed);
    }

    /// What was found, with the way there.
    fn finish(self, runner: &mut Runner<'_, M, C, R>) -> Exploration {
        let reason = self.watch.reason().or(self.bounded.then_some(Reason::Depth));
        let mut found = Exploration {
            verdict: reason.map_or(Verdict::Holds(()), Verdict::Undecided),
            covered: self.runner.machine.covered().to_vec(),
            nearest: self.nearest,
            ..self.found
        };
        if let Some((finding, mut place)) = self.finding {
            let mut way = Vec::new();
            while place != NOWHERE {
                let (part, number) = (place.0 as usize, place.1);
                way.push(self.set.state(part, number).to_vec());
                place = self.parents[part][number as usize];
            }
            way.reverse();
            let (steps, instance) = counterexample::steps(runner, &way, &finding);
            let violation = finding.violation(instance);
            found.verdict = Verdict::Broken(ViolatingRun { violation, steps });
        }
        found
    }
}

/// The distance of a state that a firing led to; the greatest if an atom cannot be evaluated there.
fn estimate<M: Machine, C: Codec, R: Reduction>(
    portion: &Portion<'_, '_, C, R>,
    firing: usize,
    estimator: &mut M,
    distance: &Distance,
    reached: &mut [bool],
) -> u32 {
    match estimator.goals(portion.successor(firing), reached) {
        Ok(()) => distance.of(reached),
        Err(_) => distance.farthest(reached.len()),
    }
}

/// The record of a state that a firing led to, unless the state is known.
fn pack<C: Codec, R: Reduction>(
    portion: &mut Portion<'_, '_, C, R>,
    firing: usize,
    size: usize,
    set: &VisitedSet,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut record = vec![0; size + 1];
    portion.pack(firing, &mut record[..size])?;
    let known = set.contains(&record[..size], hash::hash(&record[..size], hash::PLACE));
    Ok((!known).then_some(record))
}
