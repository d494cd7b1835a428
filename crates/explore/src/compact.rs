//! Breadth-first search with hash compaction: signatures in memory, states on disk.
//!
//! The search is the same as the exact one, only its store is another: a state is new if its
//! signature is, and is then appended to the file of its level, where it waits to be expanded.
//! Memory holds signatures only (7 to 11 bytes for a state of any size), and no hint of where a
//! state came from: a counterexample is found by expanding the files of its levels again,
//! backwards. What was confused with another state is missed, with everything behind it; the
//! probability that this has happened at all is reported. See `signatures.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use murphi::machine::Machine;

use crate::System;
use crate::bfs;
use crate::hash;
use crate::level_file::{self, LevelFile};
use crate::memory::Meter;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::Exploration;
use crate::signatures::{Signatures, omission_probability};
use crate::store::{Store, StoreError};
use crate::watch::{Caller, Watch};

/// Breadth-first search with signatures of so many bits.
pub(crate) fn explore<M, F, C, R>(
    bits: u32,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let bits = bits.clamp(40, 64);
    let options = caller.options;
    let packed = system.codec.packed_size();
    let workers = crate::threads(options, packed);
    let meter = Arc::new(Meter::new(options.memory));
    let partition = Signatures::partition(workers);
    let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let stored = AtomicU64::new(0);
    let store = |worker| {
        if !meter.take(2 * level_file::BUFFER as u64) {
            return Err(StoreError::Memory);
        }
        Ok(CompactStore {
            signatures: Signatures::new(bits, partition, worker, meter.clone())?,
            file: LevelFile::new(&directory, packed)?,
            packed,
            hashes: Vec::new(),
            stored: &stored,
        })
    };
    let stores = (0..workers).map(store).collect();
    let mut found = bfs::search(system, caller, stores, partition, &meter, None);
    found.omission_probability = Some(omission_probability(stored.load(Relaxed), bits));
    found
}

/// One worker's signatures and the file with its states.
struct CompactStore<'a> {
    signatures: Signatures,
    file: LevelFile,
    packed: usize,
    /// The second hashes of a batch.
    hashes: Vec<u64>,
    /// States that all workers have stored, also those that do not count.
    stored: &'a AtomicU64,
}

impl Store for CompactStore<'_> {
    fn insert(&mut self, records: &[u8], hashes: &[u64]) -> Result<u64, StoreError> {
        self.hashes.clear();
        let states = || records.chunks_exact(self.packed + 1).map(|record| &record[..self.packed]);
        self.hashes.extend(states().map(|packed| hash::hash(packed, hash::SIGNATURE)));
        self.signatures.touch(hashes, &self.hashes);
        let mut new = 0;
        for ((packed, &hash), &signature) in states().zip(hashes).zip(&self.hashes) {
            if self.signatures.insert(hash, signature)? {
                self.file.push(packed)?;
                new += 1;
            }
        }
        self.stored.fetch_add(new, Relaxed);
        Ok(new)
    }

    fn next_level(&mut self, _watch: &Watch) -> Result<u64, StoreError> {
        Ok(self.file.next_level()?)
    }

    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError> {
        Ok(self.file.read(most, states)?)
    }

    fn candidates(
        &mut self,
        depth: u32,
        _hint: Option<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        const MANY: usize = 1024;
        self.file.rewind(depth);
        let mut states = Vec::new();
        loop {
            states.clear();
            let count = self.file.read(MANY, &mut states)?;
            if count == 0 {
                return Ok(());
            }
            for state in 0..count {
                visit(&states[state * self.packed..(state + 1) * self.packed]);
            }
        }
    }

    fn hint_of(&self, _packed: &[u8], _hash: u64) -> Result<Option<u8>, StoreError> {
        Ok(None)
    }
}
