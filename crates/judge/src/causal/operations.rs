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
    /// For each operation: the write it read, or one of the two markers below.
    of: Vec<Op>,
    /// For each `final` line.
    pub(super) finals: Vec<From>,
}

/// Stands for the initial write in the table of [`ReadsFrom`]; [`Op::NONE`] stands for nothing.
const INITIAL: Op = Op(u32::MAX - 1);

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
    /// The thread, above two bits: half of a read-modify-write, write.
    kinds: Vec<u32>,
    /// How many writes of its thread come before it.
    rank: Vec<u32>,
    thread_starts: Vec<u32>,
    /// How many writes the threads before have.
    write_starts: Vec<u32>,
    first_of_event: Vec<Op>,
    /// All writes by address, thread and program order. A *place* is an index into this table.
    writes: Vec<Op>,
    /// The rank of the write at each place, for binary search.
    place_ranks: Vec<u32>,
    chain_of_place: Vec<u32>,
    /// The place of each write, by thread and rank.
    places: Vec<u32>,
    chains: Vec<Chain>,
    address_chains: Vec<u32>,
    has_updates: bool,
}

const WRITE: u32 = 1;
const HALF: u32 = 2;
const THREAD: u32 = 2;

impl Operations {
    pub(super) fn new(history: &History) -> Self {
        let accesses = history.event_ids().map(|id| history.kinds_of(id));
        let size = accesses.map(|k| usize::from(k.reads) + usize::from(k.writes)).sum();
        let mut ops = Operations {
            event: Vec::with_capacity(size),
            address: Vec::with_capacity(size),
            kinds: Vec::with_capacity(size),
            rank: Vec::with_capacity(size),
            thread_starts: vec![0],
            write_starts: vec![0],
            first_of_event: vec![Op::NONE; history.len()],
            writes: Vec::new(),
            place_ranks: Vec::new(),
            chain_of_place: Vec::new(),
            places: Vec::new(),
            chains: Vec::new(),
            address_chains: vec![0],
            has_updates: false,
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
            let Some(address) = history.address_of(id) else { continue };
            let kinds = history.kinds_of(id);
            self.first_of_event[id.index()] = Op::new(self.event.len());
            let half = if kinds.reads && kinds.writes { HALF } else { 0 };
            self.has_updates |= half != 0;
            for (happens, write) in [(kinds.reads, 0), (kinds.writes, WRITE)] {
                if !happens {
                    continue;
                }
                self.event.push(id);
                self.address.push(address);
                self.kinds.push((thread.index() as u32) << THREAD | half | write);
                self.rank.push(rank);
                rank += write;
            }
        }
        self.thread_starts.push(self.event.len() as u32);
        self.write_starts.push(self.write_starts[thread.index()] + rank);
    }

    fn add_chains(&mut self, history: &History) {
        let count = self.write_starts.last().map_or(0, |&count| count as usize);
        self.places = vec![u32::MAX; count];
        self.writes.reserve_exact(count);
        self.place_ranks.reserve_exact(count);
        self.chain_of_place.reserve_exact(count);
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
                let number = self.number_of(write);
                self.places[number] = place;
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

    /// The operation before in the thread, or [`Op::NONE`].
    pub(super) fn previous(&self, op: Op) -> Op {
        let is_first = op.0 == self.thread_starts[self.thread(op)];
        if is_first { Op::NONE } else { Op(op.0 - 1) }
    }

    /// The operation after in the thread, or [`Op::NONE`].
    pub(super) fn following(&self, op: Op) -> Op {
        let is_last = op.0 + 1 == self.thread_starts[self.thread(op) + 1];
        if is_last { Op::NONE } else { Op(op.0 + 1) }
    }

    pub(super) fn event(&self, op: Op) -> EventId {
        self.event[op.index()]
    }

    pub(super) fn address(&self, op: Op) -> AddressId {
        self.address[op.index()]
    }

    pub(super) fn thread(&self, op: Op) -> usize {
        (self.kinds[op.index()] >> THREAD) as usize
    }

    pub(super) fn is_write(&self, op: Op) -> bool {
        self.kinds[op.index()] & WRITE != 0
    }

    /// Whether this is half of a read-modify-write.
    pub(super) fn is_half(&self, op: Op) -> bool {
        self.kinds[op.index()] & HALF != 0
    }

    /// How many writes of its thread come before it.
    pub(super) fn rank(&self, op: Op) -> u32 {
        self.rank[op.index()]
    }

    /// The number of a write among all, thread by thread.
    pub(super) fn number_of(&self, write: Op) -> usize {
        (self.write_starts[self.thread(write)] + self.rank(write)) as usize
    }

    /// The numbers of the writes of a thread.
    pub(super) fn numbers_of(&self, thread: usize) -> Range<usize> {
        self.write_starts[thread] as usize..self.write_starts[thread + 1] as usize
    }

    /// The write of a number.
    pub(super) fn write_numbered(&self, number: usize) -> Op {
        self.writes[self.places[number] as usize]
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

    /// Whether there is any read-modify-write.
    pub(super) fn has_updates(&self) -> bool {
        self.has_updates
    }

    pub(super) fn address_count(&self) -> usize {
        self.address_chains.len() - 1
    }

    /// The places of the writes of an address.
    pub(super) fn places_of(&self, address: AddressId) -> Range<usize> {
        let chains = self.chains_of(address);
        if chains.is_empty() {
            return 0..0;
        }
        self.chains[chains.start].places().start..self.chains[chains.end - 1].places().end
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
        self.places[self.number_of(write)] as usize
    }

    pub(super) fn chain_of_place(&self, place: usize) -> usize {
        self.chain_of_place[place] as usize
    }

    /// The next write of the address by the same thread.
    pub(super) fn next_in_chain(&self, write: Op) -> Option<Op> {
        let next = self.place_of(write) + 1;
        self.chain(self.chain_of_place(next - 1))
            .places()
            .contains(&next)
            .then(|| self.writes[next])
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
        let mut certain = ReadsFrom {
            of: vec![Op::NONE; ops.len()],
            finals: history.finals().iter().map(|f| only(&f.sources)).collect(),
        };
        for read in ops.all().filter(|&op| !ops.is_write(op)) {
            certain.set(read, only(history.sources(ops.event(read))));
        }
        certain
    }

    /// What an operation read; [`From::Open`] for writes.
    pub(super) fn source(&self, op: Op) -> From {
        match self.of[op.index()] {
            Op::NONE => From::Open,
            INITIAL => From::Initial,
            write => From::Write(write),
        }
    }

    /// The write that an operation read, if it is one and decided; else [`Op::NONE`].
    pub(super) fn write(&self, op: Op) -> Op {
        let source = self.of[op.index()];
        if source == INITIAL { Op::NONE } else { source }
    }

    /// Decides what a read read, or takes that back.
    pub(super) fn set(&mut self, read: Op, from: From) {
        self.of[read.index()] = match from {
            From::Open => Op::NONE,
            From::Initial => INITIAL,
            From::Write(write) => write,
        };
    }
}
