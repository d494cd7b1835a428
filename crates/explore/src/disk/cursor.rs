//! Reading a run: record after record, or only where certain keys may be.
//!
//! Looking for keys in ascending order reads a block only if a key may be in it. Within a block, how
//! many bytes a record shares with the one before says most of the time how it compares with the key
//! that is looked for: if it shares more than the record before has in common with that key, it is
//! less as well; if it shares less, it is greater.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::run_file::{RunFile, common, get};
use crate::store::StoreError;

/// A part of a run: the states of some shards.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) file: Arc<RunFile>,
    pub(super) shards: Range<usize>,
}

impl Section {
    /// All of a run that belongs to these shards.
    pub(super) fn new(file: RunFile, shards: Range<usize>) -> Self {
        Section { file: Arc::new(file), shards }
    }

    /// Whether it may have states of a level.
    pub(super) fn has_level(&self, level: u32) -> bool {
        let shape = self.file.shape();
        (shape.least..=shape.most).contains(&level)
    }

    /// The blocks that have its states.
    pub(super) fn blocks(&self) -> Range<usize> {
        let first = |shard: usize| match u8::try_from(shard) {
            Ok(shard) => self.file.first_beyond(0, &[shard]),
            Err(_) => self.file.blocks(),
        };
        first(self.shards.start).saturating_sub(1)..first(self.shards.end)
    }

    /// What part of the file it is, about.
    pub(super) fn bytes(&self) -> u64 {
        match self.file.blocks() as u64 {
            0 => self.file.bytes(),
            all => {
                let part = self.blocks().len() as u64;
                (u128::from(self.file.bytes()) * u128::from(part) / u128::from(all)) as u64
            }
        }
    }
}

/// A place in a section.
#[derive(Debug)]
pub(super) struct Cursor {
    section: Section,
    /// The first block, the next one to be read, and where the last one ends.
    first: usize,
    next: usize,
    end: usize,
    payload: Vec<u8>,
    at: usize,
    /// Records of the block that were read.
    passed: u64,
    /// The record.
    key: Vec<u8>,
    hint: u8,
    level: u32,
    /// Whether there is one.
    any: bool,
}

impl Cursor {
    /// Before the first record.
    pub(super) fn new(section: &Section) -> Self {
        let blocks = section.blocks();
        Cursor {
            section: section.clone(),
            first: blocks.start,
            next: blocks.start,
            end: blocks.end,
            payload: Vec::new(),
            at: 0,
            passed: 0,
            key: vec![0; section.file.shape().key],
            hint: 0,
            level: 0,
            any: false,
        }
    }

    /// The key of the record: its shard and the packed state.
    #[inline(always)]
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    #[inline(always)]
    pub(super) fn hint(&self) -> u8 {
        self.hint
    }

    #[inline(always)]
    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Where the record is: its block, counted from the first of the section, and how many of that
    /// block come before it.
    #[inline(always)]
    pub(super) fn place(&self) -> (usize, u64) {
        (self.next - 1 - self.first, self.passed - 1)
    }

    /// Goes to the next record. Says whether there is one.
    pub(super) fn advance(&mut self) -> Result<bool, StoreError> {
        loop {
            if self.at == self.payload.len() {
                if self.next >= self.end {
                    self.any = false;
                    return Ok(false);
                }
                self.load(self.next)?;
            }
            self.decode()?;
            match usize::from(self.key[0]) {
                shard if shard < self.section.shards.start => {}
                shard if shard >= self.section.shards.end => {
                    (self.next, self.at, self.any) = (self.end, self.payload.len(), false);
                    return Ok(false);
                }
                _ => {
                    self.any = true;
                    return Ok(true);
                }
            }
        }
    }

    /// Goes to the first record that is not less than `target`, unless it is in a block that cannot
    /// have the target. Says whether the target is there. Targets are ascending.
    pub(super) fn seek(&mut self, target: &[u8]) -> Result<bool, StoreError> {
        loop {
            if self.any {
                match self.key[..].cmp(target) {
                    Ordering::Equal => return Ok(true),
                    Ordering::Greater => return Ok(false),
                    Ordering::Less => {}
                }
                if self.seek_in_block(target)? {
                    continue;
                }
            }
            // The last block that may have it.
            let beyond = self.section.file.first_beyond(self.next, target).min(self.end);
            if beyond == self.next {
                self.any = false;
                return Ok(false);
            }
            self.load(beyond - 1)?;
            self.decode()?;
            self.any = true;
        }
    }

    /// Goes to the first record of the block that is not less than `target`, from one that is less.
    /// Says whether there is one.
    fn seek_in_block(&mut self, target: &[u8]) -> Result<bool, StoreError> {
        let mut alike = common(&self.key, target);
        while self.at < self.payload.len() {
            let shared = self.decode()?;
            match shared.cmp(&alike) {
                Ordering::Greater => {}
                Ordering::Less => return Ok(true),
                Ordering::Equal => {
                    alike += common(&self.key[alike..], &target[alike..]);
                    if alike == target.len() || self.key[alike] > target[alike] {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn load(&mut self, block: usize) -> Result<(), StoreError> {
        self.section.file.read(block, &mut self.payload)?;
        (self.at, self.next, self.passed) = (0, block + 1, 0);
        Ok(())
    }

    /// Reads the next record of the block, and says how much of its key is that of the one before.
    #[inline(always)]
    fn decode(&mut self) -> Result<usize, StoreError> {
        let shape = self.section.file.shape();
        let mut at = self.at;
        let decoded = (|| {
            let shared = get(&self.payload, &mut at)? as usize;
            let length = shape.key.checked_sub(shared)?;
            let own = self.payload.get(at..at + length)?;
            self.key[shared..].copy_from_slice(own);
            at += length;
            self.hint = *self.payload.get(at)?;
            at += 1;
            self.level = shape.least;
            if shape.least != shape.most {
                self.level += get(&self.payload, &mut at)? as u32;
            }
            Some(shared)
        })();
        self.at = at;
        self.passed += 1;
        decoded.ok_or_else(|| self.section.file.damaged("a record is cut off"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::run_file::{RunWriter, Shape};
    use super::*;
    use crate::memory::Meter;

    /// A run with these keys, in blocks of about a hundred bytes.
    fn run(records: &BTreeMap<Vec<u8>, (u8, u32)>, key: usize) -> RunFile {
        let meter = Arc::new(Meter::new(None));
        let shape = Shape { key, least: 3, most: 1000 };
        let mut writer = RunWriter::temporary(&std::env::temp_dir(), shape, 100, &meter).unwrap();
        for (key, &(hint, level)) in records {
            writer.push(key, hint, level).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Keys of a few values, so that neighbours share much and little.
    fn keys(seed: u64, count: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut random = chance::Rng::new(seed);
        (0..count).map(move |_| {
            let length = 6;
            (0..length).map(|_| (random.below(4) * random.below(3)) as u8).collect()
        })
    }

    #[test]
    fn records_come_back_and_exactly_those_are_found() {
        for seed in 0..200 {
            let records: BTreeMap<Vec<u8>, (u8, u32)> = keys(seed, 5 * seed as usize)
                .enumerate()
                .map(|(at, key)| (key, (at as u8, 3 + at as u32 % 998)))
                .collect();
            let file = run(&records, 6);
            for shards in [0..64, 0..2, 1..3, 5..9] {
                let section = Section { file: Arc::new(run(&records, 6)), shards: shards.clone() };
                let mut cursor = Cursor::new(&section);
                let own = |key: &&Vec<u8>| shards.contains(&usize::from(key[0]));
                for key in records.keys().filter(own) {
                    assert!(cursor.advance().unwrap());
                    assert_eq!(cursor.key(), key);
                    assert_eq!((cursor.hint(), cursor.level()), records[key]);
                }
                assert!(!cursor.advance().unwrap());
            }
            let section = Section::new(file, 0..64);
            let mut targets: Vec<Vec<u8>> = keys(seed + 1000, 300).collect();
            targets.extend(records.keys().step_by(1 + seed as usize % 7).cloned());
            targets.sort();
            targets.dedup();
            let mut cursor = Cursor::new(&section);
            for target in &targets {
                assert_eq!(cursor.seek(target).unwrap(), records.contains_key(target));
            }
        }
    }
}
