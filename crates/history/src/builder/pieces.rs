//! A trace that is handed over while it is read.
//!
//! A [`Builder`] collects a whole trace. Whoever judges a trace while it grows takes what has come so
//! far out of it, again and again, so that it holds a piece only. Addresses and threads keep their
//! ids; what speaks of events that may have gone already (names, dependencies, write orders) cannot
//! be handed over.

use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::builder::Builder;
use crate::event::{AddressId, AddressLabel, Operation, Times, Value};
use crate::times::TimeColumns;

/// An event as it was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// What the trace calls its thread.
    pub thread: u64,
    /// What it did. The address is one of the builder's.
    pub operation: Operation,
    /// When it began and ended.
    pub times: Times,
    /// Its line.
    pub line: u32,
}

impl Builder {
    /// Whether there are events that have not been handed over.
    pub fn has_events(&self) -> bool {
        self.columns.len() > 0
    }

    /// Hands over the events that have come since the last time, in order, and forgets them.
    pub fn hand_over(&mut self, mut take: impl FnMut(Recorded)) -> Result<(), BuildError> {
        self.can_be_handed_over()?;
        for at in 0..self.columns.len() {
            take(Recorded {
                thread: self.thread_labels[self.columns.thread(at).index()],
                operation: self.columns.operation(at),
                times: self.times.get(at),
                line: self.columns.line(at),
            });
        }
        self.columns.clear();
        self.times = TimeColumns::default();
        self.thread_lengths.fill(0);
        self.bytes = self.addresses.len() * super::weight::ADDRESS;
        Ok(())
    }

    fn can_be_handed_over(&self) -> Result<(), BuildError> {
        let line = |at: usize| self.columns.line(at);
        let first = self.names.first().map(|&(event, _)| line(event.0 as usize));
        let first = first.or(self.orders.first().map(|order| order.2));
        let marked = (!self.marks.is_empty()).then(|| self.last_line());
        match first.or(marked) {
            Some(line) => Err(error(BuildErrorKind::NeedsWholeTrace, line)),
            None => Ok(()),
        }
    }

    fn last_line(&self) -> u32 {
        self.columns.len().checked_sub(1).map_or(0, |last| self.columns.line(last))
    }

    /// What the trace calls an address, and what it held at first.
    pub fn address_said(&self, address: AddressId) -> (&AddressLabel, Value) {
        let address = &self.addresses[address.index()];
        (&address.label, address.initial)
    }

    /// How many addresses there are so far, and of how many it was said what they held at first.
    pub fn addresses_said(&self) -> (usize, usize) {
        (self.addresses.len(), self.inits)
    }

    /// What the trace says that addresses hold at the end.
    pub fn finals_said(&self) -> impl Iterator<Item = (AddressId, Value)> + '_ {
        self.finals.iter().map(|f| (f.address, f.value))
    }
}
