//! A folder with the checkpoints of several searches that answer one question together, such as the
//! lemmas of a verification.
//!
//! Searches are numbered in the order in which they are made, which is the same every time. Each has a
//! folder of its own, which stays when the search is over: who goes on from it searches the last
//! levels again and comes to the same end. A file says what is asked; it is written first. Once the
//! question is answered, all of it is removed. A question whose searches are small has a journal instead
//! (`journal.rs`).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::checkpoint::{Identity, Unusable, differences, has_checkpoint, lock};
use crate::journal::Journal;
use crate::options::Checkpointing;

/// The file that says what is asked.
const QUESTION: &str = "question.json";
/// Its name while it is written.
const UNFINISHED: &str = "question.unfinished";

/// A folder of checkpoints.
#[derive(Debug)]
pub struct CheckpointFolder {
    directory: PathBuf,
    _lock: File,
}

impl CheckpointFolder {
    /// Begins in a directory, which is made if there is none.
    pub fn begin(directory: &Path, identity: &Identity) -> Result<Self, Unusable> {
        let shown = directory.display();
        if directory.join(QUESTION).exists() {
            return Err(Unusable::new(format!(
                "{shown} holds the checkpoint of a verification; continue it with --resume {shown}, \
                 or remove it"
            )));
        }
        let begun = || {
            fs::create_dir_all(directory)?;
            let lock = lock(directory)?;
            let unfinished = directory.join(UNFINISHED);
            let mut file = File::create(&unfinished)?;
            file.write_all(&serde_json::to_vec(identity)?)?;
            file.sync_all()?;
            fs::rename(&unfinished, directory.join(QUESTION))?;
            Ok(CheckpointFolder { directory: directory.to_owned(), _lock: lock })
        };
        let wrong = |error: std::io::Error| {
            Unusable::new(format!("cannot use {shown} for checkpoints: {error}"))
        };
        begun().map_err(wrong)
    }

    /// Goes on in a directory, if the same was asked there.
    pub fn resume(directory: &Path, identity: &Identity) -> Result<Self, Unusable> {
        let shown = directory.display();
        let wrong = |why: &dyn std::fmt::Display| {
            Unusable::new(format!("cannot resume from the checkpoint in {shown}: {why}"))
        };
        let Ok(bytes) = fs::read(directory.join(QUESTION)) else {
            return Err(Unusable::new(format!(
                "{shown} holds no checkpoint of a verification; start one with \
                 --checkpoint {shown}"
            )));
        };
        let then: Identity =
            serde_json::from_slice(&bytes).map_err(|_| wrong(&"question.json is damaged"))?;
        let differences = differences(&then, identity);
        if !differences.is_empty() {
            let why = format!("it belongs to another verification: {}", differences.join("; "));
            return Err(wrong(&why));
        }
        let lock = lock(directory).map_err(|error| wrong(&error))?;
        Ok(CheckpointFolder { directory: directory.to_owned(), _lock: lock })
    }

    /// Removes everything: the question is answered.
    pub fn finish(self) {
        // What cannot be removed stays, which does no harm; the question goes first.
        let _ = fs::remove_file(self.directory.join(QUESTION));
        Journal::remove(&self.directory);
        for number in 1.. {
            let search = of_search(&self.directory, number);
            if !search.exists() {
                break;
            }
            let _ = fs::remove_dir_all(search);
        }
    }
}

fn of_search(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("search-{number}"))
}

impl Checkpointing {
    /// The checkpoints of the search with this number, counted from 1, in a folder of several: what is
    /// asked there is said by `identity`. It goes on from its checkpoint if it may and there is one.
    pub fn of_search(&self, number: usize, identity: Identity) -> Checkpointing {
        let directory = of_search(&self.directory, number);
        let resume = self.resume && has_checkpoint(&directory);
        Checkpointing { directory, every: self.every, resume, identity, keep: true }
    }
}
