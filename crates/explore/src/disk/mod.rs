//! Breadth-first search beyond memory, and checkpoints.
//!
//! The search is the same as the one in memory, only its store is another: see `store.rs` for how
//! states are kept, `run_file.rs` for the files, `checkpoint.rs` for how a search goes on from them.

mod checkpoint;
mod cursor;
mod merge;
mod place;
mod run_file;
mod store;

use std::sync::Arc;

use murphi::machine::Machine;

use crate::System;
use crate::bfs;
use crate::hash::Partition;
use crate::memory::Meter;
use crate::options::Disk;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Checkpoint, Exploration, Reason, Verdict};
use crate::store::StoreError;
use crate::watch::Caller;

use cursor::Section;
use place::{Directories, Place};
use store::DiskStore;

pub use checkpoint::{Identity as SearchIdentity, Unusable, resumable, usable};
pub(crate) use checkpoint::{Keeper, Manifest, Part};
pub(crate) use place::SHARDS;

/// Sorted runs of visited states.
#[derive(Debug, Default)]
pub(crate) struct Runs(Vec<Section>);

/// What a search does about checkpoints.
pub(crate) struct Checkpoints {
    keeper: Keeper,
    place: Arc<Place>,
    /// What the search goes on from.
    begun: Option<Manifest>,
}

impl Checkpoints {
    /// What the search goes on from.
    pub(crate) fn begun(&self) -> Option<&Manifest> {
        self.begun.as_ref()
    }

    /// Who writes them.
    pub(crate) fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Writes one, if all workers gave their part.
    pub(crate) fn commit(&self, level: u32) -> Result<(), StoreError> {
        let covered = self.begun.as_ref().map_or(&[][..], |begun| &begun.covered);
        Ok(self.keeper.commit(level, covered, self.place.next_number())?)
    }
}

/// Breadth-first search whose states are on disk where they do not fit into memory.
pub(crate) fn explore<M, F, C, R>(
    disk: &Disk,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let packed = system.codec.packed_size();
    let workers = crate::threads(caller.options, packed);
    let partition = Partition { workers, shards: SHARDS };
    let meter = Arc::new(Meter::new(caller.options.memory));
    match begin(disk, caller, partition, packed, &meter) {
        Err(error) => {
            let reason = match error {
                StoreError::Disk(error) => Reason::Disk(error.to_string()),
                StoreError::Memory | StoreError::Stopped => Reason::Memory,
            };
            let verdict = Verdict::Undecided(reason);
            Exploration { verdict, ..Exploration::nothing(system.rules) }
        }
        Ok((stores, place, checkpoints)) => {
            let checkpoints = checkpoints.as_ref();
            let mut found = bfs::search(system, caller, Ok(stores), partition, &meter, checkpoints);
            found.disk_bytes = Some(place.bytes_on_disk());
            if let Some(Checkpoints { keeper, .. }) = checkpoints {
                match found.verdict {
                    Verdict::Undecided(_) => found.checkpoint = saved(keeper),
                    Verdict::Holds(()) | Verdict::Broken(_) => keeper.remove_checkpoint(),
                }
            }
            found
        }
    }
}

/// The last checkpoint, if there is one.
fn saved(keeper: &Keeper) -> Option<Checkpoint> {
    let directory = keeper.directory().to_owned();
    keeper.level().map(|level| Checkpoint { directory, level })
}

type Begun = (Vec<DiskStore>, Arc<Place>, Option<Checkpoints>);

/// Makes the stores of all workers, from a checkpoint if the search goes on from one.
fn begin(
    disk: &Disk,
    caller: &Caller,
    partition: Partition,
    packed: usize,
    meter: &Arc<Meter>,
) -> Result<Begun, StoreError> {
    let workers = partition.workers;
    let kept = disk.checkpoint.as_ref();
    let directories =
        Directories { temporary: &disk.directory, kept: kept.map(|kept| kept.directory.as_path()) };
    let memory = caller.options.memory;
    let place = Place::new(directories, (workers, packed), memory, disk.most_in_memory, meter)?;
    let place = Arc::new(place);
    let Some(kept) = kept else {
        let store = |worker| DiskStore::new(&place, packed, partition, worker);
        let stores: Result<_, StoreError> = (0..workers).map(store).collect();
        return Ok((stores?, place, None));
    };
    let keeper = Keeper::new(&kept.directory, kept.every, &kept.identity, (workers, packed))?;
    if !kept.resume {
        keeper.begin()?;
        let store = |worker| DiskStore::new(&place, packed, partition, worker);
        let stores: Result<_, StoreError> = (0..workers).map(store).collect();
        let checkpoints = Checkpoints { keeper, place: Arc::clone(&place), begun: None };
        return Ok((stores?, place, Some(checkpoints)));
    }
    let checkpoint::Begun { manifest, runs } = keeper.begun(meter)?;
    place.number_from(manifest.next);
    let from = (&runs[..], manifest.level);
    let store = |worker| DiskStore::resumed(&place, packed, partition, worker, from);
    let stores: Result<_, StoreError> = (0..workers).map(store).collect();
    let checkpoints = Checkpoints { keeper, place: Arc::clone(&place), begun: Some(manifest) };
    Ok((stores?, place, Some(checkpoints)))
}
