//! Where a worker's records go: its own are looked up in its store, in batches; those of others are
//! sent to them, in messages.
//!
//! Channels are bounded, and a worker that cannot send takes in what it was sent, so nobody waits
//! for ever. Batches and messages are counted in bytes as well as in records, so that a few large
//! states are as good as many small ones.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::hash::{self, Partition};
use crate::memory::Meter;
use crate::rendezvous::Broken;
use crate::store::{Store, StoreError};
use crate::watch::Watch;
use crate::worker::Shared;

/// States that are expanded between two looks at the inbox, and bytes of them, at most.
const CHUNK: (usize, usize) = (64, 256 << 10);
/// Records that are looked up together, and bytes of them, at most.
const BATCH: (usize, usize) = (256, 1 << 20);
/// Bytes of a message between workers, about.
const MESSAGE: usize = 8192;

/// How many records of this size are at most so many and so many bytes; at least one.
fn within((records, bytes): (usize, usize), record: usize) -> usize {
    (bytes / record).clamp(1, records)
}

/// What workers send each other.
enum Message {
    /// Records that the receiver owns.
    Records(Vec<u8>),
    /// This level has no more.
    End,
}

/// A worker's store and its channels to the others.
pub(crate) struct Exchange<'a, S> {
    pub(crate) number: usize,
    partition: Partition,
    watch: &'a Watch,
    pub(crate) store: S,
    /// States that were stored.
    pub(crate) stored: u64,
    pub(crate) packed_size: usize,
    /// States of a chunk, records of a batch, bytes of a full message.
    pub(crate) chunk: usize,
    batch: usize,
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
}

/// Makes the exchanges of all workers and the channels between them.
pub(crate) fn exchanges<S>(
    stores: Vec<S>,
    partition: Partition,
    packed_size: usize,
    watch: &Watch,
) -> Vec<Exchange<'_, S>> {
    let channels = || sync_channel(inbox_capacity(partition.workers));
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..stores.len()).map(|_| channels()).unzip();
    let record = packed_size + 1;
    let batch = within(BATCH, record);
    let exchange = |((number, store), inbox)| Exchange {
        number,
        partition,
        watch,
        store,
        stored: 0,
        packed_size,
        chunk: within(CHUNK, record),
        batch,
        message_size: message_size(record),
        records: vec![0; batch * record],
        hashes: Vec::new(),
        outgoing: vec![Vec::new(); partition.workers],
        spare: Vec::new(),
        senders: senders.clone(),
        inbox,
        ended: 0,
    };
    stores.into_iter().enumerate().zip(inboxes).map(exchange).collect()
}

impl<S: Store> Exchange<'_, S> {
    /// Passes a record on to its owner: a state that `pack` writes, unless it fails, and a hint.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        hint: u8,
        pack: impl FnOnce(&mut [u8]) -> Result<(), StoreError>,
        shared: &Shared<'_>,
    ) -> Result<(), Broken> {
        // Packed in place among this worker's own records, where all go with one thread.
        let (size, start) = (self.packed_size + 1, self.hashes.len() * (self.packed_size + 1));
        let record = &mut self.records[start..start + size];
        record[self.packed_size] = hint;
        let packed = &mut record[..self.packed_size];
        if let Err(error) = pack(packed) {
            self.watch.fail(error);
            return Ok(());
        }
        let hash = hash::hash(packed, hash::PLACE);
        let owner = self.partition.owner(hash);
        if owner == self.number {
            self.hashes.push(hash);
            if self.hashes.len() == self.batch {
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

    /// Ends a level: everything goes where it belongs, and everything of others is taken in.
    pub(crate) fn end_level(&mut self, shared: &Shared<'_>) -> Result<(), Broken> {
        self.look_up(shared);
        for worker in 0..self.outgoing.len() {
            if worker != self.number {
                self.flush(worker, shared)?;
                self.send(worker, Message::End, shared)?;
            }
        }
        self.wait_for_ends(shared)
    }

    /// Looks up the records that wait for it.
    fn look_up(&mut self, shared: &Shared<'_>) {
        if shared.found.load(Relaxed) == 0 && !self.watch.stopped() {
            let size = self.hashes.len() * (self.packed_size + 1);
            match self.store.insert(&self.records[..size], &self.hashes) {
                Ok(new) => self.stored += new,
                Err(error) => self.watch.fail(error),
            }
        }
        self.hashes.clear();
    }

    /// Sends the records that wait for another worker.
    fn flush(&mut self, worker: usize, shared: &Shared<'_>) -> Result<(), Broken> {
        if self.outgoing[worker].is_empty() {
            return Ok(());
        }
        let empty = self.spare.pop().unwrap_or_default();
        let records = std::mem::replace(&mut self.outgoing[worker], empty);
        self.send(worker, Message::Records(records), shared)
    }

    /// Sends a message. While the receiver has no room, takes in what was sent here, so that two
    /// workers never wait for each other.
    fn send(
        &mut self,
        worker: usize,
        mut message: Message,
        shared: &Shared<'_>,
    ) -> Result<(), Broken> {
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
    pub(crate) fn take_in(&mut self, shared: &Shared<'_>) -> bool {
        let mut any = false;
        while let Ok(message) = self.inbox.try_recv() {
            any = true;
            self.receive(message, shared);
        }
        any
    }

    fn receive(&mut self, message: Message, shared: &Shared<'_>) {
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
                Ok(new) => self.stored += new,
                Err(error) => self.watch.fail(error),
            }
        }
        if self.spare.len() < self.outgoing.len() {
            records.clear();
            self.spare.push(records);
        }
    }

    /// Takes in the rest of a level.
    fn wait_for_ends(&mut self, shared: &Shared<'_>) -> Result<(), Broken> {
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
}

/// Bytes of a full message: whole records.
fn message_size(record: usize) -> usize {
    within((BATCH.0, MESSAGE), record) * record
}

/// Messages that may wait for a worker: enough for the time in which it enlarges a table.
fn inbox_capacity(workers: usize) -> usize {
    128 + 2 * workers
}

/// Bytes of the buffers of all workers.
pub(crate) fn buffer_bytes(workers: usize, record: usize) -> u64 {
    let own = within(CHUNK, record) * record + 2 * within(BATCH, record) * (record + 8);
    let messages = match workers {
        1 => 0,
        _ => (inbox_capacity(workers) + 2 * workers) * message_size(record),
    };
    workers as u64 * (own + messages) as u64
}

/// Counts the buffers of all workers.
pub(crate) fn reserve_buffers(
    meter: &Meter,
    partition: Partition,
    record: usize,
) -> Result<(), StoreError> {
    match meter.take(buffer_bytes(partition.workers, record)) {
        true => Ok(()),
        false => Err(StoreError::Memory),
    }
}
