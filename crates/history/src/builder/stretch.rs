//! A stretch of a large trace that was read apart, on another thread.
//!
//! A stretch is read into a builder of its own, in which threads and addresses have numbers of their
//! own. Runs of its events are then added to the builder of the trace, in the order of the lines. A
//! thread or an address gets its number in the trace with the first event that has it, so all numbers
//! are those that one pass over the lines gives.

use std::ops::Range;

use super::{Builder, Draft, MAX_ADDRESSES, MAX_EVENTS, MAX_THREADS, weight};
use crate::event::{AddressId, AddressLabel, ThreadId, Times};

/// Events of a stretch, and what their threads and addresses are in the trace.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    builder: Builder,
    threads: Vec<Option<ThreadId>>,
    addresses: Vec<Option<AddressId>>,
}

impl Stretch {
    /// A stretch of what a builder has collected: events and their times, nothing else. Their lines
    /// count from 0.
    pub(crate) fn new(builder: Builder) -> Self {
        let threads = vec![None; builder.thread_labels.len()];
        let addresses = vec![None; builder.addresses.len()];
        Self { builder, threads, addresses }
    }
}

impl Builder {
    /// Adds events of a stretch, whose lines count from this one. Returns whether they were added:
    /// not if any of them might be refused, because one by one the right one will be.
    pub(crate) fn add_stretch(
        &mut self,
        stretch: &mut Stretch,
        events: Range<usize>,
        line: u32,
    ) -> bool {
        if !self.has_room_for(stretch, &events, line) {
            return false;
        }
        let first = self.columns.len();
        let mut columns = std::mem::take(&mut self.columns);
        let Stretch { builder: there, threads, addresses } = stretch;
        columns.append_threads(&there.columns, events.clone(), |thread| {
            let known = &mut threads[thread.index()];
            let label = there.thread_labels[thread.index()];
            let thread = *known.get_or_insert_with(|| self.thread_labelled(label));
            self.thread_lengths[thread.index()] += 1;
            thread
        });
        columns.append_accesses(&there.columns, events.clone(), |address| {
            let label = &there.addresses[address.index()].label;
            *addresses[address.index()].get_or_insert_with(|| self.address(label))
        });
        let atomics = columns.append_values(&there.columns, events.clone(), line);
        self.columns = columns;
        self.bytes += events.len() * weight::EVENT + atomics * weight::EXCHANGE;
        if there.times.is_empty() {
            return true;
        }
        for (at, event) in events.zip(first..) {
            let times = there.times.get(at);
            if times != Times::default() {
                self.set_times(Draft(event as u32), times);
            }
        }
        true
    }

    /// Whether there is room for all events, however many of their threads and addresses are new.
    fn has_room_for(&self, stretch: &Stretch, events: &Range<usize>, line: u32) -> bool {
        let Stretch { builder, .. } = stretch;
        let (threads, addresses) = (builder.thread_labels.len(), builder.addresses.len());
        let names = builder.addresses.iter().map(|address| match &address.label {
            AddressLabel::Name(name) => weight::name_of_address(name),
            AddressLabel::Number(_) | AddressLabel::Bytes(_) => 0,
        });
        let timed = if builder.times.is_empty() { 0 } else { self.columns.len() + events.len() };
        let most = events.len() * (weight::EVENT + weight::EXCHANGE)
            + timed * weight::TIMES
            + threads * weight::THREAD
            + addresses * weight::ADDRESS
            + names.sum::<usize>();
        let last_line = events.clone().last().map_or(0, |last| builder.columns.line(last));
        self.memory.is_none_or(|bytes| self.bytes.saturating_add(most) <= bytes)
            && self.columns.len() + events.len() <= MAX_EVENTS
            && self.thread_labels.len() + threads <= MAX_THREADS
            && self.addresses.len() + addresses <= MAX_ADDRESSES
            && line.checked_add(last_line).is_some()
    }

    #[cold]
    fn thread_labelled(&mut self, label: u64) -> ThreadId {
        match self.thread_ids.get(label) {
            Some(index) => ThreadId::new(index),
            None => {
                self.bytes += weight::THREAD;
                self.add_thread(label)
            }
        }
    }
}
