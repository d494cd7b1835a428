//! A history whose atomics are two events, for models that distinguish the halves of an atomic.
//!
//! The reading half becomes a read; the writing half becomes an event of its own, right behind it.
//! Where nothing may come between the two, the writing half is a read-modify-write that returns what
//! the read returned: the rules for one node that reads and writes are the rules for atomicity. The
//! store of a load-reserved and store-conditional pair becomes one in the same way. That is right
//! unless the thread itself writes the address between the two: the model exempts such pairs, or
//! such histories are refused.

use cat::PairAxiom;
use history::{AddressId, Builder, EventId, History, Operation, Source, ThinAir, Value, WriteName};

/// A history with its atomics in halves.
pub(crate) struct SplitAtomics {
    pub(crate) history: History,
    /// By event of the new history: the event it is of, and whether it is the writing half of an
    /// atomic.
    origins: Vec<(EventId, bool)>,
    /// By event of the old history: its first event in the new one.
    firsts: Vec<EventId>,
}

impl SplitAtomics {
    /// Splits the atomics of a history. With an axiom for it, nothing comes between the halves, and
    /// between the accesses of a pair. `None` where that cannot be said.
    pub(crate) fn new(history: &History, atomicity: Option<PairAxiom>) -> Option<Self> {
        let is_split = |&&(store, load): &&(EventId, EventId)| writes_within(history, store, load);
        let split: Vec<EventId> =
            history.pairs().iter().filter(is_split).map(|&(store, _)| store).collect();
        if atomicity.is_some_and(|axiom| !axiom.exempts_own_writes) && !split.is_empty() {
            return None;
        }
        let mut builder = Builder::new();
        for address in history.address_ids() {
            let entry = history.address(address);
            builder.address(&entry.label);
            if let Some(line) = entry.init_line {
                builder.initial(address, entry.initial, line).ok()?;
            }
        }
        let mut halves = SplitAtomics {
            history: Builder::new().finish(ThinAir::Violation).ok()?,
            origins: Vec::with_capacity(history.len()),
            firsts: Vec::with_capacity(history.len()),
        };
        halves.add_events(history, atomicity.is_some(), &split, &mut builder)?;
        add_lines(history, &mut builder)?;
        halves.history = builder.finish(ThinAir::Violation).ok()?;
        Some(halves)
    }

    fn add_events(
        &mut self,
        history: &History,
        atomicity: bool,
        split: &[EventId],
        builder: &mut Builder,
    ) -> Option<()> {
        let named = named_writes(history);
        let mut pairs = history.pairs().iter().copied().peekable();
        for id in history.event_ids() {
            let event = history.event(id);
            let thread = history.thread_label(event.thread);
            self.firsts.push(EventId::new(self.origins.len()));
            let load = pairs.next_if(|&(store, _)| store == id).map(|(_, load)| load);
            let is_whole = atomicity && split.binary_search(&id).is_err();
            let operations = parts(history, event.operation, load.filter(|_| is_whole), atomicity);
            for (at, operation) in operations.into_iter().flatten().enumerate() {
                self.origins.push((id, at == 1));
                let draft = builder.event(thread, operation, event.line).ok()?;
                builder.times(draft, history.times(id)).ok()?;
                if operation.value_written().is_some() && named.binary_search(&id).is_ok() {
                    builder.name(draft, &write_name(id)).ok()?;
                }
            }
        }
        Some(())
    }

    /// The event of the old history.
    pub(crate) fn origin(&self, event: EventId) -> EventId {
        self.origins[event.index()].0
    }

    /// Whether an event is the writing half of an atomic.
    pub(crate) fn is_write_half(&self, event: EventId) -> bool {
        self.origins[event.index()].1
    }

    /// The first event of the new history that an event of the old one has become.
    pub(crate) fn first(&self, event: EventId) -> EventId {
        self.firsts[event.index()]
    }
}

/// The one or two operations that an operation becomes.
fn parts(
    history: &History,
    operation: Operation,
    load: Option<EventId>,
    atomicity: bool,
) -> [Option<Operation>; 2] {
    let writes = |address: AddressId, read: Value, write: Value, atomically: bool| match atomically
    {
        true => Operation::ReadModifyWrite { address, read, write },
        false => Operation::Write { address, value: write },
    };
    match operation {
        Operation::ReadModifyWrite { address, read, write } => {
            let first = Operation::Read { address, value: read };
            [Some(first), Some(writes(address, read, write, atomicity))]
        }
        Operation::Write { address, value } => {
            let read = load.and_then(|load| history.event(load).operation.value_read());
            [Some(writes(address, read.unwrap_or(0), value, read.is_some())), None]
        }
        other => [Some(other), None],
    }
}

/// Whether the thread of a pair writes its address between the two accesses.
fn writes_within(history: &History, store: EventId, load: EventId) -> bool {
    let address = history.address_of(store);
    let between = load.index() + 1..store.index();
    history.events_in(between).any(|event| event.is_write() && event.address() == address)
}

/// The writes that `order` lines name, sorted.
fn named_writes(history: &History) -> Vec<EventId> {
    let sources = history.orders().iter().flat_map(|chain| &chain.writes);
    let mut named: Vec<EventId> = sources
        .filter_map(|source| match source {
            Source::Write(write) => Some(*write),
            Source::Initial => None,
        })
        .collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn write_name(write: EventId) -> String {
    format!("w{}", write.index())
}

/// The `final` and `order` lines.
fn add_lines(history: &History, builder: &mut Builder) -> Option<()> {
    for f in history.finals() {
        builder.final_value(f.address, f.value, f.line).ok()?;
    }
    for chain in history.orders() {
        let name = |source: &Source| match source {
            Source::Initial => WriteName::Value(history.address(chain.address).initial),
            Source::Write(write) => WriteName::Name(write_name(*write).into()),
        };
        builder.order(chain.address, chain.writes.iter().map(name).collect(), chain.line);
    }
    Some(())
}
