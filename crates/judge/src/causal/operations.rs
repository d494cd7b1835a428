//! A history as the causal models see it: every read and every write is an operation, and a
//! read-modify-write is two, its read and then its write.
//!
//! Operations are numbered thread by thread in program order. The writes of an address that one
//! thread did are a *chain*: every relation here keeps them in program order, so "the writes of x
//! before o" is one number a chain, and what a rule says of a chain it says of one of its ends.
//! Fences are no operations. Initial writes are none either: nothing comes before them, so they
//! appear in evidence but never on a search.

use std::ops::Range;

use evidence::Node;
use history::{AddressId, EventId, History, Source, ThreadId};

/// A read or a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Op(u32);

impl Op {
    /// No operation, in tables where most entries are operations.
    pub(super) const NONE: Op = Op(u32::MAX);

    pub(super) fn new(index: usize) -> Self {
        debug_assert!(index < u32::MAX as usize);
        Op(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn is_some(self) -> bool {
        self != Op::NONE
    }
}

/// Where a read took its value from, as far as that is decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum From {
    /// Not decided (or no read).
    Open,
    /// The initial write.
    Initial,
    /// This write.
    Write(Op),
}

/// A choice of reads-from: complete, or partial while the search is on its way.
#[derive(Clone, Debug)]
pub(super) struct ReadsFrom {
    /// For each operation that reads.
    pub(super) of: Vec<From>,
    /// For each `final` line.
    pub(super) finals: Vec<From>,
}

/// The writes of one address by one thread, as a range of places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) thread: usize,
    start: u32,
    end: u32,
}

impl Chain {
    pub(super) fn places(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The operations of a history, in flat tables.
#[derive(Debug)]
pub(super) struct Operations {
    event: Vec<EventId>,
    address: Vec<AddressId>,
    thread: Vec<u32>,
    is_write: Vec<bool>,
    /// Whether it is half of a read-modify-write.
    is_half: Vec<bool>,
    /// How many writes of its thread come before it.
    rank: Vec<u32>,
    thread_starts: Vec<u32>,
    first_of_event: Vec<Op>,
    /// All writes by address, thread and program order. A *place* is an index into this table.
    writes: Vec<Op>,
    /// The rank of the write at each place, for binary search.
    place_ranks: Vec<u32>,
    chain_of_place: Vec<u32>,
    place_of_write: Vec<u32>,
    chains: Vec<Chain>,
    address_chains: Vec<u32>,
}

impl Operations {
    pub(super) fn new(history: &History) -> Self {
        let mut ops = Operations {
            event: Vec::with_capacity(history.len()),
            address: Vec::with_capacity(history.len()),
            thread: Vec::with_capacity(history.len()),
            is_write: Vec::with_capacity(history.len()),
            is_half: Vec::with_capacity(history.len()),
            rank: Vec::with_capacity(history.len()),
            thread_starts: vec![0],
            first_of_event: vec![Op::NONE; history.len()],
            writes: Vec::new(),
            place_ranks: Vec::new(),
            chain_of_place: Vec::new(),
            place_of_write: Vec::new(),
            chains: Vec::new(),
            address_chains: vec![0],
        };
        for thread in history.threads() {
            ops.add_thread(history, thread);
        }
        ops.add_chains(history);
        ops
    }

    fn add_thread(&mut self, history: &History, thread: ThreadId) {
        let mut rank = 0;
        for id in history.thread_events(thread) {
            let event = history.event(id);
            let Some(address) = event.address() else { continue };
            self.first_of_event[id.index()] = Op::new(self.event.len());
            for is_write in [false, true] {
                let happens = if is_write { event.is_write() } else { event.is_read() };
                if !happens {
                    continue;
                }
                self.event.push(id);
                self.address.push(address);
                self.thread.push(thread.index() as u32);
                self.is_write.push(is_write);
                self.is_half.push(event.is_atomic());
                self.rank.push(rank);
                rank += u32::from(is_write);
            }
        }
        self.thread_starts.push(self.event.len() as u32);
    }

    fn add_chains(&mut self, history: &History) {
        self.place_of_write = vec![u32::MAX; self.len()];
        for address in history.address_ids() {
            let mut last_thread = None;
            // Event ids are thread-major, so each thread's writes come together and in order.
            for &event in &history.address(address).writes {
                let write = self.write_of(event);
                let place = self.writes.len() as u32;
                if last_thread != Some(self.thread(write)) {
                    last_thread = Some(self.thread(write));
                    self.chains.push(Chain {
                        thread: self.thread(write),
                        start: place,
                        end: place,
                    });
                }
                if let Some(chain) = self.chains.last_mut() {
                    chain.end += 1;
                }
                self.writes.push(write);
                self.place_ranks.push(self.rank(write));
                self.chain_of_place.push(self.chains.len() as u32 - 1);
                self.place_of_write[write.index()] = place;
            }
            self.address_chains.push(self.chains.len() as u32);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.event.len()
    }

    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = Op> + use<> {
        (0..self.len()).map(Op::new)
    }

    pub(super) fn thread_count(&self) -> usize {
        self.thread_starts.len() - 1
    }

    /// The operations of a thread, in program order.
    pub(super) fn of_thread(&self, thread: usize) -> impl DoubleEndedIterator<Item = Op> + use<> {
        (self.thread_starts[thread] as usize..self.thread_starts[thread + 1] as usize).map(Op::new)
    }

    pub(super) fn event(&self, op: Op) -> EventId {
        self.event[op.index()]
    }

    pub(super) fn address(&self, op: Op) -> AddressId {
        self.address[op.index()]
    }

    pub(super) fn thread(&self, op: Op) -> usize {
        self.thread[op.index()] as usize
    }

    pub(super) fn is_write(&self, op: Op) -> bool {
        self.is_write[op.index()]
    }

    /// Whether this is half of a read-modify-write.
    pub(super) fn is_half(&self, op: Op) -> bool {
        self.is_half[op.index()]
    }

    /// How many writes of its thread come before it.
    pub(super) fn rank(&self, op: Op) -> u32 {
        self.rank[op.index()]
    }

    /// Whether `a` comes before `b` in the program order of one thread.
    pub(super) fn program_order(&self, a: Op, b: Op) -> bool {
        a < b && self.thread(a) == self.thread(b)
    }

    /// The read of an event that reads.
    pub(super) fn read_of(&self, event: EventId) -> Op {
        self.first_of_event[event.index()]
    }

    /// The write of an event that writes.
    pub(super) fn write_of(&self, event: EventId) -> Op {
        let first = self.first_of_event[event.index()];
        if self.is_half(first) { Op::new(first.index() + 1) } else { first }
    }

    /// The other half of the read-modify-write that this read is a half of.
    pub(super) fn update_of(&self, read: Op) -> Option<Op> {
        (self.is_half(read) && !self.is_write(read)).then(|| Op::new(read.index() + 1))
    }

    /// The read half of the read-modify-write that this write is a half of.
    pub(super) fn read_half_of(&self, write: Op) -> Option<Op> {
        (self.is_half(write) && self.is_write(write)).then(|| Op::new(write.index() - 1))
    }

    /// A source as an operation.
    pub(super) fn source(&self, source: Source) -> From {
        match source {
            Source::Initial => From::Initial,
            Source::Write(event) => From::Write(self.write_of(event)),
        }
    }

    /// How evidence names an operation.
    pub(super) fn node(&self, op: Op) -> Node {
        if self.update_of(op).is_some() {
            Node::ReadOf(self.event(op))
        } else {
            Node::Event(self.event(op))
        }
    }

    pub(super) fn chain_count(&self) -> usize {
        self.chains.len()
    }

    /// The chains of an address, as indices.
    pub(super) fn chains_of(&self, address: AddressId) -> Range<usize> {
        self.address_chains[address.index()] as usize
            ..self.address_chains[address.index() + 1] as usize
    }

    pub(super) fn chain(&self, chain: usize) -> Chain {
        self.chains[chain]
    }

    pub(super) fn write_count(&self) -> usize {
        self.writes.len()
    }

    pub(super) fn write_at(&self, place: usize) -> Op {
        self.writes[place]
    }

    pub(super) fn rank_at(&self, place: usize) -> u32 {
        self.place_ranks[place]
    }

    pub(super) fn place_of(&self, write: Op) -> usize {
        self.place_of_write[write.index()] as usize
    }

    pub(super) fn chain_of(&self, write: Op) -> usize {
        self.chain_of_place[self.place_of(write)] as usize
    }

    /// The next write of the address by the same thread.
    pub(super) fn next_in_chain(&self, write: Op) -> Option<Op> {
        let next = self.place_of(write) + 1;
        self.chain(self.chain_of(write)).places().contains(&next).then(|| self.writes[next])
    }

    /// The place after the last write of a chain among the first `rank` writes of its thread.
    pub(super) fn end_of_prefix(&self, chain: usize, rank: u32) -> usize {
        let places = self.chain(chain).places();
        places.start + self.place_ranks[places].partition_point(|&r| r < rank)
    }

    /// The last write of a chain among the first `rank` writes of its thread.
    pub(super) fn last_of_prefix(&self, chain: usize, rank: u32) -> Option<Op> {
        let end = self.end_of_prefix(chain, rank);
        (end > self.chain(chain).places().start).then(|| self.writes[end - 1])
    }
}

impl ReadsFrom {
    /// What each reader with one candidate read; the others open.
    pub(super) fn certain(history: &History, ops: &Operations) -> Self {
        let only = |sources: &[Source]| match *sources {
            [one] => ops.source(one),
            _ => From::Open,
        };
        let of =
            ops.all()
                .map(|op| {
                    if ops.is_write(op) { From::Open } else { only(history.sources(ops.event(op))) }
                })
                .collect();
        ReadsFrom { of, finals: history.finals().iter().map(|f| only(&f.sources)).collect() }
    }

    /// What an operation read; [`From::Open`] for writes.
    pub(super) fn source(&self, op: Op) -> From {
        self.of[op.index()]
    }
}
