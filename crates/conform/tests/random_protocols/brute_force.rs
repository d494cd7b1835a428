//! All memory traces of a protocol up to a length, by running its text with the reference
//! interpreter.
//!
//! Breadth first over pairs of a state and a trace, where a trace is what each processor did in its
//! order, and which of its stores are pending: two runs that differ in the interleaving alone meet.
//! Nothing of the code under test is used: marks print their events, and the printed lines are read
//! back. A load that repeats the last event of its processor is not counted again, since it can
//! always be placed beside that.
//!
//! Pairs are many and states few, so a state is run once: states, traces and lists of pending stores
//! have numbers, and what follows from them is kept.

use std::collections::VecDeque;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::source::Source;
use murphi::value::State;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::{self, Event, Trace};

/// How far to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most events of a trace.
    pub(crate) events: usize,
    /// The most pairs of state and trace.
    pub(crate) pairs: usize,
    /// The most rules that are run.
    pub(crate) runs: usize,
    /// What has to be found before the search may end.
    pub(crate) wanted: Wanted,
    /// Whether processors and addresses can be exchanged. Then the first event is one of the first
    /// processor at the first address: every other run is such a run but for names.
    pub(crate) symmetric: bool,
    /// Whether values are only copied. Then a trace is looked at only if no two stores to an address
    /// store the same value, and none what was there at first: runs with other values are such runs
    /// in which some values are taken for one.
    pub(crate) differentiated: bool,
}

/// Which forbidden traces are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One that is not sequentially consistent.
    NotSc,
    /// And one in which no store is pending.
    Settled,
    /// And one that total store order forbids.
    NotTso,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// A shortest trace that is not sequentially consistent.
    pub(crate) not_sc: Option<Trace>,
    /// A shortest trace that total store order forbids.
    pub(crate) not_tso: Option<Trace>,
    /// Whether a trace in which no store is pending is not sequentially consistent.
    pub(crate) settled: bool,
    /// Whether all pairs up to the length were looked at.
    pub(crate) complete: bool,
    /// Whether a rule or start state failed.
    pub(crate) fails: bool,
}

/// Answers about traces that were asked before.
#[derive(Default)]
pub(crate) struct Known(FxHashMap<(Trace, bool), bool>);

impl Known {
    /// The most answers that are kept.
    const MOST: usize = 400_000;

    pub(crate) fn allows(&mut self, trace: &Trace, queues: bool) -> bool {
        if self.0.len() > Known::MOST {
            self.0.clear();
        }
        let answer = || machine::allows(trace, queues);
        *self.0.entry((trace.clone(), queues)).or_insert_with(answer)
    }
}

/// The protocol of a text, ready to be run; the first complaint if there is one.
pub(crate) fn interpreter(text: &str) -> Result<Interpreter, String> {
    let source = Source { name: "protocol.m".to_owned(), text: text.to_owned() };
    let checked = murphi::load(source, &murphi::check::Options::default())
        .map_err(|found| found.first().map_or_else(String::new, |first| first.message.clone()))?;
    Interpreter::new(Arc::new(checked.model)).map_err(|why| format!("{why:?}"))
}

/// Looks for traces that a memory model forbids.
pub(crate) fn search(interpreter: &Interpreter, limits: Limits, known: &mut Known) -> Found {
    let mut search = Search {
        interpreter,
        limits,
        found: Found { complete: true, ..Found::default() },
        runs: limits.runs,
        states: Numbered::default(),
        traces: Numbered::default(),
        pending: Numbered::default(),
        outputs: Numbered::default(),
        steps: FxHashMap::default(),
        longer: FxHashMap::default(),
        settling: FxHashMap::default(),
    };
    let mut seen = FxHashSet::default();
    let mut open: VecDeque<Node> = search.starts().into();
    while let Some(node) = open.pop_front() {
        for &(state, output) in &*search.successors(node.state) {
            let Some(next) = search.after(node, state, output) else { continue };
            if !seen.insert(next) {
                continue;
            }
            if next.trace != node.trace && search.refused(next, known) {
                return search.found;
            }
            open.push_back(next);
        }
        if seen.len() >= limits.pairs || search.runs == 0 {
            search.found.complete = false;
            return search.found;
        }
    }
    search.found
}

/// Values with numbers, each once.
struct Numbered<T> {
    values: Vec<Rc<T>>,
    numbers: FxHashMap<Rc<T>, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Hash + Eq> Numbered<T> {
    fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let (value, number) = (Rc::new(value), self.values.len() as u32);
        self.values.push(Rc::clone(&value));
        self.numbers.insert(value, number);
        number
    }

    fn of(&self, number: u32) -> Rc<T> {
        Rc::clone(&self.values[number as usize])
    }
}

/// Where a run has led, by numbers: the state, the trace, and the stores that were not committed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    state: u32,
    trace: u32,
    pending: u32,
}

/// The states that a state leads to, each with what was printed on the way, by numbers.
type Steps = Rc<Vec<(u32, u32)>>;

struct Search<'a> {
    interpreter: &'a Interpreter,
    limits: Limits,
    found: Found,
    /// How many more rules may be run.
    runs: usize,
    states: Numbered<State>,
    traces: Numbered<Trace>,
    pending: Numbered<Vec<String>>,
    outputs: Numbered<String>,
    /// Of a state.
    steps: FxHashMap<u32, Steps>,
    /// The trace after a trace and an output, if it is looked at, and the pending stores after
    /// pending stores and an output.
    longer: FxHashMap<(u32, u32), Option<u32>>,
    settling: FxHashMap<(u32, u32), u32>,
}

impl Search<'_> {
    fn starts(&mut self) -> Vec<Node> {
        let model = self.interpreter.model();
        let (trace, pending) =
            (self.traces.number(Trace::default()), self.pending.number(Vec::new()));
        let mut starts = Vec::new();
        for (number, rule) in model.start_states.iter().enumerate() {
            for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
                let run = self.interpreter.start(number, instance);
                match run.end {
                    End::Done(state) => {
                        let state = self.states.number(state);
                        let output = self.outputs.number(run.output);
                        starts.extend(self.after(Node { state, trace, pending }, state, output));
                    }
                    _ => self.found.fails = true,
                }
            }
        }
        starts
    }

    fn successors(&mut self, state: u32) -> Steps {
        if let Some(steps) = self.steps.get(&state) {
            return Rc::clone(steps);
        }
        let (model, from) = (self.interpreter.model(), self.states.of(state));
        let mut steps = Vec::new();
        for (number, rule) in model.rules.iter().enumerate() {
            for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
                self.runs = self.runs.saturating_sub(1);
                let run = self.interpreter.run_rule(&from, number, instance);
                match run.end {
                    End::Done(next) => {
                        steps.push((self.states.number(next), self.outputs.number(run.output)));
                    }
                    End::Failed(_) | End::GuardFailed(_) => self.found.fails = true,
                    End::Disabled | End::Excluded => {}
                }
            }
        }
        let steps = Rc::new(steps);
        self.steps.insert(state, Rc::clone(&steps));
        steps
    }

    /// After a step that has led to another state and printed its events, if that is looked at.
    fn after(&mut self, node: Node, state: u32, output: u32) -> Option<Node> {
        let Search { limits, traces, pending, outputs, longer, settling, .. } = self;
        let trace = *longer.entry((node.trace, output)).or_insert_with(|| {
            let trace = extended(&traces.of(node.trace), &outputs.of(output));
            let is_another = (limits.symmetric && !trace.begins_with_the_first())
                || (limits.differentiated && !trace.is_differentiated());
            let is_looked_at = trace.length() <= limits.events && !is_another;
            is_looked_at.then(|| traces.number(trace))
        });
        let pending = *settling.entry((node.pending, output)).or_insert_with(|| {
            pending.number(unsettled(&pending.of(node.pending), &outputs.of(output)))
        });
        Some(Node { state, trace: trace?, pending })
    }

    /// Keeps a trace that is forbidden. Returns whether there is nothing more to look for.
    fn refused(&mut self, node: Node, known: &mut Known) -> bool {
        let trace = self.traces.of(node.trace);
        if known.allows(&trace, false) {
            return false;
        }
        self.found.not_sc.get_or_insert_with(|| Trace::clone(&trace));
        self.found.settled |= self.pending.of(node.pending).is_empty();
        // What total store order forbids is not sequentially consistent either.
        if self.found.not_tso.is_none() && !known.allows(&trace, true) {
            self.found.not_tso = Some(Trace::clone(&trace));
        }
        match self.limits.wanted {
            Wanted::NotSc => true,
            Wanted::Settled => self.found.settled,
            Wanted::NotTso => self.found.not_tso.is_some(),
        }
    }
}

/// The stores that are not committed after a step that has printed its events.
fn unsettled(pending: &[String], output: &str) -> Vec<String> {
    let mut pending = pending.to_vec();
    for line in output.lines() {
        if let Some(store) = line.strip_prefix("store ") {
            pending.push(store.to_owned());
        } else if let Some(commit) = line.strip_prefix("commit ")
            && let Some(at) = pending.iter().position(|store| store == commit)
        {
            pending.remove(at);
        }
    }
    pending.sort();
    pending
}

/// A trace with the events that a step has printed.
fn extended(trace: &Trace, output: &str) -> Trace {
    let mut longer = trace.clone();
    for line in output.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        let mut next = || words.next().map_or(0, written);
        match kind {
            Some("init") => longer.begin(next(), next()),
            Some(kind @ ("load" | "store")) => {
                let (processor, address, value) = (next(), next(), next());
                let event = Event { processor, is_store: kind == "store", address, value };
                if !longer.repeats(event) {
                    longer.push(event);
                }
            }
            _ => {}
        }
    }
    longer
}

/// The number in a name: `Proc_2`, `v2` and `2` are 2.
fn written(name: &str) -> u8 {
    let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse().unwrap_or(0)
}
