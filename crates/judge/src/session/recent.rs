//! The recent events of a session, and what is remembered of those that were forgotten.
//!
//! Of a forgotten write only this is remembered: its value lies between the least and the greatest
//! that was forgotten of its address. A read of a value in between may have read it, so it says
//! nothing for certain; any other read of a value that a recent event wrote, or that was there at
//! first, has its source among what is known.

use std::collections::VecDeque;

use history::{
    AddressId, AddressLabel, BuildError, Builder, History, Kinds, Operation, ThinAir, Times, Value,
};
use rustc_hash::FxHashMap;

const NOWHERE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// An event of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) thread: u32,
    /// Its address; [`NOWHERE`] for a fence.
    address: u32,
    pub(super) line: u32,
    /// Whether it reads and writes; for a fence what it keeps before what.
    kinds: Kinds,
    before: Kinds,
    pub(super) read: Value,
    pub(super) written: Value,
    /// What memory held before it was replayed.
    pub(super) replaced: Value,
    /// Its number among all events so far, modulo 2^32.
    number: u32,
    begin: u64,
    end: u64,
}

impl Item {
    #[inline]
    pub(super) fn new(thread: u32, operation: Operation, times: Times, line: u32) -> Self {
        let (address, kinds, before, read, written) = match operation {
            Operation::Read { address, value } => {
                (address.index() as u32, Kinds::READS, Kinds::NONE, value, 0)
            }
            Operation::Write { address, value } => {
                (address.index() as u32, Kinds::WRITES, Kinds::NONE, 0, value)
            }
            Operation::ReadModifyWrite { address, read, write } => {
                (address.index() as u32, Kinds::ALL, Kinds::NONE, read, write)
            }
            Operation::Fence { before, after } => (NOWHERE, after, before, 0, 0),
        };
        let (begin, end) = (times.begin.unwrap_or(NEVER), times.end.unwrap_or(NEVER));
        let (replaced, number) = (0, 0);
        Self { thread, address, line, kinds, before, read, written, replaced, number, begin, end }
    }

    #[inline]
    pub(super) fn address(&self) -> Option<usize> {
        (self.address != NOWHERE).then_some(self.address as usize)
    }

    #[inline]
    pub(super) fn reads(&self) -> bool {
        self.address != NOWHERE && self.kinds.reads
    }

    #[inline]
    pub(super) fn writes(&self) -> bool {
        self.address != NOWHERE && self.kinds.writes
    }

    #[inline]
    pub(super) fn has_times(&self) -> bool {
        self.begin & self.end != NEVER
    }

    fn times(&self) -> Times {
        let said = |time: u64| (time != NEVER).then_some(time);
        Times { begin: said(self.begin), end: said(self.end) }
    }

    /// The same event without its read; nothing if it only reads.
    fn without_read(mut self) -> Option<Self> {
        self.kinds.reads = false;
        self.kinds.writes.then_some(self)
    }

    fn operation(&self, address: impl FnOnce(usize) -> AddressId) -> Operation {
        let Some(at) = self.address() else {
            return Operation::Fence { before: self.before, after: self.kinds };
        };
        let address = address(at);
        match (self.kinds.reads, self.kinds.writes) {
            (true, true) => {
                Operation::ReadModifyWrite { address, read: self.read, write: self.written }
            }
            (true, false) => Operation::Read { address, value: self.read },
            _ => Operation::Write { address, value: self.written },
        }
    }
}

/// How the events of a history that is made of items are numbered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// By their place among the items, from 1.
    Places,
    /// As the trace has them.
    Recorded,
}

/// Makes a history of items.
pub(super) struct HistoryMaker<'s> {
    pub(super) threads: &'s [u64],
    /// How many addresses there are.
    pub(super) addresses: usize,
    pub(super) label: &'s dyn Fn(usize) -> AddressLabel,
    pub(super) initial: &'s dyn Fn(usize) -> Value,
    pub(super) lines: Lines,
}

impl HistoryMaker<'_> {
    pub(super) fn history(
        &self,
        items: impl Iterator<Item = Item>,
        finals: &[(AddressId, Value)],
    ) -> Result<History, BuildError> {
        let mut builder = Builder::new();
        let mut known: Vec<Option<AddressId>> = vec![None; self.addresses];
        let mut place = |builder: &mut Builder, at: usize| {
            *known[at].get_or_insert_with(|| {
                let address = builder.address(&(self.label)(at));
                // It is new, so nothing else was said of it.
                let _ = builder.initial(address, (self.initial)(at), 0);
                address
            })
        };
        for (number, item) in (1..).zip(items) {
            let line = if self.lines == Lines::Places { number } else { item.line };
            let operation = item.operation(|at| place(&mut builder, at));
            let event = builder.event(self.threads[item.thread as usize], operation, line)?;
            if item.has_times() {
                builder.times(event, item.times())?;
            }
        }
        for &(address, value) in finals {
            let address = place(&mut builder, address.index());
            builder.final_value(address, value, 0)?;
        }
        builder.finish(ThinAir::Violation)
    }
}

/// The values of an address that forgotten writes may have written.
#[derive(Clone, Copy, Debug)]
struct DiscardedWrites {
    least: Value,
    greatest: Value,
}

impl DiscardedWrites {
    const NOTHING: DiscardedWrites = DiscardedWrites { least: Value::MAX, greatest: 0 };

    fn add(&mut self, value: Value) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    fn may_be(self, value: Value) -> bool {
        (self.least..=self.greatest).contains(&value)
    }
}

/// The recent events.
#[derive(Default, Debug)]
pub(super) struct Recent {
    items: VecDeque<Item>,
    forgotten: Vec<DiscardedWrites>,
    /// How many were forgotten.
    gone: u64,
}

impl Recent {
    #[inline]
    pub(super) fn push(&mut self, mut item: Item) -> Item {
        item.number = self.come() as u32;
        self.items.push_back(item);
        item
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// How many events have come.
    pub(super) fn come(&self) -> u64 {
        self.gone + self.items.len() as u64
    }

    /// Whether nothing was forgotten.
    pub(super) fn is_whole(&self) -> bool {
        self.gone == 0
    }

    pub(super) fn last(&self, count: usize) -> impl DoubleEndedIterator<Item = &Item> {
        self.items.range(self.items.len() - count.min(self.items.len())..)
    }

    /// Whether these are the last that came, with nothing left out.
    pub(super) fn ends_with(&self, items: &[Item]) -> bool {
        let first = self.come() - (items.len() as u64).min(self.come());
        items.first().is_none_or(|item| item.number == first as u32)
    }

    /// Notes what these replaced in memory, as far as they are the last that came. Says how many.
    pub(super) fn replayed(&mut self, items: &[Item]) -> usize {
        let last = items.iter().rev().zip(self.items.iter_mut().rev());
        let last = last.take_while(|(item, recent)| item.number == recent.number);
        last.map(|(item, recent)| recent.replaced = item.replaced).count()
    }

    /// Forgets the oldest events.
    pub(super) fn forget(&mut self, count: usize, addresses: usize) {
        self.forgotten.resize(addresses, DiscardedWrites::NOTHING);
        for item in self.items.drain(..count) {
            if item.writes() {
                self.forgotten[item.address as usize].add(item.written);
            }
        }
        self.gone += count as u64;
    }

    /// The last events, with only those reads whose source is known to be among them: what these
    /// violate, everything that has come violates.
    pub(super) fn certain(
        &self,
        count: usize,
        addresses: usize,
        initial: impl Fn(usize) -> Value,
    ) -> Vec<Item> {
        let mut forgotten = self.forgotten.clone();
        forgotten.resize(addresses, DiscardedWrites::NOTHING);
        let left_out = self.items.len() - count.min(self.items.len());
        for item in self.items.range(..left_out).filter(|item| item.writes()) {
            forgotten[item.address as usize].add(item.written);
        }
        let kept = || self.items.range(left_out..);
        let mut written: FxHashMap<(u32, Value), u32> = FxHashMap::default();
        for item in kept().filter(|item| item.writes()) {
            *written.entry((item.address, item.written)).or_default() += 1;
        }
        let is_known = |item: &Item| {
            let at = item.address as usize;
            // An atomic does not read what it writes itself.
            let own = u32::from(item.writes() && item.written == item.read);
            let others = written.get(&(item.address, item.read)).map_or(0, |count| count - own);
            !forgotten[at].may_be(item.read) && (item.read == initial(at) || others > 0)
        };
        let certain = kept().filter_map(|item| match !item.reads() || is_known(item) {
            true => Some(*item),
            false => item.without_read(),
        });
        certain.collect()
    }
}
