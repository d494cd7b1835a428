//! The events of a history in the terms of cat, and the sets and relations that have names, as
//! docs/cat.md describes them.

use history::{AccessOrder, DependencyKind, EventId, FenceName, History, Kinds, Operation, Source};

use super::value::{Relation, Value};

/// An event: the initial write of an address, an access, half of an atomic, or a fence.
#[derive(Clone, Copy)]
struct Event {
    /// None for an initial write.
    origin: Option<EventId>,
    address: Option<usize>,
    reads: bool,
    writes: bool,
}

/// The events of a history.
pub(super) struct Events<'h> {
    history: &'h History,
    events: Vec<Event>,
}

/// Which write each read took its value from, and the orders of the writes of each address.
pub(super) struct Choice<'a> {
    pub(super) reads_from: &'a [(EventId, Source)],
    pub(super) orders: &'a [&'a [EventId]],
}

impl<'h> Events<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let mut events: Vec<Event> = history
            .address_ids()
            .map(|x| Event { origin: None, address: Some(x.index()), reads: false, writes: true })
            .collect();
        for id in history.event_ids() {
            let address = history.address_of(id).map(|x| x.index());
            let mut add = |reads, writes| {
                events.push(Event { origin: Some(id), address, reads, writes });
            };
            match history.event(id).operation {
                Operation::Read { .. } => add(true, false),
                Operation::Write { .. } => add(false, true),
                Operation::Fence { .. } => add(false, false),
                Operation::ReadModifyWrite { .. } => {
                    add(true, false);
                    add(false, true);
                }
            }
        }
        Events { history, events }
    }

    pub(super) fn size(&self) -> usize {
        self.events.len()
    }

    /// The read, or the write, that an event of the history is or contains.
    fn part(&self, id: EventId, reads: bool) -> Option<usize> {
        self.events.iter().position(|event| {
            event.origin == Some(id) && if reads { event.reads } else { event.writes }
        })
    }

    fn write(&self, address: usize, source: Source) -> Option<usize> {
        match source {
            Source::Initial => Some(address),
            Source::Write(id) => self.part(id, false),
        }
    }

    /// `rf`
    pub(super) fn reads_from(&self, choice: &Choice<'_>) -> Relation {
        let mut relation = Relation::empty(self.size());
        for &(read, source) in choice.reads_from {
            let address = self.history.address_of(read).map_or(0, |x| x.index());
            if let (Some(write), Some(read)) = (self.write(address, source), self.part(read, true))
            {
                relation.add(write, read);
            }
        }
        relation
    }

    /// `co`
    pub(super) fn coherence(&self, choice: &Choice<'_>) -> Relation {
        let mut relation = Relation::empty(self.size());
        for (address, order) in choice.orders.iter().enumerate() {
            let mut earlier = vec![address];
            for write in order.iter().filter_map(|&write| self.part(write, false)) {
                earlier.iter().for_each(|&before| relation.add(before, write));
                earlier.push(write);
            }
        }
        relation
    }

    /// A set or relation that has a name and does not depend on `rf` and `co`.
    pub(super) fn named(&self, name: &str) -> Option<Value> {
        self.set(name).or_else(|| self.relation(name))
    }

    fn set(&self, name: &str) -> Option<Value> {
        let history = self.history;
        let order = |event: &Event| event.origin.and_then(|id| history.access_order(id));
        let fence = |event: &Event| match event.origin.map(|id| history.event(id).operation) {
            Some(Operation::Fence { before, after }) => Some((before, after)),
            _ => None,
        };
        let named = |event: &Event| event.origin.and_then(|id| history.fence_name(id));
        let is_pair = |event: &Event| {
            let of_pair = |id: EventId| {
                history.pairs().iter().any(|&(store, load)| id == store || id == load)
            };
            event.origin.is_some_and(of_pair)
        };
        let acquires = |event: &Event| {
            use AccessOrder::{Acquire, AcquireRelease, Sequential};
            event.reads && matches!(order(event), Some(Acquire | AcquireRelease | Sequential))
        };
        let releases = |event: &Event| {
            use AccessOrder::{AcquireRelease, Release, Sequential};
            event.writes && matches!(order(event), Some(Release | AcquireRelease | Sequential))
        };
        let is_full = |event: &Event| fence(event) == Some((Kinds::ALL, Kinds::ALL));
        let is_named = |event: &Event, name: FenceName| named(event) == Some(name);
        let test: Box<dyn Fn(&Event) -> bool> = match name {
            "R" => Box::new(|event| event.reads),
            "W" => Box::new(|event| event.writes),
            "M" | "Exp" => Box::new(|event| event.reads || event.writes),
            "IW" => Box::new(|event| event.origin.is_none()),
            "F" => Box::new(|event| fence(event).is_some()),
            "X" => Box::new(|event| {
                event
                    .origin
                    .is_some_and(|id| history.kinds_of(id) == Kinds::ALL && fence(event).is_none())
            }),
            "EX" => Box::new(is_pair),
            "NoRet" | "T" | "emptyset" => Box::new(|_| false),
            "A" => Box::new(acquires),
            "Q" => Box::new(|event| event.reads && order(event) == Some(AccessOrder::AcquirePc)),
            "L" => Box::new(releases),
            "Acq" => Box::new(|event| order(event) == Some(AccessOrder::Acquire)),
            "AcqPc" => Box::new(|event| order(event) == Some(AccessOrder::AcquirePc)),
            "Rel" => Box::new(|event| order(event) == Some(AccessOrder::Release)),
            "AcqRel" => Box::new(|event| order(event) == Some(AccessOrder::AcquireRelease)),
            "Sc" => Box::new(|event| order(event) == Some(AccessOrder::Sequential)),
            "Fence.tso" => Box::new(move |event| is_named(event, FenceName::Tso)),
            "Fence.i" => Box::new(move |event| is_named(event, FenceName::Instructions)),
            "ISB" => Box::new(move |event| is_named(event, FenceName::Isb)),
            "SYNC" | "MFENCE" | "DMB.SY" => Box::new(is_full),
            "DMB.LD" => Box::new(|event| fence(event) == Some((Kinds::READS, Kinds::ALL))),
            "DMB.ST" => Box::new(|event| fence(event) == Some((Kinds::WRITES, Kinds::WRITES))),
            "DSB.SY" => Box::new(move |event| is_named(event, FenceName::DsbSy)),
            "DSB.LD" => Box::new(move |event| is_named(event, FenceName::DsbLd)),
            "DSB.ST" => Box::new(move |event| is_named(event, FenceName::DsbSt)),
            "SFENCE" => Box::new(move |event| is_named(event, FenceName::Sfence)),
            "LFENCE" => Box::new(move |event| is_named(event, FenceName::Lfence)),
            _ => {
                let (before, after) = name.strip_prefix("Fence.")?.split_once('.')?;
                let wanted = Some((letters(before)?, letters(after)?));
                Box::new(move |event| fence(event) == wanted)
            }
        };
        let members = self.events.iter().enumerate().filter(|(_, event)| test(event));
        Some(Value::Set(members.fold(0, |set, (at, _)| set | 1 << at)))
    }

    fn relation(&self, name: &str) -> Option<Value> {
        let relation = match name {
            "id" | "sm" | "si" => self.pairs(|a, b| a == b),
            "po" => self.pairs(|a, b| self.program_order(a, b)),
            "po-loc" => self.pairs(|a, b| self.program_order(a, b) && self.same_address(a, b)),
            "loc" | "same-loc" => self.pairs(|a, b| self.same_address(a, b)),
            "int" => self.pairs(|a, b| self.same_thread(a, b)),
            "ext" => self.pairs(|a, b| !self.same_thread(a, b)),
            "addr" => self.dependency(DependencyKind::Address),
            "data" => self.dependency(DependencyKind::Data),
            "ctrl" => self.dependency(DependencyKind::Control),
            "amo" => self.pairs(|a, b| self.is_atomic_pair(a, b)),
            "lxsx" => self.pairs(|a, b| self.is_exclusive_pair(a, b)),
            "rmw" => self.pairs(|a, b| self.is_atomic_pair(a, b) || self.is_exclusive_pair(a, b)),
            "rt" => self.pairs(|a, b| self.ended_before(a, b)),
            _ => return None,
        };
        Some(Value::Relation(relation))
    }

    fn pairs(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation::of(self.size(), holds)
    }

    fn program_order(&self, a: usize, b: usize) -> bool {
        let ids = self.events[a].origin.zip(self.events[b].origin);
        ids.is_some_and(|(a, b)| self.history.program_order(a, b))
    }

    fn same_address(&self, a: usize, b: usize) -> bool {
        let address = self.events[a].address;
        address.is_some() && address == self.events[b].address
    }

    fn same_thread(&self, a: usize, b: usize) -> bool {
        let ids = self.events[a].origin.zip(self.events[b].origin);
        a == b || ids.is_some_and(|(a, b)| self.history.thread_of(a) == self.history.thread_of(b))
    }

    fn dependency(&self, kind: DependencyKind) -> Relation {
        let declared = self.history.dependencies().iter().enumerate();
        let of_kind: Vec<_> = declared
            .filter(|&(at, _)| self.history.kinds_of_dependency(at).contains(kind))
            .map(|(_, &pair)| pair)
            .collect();
        self.pairs(|a, b| {
            let ids = self.events[a].origin.zip(self.events[b].origin);
            self.events[a].reads && ids.is_some_and(|(from, to)| of_kind.contains(&(to, from)))
        })
    }

    fn is_atomic_pair(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.events[a], self.events[b]);
        a.origin.is_some() && a.origin == b.origin && a.reads && b.writes
    }

    fn is_exclusive_pair(&self, a: usize, b: usize) -> bool {
        let ids = self.events[b].origin.zip(self.events[a].origin);
        ids.is_some_and(|pair| self.history.pairs().contains(&pair))
    }

    fn ended_before(&self, a: usize, b: usize) -> bool {
        let ids = self.events[a].origin.zip(self.events[b].origin);
        ids.is_some_and(|(a, b)| {
            let times = self.history.times(a).end.zip(self.history.times(b).begin);
            times.is_some_and(|(end, begin)| end < begin)
        })
    }
}

fn letters(word: &str) -> Option<Kinds> {
    match word {
        "r" => Some(Kinds::READS),
        "w" => Some(Kinds::WRITES),
        "rw" => Some(Kinds::ALL),
        _ => None,
    }
}
