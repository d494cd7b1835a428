//! The one way to make a [`History`]: collect what a trace says, then check that it makes sense.
//!
//! Parsers feed a [`Builder`] line by line and get errors with the place they happened. What can
//! only be known at the end (who wrote the value a read returned) is checked by
//! [`Builder::finish`].

use rustc_hash::FxHashSet;

use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::event::{
    AddressId, AddressLabel, Event, EventId, Operation, Source, ThreadId, Times, Value,
};
use crate::history::{Address, Final, History, OrderChain};
use crate::labels::{LabelMap, NumberLabels};
use crate::writers::Writers;

/// The most threads a trace may have. Clocks are kept per thread, so a trace with a million
/// threads is a mistake to be told about, not a workload.
pub const MAX_THREADS: usize = 65_536;

/// The most events a trace may have.
pub const MAX_EVENTS: usize = (u32::MAX / 4) as usize;

/// The most addresses a trace may have.
pub const MAX_ADDRESSES: usize = MAX_EVENTS;

/// What to do with a read of a value nobody wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThinAir {
    /// The trace is malformed.
    #[default]
    Malformed,
    /// The trace is a violation of every model.
    Violation,
}

/// An event before it has its final id: ids are handed out in text order while building.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Draft(u32);

/// How a trace names a write in an `order` line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WriteName {
    /// By the value it wrote.
    Value(Value),
    /// By the name it was given with `as`.
    Name(Box<str>),
}

/// Collects one trace.
///
/// ```
/// use tribunal_history::{AddressLabel, Builder, Operation, ThinAir};
///
/// let mut builder = Builder::new();
/// let x = builder.address(&AddressLabel::Name("x".into()));
/// builder.event(0, Operation::Write { address: x, value: 1 }, 1)?;
/// builder.event(1, Operation::Read { address: x, value: 1 }, 2)?;
/// let history = builder.finish(ThinAir::Malformed)?;
/// assert_eq!(history.thread_count(), 2);
/// assert!(history.is_unambiguous());
/// # Ok::<(), tribunal_history::BuildError>(())
/// ```
#[derive(Default, Debug)]
pub struct Builder {
    events: Vec<Event>,
    thread_labels: Vec<u64>,
    thread_ids: NumberLabels,
    thread_lengths: Vec<u32>,
    addresses: Vec<Address>,
    numbered: NumberLabels,
    named: LabelMap<Box<str>, AddressId>,
    times: Vec<Times>,
    dependencies: Vec<(Draft, Draft)>,
    names: Vec<(Draft, Box<str>)>,
    name_ids: LabelMap<Box<str>, Draft>,
    finals: Vec<Final>,
    final_addresses: FxHashSet<AddressId>,
    orders: Vec<(AddressId, Vec<WriteName>, u32)>,
    /// About how many bytes all this takes, and how many it may.
    bytes: usize,
    memory: Option<usize>,
}

/// What things weigh, about: the history they become, the builder while both exist, and the slack
/// of growing tables.
mod weight {
    pub(super) const EVENT: usize = 3 * size_of::<super::Event>() + 80;
    pub(super) const TIMES: usize = 3 * size_of::<super::Times>();
    pub(super) const THREAD: usize = 64;
    pub(super) const ADDRESS: usize = 2 * size_of::<super::Address>() + 96;
    pub(super) const NAME: usize = 160;
    pub(super) const DEPENDENCY: usize = 32;
    pub(super) const FINAL: usize = 160;
    pub(super) const ORDER: usize = 160;
    pub(super) const WRITE_NAME: usize = 96;
}

impl Builder {
    /// An empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty trace that refuses to grow past about this many bytes.
    pub fn with_memory_limit(bytes: usize) -> Self {
        Self { memory: Some(bytes), ..Self::default() }
    }

    /// Whether nothing has been said yet.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.finals.is_empty()
            && self.orders.is_empty()
            && self.addresses.is_empty()
    }

    /// The address of this label, new or known.
    pub fn address(&mut self, label: &AddressLabel) -> AddressId {
        match label {
            AddressLabel::Number(number) => self.address_numbered(*number),
            AddressLabel::Name(name) => self.address_named(name),
        }
    }

    /// The address with this number, new or known.
    pub fn address_numbered(&mut self, number: u64) -> AddressId {
        if let Some(index) = self.numbered.get(number) {
            return AddressId::new(index);
        }
        let id = self.new_address(AddressLabel::Number(number));
        self.numbered.insert(number, id.index());
        id
    }

    /// The address with this name, new or known.
    pub fn address_named(&mut self, name: &str) -> AddressId {
        if let Some(&id) = self.named.get(name) {
            return id;
        }
        let id = self.new_address(AddressLabel::Name(name.into()));
        self.named.insert(name.into(), id);
        self.bytes += 2 * name.len();
        id
    }

    fn new_address(&mut self, label: AddressLabel) -> AddressId {
        let id = AddressId::new(self.addresses.len());
        self.addresses.push(Address { label, initial: 0, init_line: None, writes: Vec::new() });
        self.bytes += weight::ADDRESS;
        id
    }

    fn label(&self, address: AddressId) -> AddressLabel {
        self.addresses[address.index()].label.clone()
    }

    /// Takes so many bytes from the memory budget.
    fn charge(&mut self, bytes: usize, line: u32) -> Result<(), BuildError> {
        self.bytes += bytes;
        if let Some(bytes) = self.memory
            && self.bytes > bytes
        {
            return Err(error(BuildErrorKind::MemoryBudget { bytes }, line));
        }
        if self.addresses.len() > MAX_ADDRESSES {
            return Err(error(BuildErrorKind::TooManyAddresses, line));
        }
        Ok(())
    }

    /// Takes one more element of an `order` line from the memory budget, so that the caller can
    /// stop collecting in time.
    pub(crate) fn charge_write_name(
        &mut self,
        write: &WriteName,
        line: u32,
    ) -> Result<(), BuildError> {
        let length = match write {
            WriteName::Value(_) => 0,
            WriteName::Name(name) => name.len(),
        };
        self.charge(weight::WRITE_NAME + length, line)
    }

    /// Appends an event to a thread.
    pub fn event(
        &mut self,
        thread: u64,
        operation: Operation,
        line: u32,
    ) -> Result<Draft, BuildError> {
        if self.events.len() >= MAX_EVENTS {
            return Err(error(BuildErrorKind::TooManyEvents, line));
        }
        self.charge(weight::EVENT, line)?;
        let thread = match self.thread_ids.get(thread) {
            Some(index) => ThreadId::new(index),
            None => {
                if self.thread_labels.len() >= MAX_THREADS {
                    return Err(error(BuildErrorKind::TooManyThreads, line));
                }
                let id = ThreadId::new(self.thread_labels.len());
                self.charge(weight::THREAD, line)?;
                self.thread_labels.push(thread);
                self.thread_lengths.push(0);
                self.thread_ids.insert(thread, id.index());
                id
            }
        };
        let index = self.thread_lengths[thread.index()];
        self.thread_lengths[thread.index()] += 1;
        let draft = Draft(self.events.len() as u32);
        self.events.push(Event { operation, thread, index, line });
        Ok(draft)
    }

    /// Says when an event began and ended.
    pub fn times(&mut self, event: Draft, times: Times) -> Result<(), BuildError> {
        let line = self.events[event.0 as usize].line;
        if let (Some(begin), Some(end)) = (times.begin, times.end)
            && end < begin
        {
            return Err(error(BuildErrorKind::EndsBeforeItBegins, line));
        }
        let length = self.times.len().max(event.0 as usize + 1);
        self.charge((length - self.times.len()) * weight::TIMES, line)?;
        self.times.resize(length, Times::default());
        self.times[event.0 as usize] = times;
        Ok(())
    }

    /// Names an event. The trace formats can say names of the form `[A-Za-z_][A-Za-z0-9_.$']*`.
    pub fn name(&mut self, event: Draft, name: &str) -> Result<(), BuildError> {
        let line = self.events[event.0 as usize].line;
        self.charge(weight::NAME + 2 * name.len(), line)?;
        if self.name_ids.contains_key(name) {
            return Err(error(BuildErrorKind::DuplicateName { name: name.into() }, line));
        }
        self.name_ids.insert(name.into(), event);
        self.names.push((event, name.into()));
        Ok(())
    }

    /// Says that an event depends on an earlier read of its thread.
    pub fn dependency(&mut self, event: Draft, on: &str) -> Result<(), BuildError> {
        let Event { thread, line, .. } = self.events[event.0 as usize];
        let name = || on.into();
        let Some(&read) = self.name_ids.get(on).filter(|&&read| read != event) else {
            return Err(error(BuildErrorKind::UnknownName { name: name() }, line));
        };
        let source = &self.events[read.0 as usize];
        if source.thread != thread {
            return Err(error(BuildErrorKind::DependencyOnOtherThread { name: name() }, line));
        }
        if !source.is_read() {
            return Err(error(BuildErrorKind::DependencyOnNonRead { name: name() }, line));
        }
        self.charge(weight::DEPENDENCY, line)?;
        self.dependencies.push((event, read));
        Ok(())
    }

    /// Says what an address held at first.
    pub fn initial(
        &mut self,
        address: AddressId,
        value: Value,
        line: u32,
    ) -> Result<(), BuildError> {
        self.charge(0, line)?;
        let entry = &mut self.addresses[address.index()];
        if entry.init_line.is_some() {
            return Err(error(BuildErrorKind::InitTwice { address: entry.label.clone() }, line));
        }
        entry.initial = value;
        entry.init_line = Some(line);
        Ok(())
    }

    /// Says what an address holds at the end.
    pub fn final_value(
        &mut self,
        address: AddressId,
        value: Value,
        line: u32,
    ) -> Result<(), BuildError> {
        self.charge(weight::FINAL, line)?;
        if !self.final_addresses.insert(address) {
            return Err(error(BuildErrorKind::FinalTwice { address: self.label(address) }, line));
        }
        self.finals.push(Final { address, value, sources: Vec::new(), line });
        Ok(())
    }

    /// Says in which order writes of an address became visible. An order of nothing says nothing.
    pub fn order(&mut self, address: AddressId, writes: Vec<WriteName>, line: u32) {
        if !writes.is_empty() {
            self.bytes += weight::ORDER;
            self.orders.push((address, writes, line));
        }
    }

    /// The history, if what was said makes sense.
    pub fn finish(mut self, thin_air: ThinAir) -> Result<History, BuildError> {
        let (thread_starts, final_ids) = self.thread_major();
        let events = self.sorted_events(&final_ids);
        for (e, event) in events.iter().enumerate() {
            if let (Some(address), true) = (event.address(), event.is_write()) {
                self.addresses[address.index()].writes.push(EventId::new(e));
            }
        }
        let writers = Writers::new(&events, &self.addresses);
        let source_class = self.all_sources(&events, &writers, thin_air)?;
        self.final_sources(&writers, thin_air)?;
        let orders = self.resolved_orders(&events, &writers, &final_ids)?;
        let at = |draft: Draft| final_ids[draft.0 as usize];
        let mut times = Vec::new();
        if !self.times.is_empty() {
            times.resize(events.len(), Times::default());
            for (draft, &t) in self.times.iter().enumerate() {
                times[final_ids[draft].index()] = t;
            }
        }
        let mut dependencies: Vec<_> =
            self.dependencies.iter().map(|&(to, from)| (at(to), at(from))).collect();
        dependencies.sort_unstable();
        dependencies.dedup();
        let mut names: Vec<_> = self.names.into_iter().map(|(d, name)| (at(d), name)).collect();
        names.sort_unstable();
        Ok(History {
            events,
            thread_labels: self.thread_labels,
            thread_starts,
            addresses: self.addresses,
            times,
            dependencies,
            names,
            finals: self.finals,
            orders,
            source_class,
            class_starts: writers.starts,
            class_sources: writers.sources,
        })
    }

    /// Where each thread starts in thread-major order, and the final id of every draft.
    fn thread_major(&self) -> (Vec<u32>, Vec<EventId>) {
        let mut starts = Vec::with_capacity(self.thread_lengths.len() + 1);
        let mut total = 0;
        starts.push(0);
        for length in &self.thread_lengths {
            total += length;
            starts.push(total);
        }
        let ids = self
            .events
            .iter()
            .map(|e| EventId::new((starts[e.thread.index()] + e.index) as usize))
            .collect();
        (starts, ids)
    }

    fn sorted_events(&self, ids: &[EventId]) -> Vec<Event> {
        let mut events = self.events.clone();
        for (draft, event) in self.events.iter().enumerate() {
            events[ids[draft].index()] = *event;
        }
        events
    }

    /// The class of candidate sources of every event, and what the classes hold.
    fn all_sources(
        &self,
        events: &[Event],
        writers: &Writers,
        thin_air: ThinAir,
    ) -> Result<Vec<u32>, BuildError> {
        let mut first_error: Option<BuildError> = None;
        let mut classes = Vec::with_capacity(events.len());
        for event in events {
            let (Some(address), Some(value)) = (event.address(), event.operation.value_read())
            else {
                classes.push(0);
                continue;
            };
            let class = writers.class(address, value);
            classes.push(class);
            // Report the first in the file, not the first in thread-major order.
            if class == 0
                && thin_air == ThinAir::Malformed
                && first_error.as_ref().is_none_or(|e| event.line < e.line)
            {
                let address = self.label(address);
                let kind = BuildErrorKind::ReadOfUnwritten { address, value };
                first_error = Some(error(kind, event.line));
            }
        }
        first_error.map_or(Ok(classes), Err)
    }

    fn final_sources(&mut self, writers: &Writers, thin_air: ThinAir) -> Result<(), BuildError> {
        for f in &mut self.finals {
            f.sources = writers.of(f.address, f.value).to_vec();
            if f.sources.is_empty() && thin_air == ThinAir::Malformed {
                let address = self.addresses[f.address.index()].label.clone();
                let kind = BuildErrorKind::FinalOfUnwritten { address, value: f.value };
                return Err(error(kind, f.line));
            }
        }
        Ok(())
    }

    fn resolved_orders(
        &self,
        events: &[Event],
        writers: &Writers,
        ids: &[EventId],
    ) -> Result<Vec<OrderChain>, BuildError> {
        let mut chains = Vec::with_capacity(self.orders.len());
        for &(address, ref names, line) in &self.orders {
            let label = || self.label(address);
            let mut writes = Vec::with_capacity(names.len());
            for name in names {
                let write = match name {
                    WriteName::Value(value) => match *writers.of(address, *value) {
                        [one] => Ok(one),
                        [] => Err(BuildErrorKind::OrderOfUnwritten {
                            address: label(),
                            value: *value,
                        }),
                        _ => {
                            Err(BuildErrorKind::OrderOfRepeated { address: label(), value: *value })
                        }
                    },
                    WriteName::Name(name) => self
                        .name_ids
                        .get(name)
                        .map(|d| ids[d.0 as usize])
                        .filter(|e| {
                            let event = &events[e.index()];
                            event.is_write() && event.address() == Some(address)
                        })
                        .map(Source::Write)
                        .ok_or_else(|| BuildErrorKind::OrderNamesOther {
                            address: label(),
                            name: name.clone(),
                        }),
                };
                writes.push(write.map_err(|kind| error(kind, line))?);
            }
            let mut sorted = writes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != writes.len() {
                return Err(error(BuildErrorKind::OrderRepeats { address: label() }, line));
            }
            chains.push(OrderChain { address, writes, line });
        }
        Ok(chains)
    }
}
