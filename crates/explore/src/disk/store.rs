//! One worker's states, in memory as long as they fit and on disk from then on, exactly.
//!
//! While everything fits, this is the visited set in memory and nothing else. When memory is used
//! up, all of it goes to disk as a sorted run, and from then on duplicates are found at the end of a
//! level (Stern and Dill: Using magnetic disk instead of main memory in the Murφ verifier, CAV
//! 1998): memory holds the candidates for the next level, each once; if there are too many, they go
//! to disk as sorted runs, too. At the end of the level candidates and visited states are gone
//! through once, both in order. Candidates that were never visited are written as a run of their
//! own: the next level. Runs of earlier levels are merged so that there are few.
//!
//! A level costs one sequential look at those blocks of the visited states in which a candidate may
//! be, and the sorting of the candidates.
//!
//! Nothing that was written is changed, so a set of runs is a checkpoint; see `checkpoint.rs`.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::Runs;
use super::cursor::{Cursor, Section};
use super::located::OnDiskStates;
use super::merge::{Source, Stretches, merge, merged_from};
use super::place::{MANY_RUNS, Place};
use super::run_file::Shape;
use crate::hash::{self, Partition};
use crate::liveness::Located;
use crate::store::{Numbered, Store, StoreError};
use crate::visited::VisitedSet;
use crate::watch::Watch;

/// After so many records a long merge looks whether it should stop.
const LOOK: u64 = 1 << 16;

/// The states of one worker.
pub(crate) struct DiskStore {
    place: Arc<Place>,
    packed: usize,
    partition: Partition,
    /// The number of the worker among all, and among those of this process.
    worker: usize,
    here: usize,
    /// What is in memory: all states, or candidates.
    set: VisitedSet,
    /// How many states that has.
    held: u64,
    /// The level being built.
    building: u32,
    /// Visited states on disk.
    runs: Vec<Section>,
    mode: Mode,
}

enum Mode {
    /// All states are in memory; of each shard the first so many are also on disk.
    Memory { on_disk: Vec<u32> },
    /// All states are on disk.
    Disk(OnDisk),
}

#[derive(Default)]
struct OnDisk {
    /// Candidates for the level being built that no longer fit into memory.
    candidates: Vec<Section>,
    /// Where the states of the level being read are, and where reading has got to.
    frontier: Vec<Section>,
    reading: Option<Cursor>,
    /// If the search goes on from a checkpoint and has not asked for its level yet, how many states
    /// that has.
    waiting: Option<u64>,
}

impl DiskStore {
    /// An empty store.
    pub(super) fn new(
        place: &Arc<Place>,
        packed: usize,
        partition: Partition,
        (worker, here): (usize, usize),
    ) -> Result<Self, StoreError> {
        let set = place.set(packed, partition, worker, 0)?;
        let on_disk = vec![0; set.shards().len()];
        Ok(DiskStore {
            place: Arc::clone(place),
            packed,
            partition,
            worker,
            here,
            set,
            held: 0,
            building: 0,
            runs: Vec::new(),
            mode: Mode::Memory { on_disk },
        })
    }

    /// One that goes on from a checkpoint: these runs are visited, and `level` is to be expanded.
    pub(super) fn resumed(
        place: &Arc<Place>,
        packed: usize,
        partition: Partition,
        worker: (usize, usize),
        (runs, level): (&[Section], u32),
    ) -> Result<Self, StoreError> {
        let mut store = DiskStore::new(place, packed, partition, worker)?;
        let own = store.set.shards();
        let part = |run: &Section| {
            let shards = run.shards.start.max(own.start)..run.shards.end.min(own.end);
            (!shards.is_empty()).then(|| Section { file: Arc::clone(&run.file), shards })
        };
        store.runs = runs.iter().filter_map(part).collect();
        store.building = level;
        store.set.begin_at(level + 1);
        let mut states = 0;
        let frontier: Vec<Section> =
            store.runs.iter().filter(|run| run.has_level(level)).cloned().collect();
        for run in &frontier {
            let mut cursor = Cursor::new(run);
            while cursor.advance()? {
                states += u64::from(cursor.level() == level);
            }
        }
        store.mode = Mode::Disk(OnDisk { frontier, waiting: Some(states), ..OnDisk::default() });
        store.account();
        Ok(store)
    }

    /// Says how much is on disk.
    fn account(&self) {
        let bytes = self.runs.iter().map(Section::bytes).sum();
        self.place.bytes[self.here].store(bytes, Relaxed);
    }

    /// Writes records of the set as a run.
    fn write(&self, ranges: Vec<Range<u32>>, kept: bool) -> Result<Option<Section>, StoreError> {
        let stretches = Stretches::new(&self.set, ranges, self.packed);
        if stretches.is_empty() {
            return Ok(None);
        }
        let (least, most) = stretches.levels();
        self.merged(vec![Source::Memory(stretches)], (least, most), kept).map(Some)
    }

    /// Writes what these sources have as a run.
    fn merged(
        &self,
        sources: Vec<Source<'_>>,
        (least, most): (u32, u32),
        kept: bool,
    ) -> Result<Section, StoreError> {
        let shape = Shape { key: self.packed + 1, least, most };
        let mut writer = self.place.writer(shape, kept)?;
        merge(sources, |key, hint, level| writer.push(key, hint, level))?;
        Ok(Section::new(writer.finish()?, self.set.shards()))
    }

    /// For each part of the set, a range of its records.
    fn ranges(&self, range: impl Fn(usize) -> Range<u32>) -> Vec<Range<u32>> {
        (0..self.set.shards().len()).map(range).collect()
    }

    /// Writes what is in memory to disk, and begins with an empty set.
    #[cold]
    fn spill(&mut self) -> Result<(), StoreError> {
        let candidates = self.write(self.ranges(|part| self.set.built(part)), false)?;
        match &self.mode {
            Mode::Memory { on_disk } => {
                let done = self.ranges(|part| on_disk[part]..self.set.built(part).start);
                let done = self.write(done, true)?;
                let unread = self.write(self.ranges(|part| self.set.unread(part)), false)?;
                self.runs.extend(done);
                let frontier = unread.into_iter().collect();
                self.mode = Mode::Disk(OnDisk { frontier, ..OnDisk::default() });
                self.account();
            }
            Mode::Disk(_) => {}
        }
        let Mode::Disk(disk) = &mut self.mode else { unreachable!("it was made so above") };
        disk.candidates.extend(candidates);
        self.begin_set()?;
        self.merge_candidates()
    }

    /// Begins with an empty set.
    fn begin_set(&mut self) -> Result<(), StoreError> {
        let DiskStore { place, packed, partition, worker, .. } = self;
        self.set = place.set(*packed, *partition, *worker, self.building)?;
        self.held = 0;
        Ok(())
    }

    /// Merges runs of candidates if there are many.
    fn merge_candidates(&mut self) -> Result<(), StoreError> {
        let level = self.building;
        let Mode::Disk(disk) = &self.mode else { return Ok(()) };
        let sizes: Vec<u64> = disk.candidates.iter().map(Section::bytes).collect();
        let from = merged_from(&sizes);
        if sizes.len() - from < 2 || sizes.len() < MANY_RUNS / 2 {
            return Ok(());
        }
        let sources = disk.candidates[from..].iter().map(Source::of).collect();
        let merged = self.merged(sources, (level, level), false)?;
        let Mode::Disk(disk) = &mut self.mode else { return Ok(()) };
        disk.candidates.truncate(from);
        disk.candidates.push(merged);
        Ok(())
    }

    /// Writes those candidates that were never visited as the run of the level being built.
    fn subtract(&self, disk: &OnDisk, watch: &Watch) -> Result<Option<Section>, StoreError> {
        let built = self.ranges(|part| self.set.built(part));
        let mut sources = vec![Source::Memory(Stretches::new(&self.set, built, self.packed))];
        sources.extend(disk.candidates.iter().map(Source::of));
        let mut visited: Vec<Cursor> = self.runs.iter().map(Cursor::new).collect();
        let shape = Shape { key: self.packed + 1, least: self.building, most: self.building };
        let mut writer = self.place.writer(shape, true)?;
        let mut looked_at = 0u64;
        merge(sources, |key, hint, level| {
            looked_at += 1;
            if looked_at.is_multiple_of(LOOK) && watch.stopped() {
                return Err(StoreError::Stopped);
            }
            for run in &mut visited {
                if run.seek(key)? {
                    return Ok(());
                }
            }
            writer.push(key, hint, level)
        })?;
        if writer.states() == 0 {
            return Ok(None);
        }
        Ok(Some(Section::new(writer.finish()?, self.set.shards())))
    }

    /// Visited runs, merged where there are many small ones.
    fn merged_runs(&self, watch: &Watch) -> Result<Vec<Section>, StoreError> {
        let sizes: Vec<u64> = self.runs.iter().map(Section::bytes).collect();
        let from = merged_from(&sizes);
        if sizes.len() - from < 2 {
            return Ok(self.runs.clone());
        }
        let old = &self.runs[from..];
        let shapes = || old.iter().map(|run| run.file.shape());
        let least = shapes().map(|shape| shape.least).min().unwrap_or_default();
        let most = shapes().map(|shape| shape.most).max().unwrap_or_default();
        let mut writer = self.place.writer(Shape { key: self.packed + 1, least, most }, true)?;
        let mut looked_at = 0u64;
        merge(old.iter().map(Source::of).collect(), |key, hint, level| {
            looked_at += 1;
            match looked_at.is_multiple_of(LOOK) && watch.stopped() {
                true => Err(StoreError::Stopped),
                false => writer.push(key, hint, level),
            }
        })?;
        let mut runs = self.runs[..from].to_vec();
        runs.push(Section::new(writer.finish()?, self.set.shards()));
        Ok(runs)
    }

    /// The states up to a level as runs that a checkpoint can name. What is in memory is written,
    /// and stays there, too.
    fn runs_through(&mut self, level: u32, watch: &Watch) -> Result<Vec<Section>, StoreError> {
        if let Mode::Memory { on_disk } = &self.mode {
            let ends: Vec<u32> = (0..on_disk.len())
                .map(|part| self.set.end_of_level(part, level).max(on_disk[part]))
                .collect();
            let new = on_disk.iter().zip(&ends).map(|(&start, &end)| start..end).collect();
            let new = self.write(new, true)?;
            self.runs.extend(new);
            self.mode = Mode::Memory { on_disk: ends };
            if self.runs.len() > MANY_RUNS / 2 && !watch.stopped() {
                self.runs = self.merged_runs(watch)?;
            }
            self.account();
        }
        let through = |run: &&Section| run.file.shape().least <= level;
        let runs: Vec<Section> = self.runs.iter().filter(through).cloned().collect();
        for run in &runs {
            run.file.sync()?;
        }
        Ok(runs)
    }

    /// Whether states of a level are to be found in memory.
    fn in_memory(&self) -> bool {
        matches!(self.mode, Mode::Memory { .. })
    }

    /// The key of a state.
    fn key(&self, packed: &[u8], hash: u64) -> Vec<u8> {
        let mut key = vec![self.partition.shard(hash) as u8];
        key.extend_from_slice(packed);
        key
    }
}

impl Store for DiskStore {
    fn insert(&mut self, records: &[u8], hashes: &[u64]) -> Result<u64, StoreError> {
        if self.held >= self.place.most_held {
            self.spill()?;
        }
        let new = match self.set.insert(records, hashes) {
            Err(StoreError::Memory) => {
                // Those that were inserted are candidates now, and may be so twice.
                self.spill()?;
                self.set.insert(records, hashes)?
            }
            inserted => inserted?,
        };
        self.held += new;
        // Which candidates are new is not known before the end of the level.
        Ok(if self.in_memory() { new } else { 0 })
    }

    fn next_level(&mut self, watch: &Watch) -> Result<u64, StoreError> {
        let disk = match &mut self.mode {
            Mode::Memory { .. } => {
                self.building += 1;
                return self.set.next_level(watch);
            }
            Mode::Disk(disk) => disk,
        };
        if let Some(states) = disk.waiting.take() {
            self.building += 1;
            return Ok(states);
        }
        let Mode::Disk(disk) = &self.mode else { return Ok(0) };
        let level = self.subtract(disk, watch)?;
        let mut runs = self.merged_runs(watch)?;
        let states = level.as_ref().map_or(0, |level| level.file.states());
        runs.extend(level.clone());
        self.runs = runs;
        let frontier = level.into_iter().collect();
        self.mode = Mode::Disk(OnDisk { frontier, ..OnDisk::default() });
        self.building += 1;
        self.begin_set()?;
        self.account();
        Ok(states)
    }

    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError> {
        let Mode::Disk(disk) = &mut self.mode else { return self.set.read(most, states) };
        let level = self.building - 1;
        let mut count = 0;
        while count < most {
            let cursor = match &mut disk.reading {
                Some(cursor) => cursor,
                None => match disk.frontier.pop() {
                    Some(run) => disk.reading.insert(Cursor::new(&run)),
                    None => break,
                },
            };
            match cursor.advance()? {
                false => disk.reading = None,
                true if cursor.level() == level => {
                    states.extend_from_slice(&cursor.key()[1..]);
                    count += 1;
                }
                true => {}
            }
        }
        Ok(count)
    }

    fn candidates(
        &mut self,
        depth: u32,
        hint: Option<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        if self.in_memory() {
            return self.set.candidates(depth, hint, visit);
        }
        for run in self.runs.iter().filter(|run| run.has_level(depth)) {
            let mut cursor = Cursor::new(run);
            while cursor.advance()? {
                if cursor.level() == depth {
                    let packed = &cursor.key()[1..];
                    let own = || hash::hint(hash::hash(packed, hash::PLACE));
                    if hint.is_none_or(|hint| hint == own()) {
                        visit(packed);
                    }
                }
            }
        }
        Ok(())
    }

    fn hint_of(&self, packed: &[u8], hash: u64) -> Result<Option<u8>, StoreError> {
        if self.in_memory() {
            return self.set.hint_of(packed, hash);
        }
        let key = self.key(packed, hash);
        for run in &self.runs {
            let mut cursor = Cursor::new(run);
            if cursor.seek(&key)? {
                return Ok(Some(cursor.hint()));
            }
        }
        Ok(None)
    }

    fn numbered(&self) -> Option<&dyn Numbered> {
        match self.in_memory() {
            true => self.set.numbered(),
            false => None,
        }
    }

    fn located(&self, depth: u32) -> Option<Box<dyn Located + '_>> {
        match self.in_memory() {
            true => self.set.located(depth),
            false => Some(Box::new(OnDiskStates::new(&self.runs))),
        }
    }

    fn persist(&mut self, level: u32, watch: &Watch) -> Result<Runs, StoreError> {
        self.runs_through(level, watch).map(Runs)
    }
}
