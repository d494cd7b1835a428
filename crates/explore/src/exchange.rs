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
    /// Room for a batch of records, how many of them wait, and their hashes once they are needed.
    records: Vec<u8>,
    waiting: usize,
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
        waiting: 0,
        hashes: Vec::new(),
        outgoing: vec![Vec::new(); partition.workers],
        spare: Vec::new(),
    };
    stores.into_iter().enumerate().map(exchange).collect()
}

impl<S: Store> Exchange<'_, S> {
    /// Passes a record on to its owner: a state that `store` writes, if it finds one, and a hint. Says
    /// what `store` says of the state, and no if there is none.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        hint: u8,
        store: impl FnOnce(&mut [u8]) -> Result<Option<bool>, StoreError>,
        peers: &Peers<'_>,
    ) -> Result<bool, Broken> {
        let (size, start) = (self.packed_size + 1, self.waiting * (self.packed_size + 1));
        let record = &mut self.records[start..start + size];
        let (packed, rest) = record.split_at_mut(self.packed_size);
        match store(packed) {
            Ok(Some(said)) => {
                rest[0] = hint;
                self.waiting += 1;
                if self.waiting == self.batch {
                    self.hand_on(peers)?;
                }
                Ok(said)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                self.watch.fail(error);
                Ok(false)
            }
        }
    }

    /// Looks up the records that wait and belong here, and readies the others to be sent. Hashes are
    /// computed now, one after the other: right after it was written, reading a record would mean
    /// waiting for the writing.
    fn hand_on(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        let size = self.packed_size + 1;
        let waiting = std::mem::take(&mut self.waiting);
        let records = self.records[..waiting * size].chunks_exact(size);
        let hashes = records.map(|record| hash::hash(&record[..size - 1], hash::PLACE));
        self.hashes.clear();
        self.hashes.extend(hashes);
        if self.partition.workers > 1 {
            self.sort_out(peers)?;
        }
        self.look_up(peers);
        Ok(())
    }

    /// Leaves only the records that belong here among those that wait.
    fn sort_out(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        let (size, mut kept) = (self.packed_size + 1, 0);
        for number in 0..self.hashes.len() {
            let (hash, record) = (self.hashes[number], number * size..(number + 1) * size);
            let owner = self.partition.owner(hash);
            if owner == self.number {
                self.records.copy_within(record, kept * size);
                self.hashes[kept] = hash;
                kept += 1;
                continue;
            }
            self.outgoing[owner].extend_from_slice(&self.records[record]);
            if self.outgoing[owner].len() >= peers.message_size {
                self.flush(owner, peers)?;
            }
        }
        self.hashes.truncate(kept);
        Ok(())
    }

    /// Ends a level: everything goes where it belongs, and everything of others is taken in.
    pub(crate) fn end_level(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        self.hand_on(peers)?;
        for worker in 0..self.outgoing.len() {
            if worker != self.number {
                self.flush(worker, peers)?;
                self.send(worker, Message::End, peers)?;
            }
        }
        self.wait_for_ends(peers)
    }

    /// Looks up the records whose hashes are known.
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
