//! A part of a history: which of its lines to keep, and the history that they make.
//!
//! A read needs a write to have read from, so lines cannot be dropped one by one: dropping a write
//! drops the readers of its value with it. Where several writes wrote the value, there is a choice,
//! see [`ReaderRemoval`]. Both directions are linear in the history.

use history::{
    AddressId, AddressLabel, Builder, EventId, History, Operation, Source, ThinAir, Times, Value,
    WriteName,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// When a reader goes with a write it may have read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReaderRemoval {
    /// With the first of its candidates: every kept reader keeps them all.
    AnyCandidateGone,
    /// With the last of its candidates.
    AllCandidatesGone,
}

/// Someone who takes a value from memory: a read, or the `final` line of this index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValueReader {
    Event(EventId),
    Final(usize),
}

/// Who takes which value from where.
pub(super) struct ValueReaders {
    of: FxHashMap<(AddressId, Value), Vec<ValueReader>>,
}

impl ValueReaders {
    pub(super) fn new(history: &History) -> Self {
        let mut of: FxHashMap<_, Vec<ValueReader>> = FxHashMap::default();
        for e in history.event_ids() {
            let event = history.event(e);
            if let (Some(address), Some(value)) = (event.address(), event.operation.value_read()) {
                of.entry((address, value)).or_default().push(ValueReader::Event(e));
            }
        }
        for (i, line) in history.finals().iter().enumerate() {
            of.entry((line.address, line.value)).or_default().push(ValueReader::Final(i));
        }
        Self { of }
    }

    /// Whether anyone takes the initial value of this address.
    pub(super) fn take_initial(&self, history: &History, address: AddressId) -> bool {
        !self.of(address, history.address(address).initial).is_empty()
    }

    fn of(&self, address: AddressId, value: Value) -> &[ValueReader] {
        self.of.get(&(address, value)).map_or(&[], Vec::as_slice)
    }
}

/// How many sources a value_reader may have taken its value from.
fn candidates(history: &History, value_reader: ValueReader) -> usize {
    match value_reader {
        ValueReader::Event(read) => history.sources(read).len(),
        ValueReader::Final(i) => history.finals()[i].sources.len(),
    }
}

/// Which lines of a history to keep. An `order` line keeps the writes that are kept; a line about
/// an address that no kept line speaks of is not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) events: Vec<bool>,
    pub(super) finals: Vec<bool>,
    pub(super) orders: Vec<bool>,
    /// By address.
    pub(super) inits: Vec<bool>,
    /// By position in [`History::dependencies`].
    pub(super) dependencies: Vec<bool>,
    /// By event.
    pub(super) times: Vec<bool>,
}

impl Part {
    /// Everything.
    pub(super) fn whole(history: &History) -> Self {
        Self {
            events: vec![true; history.len()],
            finals: vec![true; history.finals().len()],
            orders: vec![true; history.orders().len()],
            inits: vec![true; history.address_count()],
            dependencies: vec![true; history.dependencies().len()],
            times: vec![true; history.len()],
        }
    }

    /// No events and no `final` lines, but whatever else is said about those yet to be added.
    pub(super) fn empty(history: &History) -> Self {
        let finals = vec![false; history.finals().len()];
        Self { events: vec![false; history.len()], finals, ..Self::whole(history) }
    }

    /// How many events it keeps.
    pub(super) fn len(&self) -> usize {
        self.kept().count()
    }

    /// The events it keeps.
    pub(super) fn kept(&self) -> impl Iterator<Item = EventId> + '_ {
        self.events.iter().enumerate().filter(|(_, kept)| **kept).map(|(e, _)| EventId::new(e))
    }

    /// Drops events, and with them the readers that nothing is left to read from.
    pub(super) fn drop_events(
        &mut self,
        history: &History,
        value_readers: &ValueReaders,
        events: impl IntoIterator<Item = EventId>,
        removal: ReaderRemoval,
    ) {
        if history.mixed().is_some() {
            return self.drop_accesses(history, events, removal);
        }
        let mut work: Vec<EventId> = events.into_iter().collect();
        let mut gone: FxHashMap<(AddressId, Value), usize> = FxHashMap::default();
        while let Some(e) = work.pop() {
            if !std::mem::take(&mut self.events[e.index()]) {
                continue;
            }
            let operation = history.event(e).operation;
            let (Some(address), Some(value)) = (operation.address(), operation.value_written())
            else {
                continue;
            };
            let gone = gone.entry((address, value)).or_default();
            *gone += 1;
            for &value_reader in value_readers.of(address, value) {
                if removal == ReaderRemoval::AllCandidatesGone
                    && *gone < candidates(history, value_reader)
                {
                    break; // value_readers of one value share their candidates
                }
                match value_reader {
                    ValueReader::Event(read) => work.push(read),
                    ValueReader::Final(i) => self.finals[i] = false,
                }
            }
        }
    }

    /// The same for accesses of mixed sizes: a reader goes with a part of it.
    fn drop_accesses(
        &mut self,
        history: &History,
        events: impl IntoIterator<Item = EventId>,
        removal: ReaderRemoval,
    ) {
        let Some(mixed) = history.mixed() else { return };
        let parts = mixed.parts();
        events.into_iter().for_each(|e| self.events[e.index()] = false);
        loop {
            let orphaned = |sources: &[Source]| {
                let is_kept = |source: &Source| {
                    written(source).is_none_or(|part| self.events[mixed.access_of(part).index()])
                };
                match removal {
                    ReaderRemoval::AnyCandidateGone => !sources.iter().all(is_kept),
                    ReaderRemoval::AllCandidatesGone => {
                        !sources.is_empty() && !sources.iter().any(is_kept)
                    }
                }
            };
            let lost = |e: &EventId| mixed.parts_of(*e).any(|part| orphaned(parts.sources(part)));
            let events: Vec<EventId> = self.kept().filter(lost).collect();
            for (at, line) in history.finals().iter().enumerate() {
                let cells: Vec<AddressId> = mixed.cells_of(history, line.address).collect();
                let mut said = parts.finals().iter().filter(|f| cells.contains(&f.address));
                let lost = said.any(|f| orphaned(&f.sources));
                self.finals[at] &= !lost;
            }
            if events.is_empty() {
                return;
            }
            events.into_iter().for_each(|e| self.events[e.index()] = false);
        }
    }

    /// Adds every write that a kept reader may have read from.
    pub(super) fn add_sources(&mut self, history: &History) {
        let mut done: FxHashSet<(AddressId, Value)> = FxHashSet::default();
        let mut work: Vec<EventId> = self.kept().collect();
        for (line, _) in history.finals().iter().zip(&self.finals).filter(|(_, kept)| **kept) {
            work.extend(line.sources.iter().filter_map(written));
        }
        while let Some(e) = work.pop() {
            self.events[e.index()] = true;
            let operation = history.event(e).operation;
            let Some(address) = operation.address() else { continue };
            // Of mixed sizes, accesses that read the same may have read it from elsewhere.
            let key = match history.mixed() {
                None => operation.value_read(),
                Some(_) => operation.value_read().map(|_| e.index() as Value),
            };
            if let Some(key) = key
                && done.insert((address, key))
            {
                work.extend(history.sources(e).iter().filter_map(written));
            }
        }
    }

    /// The history that the kept lines make; `None` if they do not make sense on their own, as lines
    /// without an event do not: a trace has one.
    pub(super) fn build(&self, history: &History) -> Option<History> {
        let mut builder = Builder::new();
        let addresses = self.addresses(history, &mut builder);
        let kept: Vec<EventId> = self.kept().collect();
        if kept.is_empty() {
            return None;
        }
        let mut drafts = FxHashMap::default();
        for &e in &kept {
            let event = history.event(e);
            let operation = moved(event.operation, &addresses)?;
            let thread = history.thread_label(event.thread);
            let draft = match history.fence_name(e) {
                Some(name) => builder.fence(thread, name, event.line).ok()?,
                None => builder.event(thread, operation, event.line).ok()?,
            };
            if let Some(commit) = history.commit(e) {
                builder.committed(draft, commit).ok()?;
            }
            if let Some(order) = history.access_order(e) {
                builder.annotate(draft, order).ok()?;
            }
            let upper = |value: Option<u128>| (value.unwrap_or_default() >> 64) as Value;
            let read = upper(history.wide_value_read(e));
            builder.upper_bytes(draft, read, upper(history.wide_value_written(e))).ok()?;
            drafts.insert(e, draft);
            if let Some(name) = history.name(e) {
                builder.name(draft, name).ok()?;
            }
            if self.times[e.index()] && history.times(e) != Times::default() {
                builder.times(draft, history.times(e)).ok()?;
            }
        }
        for &(write, load) in history.pairs() {
            if let (Some(&draft), true) = (drafts.get(&write), self.events[load.index()]) {
                builder.pair(draft, history.name(load)?).ok()?;
            }
        }
        for (at, &(event, read)) in history.dependencies().iter().enumerate() {
            let (Some(&draft), true) = (drafts.get(&event), self.may_be_depended_on(history, read))
            else {
                continue;
            };
            for kind in history.kinds_of_dependency(at).iter().filter(|_| self.dependencies[at]) {
                builder.dependency_of_kind(draft, history.name(read)?, kind).ok()?;
            }
        }
        self.add_lines(history, &mut builder, &addresses)?;
        let built = builder.finish(ThinAir::Violation).ok()?;
        self.takers_have_sources(history, &kept, &built).then_some(built)
    }

    /// Whether an event is kept and others may still depend on it: a store-conditional without its
    /// load is a plain write.
    fn may_be_depended_on(&self, history: &History, event: EventId) -> bool {
        let pair = || history.pairs().iter().find(|&&(write, _)| write == event);
        self.events[event.index()]
            && (history.kinds_of(event).reads
                || pair().is_some_and(|&(_, load)| self.events[load.index()]))
    }

    /// The addresses that kept events and `final` lines speak of, with their `init` lines.
    fn addresses(&self, history: &History, builder: &mut Builder) -> Vec<Option<AddressId>> {
        let mut used = vec![false; history.address_count()];
        for e in self.kept() {
            if let Some(address) = history.event(e).address() {
                used[address.index()] = true;
            }
        }
        for (line, _) in history.finals().iter().zip(&self.finals).filter(|(_, kept)| **kept) {
            used[line.address.index()] = true;
        }
        history
            .address_ids()
            .map(|a| used[a.index()].then(|| builder.address(&history.address(a).label)))
            .collect()
    }

    /// The `init`, `final` and `order` lines.
    fn add_lines(
        &self,
        history: &History,
        builder: &mut Builder,
        addresses: &[Option<AddressId>],
    ) -> Option<()> {
        for a in history.address_ids().filter(|a| self.inits[a.index()]) {
            let address = history.address(a);
            let Some(line) = address.init_line else { continue };
            let id = match addresses[a.index()] {
                None if overlaps_one_of(history, a, addresses) => builder.address(&address.label),
                None => continue,
                Some(id) => id,
            };
            builder.initial(id, address.initial, line).ok()?;
        }
        for (line, _) in history.finals().iter().zip(&self.finals).filter(|(_, kept)| **kept) {
            builder.final_value(addresses[line.address.index()]?, line.value, line.line).ok()?;
        }
        for (chain, _) in history.orders().iter().zip(&self.orders).filter(|(_, kept)| **kept) {
            let writes: Vec<WriteName> = chain
                .writes
                .iter()
                .filter(|w| written(w).is_none_or(|e| self.events[e.index()]))
                .filter_map(|w| write_name(history, chain.address, w))
                .collect();
            if let (Some(address), true) = (addresses[chain.address.index()], writes.len() > 1) {
                builder.order(address, writes, chain.line);
            }
        }
        Some(())
    }

    /// Whether every reader that had a source still has one. (A reader that never had one is the
    /// violation itself.)
    fn takers_have_sources(&self, history: &History, kept: &[EventId], built: &History) -> bool {
        // Both are thread-major with the same threads in the same order.
        let reads = kept
            .iter()
            .zip(built.event_ids())
            .filter(|(_, new)| built.kinds_of(*new).reads)
            .all(|(&old, new)| !built.reads_unwritten(new) || history.reads_unwritten(old));
        let finals = (0..self.finals.len()).filter(|&f| self.finals[f]);
        reads
            && finals
                .zip(0..built.finals().len())
                .all(|(old, new)| !built.final_is_unwritten(new) || history.final_is_unwritten(old))
    }
}

/// Whether an address is bytes of which some are in a kept address.
fn overlaps_one_of(history: &History, address: AddressId, kept: &[Option<AddressId>]) -> bool {
    let bytes = |address| match history.address(address).label {
        AddressLabel::Bytes(range) => Some(range),
        AddressLabel::Number(_) | AddressLabel::Name(_) => None,
    };
    let Some(range) = bytes(address) else { return false };
    let kept = history.address_ids().filter(|other| kept[other.index()].is_some());
    kept.into_iter().filter_map(bytes).any(|other| other.overlaps(range))
}

fn written(source: &Source) -> Option<EventId> {
    match *source {
        Source::Write(e) => Some(e),
        Source::Initial => None,
    }
}

/// How an `order` line of the part calls a write.
fn write_name(history: &History, address: AddressId, write: &Source) -> Option<WriteName> {
    match *write {
        Source::Initial => Some(WriteName::Value(history.address(address).initial)),
        Source::Write(e) => match history.name(e) {
            Some(name) => Some(WriteName::Name(name.into())),
            None => history.event(e).operation.value_written().map(WriteName::Value),
        },
    }
}

/// The operation with its address as the part numbers it.
fn moved(operation: Operation, addresses: &[Option<AddressId>]) -> Option<Operation> {
    let to = |address: AddressId| addresses[address.index()];
    Some(match operation {
        Operation::Read { address, value } => Operation::Read { address: to(address)?, value },
        Operation::Write { address, value } => Operation::Write { address: to(address)?, value },
        Operation::ReadModifyWrite { address, read, write } => {
            Operation::ReadModifyWrite { address: to(address)?, read, write }
        }
        Operation::Fence { .. } => operation,
    })
}
