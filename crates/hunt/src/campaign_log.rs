//! What a campaign knows so far: counts, coverage, and each shape with how often it came.
//!
//! The campaign log is the one place where findings are distinguished. It writes new ones to the folder
//! before it says that they are new, and the counts every few seconds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use explore::Timeline;
use judge::AnyModel;
use serde::{Deserialize, Serialize};

use crate::campaign::{KnownShapes, TestOutcome, Totals};
use crate::coverage::Coverage;
use crate::finding::Finding;
use crate::folder::{Folder, FolderError, SavedFinding};

/// The time between two saves of the counts.
const PERIOD: Duration = Duration::from_secs(2);

/// The minimum time between two samples of the progress.
const PACE: Duration = Duration::from_millis(100);

/// The most findings that are kept with their files; others are counted.
pub(crate) const MOST_FINDINGS: usize = 1000;

/// The progress of a campaign.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The number of the next test: all before it are settled.
    pub next: u64,
    /// The time of all runs of the campaign together.
    pub seconds: f64,
    /// Counts.
    pub totals: Totals,
    /// For each shape, the number of tests in which it was found.
    pub shapes: BTreeMap<String, u64>,
    /// Why the first test that the target could not run could not be run.
    pub unsuitable: Option<String>,
    /// The coverage.
    pub coverage: Coverage,
    /// How it went.
    #[serde(default)]
    pub pace: Timeline<ProgressSample>,
}

/// The progress of a campaign at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgressSample {
    /// Operations that were run.
    pub operations: u64,
    /// Distinct outcomes.
    pub outcomes: u64,
    /// Shapes of violations.
    pub shapes: u64,
}

/// The book of a campaign.
#[derive(Debug)]
pub struct CampaignLog {
    folder: Folder,
    model: String,
    target: String,
    seed: u64,
    state: State,
    kept: Vec<SavedFinding>,
    saved: Instant,
    started: Instant,
    seconds_before: f64,
}

impl CampaignLog {
    /// The log in a folder, with the earlier entries.
    pub fn new(
        (folder, state, kept): (Folder, Option<State>, Vec<SavedFinding>),
        model: &AnyModel,
        target: &str,
        seed: u64,
    ) -> Result<Self, FolderError> {
        let state = state.unwrap_or_default();
        // The folder gets its identity before anything else is written.
        folder.save(&state)?;
        let now = Instant::now();
        Ok(CampaignLog {
            folder,
            model: model.name().to_owned(),
            target: target.to_owned(),
            seed,
            kept,
            saved: now,
            started: now,
            seconds_before: state.seconds,
            state,
        })
    }

    /// The shapes that need not be drawn again.
    pub fn known(&self) -> KnownShapes {
        let known = KnownShapes::default();
        self.kept.iter().for_each(|kept| known.add(&kept.shape));
        known
    }

    /// The progress.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The findings of this and earlier runs.
    pub fn kept(&self) -> &[SavedFinding] {
        &self.kept
    }

    /// Where it is kept.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Enters the results of a test. Returns the new findings, which are then in the folder.
    pub fn enter(
        &mut self,
        settled: TestOutcome,
        known: &KnownShapes,
    ) -> Result<Vec<SavedFinding>, FolderError> {
        if settled.complete && settled.number == self.state.next {
            self.state.next += 1;
        }
        self.state.totals.add(&settled.totals);
        self.state.coverage.add(&settled.coverage);
        if self.state.unsuitable.is_none() {
            self.state.unsuitable = settled.unsuitable;
        }
        let mut new = Vec::new();
        for finding in settled.findings {
            *self.state.shapes.entry(finding.shape.clone()).or_default() += 1;
            if known.has(&finding.shape) || finding.files.is_empty() {
                continue;
            }
            known.add(&finding.shape);
            new.extend(self.keep(&finding)?);
        }
        self.note_pace();
        self.tick()?;
        Ok(new)
    }

    fn keep(&mut self, finding: &Finding) -> Result<Option<SavedFinding>, FolderError> {
        if self.kept.len() >= MOST_FINDINGS {
            return Ok(None);
        }
        let number = self.kept.last().map_or(1, |last| last.finding + 1);
        let kept = SavedFinding::new(number, finding, &self.model, &self.target, self.seed);
        self.folder.keep(&kept, finding)?;
        self.kept.push(kept.clone());
        Ok(Some(kept))
    }

    /// Saves the counts if they have not been saved for a while.
    pub fn tick(&mut self) -> Result<(), FolderError> {
        match self.saved.elapsed() >= PERIOD {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Saves the counts.
    pub fn save(&mut self) -> Result<(), FolderError> {
        self.saved = Instant::now();
        self.state.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        self.note_pace();
        self.folder.save(&self.state)
    }

    /// Adds a sample of the progress from time to time.
    fn note_pace(&mut self) {
        let seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        let last = self.state.pace.samples().last();
        if last.is_some_and(|(last, _)| seconds < last + PACE.as_secs_f64()) {
            return;
        }
        let Totals { operations, outcomes, .. } = self.state.totals;
        let pace = ProgressSample { operations, outcomes, shapes: self.state.shapes.len() as u64 };
        self.state.pace.push(seconds, pace);
    }

    /// Seconds of this run and of those before it.
    pub fn seconds(&self) -> (f64, f64) {
        (self.started.elapsed().as_secs_f64(), self.seconds_before)
    }
}
