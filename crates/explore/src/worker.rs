//! A worker of a breadth-first search: one thread with its part of the states.
//!
//! It expands its own part of a level, keeps the successors that are its own and sends the others,
//! in batches, to their owners; between batches it takes in what was sent to it. Channels are
//! bounded, and a worker that cannot send takes in what it was sent, so nobody waits for ever. A
//! level ends for a worker when every other has told it that there is no more to come; then all
//! meet and learn how large the next level is.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use murphi::machine::{Check, Machine, Outcome};

use crate::System;
use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::memory::Meter;
use crate::options::{Deadlock, Options};
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::rendezvous::{Broken, Rendezvous};
use crate::runner::Runner;
use crate::store::{Store, StoreError};
use crate::watch::Watch;

/// States that are expanded between two looks at the inbox.
const CHUNK: usize = 64;
/// Records that are looked up together.
const BATCH: usize = 256;
/// Bytes of a message between workers, about.
const MESSAGE: usize = 8192;

/// What workers send each other.
enum Message {
    /// Records that the receiver owns.
    Records(Vec<u8>),
    /// This level has no more.
    End,
}

/// What all workers of a search look at.
pub(crate) struct Shared {
    /// 0 while nothing is wrong, 1 once a finding makes the next level unnecessary, 2 once it
    /// makes expanding unnecessary.
    found: AtomicU8,
    pub(crate) rendezvous: Rendezvous,
    /// Written before a rendezvous and read after it. Two sets, used in turn, so that the next
    /// round does not write what is still being read.
    rounds: [Vec<Round>; 2],
}

/// What a worker tells the others at a rendezvous.
#[derive(Default)]
#[repr(align(64))]
struct Round {
    /// States of its part of the next level.
    states: AtomicU64,
    /// Whether it has seen a reason to stop.
    stop: AtomicBool,
}

impl Shared {
    pub(crate) fn new(workers: usize) -> Self {
        let rounds = || (0..workers).map(|_| Round::default()).collect();
        Shared {
            found: AtomicU8::new(0),
            rendezvous: Rendezvous::new(workers),
            rounds: [rounds(), rounds()],
        }
    }
}

/// A worker.
pub(crate) struct Worker<'a, M, C, R: Reduction, S> {
    number: usize,
    partition: Partition,
    bound: u32,
    deadlock: Deadlock,
    pub(crate) watch: &'a Watch,
    pub(crate) runner: Runner<'a, M, C, R>,
    pub(crate) store: S,
    packed_size: usize,
    /// Bytes of a full message.
    message_size: usize,
    /// Room for a batch of records, and the hashes of those that wait to be looked up here.
    records: Vec<u8>,
    hashes: Vec<u64>,
    /// Records that wait to be sent, for each worker.
    outgoing: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    senders: Vec<SyncSender<Message>>,
    inbox: Receiver<Message>,
    /// Workers that have ended this level.
    ended: usize,
    pub(crate) count: Count,
    /// The counts before this level, for when it turns out to be the last.
    pub(crate) before: Count,
    /// States in this level and before it.
    pub(crate) through_level: u64,
    /// The level that is being expanded, and the last one with a state that counts.
    pub(crate) level: u32,
    pub(crate) deepest: u32,
    /// Whether the last level was not expanded because of the bound.
    pub(crate) bounded: bool,
    pub(crate) finding: Option<Finding>,
}

/// What a worker counts.
#[derive(Clone, Default)]
pub(crate) struct Count {
    /// States that were stored.
    pub(crate) stored: u64,
    /// Those of them that an assumption excludes.
    pub(crate) excluded: u64,
    /// States that were looked at and count.
    pub(crate) looked_at: u64,
    pub(crate) fired: u64,
    pub(crate) firings: Vec<u64>,
}

/// Makes the workers and the channels between them.
pub(crate) fn workers<'a, M, F, C, R, S>(
    options: &Options,
    system: &System<'a, F, C, R>,
    stores: Vec<S>,
    partition: Partition,
    watch: &'a Watch,
) -> Vec<Worker<'a, M, C, R, S>>
where
    M: Machine,
    F: Fn() -> M,
    C: Codec,
    R: Reduction,
{
    let channels = || sync_channel(inbox_capacity(partition.workers));
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..stores.len()).map(|_| channels()).unzip();
    let count = Count { firings: vec![0; system.rules], ..Count::default() };
    let worker = |((number, store), inbox)| Worker {
        number,
        partition,
        bound: options.depth.unwrap_or(u32::MAX),
        deadlock: options.deadlock,
        watch,
        runner: Runner::new(system),
        store,
        packed_size: system.codec.packed_size(),
        message_size: message_size(system.codec.packed_size() + 1),
        records: vec![0; BATCH * (system.codec.packed_size() + 1)],
        hashes: Vec::new(),
        outgoing: vec![Vec::new(); partition.workers],
        spare: Vec::new(),
        senders: senders.clone(),
        inbox,
        ended: 0,
        count: count.clone(),
        before: count.clone(),
        through_level: 0,
        level: 0,
        deepest: 0,
        bounded: false,
        finding: None,
    };
    stores.into_iter().enumerate().zip(inboxes).map(worker).collect()
}

impl<M: Machine, C: Codec, R: Reduction, S: Store> Worker<'_, M, C, R, S> {
    /// Level after level.
    pub(crate) fn run(&mut self, shared: &Shared) -> Result<(), Broken> {
        for level in 0.. {
            let states = self.store.next_level().unwrap_or_else(|error| {
                self.watch.fail(error);
                0
            });
            if !self.meet(shared, level, states)? {
                break;
            }
            self.through_level += states;
            if level == 0 {
                self.count.stored = states;
            }
            self.level = level;
            self.before.clone_from(&self.count);
            if self.number == 0 {
                self.watch.depth.store(level, Relaxed);
            }
            self.bounded = level == self.bound;
            self.level(shared)?;
            if self.bounded {
                break;
            }
        }
        Ok(())
    }

    /// Meets the other workers. Returns whether there is a next level to be searched.
    fn meet(&mut self, shared: &Shared, level: u32, states: u64) -> Result<bool, Broken> {
        let round = &shared.rounds[level as usize % 2];
        let stop = self.watch.stopped() || shared.found.load(Relaxed) != 0;
        round[self.number].states.store(states, Relaxed);
        round[self.number].stop.store(stop, Relaxed);
        shared.rendezvous.wait()?;
        let any = round.iter().any(|other| other.states.load(Relaxed) > 0);
        Ok(any && !round.iter().any(|other| other.stop.load(Relaxed)))
    }

    /// Searches this worker's part of a level.
    fn level(&mut self, shared: &Shared) -> Result<(), Broken> {
        let mut states = Vec::new();
        while !self.watch.stopped() {
            states.clear();
            let read = self.store.read(CHUNK, &mut states).unwrap_or_else(|error| {
                self.watch.fail(error);
                0
            });
            if read == 0 {
                break;
            }
            for state in 0..read {
                let packed = &states[state * self.packed_size..(state + 1) * self.packed_size];
                self.visit(packed, shared)?;
            }
            self.take_in(shared);
            self.publish();
        }
        self.look_up(shared);
        for worker in 0..self.outgoing.len() {
            if worker != self.number {
                self.flush(worker, shared)?;
                self.send(worker, Message::End, shared)?;
            }
        }
        self.wait_for_ends(shared)?;
        self.publish();
        Ok(())
    }

    /// Looks at a state and expands it.
    #[inline(always)]
    fn visit(&mut self, packed: &[u8], shared: &Shared) -> Result<(), Broken> {
        self.runner.load(packed);
        match self.runner.check() {
            Check::Holds => {}
            Check::Excluded => {
                self.count.excluded += 1;
                return Ok(());
            }
            Check::Broken(property) => self.note(shared, Kind::Broken, packed, property, 0),
            Check::Failed(property) => self.note(shared, Kind::PropertyFailed, packed, property, 0),
        }
        self.count.looked_at += 1;
        self.deepest = self.level;
        if self.bounded || shared.found.load(Relaxed) == 2 {
            return Ok(());
        }
        self.expand(packed, shared)
    }

    #[inline(always)]
    fn expand(&mut self, packed: &[u8], shared: &Shared) -> Result<(), Broken> {
        self.runner.expand();
        let hint = hash::hint(hash::hash(packed, hash::PLACE));
        let mut leaves = self.deadlock == Deadlock::Off;
        for number in 0..self.runner.successors.firings.len() {
            let firing = self.runner.successors.firings[number];
            let kind = match firing.outcome {
                Outcome::Done => {
                    self.count.fired += 1;
                    self.count.firings[firing.rule as usize] += 1;
                    if self.runner.changes(number) {
                        leaves = true;
                        self.add(number, hint, shared)?;
                    }
                    leaves |= self.deadlock == Deadlock::Stuck;
                    continue;
                }
                Outcome::Excluded => continue,
                Outcome::Failed => Kind::RuleFailed,
                Outcome::GuardFailed => Kind::GuardFailed,
            };
            leaves = true;
            self.note(shared, kind, packed, firing.rule, firing.instance);
        }
        if !leaves {
            self.note(shared, Kind::Deadlock, packed, 0, 0);
        }
        Ok(())
    }

    /// Passes a successor on to its owner.
    #[inline(always)]
    fn add(&mut self, number: usize, hint: u8, shared: &Shared) -> Result<(), Broken> {
        // Packed in place among this worker's own records, where all go with one thread.
        let (size, start) = (self.packed_size + 1, self.hashes.len() * (self.packed_size + 1));
        let record = &mut self.records[start..start + size];
        record[self.packed_size] = hint;
        let packed = &mut record[..self.packed_size];
        self.runner.pack(number, packed);
        let hash = hash::hash(packed, hash::PLACE);
        let owner = self.partition.owner(hash);
        if owner == self.number {
            self.hashes.push(hash);
            if self.hashes.len() == BATCH {
                self.look_up(shared);
            }
        } else {
            self.outgoing[owner].extend_from_slice(record);
            if self.outgoing[owner].len() >= self.message_size {
                self.flush(owner, shared)?;
            }
        }
        Ok(())
    }

    /// Looks up the records that wait for it.
    fn look_up(&mut self, shared: &Shared) {
        if shared.found.load(Relaxed) == 0 && !self.watch.stopped() {
            let size = self.hashes.len() * (self.packed_size + 1);
            match self.store.insert(&self.records[..size], &self.hashes) {
                Ok(new) => self.count.stored += new,
                Err(error) => self.watch.fail(error),
            }
        }
        self.hashes.clear();
    }

    /// Sends the records that wait for another worker.
    fn flush(&mut self, worker: usize, shared: &Shared) -> Result<(), Broken> {
        if self.outgoing[worker].is_empty() {
            return Ok(());
        }
        let empty = self.spare.pop().unwrap_or_default();
        let records = std::mem::replace(&mut self.outgoing[worker], empty);
        self.send(worker, Message::Records(records), shared)
    }

    /// Sends a message. While the receiver has no room, takes in what was sent here, so that two
    /// workers never wait for each other.
    fn send(&mut self, worker: usize, mut message: Message, shared: &Shared) -> Result<(), Broken> {
        loop {
            match self.senders[worker].try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back)) => message = back,
                Err(TrySendError::Disconnected(_)) => return Err(Broken),
            }
            if !self.take_in(shared) {
                if shared.rendezvous.is_broken() {
                    return Err(Broken);
                }
                std::thread::yield_now();
            }
        }
    }

    /// Takes in what has arrived. Returns whether anything had.
    fn take_in(&mut self, shared: &Shared) -> bool {
        let mut any = false;
        while let Ok(message) = self.inbox.try_recv() {
            any = true;
            self.receive(message, shared);
        }
        any
    }

    fn receive(&mut self, message: Message, shared: &Shared) {
        let mut records = match message {
            Message::End => {
                self.ended += 1;
                return;
            }
            Message::Records(records) => records,
        };
        if shared.found.load(Relaxed) == 0 && !self.watch.stopped() {
            let (record, packed) = (self.packed_size + 1, self.packed_size);
            let hash = |record: &[u8]| hash::hash(&record[..packed], hash::PLACE);
            let hashes: Vec<u64> = records.chunks_exact(record).map(hash).collect();
            match self.store.insert(&records, &hashes) {
                Ok(new) => self.count.stored += new,
                Err(error) => self.watch.fail(error),
            }
        }
        if self.spare.len() < self.outgoing.len() {
            records.clear();
            self.spare.push(records);
        }
    }

    /// Takes in the rest of a level.
    fn wait_for_ends(&mut self, shared: &Shared) -> Result<(), Broken> {
        while self.ended + 1 < self.outgoing.len() {
            match self.inbox.recv_timeout(Duration::from_millis(100)) {
                Ok(message) => self.receive(message, shared),
                Err(RecvTimeoutError::Timeout) if !shared.rendezvous.is_broken() => {}
                Err(_) => return Err(Broken),
            }
        }
        self.ended = 0;
        Ok(())
    }

    /// Keeps a finding, and tells the others what is no longer necessary.
    #[cold]
    fn note(&mut self, shared: &Shared, kind: Kind, packed: &[u8], rule: u32, instance: u64) {
        Finding { kind, packed: packed.to_vec(), rule, instance }.keep_least(&mut self.finding);
        shared.found.fetch_max(1 + u8::from(kind.is_property()), Relaxed);
    }

    fn publish(&self) {
        let counters = &self.watch.counters[self.number];
        counters.states.store(self.count.stored - self.count.excluded, Relaxed);
        counters.fired.store(self.count.fired, Relaxed);
        counters.expanded.store(self.count.looked_at, Relaxed);
    }
}

/// Bytes of a full message: whole records.
fn message_size(record: usize) -> usize {
    (MESSAGE / record).clamp(1, BATCH) * record
}

/// Messages that may wait for a worker.
fn inbox_capacity(workers: usize) -> usize {
    2 * workers
}

/// Counts the buffers of all workers.
pub(crate) fn reserve_buffers(
    meter: &Meter,
    partition: Partition,
    record: usize,
) -> Result<(), StoreError> {
    let workers = partition.workers;
    let own = CHUNK * record + 2 * BATCH * (record + 8);
    let messages = match workers {
        1 => 0,
        _ => (inbox_capacity(workers) + 2 * workers) * message_size(record),
    };
    match meter.take((workers * (own + messages)) as u64) {
        true => Ok(()),
        false => Err(StoreError::Memory),
    }
}
