//! The one way to make a [`History`]: collect what a trace says, then check that it makes sense.
//!
//! Parsers feed a [`Builder`] line by line and get errors with the place they happened. What can
//! only be known at the end (who wrote the value a read returned) is checked by
//! [`Builder::finish`].

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{
    AddressId, AddressLabel, Event, EventId, Operation, Source, ThreadId, Times, Value,
};
use crate::history::{Address, Final, History, OrderChain};

/// The most threads a trace may have. Clocks are kept per thread, so a trace with a million
/// threads is a mistake to be told about, not a workload.
pub const MAX_THREADS: usize = 65_536;

/// The most events a trace may have.
pub const MAX_EVENTS: usize = (u32::MAX / 4) as usize;

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

/// Something in a trace that is spelled right but makes no sense, and the line it is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// What is wrong.
    pub kind: BuildErrorKind,
    /// The line it is on, from 1; 0 if it concerns no line.
    pub line: u32,
}

/// The ways in which a trace can make no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are named in the sentence each variant prints
pub enum BuildErrorKind {
    TooManyThreads,
    TooManyEvents,
    MemoryBudget { bytes: usize },
    DuplicateName { name: Box<str> },
    UnknownName { name: Box<str> },
    DependencyOnOtherThread { name: Box<str> },
    DependencyOnNonRead { name: Box<str> },
    EndsBeforeItBegins,
    AtomicAddressesDiffer,
    InitTwice { address: AddressLabel },
    FinalTwice { address: AddressLabel },
    OrderOfUnwritten { address: AddressLabel, value: Value },
    OrderOfRepeated { address: AddressLabel, value: Value },
    OrderNamesOther { address: AddressLabel, name: Box<str> },
    OrderRepeats { address: AddressLabel },
    ReadOfUnwritten { address: AddressLabel, value: Value },
    FinalOfUnwritten { address: AddressLabel, value: Value },
}

impl fmt::Display for BuildErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use BuildErrorKind::*;
        match self {
            TooManyThreads => write!(f, "more than {MAX_THREADS} threads in one trace"),
            TooManyEvents => write!(f, "more than {MAX_EVENTS} events in one trace"),
            MemoryBudget { bytes } => {
                write!(f, "the trace does not fit the memory budget of {} MiB", bytes >> 20)
            }
            DuplicateName { name } => write!(f, "the name `{name}` is already taken in this trace"),
            UnknownName { name } => write!(f, "no earlier event is named `{name}`"),
            DependencyOnOtherThread { name } => {
                write!(f, "`{name}` is an event of another thread; dependencies stay in a thread")
            }
            DependencyOnNonRead { name } => {
                write!(f, "`{name}` does not read; a dependency starts at a read")
            }
            EndsBeforeItBegins => write!(f, "the event ends before it begins"),
            AtomicAddressesDiffer => {
                write!(f, "a read-modify-write reads and writes one address; these are two")
            }
            InitTwice { address } => write!(f, "a second `init` of M[{address}]"),
            FinalTwice { address } => write!(f, "a second `final` of M[{address}]"),
            OrderOfUnwritten { address, value } => {
                write!(f, "`order` names the value {value}, which nobody wrote to M[{address}]")
            }
            OrderOfRepeated { address, value } => write!(
                f,
                "`order` names the value {value}, which M[{address}] gets more than once; \
                 name the writes with `as` and use the names here"
            ),
            OrderNamesOther { address, name } => {
                write!(f, "`order` names `{name}`, which is not a write of M[{address}]")
            }
            OrderRepeats { address } => {
                write!(f, "`order` names the same write of M[{address}] twice")
            }
            ReadOfUnwritten { address, value } => write!(
                f,
                "reads {value} from M[{address}], but nobody wrote {value} there \
                 (--thin-air violation makes this a violation)"
            ),
            FinalOfUnwritten { address, value } => write!(
                f,
                "M[{address}] ends as {value}, but nobody wrote {value} there \
                 (--thin-air violation makes this a violation)"
            ),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for BuildError {}

fn error(kind: BuildErrorKind, line: u32) -> BuildError {
    BuildError { kind, line }
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
    thread_ids: FxHashMap<u64, ThreadId>,
    thread_lengths: Vec<u32>,
    addresses: Vec<Address>,
    address_ids: FxHashMap<AddressLabel, AddressId>,
    times: Vec<Times>,
    dependencies: Vec<(Draft, Draft)>,
    names: Vec<(Draft, Box<str>)>,
    name_ids: FxHashMap<Box<str>, Draft>,
    finals: Vec<Final>,
    final_addresses: FxHashSet<AddressId>,
    orders: Vec<(AddressId, Vec<WriteName>, u32)>,
    memory: Option<usize>,
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
        if let Some(&id) = self.address_ids.get(label) {
            return id;
        }
        let id = AddressId::new(self.addresses.len());
        self.address_ids.insert(label.clone(), id);
        let address =
            Address { label: label.clone(), initial: 0, init_line: None, writes: Vec::new() };
        self.addresses.push(address);
        id
    }

    fn label(&self, address: AddressId) -> AddressLabel {
        self.addresses[address.index()].label.clone()
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
        if let Some(bytes) = self.memory
            && self.events.len().is_multiple_of(4096)
            && self.estimated_bytes() > bytes
        {
            return Err(error(BuildErrorKind::MemoryBudget { bytes }, line));
        }
        let thread = match self.thread_ids.get(&thread) {
            Some(&id) => id,
            None => {
                if self.thread_labels.len() >= MAX_THREADS {
                    return Err(error(BuildErrorKind::TooManyThreads, line));
                }
                let id = ThreadId::new(self.thread_labels.len());
                self.thread_labels.push(thread);
                self.thread_lengths.push(0);
                self.thread_ids.insert(thread, id);
                id
            }
        };
        let index = self.thread_lengths[thread.index()];
        self.thread_lengths[thread.index()] += 1;
        let draft = Draft(self.events.len() as u32);
        self.events.push(Event { operation, thread, index, line });
        Ok(draft)
    }

    fn estimated_bytes(&self) -> usize {
        // The history this becomes, and the builder while both exist.
        self.events.len() * (2 * size_of::<Event>() + 16)
            + self.times.len() * 2 * size_of::<Times>()
            + self.addresses.len() * (size_of::<Address>() + 96)
            + self.names.len() * 96
            + self.dependencies.len() * 16
    }

    /// Says when an event began and ended.
    pub fn times(&mut self, event: Draft, times: Times) -> Result<(), BuildError> {
        if let (Some(begin), Some(end)) = (times.begin, times.end)
            && end < begin
        {
            let line = self.events[event.0 as usize].line;
            return Err(error(BuildErrorKind::EndsBeforeItBegins, line));
        }
        self.times.resize(self.times.len().max(event.0 as usize + 1), Times::default());
        self.times[event.0 as usize] = times;
        Ok(())
    }

    /// Names an event.
    pub fn name(&mut self, event: Draft, name: &str) -> Result<(), BuildError> {
        if self.name_ids.contains_key(name) {
            let line = self.events[event.0 as usize].line;
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
        let label = self.label(address);
        let entry = &mut self.addresses[address.index()];
        if entry.init_line.is_some() {
            return Err(error(BuildErrorKind::InitTwice { address: label }, line));
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
        if !self.final_addresses.insert(address) {
            return Err(error(BuildErrorKind::FinalTwice { address: self.label(address) }, line));
        }
        self.finals.push(Final { address, value, sources: Vec::new(), line });
        Ok(())
    }

    /// Says in which order writes of an address became visible.
    pub fn order(&mut self, address: AddressId, writes: Vec<WriteName>, line: u32) {
        self.orders.push((address, writes, line));
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
            source_classes: writers.classes.into_iter().map(Vec::into_boxed_slice).collect(),
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

/// Who wrote which value where, in classes that readers share: a history in which a thousand
/// reads may each have seen a thousand writes stays linear.
struct Writers {
    class_of: FxHashMap<(AddressId, Value), u32>,
    classes: Vec<Vec<Source>>,
}

impl Writers {
    fn new(events: &[Event], addresses: &[Address]) -> Self {
        let mut writers = Self { class_of: FxHashMap::default(), classes: vec![Vec::new()] };
        for (a, address) in addresses.iter().enumerate() {
            writers.add(AddressId::new(a), address.initial, Source::Initial);
        }
        for (e, event) in events.iter().enumerate() {
            if let (Some(address), Some(value)) = (event.address(), event.operation.value_written())
            {
                writers.add(address, value, Source::Write(EventId::new(e)));
            }
        }
        writers
    }

    fn add(&mut self, address: AddressId, value: Value, source: Source) {
        let class = *self.class_of.entry((address, value)).or_insert_with(|| {
            self.classes.push(Vec::new());
            (self.classes.len() - 1) as u32
        });
        self.classes[class as usize].push(source);
    }

    /// 0 if nobody wrote it.
    fn class(&self, address: AddressId, value: Value) -> u32 {
        self.class_of.get(&(address, value)).copied().unwrap_or(0)
    }

    fn of(&self, address: AddressId, value: Value) -> &[Source] {
        &self.classes[self.class(address, value) as usize]
    }
}
