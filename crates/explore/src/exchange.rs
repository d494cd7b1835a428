//! Where a worker's records go: its own are looked up in its store, in batches; those of others are
//! sent to them, in messages.
//!
//! Channels are bounded, and a worker that cannot send takes in what it was sent, so nobody waits
//! for ever. Batches and messages are counted in bytes as well as in records, so that a few large
//! states are as good as many small ones.

use std::sync::atomic::Ordering::Relaxed;

use crate::hash::{self, Partition};
use crate::link::{Message, message_bytes, send, within};
use crate::memory::Meter;
use crate::rendezvous::Broken;
use crate::store::{Store, StoreError};
use crate::watch::Watch;
use crate::worker::Peers;

/// States that are expanded between two looks at the inbox, and bytes of them, at most.
const CHUNK: (usize, usize) = (64, 256 << 10);
/// Records that are looked up together, and bytes of them, at most.
const BATCH: (usize, usize) = (256, 1 << 20);
/// A worker's store, and what waits to be sent to the others.
pub(crate) struct Exchange<'a, S> {
    /// The number of the worker among all, and among those of this process.
    pub(crate) number: usize,
    pub(crate) here: usize,
    partition: Partition,
    watch: &'a Watch,
    pub(crate) store: S,
    /// States that were stored.
    pub(crate) stored: u64,
    pub(crate) packed_size: usize,
    /// States of a chunk, records of a batch.
    pub(crate) chunk: usize,
    batch: usize,
    /// Room for a batch of records, and the hashes of those that wait to be looked up here.
    records: Vec<u8>,
    hashes: Vec<u64>,
    /// Records that wait to be sent, for each worker.
    outgoing: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

/// Makes the exchanges of the workers of this process, the first of which has the number `first`.
pub(crate) fn exchanges<S>(
    stores: Vec<S>,
    (partition, first): (Partition, usize),
    packed_size: usize,
    watch: &Watch,
) -> Vec<Exchange<'_, S>> {
    let record = packed_size + 1;
    let batch = within(BATCH, record);
    let exchange = |(here, store)| Exchange {
        number: first + here,
        here,
        partition,
        watch,
        store,
        stored: 0,
        packed_size,
        chunk: within(CHUNK, record),
        batch,
        records: vec![0; batch * record],
        hashes: Vec::new(),
        outgoing: vec![Vec::new(); partition.workers],
        spare: Vec::new(),
    };
    stores.into_iter().enumerate().map(exchange).collect()
}

impl<S: Store> Exchange<'_, S> {
    /// Passes a record on to its owner: a state that `pack` writes, unless it fails, and a hint.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        hint: u8,
        pack: impl FnOnce(&mut [u8]) -> Result<(), StoreError>,
        peers: &Peers<'_>,
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
                self.look_up(peers);
            }
        } else {
            self.outgoing[owner].extend_from_slice(record);
            if self.outgoing[owner].len() >= peers.message_size {
                self.flush(owner, peers)?;
            }
        }
        Ok(())
    }

    /// Ends a level: everything goes where it belongs, and everything of others is taken in.
    pub(crate) fn end_level(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        self.look_up(peers);
        for worker in 0..self.outgoing.len() {
            if worker != self.number {
                self.flush(worker, peers)?;
                self.send(worker, Message::End, peers)?;
            }
        }
        self.wait_for_ends(peers)
    }

    /// Looks up the records that wait for it.
    fn look_up(&mut self, peers: &Peers<'_>) {
        if peers.shared.found.load(Relaxed) == 0 && !self.watch.stopped() {
            let size = self.hashes.len() * (self.packed_size + 1);
            match self.store.insert(&self.records[..size], &self.hashes) {
                Ok(new) => self.stored += new,
                Err(error) => self.watch.fail(error),
            }
        }
        self.hashes.clear();
    }

    /// Sends the records that wait for another worker.
    fn flush(&mut self, worker: usize, peers: &Peers<'_>) -> Result<(), Broken> {
        if self.outgoing[worker].is_empty() {
            return Ok(());
        }
        let empty = self.spare.pop().unwrap_or_default();
        let records = std::mem::replace(&mut self.outgoing[worker], empty);
        self.send(worker, Message::Records(records), peers)
    }

    /// Sends a message, and takes in what was sent here while the receiver has no room.
    fn send(&mut self, worker: usize, message: Message, peers: &Peers<'_>) -> Result<(), Broken> {
        send(peers.link, worker, message, || self.take_in(peers))
    }

    /// Takes in what has arrived. Returns whether anything had.
    pub(crate) fn take_in(&mut self, peers: &Peers<'_>) -> Result<bool, Broken> {
        let mut any = false;
        while let Some(records) = peers.link.try_receive()? {
            any = true;
            self.receive(records, peers);
        }
        self.watch.hear(peers.link.share_stop(self.watch.stop_code()));
        Ok(any)
    }

    fn receive(&mut self, mut records: Vec<u8>, peers: &Peers<'_>) {
        let (record, packed) = (self.packed_size + 1, self.packed_size);
        for records in records.chunks(self.batch * record) {
            if peers.shared.found.load(Relaxed) != 0 || self.watch.stopped() {
                break;
            }
            let hash = |record: &[u8]| hash::hash(&record[..packed], hash::PLACE);
            let hashes: Vec<u64> = records.chunks_exact(record).map(hash).collect();
            match self.store.insert(records, &hashes) {
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
    fn wait_for_ends(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        while let Some(records) = peers.link.rest_of_level()? {
            self.receive(records, peers);
        }
        Ok(())
    }
}

/// Bytes of the buffers of a worker, messages aside.
pub(crate) fn own_bytes(record: usize) -> usize {
    within(CHUNK, record) * record + 2 * within(BATCH, record) * (record + 8)
}

/// Bytes of the buffers of all workers.
pub(crate) fn buffer_bytes(workers: usize, record: usize) -> u64 {
    workers as u64 * (own_bytes(record) + message_bytes(workers, record)) as u64
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
