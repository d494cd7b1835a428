//! A campaign with its folder: what makes it the same campaign when it is asked for again, when it
//! is over, and what is reported while it goes on.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evidence::Verdict;
use judge::AnyModel;
use serde::Serialize;
use serde_json::{Map, Value, json};
use stress::{Bug, TargetError, TargetName};

use crate::campaign::{Campaign, CampaignEvent, PendingTests, TargetSupply};
use crate::campaign_log::CampaignLog;
use crate::folder::{Folder, FolderError, SavedFinding};
use crate::plan::{Abilities, Plan, PlanError, TestOptions};
use crate::summary::Summary;

/// So many tests that the target cannot run, and no other, are enough.
const PATIENCE: u64 = 100;

/// The identity of a hunt: everything that determines the tests, the target and the model. The
/// conditions for its end are not part of it.
#[derive(Clone, Debug)]
pub struct HuntOptions {
    /// The target.
    pub target: TargetName,
    /// The model that it is to keep to.
    pub model: AnyModel,
    /// The options of the tests.
    pub wishes: TestOptions,
    /// A fault of a reference machine, with its rate.
    pub bug: Option<(Bug, f64)>,
    /// The options with which a protocol was prepared.
    pub protocol: Vec<(&'static str, Value)>,
}

impl HuntOptions {
    /// `hunt-results/host-tso`.
    pub fn default_folder(&self) -> PathBuf {
        let bug = self.bug.map_or(String::new(), |(bug, _)| format!("-{bug}"));
        let name = format!("{}{bug}-{}", self.target, self.model);
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = name.chars().map(letter).take(80).collect();
        PathBuf::from("hunt-results").join(name)
    }

    /// As it is kept in the folder.
    fn options(&self) -> Map<String, Value> {
        let TestOptions { seed, threads, instructions, places, mix, litmus, runs } = self.wishes;
        let options = [
            ("--on", json!(self.target.to_string())),
            ("--model", json!(self.model.name())),
            ("--seed", json!(seed)),
            ("--bug", json!(self.bug.map(|(bug, _)| bug.to_string()))),
            ("--rate", json!(self.bug.map(|(_, rate)| rate))),
            ("--threads", json!(threads)),
            ("--instructions", json!(instructions)),
            ("--places", json!(places)),
            ("--mix", json!(mix.map(|mix| mix.to_string()))),
            ("--litmus", json!(litmus)),
            ("--runs", json!(runs)),
        ];
        let options = options.into_iter().chain(self.protocol.iter().cloned());
        options.map(|(flag, value)| (flag.to_owned(), value)).collect()
    }
}

/// When a hunt stops.
#[derive(Clone, Copy, Debug)]
pub struct StopConditions {
    /// The total number of tests, including those of earlier runs of the same hunt.
    pub tests: Option<u64>,
    /// After this time.
    pub time: Option<Duration>,
    /// At the first new finding.
    pub first: bool,
}

/// Why a hunt cannot continue.
#[derive(Debug)]
pub enum HuntError {
    /// There are no such tests.
    Plan(PlanError),
    /// The folder cannot be used.
    Folder(FolderError),
    /// The target cannot be used.
    Target(TargetError),
    /// The target of this name cannot run any of the tests, and why.
    Hopeless(String, String),
}

impl fmt::Display for HuntError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HuntError::Plan(error) => error.fmt(f),
            HuntError::Folder(error) => error.fmt(f),
            HuntError::Target(error) => error.fmt(f),
            HuntError::Hopeless(name, why) => write!(f, "{name} cannot run these tests: {why}"),
        }
    }
}

impl std::error::Error for HuntError {}

impl From<FolderError> for HuntError {
    fn from(error: FolderError) -> Self {
        HuntError::Folder(error)
    }
}

/// A hunt under way.
pub struct Session {
    campaign: Campaign,
    log: CampaignLog,
    until: StopConditions,
    started: Instant,
    /// When the page was last written.
    drawn: Instant,
}

/// The time between two versions of the page of a running hunt, unless there is a finding.
const REDRAWING: Duration = Duration::from_secs(5);

impl Session {
    /// Starts a hunt, or continues the one in the folder.
    pub fn open(
        hunted: &HuntOptions,
        abilities: Abilities,
        folder: &Path,
        until: StopConditions,
        jobs: usize,
    ) -> Result<Self, HuntError> {
        let plan = Plan::new(hunted.wishes, abilities).map_err(HuntError::Plan)?;
        let target = hunted.target.to_string();
        let folder = Folder::open(folder, hunted.options())?;
        let log = CampaignLog::new(folder, &hunted.model, &target, hunted.wishes.seed)?;
        let first = log.state().next;
        let campaign =
            Campaign { model: hunted.model.clone(), target, plan, first, until: until.tests, jobs };
        let started = Instant::now();
        let session = Session { campaign, log, until, started, drawn: started };
        session.draw(true)?;
        Ok(session)
    }

    /// A remark if this continues an earlier hunt.
    pub fn resumed(&self) -> Option<String> {
        let next = self.log.state().next;
        let (folder, kept) = (self.log.folder().path().display(), self.log.kept().len());
        let sentence = || format!("resuming {folder} at test {next} (findings so far: {kept})");
        (next > 0).then(sentence)
    }

    /// Hunts until the end condition, until `stop` is set, or until `receive` breaks. `receive` is
    /// called with each new finding, and from time to time without one.
    pub fn hunt(
        &mut self,
        supply: &TargetSupply,
        stop: &AtomicBool,
        receive: &mut dyn FnMut(&Session, &[SavedFinding]) -> ControlFlow<()>,
    ) -> Result<(), HuntError> {
        let known = self.log.known();
        let campaign = self.campaign.clone();
        let mut failure = None;
        let ended = campaign.run(supply, &known, &mut |beat| {
            let entered = match beat {
                CampaignEvent::TestOutcome(settled) => self.log.enter(*settled, &known),
                CampaignEvent::Pulse => self.log.tick().map(|()| Vec::new()),
            };
            let new = match entered {
                Ok(new) => new,
                Err(error) => {
                    failure.get_or_insert(HuntError::Folder(error));
                    return ControlFlow::Break(PendingTests::Drop);
                }
            };
            if !new.is_empty() || self.drawn.elapsed() >= REDRAWING {
                self.drawn = Instant::now();
                if let Err(error) = self.draw(true) {
                    failure.get_or_insert(error);
                    return ControlFlow::Break(PendingTests::Drop);
                }
            }
            let received = receive(self, &new);
            if let Some(hopeless) = self.hopeless() {
                failure.get_or_insert(hopeless);
                return ControlFlow::Break(PendingTests::Drop);
            }
            match () {
                () if received.is_break() => ControlFlow::Break(PendingTests::Drop),
                () if self.until.first && !new.is_empty() => ControlFlow::Break(PendingTests::Drop),
                () if self.is_over(stop) => ControlFlow::Break(PendingTests::Keep),
                () => ControlFlow::Continue(()),
            }
        });
        ended.map_err(HuntError::Target)?;
        self.log.save()?;
        failure.map_or(Ok(()), Err)
    }

    fn is_over(&self, stop: &AtomicBool) -> bool {
        stop.load(Ordering::SeqCst)
            || self.until.time.is_some_and(|time| self.started.elapsed() >= time)
    }

    /// The reason to end the hunt: the target has refused too many tests, and run none.
    fn hopeless(&self) -> Option<HuntError> {
        let state = self.log.state();
        let hopeless = state.totals.tests == 0 && state.totals.unsuitable >= PATIENCE;
        let why = state.unsuitable.as_ref().filter(|_| hopeless)?;
        Some(HuntError::Hopeless(self.campaign.target.clone(), why.clone()))
    }

    /// The progress in a line.
    pub fn progress(&self) -> String {
        let state = self.log.state();
        let totals = &state.totals;
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = totals.operations as f64 / (seconds + self.log.seconds().1);
        format!(
            "tests: {}, operations: {} ({rate:.0}/s), distinct outcomes: {}, violations: {} of {} \
             shapes",
            totals.tests,
            totals.operations,
            totals.outcomes,
            totals.violations,
            state.shapes.len(),
        )
    }

    /// Everything that the folder has found.
    pub fn findings(&self) -> &[SavedFinding] {
        self.log.kept()
    }

    /// Why a finding is one, as its file in the folder says; nothing if the file is gone.
    pub fn explanation(&self, kept: &SavedFinding) -> String {
        let folder = self.log.folder().path().join(&kept.path);
        let read = |name| std::fs::read_to_string(folder.join(name));
        read("why.txt").or_else(|_| read("what.txt")).unwrap_or_default()
    }

    /// Since it was begun or gone on with.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A finding in a line.
    pub fn line(&self, kept: &SavedFinding) -> String {
        self.summary().line(kept)
    }

    /// A line about a finding.
    pub fn found(&self, kept: &SavedFinding) -> String {
        format!("found {}", self.line(kept))
    }

    /// A finding as a JSON object.
    pub fn found_json(&self, kept: &SavedFinding) -> String {
        let folder = self.log.folder().path().join(&kept.path);
        // Through a value, so that fields are in the order of their names.
        let event = Found { event: "finding", folder, kept };
        serde_json::to_value(event).unwrap_or_default().to_string()
    }

    fn summary(&self) -> Summary<'_> {
        let Campaign { plan, target, model, .. } = &self.campaign;
        Summary::new(&self.log, plan, target, model.name())
    }

    /// Writes the page of the folder.
    fn draw(&self, running: bool) -> Result<(), HuntError> {
        let (summary, folder) = (self.summary(), self.log.folder());
        let page =
            crate::page::page(&summary, folder, self.log.kept(), running, &self.log.state().pace);
        Ok(folder.replace("index.html", &page)?)
    }

    /// Writes the summary into the folder, and returns it for people or as JSON, whole lines.
    pub fn finish(&self, as_json: bool) -> Result<String, HuntError> {
        let (summary, folder) = (self.summary(), self.log.folder());
        folder.replace("summary.txt", &summary.full())?;
        folder.replace("summary.json", &(summary.json() + "\n"))?;
        self.draw(false)?;
        Ok(match as_json {
            true => summary.json() + "\n",
            false => format!("{}  results are in {}\n", summary.brief(), folder.path().display()),
        })
    }

    /// Broken if the folder has a finding; undecided if outcomes could not be judged.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        match () {
            () if !self.log.kept().is_empty() => Verdict::Broken(()),
            () if self.log.state().totals.undecided > 0 => Verdict::Undecided(()),
            () => Verdict::Holds(()),
        }
    }
}

/// A finding as an event of a stream.
#[derive(Serialize)]
struct Found<'a> {
    event: &'static str,
    folder: PathBuf,
    #[serde(flatten)]
    kept: &'a SavedFinding,
}
