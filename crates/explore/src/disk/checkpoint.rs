//! Checkpoints: a directory from which a search can go on after whatever ended it.
//!
//! All that a level needs are runs, which are never changed, and some counts. A checkpoint is a
//! *manifest* that names them, as text with a checksum. It is written when a level is complete: the
//! runs are synced, the manifest is written under another name, synced and renamed, the directory is
//! synced, and only then runs that it does not name are removed. So at any time the directory has
//! one whole checkpoint, the one before or the new one, and what is lost is the level in progress.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Runs;
use super::cursor::Section;
use super::place::is_run;
use super::run_file::{RunFile, checksum, named};
use crate::memory::Meter;
use crate::store::StoreError;
use crate::worker::Count;

/// The file that names all others.
const MANIFEST: &str = "checkpoint.json";
/// Its name while it is written.
const UNFINISHED: &str = "checkpoint.unfinished";
/// The file that is locked while a search uses the directory.
const LOCK: &str = "lock";
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

/// What a worker gives to a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) count: Count,
    pub(crate) deepest: u32,
    pub(crate) covered: Vec<bool>,
    pub(crate) runs: Runs,
}

/// Why a search cannot go on from a directory, or write checkpoints to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(String);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

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
            "there is no checkpoint in {shown}; start one with --checkpoint {shown}"
        )));
    }
    let manifest = Manifest::read(directory).map_err(|error| wrong(&error))?;
    let differences = differences(&manifest.identity, identity);
    if !differences.is_empty() {
        return Err(wrong(&format!("it belongs to another search: {}", differences.join("; "))));
    }
    let _lock = lock(directory).map_err(|error| wrong(&error))?;
    let meter = Arc::new(Meter::new(None));
    let verified = manifest.runs(directory, &meter).and_then(|runs| {
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
        StoreError::Memory | StoreError::Stopped => wrong(&"there is not enough memory"),
    })
}

/// In what two searches differ.
fn differences(then: &Identity, now: &Identity) -> Vec<String> {
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
fn lock(directory: &Path) -> io::Result<File> {
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

    /// Opens the runs.
    fn runs(&self, directory: &Path, meter: &Arc<Meter>) -> Result<Vec<Section>, StoreError> {
        let mut files: Vec<(&str, Arc<RunFile>)> = Vec::new();
        let mut runs = Vec::new();
        for entry in &self.runs {
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

/// Who writes the checkpoints of a search.
#[derive(Debug)]
pub(crate) struct Keeper {
    directory: PathBuf,
    every: Duration,
    identity: Identity,
    packed: usize,
    _lock: File,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// When the last one was written, of which level, and with which runs.
    at: Option<Instant>,
    level: Option<u32>,
    files: Vec<Arc<RunFile>>,
    /// What workers gave for the next one.
    parts: Vec<Option<Part>>,
}

/// Something to go on from.
pub(super) struct Begun {
    pub(super) manifest: Manifest,
    pub(super) runs: Vec<Section>,
}

impl Keeper {
    /// For a search with so many workers.
    pub(super) fn new(
        directory: &Path,
        every: Duration,
        identity: &Identity,
        (workers, packed): (usize, usize),
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(directory)?;
        Ok(Keeper {
            directory: directory.to_owned(),
            every,
            identity: identity.clone(),
            packed,
            _lock: lock(directory).map_err(|error| named(directory, error))?,
            kept: Mutex::new(Kept {
                at: None,
                level: None,
                files: Vec::new(),
                parts: (0..workers).map(|_| None).collect(),
            }),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the checkpoint in the directory, and removes what does not belong to it.
    pub(super) fn begun(&self, meter: &Arc<Meter>) -> Result<Begun, StoreError> {
        let manifest = Manifest::read(&self.directory)?;
        let differences = differences(&manifest.identity, &self.identity);
        if !differences.is_empty() || manifest.packed != self.packed {
            let message =
                format!("the checkpoint belongs to another search: {}", differences.join("; "));
            return Err(StoreError::Disk(io::Error::other(message)));
        }
        let runs = manifest.runs(&self.directory, meter)?;
        self.remove_others(&manifest)?;
        let mut kept = self.kept();
        kept.files = runs.iter().map(|run| Arc::clone(&run.file)).collect();
        (kept.at, kept.level) = (Some(Instant::now()), Some(manifest.level));
        drop(kept);
        Ok(Begun { manifest, runs })
    }

    /// Makes sure that the directory has no checkpoint, and no remains of one.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        if self.directory.join(MANIFEST).exists() {
            let message = format!("{} holds the checkpoint of a search", self.directory.display());
            return Err(StoreError::Disk(io::Error::other(message)));
        }
        self.remove(|_| true)
    }

    fn remove_others(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.remove(|name| manifest.runs.iter().all(|run| run.file != name))
    }

    /// Removes runs that are not needed.
    fn remove(&self, is_needless: impl Fn(&str) -> bool) -> Result<(), StoreError> {
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
        self.kept().at.is_none_or(|at| at.elapsed() >= self.every)
    }

    /// The level of the last checkpoint.
    pub(crate) fn level(&self) -> Option<u32> {
        self.kept().level
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Takes what a worker gives to the next checkpoint.
    pub(crate) fn put(&self, worker: usize, part: Part) {
        self.kept().parts[worker] = Some(part);
    }

    /// Writes a checkpoint of a level, if all workers gave their part. `covered` is what was covered
    /// before this process.
    pub(crate) fn commit(&self, level: u32, covered: &[bool], next: u64) -> io::Result<()> {
        let mut kept = self.kept();
        let parts: Vec<Part> = kept.parts.iter_mut().filter_map(Option::take).collect();
        if parts.len() < kept.parts.len() {
            return Ok(());
        }
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
            next,
            runs: Vec::new(),
        };
        let mut files = Vec::new();
        for part in parts {
            manifest.add(&part);
            for run in part.runs.0 {
                run.file.keep(true);
                let entry = RunEntry {
                    file: run.file.name().unwrap_or_default().to_owned(),
                    bytes: run.file.bytes(),
                    digest: run.file.digest(),
                    from: run.shards.start,
                    to: run.shards.end,
                };
                manifest.runs.push(entry);
                files.push(run.file);
            }
        }
        manifest.write(&self.directory)?;
        let old = std::mem::replace(&mut kept.files, files);
        (kept.at, kept.level) = (Some(Instant::now()), Some(level));
        let is_old = |file: &Arc<RunFile>| kept.files.iter().all(|new| !Arc::ptr_eq(new, file));
        old.iter().filter(|file| is_old(file)).for_each(|file| file.keep(false));
        Ok(())
    }

    /// Removes the checkpoint: the search is over.
    pub(crate) fn remove_checkpoint(&self) {
        // What cannot be removed stays, which does no harm.
        let _ = fs::remove_file(self.directory.join(MANIFEST));
        let mut kept = self.kept();
        kept.level = None;
        for file in kept.files.drain(..) {
            file.keep(false);
        }
    }
}

impl Manifest {
    /// Adds what a worker has counted.
    fn add(&mut self, part: &Part) {
        let Part { count, deepest, covered, .. } = part;
        self.stored += count.stored;
        self.excluded += count.excluded;
        self.looked_at += count.looked_at;
        self.fired += count.fired;
        self.firings.resize(self.firings.len().max(count.firings.len()), 0);
        self.firings.iter_mut().zip(&count.firings).for_each(|(sum, firings)| *sum += firings);
        self.deepest = self.deepest.max(*deepest);
        self.covered.resize(self.covered.len().max(covered.len()), false);
        self.covered.iter_mut().zip(covered).for_each(|(any, covered)| *any |= covered);
    }
}
