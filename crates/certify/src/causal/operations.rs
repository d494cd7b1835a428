//! The operations of a history, with what each read, read.
//!
//! Operations are numbered thread by thread in program order; a read-modify-write is two, its read
//! and then its write. Fences and initial writes are none: nothing ever comes before an initial
//! write, and where something would, the model is violated.

use std::collections::BTreeMap;

use evidence::Reader;
use history::{AddressId, EventId, History, Source};

use crate::facts::Facts;
use crate::names;
use crate::rejection::{Fault, Name};

/// An operation of a history, by its number.
pub(super) type Op = usize;

/// Which write an operation read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Initial,
    Write(Op),
}

#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) event: EventId,
    pub(super) thread: usize,
    pub(super) address: AddressId,
    /// What it read; `None` for a write.
    pub(super) read: Option<From>,
}

impl Operation {
    pub(super) fn is_write(&self) -> bool {
        self.read.is_none()
    }
}

pub(super) struct Operations<'a> {
    pub(super) history: &'a History,
    /// The most bytes that tables over all operations may take.
    pub(super) memory: usize,
    pub(super) all: Vec<Operation>,
    /// The write operation of each event that writes.
    pub(super) write_of: Vec<Option<Op>>,
    /// For each address, its writes thread by thread, each list in program order.
    pub(super) writers: Vec<Vec<Vec<Op>>>,
    /// What the `order` and `final` lines say about writes, if the model has an order of them.
    pub(super) write_order: Vec<(Op, Op)>,
}

impl<'a> Operations<'a> {
    /// The operations under these choices, which must be made for every reader that has one.
    pub(super) fn new(
        history: &'a History,
        choices: &[(Reader, Source)],
        orders_writes: bool,
        memory: usize,
    ) -> Result<Self, Fault> {
        let sources = Sources::new(history, choices)?;
        let mut this = Self {
            history,
            memory,
            all: Vec::with_capacity(history.len()),
            write_of: vec![None; history.len()],
            writers: vec![Vec::new(); history.address_count()],
            write_order: Vec::new(),
        };
        this.number();
        this.connect(&sources)?;
        this.finals(&sources, orders_writes)?;
        if orders_writes {
            this.order_lines()?;
        }
        Ok(this)
    }

    fn number(&mut self) {
        for (e, event) in self.history.event_ids().zip(self.history.events()) {
            let Some(address) = event.address() else { continue };
            let operation =
                Operation { event: e, thread: event.thread.index(), address, read: None };
            if event.is_read() {
                self.all.push(Operation { read: Some(From::Initial), ..operation });
            }
            if event.is_write() {
                let op = self.all.len();
                let lists = &mut self.writers[address.index()];
                match lists.last_mut() {
                    Some(list) if self.all[list[0]].thread == operation.thread => list.push(op),
                    _ => lists.push(vec![op]),
                }
                self.write_of[e.index()] = Some(op);
                self.all.push(operation);
            }
        }
    }

    /// A source as an operation.
    pub(super) fn from(&self, source: Source) -> From {
        match source {
            Source::Initial => From::Initial,
            Source::Write(e) => self.write_of[e.index()].map_or(From::Initial, From::Write),
        }
    }

    fn connect(&mut self, sources: &Sources<'_>) -> Result<(), Fault> {
        for op in 0..self.all.len() {
            if !self.all[op].is_write() {
                let source = sources.of(Reader::Event(self.all[op].event))?;
                self.all[op].read = Some(self.from(source));
            }
        }
        Ok(())
    }

    /// Every write of an address with a `final` line comes before the one that the line names.
    fn finals(&mut self, sources: &Sources<'_>, orders_writes: bool) -> Result<(), Fault> {
        for f in self.history.finals() {
            let reader = Reader::Final(f.address);
            if f.sources.is_empty() {
                return Err(Fault::NoSource { reader: names::reader(self.history, reader) });
            }
            if !orders_writes {
                continue;
            }
            let last = self.from(sources.of(reader)?);
            for list in &self.writers[f.address.index()] {
                let Some(&latest) = list.last() else { continue };
                match last {
                    From::Initial => {
                        let address = self.history.address(f.address).label.clone();
                        return Err(Fault::WrongFinal { address });
                    }
                    From::Write(last) if last == latest => {}
                    From::Write(last) => self.write_order.push((latest, last)),
                }
            }
        }
        Ok(())
    }

    fn order_lines(&mut self) -> Result<(), Fault> {
        for line in self.history.orders() {
            for pair in line.writes.windows(2) {
                match (self.from(pair[0]), self.from(pair[1])) {
                    (_, From::Initial) => {
                        let address = self.history.address(line.address).label.clone();
                        return Err(Fault::AgainstOrderLine { address });
                    }
                    (From::Initial, From::Write(_)) => {}
                    (From::Write(a), From::Write(b)) => self.write_order.push((a, b)),
                }
            }
        }
        Ok(())
    }

    /// All reads, each with what it read.
    pub(super) fn reads(&self) -> impl Iterator<Item = (Op, From)> + '_ {
        self.all.iter().enumerate().filter_map(|(op, o)| o.read.map(|from| (op, from)))
    }

    /// What an event read.
    pub(super) fn source(&self, event: EventId) -> Option<From> {
        let op = self.all.partition_point(|o| o.event < event);
        self.all.get(op).filter(|o| o.event == event).and_then(|o| o.read)
    }

    /// rf between events.
    pub(super) fn reads_from(&self) -> Vec<(Op, Op)> {
        let source = |(read, from)| match from {
            From::Write(write) => Some((write, read)),
            From::Initial => None,
        };
        self.reads().filter_map(source).collect()
    }

    /// All read-modify-writes: the write, and what the read before it read.
    pub(super) fn atomics(&self) -> impl Iterator<Item = (Op, From)> + '_ {
        let pairs = self.all.windows(2).enumerate();
        pairs
            .filter(|(_, pair)| pair[0].event == pair[1].event)
            .filter_map(|(op, pair)| pair[0].read.map(|from| (op + 1, from)))
    }

    /// The writes of an operation's address, thread by thread.
    pub(super) fn writers_at(&self, op: Op) -> &[Vec<Op>] {
        &self.writers[self.all[op].address.index()]
    }

    pub(super) fn name(&self, op: Op) -> Name {
        names::event(self.history, self.all[op].event)
    }
}

/// What each reader read: its only candidate, or what the witness says.
struct Sources<'a> {
    facts: Facts<'a>,
    chosen: BTreeMap<Reader, Source>,
}

impl<'a> Sources<'a> {
    fn new(history: &'a History, choices: &[(Reader, Source)]) -> Result<Self, Fault> {
        let facts = Facts::new(history);
        let mut chosen = BTreeMap::new();
        for &(reader, source) in choices {
            let name = || names::reader(history, reader);
            if !facts.is_candidate(reader, source) {
                let source = names::source(history, source);
                return Err(Fault::NotACandidate { reader: name(), source });
            }
            if chosen.insert(reader, source).is_some() {
                return Err(Fault::ChosenTwice { reader: name() });
            }
        }
        Ok(Self { facts, chosen })
    }

    fn of(&self, reader: Reader) -> Result<Source, Fault> {
        let name = || names::reader(self.facts.history, reader);
        match self.facts.candidates(reader) {
            None | Some([]) => Err(Fault::NoSource { reader: name() }),
            Some(&[source]) => Ok(source),
            Some(_) => {
                let chosen = self.chosen.get(&reader).copied();
                chosen.ok_or_else(|| Fault::NoChoice { reader: name() })
            }
        }
    }
}
