//! A plausible choice of reads-from where values repeat: what an interleaving of all threads saw.
//!
//! Two are tried. The order of the lines means nothing between threads, but who writes a trace down
//! often does it as things happen. Else a greedy one: reads go ahead as soon as memory holds their
//! value, which never hurts; when only writes are left to choose from, the one that overwrites the
//! fewest values still wanted goes first. If every read finds its value, the guess satisfies every
//! model; else it gives at least a time to every event, by which candidates are tried. O(n·k).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::{AddressId, Event, EventId, History, Operation, Source, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Budget;

/// What the interleaving saw.
#[derive(Debug, Default)]
pub(super) struct Guess {
    /// What each reader read, where it saw a write or the initial value of the right value.
    sources: Vec<Option<Source>>,
    /// What each `final` line saw.
    finals: Vec<Option<Source>>,
    /// When each event took place.
    times: Vec<u32>,
    /// How many readers did not find their value in memory.
    misses: usize,
}

impl Guess {
    /// The better of the two interleavings, or what of it the budget had time for.
    pub(super) fn new(history: &History, budget: &Budget) -> Self {
        let as_written = Interleaving::new(history).as_written();
        if as_written.misses == 0 {
            return as_written;
        }
        let greedy = Interleaving::new(history).greedy(budget);
        if greedy.misses < as_written.misses { greedy } else { as_written }
    }

    pub(super) fn source(&self, reader: EventId) -> Option<Source> {
        self.sources[reader.index()]
    }

    pub(super) fn final_source(&self, line: usize) -> Option<Source> {
        self.finals[line]
    }

    pub(super) fn time(&self, event: EventId) -> u32 {
        self.times[event.index()]
    }
}

struct Interleaving<'a> {
    history: &'a History,
    /// The next event of each thread.
    next: Vec<usize>,
    memory: Vec<(Value, Source)>,
    /// The last write of each value so far.
    last: FxHashMap<(AddressId, Value), Source>,
    /// Reads of a value, and writes of it, still to come.
    wanted: FxHashMap<(AddressId, Value), (u32, u32)>,
    clock: u32,
    guess: Guess,
}

impl<'a> Interleaving<'a> {
    fn new(history: &'a History) -> Self {
        let mut last = FxHashMap::default();
        let mut memory = Vec::with_capacity(history.address_count());
        for address in history.address_ids() {
            let value = history.address(address).initial;
            memory.push((value, Source::Initial));
            last.insert((address, value), Source::Initial);
        }
        let mut wanted: FxHashMap<(AddressId, Value), (u32, u32)> = FxHashMap::default();
        for event in history.events() {
            let Some(address) = event.address() else { continue };
            if let Some(value) = event.operation.value_read() {
                wanted.entry((address, value)).or_default().0 += 1;
            }
            if let Some(value) = event.operation.value_written() {
                wanted.entry((address, value)).or_default().1 += 1;
            }
        }
        let next = history.threads().map(|t| history.thread_range(t).start).collect();
        let guess = Guess {
            sources: vec![None; history.len()],
            finals: Vec::new(),
            times: vec![0; history.len()],
            misses: 0,
        };
        Interleaving { history, next, memory, last, wanted, clock: 0, guess }
    }

    /// In the order of the lines, as far as that is program order.
    fn as_written(mut self) -> Guess {
        let heads = (0..self.next.len()).filter_map(|t| Some(Reverse((self.head(t)?.1.line, t))));
        let mut heads: BinaryHeap<Reverse<(u32, usize)>> = heads.collect();
        while let Some(Reverse((_, thread))) = heads.pop() {
            if let Some((id, _)) = self.head(thread) {
                self.perform(id);
            }
            heads.extend(self.head(thread).map(|(_, event)| Reverse((event.line, thread))));
        }
        self.ended()
    }

    fn greedy(mut self, budget: &Budget) -> Guess {
        for step in 1_u32.. {
            if step.is_multiple_of(1024) && budget.is_spent() {
                break;
            }
            while self.read_what_can_be_read() {}
            match self.best_write().or_else(|| self.stuck()) {
                Some(event) => self.perform(event),
                None => break,
            }
        }
        self.ended()
    }

    fn ended(mut self) -> Guess {
        for line in self.history.finals() {
            let source = self.see(line.address, line.value);
            self.guess.finals.push(source);
        }
        self.guess
    }

    /// Where a reader of this value finds it: in memory or, failing that, where it was last.
    fn see(&mut self, address: AddressId, value: Value) -> Option<Source> {
        let (held, source) = self.memory[address.index()];
        if held == value {
            return Some(source);
        }
        self.guess.misses += 1;
        self.last.get(&(address, value)).copied()
    }

    /// The event that a thread does next.
    fn head(&self, thread: usize) -> Option<(EventId, &'a Event)> {
        let thread_id = history::ThreadId::new(thread);
        let index = self.next[thread];
        let id =
            self.history.thread_range(thread_id).contains(&index).then(|| EventId::new(index))?;
        Some((id, self.history.event(id)))
    }

    fn matches(&self, event: &Event) -> bool {
        match (event.address(), event.operation.value_read()) {
            (Some(address), Some(value)) => self.memory[address.index()].0 == value,
            _ => true,
        }
    }

    fn read_what_can_be_read(&mut self) -> bool {
        let before = self.clock;
        for thread in 0..self.next.len() {
            while let Some((id, event)) = self.head(thread)
                && !event.is_write()
                && self.matches(event)
            {
                self.perform(id);
            }
        }
        self.clock > before
    }

    /// Among the writes that could go next, the one that does the least harm: first those that
    /// lose no value for good, then those that a thread waits for, then by how many reads have to
    /// wait for the value to come back.
    fn best_write(&self) -> Option<EventId> {
        let heads = || (0..self.next.len()).filter_map(|thread| self.head(thread));
        let awaited: FxHashSet<(AddressId, Value)> = heads()
            .filter_map(|(_, event)| Some((event.address()?, event.operation.value_read()?)))
            .collect();
        let harm = |event: &Event| {
            let address = event.address()?;
            let held = (address, self.memory[address.index()].0);
            let (reads, writes) = self.wanted.get(&held).copied().unwrap_or_default();
            let others = reads - u32::from(event.is_read());
            let is_awaited = awaited.contains(&(address, event.operation.value_written()?));
            Some((others > 0 && writes == 0, !is_awaited, others))
        };
        heads()
            .filter(|(_, event)| event.is_write() && self.matches(event))
            .min_by_key(|(_, event)| harm(event))
            .map(|(id, _)| id)
    }

    /// A reader that no write can help any more.
    fn stuck(&self) -> Option<EventId> {
        let heads = (0..self.next.len()).filter_map(|thread| self.head(thread));
        let seen = |event: &Event| match (event.address(), event.operation.value_read()) {
            (Some(address), Some(value)) => self.last.contains_key(&(address, value)),
            _ => true,
        };
        heads.min_by_key(|(_, event)| !seen(event)).map(|(id, _)| id)
    }

    fn perform(&mut self, id: EventId) {
        let event = self.history.event(id);
        self.clock += 1;
        self.guess.times[id.index()] = self.clock;
        self.next[event.thread.index()] += 1;
        let Some(address) = event.address() else { return };
        if let Some(value) = event.operation.value_read() {
            self.guess.sources[id.index()] = self.see(address, value);
            if let Some(count) = self.wanted.get_mut(&(address, value)) {
                count.0 -= 1;
            }
        }
        if let Operation::Write { value, .. } | Operation::ReadModifyWrite { write: value, .. } =
            event.operation
        {
            self.memory[address.index()] = (value, Source::Write(id));
            self.last.insert((address, value), Source::Write(id));
            if let Some(count) = self.wanted.get_mut(&(address, value)) {
                count.1 -= 1;
            }
        }
    }
}
