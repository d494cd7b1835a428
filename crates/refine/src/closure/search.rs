//! The exploration behind the closure: states are reached by steps that the rows support, and rows are
//! added by the states that are reached.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use explore::symmetry::{Canonicalizer, Scratch};
use explore::{Engine, Progress, Step};
use murphi::machine::{Check, Firing, Machine, Outcome, Successors};
use rustc_hash::FxHashMap;

use crate::implied_rows::{Abstract, RuleInstance};
use crate::lookup::Lookup;
use crate::observe::Observations;
use crate::reader::Label;
use crate::states::{StateNumber, States};
use crate::vocabulary::Vocabulary;
use crate::{Alarm, Refinement};

/// The largest number of states.
const MOST_STATES: usize = 8_000_000;

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_millis(100);

/// The exploration of the closure.
pub(super) struct Search<'a> {
    current: &'a Abstract,
    vocabularies: Arc<Vec<Vocabulary>>,
    machine: Box<dyn Machine>,
    reduction: Canonicalizer,
    scratch: Scratch,
    size: usize,
    states: States,
    /// The predecessor of each state and the rule that led to it; `None` for start states.
    reached_from: Vec<Option<(StateNumber, u32)>>,
    /// Whether a state is in one of the queues.
    is_waiting: Vec<bool>,
    new: VecDeque<StateNumber>,
    /// States in which a step may have become possible. They are expanded after the new ones,
    /// because the rows of those may make more of their steps possible.
    woken: VecDeque<StateNumber>,
    lookups: Vec<Lookup>,
    /// For each instance of a rule, what is known of it without a state.
    rule_instances: FxHashMap<(u32, u64), Option<RuleInstance>>,
    out: Successors,
    rules_fired: u64,
    started: Instant,
    last_report: Instant,
    states_reported: usize,
    /// A buffer for one row.
    row: Vec<Label>,
}

/// A violation in a state.
pub(super) struct StateViolation {
    state: StateNumber,
    kind: StateViolationKind,
}

#[derive(Debug, Clone, Copy)]
enum StateViolationKind {
    Property(u32),
    /// The rule that fails.
    Rule(u32),
}

impl<'a> Search<'a> {
    pub(super) fn new(
        current: &'a Abstract,
        of: &Refinement<'_, '_>,
        lookups: Vec<Lookup>,
    ) -> Search<'a> {
        let (model, layout) = (current.interpreter.model(), current.interpreter.layout());
        let engine = Engine::sharing(&current.interpreter, &of.code);
        let reduction = Canonicalizer::new(model, layout, of.options.symmetry);
        let size = layout.size as usize;
        let now = Instant::now();
        Search {
            current,
            vocabularies: Arc::clone(&of.vocabularies),
            machine: engine.machine(),
            scratch: Scratch::new(&reduction),
            reduction,
            size,
            states: States::new(engine),
            reached_from: Vec::new(),
            is_waiting: Vec::new(),
            new: VecDeque::new(),
            woken: VecDeque::new(),
            lookups,
            rule_instances: FxHashMap::default(),
            out: Successors::new(size),
            rules_fired: 0,
            started: now,
            last_report: now,
            states_reported: 0,
            row: Vec::new(),
        }
    }

    fn state(&self, number: StateNumber) -> Vec<u8> {
        let mut state = vec![0; self.size];
        self.states.read(number, &mut state);
        state
    }

    /// The next state to expand.
    pub(super) fn next(&mut self) -> Option<StateNumber> {
        let number = self.new.pop_front().or_else(|| self.woken.pop_front())?;
        self.is_waiting[number as usize] = false;
        Some(number)
    }

    pub(super) fn is_too_large(&self, memory: Option<u64>) -> bool {
        let bytes = || self.bytes() as u64;
        self.is_waiting.len() >= MOST_STATES || memory.is_some_and(|memory| bytes() > memory)
    }

    /// The memory in use, in bytes (estimate).
    fn bytes(&self) -> usize {
        let lookups: usize = self.lookups.iter().map(Lookup::bytes).sum();
        self.states.bytes() + 24 * self.is_waiting.len() + lookups
    }

    /// The progress, if it is time to report it.
    pub(super) fn progress(&mut self) -> Option<Progress> {
        let since = self.last_report.elapsed();
        if since < PROGRESS {
            return None;
        }
        let states = self.is_waiting.len();
        let rate = (states - self.states_reported) as f64 / since.as_secs_f64();
        (self.last_report, self.states_reported) = (Instant::now(), states);
        Some(Progress {
            states: states as u64,
            rules_fired: self.rules_fired,
            frontier: (self.new.len() + self.woken.len()) as u64,
            depth: 0,
            bytes: self.bytes() as u64,
            seconds: self.started.elapsed().as_secs_f64(),
            rate,
            processes: Vec::new(),
        })
    }

    /// Adds the start states.
    pub(super) fn start(&mut self) -> Option<StateViolation> {
        let mut out = std::mem::replace(&mut self.out, Successors::new(self.size));
        self.machine.start(&mut out);
        let done = |firing: &Firing| firing.outcome == Outcome::Done;
        let starts = out.firings.iter().enumerate().filter(|(_, firing)| done(firing));
        starts.fold(None, |found, (at, _)| {
            let mut state = out.state(at).to_vec();
            self.reduction.canonicalize(&mut self.scratch, &mut state);
            found.or(self.reach(&state, None))
        })
    }

    /// Expands a state. Returns a violation, if there is one.
    pub(super) fn look_at(
        &mut self,
        number: StateNumber,
        seen: &mut Observations,
    ) -> Option<StateViolation> {
        let state = self.state(number);
        let mut out = std::mem::replace(&mut self.out, Successors::new(self.size));
        out.clear();
        self.machine.expand(&state, &mut out);
        self.rules_fired += out.firings.len() as u64;
        let mut found = None;
        let mut next = Vec::new();
        for (at, firing) in out.firings.iter().enumerate() {
            if firing.outcome == Outcome::GuardFailed {
                continue;
            }
            let is_whole = self.current.other_rule(firing.rule).is_none();
            let key = (firing.rule, firing.instance);
            if !self.rule_instances.contains_key(&key) {
                let rule_instance = self.current.rule_instance(firing.rule, firing.instance);
                self.rule_instances.insert(key, rule_instance);
            }
            if is_whole {
                self.note(key, &state, seen);
            }
            if is_whole && firing.outcome == Outcome::Failed {
                found = Some(StateViolation {
                    state: number,
                    kind: StateViolationKind::Rule(firing.rule),
                });
                break;
            }
            if firing.outcome != Outcome::Done {
                continue;
            }
            next.clear();
            next.extend_from_slice(out.state(at));
            self.reduction.canonicalize(&mut self.scratch, &mut next);
            if self.states.contains(&next) {
                continue;
            }
            if is_whole || self.is_seen(key, &state, number) {
                found = self.reach(&next, Some((number, firing.rule)));
                if found.is_some() {
                    break;
                }
            }
        }
        self.out = out;
        found
    }

    /// Adds the rows of an enabled rule, and wakes the states that wait for them.
    fn note(&mut self, key: (u32, u64), state: &[u8], seen: &mut Observations) {
        let Some(Some(rule_instance)) = self.rule_instances.get(&key) else { return };
        let mut woken = Vec::new();
        for reading in rule_instance.cases.iter().flat_map(|case| &case.readings) {
            self.current.read(rule_instance.vocabulary, reading, state, &mut self.row);
            if seen.rows[rule_instance.vocabulary].add(&self.row) {
                let vocabulary = &self.vocabularies[rule_instance.vocabulary];
                self.lookups[rule_instance.vocabulary].add(vocabulary, &self.row, &mut woken);
            }
        }
        for number in woken {
            if !std::mem::replace(&mut self.is_waiting[number as usize], true) {
                self.woken.push_back(number);
            }
        }
    }

    /// Whether a row of an abstract step is supported. If not, the state is expanded again when one
    /// is.
    fn is_seen(&mut self, key: (u32, u64), state: &[u8], number: StateNumber) -> bool {
        let Some(Some(rule_instance)) = self.rule_instances.get(&key) else { return true };
        let vocabulary = &self.vocabularies[rule_instance.vocabulary];
        let lookup = &mut self.lookups[rule_instance.vocabulary];
        rule_instance.cases.iter().any(|case| {
            case.readings.iter().all(|reading| {
                self.current.read(rule_instance.vocabulary, reading, state, &mut self.row);
                lookup.ask(vocabulary, &self.row, &case.cube, number)
            })
        })
    }

    /// Adds a state, unless it is known or excluded. Returns a violation, if there is one.
    fn reach(&mut self, state: &[u8], from: Option<(StateNumber, u32)>) -> Option<StateViolation> {
        if self.states.contains(state) {
            return None;
        }
        let wrong = match self.machine.check(state) {
            Check::Holds => None,
            Check::Excluded => return None,
            Check::Broken(property) | Check::Failed(property) => Some(property),
        };
        let number = self.states.add(state)?;
        self.reached_from.push(from);
        self.is_waiting.push(true);
        self.new.push_back(number);
        wrong.map(|property| StateViolation {
            state: number,
            kind: StateViolationKind::Property(property),
        })
    }

    /// The alarm of a violation, with its run.
    pub(super) fn alarm(&mut self, wrong: StateViolation) -> Alarm {
        let run = self.run_to(wrong.state);
        let (mut claim, mut failed) = (None, None);
        match wrong.kind {
            StateViolationKind::Property(property) => {
                let model = self.current.interpreter.model();
                claim = Some(model.properties[property as usize].name.clone());
            }
            StateViolationKind::Rule(rule) => {
                let mut out = Successors::new(self.size);
                if let Some(last) = run.last() {
                    self.machine.expand(&last.state, &mut out);
                }
                let fails =
                    |firing: &&Firing| firing.rule == rule && firing.outcome == Outcome::Failed;
                failed = out.firings.iter().find(fails).map(|firing| (rule, firing.instance));
            }
        }
        Alarm { run, claim, failed }
    }

    /// A run to a state, up to symmetry in each of its states.
    fn run_to(&mut self, number: StateNumber) -> Vec<Step> {
        let mut numbers = vec![number];
        let mut rules = Vec::new();
        while let Some((before, rule)) = self.reached_from[numbers[numbers.len() - 1] as usize] {
            numbers.push(before);
            rules.push(rule);
        }
        let mut run: Vec<Step> = Vec::new();
        while let Some(number) = numbers.pop() {
            let mut out = Successors::new(self.size);
            let rule = match run.last() {
                Some(step) => {
                    self.machine.expand(&step.state, &mut out);
                    rules.pop()
                }
                None => {
                    self.machine.start(&mut out);
                    None
                }
            };
            let wanted = self.state(number);
            let found = (0..out.firings.len()).find(|&at| {
                let firing = &out.firings[at];
                let mut state = out.state(at).to_vec();
                self.reduction.canonicalize(&mut self.scratch, &mut state);
                let is_it = rule.is_none_or(|rule| rule == firing.rule);
                is_it && firing.outcome == Outcome::Done && state == wanted
            });
            let Some(at) = found else { break };
            let Firing { rule, instance, .. } = out.firings[at];
            run.push(Step { rule, instance, state: out.state(at).to_vec() });
        }
        run
    }
}
