//! What the searches of a question have found, one after the other, so that whoever asks again need not
//! search again.
//!
//! A proof for any number of processors makes hundreds of searches, and what is searched next follows
//! from what was found. So its checkpoint is a *journal*: for each search a digest of what was searched
//! and what came of it. Whoever resumes follows the same procedure, and is given what the journal has
//! instead of searching. An entry is good for the same program, searched in the same way, by the same
//! build of Tribunal, and for nothing else; where the procedure asks for something that is not the next
//! entry, it is searched, and the rest of the journal is dropped.
//!
//! Each entry is a line with a checksum that depends on its number. The file only grows, so a process
//! that is killed leaves a line that is not whole, at its end; whoever resumes goes on before it.

mod noted;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::{Unusable, checksum};
use crate::files::named;

pub(crate) use noted::noted;

use noted::Bytes;

/// The file, in the directory of checkpoints.
const JOURNAL: &str = "journal";

/// What was found so far. Clones are the same journal.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<Inner>>);

struct Inner {
    path: PathBuf,
    file: File,
    /// Where the entries before the next one end, and how many these are.
    end: u64,
    entries: u64,
    /// The next entry, if it was written before.
    next: Option<Entry>,
    rest: Option<BufReader<File>>,
    every: Duration,
    synced: Instant,
}

/// An entry that is still to be asked for.
struct Entry {
    key: String,
    value: String,
    bytes: u64,
}

impl Journal {
    /// An empty journal in a directory. What was written is synced with the disk when so much time has
    /// passed.
    pub fn begin(directory: &Path, every: Duration) -> Result<Journal, Unusable> {
        let path = directory.join(JOURNAL);
        let file = File::create(&path).map_err(|error| unusable(&path, &error))?;
        Ok(Journal::of(path, file, None, every))
    }

    /// The journal that is in a directory, to be gone through from its beginning. It is empty if there
    /// is none.
    pub fn resume(directory: &Path, every: Duration) -> Result<Journal, Unusable> {
        let path = directory.join(JOURNAL);
        let wrong = |error: io::Error| unusable(&path, &error);
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(wrong)?;
        let rest = BufReader::new(File::open(&path).map_err(wrong)?);
        let journal = Journal::of(path.clone(), file, Some(rest), every);
        journal.lock().read_next();
        Ok(journal)
    }

    fn of(path: PathBuf, file: File, rest: Option<BufReader<File>>, every: Duration) -> Journal {
        let (end, entries, next, synced) = (0, 0, None, Instant::now());
        Journal(Arc::new(Mutex::new(Inner { path, file, end, entries, next, rest, every, synced })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was noted under a key, if that is the next entry.
    pub fn recall<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let mut inner = self.lock();
        let entry = inner.next.take_if(|entry| entry.key == key)?;
        let value = serde_json::from_str(&entry.value).ok()?;
        inner.end += entry.bytes;
        inner.entries += 1;
        inner.read_next();
        Some(value)
    }

    /// Notes something under a key. Entries that were not asked for are dropped.
    pub fn note<T: Serialize>(&self, key: &str, value: &T) -> io::Result<()> {
        let inner = &mut *self.lock();
        let value = serde_json::to_string(value).map_err(io::Error::other)?;
        inner.append(key, &value).map_err(|error| named(&inner.path, error))
    }

    /// The same for bytes.
    pub fn recall_bytes(&self, key: &str) -> Option<Vec<u8>> {
        self.recall(key).map(|Bytes(bytes)| bytes)
    }

    /// Likewise.
    pub fn note_bytes(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.note(key, &Bytes(bytes.to_vec()))
    }

    /// Syncs the file with the disk.
    pub fn sync(&self) -> io::Result<()> {
        let inner = self.lock();
        inner.file.sync_data().map_err(|error| named(&inner.path, error))
    }

    /// Removes the journal of a directory.
    pub(crate) fn remove(directory: &Path) {
        // What cannot be removed stays, which does no harm.
        let _ = std::fs::remove_file(directory.join(JOURNAL));
    }
}

fn unusable(path: &Path, error: &io::Error) -> Unusable {
    Unusable::new(format!("cannot use {}: {error}", path.display()))
}

impl Inner {
    /// Reads the next entry; there is none from the first one on that is not whole.
    fn read_next(&mut self) {
        self.next = self.rest.as_mut().and_then(|rest| {
            let mut line = Vec::new();
            let bytes = rest.read_until(b'\n', &mut line).ok()? as u64;
            let line = String::from_utf8(line).ok()?;
            let (check, body) = line.strip_suffix('\n')?.split_once(' ')?;
            if check != format!("{:016x}", checksum(body.as_bytes(), self.entries)) {
                return None;
            }
            let (key, value) = body.split_once(' ')?;
            Some(Entry { key: key.to_owned(), value: value.to_owned(), bytes })
        });
        if self.next.is_none() {
            self.rest = None;
        }
    }

    fn append(&mut self, key: &str, value: &str) -> io::Result<()> {
        (self.next, self.rest) = (None, None);
        let key = key.replace(char::is_whitespace, "-");
        let body = format!("{key} {value}");
        let line = format!("{:016x} {body}\n", checksum(body.as_bytes(), self.entries));
        // A line that was not written whole is written again.
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line.as_bytes())?;
        self.end += line.len() as u64;
        self.entries += 1;
        if self.synced.elapsed() >= self.every {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Journal {}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({})", self.lock().path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    fn with(directory: &Path, entries: &[(&str, u64)]) {
        let journal = Journal::begin(directory, Duration::ZERO).unwrap();
        entries.iter().for_each(|(key, value)| journal.note(key, value).unwrap());
    }

    /// What is recalled under keys, one after the other.
    fn recalled(directory: &Path, keys: &[&str]) -> Vec<Option<u64>> {
        let journal = Journal::resume(directory, Duration::ZERO).unwrap();
        keys.iter().map(|key| journal.recall(key)).collect()
    }

    #[test]
    fn entries_are_recalled_in_order_and_only_under_their_keys() {
        let directory = directory("journal-order");
        with(&directory, &[("a", 1), ("b", 2), ("a", 3)]);
        assert_eq!(recalled(&directory, &["a", "b", "a", "a"]), [Some(1), Some(2), Some(3), None]);
        assert_eq!(recalled(&directory, &["b", "a", "a", "b"]), [None, Some(1), None, Some(2)]);
        let journal = Journal::resume(&directory, Duration::ZERO).unwrap();
        assert_eq!(journal.recall::<u64>("a"), Some(1));
        journal.note("c", &4_u64).unwrap();
        // What was behind it is gone.
        assert_eq!(recalled(&directory, &["a", "c", "b", "a"]), [Some(1), Some(4), None, None]);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn of_a_file_that_was_cut_short_or_changed_the_rest_is_dropped() {
        let directory = directory("journal-cut");
        let path = directory.join(JOURNAL);
        with(&directory, &[("a", 1), ("b", 2), ("c", 3)]);
        let whole = std::fs::read(&path).unwrap();
        let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let ends = [lines[0].len(), lines[0].len() + lines[1].len(), whole.len()];
            let expected: Vec<_> = ends
                .iter()
                .zip(1_u64..)
                .map(|(&end, value)| (end <= length).then_some(value))
                .collect();
            assert_eq!(recalled(&directory, &["a", "b", "c"]), expected, "{length}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 4;
            std::fs::write(&path, &changed).unwrap();
            let found = recalled(&directory, &["a", "b", "c"]);
            let intact =
                found.iter().zip(1..).all(|(found, value)| found.is_none_or(|one| one == value));
            assert!(intact && found.contains(&None), "{at}: {found:?}");
        }
        // Lines in another order are not entries.
        std::fs::write(&path, [lines[1], lines[0]].concat()).unwrap();
        assert_eq!(recalled(&directory, &["b", "a"]), [None, None]);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
