//! Is a small trace allowed? The machines that define sequential consistency and total store order,
//! run in every way.
//!
//! Written for this comparison, with nothing of the engines in it: a trace is a list of events for
//! each processor, and a machine is a memory and, for total store order, a queue of stores for each
//! processor. An address whose first value is not known takes the one that is read first.

use std::collections::{BTreeMap, HashSet};

/// A load or a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) is_store: bool,
    pub(crate) address: String,
    pub(crate) value: String,
}

/// The events of each processor in program order, and the first values that are known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub(crate) struct Trace {
    pub(crate) threads: BTreeMap<String, Vec<Event>>,
    pub(crate) first: BTreeMap<String, String>,
}

impl Trace {
    pub(crate) fn length(&self) -> usize {
        self.threads.values().map(Vec::len).sum()
    }

    /// In the text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (address, value) in &self.first {
            text += &format!("init M[{address}] == {value}\n");
        }
        for (processor, events) in &self.threads {
            for Event { is_store, address, value } in events {
                let sign = if *is_store { ":=" } else { "==" };
                text += &format!("{processor}: M[{address}] {sign} {value}\n");
            }
        }
        text
    }
}

/// Where a machine is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine<'t> {
    done: Vec<usize>,
    memory: BTreeMap<&'t str, &'t str>,
    queues: Vec<Vec<(&'t str, &'t str)>>,
}

/// Whether a run of the machine without queues, or with them, has this trace.
pub(crate) fn allows(trace: &Trace, queues: bool) -> bool {
    let threads: Vec<&Vec<Event>> = trace.threads.values().collect();
    let memory = trace.first.iter().map(|(address, value)| (&**address, &**value)).collect();
    let start =
        Machine { done: vec![0; threads.len()], memory, queues: vec![Vec::new(); threads.len()] };
    let mut known = HashSet::new();
    let mut open = vec![start];
    while let Some(machine) = open.pop() {
        if machine.done.iter().zip(&threads).all(|(done, events)| *done == events.len()) {
            return true;
        }
        for (at, events) in threads.iter().enumerate() {
            for next in steps(&machine, at, events, queues) {
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    false
}

/// What a processor can do next.
fn steps<'t>(
    machine: &Machine<'t>,
    at: usize,
    events: &'t [Event],
    queues: bool,
) -> Vec<Machine<'t>> {
    let mut found = Vec::new();
    if let Some(&(address, value)) = machine.queues[at].first() {
        let mut next = machine.clone();
        next.queues[at].remove(0);
        next.memory.insert(address, value);
        found.push(next);
    }
    let Some(event) = events.get(machine.done[at]) else { return found };
    let (address, value) = (&*event.address, &*event.value);
    let mut next = machine.clone();
    next.done[at] += 1;
    if event.is_store {
        match queues {
            true => next.queues[at].push((address, value)),
            false => drop(next.memory.insert(address, value)),
        }
        found.push(next);
        return found;
    }
    let own = machine.queues[at].iter().rev().find(|(waits, _)| *waits == address);
    let seen = own.map(|(_, value)| *value).or_else(|| machine.memory.get(address).copied());
    if seen.is_none() {
        next.memory.insert(address, value);
    }
    if seen.is_none_or(|seen| seen == value) {
        found.push(next);
    }
    found
}
