//! The states of a worker on disk, level after level, in one temporary file.
//!
//! States are appended to the level being built while those of the level before are read; both
//! go through buffers, so that the disk sees a quarter of a megabyte at a time.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::files::create_temporary;

/// Bytes of each buffer.
pub(crate) const BUFFER: usize = 1 << 18;

/// A file of packed states.
#[derive(Debug)]
pub(crate) struct LevelFile {
    file: File,
    /// If the file is still to be removed.
    path: Option<PathBuf>,
    /// Bytes of a state; a state of no bytes takes one in the file.
    state: usize,
    /// States that were added.
    states: u64,
    /// What is not written yet.
    written: Vec<u8>,
    /// Where each level begins, counted in states.
    levels: Vec<u64>,
    /// What was read but not handed out, from `handed` on.
    read: Vec<u8>,
    handed: usize,
    /// The next state to be read, and where the level being read ends.
    next: u64,
    end: u64,
}

impl LevelFile {
    /// A new file in `directory`.
    pub(crate) fn new(directory: &Path, state: usize) -> io::Result<Self> {
        let (file, path) = create_temporary(directory)?;
        Ok(LevelFile {
            file,
            path,
            state: state.max(1),
            states: 0,
            written: Vec::new(),
            levels: vec![0],
            read: Vec::new(),
            handed: 0,
            next: 0,
            end: 0,
        })
    }

    /// Appends a state to the level being built.
    #[inline]
    pub(crate) fn push(&mut self, packed: &[u8]) -> io::Result<()> {
        self.written.extend_from_slice(packed);
        if packed.is_empty() {
            self.written.push(0);
        }
        self.states += 1;
        match self.written.len() < BUFFER {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(&self.written)?;
        self.written.clear();
        Ok(())
    }

    /// Ends the level being built, and begins to read it. Returns how many states it has.
    pub(crate) fn next_level(&mut self) -> io::Result<u64> {
        self.flush()?;
        self.levels.push(self.states);
        self.rewind(self.levels.len() as u32 - 2);
        Ok(self.end - self.next)
    }

    /// Begins to read a level that has ended.
    pub(crate) fn rewind(&mut self, level: u32) {
        let start = |level: u32| self.levels.get(level as usize).copied().unwrap_or(self.states);
        (self.next, self.end) = (start(level), start(level + 1));
        self.read.clear();
        self.handed = 0;
    }

    /// Appends up to `most` packed states of the level being read, and says how many.
    pub(crate) fn read(&mut self, most: usize, states: &mut Vec<u8>) -> io::Result<usize> {
        if self.handed == self.read.len() {
            self.fill()?;
        }
        let count = most.min((self.read.len() - self.handed) / self.state);
        let bytes = &self.read[self.handed..self.handed + count * self.state];
        self.handed += bytes.len();
        states.extend_from_slice(bytes);
        Ok(count)
    }

    fn fill(&mut self) -> io::Result<()> {
        let room = (BUFFER / self.state).max(1) as u64;
        let count = room.min(self.end - self.next);
        self.read.resize(count as usize * self.state, 0);
        self.handed = 0;
        if count > 0 {
            self.file.seek(SeekFrom::Start(self.next * self.state as u64))?;
            self.file.read_exact(&mut self.read)?;
            self.next += count;
        }
        Ok(())
    }
}

impl Drop for LevelFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing can be done about a file that does not go.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_in_order_and_again() {
        let mut file = LevelFile::new(&std::env::temp_dir(), 3).unwrap();
        let level = |level: u32| (0..level * 40_000).map(move |at| [level as u8, at as u8, 7]);
        for depth in 0..4 {
            for state in level(depth) {
                file.push(&state).unwrap();
            }
            assert_eq!(file.next_level().unwrap(), u64::from(depth) * 40_000);
        }
        for depth in [3, 0, 2] {
            file.rewind(depth);
            let mut states = Vec::new();
            while file.read(1000, &mut states).unwrap() > 0 {}
            assert_eq!(states, level(depth).flatten().collect::<Vec<u8>>());
        }
    }

    #[test]
    fn nothing_is_left_in_the_directory() {
        let directory = std::env::temp_dir().join(format!("tribunal-test-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let mut file = LevelFile::new(&directory, 3).unwrap();
        file.push(&[1, 2, 3]).unwrap();
        file.next_level().unwrap();
        drop(file);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir(&directory).unwrap();
    }
}
