//! The one way to make a [`History`]: collect what a trace says, then check that it makes sense.
//!
//! Parsers feed a [`Builder`] line by line and get errors with the place they happened. What can
//! only be known at the end (who wrote the value a read returned) is checked by
//! [`Builder::finish`].

mod bytes;
mod finish;
mod pieces;
mod stretch;

pub use pieces::Recorded;
pub(crate) use stretch::Stretch;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::annotation::{AccessOrder, DependencyKind, DependencyKinds, FenceName};
use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::columns::{Columns, Exchange};
use crate::commit::{Commit, CommitColumns};
use crate::event::{AddressId, AddressLabel, ByteRange, Kinds, Operation, ThreadId, Times, Value};
use crate::history::{Address, Final};
use crate::labels::{LabelMap, NameLabels, NumberLabels};
use crate::marks::{Mark, Marks};
use crate::times::TimeColumns;

/// The most threads a trace may have. Clocks are kept per thread, so a trace with a million
/// threads is a mistake to be shown about, not a workload.
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

impl Draft {
    /// Its number, from 0, in the order in which events were added.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The event of a number.
    pub(crate) fn numbered(number: u32) -> Self {
        Draft(number)
    }
}

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
    columns: Columns,
    thread_labels: Vec<u64>,
    thread_ids: NumberLabels,
    thread_lengths: Vec<u32>,
    addresses: Vec<Address>,
    numbered: NumberLabels,
    named: NameLabels,
    /// The addresses that are bytes; empty in most traces.
    by_bytes: LabelMap<ByteRange, AddressId>,
    /// The upper eight bytes of what wide accesses read and wrote, where these are not 0.
    uppers: Vec<(Draft, Exchange)>,
    times: TimeColumns,
    commits: CommitColumns,
    dependencies: Vec<(Draft, Draft)>,
    /// By dependency, up to the last that is not of an address.
    dependency_kinds: Vec<DependencyKinds>,
    /// Store-conditionals and their load-reserved.
    pairs: Vec<(Draft, Draft)>,
    paired: FxHashSet<Draft>,
    marks: Marks,
    names: Vec<(Draft, Box<str>)>,
    name_ids: LabelMap<Box<str>, Draft>,
    named_events: FxHashSet<Draft>,
    finals: Vec<Final>,
    final_values: FxHashMap<AddressId, Value>,
    orders: Vec<(AddressId, Vec<WriteName>, u32)>,
    /// How many initial values were said.
    inits: usize,
    /// About how many bytes all this takes, and how many it may.
    bytes: usize,
    memory: Option<usize>,
    /// How many threads may work on a large trace; one if that is 0.
    workers: usize,
}

/// What things weigh, about: the history they become, the builder while both exist, and the slack
/// of growing tables.
mod weight {
    pub(super) const EVENT: usize = 64;
    pub(super) const EXCHANGE: usize = 32;
    pub(super) const TIMES: usize = 48;
    pub(super) const THREAD: usize = 64;
    pub(super) const ADDRESS: usize = 2 * size_of::<super::Address>() + 96;
    pub(super) const MARK: usize = 6;
    pub(super) const COMMIT: usize = 40;
    pub(super) const PAIR: usize = 64;
    pub(super) const NAME: usize = 160;
    pub(super) const DEPENDENCY: usize = 32;
    pub(super) const FINAL: usize = 160;
    pub(super) const ORDER: usize = 160;
    pub(super) const WRITE_NAME: usize = 96;

    pub(super) fn name_of_address(name: &str) -> usize {
        2 * name.len()
    }
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

    /// The same builder, which makes the history of a large trace on so many threads. The history is
    /// the same for any number.
    pub(crate) fn with_workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// How many events there are so far.
    pub(crate) fn event_count(&self) -> usize {
        self.columns.len()
    }

    /// Whether nothing has been said yet.
    pub fn is_empty(&self) -> bool {
        self.columns.len() == 0
            && self.finals.is_empty()
            && self.orders.is_empty()
            && self.addresses.is_empty()
    }

    /// The address of this label, new or known.
    pub fn address(&mut self, label: &AddressLabel) -> AddressId {
        match label {
            AddressLabel::Number(number) => self.address_numbered(*number),
            AddressLabel::Name(name) => self.address_named(name),
            AddressLabel::Bytes(range) => self.address_of_bytes(*range),
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
        if let Some(id) = self.address_known(name.as_bytes()) {
            return id;
        }
        let id = self.new_address(AddressLabel::Name(name.into()));
        self.named.insert(name.as_bytes(), id.index());
        self.bytes += weight::name_of_address(name);
        id
    }

    /// The address with this name, if it is known.
    #[inline]
    pub(crate) fn address_known(&mut self, name: &[u8]) -> Option<AddressId> {
        self.named.get(name).map(AddressId::new)
    }

    /// The address that is these bytes, new or known. An access of it reads or writes all of them
    /// at once, the lowest byte being the lowest of the value. Accesses whose bytes overlap see each
    /// other byte by byte.
    ///
    /// ```
    /// use tribunal_history::{Builder, ByteRange, Operation, ThinAir};
    ///
    /// let mut builder = Builder::new();
    /// let word = builder.address_of_bytes(ByteRange::new(0x1000, 4).expect("4 bytes"));
    /// let byte = builder.address_of_bytes(ByteRange::new(0x1001, 1).expect("1 byte"));
    /// builder.event(0, Operation::Write { address: word, value: 0x1234 }, 1)?;
    /// builder.event(1, Operation::Read { address: byte, value: 0x12 }, 2)?;
    /// let history = builder.finish(ThinAir::Malformed)?;
    /// let mixed = history.mixed().expect("the two overlap");
    /// assert_eq!(mixed.parts().len(), 4); // the write has three parts: 0x1000, 0x1001, the rest
    /// # Ok::<(), tribunal_history::BuildError>(())
    /// ```
    pub fn address_of_bytes(&mut self, range: ByteRange) -> AddressId {
        if let Some(&id) = self.by_bytes.get(&range) {
            return id;
        }
        let id = self.new_address(AddressLabel::Bytes(range));
        self.by_bytes.insert(range, id);
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
        if self.columns.len() >= MAX_EVENTS {
            return Err(error(BuildErrorKind::TooManyEvents, line));
        }
        if !self.by_bytes.is_empty() {
            self.fits(&operation, line)?;
        }
        let exchange = matches!(operation, Operation::ReadModifyWrite { .. });
        self.charge(weight::EVENT + usize::from(exchange) * weight::EXCHANGE, line)?;
        let thread = match self.thread_ids.get(thread) {
            Some(index) => ThreadId::new(index),
            None => self.new_thread(thread, line)?,
        };
        self.thread_lengths[thread.index()] += 1;
        let draft = Draft(self.columns.len() as u32);
        self.columns.push(thread, operation, line);
        Ok(draft)
    }

    #[cold]
    fn new_thread(&mut self, label: u64, line: u32) -> Result<ThreadId, BuildError> {
        if self.thread_labels.len() >= MAX_THREADS {
            return Err(error(BuildErrorKind::TooManyThreads, line));
        }
        self.charge(weight::THREAD, line)?;
        Ok(self.add_thread(label))
    }

    fn add_thread(&mut self, label: u64) -> ThreadId {
        let id = ThreadId::new(self.thread_labels.len());
        self.thread_labels.push(label);
        self.thread_lengths.push(0);
        self.thread_ids.insert(label, id.index());
        id
    }

    /// Says when an event began and ended.
    pub fn times(&mut self, event: Draft, times: Times) -> Result<(), BuildError> {
        let line = self.columns.line(event.0 as usize);
        if let (Some(begin), Some(end)) = (times.begin, times.end)
            && end < begin
        {
            return Err(error(BuildErrorKind::EndsBeforeItBegins, line));
        }
        self.set_times(event, times);
        self.charge(0, line)
    }

    fn set_times(&mut self, event: Draft, times: Times) {
        let new = (event.0 as usize + 1).saturating_sub(self.times.len());
        self.bytes += new * weight::TIMES;
        self.times.set(event.0 as usize, times);
    }

    /// The number of a text of [`Builder::commit`].
    pub(crate) fn commit_text(&mut self, text: &str) -> u32 {
        self.commits.text(text)
    }

    /// Says where an event comes from.
    pub(crate) fn commit(
        &mut self,
        event: Draft,
        pc: Option<u64>,
        text: u32,
        cycle: Option<u64>,
    ) -> Result<(), BuildError> {
        let new = (event.0 as usize + 1).saturating_sub(self.commits.len());
        self.charge(new * weight::COMMIT, self.line_of(event))?;
        self.commits.set(event.0 as usize, pc, text, cycle);
        Ok(())
    }

    /// Says that an event comes from the commit of an instruction.
    pub fn committed(&mut self, event: Draft, commit: Commit<'_>) -> Result<(), BuildError> {
        let text = commit.instruction.map_or(CommitColumns::NO_TEXT, |text| self.commit_text(text));
        self.commit(event, commit.pc, text, commit.cycle)
    }

    /// The line of an event.
    pub(crate) fn line_of(&self, event: Draft) -> u32 {
        self.columns.line(event.0 as usize)
    }

    /// Whether an event has a name.
    pub(crate) fn has_name(&self, event: Draft) -> bool {
        self.named_events.contains(&event)
    }

    /// Names an event. The trace formats can say names of the form `[A-Za-z_][A-Za-z0-9_.$']*`.
    pub fn name(&mut self, event: Draft, name: &str) -> Result<(), BuildError> {
        let line = self.columns.line(event.0 as usize);
        self.charge(weight::NAME + 2 * name.len(), line)?;
        if self.name_ids.contains_key(name) {
            return Err(error(BuildErrorKind::DuplicateName { name: name.into() }, line));
        }
        self.name_ids.insert(name.into(), event);
        self.named_events.insert(event);
        self.names.push((event, name.into()));
        Ok(())
    }

    /// Says that an event depends on an earlier read of its thread, which counts as a dependency of
    /// an address.
    pub fn dependency(&mut self, event: Draft, on: &str) -> Result<(), BuildError> {
        self.dependency_of_kind(event, on, DependencyKind::Address)
    }

    /// Says how an event depends on an earlier read of its thread.
    pub fn dependency_of_kind(
        &mut self,
        event: Draft,
        on: &str,
        kind: DependencyKind,
    ) -> Result<(), BuildError> {
        let line = self.columns.line(event.0 as usize);
        let name = || on.into();
        let Some(&read) = self.name_ids.get(on).filter(|&&read| read != event) else {
            return Err(error(BuildErrorKind::UnknownName { name: name() }, line));
        };
        let (from, to) = (read.0 as usize, event.0 as usize);
        if self.columns.thread(from) != self.columns.thread(to) {
            return Err(error(BuildErrorKind::DependencyOnOtherThread { name: name() }, line));
        }
        if !self.columns.access(from).kinds().reads && !self.paired.contains(&read) {
            return Err(error(BuildErrorKind::DependencyOnNonRead { name: name() }, line));
        }
        self.depends(event, read, kind)
    }

    /// Says how an event depends on an earlier read of its thread, or on whether an earlier
    /// store-conditional succeeded; it has to have a name.
    pub(crate) fn depends(
        &mut self,
        event: Draft,
        read: Draft,
        kind: DependencyKind,
    ) -> Result<(), BuildError> {
        let line = self.line_of(event);
        self.charge(weight::DEPENDENCY, line)?;
        if kind != DependencyKind::Address {
            let address = DependencyKinds::only(DependencyKind::Address);
            self.dependency_kinds.resize(self.dependencies.len(), address);
            self.dependency_kinds.push(DependencyKinds::only(kind));
        }
        self.dependencies.push((event, read));
        Ok(())
    }

    /// Appends a fence by its name.
    pub fn fence(&mut self, thread: u64, name: FenceName, line: u32) -> Result<Draft, BuildError> {
        let draft = self.event(thread, name.operation(), line)?;
        self.mark(draft, Mark::Fence(name))?;
        Ok(draft)
    }

    /// Says how an access is ordered.
    pub fn annotate(&mut self, event: Draft, order: AccessOrder) -> Result<(), BuildError> {
        if self.columns.access(event.0 as usize).address().is_none() {
            let line = self.columns.line(event.0 as usize);
            return Err(error(BuildErrorKind::AnnotatedFence { order }, line));
        }
        self.mark(event, Mark::Order(order))
    }

    fn mark(&mut self, event: Draft, mark: Mark) -> Result<(), BuildError> {
        let line = self.columns.line(event.0 as usize);
        let new = (event.0 as usize + 1).saturating_sub(self.marks.len());
        self.charge(new * weight::MARK, line)?;
        self.marks.set(event.0 as usize, mark);
        Ok(())
    }

    /// Says that a write is the successful store-conditional of an earlier load of its thread.
    pub fn pair(&mut self, write: Draft, load: &str) -> Result<(), BuildError> {
        let at = write.0 as usize;
        let refuse = |kind| Err(error(kind, self.columns.line(at)));
        let name = || load.into();
        let Some(&read) = self.name_ids.get(load).filter(|&&read| read != write) else {
            return refuse(BuildErrorKind::UnknownName { name: name() });
        };
        let (from, to) = (self.columns.access(read.0 as usize), self.columns.access(at));
        if self.columns.thread(read.0 as usize) != self.columns.thread(at) {
            return refuse(BuildErrorKind::PairOnOtherThread { name: name() });
        }
        if from.kinds() != Kinds::READS || to.kinds() != Kinds::WRITES {
            return refuse(BuildErrorKind::PairOfOthers { name: name() });
        }
        if from.address() != to.address() {
            return refuse(BuildErrorKind::PairAddressesDiffer { name: name() });
        }
        if self.paired.contains(&read) || self.paired.contains(&write) {
            return refuse(BuildErrorKind::PairedTwice { name: name() });
        }
        self.pair_with(write, read)
    }

    /// Says that a write is the successful store-conditional of a load; the load has to have a name.
    pub(crate) fn pair_with(&mut self, write: Draft, read: Draft) -> Result<(), BuildError> {
        self.charge(weight::PAIR, self.line_of(write))?;
        self.paired.extend([read, write]);
        self.pairs.push((write, read));
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
        self.line_fits(address, value, line)?;
        let entry = &mut self.addresses[address.index()];
        if entry.init_line.is_some() && entry.initial == value {
            return Ok(());
        }
        if entry.init_line.is_some() {
            return Err(error(BuildErrorKind::InitTwice { address: entry.label.clone() }, line));
        }
        entry.initial = value;
        entry.init_line = Some(line);
        self.inits += 1;
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
        self.line_fits(address, value, line)?;
        match self.final_values.insert(address, value) {
            None => {}
            Some(said) if said == value => return Ok(()),
            Some(_) => {
                let address = self.label(address);
                return Err(error(BuildErrorKind::FinalTwice { address }, line));
            }
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
}
