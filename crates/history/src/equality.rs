//! When two histories say the same.
//!
//! Line numbers are about a file, and the numbers of addresses about the order in which a file
//! mentions them; neither is part of what was observed. Threads, events, `final` and `order` lines
//! are compared in order.

use crate::columns::Exchange;
use crate::event::{AddressId, AddressLabel, EventId, Operation, Source, Times, Value};
use crate::history::History;
use crate::marks::Mark;

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.thread_labels == other.thread_labels
            && self.thread_starts == other.thread_starts
            && self.names == other.names
            && self.dependencies == other.dependencies
            && (0..self.dependencies.len())
                .all(|at| self.kinds_of_dependency(at) == other.kinds_of_dependency(at))
            && self.pairs == other.pairs
            && self.said_of_uppers().eq(other.said_of_uppers())
            && self.event_ids().all(|event| self.said_of(event) == other.said_of(event))
            && self.said_of_addresses() == other.said_of_addresses()
            && self.said_at_the_end().eq(other.said_at_the_end())
            && self.said_of_orders().eq(other.said_of_orders())
    }
}

impl Eq for History {}

/// An operation without the number of its address, what it may have read, when it happened, and how
/// it is annotated.
type ComparableEvent<'h> = (Operation, Option<&'h AddressLabel>, &'h [Source], Times, Option<Mark>);

impl History {
    fn label_of(&self, address: AddressId) -> &AddressLabel {
        &self.address(address).label
    }

    fn said_of(&self, id: EventId) -> ComparableEvent<'_> {
        let event = self.event(id);
        let label = event.address().map(|address| self.label_of(address));
        let operation = event.operation.at(|_| AddressId::new(0));
        (operation, label, self.sources(id), self.times(id), self.marks.get(id.index()))
    }

    fn said_of_uppers(&self) -> impl Iterator<Item = &(EventId, Exchange)> {
        self.uppers.iter().filter(|(_, upper)| *upper != Exchange { read: 0, written: 0 })
    }

    /// The `init` lines, sorted. Of bytes, those that do not hold 0: which lines say so is not part
    /// of what was observed.
    fn said_of_addresses(&self) -> Vec<(AddressLabel, Value)> {
        let mut said = Vec::new();
        for address in self.addresses.iter().filter(|address| address.init_line.is_some()) {
            match address.label {
                AddressLabel::Bytes(range) => {
                    let bytes = (range.start()..=range.last()).zip(address.initial.to_le_bytes());
                    let others = bytes.filter(|&(_, value)| value != 0);
                    said.extend(others.map(|(b, value)| (AddressLabel::Number(b), value.into())));
                }
                _ => said.push((address.label.clone(), address.initial)),
            }
        }
        said.sort_unstable();
        said.dedup();
        said
    }

    fn said_at_the_end(&self) -> impl Iterator<Item = (&AddressLabel, Value, &[Source])> {
        self.finals.iter().map(|f| (self.label_of(f.address), f.value, &*f.sources))
    }

    fn said_of_orders(&self) -> impl Iterator<Item = (&AddressLabel, &[Source])> {
        self.orders.iter().map(|chain| (self.label_of(chain.address), &*chain.writes))
    }
}
