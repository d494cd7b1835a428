//! An execution as far as it is fixed, in the terms of cat: its events, and what is said of them.
//!
//! [`Execution`] is plain data that a history or a litmus test is turned into. Initial writes of the
//! addresses are events too. An atomic read-modify-write of a history is two of them, its reading and
//! its writing half, joined by `amo` and not ordered by `po`; whoever makes an execution may also
//! make one event of it that both reads and writes. What is left open are *choices*: which of several
//! writes a read took its value from, and the order of the writes of each address. [`Knowledge`] is
//! what is settled of them: pairs that are certainly in `rf` and `co`, and pairs that may be.

use history::{
    AccessOrder, DependencyKind, EventId, FenceName, History, Kinds, Mixed, Source, Times,
};

use crate::base::{BaseRelation, BaseSet, FenceKind};
use crate::bits::{Bits, Matrix};

/// What an event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It reads, by itself or as half of an atomic.
    Read,
    /// It writes, by itself or as half of an atomic.
    Write,
    /// It does both at once.
    Update,
    /// It orders accesses of these kinds before it and behind it.
    Fence {
        /// What it orders of the accesses before it.
        before: Kinds,
        /// What it orders of the accesses behind it.
        after: Kinds,
        /// The name of its instruction, if that is known.
        name: Option<FenceName>,
    },
}

/// How an access takes part in an atomic read-modify-write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Atomicity {
    /// Not at all.
    #[default]
    Single,
    /// `X`: of one instruction that reads and writes.
    Atomic,
    /// `EX`: a load-reserved or exclusive load, or a successful store-conditional.
    Exclusive,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub struct CatEvent {
    /// Its thread; an initial write has none.
    pub thread: Option<u32>,
    /// The number of its instruction in its thread, which is program order. Events of one
    /// instruction are not ordered by it.
    pub instruction: u32,
    /// What it does.
    pub action: Action,
    /// The number of its address; none for a fence.
    pub address: Option<usize>,
    /// How its instruction orders it.
    pub order: Option<AccessOrder>,
    /// Its part in a read-modify-write.
    pub atomicity: Atomicity,
    /// Whether it reads for an atomic that returns nothing to its thread (`NoRet`).
    pub returns_nothing: bool,
    /// When it began and ended.
    pub times: Times,
}

impl CatEvent {
    /// An access, or a fence without an address, that nothing else is said about.
    pub fn new(thread: u32, instruction: u32, action: Action, address: Option<usize>) -> Self {
        CatEvent {
            thread: Some(thread),
            instruction,
            action,
            address,
            order: None,
            atomicity: Atomicity::Single,
            returns_nothing: false,
            times: Times::default(),
        }
    }

    /// The initial write of an address.
    pub fn initial(address: usize) -> Self {
        CatEvent { thread: None, ..Self::new(0, 0, Action::Write, Some(address)) }
    }

    /// Whether it reads.
    pub fn is_read(&self) -> bool {
        matches!(self.action, Action::Read | Action::Update)
    }

    /// Whether it writes.
    pub fn is_write(&self) -> bool {
        matches!(self.action, Action::Write | Action::Update)
    }

    /// Whether it is the initial write of its address.
    pub fn is_initial(&self) -> bool {
        self.thread.is_none()
    }
}

/// What one event is to a later one of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `addr`, `data`, `ctrl`
    Dependency(DependencyKind),
    /// `amo`: the reading half of an atomic, and its writing half.
    Atomic,
    /// `lxsx`: a load-reserved, and its successful store-conditional.
    Exclusive,
}

/// The events of an execution and what is fixed about them. Events are named by their places in
/// the list.
#[derive(Debug, Clone, Default)]
pub struct Execution {
    /// The events; the initial writes come first, in the order of their addresses.
    pub events: Vec<CatEvent>,
    /// How events of a thread belong together.
    pub links: Vec<(Link, usize, usize)>,
    /// The reads, each with the writes that it may have read from.
    pub sources: Vec<(usize, Vec<usize>)>,
    /// Pairs of writes of an address that are known to be in this order.
    pub ordered_writes: Vec<(usize, usize)>,
    /// Addresses, each with the writes one of which is its last.
    pub last_writes: Vec<(usize, Vec<usize>)>,
    /// Where accesses of mixed sizes are several events, one for each cell: the number of the access
    /// (or of its half) that each event is of. Empty if each event is one by itself.
    pub wholes: Vec<usize>,
}

/// How conditions are about whole accesses where these are several events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MixedSizeRules {
    /// The axiom that is about locations, and so about parts.
    pub(crate) location: Option<usize>,
    /// Whether what orders a part of a read within its thread orders the read. Not so for AArch64: a
    /// part that is forwarded from an own store says nothing about the others.
    pub(crate) own_steps_reach_reads: bool,
}

/// What is known of `rf` and `co`: the pairs that are in it, and those that may be.
#[derive(Debug, Clone)]
pub struct Knowledge {
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
    /// No pair is possible.
    pub(crate) fn nothing(size: usize) -> Self {
        let none = || Bounds { must: Matrix::empty(size), may: Matrix::empty(size) };
        Knowledge { reads_from: none(), coherence: none() }
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        [&self.reads_from, &self.coherence]
            .map(|each| each.must.bytes() + each.may.bytes())
            .iter()
            .sum()
    }
}

impl Execution {
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
                BaseSet::InitialWrites => event.is_initial(),
                BaseSet::Atomic => event.atomicity == Atomicity::Atomic,
                BaseSet::Exclusive => event.atomicity == Atomicity::Exclusive,
                BaseSet::ReturnsNothing => event.returns_nothing,
                BaseSet::Annotated(order) => event.order == Some(order),
                BaseSet::Fences => matches!(event.action, Action::Fence { .. }),
                BaseSet::Fence(kind) => match event.action {
                    Action::Fence { before, after, .. } => {
                        FenceKind::new(before, after) == Some(kind)
                    }
                    _ => false,
                },
                BaseSet::Named(wanted) => match event.action {
                    Action::Fence { name, .. } => name == Some(wanted),
                    _ => false,
                },
            }
        })
    }

    /// The pairs of a relation that are fixed; `None` for `rf` and `co`.
    pub(crate) fn relation(&self, relation: BaseRelation) -> Option<Matrix> {
        let holds: &dyn Fn(&CatEvent, &CatEvent) -> bool = match relation {
            BaseRelation::Same => return Some(Matrix::of(self.size(), |a, b| a == b)),
            BaseRelation::ReadsFrom | BaseRelation::Coherence => return None,
            BaseRelation::Dependency(kind) => return Some(self.linked(Link::Dependency(kind))),
            BaseRelation::AtomicPair => return Some(self.linked(Link::Atomic)),
            BaseRelation::ExclusivePair => return Some(self.linked(Link::Exclusive)),
            BaseRelation::SameThread => {
                let same = |a: usize, b: usize| {
                    let thread = self.events[a].thread;
                    a == b || thread.is_some() && thread == self.events[b].thread
                };
                return Some(Matrix::of(self.size(), same));
            }
            BaseRelation::ProgramOrder => {
                &|a, b| a.thread.is_some() && a.thread == b.thread && a.instruction < b.instruction
            }
            BaseRelation::SameAddress => &|a, b| a.address.is_some() && a.address == b.address,
            BaseRelation::RealTime => {
                &|a, b| a.times.end.zip(b.times.begin).is_some_and(|(end, begin)| end < begin)
            }
        };
        Some(Matrix::of(self.size(), |a, b| holds(&self.events[a], &self.events[b])))
    }

    /// A relation between parts of accesses as one that reaches whole accesses: what comes before a
    /// part of an access comes before all of its parts, and nothing is said within an access.
    pub(crate) fn reaching_wholes(
        &self,
        relation: &Matrix,
        mixed_sizes: &MixedSizeRules,
    ) -> Matrix {
        let mut pairs = Matrix::empty(self.size());
        for (from, to) in relation.pairs() {
            if from == to || self.is_reached_alone(from, to, mixed_sizes) {
                pairs.insert(from, to);
            } else if self.wholes[from] != self.wholes[to] {
                let parts = (0..self.size()).filter(|&part| self.wholes[part] == self.wholes[to]);
                parts.for_each(|part| pairs.insert(from, part));
            }
        }
        pairs
    }

    /// Whether a step of a thread to a part of a read is no step to the other parts.
    pub(crate) fn is_reached_alone(
        &self,
        from: usize,
        to: usize,
        mixed_sizes: &MixedSizeRules,
    ) -> bool {
        let [first, second] = [from, to].map(|at| &self.events[at]);
        !mixed_sizes.own_steps_reach_reads
            && first.thread == second.thread
            && second.action == Action::Read
            && self.wholes[from] != self.wholes[to]
    }

    fn linked(&self, wanted: Link) -> Matrix {
        let mut pairs = Matrix::empty(self.size());
        let links = self.links.iter().filter(|(link, ..)| *link == wanted);
        links.for_each(|&(_, from, to)| pairs.insert(from, to));
        pairs
    }

    /// The writes of each address, the initial one first.
    pub(crate) fn writes(&self) -> Vec<Vec<usize>> {
        let addresses = self.events.iter().filter(|event| event.is_initial()).count();
        let mut writes = vec![Vec::new(); addresses];
        for (at, event) in self.events.iter().enumerate().filter(|(_, event)| event.is_write()) {
            writes[event.address.expect("a write has an address")].push(at);
        }
        writes
    }
}

/// An execution with the events of a history that it was made from. Where accesses are of mixed
/// sizes, these are the events of [`Mixed::parts`].
pub(crate) struct Translated {
    pub(crate) execution: Execution,
    /// For each event, the event of the history; none for an initial write.
    pub(crate) origins: Vec<Option<EventId>>,
    /// For each event of the history, the first event that was made from it.
    first: Vec<usize>,
}

impl Translated {
    pub(crate) fn of(whole: &History) -> Self {
        let history = whole.mixed().map_or(whole, Mixed::parts);
        let addresses = history.address_ids().map(|address| address.index());
        let events: Vec<CatEvent> = addresses.map(CatEvent::initial).collect();
        let mut translated = Translated {
            origins: vec![None; events.len()],
            execution: Execution { events, ..Execution::default() },
            first: Vec::with_capacity(history.len()),
        };
        if whole.mixed().is_some() {
            translated.execution.wholes = (0..translated.origins.len()).collect();
        }
        for id in history.event_ids() {
            translated.event(history, id, whole.mixed());
        }
        translated.dependencies(history);
        translated.choices(history);
        translated
    }

    fn event(&mut self, history: &History, id: EventId, mixed: Option<&Mixed>) {
        use history::Operation;
        self.first.push(self.origins.len());
        let actions: &[Action] = match history.event(id).operation {
            Operation::Read { .. } => &[Action::Read],
            Operation::Write { .. } => &[Action::Write],
            Operation::ReadModifyWrite { .. } => &[Action::Read, Action::Write],
            Operation::Fence { before, after } => {
                &[Action::Fence { before, after, name: history.fence_name(id) }]
            }
        };
        if let [_, _] = actions {
            let at = self.origins.len();
            self.execution.links.push((Link::Atomic, at, at + 1));
        }
        let thread = history.thread_of(id);
        // Parts of one access are of one instruction, so that program order does not order them.
        let first = mixed.and_then(|mixed| mixed.parts_of(mixed.access_of(id)).next());
        let first = first.unwrap_or(id);
        let instruction = (first.index() - history.thread_range(thread).start) as u32;
        let address = history.address_of(id).map(|address| address.index());
        let is_paired = history.pairs().iter().any(|&(store, load)| store == id || load == id);
        let atomicity = match (actions.len(), is_paired) {
            (2, _) => Atomicity::Atomic,
            (_, true) => Atomicity::Exclusive,
            (_, false) => Atomicity::Single,
        };
        for (half, &action) in actions.iter().enumerate() {
            if mixed.is_some() {
                // The first part of the access comes first, and the same half of it stands for all.
                self.execution.wholes.push(self.first[first.index()] + half);
            }
            self.origins.push(Some(id));
            self.execution.events.push(CatEvent {
                atomicity,
                order: history.access_order(id),
                times: history.times(id),
                ..CatEvent::new(thread.index() as u32, instruction, action, address)
            });
        }
    }

    /// Declared dependencies, by their kinds, and exclusive pairs.
    fn dependencies(&mut self, history: &History) {
        for (at, &(to, from)) in history.dependencies().iter().enumerate() {
            if !history.may_be_depended_on(from) {
                continue;
            }
            let from = self.first[from.index()];
            let first = self.first[to.index()];
            let end = self.first.get(to.index() + 1).copied().unwrap_or(self.origins.len());
            for kind in history.kinds_of_dependency(at).iter() {
                let link = Link::Dependency(kind);
                self.execution.links.extend((first..end).map(|to| (link, from, to)));
            }
        }
        for &(store, load) in history.pairs() {
            let (load, store) = (self.first[load.index()], self.first[store.index()]);
            self.execution.links.push((Link::Exclusive, load, store));
        }
    }

    fn choices(&mut self, history: &History) {
        let reads = (0..self.origins.len()).filter(|&at| self.execution.events[at].is_read());
        let sources = reads.filter_map(|at| {
            let (id, address) = self.origins[at].zip(self.execution.events[at].address)?;
            // No atomic reads what it writes, whatever the model says of its halves.
            let sources = history.sources(id).iter().filter(|&&from| from != Source::Write(id));
            Some((at, sources.map(|&source| self.write_of(source, address)).collect()))
        });
        let sources = sources.collect();
        let mut ordered_writes = Vec::new();
        for chain in history.orders() {
            let at = |source: &Source| self.write_of(*source, chain.address.index());
            let writes: Vec<usize> = chain.writes.iter().map(at).collect();
            ordered_writes.extend(writes.windows(2).map(|pair| (pair[0], pair[1])));
        }
        let last = |each: &history::Final| {
            let address = each.address.index();
            let writes = each.sources.iter().map(|&source| self.write_of(source, address));
            (address, writes.collect())
        };
        let last_writes = history.finals().iter().map(last).collect();
        self.execution.sources = sources;
        self.execution.ordered_writes = ordered_writes;
        self.execution.last_writes = last_writes;
    }

    /// The write of a source for an address.
    pub(crate) fn write_of(&self, source: Source, address: usize) -> usize {
        match source {
            Source::Initial => address,
            Source::Write(write) => {
                let first = self.first[write.index()];
                if self.execution.events[first].is_write() { first } else { first + 1 }
            }
        }
    }
}
