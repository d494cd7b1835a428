//! The reachable states of an abstraction, extended when lemmas are dropped.
//!
//! Without a lemma, its rule has more transitions, and nothing else changes. So it is enough to fire this
//! rule in all known states and to explore the new states. If a claim fails, it usually fails soon; if
//! not, there are usually few new states. A search from the start states would visit all states again
//! for each lemma.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use abstraction::RuleId;
use explore::symmetry::{Canonicalizer, Scratch};
use explore::{CodeCache, Engine, Progress};
use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::Listener;
use crate::implied_rows::Abstract;
use crate::result::Options;
use crate::states::{StateNumber, States};

/// The number of known states in which rules are fired before the new states are explored. It is
/// small at first, because a violation usually appears at once.
const FIRST_STRETCH: usize = 2_000;
const LONGEST_STRETCH: usize = 400_000;

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_millis(100);

/// The number of states between two checks of the limits.
const PATIENCE: usize = 256;

/// The result of dropping lemmas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RemovalResult {
    /// No claim fails.
    Fine,
    /// This claim fails; `None` if a rule fails.
    StateViolation(Option<String>),
    /// The exploration ended early.
    Unknown,
}

/// The reachable states of an abstraction whose claims hold.
pub(super) struct Reached {
    states: States,
    reduction: Canonicalizer,
    /// Native functions that the candidates share.
    code: CodeCache,
}

/// The limits and the progress of an exploration.
pub(super) struct Watch<'a, 'l> {
    options: &'a Options,
    interrupt: &'a AtomicBool,
    task: String,
    listener: &'a mut Listener<'l>,
    started: Instant,
    last_report: Instant,
    /// The number of states in which rules were fired, now and at the last report.
    looked_at: usize,
    looked_at_then: usize,
    rules_fired: u64,
}

impl<'a, 'l> Watch<'a, 'l> {
    pub(super) fn new(
        options: &'a Options,
        interrupt: &'a AtomicBool,
        task: String,
        listener: &'a mut Listener<'l>,
    ) -> Self {
        let now = Instant::now();
        Watch {
            options,
            interrupt,
            task,
            listener,
            started: now,
            last_report: now,
            looked_at: 0,
            looked_at_then: 0,
            rules_fired: 0,
        }
    }

    /// Whether the limits allow to continue.
    fn go_on(&mut self, states: &States, frontier: usize) -> bool {
        let bytes = states.bytes() as u64;
        if self.interrupt.load(Relaxed)
            || self.options.search.memory.is_some_and(|most| bytes > most)
        {
            return false;
        }
        let since = self.last_report.elapsed();
        if since >= PROGRESS {
            let looked_at = self.looked_at - self.looked_at_then;
            (self.last_report, self.looked_at_then) = (Instant::now(), self.looked_at);
            let progress = Progress {
                states: states.len() as u64,
                rules_fired: self.rules_fired,
                frontier: frontier as u64,
                depth: 0,
                bytes,
                seconds: self.started.elapsed().as_secs_f64(),
                rate: looked_at as f64 / since.as_secs_f64(),
                processes: Vec::new(),
            };
            (self.listener)(&self.task, Some(&progress));
        }
        true
    }
}

impl Reached {
    /// Explores an abstraction. `None` if a claim fails, or if the exploration ended early.
    pub(super) fn new(
        current: &Abstract,
        code: CodeCache,
        watch: &mut Watch<'_, '_>,
    ) -> Option<Reached> {
        let (model, layout) = (current.interpreter.model(), current.interpreter.layout());
        let engine = Engine::sharing(&current.interpreter, &code);
        let mut reached = Reached {
            states: States::new(engine.clone()),
            reduction: Canonicalizer::new(model, layout, watch.options.symmetry),
            code,
        };
        let mut walk = Walk::new(&mut reached, current, &engine);
        let mut found = Successors::new(walk.size);
        walk.machine.start(&mut found);
        let without = walk.explore(0, found, watch);
        matches!(without, RemovalResult::Fine).then_some(reached)
    }

    /// Explores the further states of an abstraction in which these rules have fewer lemmas. If no
    /// claim fails, the states are added.
    pub(super) fn extend(
        &mut self,
        candidate: &Abstract,
        rules: &FxHashSet<RuleId>,
        watch: &mut Watch<'_, '_>,
    ) -> RemovalResult {
        let known = self.states.len();
        let without = self.try_to_extend(candidate, rules, known, watch);
        if !matches!(without, RemovalResult::Fine) {
            self.states.shorten(known);
        }
        without
    }

    fn try_to_extend(
        &mut self,
        candidate: &Abstract,
        rules: &FxHashSet<RuleId>,
        known: usize,
        watch: &mut Watch<'_, '_>,
    ) -> RemovalResult {
        let Some(changed) = only(candidate, rules) else { return RemovalResult::Unknown };
        let changed = Engine::sharing(&changed, &self.code);
        let mut engine = None;
        let (mut at, mut stretch) = (0, FIRST_STRETCH);
        while at < known {
            let end = (at + stretch).min(known);
            let threads = watch.options.search.threads;
            let Some((found, fired)) = self.steps_outside(&changed, at..end, threads) else {
                return RemovalResult::StateViolation(None);
            };
            watch.looked_at += end - at;
            watch.rules_fired += fired;
            if !found.firings.is_empty() {
                let engine = engine
                    .get_or_insert_with(|| Engine::sharing(&candidate.interpreter, &self.code));
                let first = self.states.len();
                match Walk::new(self, candidate, engine).explore(first, found, watch) {
                    RemovalResult::Fine => {}
                    without => return without,
                }
            }
            if !watch.go_on(&self.states, known - end) {
                return RemovalResult::Unknown;
            }
            (at, stretch) = (end, (2 * stretch).min(LONGEST_STRETCH));
        }
        RemovalResult::Fine
    }

    /// The unknown successors of a range of states, and the number of rules fired; `None` if a rule
    /// fails.
    fn steps_outside(
        &self,
        engine: &Engine,
        range: Range<usize>,
        threads: usize,
    ) -> Option<(Successors, u64)> {
        let share = range.len().div_ceil(threads.max(1)).max(1);
        let shares = range.clone().step_by(share).map(|at| at..(at + share).min(range.end));
        let found = std::thread::scope(|scope| {
            let run = |part| scope.spawn(move || self.steps_of_one_thread(engine, part));
            let running: Vec<_> = shares.map(run).collect();
            let results = running.into_iter().map(|thread| thread.join().unwrap_or(None));
            results.collect::<Option<Vec<(Successors, u64)>>>()
        })?;
        let (mut all, mut fired) = (Successors::new(engine.state_size()), 0);
        for (mut part, of_part) in found {
            all.states.append(&mut part.states);
            all.firings.append(&mut part.firings);
            fired += of_part;
        }
        Some((all, fired))
    }

    fn steps_of_one_thread(
        &self,
        engine: &Engine,
        range: Range<usize>,
    ) -> Option<(Successors, u64)> {
        let size = engine.state_size();
        let mut machine = engine.machine();
        let mut scratch = Scratch::new(&self.reduction);
        let (mut state, mut out) = (vec![0; size], Successors::new(size));
        let mut found = Successors::new(size);
        let (mut next, mut fired) = (Vec::with_capacity(size), 0);
        for number in range {
            self.states.read(number as StateNumber, &mut state);
            out.clear();
            machine.expand(&state, &mut out);
            fired += out.firings.len() as u64;
            for (at, firing) in out.firings.iter().enumerate() {
                match firing.outcome {
                    Outcome::Excluded => continue,
                    Outcome::Failed | Outcome::GuardFailed => return None,
                    Outcome::Done => {}
                }
                next.clear();
                next.extend_from_slice(out.state(at));
                self.reduction.canonicalize(&mut scratch, &mut next);
                if !self.states.contains(&next) {
                    found.states.extend_from_slice(&next);
                    found.firings.push(*firing);
                }
            }
        }
        Some((found, fired))
    }
}

/// An abstraction with only the abstract instances of these rules: lemmas strengthen no others.
fn only(candidate: &Abstract, rules: &FxHashSet<RuleId>) -> Option<Interpreter> {
    let mut model = (**candidate.interpreter.model()).clone();
    let origins = &candidate.abstraction.origins;
    let mut number = 0;
    model.rules.retain(|_| {
        let (rule, other) = origins[number];
        number += 1;
        other.is_some() && rules.contains(&rule)
    });
    model.properties.clear();
    Interpreter::new(Arc::new(model)).ok()
}

/// An exploration that extends the known states.
struct Walk<'a> {
    reached: &'a mut Reached,
    candidate: &'a Abstract,
    machine: Box<dyn Machine>,
    scratch: Scratch,
    size: usize,
}

impl<'a> Walk<'a> {
    fn new(reached: &'a mut Reached, candidate: &'a Abstract, engine: &Engine) -> Walk<'a> {
        let scratch = Scratch::new(&reached.reduction);
        let (machine, size) = (engine.machine(), engine.state_size());
        Walk { reached, candidate, machine, scratch, size }
    }

    /// Explores from `found` on. The states from number `first` on have not been expanded.
    fn explore(
        &mut self,
        first: usize,
        found: Successors,
        watch: &mut Watch<'_, '_>,
    ) -> RemovalResult {
        if let Err(claim) = self.reach_all(found) {
            return RemovalResult::StateViolation(claim);
        }
        let mut state = vec![0; self.size];
        let mut number = first;
        while number < self.reached.states.len() {
            let waiting = self.reached.states.len() - number;
            if number.is_multiple_of(PATIENCE) && !watch.go_on(&self.reached.states, waiting) {
                return RemovalResult::Unknown;
            }
            self.reached.states.read(number as StateNumber, &mut state);
            let mut found = Successors::new(self.size);
            self.machine.expand(&state, &mut found);
            watch.looked_at += 1;
            watch.rules_fired += found.firings.len() as u64;
            if let Err(claim) = self.reach_all(found) {
                return RemovalResult::StateViolation(claim);
            }
            number += 1;
        }
        RemovalResult::Fine
    }

    /// Adds states, unless they are known or excluded. Returns a violation, if there is one.
    fn reach_all(&mut self, mut found: Successors) -> Result<(), Option<String>> {
        for at in 0..found.firings.len() {
            match found.firings[at].outcome {
                Outcome::Excluded => continue,
                Outcome::Failed | Outcome::GuardFailed => return Err(None),
                Outcome::Done => {}
            }
            let state = &mut found.states[at * self.size..][..self.size];
            self.reached.reduction.canonicalize(&mut self.scratch, state);
            if self.reached.states.contains(state) {
                continue;
            }
            match self.machine.check(state) {
                Check::Excluded => {}
                Check::Holds => {
                    self.reached.states.add(state);
                }
                Check::Broken(property) | Check::Failed(property) => {
                    let model = self.candidate.interpreter.model();
                    return Err(Some(model.properties[property as usize].name.clone()));
                }
            }
        }
        Ok(())
    }
}
