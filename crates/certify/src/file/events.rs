//! The events of a history in the terms of cat, as the kernel sees them: initial writes first, one
//! of each address, then the events of the trace, an atomic as its read and its write. Of a history of
//! mixed sizes these are the events of its parts.

use evidence::Node;
use history::{
    AccessOrder, AddressId, DependencyKind, EventId, FenceName, History, Kinds, Mixed, Operation,
    Source,
};

/// An event by its number.
pub(crate) type Id = usize;

/// A set that every execution has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BaseSet {
    Reads,
    Writes,
    Initial,
    Fences,
    Atomic,
    Exclusive,
    /// Atomics that return nothing: traces have none.
    NoReturn,
    Ordered(AccessOrder),
    FenceNamed(FenceName),
    /// Fences that order these kinds before them and these behind them.
    Fence(Kinds, Kinds),
}

impl BaseSet {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "R" => BaseSet::Reads,
            "W" => BaseSet::Writes,
            "IW" => BaseSet::Initial,
            "F" => BaseSet::Fences,
            "X" => BaseSet::Atomic,
            "EX" => BaseSet::Exclusive,
            "NoRet" => BaseSet::NoReturn,
            "Acq" => BaseSet::Ordered(AccessOrder::Acquire),
            "AcqPc" => BaseSet::Ordered(AccessOrder::AcquirePc),
            "Rel" => BaseSet::Ordered(AccessOrder::Release),
            "AcqRel" => BaseSet::Ordered(AccessOrder::AcquireRelease),
            "Sc" => BaseSet::Ordered(AccessOrder::Sequential),
            _ => {
                let mut named = FenceName::ALL.into_iter();
                if let Some(fence) = named.find(|fence| fence.set_name() == name) {
                    return Some(BaseSet::FenceNamed(fence));
                }
                let kinds = |letters: &str| match letters {
                    "r" => Some(Kinds::READS),
                    "w" => Some(Kinds::WRITES),
                    "rw" => Some(Kinds::ALL),
                    _ => None,
                };
                let (before, after) = name.strip_prefix("Fence.")?.split_once('.')?;
                BaseSet::Fence(kinds(before)?, kinds(after)?)
            }
        })
    }
}

/// A relation that every execution has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BaseRelation {
    Same,
    ProgramOrder,
    SameAddress,
    SameThread,
    ReadsFrom,
    Coherence,
    Dependency(DependencyKind),
    AtomicPair,
    ExclusivePair,
    RealTime,
}

impl BaseRelation {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "id" => BaseRelation::Same,
            "po" => BaseRelation::ProgramOrder,
            "loc" => BaseRelation::SameAddress,
            "int" => BaseRelation::SameThread,
            "rf" => BaseRelation::ReadsFrom,
            "co" => BaseRelation::Coherence,
            "addr" => BaseRelation::Dependency(DependencyKind::Address),
            "data" => BaseRelation::Dependency(DependencyKind::Data),
            "ctrl" => BaseRelation::Dependency(DependencyKind::Control),
            "amo" => BaseRelation::AtomicPair,
            "lxsx" => BaseRelation::ExclusivePair,
            "rt" => BaseRelation::RealTime,
            _ => return None,
        })
    }
}

/// The events, and what is fixed about them.
pub(crate) struct Events<'a> {
    /// The history, or its parts.
    pub(crate) history: &'a History,
    addresses: usize,
    /// The number of the first part of each event of the trace.
    firsts: Vec<u32>,
    /// The event of the trace of each number behind the initial writes.
    origins: Vec<EventId>,
    /// The accesses of load-reserved and store-conditional pairs, sorted.
    exclusive: Vec<EventId>,
    /// Of mixed sizes: for each number the one that stands for its access, or for this half of it.
    wholes: Vec<Id>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(whole: &'a History) -> Self {
        let history = whole.mixed().map_or(whole, Mixed::parts);
        let addresses = history.address_count();
        let mut firsts = Vec::with_capacity(history.len());
        let mut origins = Vec::with_capacity(history.len());
        for event in history.event_ids() {
            firsts.push((addresses + origins.len()) as u32);
            origins.push(event);
            if history.kinds_of(event) == Kinds::ALL && history.address_of(event).is_some() {
                origins.push(event);
            }
        }
        let mut exclusive: Vec<EventId> =
            history.pairs().iter().flat_map(|&(store, load)| [store, load]).collect();
        exclusive.sort_unstable();
        let mut events = Events { history, addresses, firsts, origins, exclusive, wholes: vec![] };
        if let Some(mixed) = whole.mixed() {
            events.wholes = events.ids().map(|id| events.first_part(mixed, id)).collect();
        }
        events
    }

    /// The same half of the first part of the access that a part is of.
    fn first_part(&self, mixed: &Mixed, id: Id) -> Id {
        let Some(part) = self.origin(id) else { return id };
        let first = mixed.parts_of(mixed.access_of(part)).next().unwrap_or(part);
        self.parts(first).start + (id - self.parts(part).start)
    }

    /// Whether accesses are of mixed sizes.
    pub(crate) fn are_parts(&self) -> bool {
        !self.wholes.is_empty()
    }

    /// The event that stands for an access, or for this half of it.
    pub(crate) fn whole(&self, id: Id) -> Id {
        self.wholes.get(id).copied().unwrap_or(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.addresses + self.origins.len()
    }

    pub(crate) fn ids(&self) -> std::ops::Range<Id> {
        0..self.len()
    }

    /// The event of the trace; `None` for an initial write.
    pub(crate) fn origin(&self, id: Id) -> Option<EventId> {
        self.origins.get(id.checked_sub(self.addresses)?).copied()
    }

    /// The parts of an event of the trace: one, or the read and the write of an atomic.
    pub(crate) fn parts(&self, event: EventId) -> std::ops::Range<Id> {
        let first = self.firsts[event.index()] as usize;
        first..first + if self.is_atomic(event) { 2 } else { 1 }
    }

    fn is_atomic(&self, event: EventId) -> bool {
        self.history.kinds_of(event) == Kinds::ALL && self.history.address_of(event).is_some()
    }

    /// The write that a source is, at an address.
    pub(crate) fn write(&self, source: Source, address: AddressId) -> Id {
        match source {
            Source::Initial => address.index(),
            Source::Write(write) => self.parts(write).end - 1,
        }
    }

    /// The event that a certificate calls so; an atomic by itself is its write.
    pub(crate) fn named(&self, node: Node) -> Id {
        match node {
            Node::Initial(address) => address.index(),
            Node::Event(event) => self.parts(event).end - 1,
            Node::ReadOf(event) => self.parts(event).start,
        }
    }

    /// The source that a write is.
    pub(crate) fn source(&self, id: Id) -> Source {
        self.origin(id).map_or(Source::Initial, Source::Write)
    }

    pub(crate) fn address(&self, id: Id) -> Option<AddressId> {
        match self.origin(id) {
            None => Some(AddressId::new(id)),
            Some(event) => self.history.address_of(event),
        }
    }

    pub(crate) fn is_read(&self, id: Id) -> bool {
        self.origin(id).is_some_and(|event| {
            let is_write_half = self.is_atomic(event) && id != self.parts(event).start;
            self.history.address_of(event).is_some()
                && self.history.kinds_of(event).reads
                && !is_write_half
        })
    }

    pub(crate) fn is_write(&self, id: Id) -> bool {
        self.address(id).is_some() && !self.is_read(id)
    }

    pub(crate) fn is_in(&self, set: BaseSet, id: Id) -> bool {
        let Some(event) = self.origin(id) else {
            return matches!(set, BaseSet::Writes | BaseSet::Initial);
        };
        let history = self.history;
        let fence = || match history.event(event).operation {
            Operation::Fence { before, after } => Some((before, after)),
            _ => None,
        };
        match set {
            BaseSet::Reads => self.is_read(id),
            BaseSet::Writes => self.is_write(id),
            BaseSet::Initial | BaseSet::NoReturn => false,
            BaseSet::Fences => fence().is_some(),
            BaseSet::Atomic => self.is_atomic(event),
            BaseSet::Exclusive => {
                !self.is_atomic(event) && self.exclusive.binary_search(&event).is_ok()
            }
            BaseSet::Ordered(order) => history.access_order(event) == Some(order),
            BaseSet::FenceNamed(name) => history.fence_name(event) == Some(name),
            BaseSet::Fence(before, after) => fence() == Some((before, after)),
        }
    }

    /// Whether two events are related by what the trace alone says; never by `rf` and `co`.
    pub(crate) fn fixed(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        let both = self.origin(a).zip(self.origin(b));
        match relation {
            BaseRelation::Same => a == b,
            BaseRelation::ProgramOrder => {
                // The parts of an access are of one instruction.
                self.origin(self.whole(a)) != self.origin(self.whole(b))
                    && both.is_some_and(|(a, b)| self.history.program_order(a, b))
            }
            BaseRelation::SameAddress => {
                self.address(a).is_some() && self.address(a) == self.address(b)
            }
            BaseRelation::SameThread => {
                a == b
                    || both.is_some_and(|(a, b)| {
                        self.history.thread_of(a) == self.history.thread_of(b)
                    })
            }
            BaseRelation::ReadsFrom | BaseRelation::Coherence => false,
            BaseRelation::Dependency(kind) => {
                self.is_read(a)
                    && both.is_some_and(|(from, to)| {
                        let found = self.history.dependencies().binary_search(&(to, from));
                        found.is_ok_and(|at| self.history.kinds_of_dependency(at).contains(kind))
                    })
            }
            BaseRelation::AtomicPair => b == a + 1 && both.is_some_and(|(from, to)| from == to),
            BaseRelation::ExclusivePair => both.is_some_and(|(load, store)| {
                self.history.pairs().binary_search(&(store, load)).is_ok()
                    && self.parts(load).start == a
                    && self.parts(store).start == b
            }),
            BaseRelation::RealTime => both.is_some_and(|(a, b)| {
                let (ended, began) = (self.history.times(a).end, self.history.times(b).begin);
                ended.zip(began).is_some_and(|(ended, began)| ended < began)
            }),
        }
    }

    /// The pairs of a relation that the trace lists one by one; `None` for the others.
    pub(crate) fn listed(&self, relation: BaseRelation) -> Option<Vec<(Id, Id)>> {
        Some(match relation {
            BaseRelation::Dependency(kind) => {
                let mut pairs = Vec::new();
                for (at, &(to, from)) in self.history.dependencies().iter().enumerate() {
                    let from = self.parts(from).start;
                    if self.history.kinds_of_dependency(at).contains(kind) && self.is_read(from) {
                        pairs.extend(self.parts(to).map(|to| (from, to)));
                    }
                }
                pairs
            }
            BaseRelation::AtomicPair => {
                let atomics = self.history.event_ids().filter(|&event| self.is_atomic(event));
                atomics
                    .map(|event| (self.parts(event).start, self.parts(event).start + 1))
                    .collect()
            }
            BaseRelation::ExclusivePair => {
                let pairs = self.history.pairs().iter();
                pairs
                    .map(|&(store, load)| (self.parts(load).start, self.parts(store).start))
                    .collect()
            }
            _ => return None,
        })
    }
}
