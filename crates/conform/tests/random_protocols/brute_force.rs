//! All memory traces of a protocol up to a length, by running its text with the reference
//! interpreter.
//!
//! Breadth first over pairs of a state and a trace, where a trace is what each processor did in its
//! order, and which of its stores are pending: two runs that differ in the interleaving alone meet. Nothing of the code under test is
//! used: marks print their events, and the printed lines are read back. A load that repeats the last
//! event of its processor is not counted again, since it can always be placed beside that.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::source::Source;
use murphi::value::State;

use crate::machine::{self, Event, Trace};

/// How far to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most events of a trace.
    pub(crate) events: usize,
    /// The most pairs of state and trace.
    pub(crate) pairs: usize,
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
pub(crate) struct Known(HashMap<(Trace, bool), bool>);

impl Known {
    pub(crate) fn allows(&mut self, trace: &Trace, queues: bool) -> bool {
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

/// Where a run has led: the state, the trace, and the stores that were not committed.
#[derive(Clone)]
struct Node {
    state: State,
    trace: Trace,
    pending: Vec<String>,
}

/// Looks for traces that a memory model forbids.
pub(crate) fn search(interpreter: &Interpreter, limits: Limits, known: &mut Known) -> Found {
    let mut search = Search { interpreter, found: Found { complete: true, ..Found::default() } };
    let mut seen = HashSet::new();
    let mut open = search.starts();
    while let Some(node) = open.pop_front() {
        for next in search.successors(&node) {
            if next.trace.length() > limits.events {
                continue;
            }
            let key = (search.key(&next.state), next.trace.clone(), next.pending.clone());
            if !seen.insert(key) {
                continue;
            }
            if next.trace != node.trace && search.refused(&next, known) {
                return search.found;
            }
            if seen.len() >= limits.pairs {
                search.found.complete = false;
                return search.found;
            }
            open.push_back(next);
        }
    }
    search.found
}

struct Search<'a> {
    interpreter: &'a Interpreter,
    found: Found,
}

impl Search<'_> {
    fn starts(&mut self) -> VecDeque<Node> {
        let model = self.interpreter.model();
        let mut starts = VecDeque::new();
        for (number, rule) in model.start_states.iter().enumerate() {
            for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
                let run = self.interpreter.start(number, instance);
                match run.end {
                    End::Done(state) => {
                        let trace = Trace::default();
                        let node = Node { state: state.clone(), trace, pending: Vec::new() };
                        starts.push_back(node.after(state, &run.output));
                    }
                    _ => self.found.fails = true,
                }
            }
        }
        starts
    }

    fn successors(&mut self, node: &Node) -> Vec<Node> {
        let model = self.interpreter.model();
        let mut found = Vec::new();
        for (number, rule) in model.rules.iter().enumerate() {
            for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
                let run = self.interpreter.run_rule(&node.state, number, instance);
                match run.end {
                    End::Done(next) => found.push(node.after(next, &run.output)),
                    End::Failed(_) | End::GuardFailed(_) => self.found.fails = true,
                    End::Disabled | End::Excluded => {}
                }
            }
        }
        found
    }

    fn key(&self, state: &State) -> Vec<u8> {
        state.encode(self.interpreter.model(), self.interpreter.layout())
    }

    /// Keeps a trace that is forbidden. Returns whether there is nothing more to look for.
    fn refused(&mut self, node: &Node, known: &mut Known) -> bool {
        if known.allows(&node.trace, false) {
            return false;
        }
        self.found.not_sc.get_or_insert_with(|| node.trace.clone());
        self.found.settled |= node.pending.is_empty();
        // What total store order forbids is not sequentially consistent either.
        if self.found.not_tso.is_none() && !known.allows(&node.trace, true) {
            self.found.not_tso = Some(node.trace.clone());
        }
        self.found.settled && self.found.not_tso.is_some()
    }
}

impl Node {
    /// After a step that has led to another state and printed its events.
    fn after(&self, state: State, output: &str) -> Node {
        let trace = extended(&self.trace, output);
        let mut pending = self.pending.clone();
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
        Node { state, trace, pending }
    }
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
