//! Breadth-first search beyond memory, and checkpoints.
//!
//! The search is the same as the one in memory, only its store is another: see `store.rs` for how
//! states are kept, `run_file.rs` for the files, `checkpoint.rs` for how a search goes on from them.

mod checkpoint;
mod cursor;
mod folder;
mod located;
mod merge;
mod place;
mod run_file;
mod store;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ::cluster::Cluster;
use murphi::machine::Machine;

use crate::System;
use crate::bfs;
use crate::cluster_search::{self, States};
use crate::exchange::buffer_bytes;
use crate::hash::Partition;
use crate::memory::Meter;
use crate::options::Disk;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Checkpoint, Exploration, Reason, Verdict};
use crate::storage::Storage;
use crate::store::StoreError;
use crate::tree::Packed;
use crate::units::Units;
use crate::watch::Caller;

use cursor::Section;
use place::{Place, Share};
use store::DiskStore;

pub use checkpoint::{Identity as SearchIdentity, Unusable, resumable, usable};
pub(crate) use checkpoint::{Keeper, Manifest, Part, PartProgress, discard, saved_entry};
pub use folder::CheckpointFolder;
pub(crate) use place::SHARDS;
pub(crate) use run_file::checksum;

/// Sorted runs of visited states.
#[derive(Debug, Default)]
pub(crate) struct Runs(Vec<Section>);

/// What a search does about checkpoints.
pub(crate) struct Checkpoints {
    keeper: Keeper,
    place: Arc<Place>,
    /// What the search goes on from.
    begun: Option<Manifest>,
    /// Whether they stay when the search is over.
    keep: bool,
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

    /// What a worker gives to one.
    pub(crate) fn part(&self, progress: PartProgress, runs: Runs) -> Part {
        Part::new(progress, runs, self.place.next_number())
    }

    /// Writes one from what all workers gave.
    pub(crate) fn commit(&self, level: u32, parts: Vec<Part>) -> Result<(), StoreError> {
        let covered = self.begun.as_ref().map_or(&[][..], |begun| &begun.covered);
        self.keeper.commit(level, covered, parts)
    }

    /// The level and the states of what the search goes on from.
    pub(crate) fn place_of_begun(&self) -> Option<(u32, u64)> {
        self.begun.as_ref().map(|begun| (begun.level, begun.count().stored))
    }

    /// Leaves a word in the directory by which other processes know it.
    pub(crate) fn leave_word(&self) -> Result<String, StoreError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let word = format!("{} {}\n", std::process::id(), since.as_nanos());
        self.keeper.leave_word(&word)?;
        Ok(word)
    }

    /// Whether the word of the first process is there.
    pub(crate) fn finds_word(&self, word: &str) -> bool {
        self.keeper.finds_word(word)
    }

    /// Removes the word, once all have looked.
    pub(crate) fn remove_word(&self) {
        self.keeper.remove_word();
    }

    /// After a search: the checkpoint is named if the search can go on from it, and removed if it
    /// need not.
    fn conclude(&self, found: &mut Exploration) {
        match found.verdict {
            Verdict::Undecided(_) => {
                let directory = self.keeper.directory().to_owned();
                let saved = |level| Checkpoint { directory, level };
                found.checkpoint = self.keeper.level().map(saved);
            }
            Verdict::Holds(()) | Verdict::Broken(_) if self.keep => {}
            Verdict::Holds(()) | Verdict::Broken(_) => self.keeper.remove_checkpoint(),
        }
    }
}

/// Breadth-first search whose states are on disk where they do not fit into memory.
///
/// States are packed. Large ones have the hints of trees, as they have in memory, or another one of
/// several counterexamples would be found.
pub(crate) fn explore<M, F, C, R>(
    disk: &Disk,
    system: &System<'_, F, C, R>,
    units: &Units,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let &System { ref machine, codec, reduction, state_size, rules } = system;
    if !caller.options.form.is_tree(codec.packed_size()) {
        return search(disk, system, caller);
    }
    let codec = &Packed::new(codec, units, state_size);
    search(disk, &System { machine, codec, reduction, state_size, rules }, caller)
}

/// The same in several processes.
pub(crate) fn explore_together<M, F, C, R>(
    shared: (&Disk, &Cluster),
    system: &System<'_, F, C, R>,
    units: &Units,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let &System { ref machine, codec, reduction, state_size, rules } = system;
    if !caller.options.form.is_tree(codec.packed_size()) {
        return search_together(shared, system, caller);
    }
    let codec = &Packed::new(codec, units, state_size);
    let system = System { machine, codec, reduction, state_size, rules };
    search_together(shared, &system, caller)
}

fn search<M, F, C, R>(disk: &Disk, system: &System<'_, F, C, R>, caller: &mut Caller) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    let packed = system.codec.stored_size();
    let workers = crate::threads(caller.options, packed);
    let partition = Partition { workers, shards: SHARDS };
    let meter = Arc::new(Meter::new(caller.options.memory));
    let messages = buffer_bytes(workers, packed + 1);
    let share = Share { workers, packed, messages, process: None };
    match begin(disk, caller, partition, share, &meter) {
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
            checkpoints.inspect(|checkpoints| checkpoints.conclude(&mut found));
            found
        }
    }
}

fn search_together<M, F, C, R>(
    (disk, cluster): (&Disk, &Cluster),
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    let packed = system.codec.stored_size();
    let workers = cluster.threads();
    let partition = Partition { workers: workers * cluster.processes(), shards: SHARDS };
    let meter = Arc::new(Meter::new(caller.options.memory));
    let messages = cluster_search::buffer_bytes(cluster, partition.workers, packed + 1);
    let share = Share { workers, packed, messages, process: Some(cluster.process()) };
    let begun = match partition.workers <= SHARDS {
        true => begin(disk, caller, partition, share, &meter),
        false => {
            let why = format!("with states on disk there are at most {SHARDS} threads in all");
            Err(StoreError::Disk(std::io::Error::other(why)))
        }
    };
    let (stores, place, checkpoints) = match begun {
        Ok((stores, place, checkpoints)) => (Ok(stores), Some(place), checkpoints),
        Err(error) => (Err(error), None, None),
    };
    let disk_bytes = || place.as_ref().map(|place| place.bytes_on_disk());
    let states = States {
        partition,
        meter: &meter,
        checkpoints: checkpoints.as_ref(),
        disk_bytes: &disk_bytes,
    };
    let mut found = cluster_search::search(cluster, system, caller, stores, &states);
    checkpoints.as_ref().inspect(|checkpoints| checkpoints.conclude(&mut found));
    found
}

type Begun = (Vec<DiskStore>, Arc<Place>, Option<Checkpoints>);

/// Makes the stores of the workers of this process, from a checkpoint if the search goes on from one.
fn begin(
    disk: &Disk,
    caller: &Caller,
    partition: Partition,
    share: Share,
    meter: &Arc<Meter>,
) -> Result<Begun, StoreError> {
    let Share { workers, packed, process, .. } = share;
    let first = process.unwrap_or(0) * workers;
    let place = Arc::new(Place::new(disk, share, caller.options.memory, meter)?);
    let empty = |here| DiskStore::new(&place, packed, partition, (first + here, here));
    let Some(kept) = &disk.checkpoint else {
        let stores: Result<_, StoreError> = (0..workers).map(empty).collect();
        return Ok((stores?, place, None));
    };
    let keeper = Keeper::new(kept, packed, process.is_none_or(|process| process == 0))?;
    if !kept.resume {
        keeper.begin()?;
        let stores: Result<_, StoreError> = (0..workers).map(empty).collect();
        let (place_of, keep) = (Arc::clone(&place), kept.keep);
        let checkpoints = Checkpoints { keeper, place: place_of, begun: None, keep };
        return Ok((stores?, place, Some(checkpoints)));
    }
    let shards = partition.shards_of(first).start..partition.shards_of(first + workers - 1).end;
    let checkpoint::Begun { manifest, runs } = keeper.begun(shards, meter)?;
    place.number_from(manifest.next);
    let from = (&runs[..], manifest.level);
    let store = |here| DiskStore::resumed(&place, packed, partition, (first + here, here), from);
    let stores: Result<_, StoreError> = (0..workers).map(store).collect();
    let (place_of, keep) = (Arc::clone(&place), kept.keep);
    let checkpoints = Checkpoints { keeper, place: place_of, begun: Some(manifest), keep };
    Ok((stores?, place, Some(checkpoints)))
}
