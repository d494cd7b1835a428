//! What a history says about its execution, in the terms of cat.
//!
//! Events are the initial writes of the addresses, and the events of the history; an atomic
//! read-modify-write is two of them, its reading and its writing half, joined by `amo` and not
//! ordered by `po`. What the history leaves open are *choices*: which of several writes of a value a
//! read took, and the order of the writes of each address. [`Knowledge`] is what is settled of them:
//! pairs that are certainly in `rf` and `co`, and pairs that may be.

use history::{EventId, History, Operation, Source};

use crate::base::{BaseRelation, BaseSet, FenceKind};
use crate::bits::{Bits, Matrix};

/// An event, and which part of an event of the history it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The initial write of an address.
    Initial,
    Read,
    Write,
    ReadHalf,
    WriteHalf,
    Fence(Option<FenceKind>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CatEvent {
    pub(crate) role: Role,
    /// The number of its address; none for a fence.
    pub(crate) address: Option<usize>,
    /// The event of the history; none for an initial write.
    pub(crate) event: Option<EventId>,
}

impl CatEvent {
    fn is_read(&self) -> bool {
        matches!(self.role, Role::Read | Role::ReadHalf)
    }

    fn is_write(&self) -> bool {
        matches!(self.role, Role::Initial | Role::Write | Role::WriteHalf)
    }
}

/// The events of a history and what is fixed about them.
pub(crate) struct Execution<'a> {
    history: &'a History,
    pub(crate) events: Vec<CatEvent>,
}

/// What is known of `rf` and `co`: the pairs that are in it, and those that may be.
#[derive(Debug, Clone)]
pub(crate) struct Knowledge {
    pub(crate) reads_from: Bounds,
    pub(crate) coherence: Bounds,
}

/// A relation of which not all is known.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) must: Matrix,
    pub(crate) may: Matrix,
}

impl Knowledge {
    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        [&self.reads_from, &self.coherence]
            .map(|each| each.must.bytes() + each.may.bytes())
            .iter()
            .sum()
    }
}

impl<'a> Execution<'a> {
    pub(crate) fn new(history: &'a History) -> Self {
        let initial = history.address_ids().map(|address| CatEvent {
            role: Role::Initial,
            address: Some(address.index()),
            event: None,
        });
        let mut events: Vec<CatEvent> = initial.collect();
        for id in history.event_ids() {
            let roles: &[Role] = match history.event(id).operation {
                Operation::Read { .. } => &[Role::Read],
                Operation::Write { .. } => &[Role::Write],
                Operation::ReadModifyWrite { .. } => &[Role::ReadHalf, Role::WriteHalf],
                Operation::Fence { before, after } => &[Role::Fence(FenceKind::new(before, after))],
            };
            let address = history.address_of(id).map(|address| address.index());
            events.extend(roles.iter().map(|&role| CatEvent { role, address, event: Some(id) }));
        }
        Execution { history, events }
    }

    pub(crate) fn size(&self) -> usize {
        self.events.len()
    }

    /// The events of a set.
    pub(crate) fn set(&self, set: BaseSet) -> Bits {
        Bits::of(self.size(), |at| {
            let event = &self.events[at];
            match set {
                BaseSet::Reads => event.is_read(),
                BaseSet::Writes => event.is_write(),
                BaseSet::InitialWrites => event.role == Role::Initial,
                BaseSet::Atomic => matches!(event.role, Role::ReadHalf | Role::WriteHalf),
                BaseSet::Fences => matches!(event.role, Role::Fence(_)),
                BaseSet::Fence(kind) => event.role == Role::Fence(Some(kind)),
                BaseSet::Named(name) => {
                    event.event.and_then(|id| self.history.fence_name(id)) == Some(name)
                }
                BaseSet::Annotated(order) => {
                    event.event.and_then(|id| self.history.access_order(id)) == Some(order)
                }
                BaseSet::Exclusive => {
                    let pairs = self.history.pairs();
                    event.event.is_some_and(|id| pairs.iter().any(|p| p.0 == id || p.1 == id))
                }
            }
        })
    }

    /// The pairs of a relation that the history fixes; `None` for `rf` and `co`.
    pub(crate) fn relation(&self, relation: BaseRelation) -> Option<Matrix> {
        let holds: &dyn Fn(&CatEvent, &CatEvent) -> bool = match relation {
            BaseRelation::Same => return Some(Matrix::of(self.size(), |a, b| a == b)),
            BaseRelation::ReadsFrom | BaseRelation::Coherence => return None,
            BaseRelation::ProgramOrder => &|a, b| match (a.event, b.event) {
                (Some(a), Some(b)) => self.history.program_order(a, b),
                _ => false,
            },
            BaseRelation::SameAddress => &|a, b| a.address.is_some() && a.address == b.address,
            BaseRelation::SameThread => &|a, b| match (a.event, b.event) {
                (Some(a), Some(b)) => self.history.thread_of(a) == self.history.thread_of(b),
                (None, None) => a.address == b.address,
                _ => false,
            },
            BaseRelation::Dependency(kind) => &move |a, b| match (a.event, b.event) {
                (Some(from), Some(to)) => {
                    let found = self.history.dependencies().binary_search(&(to, from));
                    let is_of_kind = |at| self.history.kinds_of_dependency(at).contains(kind);
                    a.is_read() && found.is_ok_and(is_of_kind)
                }
                _ => false,
            },
            BaseRelation::ExclusivePair => &|a, b| match (a.event, b.event) {
                (Some(load), Some(store)) => self.history.pairs().contains(&(store, load)),
                _ => false,
            },
            BaseRelation::AtomicPair => {
                &|a, b| a.role == Role::ReadHalf && b.role == Role::WriteHalf && a.event == b.event
            }
            BaseRelation::RealTime => &|a, b| match (a.event, b.event) {
                (Some(a), Some(b)) => {
                    let ended = self.history.times(a).end;
                    ended.zip(self.history.times(b).begin).is_some_and(|(end, begin)| end < begin)
                }
                _ => false,
            },
        };
        Some(Matrix::of(self.size(), |a, b| holds(&self.events[a], &self.events[b])))
    }

    /// The write of a source for an address.
    fn write_of(&self, source: Source, address: usize) -> usize {
        let is_it = |event: &CatEvent| match source {
            Source::Initial => event.role == Role::Initial && event.address == Some(address),
            Source::Write(write) => event.event == Some(write) && event.is_write(),
        };
        self.events.iter().position(is_it).expect("a history names its own writes")
    }

    /// The reads, each with the writes that it may have read from.
    pub(crate) fn sources(&self) -> Vec<(usize, Vec<usize>)> {
        let reads = self.events.iter().enumerate().filter(|(_, event)| event.is_read());
        let candidates = |(at, event): (usize, &CatEvent)| {
            let (id, address) = event.event.zip(event.address)?;
            let sources = self.history.sources(id).iter();
            Some((at, sources.map(|&source| self.write_of(source, address)).collect()))
        };
        reads.filter_map(candidates).collect()
    }

    /// The writes of each address, the initial one first.
    pub(crate) fn writes(&self) -> Vec<Vec<usize>> {
        let of = |address: usize| {
            let events = self.events.iter().enumerate();
            let writes =
                events.filter(|(_, each)| each.is_write() && each.address == Some(address));
            writes.map(|(at, _)| at).collect()
        };
        (0..self.history.address_count()).map(of).collect()
    }

    /// The pairs of writes that the history says are in this order: the initial write before all
    /// others, and `order` lines.
    pub(crate) fn known_coherence(&self) -> Vec<(usize, usize)> {
        let mut known = Vec::new();
        for writes in self.writes() {
            known.extend(writes.iter().skip(1).map(|&write| (writes[0], write)));
        }
        for chain in self.history.orders() {
            let at = |source: &Source| self.write_of(*source, chain.address.index());
            let writes: Vec<usize> = chain.writes.iter().map(at).collect();
            known.extend(writes.windows(2).map(|pair| (pair[0], pair[1])));
        }
        known
    }

    /// For each `final` line the writes of its address one of which is the last.
    pub(crate) fn last_writes(&self) -> Vec<(usize, Vec<usize>)> {
        let of = |each: &history::Final| {
            let address = each.address.index();
            let writes = each.sources.iter().map(|&source| self.write_of(source, address));
            (address, writes.collect())
        };
        self.history.finals().iter().map(of).collect()
    }
}
