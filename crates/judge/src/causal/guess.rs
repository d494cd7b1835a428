//! A plausible choice of reads-from where values repeat: what an interleaving of all threads saw.
//!
//! Two are tried. The order of the lines means nothing between threads, but who writes a trace down
//! often does it as things happen. If some read does not find its value in memory that way, a
//! greedy one: reads go ahead as soon as memory holds their value, which never hurts; when only
//! writes are left to choose from, the one that overwrites the fewest values still wanted goes
//! first; and when that would lose a value for good, a read takes an older write that its causal
//! past has not overwritten. If every read finds its value in memory, the guess satisfies every
//! model; if not, it satisfies `cc` more often than not, and gives at least a time to every event,
//! by which candidates are tried. O(n·k).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::{AddressId, Event, EventId, History, Source, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::clocks::zeros;
use super::operations::{From, Op, Operations};
use crate::Budget;

/// What the interleaving saw.
#[derive(Debug, Default)]
pub(super) struct Guess {
    /// What each reader read, where a write of the right value took place before it.
    sources: Vec<Option<Source>>,
    /// What the `final` lines saw.
    finals: FxHashMap<AddressId, Source>,
    /// When each event took place.
    times: Vec<u32>,
    /// How many readers did not find their value in memory.
    misses: usize,
}

impl Guess {
    /// The better of the two interleavings, or what of it the budget had time for.
    pub(super) fn new(history: &History, ops: &Operations, budget: &Budget) -> Self {
        let as_written = Interleaving::new(history, ops).in_order_of_lines();
        if as_written.misses == 0 {
            return as_written;
        }
        Interleaving::new(history, ops).greedy(budget)
    }

    pub(super) fn source(&self, reader: EventId) -> Option<Source> {
        self.sources[reader.index()]
    }

    pub(super) fn final_source(&self, address: AddressId) -> Option<Source> {
        self.finals.get(&address).copied()
    }

    pub(super) fn time(&self, event: EventId) -> u32 {
        self.times[event.index()]
    }
}

struct Interleaving<'a> {
    history: &'a History,
    ops: &'a Operations,
    /// The next event of each thread.
    next: Vec<usize>,
    memory: Vec<(Value, Source)>,
    /// The last write of each value so far.
    last: FxHashMap<(AddressId, Value), Source>,
    /// Reads of a value, and writes of it, still to come.
    wanted: FxHashMap<(AddressId, Value), (u32, u32)>,
    past: Past,
    clock: u32,
    guess: Guess,
}

impl<'a> Interleaving<'a> {
    fn new(history: &'a History, ops: &'a Operations) -> Self {
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
            finals: FxHashMap::default(),
            times: vec![0; history.len()],
            misses: 0,
        };
        let past = Past::default();
        Interleaving { history, ops, next, memory, last, wanted, past, clock: 0, guess }
    }

    /// In the order of the lines, as far as that is program order.
    fn in_order_of_lines(mut self) -> Guess {
        let heads = (0..self.next.len()).filter_map(|t| Some(Reverse((self.head(t)?.1.line, t))));
        let mut heads: BinaryHeap<Reverse<(u32, usize)>> = heads.collect();
        while let Some(Reverse((_, thread))) = heads.pop() {
            if let Some((id, _)) = self.head(thread) {
                self.perform(id, None);
            }
            heads.extend(self.head(thread).map(|(_, event)| Reverse((event.line, thread))));
        }
        self.ended()
    }

    fn greedy(mut self, budget: &Budget) -> Guess {
        self.past = Past::new(self.ops, budget);
        for step in 1_u32.. {
            if step.is_multiple_of(1024) && budget.is_spent() {
                break;
            }
            while self.read_what_memory_holds() {}
            let (id, source) = match self.best_write() {
                Some((id, false)) => (id, None),
                otherwise => match (self.older_write(), otherwise) {
                    (Some((id, source)), _) => (id, Some(source)),
                    (None, Some((id, _))) => (id, None),
                    (None, None) => match self.stuck() {
                        Some(id) => (id, None),
                        None => break,
                    },
                },
            };
            self.perform(id, source);
        }
        self.ended()
    }

    fn ended(mut self) -> Guess {
        for line in self.history.finals() {
            if let Some(source) = self.see(line.address, line.value) {
                self.guess.finals.insert(line.address, source);
            }
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
    fn head(&self, thread: usize) -> Option<(EventId, Event)> {
        let range = self.history.thread_range(ThreadId::new(thread));
        let id = range.contains(&self.next[thread]).then(|| EventId::new(self.next[thread]))?;
        Some((id, self.history.event(id)))
    }

    fn heads(&self) -> impl Iterator<Item = (EventId, Event)> + '_ {
        (0..self.next.len()).filter_map(|thread| self.head(thread))
    }

    fn matches(&self, event: &Event) -> bool {
        match (event.address(), event.operation.value_read()) {
            (Some(address), Some(value)) => self.memory[address.index()].0 == value,
            _ => true,
        }
    }

    fn read_what_memory_holds(&mut self) -> bool {
        let before = self.clock;
        for thread in 0..self.next.len() {
            while let Some((id, event)) = self.head(thread)
                && !event.is_write()
                && self.matches(&event)
            {
                self.perform(id, None);
            }
        }
        self.clock > before
    }

    /// Among the writes that could go next, the one that does the least harm, and whether it loses
    /// a value for good; then those that a thread waits for come first, then those that make the
    /// fewest reads wait for the value to come back.
    fn best_write(&self) -> Option<(EventId, bool)> {
        let awaited: FxHashSet<(AddressId, Value)> = (self.heads())
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
        (self.heads())
            .filter(|(_, event)| event.is_write() && self.matches(event))
            .filter_map(|(id, event)| Some((harm(&event)?, id)))
            .min()
            .map(|((loses, ..), id)| (id, loses))
    }

    /// A reader whose value is gone from memory but not from its causal past, and where it is.
    fn older_write(&self) -> Option<(EventId, Source)> {
        self.heads().filter(|(_, event)| event.is_read()).find_map(|(id, event)| {
            let mut sources: Vec<Source> = (self.history.sources(id).iter().copied())
                .filter(|&source| match source {
                    Source::Initial => true,
                    Source::Write(write) => self.guess.times[write.index()] > 0,
                })
                .collect();
            sources.sort_by_key(|&source| match source {
                Source::Initial => Reverse(0),
                Source::Write(write) => Reverse(self.guess.times[write.index()]),
            });
            let thread = event.thread.index();
            let read = self.ops.read_of(id);
            let fits = |&source: &Source| {
                self.past.allows(self.ops, thread, read, self.ops.source(source))
            };
            sources.into_iter().take(CANDIDATES).find(fits).map(|source| (id, source))
        })
    }

    /// A reader that nothing can help any more.
    fn stuck(&self) -> Option<EventId> {
        let seen = |event: &Event| match (event.address(), event.operation.value_read()) {
            (Some(address), Some(value)) => self.last.contains_key(&(address, value)),
            _ => true,
        };
        self.heads().min_by_key(|(_, event)| !seen(event)).map(|(id, _)| id)
    }

    fn perform(&mut self, id: EventId, older: Option<Source>) {
        let event = self.history.event(id);
        let thread = event.thread.index();
        self.clock += 1;
        self.guess.times[id.index()] = self.clock;
        self.next[thread] += 1;
        let Some(address) = event.address() else { return };
        if let Some(value) = event.operation.value_read() {
            let seen = self.see(address, value);
            let source = older.or(seen);
            self.guess.sources[id.index()] = source;
            if let Some(Source::Write(write)) = source {
                self.past.read(thread, self.ops.write_of(write));
            }
            if let Some(count) = self.wanted.get_mut(&(address, value)) {
                count.0 -= 1;
            }
        }
        if let Some(value) = event.operation.value_written() {
            self.past.write(self.ops, thread, self.ops.write_of(id));
            self.memory[address.index()] = (value, Source::Write(id));
            self.last.insert((address, value), Source::Write(id));
            if let Some(count) = self.wanted.get_mut(&(address, value)) {
                count.1 -= 1;
            }
        }
    }
}

/// How many older writes are looked at for a reader.
const CANDIDATES: usize = 64;

/// What every thread has heard of, as clocks; empty if there is no room for them.
#[derive(Debug, Default)]
struct Past {
    width: usize,
    threads: Vec<u32>,
    writes: Vec<u32>,
}

impl Past {
    fn new(ops: &Operations, budget: &Budget) -> Self {
        let width = ops.thread_count();
        match zeros(ops.len().saturating_mul(width), budget) {
            Ok(writes) => Past { width, threads: vec![0; width * width], writes },
            Err(_) => Past::default(),
        }
    }

    fn row(&self, write: Op) -> &[u32] {
        &self.writes[write.index() * self.width..][..self.width]
    }

    fn read(&mut self, thread: usize, write: Op) {
        for i in 0..self.width {
            let heard = &mut self.threads[thread * self.width + i];
            *heard = (*heard).max(self.writes[write.index() * self.width + i]);
        }
    }

    fn write(&mut self, ops: &Operations, thread: usize, write: Op) {
        if self.width > 0 {
            let row = &mut self.threads[thread * self.width..][..self.width];
            row[thread] = ops.rank(write) + 1;
            self.writes[write.index() * self.width..][..self.width].copy_from_slice(row);
        }
    }

    /// Whether a thread has heard of nothing that overwrote this source.
    fn allows(&self, ops: &Operations, thread: usize, read: Op, source: From) -> bool {
        if self.width == 0 {
            return false;
        }
        let heard = &self.threads[thread * self.width..][..self.width];
        let mut latest = (ops.chains_of(ops.address(read)))
            .filter_map(|chain| ops.last_of_prefix(chain, heard[ops.chain(chain).thread]));
        match source {
            From::Open => false,
            From::Initial => latest.next().is_none(),
            From::Write(write) => !latest.any(|other| {
                other != write && self.row(other)[ops.thread(write)] > ops.rank(write)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use history::parse_text;

    use super::*;

    fn guess(trace: &str) -> Guess {
        let history = parse_text(trace).expect("the trace is well-formed");
        Guess::new(&history, &Operations::new(&history), &Budget::unlimited())
    }

    #[test]
    fn lines_in_the_order_of_events_are_believed() {
        let guess = guess(
            "0: x := 1
             1: x := 2
             1: x := 1
             0: x == 1",
        );
        assert_eq!(guess.misses, 0);
        assert_eq!(guess.source(EventId::new(1)), Some(Source::Write(EventId::new(3))));
    }

    #[test]
    fn threads_one_after_the_other_are_interleaved() {
        let guess = guess(
            "0: x == 1
             0: x == 2
             0: x == 1
             1: x := 1
             1: x := 2
             1: x := 1",
        );
        assert_eq!(guess.misses, 0);
        assert_eq!(guess.source(EventId::new(2)), Some(Source::Write(EventId::new(5))));
    }

    #[test]
    fn a_value_gone_from_memory_may_be_in_the_past_of_a_thread() {
        let guess = guess(
            "0: x := 1
             0: y == 0
             0: x == 1
             1: x := 2
             1: x == 1
             1: x == 2
             2: x == 2
             2: y := 1",
        );
        assert!(guess.misses > 0);
        assert!(guess.sources.iter().flatten().count() >= 4);
    }
}
