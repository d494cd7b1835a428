//! The folder of a campaign: what is found survives the process, however that ends.
//!
//! ```text
//! hunt.json                     what was asked for, and how far it is; replaced every few seconds
//! summary.txt  summary.json     what came of it, written at the end
//! index.html                    the same as a page, replaced every few seconds
//! findings/001-SB/              a finding: program.txt, program.json, run.trace, minimal.trace,
//!                               certificate.jsonl, why.txt, why.svg, finding.json
//! ```
//!
//! A finding is written to a directory beside and renamed when it is whole, and only then reported.
//! So whatever was reported is there, and whatever is there is whole. A lock that the system
//! releases when the process ends keeps two campaigns from writing to one folder.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::campaign_log::State;
use crate::finding::{Finding, Kind};

/// The version of `hunt.json`.
const VERSION: u64 = 1;

/// A folder that this process alone writes to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    options: Map<String, Value>,
    _lock: File,
}

/// A finding as it is kept, `finding.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedFinding {
    /// Its number in the folder, from 1.
    pub finding: usize,
    /// `violation` or `misbehaved`.
    pub kind: String,
    /// `SB`.
    pub name: String,
    /// `Wa1 Rb0 | Wb1 Ra0`.
    pub shape: String,
    /// The model that does not allow it.
    pub model: String,
    /// The target.
    pub target: String,
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the test.
    pub test: u64,
    /// The name of the program.
    pub program: String,
    /// Events of the minimal trace.
    pub events: usize,
    /// Events of the run.
    pub of: usize,
    /// Whether the kernel has checked the certificate.
    pub certified: bool,
    /// Where it is, relative to the folder: `findings/001-SB`.
    pub path: String,
}

/// The content of `hunt.json`.
#[derive(Serialize, Deserialize)]
struct Saved {
    tribunal_hunt: u64,
    options: Map<String, Value>,
    #[serde(flatten)]
    state: State,
}

/// Why a folder cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// A file or directory that cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// Another process is hunting there.
    Busy(PathBuf),
    /// `hunt.json` is not one.
    Malformed(PathBuf, String),
    /// There are other things in it, and no `hunt.json`.
    Foreign(PathBuf),
    /// It belongs to a campaign with other options: name, before, now.
    Different(PathBuf, Vec<(String, String, String)>),
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::File { path, error } => {
                write!(f, "cannot write {}: {error}", path.display())
            }
            FolderError::Busy(path) => write!(
                f,
                "another hunt is writing to {}; wait for it, or choose another folder with --out",
                path.display()
            ),
            FolderError::Malformed(path, why) => write!(
                f,
                "{} is not a hunt's folder ({why}); choose another folder with --out",
                path.display()
            ),
            FolderError::Foreign(path) => write!(
                f,
                "{} contains files that no hunt wrote; choose another folder with --out",
                path.display()
            ),
            FolderError::Different(path, differences) => {
                write!(f, "{} belongs to a hunt with other options:", path.display())?;
                for (at, (name, before, now)) in differences.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma} {name} was {before} and is now {now}")?;
                }
                write!(
                    f,
                    "; repeat its options to continue it, choose another folder with --out, or \
                     remove it"
                )
            }
        }
    }
}

impl std::error::Error for FolderError {}

impl Folder {
    /// Opens or creates a folder. Returns the saved state of a campaign with the same options, or
    /// `None` if the folder is new.
    pub fn open(
        path: &Path,
        options: Map<String, Value>,
    ) -> Result<(Folder, Option<State>, Vec<SavedFinding>), FolderError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| FolderError::File { path, error }
        };
        let findings = path.join("findings");
        let json = path.join("hunt.json");
        let is_new = !json.exists();
        if is_new && has_entries(path) {
            return Err(FolderError::Foreign(path.to_owned()));
        }
        fs::create_dir_all(&findings).map_err(at(&findings))?;
        let lock = lock(path)?;
        let folder = Folder { path: path.to_owned(), options, _lock: lock };
        if is_new {
            return Ok((folder, None, Vec::new()));
        }
        let text = fs::read_to_string(&json).map_err(at(&json))?;
        let saved: Saved = serde_json::from_str(&text)
            .map_err(|error| FolderError::Malformed(json.clone(), error.to_string()))?;
        if saved.tribunal_hunt != VERSION {
            let why = format!("version {}", saved.tribunal_hunt);
            return Err(FolderError::Malformed(json, why));
        }
        folder.same(&saved.options)?;
        let kept = folder.findings()?;
        Ok((folder, Some(saved.state), kept))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The options of the campaign.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    fn same(&self, before: &Map<String, Value>) -> Result<(), FolderError> {
        let names =
            before.keys().chain(self.options.keys().filter(|key| !before.contains_key(*key)));
        let shown = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "not given".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let differences: Vec<(String, String, String)> = names
            .map(|name| (name, shown(before.get(name)), shown(self.options.get(name))))
            .filter(|(_, before, now)| before != now)
            .map(|(name, before, now)| (name.clone(), before, now))
            .collect();
        match differences.is_empty() {
            true => Ok(()),
            false => Err(FolderError::Different(self.path.clone(), differences)),
        }
    }

    /// The findings in the folder, in order; incomplete ones of a killed process are removed.
    fn findings(&self) -> Result<Vec<SavedFinding>, FolderError> {
        let directory = self.path.join("findings");
        let mut kept = Vec::new();
        let fail = |error| FolderError::File { path: directory.clone(), error };
        for entry in fs::read_dir(&directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                let _ = fs::remove_dir_all(entry.path());
                continue;
            }
            let file = entry.path().join("finding.json");
            let text = match fs::read_to_string(&file) {
                Ok(text) => text,
                // A user may keep notes of their own there.
                Err(_) => continue,
            };
            let finding: SavedFinding = serde_json::from_str(&text)
                .map_err(|error| FolderError::Malformed(file, error.to_string()))?;
            kept.push(finding);
        }
        kept.sort_by_key(|kept| kept.finding);
        Ok(kept)
    }

    /// Keeps a finding. It is there when this returns.
    pub(crate) fn keep(&self, kept: &SavedFinding, finding: &Finding) -> Result<(), FolderError> {
        let whole = self.path.join(&kept.path);
        let parts = self.path.join("findings").join(format!(".{}", kept.finding));
        let fail = |path: &Path, error| FolderError::File { path: path.to_owned(), error };
        let write = |name: &str, text: &str| {
            let file = parts.join(name);
            fs::write(&file, text).map_err(|error| fail(&file, error))
        };
        fs::create_dir_all(&parts).map_err(|error| fail(&parts, error))?;
        for (name, text) in &finding.files {
            write(name, text)?;
        }
        let json = serde_json::to_string_pretty(kept).unwrap_or_default();
        write("finding.json", &(json + "\n"))?;
        fs::rename(&parts, &whole).map_err(|error| fail(&whole, error))
    }

    /// Replaces `hunt.json`.
    pub(crate) fn save(&self, state: &State) -> Result<(), FolderError> {
        let saved =
            Saved { tribunal_hunt: VERSION, options: self.options.clone(), state: state.clone() };
        let json = serde_json::to_string_pretty(&saved).unwrap_or_default();
        self.replace("hunt.json", &(json + "\n"))
    }

    /// Writes a file that is there as a whole or not at all.
    pub fn replace(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let (file, beside) = (self.path.join(name), self.path.join(format!(".{name}.tmp")));
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &file));
        written.map_err(|error| FolderError::File { path: file, error })
    }
}

impl SavedFinding {
    /// The description of a finding with this number.
    pub(crate) fn new(
        number: usize,
        finding: &Finding,
        model: &str,
        target: &str,
        seed: u64,
    ) -> Self {
        let letter = |c: char| if c.is_ascii_alphanumeric() || "+-.".contains(c) { c } else { '_' };
        let name: String = finding.name.chars().map(letter).take(60).collect();
        SavedFinding {
            finding: number,
            kind: match finding.kind {
                Kind::Violation => "violation".to_owned(),
                Kind::Misbehaved => "misbehaved".to_owned(),
            },
            name: finding.name.clone(),
            shape: finding.shape.clone(),
            model: model.to_owned(),
            target: target.to_owned(),
            seed,
            test: finding.test,
            program: finding.program.clone(),
            events: finding.events,
            of: finding.of,
            certified: finding.certified,
            path: format!("findings/{number:03}-{name}"),
        }
    }
}

/// Whether a directory contains more than the files of a hunt that was killed at the start.
fn has_entries(path: &Path) -> bool {
    let ours = ["hunt.lock", "findings", ".hunt.json.tmp"];
    fs::read_dir(path).is_ok_and(|entries| {
        entries.flatten().any(|entry| !ours.iter().any(|name| entry.file_name() == *name))
    })
}

fn lock(path: &Path) -> Result<File, FolderError> {
    let file = path.join("hunt.lock");
    let fail = |error| FolderError::File { path: file.clone(), error };
    let lock = File::create(&file).map_err(fail)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(fail(error)),
    }
}
