//! The loads and stores of a run, as software sees them.
//!
//! [`lift`] repeats a run of a composed model with a distinct value for every store; [`extend`]
//! extends a run until loads reveal the coherence order.

mod extend;
mod lift;

use std::cmp::Ordering;
use std::fmt::Write as _;

pub(crate) use extend::extend;
pub(crate) use lift::{lift, printed_events, thread, value_type, with_printed_events};

/// A memory event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEvent {
    /// The step of the run; the start state is step 0.
    pub step: usize,
    /// Whether it is a store.
    pub is_store: bool,
    /// The name of the processor in the protocol.
    pub processor: String,
    /// The number of the processor's thread.
    pub thread: u64,
    /// The name of the address in the protocol.
    pub address: String,
    /// The value: 0 is the initial value, and every store has a distinct one.
    pub value: u64,
    /// The value in the run of the lemma, from 0.
    pub(crate) class: i64,
}

/// The loads and stores of a run, in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryTrace {
    /// The events.
    pub events: Vec<MemoryEvent>,
    /// The commits, if the protocol marks them.
    pub commits: Vec<Commit>,
}

/// The point at which a store enters the coherence order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The number of events of the trace before it.
    pub after: usize,
    /// The name of the processor in the protocol.
    pub processor: String,
    /// The name of the address in the protocol.
    pub address: String,
    /// The value.
    pub value: u64,
}

/// The run cannot be repeated: the reason, as a sentence.
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
    /// Appends later events.
    pub(crate) fn append(&mut self, mut later: MemoryTrace) {
        let before = self.events.len();
        later.commits.iter_mut().for_each(|commit| commit.after += before);
        self.events.append(&mut later.events);
        self.commits.append(&mut later.commits);
    }

    /// Renumbers the values so that this initial value becomes 0.
    pub(crate) fn begin_with(&mut self, first: u64) {
        let numbered = |value: u64| match value.cmp(&first) {
            Ordering::Less => value + 1,
            Ordering::Equal => 0,
            Ordering::Greater => value,
        };
        self.events.iter_mut().for_each(|event| event.value = numbered(event.value));
        self.commits.iter_mut().for_each(|commit| commit.value = numbered(commit.value));
    }

    /// The values stored to an address, in coherence order: the committed ones in the order of
    /// their commits, then the others in the order in which they happened.
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

    /// Whether a load returns another value than the processor's last event at this address.
    fn is_news(&self, load: &MemoryEvent) -> bool {
        let mut last = self.events.iter().rev();
        let last = last
            .find(|event| (&event.processor, &event.address) == (&load.processor, &load.address));
        last.is_none_or(|last| last.value != load.value)
    }

    /// The trace in Tribunal's format, with the coherence order as a comment: no verdict depends on
    /// it, and the events keep their line numbers.
    pub fn with_order_as_comment(&self) -> String {
        let (mut text, ordered) = (self.text(false), self.text(true));
        for line in ordered.strip_prefix(&*text).unwrap_or_default().lines() {
            let _ = writeln!(text, "# order of the run: {line}");
        }
        text
    }

    /// Whether a load returns a value that is neither stored to its address nor the initial value.
    pub fn has_thin_air(&self) -> bool {
        let is_stored = |load: &MemoryEvent| {
            let same =
                |store: &MemoryEvent| (&store.address, store.value) == (&load.address, load.value);
            self.events.iter().any(|event| event.is_store && same(event))
        };
        self.events.iter().any(|event| !event.is_store && event.value != 0 && !is_stored(event))
    }

    /// The trace in Tribunal's format; if `ordered`, with the coherence order.
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
