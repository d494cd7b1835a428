//! Where the files of a search are, and how memory is divided between what workers keep in it and
//! the buffers with which they read and write.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::run_file::{RunWriter, Shape};
use crate::hash::Partition;
use crate::memory::Meter;
use crate::options::Disk;
use crate::store::StoreError;
use crate::visited::VisitedSet;

/// How many shards there are, for any number of workers, so that a checkpoint does not depend on it.
pub(crate) const SHARDS: usize = 64;
/// For how many runs a worker has buffers.
pub(super) const MANY_RUNS: usize = 32;
/// Bytes of a block, at least and at most.
const BLOCK: (u64, u64) = (4 << 10, 64 << 10);

/// What all workers of a search share.
#[derive(Debug)]
pub(super) struct Place {
    /// Where runs of visited states are that outlive the process, if they do.
    kept: Option<PathBuf>,
    /// Where all other runs are.
    temporary: PathBuf,
    /// The number of the next run that is kept, and of the process, if there are several.
    next: AtomicU64,
    process: Option<usize>,
    block: usize,
    /// Bytes and states that a worker keeps in memory.
    set_limit: u64,
    pub(super) most_held: u64,
    meter: Arc<Meter>,
    /// For each worker, bytes of its visited states on disk.
    pub(super) bytes: Vec<AtomicU64>,
}

/// What the search of a process consists of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Its workers.
    pub(super) workers: usize,
    /// Bytes of a packed state, and of all messages of these workers.
    pub(super) packed: usize,
    pub(super) messages: u64,
    /// Its number, if there are several processes.
    pub(super) process: Option<usize>,
}

impl Place {
    /// Divides the memory of `meter` between the workers of this process.
    pub(super) fn new(
        disk: &Disk,
        Share { workers, packed, messages, process }: Share,
        memory: Option<u64>,
        meter: &Arc<Meter>,
    ) -> Result<Self, StoreError> {
        let kept = disk.checkpoint.as_ref().map(|kept| kept.directory.clone());
        let each = memory.unwrap_or(u64::MAX) / workers as u64;
        let block = (each / 512).clamp(BLOCK.0, BLOCK.1);
        let buffers = MANY_RUNS as u64 * (block + packed as u64);
        if !meter.take(buffers * workers as u64) {
            return Err(StoreError::Memory);
        }
        let messages = messages / workers as u64;
        let set_limit = each.saturating_sub(buffers + messages) / 4 * 3;
        Ok(Place {
            kept,
            temporary: disk.directory.clone(),
            next: AtomicU64::new(0),
            process,
            block: block as usize,
            set_limit,
            most_held: disk.most_in_memory.map_or(u64::MAX, |most| (most / workers as u64).max(1)),
            meter: Arc::clone(meter),
            bytes: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// Numbers of runs that are kept begin here.
    pub(super) fn number_from(&self, number: u64) {
        self.next.fetch_max(number, Relaxed);
    }

    /// The number of the next run that is kept.
    pub(super) fn next_number(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// An empty set in memory, whose first level is this.
    pub(super) fn set(
        &self,
        packed: usize,
        partition: Partition,
        worker: usize,
        level: u32,
    ) -> Result<VisitedSet, StoreError> {
        let meter = Arc::new(Meter::part_of(&self.meter, self.set_limit));
        let mut set = VisitedSet::new(packed, partition, worker, meter)?;
        set.begin_at(level);
        Ok(set)
    }

    /// A new run: of visited states, or a temporary one.
    pub(super) fn writer(&self, shape: Shape, visited: bool) -> Result<RunWriter, StoreError> {
        let (block, meter) = (self.block, &self.meter);
        match self.kept.as_ref().filter(|_| visited) {
            None => Ok(RunWriter::temporary(&self.temporary, shape, block, meter)?),
            Some(directory) => {
                let name = run_name(self.next.fetch_add(1, Relaxed), self.process);
                Ok(RunWriter::kept(&directory.join(name), shape, block, meter)?)
            }
        }
    }

    /// Bytes of all visited states on disk.
    pub(super) fn bytes_on_disk(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.load(Relaxed)).sum()
    }
}

/// The name of a run of a checkpoint. Each process has its own.
fn run_name(number: u64, process: Option<usize>) -> String {
    match process {
        Some(process) => format!("run-{number:06}-{process}.states"),
        None => format!("run-{number:06}.states"),
    }
}

/// Whether a file of this name is a run of a checkpoint.
pub(super) fn is_run(name: &str) -> bool {
    name.strip_prefix("run-").is_some_and(|rest| rest.ends_with(".states"))
}
