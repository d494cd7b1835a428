//! A history: one recorded execution, checked to be well-formed.
//!
//! Flat tables indexed by newtypes, about 30 bytes an event where values are unique. Events are thread-major (see [`EventId`]), so program order is
//! a comparison of ids and a thread is a range. Only [`Builder`](crate::Builder) makes histories;
//! whatever it hands on satisfies the invariants listed on [`History`].

use std::ops::Range;

use crate::annotation::{AccessOrder, DependencyKind, DependencyKinds, FenceName};
use crate::columns::{Columns, Exchange};
use crate::commit::{Commit, CommitColumns};
use crate::event::{
    AddressId, AddressLabel, ByteRange, Event, EventId, Kinds, Operation, Source, ThreadId, Times,
    Value,
};
use crate::marks::{Mark, Marks};
use crate::mixed::Mixed;
use crate::origin::{Classes, Origin};
use crate::times::TimeColumns;

/// One recorded execution.
///
/// Invariants: every access has an address in the table; a dependency starts at an earlier read of
/// the same thread, or at a store-conditional, and what it starts at has a name; a store-conditional writes the address of its load-reserved, an earlier read of
/// the same thread that has no other store-conditional; every event named by an `order` chain writes the address of that chain; every
/// read and every `final` has at least one candidate source, unless the history was built with
/// thin-air reads allowed.
#[derive(Clone, Debug)]
pub struct History {
    pub(crate) columns: Columns,
    pub(crate) thread_labels: Vec<u64>,
    /// `thread_starts[t]..thread_starts[t + 1]` are the events of thread `t`.
    pub(crate) thread_starts: Vec<u32>,
    pub(crate) addresses: Vec<Address>,
    pub(crate) times: TimeColumns,
    pub(crate) commits: CommitColumns,
    /// Sorted pairs (dependent, read it depends on).
    pub(crate) dependencies: Vec<(EventId, EventId)>,
    /// The kinds of each dependency; empty where all are of addresses.
    pub(crate) dependency_kinds: Vec<DependencyKinds>,
    /// Sorted pairs (store-conditional, its load-reserved).
    pub(crate) pairs: Vec<(EventId, EventId)>,
    pub(crate) marks: Marks,
    /// Sorted by event.
    pub(crate) names: Vec<(EventId, Box<str>)>,
    pub(crate) finals: Vec<Final>,
    pub(crate) orders: Vec<OrderChain>,
    /// Where the value of each event comes from; from nobody if it does not read.
    pub(crate) origins: Vec<Origin>,
    pub(crate) classes: Classes,
    /// The upper eight bytes of wide accesses, sorted by event; those that are not there are 0.
    pub(crate) uppers: Vec<(EventId, Exchange)>,
    pub(crate) mixed: Option<Mixed>,
}

/// An address: what the trace calls it, what it held at first, and who wrote it.
#[derive(Clone, Debug)]
pub struct Address {
    /// What the trace calls it.
    pub label: AddressLabel,
    /// Its value before any event.
    pub initial: Value,
    /// The line of its `init`, if it has one.
    pub init_line: Option<u32>,
    /// Its writes (read-modify-writes included), in id order.
    pub writes: Vec<EventId>,
}

/// `final M[address] == value`: the last write of the address wrote this value.
#[derive(Clone, Debug)]
pub struct Final {
    /// The address.
    pub address: AddressId,
    /// The value it holds at the end.
    pub value: Value,
    /// Who may have written it.
    pub sources: Vec<Source>,
    /// The line that says so.
    pub line: u32,
}

/// `order M[address]: a < b < …`: these writes became visible in this order.
#[derive(Clone, Debug)]
pub struct OrderChain {
    /// The address.
    pub address: AddressId,
    /// The writes, earliest first.
    pub writes: Vec<Source>,
    /// The line that says so.
    pub line: u32,
}

impl History {
    /// All events, thread by thread.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = Event> + ExactSizeIterator + '_ {
        self.event_ids().map(|id| self.event(id))
    }

    /// The events of a range of indices, such as those between two events of a thread.
    pub fn events_in(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Event> + ExactSizeIterator + '_ {
        range.map(|index| self.event(EventId::new(index)))
    }

    /// The ids of all events, in order.
    pub fn event_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        (0..self.columns.len()).map(EventId::new)
    }

    /// An event by its id, put together from what the tables say; whoever needs only its thread,
    /// address or kind asks for that.
    #[inline]
    pub fn event(&self, id: EventId) -> Event {
        let at = id.index();
        let operation = self.columns.operation(at);
        let thread = self.columns.thread(at);
        let start = self.thread_starts.get(thread.index()).map_or(0, |&start| start);
        Event { operation, thread, index: at as u32 - start, line: self.columns.line(at) }
    }

    /// What an event did.
    #[inline]
    pub fn operation_of(&self, event: EventId) -> Operation {
        self.columns.operation(event.index())
    }

    /// The thread of an event.
    #[inline]
    pub fn thread_of(&self, event: EventId) -> ThreadId {
        self.columns.thread(event.index())
    }

    /// The line of an event.
    #[inline]
    pub fn line_of(&self, event: EventId) -> u32 {
        self.columns.line(event.index())
    }

    /// The address an event accesses; `None` for a fence.
    #[inline]
    pub fn address_of(&self, event: EventId) -> Option<AddressId> {
        self.columns.access(event.index()).address()
    }

    /// Whether an event reads, writes, or both.
    #[inline]
    pub fn kinds_of(&self, event: EventId) -> Kinds {
        self.columns.access(event.index()).kinds()
    }

    /// All events in the order of their lines, which is the order in which they were recorded if the
    /// trace was written while it happened. Within a thread it is program order.
    pub fn recorded_order(&self) -> Vec<EventId> {
        self.order_of_lines().unwrap_or_else(|| self.order_of_threads())
    }

    /// The same where each event has a line of its own, and lines ascend in every thread: a table of
    /// lines, if it is not much larger than that of the events.
    fn order_of_lines(&self) -> Option<Vec<EventId>> {
        let lines = self.columns.lines();
        let first = *lines.iter().min()?;
        let length = (*lines.iter().max()? - first) as usize + 1;
        if length > 2 * lines.len() + 1024 {
            return None;
        }
        let mut at: Vec<Option<EventId>> = vec![None; length];
        for thread in self.threads() {
            let mut next = first;
            for event in self.thread_events(thread) {
                let line = lines[event.index()];
                if line < next || at[(line - first) as usize].replace(event).is_some() {
                    return None;
                }
                next = line.saturating_add(1);
            }
        }
        Some(at.into_iter().flatten().collect())
    }

    fn order_of_threads(&self) -> Vec<EventId> {
        let mut lines: Vec<(u32, EventId)> = Vec::with_capacity(self.len());
        for thread in self.threads() {
            let mut latest = 0;
            for event in self.thread_events(thread) {
                // Whoever builds a history may give its events any lines.
                latest = latest.max(self.columns.line(event.index()));
                lines.push((latest, event));
            }
        }
        // A thread is a run of ascending lines, and merging runs is what this sort does best.
        lines.sort_by_key(|&(line, _)| line);
        lines.into_iter().map(|(_, event)| event).collect()
    }

    /// How many events there are, fences included.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.columns.len() == 0
    }

    /// How many threads there are.
    pub fn thread_count(&self) -> usize {
        self.thread_labels.len()
    }

    /// The ids of all threads.
    pub fn threads(&self) -> impl DoubleEndedIterator<Item = ThreadId> + ExactSizeIterator + use<> {
        (0..self.thread_labels.len()).map(ThreadId::new)
    }

    /// What the trace calls a thread.
    pub fn thread_label(&self, thread: ThreadId) -> u64 {
        self.thread_labels[thread.index()]
    }

    /// The thread a trace calls by this number.
    pub fn thread_by_label(&self, label: u64) -> Option<ThreadId> {
        self.thread_labels.iter().position(|&l| l == label).map(ThreadId::new)
    }

    /// The index range of a thread's events, in program order.
    #[inline]
    pub fn thread_range(&self, thread: ThreadId) -> Range<usize> {
        self.thread_starts[thread.index()] as usize..self.thread_starts[thread.index() + 1] as usize
    }

    /// The ids of a thread's events, in program order.
    pub fn thread_events(
        &self,
        thread: ThreadId,
    ) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        self.thread_range(thread).map(EventId::new)
    }

    /// The event at a place in a thread's program order.
    pub fn event_at(&self, thread: ThreadId, index: usize) -> Option<EventId> {
        let range = self.thread_range(thread);
        (index < range.len()).then(|| EventId::new(range.start + index))
    }

    /// Whether `a` comes before `b` in the program order of one thread.
    #[inline]
    pub fn program_order(&self, a: EventId, b: EventId) -> bool {
        a < b && self.thread_of(a) == self.thread_of(b)
    }

    /// How many addresses there are.
    pub fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// The ids of all addresses.
    pub fn address_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = AddressId> + ExactSizeIterator + use<> {
        (0..self.addresses.len()).map(AddressId::new)
    }

    /// An address by its id.
    #[inline]
    pub fn address(&self, id: AddressId) -> &Address {
        &self.addresses[id.index()]
    }

    /// The address a trace calls by this label.
    pub fn address_by_label(&self, label: &AddressLabel) -> Option<AddressId> {
        self.addresses.iter().position(|a| a.label == *label).map(AddressId::new)
    }

    /// Who may have written what this event read: every write of the address with that value, and
    /// the initial write if it has that value. Exactly one where values are unique; empty for a
    /// value nobody wrote (only in histories built with thin-air reads allowed); empty for events
    /// that do not read. In a history of mixed sizes ([`mixed`](Self::mixed)): whoever may have
    /// written some byte of it.
    #[inline]
    pub fn sources(&self, read: EventId) -> &[Source] {
        self.classes.sources(&self.origins[read.index()])
    }

    /// Who wrote what this event read, where only one could have: `None` if nobody did, if several
    /// writes may have, and for events that do not read.
    #[inline]
    pub fn only_source(&self, read: EventId) -> Option<Source> {
        self.origins[read.index()].only()
    }

    /// Whether every read and every `final` has exactly one candidate source.
    pub fn is_unambiguous(&self) -> bool {
        self.event_ids().all(|e| !self.kinds_of(e).reads || self.only_source(e).is_some())
            && self.finals.iter().all(|f| f.sources.len() == 1)
    }

    /// The parts of the accesses, where accesses of different bytes overlap or some are wider than
    /// eight bytes; `None` where every address can be taken for itself.
    pub fn mixed(&self) -> Option<&Mixed> {
        self.mixed.as_ref()
    }

    /// The bytes that an event accesses, if its address is given as bytes.
    pub fn bytes_of(&self, event: EventId) -> Option<ByteRange> {
        match self.address(self.address_of(event)?).label {
            AddressLabel::Bytes(range) => Some(range),
            AddressLabel::Number(_) | AddressLabel::Name(_) => None,
        }
    }

    /// The whole value read, which may be wider than 64 bits.
    pub fn wide_value_read(&self, event: EventId) -> Option<u128> {
        let low = self.event(event).operation.value_read()?;
        Some(u128::from(self.upper_bytes(event).read) << 64 | u128::from(low))
    }

    /// The whole value written, which may be wider than 64 bits.
    pub fn wide_value_written(&self, event: EventId) -> Option<u128> {
        let low = self.event(event).operation.value_written()?;
        Some(u128::from(self.upper_bytes(event).written) << 64 | u128::from(low))
    }

    /// Whether an event read what nobody wrote, or some bytes of it; only in histories built with
    /// thin-air reads allowed.
    pub fn reads_unwritten(&self, event: EventId) -> bool {
        self.unwritten_part(event).is_some()
    }

    /// The same for the `final` line of an index.
    pub fn final_is_unwritten(&self, index: usize) -> bool {
        match (&self.mixed, self.finals.get(index)) {
            (_, None) => false,
            (None, Some(f)) => f.sources.is_empty(),
            (Some(mixed), Some(_)) => mixed.lost_finals(self)[index],
        }
    }

    /// A value of an event as traces spell it: in hexadecimal where the address is bytes, unless it
    /// is a single digit.
    pub fn value_text(&self, event: EventId, value: u128) -> String {
        match self.bytes_of(event) {
            Some(_) if value > 9 => format!("{value:#x}"),
            _ => value.to_string(),
        }
    }

    /// An event, or a part of it, that read what nobody wrote.
    pub(crate) fn unwritten_part(&self, event: EventId) -> Option<EventId> {
        if !self.kinds_of(event).reads {
            return None;
        }
        match &self.mixed {
            None => self.sources(event).is_empty().then_some(event),
            Some(mixed) => {
                mixed.parts_of(event).find(|&part| mixed.parts().sources(part).is_empty())
            }
        }
    }

    pub(crate) fn upper_bytes(&self, event: EventId) -> Exchange {
        let none = Exchange { read: 0, written: 0 };
        let at = self.uppers.binary_search_by_key(&event, |&(e, _)| e);
        at.map_or(none, |at| self.uppers[at].1)
    }

    /// When an event began and ended.
    pub fn times(&self, event: EventId) -> Times {
        self.times.get(event.index())
    }

    /// Where an event comes from, if the trace says so: program counter, instruction, cycle.
    pub fn commit(&self, event: EventId) -> Option<Commit<'_>> {
        self.commits.get(event.index())
    }

    /// Whether any event carries a time.
    pub fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// The same history without its times.
    pub fn without_times(mut self) -> Self {
        self.times = TimeColumns::default();
        self
    }

    /// All declared dependencies as pairs (dependent, the earlier read it depends on), sorted.
    pub fn dependencies(&self) -> &[(EventId, EventId)] {
        &self.dependencies
    }

    /// The reads an event depends on.
    pub fn dependencies_of(&self, event: EventId) -> impl Iterator<Item = EventId> + '_ {
        let start = self.dependencies.partition_point(|&(to, _)| to < event);
        self.dependencies[start..]
            .iter()
            .take_while(move |&&(to, _)| to == event)
            .map(|&(_, from)| from)
    }

    /// The kinds of a dependency, by its position in [`dependencies`](Self::dependencies).
    pub fn kinds_of_dependency(&self, position: usize) -> DependencyKinds {
        let address = DependencyKinds::only(DependencyKind::Address);
        self.dependency_kinds.get(position).copied().unwrap_or(address)
    }

    /// The successful store-conditionals with the load-reserved of each, sorted.
    pub fn pairs(&self) -> &[(EventId, EventId)] {
        &self.pairs
    }

    /// Whether others may depend on an event: on what it read, or on whether it succeeded.
    pub fn may_be_depended_on(&self, event: EventId) -> bool {
        let conditional = || self.pairs.binary_search_by_key(&event, |&(write, _)| write).is_ok();
        self.kinds_of(event).reads || conditional()
    }

    /// How an access is ordered by its annotation, if it has one.
    #[inline]
    pub fn access_order(&self, event: EventId) -> Option<AccessOrder> {
        match self.marks.get(event.index()) {
            Some(Mark::Order(order)) => Some(order),
            Some(Mark::Fence(_)) | None => None,
        }
    }

    /// The name of a fence, if it was given by name.
    #[inline]
    pub fn fence_name(&self, event: EventId) -> Option<FenceName> {
        match self.marks.get(event.index()) {
            Some(Mark::Fence(name)) => Some(name),
            Some(Mark::Order(_)) | None => None,
        }
    }

    /// Whether any access is annotated or any fence named.
    pub fn has_annotations(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The name an event was given with `as`.
    pub fn name(&self, event: EventId) -> Option<&str> {
        let at = self.names.binary_search_by_key(&event, |&(e, _)| e).ok()?;
        Some(&self.names[at].1)
    }

    /// The `final` lines, at most one an address.
    pub fn finals(&self) -> &[Final] {
        &self.finals
    }

    /// The `order` lines.
    pub fn orders(&self) -> &[OrderChain] {
        &self.orders
    }
}
