//! When events began and ended, for those traces that say so: 17 bytes an event, or none at all.

use crate::columns::scattered;
use crate::event::Times;

/// The times of the events of a trace; empty when no event carries one.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeColumns {
    begins: Vec<u64>,
    ends: Vec<u64>,
    /// Which of the two are known.
    known: Vec<u8>,
}

const BEGIN: u8 = 1;
const END: u8 = 2;

impl TimeColumns {
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(crate) fn get(&self, event: usize) -> Times {
        let Some(known) = self.known.get(event) else { return Times::default() };
        Times {
            begin: (known & BEGIN != 0).then(|| self.begins[event]),
            end: (known & END != 0).then(|| self.ends[event]),
        }
    }

    /// Says when an event happened. Events before it that say nothing have no time.
    pub(crate) fn set(&mut self, event: usize, times: Times) {
        if self.len() <= event {
            self.resize(event + 1);
        }
        let Times { begin, end } = times;
        self.begins[event] = begin.unwrap_or(0);
        self.ends[event] = end.unwrap_or(0);
        self.known[event] = begin.map_or(0, |_| BEGIN) | end.map_or(0, |_| END);
    }

    fn resize(&mut self, length: usize) {
        self.begins.resize(length, 0);
        self.ends.resize(length, 0);
        self.known.resize(length, 0);
    }

    /// The same times in another order: `to[event]` is the place of an event.
    pub(crate) fn reordered(mut self, to: &[u32]) -> Self {
        self.begins = scattered(std::mem::take(&mut self.begins), to);
        self.ends = scattered(std::mem::take(&mut self.ends), to);
        self.known = scattered(std::mem::take(&mut self.known), to);
        self
    }

    /// The same times with an entry for each of so many events, if there are any at all.
    pub(crate) fn for_all(mut self, events: usize) -> Self {
        if !self.is_empty() {
            self.resize(events);
        }
        self
    }
}
