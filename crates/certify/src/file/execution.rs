//! An execution: who read what and the order of the writes of each address, checked against what the
//! trace says.

use evidence::file::Execution;
use history::{EventId, Source};

use super::events::{BaseRelation, Events, Id};
use crate::names;
use crate::rejection::Fault;

/// No event.
pub(crate) const NONE: u32 = u32::MAX;

/// A finished execution.
pub(crate) struct Run<'a> {
    pub(crate) events: &'a Events<'a>,
    /// For each read the write it read; else [`NONE`].
    pub(crate) source: Vec<u32>,
    /// For each address its writes in coherence order, the initial one first.
    pub(crate) orders: Vec<Vec<Id>>,
    /// For each write its place in the order of its address.
    pub(crate) place: Vec<u32>,
}

impl<'a> Run<'a> {
    /// The execution that a certificate gives; an error where it does not fit the trace.
    pub(crate) fn of(events: &'a Events<'a>, execution: &Execution) -> Result<Self, Fault> {
        let history = events.history;
        let mut source = vec![NONE; events.len()];
        let name = |event| names::event(history, event);
        for &(reader, from) in &execution.reads {
            let Some(address) =
                history.address_of(reader).filter(|_| history.event(reader).is_read())
            else {
                return Err(Fault::NotAReader { reader: name(reader) });
            };
            if !is_candidate(events, reader, from) {
                let source = names::source(history, from);
                return Err(Fault::NotACandidate { reader: name(reader), source });
            }
            let place = &mut source[events.parts(reader).start];
            if *place != NONE {
                return Err(Fault::ChosenTwice { reader: name(reader) });
            }
            *place = events.write(from, address) as u32;
        }
        for read in history.event_ids().filter(|&event| history.event(event).is_read()) {
            let place = &mut source[events.parts(read).start];
            match (*place, history.sources(read), history.address_of(read)) {
                (NONE, &[only], Some(address)) if only != Source::Write(read) => {
                    *place = events.write(only, address) as u32
                }
                (NONE, [] | [_], _) => return Err(Fault::NoSource { reader: name(read) }),
                (NONE, ..) => return Err(Fault::NoChoice { reader: name(read) }),
                _ => {}
            }
        }
        let orders = write_orders(events, &execution.order)?;
        Self::new(events, source, orders)
    }

    /// The execution of given choices; an error where `order` and `final` lines say otherwise.
    pub(crate) fn new(
        events: &'a Events<'a>,
        source: Vec<u32>,
        orders: Vec<Vec<Id>>,
    ) -> Result<Self, Fault> {
        let history = events.history;
        let mut place = vec![NONE; events.len()];
        for order in &orders {
            for (at, &write) in order.iter().enumerate() {
                place[write] = at as u32;
            }
        }
        let label = |address| history.address(address).label.clone();
        for line in history.orders() {
            let at = |source: &Source| place[events.write(*source, line.address)];
            if !line.writes.windows(2).all(|pair| at(&pair[0]) < at(&pair[1])) {
                return Err(Fault::AgainstOrderLine { address: label(line.address) });
            }
        }
        for line in history.finals() {
            let last = orders[line.address.index()].last().map(|&last| events.source(last));
            if !last.is_some_and(|last| line.sources.contains(&last)) {
                return Err(Fault::WrongFinal { address: label(line.address) });
            }
        }
        Ok(Run { events, source, orders, place })
    }

    /// Whether two events are in a relation of the execution.
    pub(crate) fn has(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        match relation {
            BaseRelation::ReadsFrom => self.source[b] == a as u32,
            BaseRelation::Coherence => {
                self.events.is_write(a)
                    && self.events.is_write(b)
                    && self.events.address(a) == self.events.address(b)
                    && self.place[a] < self.place[b]
            }
            _ => self.events.fixed(relation, a, b),
        }
    }
}

/// Whether a source wrote the value that a reader returned, at its address, and is not the reader's own
/// write: no atomic reads what it writes, whatever the model says of its halves.
pub(crate) fn is_candidate(events: &Events<'_>, reader: EventId, source: Source) -> bool {
    let history = events.history;
    let operation = history.event(reader).operation;
    let Some((address, value)) = operation.address().zip(operation.value_read()) else {
        return false;
    };
    match source {
        Source::Initial => history.address(address).initial == value,
        Source::Write(write) if write == reader => false,
        Source::Write(write) => {
            let write = history.event(write).operation;
            write.address() == Some(address) && write.value_written() == Some(value)
        }
    }
}

/// The writes of each address in the order of a list of all accesses.
fn write_orders(events: &Events<'_>, order: &[EventId]) -> Result<Vec<Vec<Id>>, Fault> {
    let history = events.history;
    let name = |event| names::event(history, event);
    let mut seen = vec![0u8; history.len()];
    let mut orders: Vec<Vec<Id>> =
        history.address_ids().map(|address| vec![address.index()]).collect();
    // The last mention of an event is where it writes.
    for &event in order.iter().rev() {
        let Some(address) = history.address_of(event) else {
            return Err(Fault::Fence { event: name(event) });
        };
        let parts = events.parts(event);
        seen[event.index()] += 1;
        if usize::from(seen[event.index()]) > parts.len() {
            return Err(Fault::Twice { event: name(event) });
        }
        if seen[event.index()] == 1 && history.event(event).is_write() {
            orders[address.index()].push(parts.end - 1);
        }
    }
    let mut accesses = history.event_ids().filter(|&event| history.address_of(event).is_some());
    if let Some(missing) = accesses.find(|event| seen[event.index()] == 0) {
        return Err(Fault::Missing { event: name(missing) });
    }
    orders.iter_mut().for_each(|order| order[1..].reverse());
    Ok(orders)
}
