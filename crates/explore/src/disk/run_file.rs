//! A run: states in order, in one file, each with its hint and its level.
//!
//! States are ordered by *key*, the number of their shard and then their packed bytes. A record
//! says how many bytes of its key are those of the one before, then the others, the hint, and, if
//! the run has several levels, the distance of its level from the least. Neighbours share long
//! prefixes, so that a record is hardly longer than the packed state, and often shorter.
//!
//! Records are in blocks that can be read on their own, each with a checksum that also depends on
//! where it stands. Behind them is an index with the first key of every block, which stays in
//! memory, and a trailer with a checksum of the index. Nothing that was read from a file is believed
//! before its checksum was compared.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::files::{create_new, create_temporary, named};
use crate::hash;
use crate::memory::Meter;
use crate::store::StoreError;

/// Seed of checksums.
const CHECK: u64 = 0x8ebc_6af0_9c88_c6e3;
/// The last bytes of a run.
const MAGIC: &[u8; 8] = b"TRIBRUN1";
/// Numbers of the trailer.
const NUMBERS: usize = 8;
/// Bytes of the trailer.
const TRAILER: usize = 8 * (NUMBERS + 1) + MAGIC.len();

/// The checksum of some bytes that stand at `offset`.
pub(crate) fn checksum(bytes: &[u8], offset: u64) -> u64 {
    hash::hash(bytes, CHECK ^ offset.rotate_left(17) ^ (bytes.len() as u64).rotate_left(48))
}

/// A run that is complete.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    /// Where it is, unless it has no name and vanishes with the process.
    path: Option<PathBuf>,
    /// Whether it stays when nobody in this process uses it any more.
    kept: AtomicBool,
    synced: AtomicBool,
    shape: Shape,
    /// The first key of every block, and where it begins; one more for the end.
    keys: Vec<u8>,
    offsets: Vec<u64>,
    states: u64,
    bytes: u64,
    /// The checksum of the index.
    digest: u64,
    meter: Arc<Meter>,
}

/// What records of a run look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of a key.
    pub(super) key: usize,
    /// The levels of its states.
    pub(super) least: u32,
    pub(super) most: u32,
}

impl RunFile {
    /// Opens a run that was kept.
    pub(super) fn open(path: &Path, key: usize, meter: &Arc<Meter>) -> Result<Self, StoreError> {
        let damaged = |what: &str| damaged(path, what);
        let file = File::open(path).map_err(|error| named(path, error))?;
        let bytes = file.metadata()?.len();
        let Some(end) = bytes.checked_sub(TRAILER as u64) else {
            return Err(damaged("it is too short"));
        };
        let mut trailer = [0; TRAILER];
        read_exact_at(&file, &mut trailer, end)?;
        let number = |at: usize| hash::word(&trailer[8 * at..]);
        if checksum(&trailer[..8 * NUMBERS], end) != number(NUMBERS) || !trailer.ends_with(MAGIC) {
            return Err(damaged("it does not end like a file of states"));
        }
        let [blocks, states, key_size, least, most, index, index_check, total] =
            std::array::from_fn(number);
        if key_size != key as u64 || total != bytes {
            return Err(damaged("its size is wrong"));
        }
        let index_bytes = (end - index.min(end)) as usize;
        if index_bytes as u64 != blocks * (key as u64 + 8) {
            return Err(damaged("its index has the wrong size"));
        }
        if !meter.take(index_bytes as u64) {
            return Err(StoreError::Memory);
        }
        let mut raw = vec![0; index_bytes];
        read_exact_at(&file, &mut raw, index)?;
        if checksum(&raw, index) != index_check {
            meter.give(index_bytes as u64);
            return Err(damaged("the checksum of its index does not match"));
        }
        let keys = raw[..blocks as usize * key].to_vec();
        let mut offsets: Vec<u64> = raw[keys.len()..].chunks_exact(8).map(hash::word).collect();
        offsets.push(index);
        let shape = Shape { key, least: least as u32, most: most as u32 };
        Ok(RunFile {
            file,
            path: Some(path.to_owned()),
            kept: AtomicBool::new(true),
            synced: AtomicBool::new(true),
            shape,
            keys,
            offsets,
            states,
            bytes,
            digest: index_check,
            meter: Arc::clone(meter),
        })
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// How many states it has.
    pub(super) fn states(&self) -> u64 {
        self.states
    }

    /// Bytes of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A number that identifies it among runs.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// The name of the file, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.path.as_deref()?.file_name()?.to_str()
    }

    /// Has the file stay when this is dropped.
    pub(super) fn keep(&self) {
        self.kept.store(true, Relaxed);
    }

    /// Makes sure that the contents survive a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        if !self.synced.swap(true, Relaxed) {
            self.file.sync_all().inspect_err(|_| self.synced.store(false, Relaxed))?;
        }
        Ok(())
    }

    /// How many blocks there are.
    pub(super) fn blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The first key of a block.
    #[inline(always)]
    pub(super) fn first_key(&self, block: usize) -> &[u8] {
        &self.keys[block * self.shape.key..(block + 1) * self.shape.key]
    }

    /// The first of the blocks from `from` on whose first key is greater than this.
    pub(super) fn first_beyond(&self, from: usize, key: &[u8]) -> usize {
        let (mut low, mut high) = (from, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.first_key(middle) > key {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    /// Reads a block, without its checksum.
    pub(super) fn read(&self, block: usize, payload: &mut Vec<u8>) -> Result<(), StoreError> {
        let (offset, end) = (self.offsets[block], self.offsets[block + 1]);
        payload.resize((end - offset) as usize, 0);
        read_exact_at(&self.file, payload, offset)?;
        let Some(length) = payload.len().checked_sub(8) else {
            return Err(self.damaged("a block is too short"));
        };
        if checksum(&payload[..length], offset) != hash::word(&payload[length..]) {
            return Err(self.damaged("a checksum does not match"));
        }
        payload.truncate(length);
        Ok(())
    }

    /// How many records a block has.
    pub(super) fn records(&self, block: usize) -> Result<u64, StoreError> {
        let (mut payload, mut at, mut records) = (Vec::new(), 0, 0);
        self.read(block, &mut payload)?;
        while at < payload.len() {
            let skipped = get(&payload, &mut at).and_then(|shared| {
                at += self.shape.key.checked_sub(shared as usize)? + 1;
                match self.shape.least == self.shape.most {
                    true => Some(0),
                    false => get(&payload, &mut at),
                }
            });
            skipped.ok_or_else(|| self.damaged("a record is cut off"))?;
            records += 1;
        }
        Ok(records)
    }

    pub(super) fn damaged(&self, what: &str) -> StoreError {
        damaged(self.path.as_deref().unwrap_or(Path::new("a temporary file")), what)
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        self.meter.give(self.keys.len() as u64 + 8 * self.blocks() as u64);
        if let Some(path) = self.path.as_ref().filter(|_| !self.kept.load(Relaxed)) {
            // Nothing can be done about a file that does not go.
            let _ = fs::remove_file(path);
        }
    }
}

fn damaged(path: &Path, what: &str) -> StoreError {
    let message = format!("{} is damaged: {what}", path.display());
    StoreError::Disk(io::Error::new(io::ErrorKind::InvalidData, message))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// A run that is being written.
pub(super) struct RunWriter {
    file: File,
    path: Option<PathBuf>,
    /// For messages.
    directory: PathBuf,
    shape: Shape,
    block_size: usize,
    block: Vec<u8>,
    /// The key of the record before.
    last: Vec<u8>,
    keys: Vec<u8>,
    offsets: Vec<u64>,
    offset: u64,
    states: u64,
    meter: Arc<Meter>,
    metered: u64,
    finished: bool,
}

impl RunWriter {
    /// Begins a temporary file in a directory.
    pub(super) fn temporary(
        directory: &Path,
        shape: Shape,
        block_size: usize,
        meter: &Arc<Meter>,
    ) -> io::Result<Self> {
        let (file, path) = create_temporary(directory)?;
        Ok(RunWriter::new((file, path), directory, shape, block_size, meter))
    }

    /// Begins a file of this name.
    pub(super) fn kept(
        path: &Path,
        shape: Shape,
        block_size: usize,
        meter: &Arc<Meter>,
    ) -> io::Result<Self> {
        let file = create_new(path)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        Ok(RunWriter::new((file, Some(path.to_owned())), directory, shape, block_size, meter))
    }

    fn new(
        (file, path): (File, Option<PathBuf>),
        directory: &Path,
        shape: Shape,
        block_size: usize,
        meter: &Arc<Meter>,
    ) -> Self {
        RunWriter {
            file,
            path,
            directory: directory.to_owned(),
            shape,
            block_size,
            block: Vec::with_capacity(block_size + 2 * shape.key + 16),
            last: vec![0; shape.key],
            keys: Vec::new(),
            offsets: Vec::new(),
            offset: 0,
            states: 0,
            meter: Arc::clone(meter),
            metered: 0,
            finished: false,
        }
    }

    /// Adds a record, whose key is greater than those before.
    #[inline]
    pub(super) fn push(&mut self, key: &[u8], hint: u8, level: u32) -> Result<(), StoreError> {
        let shared = match self.block.is_empty() {
            true => {
                self.begin_block(key)?;
                0
            }
            false => common(&self.last, key),
        };
        put(&mut self.block, shared as u64);
        self.block.extend_from_slice(&key[shared..]);
        self.block.push(hint);
        if self.shape.least != self.shape.most {
            put(&mut self.block, u64::from(level - self.shape.least));
        }
        self.last[shared..].copy_from_slice(&key[shared..]);
        self.states += 1;
        match self.block.len() < self.block_size {
            true => Ok(()),
            false => self.end_block(),
        }
    }

    fn begin_block(&mut self, key: &[u8]) -> Result<(), StoreError> {
        let bytes = key.len() as u64 + 8;
        if !self.meter.take(bytes) {
            return Err(StoreError::Memory);
        }
        self.metered += bytes;
        self.keys.extend_from_slice(key);
        self.offsets.push(self.offset);
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), StoreError> {
        if !self.block.is_empty() {
            let check = checksum(&self.block, self.offset);
            self.block.extend_from_slice(&check.to_le_bytes());
            self.file.write_all(&self.block).map_err(|error| named(&self.directory, error))?;
            self.offset += self.block.len() as u64;
            self.block.clear();
        }
        Ok(())
    }

    /// How many records there are.
    pub(super) fn states(&self) -> u64 {
        self.states
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<RunFile, StoreError> {
        self.end_block()?;
        let index = self.offset;
        let mut tail = self.keys.clone();
        for offset in &self.offsets {
            tail.extend_from_slice(&offset.to_le_bytes());
        }
        let (digest, end) = (checksum(&tail, index), index + tail.len() as u64);
        let (start, bytes) = (tail.len(), end + TRAILER as u64);
        let Shape { key, least, most } = self.shape;
        let blocks = self.offsets.len() as u64;
        let numbers: [u64; NUMBERS] =
            [blocks, self.states, key as u64, least.into(), most.into(), index, digest, bytes];
        for number in numbers {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        let check = checksum(&tail[start..], end);
        tail.extend_from_slice(&check.to_le_bytes());
        tail.extend_from_slice(MAGIC);
        self.file.write_all(&tail).map_err(|error| named(&self.directory, error))?;
        self.offsets.push(index);
        self.finished = true;
        Ok(RunFile {
            file: self.file.try_clone()?,
            path: self.path.take(),
            kept: AtomicBool::new(false),
            synced: AtomicBool::new(false),
            shape: self.shape,
            keys: std::mem::take(&mut self.keys),
            offsets: std::mem::take(&mut self.offsets),
            states: self.states,
            bytes,
            digest,
            meter: Arc::clone(&self.meter),
        })
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.finished {
            self.meter.give(self.metered);
        }
        if let Some(path) = &self.path {
            // Only if it was not finished; nothing can be done about a file that does not go.
            let _ = fs::remove_file(path);
        }
    }
}

/// How many bytes two keys have in common at their beginning.
#[inline(always)]
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Appends a number, seven bits a byte.
#[inline(always)]
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that [`put`] has written; `None` if the bytes end before it.
#[inline(always)]
pub(super) fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
}
