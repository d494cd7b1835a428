//! The loads and stores of a run, as software sees them.
//!
//! [`lift`] takes a run of a composed model again with a value of its own for every store;
//! [`extend`] lets a run go on until it shows in which order its stores count.

mod extend;
mod lift;

use std::cmp::Ordering;
use std::fmt::Write as _;

pub(crate) use extend::extend;
pub(crate) use lift::{lift, printed_events, thread, value_type, with_printed_events};

/// What a processor did to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEvent {
    /// The step of the run that did it; the start state is step 0.
    pub step: usize,
    /// A store rather than a load.
    pub is_store: bool,
    /// The processor, in the words of the protocol.
    pub processor: String,
    /// The processor as the number of a thread.
    pub thread: u64,
    /// The address, in the words of the protocol.
    pub address: String,
    /// The value: 0 is what everything holds at first, and every store has its own.
    pub value: u64,
    /// What the value was in the run of the lemma, from 0.
    pub(crate) class: i64,
}

/// The loads and stores of a run, in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryTrace {
    /// The events.
    pub events: Vec<MemoryEvent>,
    /// The commits, if the protocol marks those.
    pub commits: Vec<Commit>,
}

/// Where a store takes its place in the order of its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// How many events of the trace are before it.
    pub after: usize,
    /// The processor, in the words of the protocol.
    pub processor: String,
    /// The address, in the words of the protocol.
    pub address: String,
    /// The value.
    pub value: u64,
}

/// The run could not be taken again: what happened, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotRepeatable(pub(crate) String);

impl MemoryEvent {
    /// The event as a line of a trace: `1: M[x] := 2`.
    pub fn line(&self) -> String {
        let sign = if self.is_store { ":=" } else { "==" };
        format!("{}: M[{}] {sign} {}", self.thread, self.address, self.value)
    }
}

impl MemoryTrace {
    /// Adds what happened after it.
    pub(crate) fn append(&mut self, mut later: MemoryTrace) {
        let before = self.events.len();
        later.commits.iter_mut().for_each(|commit| commit.after += before);
        self.events.append(&mut later.events);
        self.commits.append(&mut later.commits);
    }

    /// Numbers the values such that 0 is this one, which everything holds at first.
    pub(crate) fn begin_with(&mut self, first: u64) {
        let numbered = |value: u64| match value.cmp(&first) {
            Ordering::Less => value + 1,
            Ordering::Equal => 0,
            Ordering::Greater => value,
        };
        self.events.iter_mut().for_each(|event| event.value = numbered(event.value));
        self.commits.iter_mut().for_each(|commit| commit.value = numbered(commit.value));
    }

    /// The values that were stored to an address, in the order in which they count: the committed
    /// ones in the order of their commits, then the others in the order in which they happened.
    fn stored(&self, address: &str) -> Vec<u64> {
        let committed = self.commits.iter().filter(|commit| commit.address == address);
        let mut values: Vec<u64> = committed.map(|commit| commit.value).collect();
        let stores = self.events.iter().filter(|event| event.is_store && event.address == address);
        for store in stores {
            if !values.contains(&store.value) {
                values.push(store.value);
            }
        }
        values
    }

    /// Whether a load shows more than the last event of its processor at its address.
    fn is_news(&self, load: &MemoryEvent) -> bool {
        let mut last = self.events.iter().rev();
        let last = last
            .find(|event| (&event.processor, &event.address) == (&load.processor, &load.address));
        last.is_none_or(|last| last.value != load.value)
    }

    /// The trace in Tribunal's format, with the order in which stores count as a comment: no verdict
    /// rests on it, and events are in the same lines as without.
    pub fn with_order_as_comment(&self) -> String {
        let (mut text, ordered) = (self.text(false), self.text(true));
        for line in ordered.strip_prefix(&*text).unwrap_or_default().lines() {
            let _ = writeln!(text, "# order of the run: {line}");
        }
        text
    }

    /// Whether a load has a value that no store to its address has, and that was not there at first.
    pub fn has_thin_air(&self) -> bool {
        let is_stored = |load: &MemoryEvent| {
            let same =
                |store: &MemoryEvent| (&store.address, store.value) == (&load.address, load.value);
            self.events.iter().any(|event| event.is_store && same(event))
        };
        self.events.iter().any(|event| !event.is_store && event.value != 0 && !is_stored(event))
    }

    /// The trace in Tribunal's format. If `ordered`, with the order in which stores count.
    pub fn text(&self, ordered: bool) -> String {
        let mut text = String::new();
        let mut threads: Vec<(u64, &str)> =
            self.events.iter().map(|event| (event.thread, &*event.processor)).collect();
        threads.sort();
        threads.dedup();
        for (thread, processor) in threads {
            let _ = writeln!(text, "# thread {thread} is {processor}");
        }
        for event in &self.events {
            let _ = writeln!(text, "{}", event.line());
        }
        if ordered {
            let mut addresses: Vec<&str> =
                self.events.iter().map(|event| &*event.address).collect();
            addresses.sort();
            addresses.dedup();
            for address in addresses {
                let values = self.stored(address).into_iter();
                let values: Vec<String> = values.map(|value| value.to_string()).collect();
                if values.len() > 1 {
                    let _ = writeln!(text, "order M[{address}]: {}", values.join(" < "));
                }
            }
        }
        text
    }
}
