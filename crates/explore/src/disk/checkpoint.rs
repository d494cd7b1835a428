//! Checkpoints: a directory from which a search can go on after whatever ended it.
//!
//! All that a level needs are runs, which are never changed, and some counts. A checkpoint is a
//! *manifest* that names them, as text with a checksum. It is written when a level is complete: the
//! runs are synced, the manifest is written under another name, synced and renamed, the directory is
//! synced, and only then runs that it does not name are removed. So at any time the directory has
//! one whole checkpoint, the one before or the new one, and what is lost is the level in progress.
//!
//! Several processes share the directory. Each writes and syncs its own runs; the first one writes the
//! manifest when all have done so, and removes what it does not name.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Runs;
use super::cursor::Section;
use super::place::{SHARDS, is_run};
use super::run_file::{RunFile, checksum};
use crate::files::named;
use crate::growth::Depths;
use crate::memory::Meter;
use crate::options::Checkpointing;
use crate::store::StoreError;
use crate::worker::Count;

/// The file that names all others.
const MANIFEST: &str = "checkpoint.json";
/// Its name while it is written.
const UNFINISHED: &str = "checkpoint.unfinished";
/// The file that is locked while a search uses the directory.
const LOCK: &str = "lock";
/// A file by which processes find out whether they use the same directory, and how long they look.
const WORD: &str = "cluster";
const PATIENCE: Duration = Duration::from_secs(5);
/// The version of the format.
const FORMAT: u32 = 1;

/// What was asked, as names and values: a checkpoint is good for this and nothing else.
pub type Identity = Vec<(String, String)>;

/// Where a search stood.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    identity: Identity,
    /// Bytes of a packed state.
    packed: usize,
    /// The level to be expanded.
    pub(crate) level: u32,
    /// States of the levels before it.
    stored: u64,
    excluded: u64,
    looked_at: u64,
    fired: u64,
    firings: Vec<u64>,
    /// The last level with a state that counts.
    pub(crate) deepest: u32,
    pub(crate) covered: Vec<bool>,
    /// States by depth, before the level.
    pub(crate) depths: Depths,
    /// The number of the next file.
    pub(super) next: u64,
    runs: Vec<RunEntry>,
}

/// A run of a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunEntry {
    file: String,
    bytes: u64,
    digest: u64,
    /// The shards of it that count.
    from: usize,
    to: usize,
}

/// What a worker gives to a checkpoint. Processes send it to the first one, which writes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    progress: PartProgress,
    runs: Vec<RunEntry>,
    /// The number of the next file of its process.
    next: u64,
}

/// What a worker had done before a level.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartProgress {
    pub(crate) count: Count,
    pub(crate) deepest: u32,
    pub(crate) covered: Vec<bool>,
    /// States of all workers by depth, which the first worker knows.
    pub(crate) depths: Option<Depths>,
}

impl Part {
    /// What was done before a level, and the runs up to it, which are synced and stay from now on.
    pub(super) fn new(progress: PartProgress, runs: Runs, next: u64) -> Part {
        let entry = |run: &Section| {
            run.file.keep();
            RunEntry {
                file: run.file.name().unwrap_or_default().to_owned(),
                bytes: run.file.bytes(),
                digest: run.file.digest(),
                from: run.shards.start,
                to: run.shards.end,
            }
        };
        let runs = runs.0.iter().map(entry).collect();
        Part { progress, runs, next }
    }
}

/// Why a search cannot go on from a directory, or write checkpoints to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(String);

impl Unusable {
    pub(crate) fn new(sentence: String) -> Self {
        Unusable(sentence)
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// Whether there is a checkpoint in a directory.
pub(super) fn has_checkpoint(directory: &Path) -> bool {
    directory.join(MANIFEST).exists()
}

/// Whether a search can write checkpoints to a directory, which is made if there is none.
pub fn usable(directory: &Path) -> Result<(), Unusable> {
    let shown = directory.display();
    let wrong = |error: io::Error| Unusable(format!("cannot use {shown} for checkpoints: {error}"));
    fs::create_dir_all(directory).map_err(wrong)?;
    if directory.join(MANIFEST).exists() {
        let what = "holds the checkpoint of a search";
        let advice = format!("continue it with --resume {shown}, or remove it");
        return Err(Unusable(format!("{shown} {what}; {advice}")));
    }
    lock(directory).map_err(wrong).map(drop)
}

/// Whether a search for `identity` can go on from a directory: everything in it is read and compared
/// with its checksums.
pub fn resumable(directory: &Path, identity: &Identity) -> Result<(), Unusable> {
    let shown = directory.display();
    let wrong = |why: &dyn std::fmt::Display| {
        Unusable(format!("cannot resume from the checkpoint in {shown}: {why}"))
    };
    if !directory.join(MANIFEST).exists() {
        return Err(Unusable(format!(
            "{shown} holds no checkpoint; start one with --checkpoint {shown}"
        )));
    }
    let manifest = Manifest::read(directory).map_err(|error| wrong(&error))?;
    let differences = differences(&manifest.identity, identity);
    if !differences.is_empty() {
        return Err(wrong(&format!("it belongs to another search: {}", differences.join("; "))));
    }
    let _lock = lock(directory).map_err(|error| wrong(&error))?;
    let meter = Arc::new(Meter::new(None));
    let verified = manifest.runs(directory, 0..SHARDS, &meter).and_then(|runs| {
        let mut block = Vec::new();
        for run in &runs {
            for number in 0..run.file.blocks() {
                run.file.read(number, &mut block)?;
            }
        }
        Ok(())
    });
    verified.map_err(|error| match error {
        StoreError::Disk(error) => wrong(&error),
        StoreError::Memory | StoreError::Stopped => wrong(&"not enough memory"),
    })
}

/// What a checkpoint says by this name about the search that it belongs to.
pub(crate) fn saved_entry(directory: &Path, name: &str) -> Option<(String, String)> {
    let manifest = Manifest::read(directory).ok()?;
    manifest.identity.into_iter().find(|(other, _)| other == name)
}

/// Removes the checkpoint in a directory.
pub(crate) fn discard(directory: &Path) {
    // What cannot be removed is refused when a search begins there.
    let _ = fs::remove_file(directory.join(MANIFEST));
}

/// In what two searches differ.
pub(super) fn differences(then: &Identity, now: &Identity) -> Vec<String> {
    let value = |of: &Identity, name: &str| {
        of.iter()
            .find(|(other, _)| other == name)
            .map_or("", |(_, value)| value.as_str())
            .to_owned()
    };
    let mut names: Vec<&String> = then.iter().chain(now).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&&String| value(then, name) != value(now, name);
    let shown = |name: &&String| {
        let shown = |value: String| if value.is_empty() { "none".to_owned() } else { value };
        let (then, now) = (shown(value(then, name)), shown(value(now, name)));
        format!("{name} was {then} and is {now}")
    };
    names.iter().filter(differs).map(shown).collect()
}

/// Takes the lock of a directory, which is given back when the process ends, however it does.
pub(super) fn lock(directory: &Path) -> io::Result<File> {
    let file =
        File::options().create(true).truncate(false).write(true).open(directory.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is using it"))
        }
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

impl Manifest {
    /// Reads the manifest of a directory.
    fn read(directory: &Path) -> io::Result<Manifest> {
        let path = directory.join(MANIFEST);
        let bytes = fs::read(&path).map_err(|error| named(&path, error))?;
        let damaged = |what: &str| {
            let message = format!("{} is damaged: {what}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is not text"))?;
        let (body, check) = text
            .strip_suffix('\n')
            .and_then(|text| text.rsplit_once('\n'))
            .ok_or_else(|| damaged("it has no checksum"))?;
        if check != format!("{:016x}", checksum(body.as_bytes(), 0)) {
            return Err(damaged("its checksum does not match"));
        }
        let manifest: Manifest =
            serde_json::from_str(body).map_err(|error| damaged(&error.to_string()))?;
        match manifest.format {
            FORMAT => Ok(manifest),
            _ => Err(damaged("it was written by another version of tribunal")),
        }
    }

    /// Writes the manifest of a directory, in place of the one before.
    fn write(&self, directory: &Path) -> io::Result<()> {
        let body = serde_json::to_string(self).map_err(io::Error::other)?;
        let text = format!("{body}\n{:016x}\n", checksum(body.as_bytes(), 0));
        let unfinished = directory.join(UNFINISHED);
        let written = File::create(&unfinished).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| named(&unfinished, error))?;
        sync(directory)?;
        fs::rename(&unfinished, directory.join(MANIFEST))?;
        sync(directory)
    }

    /// Opens the runs that have states of some shards.
    fn runs(
        &self,
        directory: &Path,
        shards: Range<usize>,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Section>, StoreError> {
        let mut files: Vec<(&str, Arc<RunFile>)> = Vec::new();
        let mut runs = Vec::new();
        let is_needed = |run: &&RunEntry| run.from < shards.end && shards.start < run.to;
        for entry in self.runs.iter().filter(is_needed) {
            let known = files.iter().find(|(name, _)| *name == entry.file);
            let file = match known {
                Some((_, file)) => Arc::clone(file),
                None => {
                    let path = directory.join(&entry.file);
                    let file = Arc::new(RunFile::open(&path, self.packed + 1, meter)?);
                    files.push((&entry.file, Arc::clone(&file)));
                    file
                }
            };
            if (file.bytes(), file.digest()) != (entry.bytes, entry.digest) {
                return Err(file.damaged("it is not the file that the checkpoint names"));
            }
            runs.push(Section { file, shards: entry.from..entry.to });
        }
        Ok(runs)
    }

    /// What was counted before.
    pub(crate) fn count(&self) -> Count {
        Count {
            stored: self.stored,
            excluded: self.excluded,
            looked_at: self.looked_at,
            fired: self.fired,
            firings: self.firings.clone(),
        }
    }
}

#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_directory: &Path) -> io::Result<()> {
    Ok(())
}

/// Who writes the checkpoints of a search, or, in another process than the first, reads them only.
#[derive(Debug)]
pub(crate) struct Keeper {
    directory: PathBuf,
    every: Duration,
    identity: Identity,
    packed: usize,
    /// Held by the first process.
    lock: Option<File>,
    /// When the last one was written, and of which level.
    kept: Mutex<Option<(Instant, u32)>>,
}

/// Something to go on from.
pub(super) struct Begun {
    pub(super) manifest: Manifest,
    pub(super) runs: Vec<Section>,
}

impl Keeper {
    /// For a search whose packed states have so many bytes. The first process writes.
    pub(super) fn new(
        kept: &Checkpointing,
        packed: usize,
        is_first: bool,
    ) -> Result<Self, StoreError> {
        let directory = &kept.directory;
        fs::create_dir_all(directory).map_err(|error| named(directory, error))?;
        let lock = is_first.then(|| lock(directory).map_err(|error| named(directory, error)));
        Ok(Keeper {
            directory: directory.clone(),
            every: kept.every,
            identity: kept.identity.clone(),
            packed,
            lock: lock.transpose()?,
            kept: Mutex::default(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Option<(Instant, u32)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the checkpoint in the directory as far as some shards need it, and removes what does not
    /// belong to it.
    pub(super) fn begun(
        &self,
        shards: Range<usize>,
        meter: &Arc<Meter>,
    ) -> Result<Begun, StoreError> {
        let manifest = Manifest::read(&self.directory)?;
        let differences = differences(&manifest.identity, &self.identity);
        if !differences.is_empty() || manifest.packed != self.packed {
            let message =
                format!("the checkpoint belongs to another search: {}", differences.join("; "));
            return Err(StoreError::Disk(io::Error::other(message)));
        }
        let runs = manifest.runs(&self.directory, shards, meter)?;
        self.remove_others(&manifest)?;
        *self.kept() = Some((Instant::now(), manifest.level));
        Ok(Begun { manifest, runs })
    }

    /// Makes sure that the directory has no checkpoint, and no remains of one.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        if self.lock.is_some() && self.directory.join(MANIFEST).exists() {
            let message = format!("{} holds the checkpoint of a search", self.directory.display());
            return Err(StoreError::Disk(io::Error::other(message)));
        }
        self.remove(|_| true)
    }

    fn remove_others(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let named: HashSet<&str> = manifest.runs.iter().map(|run| &run.file[..]).collect();
        self.remove(|name| !named.contains(name))
    }

    /// Removes runs that are not needed; other processes than the first leave that to it.
    fn remove(&self, is_needless: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        if self.lock.is_none() {
            return Ok(());
        }
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| is_run(name) && is_needless(name)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Whether it is time for another checkpoint.
    pub(crate) fn is_due(&self) -> bool {
        self.kept().is_none_or(|(at, _)| at.elapsed() >= self.every)
    }

    /// The level of the last checkpoint.
    pub(crate) fn level(&self) -> Option<u32> {
        self.kept().map(|(_, level)| level)
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a checkpoint of a level from what all workers gave, and removes the runs that it does
    /// not need; nobody writes others meanwhile. `covered` is what was covered before this process.
    pub(crate) fn commit(
        &self,
        level: u32,
        covered: &[bool],
        parts: Vec<Part>,
    ) -> Result<(), StoreError> {
        let mut manifest = Manifest {
            format: FORMAT,
            identity: self.identity.clone(),
            packed: self.packed,
            level,
            stored: 0,
            excluded: 0,
            looked_at: 0,
            fired: 0,
            firings: Vec::new(),
            deepest: 0,
            covered: covered.to_vec(),
            depths: Depths::default(),
            next: 0,
            runs: Vec::new(),
        };
        for part in parts {
            manifest.add(part);
        }
        manifest.write(&self.directory)?;
        *self.kept() = Some((Instant::now(), level));
        self.remove_others(&manifest)
    }

    /// Removes the checkpoint: the search is over.
    pub(crate) fn remove_checkpoint(&self) {
        if self.lock.is_some() {
            // What cannot be removed stays, which does no harm.
            let _ = fs::remove_file(self.directory.join(MANIFEST));
            let _ = self.remove(|_| true);
        }
        *self.kept() = None;
    }

    /// Leaves a word in the directory for the other processes.
    pub(super) fn leave_word(&self, word: &str) -> Result<(), StoreError> {
        let path = self.directory.join(WORD);
        Ok(fs::write(&path, word).map_err(|error| named(&path, error))?)
    }

    /// Whether the first process has left this word in the directory. On a file system of the network
    /// it may take a moment until it is seen.
    pub(super) fn finds_word(&self, word: &str) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = fs::read_to_string(self.directory.join(WORD));
            if found.is_ok_and(|found| found == word) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Removes the word.
    pub(super) fn remove_word(&self) {
        let _ = fs::remove_file(self.directory.join(WORD));
    }
}

impl Manifest {
    /// Adds what a worker has counted.
    fn add(&mut self, part: Part) {
        let Part { progress, mut runs, next } = part;
        let PartProgress { count, deepest, covered, depths } = progress;
        if let Some(depths) = depths {
            self.depths = depths;
        }
        self.stored += count.stored;
        self.excluded += count.excluded;
        self.looked_at += count.looked_at;
        self.fired += count.fired;
        self.firings.resize(self.firings.len().max(count.firings.len()), 0);
        self.firings.iter_mut().zip(&count.firings).for_each(|(sum, firings)| *sum += firings);
        self.deepest = self.deepest.max(deepest);
        self.covered.resize(self.covered.len().max(covered.len()), false);
        self.covered.iter_mut().zip(covered).for_each(|(any, covered)| *any |= covered);
        self.next = self.next.max(next);
        self.runs.append(&mut runs);
    }
}
