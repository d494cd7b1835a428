//! The pipeline: workers that make a test, run it, judge what came of it and shrink what is wrong.
//!
//! A worker takes the next test number, and everything that follows from it happens in that
//! worker. A target that uses all cores itself is shared: a worker has it while it runs a test, and
//! judges while another has it. What is settled goes to the receiver in the order of the tests, so
//! that what a campaign finds does not depend on the number of workers (as far as the target does
//! not); workers do not run ahead of it by more than [`WINDOW`] tests. Outcomes that were seen more
//! than once are judged once.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use evidence::Verdict;
use history::History;
use judge::{AnyModel, Budget, Engine};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use stress::{Outcome, RunResult, Runs, Target, TargetError};

use crate::coverage::{Coverage, shared_lines};
use crate::finding::{Finding, FindingContext};
use crate::plan::{Plan, Planned};

/// The number of tests that workers may be ahead of the receiver.
const WINDOW: u64 = 1024;

/// Different outcomes of a test that are judged, at most.
const MOST_OUTCOMES: usize = 4096;

/// The most time for judging one outcome.
const JUDGE_TIME: Duration = Duration::from_secs(5);

/// How often the receiver is called while no test is settled.
const PULSE: Duration = Duration::from_millis(100);

/// A campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The model that the target must satisfy.
    pub model: AnyModel,
    /// The name of the target.
    pub target: String,
    /// The tests.
    pub plan: Plan,
    /// The number of the first test.
    pub first: u64,
    /// The number after that of the last test; `None` if there is no end.
    pub until: Option<u64>,
    /// The number of workers.
    pub jobs: usize,
}

/// A target of a worker.
pub type BoxedTarget = Box<dyn Target + Send>;

/// Where workers get their targets from.
pub enum TargetSupply {
    /// One for each.
    Each(Box<dyn Fn() -> Result<BoxedTarget, TargetError> + Sync>),
    /// One for all, which uses all cores.
    Shared(Mutex<BoxedTarget>),
}

/// Shapes that need not be drawn again.
#[derive(Debug, Default)]
pub struct KnownShapes(RwLock<FxHashSet<String>>);

impl KnownShapes {
    /// Notes a shape.
    pub fn add(&self, shape: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(shape.to_owned());
    }

    /// Whether it was noted.
    pub fn has(&self, shape: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(shape)
    }
}

/// Counts of a campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Tests that were run.
    pub tests: u64,
    /// Tests that the target cannot run.
    pub unsuitable: u64,
    /// Runs of tests.
    pub runs: u64,
    /// Instructions that were run and judged.
    pub operations: u64,
    /// Distinct outcomes, test by test.
    pub outcomes: u64,
    /// Distinct outcomes that the model does not allow.
    pub violations: u64,
    /// Distinct outcomes that could not be judged in time.
    pub undecided: u64,
    /// Tests on which the target misbehaved.
    pub misbehaved: u64,
    /// Runs that did not come to an end; they were judged as far as they came.
    #[serde(default)]
    pub unfinished: u64,
}

impl Totals {
    /// Adds what another has counted.
    pub fn add(&mut self, other: &Totals) {
        self.tests += other.tests;
        self.unsuitable += other.unsuitable;
        self.runs += other.runs;
        self.operations += other.operations;
        self.outcomes += other.outcomes;
        self.violations += other.violations;
        self.undecided += other.undecided;
        self.misbehaved += other.misbehaved;
        self.unfinished += other.unfinished;
    }
}

/// What became of a test.
#[derive(Clone, Debug, Default)]
pub struct TestOutcome {
    /// Its number.
    pub number: u64,
    /// Whether the test was run completely. A test that was stopped is run again when the campaign
    /// continues.
    pub complete: bool,
    /// What to add to the counts.
    pub totals: Totals,
    /// The coverage of the test.
    pub coverage: Coverage,
    /// The findings: the first violation, and misbehaviour of the target.
    pub findings: Vec<Finding>,
    /// Why the target cannot run it, if it cannot.
    pub unsuitable: Option<String>,
}

/// A message to the receiver of a campaign.
#[derive(Debug)]
pub enum CampaignEvent {
    /// A test was settled.
    TestOutcome(Box<TestOutcome>),
    /// Time passes.
    Pulse,
}

/// What to do with tests that are under way when a campaign is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PendingTests {
    /// Keep the results of tests so far.
    Keep,
    /// Forget them.
    Drop,
}

type TestResult = Result<TestOutcome, TargetError>;

impl Campaign {
    /// Hunts until all tests are settled or the receiver breaks. An error if the target cannot be
    /// used.
    pub fn run(
        &self,
        supply: &TargetSupply,
        known: &KnownShapes,
        receive: &mut dyn FnMut(CampaignEvent) -> ControlFlow<PendingTests>,
    ) -> Result<(), TargetError> {
        let post = WorkerState {
            next: AtomicU64::new(self.first),
            received: AtomicU64::new(self.first),
            stop: Arc::new(AtomicBool::new(false)),
        };
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            for _ in 0..self.jobs.max(1) {
                let (sender, post) = (sender.clone(), &post);
                scope.spawn(move || self.work(supply, known, post, &sender));
            }
            drop(sender);
            let ended = self.receive(&receiver, &post, receive);
            post.stop.store(true, Ordering::SeqCst);
            ended
        })
    }

    /// Hands over settled tests in their order.
    fn receive(
        &self,
        receiver: &Receiver<TestResult>,
        post: &WorkerState,
        receive: &mut dyn FnMut(CampaignEvent) -> ControlFlow<PendingTests>,
    ) -> Result<(), TargetError> {
        let mut waiting: BTreeMap<u64, TestOutcome> = BTreeMap::new();
        let mut next = self.first;
        let mut leftovers = None;
        loop {
            let beat = match receiver.recv_timeout(PULSE) {
                Ok(news) => {
                    let settled = news?;
                    waiting.insert(settled.number, settled);
                    None
                }
                Err(RecvTimeoutError::Timeout) => Some(CampaignEvent::Pulse),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if leftovers.is_some() {
                continue;
            }
            let mut flow = beat.map_or(ControlFlow::Continue(()), &mut *receive);
            while flow.is_continue()
                && let Some(settled) = waiting.remove(&next)
            {
                next += 1;
                post.received.store(next, Ordering::Relaxed);
                flow = receive(CampaignEvent::TestOutcome(Box::new(settled)));
            }
            if let ControlFlow::Break(wish) = flow {
                leftovers = Some(wish);
                post.stop.store(true, Ordering::SeqCst);
            }
        }
        if leftovers != Some(PendingTests::Drop) {
            for settled in waiting.into_values() {
                let _ = receive(CampaignEvent::TestOutcome(Box::new(settled)));
            }
        }
        Ok(())
    }

    fn work(
        &self,
        supply: &TargetSupply,
        known: &KnownShapes,
        post: &WorkerState,
        sender: &Sender<TestResult>,
    ) {
        let mut own = match supply {
            TargetSupply::Each(make) => match make() {
                Ok(target) => Some(target),
                Err(error) => return drop(sender.send(Err(error))),
            },
            TargetSupply::Shared(_) => None,
        };
        while let Some(number) = post.take(self.until) {
            let worker = Worker { campaign: self, known, stop: &post.stop };
            let mut run = |planned: &Planned| match (supply, &mut own) {
                (TargetSupply::Shared(target), _) => {
                    let mut target = target.lock().unwrap_or_else(PoisonError::into_inner);
                    gather(&mut **target, planned, &post.stop)
                }
                (_, Some(target)) => gather(&mut **target, planned, &post.stop),
                (_, None) => TargetResults::default(),
            };
            let settled = worker.settle(number, &mut run);
            let failed = settled.is_err();
            if sender.send(settled).is_err() || failed {
                return;
            }
        }
    }
}

/// What workers share.
struct WorkerState {
    next: AtomicU64,
    received: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl WorkerState {
    /// The number of the next test; `None` at the end.
    fn take(&self, until: Option<u64>) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let ahead = || number >= self.received.load(Ordering::Relaxed) + WINDOW;
        while ahead() && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = self.stop.load(Ordering::Relaxed) || until.is_some_and(|end| number >= end);
        (!ended).then_some(number)
    }
}

/// The results of a test on a target.
#[derive(Default)]
struct TargetResults {
    outcomes: FxHashMap<Outcome, u64>,
    recorded: Vec<History>,
    unfinished: u64,
    error: Option<TargetError>,
}

/// Runs a test and collects different outcomes, as many as can be judged.
fn gather(target: &mut dyn Target, planned: &Planned, stop: &AtomicBool) -> TargetResults {
    let mut gathered = TargetResults::default();
    let runs = Runs { count: planned.runs, seed: planned.seed, stop };
    let ran = target.run(&planned.test.program, runs, &mut |ran| {
        match ran {
            RunResult::Outcome(outcome, times) => {
                *gathered.outcomes.entry(outcome).or_default() += times
            }
            RunResult::Recorded(history) => gathered.recorded.push(*history),
            RunResult::Unfinished(history) => {
                gathered.unfinished += 1;
                gathered.recorded.extend(history.map(|history| *history));
            }
        }
        match gathered.outcomes.len() + gathered.recorded.len() < MOST_OUTCOMES {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    gathered.error = ran.err();
    gathered
}

struct Worker<'a> {
    campaign: &'a Campaign,
    known: &'a KnownShapes,
    stop: &'a Arc<AtomicBool>,
}

impl Worker<'_> {
    fn settle(&self, number: u64, run: &mut dyn FnMut(&Planned) -> TargetResults) -> TestResult {
        let planned = self.campaign.plan.test(number);
        let gathered = run(&planned);
        let mut settled = TestOutcome { number, ..TestOutcome::default() };
        let scene = FindingContext {
            model: &self.campaign.model,
            target: &self.campaign.target,
            number,
            planned: &planned,
            stop: self.stop,
        };
        match gathered.error {
            Some(TargetError::Unavailable(why)) => return Err(TargetError::Unavailable(why)),
            Some(TargetError::Unsuitable(why)) => {
                settled.totals.unsuitable = 1;
                settled.unsuitable = Some(why);
                settled.complete = true;
                return Ok(settled);
            }
            Some(TargetError::Misbehaved(what)) => self.misbehaved(&scene, &what, &mut settled),
            None => {}
        }
        settled.totals.unfinished = gathered.unfinished;
        self.count(&planned, &gathered.outcomes, &mut settled);
        self.judge_all(&scene, gathered.outcomes, gathered.recorded, &mut settled);
        settled.complete = !self.stop.load(Ordering::SeqCst);
        settled.totals.tests = u64::from(settled.complete);
        Ok(settled)
    }

    fn misbehaved(&self, scene: &FindingContext<'_>, what: &str, settled: &mut TestOutcome) {
        settled.totals.misbehaved += 1;
        settled.findings.push(scene.misbehaviour(what, |shape| self.known.has(shape)));
    }

    /// Counts the features of the program and, for a litmus test, how often its target outcome
    /// occurred.
    fn count(
        &self,
        planned: &Planned,
        outcomes: &FxHashMap<Outcome, u64>,
        settled: &mut TestOutcome,
    ) {
        let test = &planned.test;
        settled.coverage.add_program(&test.program);
        if let (Some(_), Some(condition)) = (planned.litmus, &test.condition) {
            let row = settled.coverage.litmus.entry(test.program.name.clone()).or_default();
            row.tests += 1;
            for (outcome, times) in outcomes {
                row.runs += times;
                if condition.holds(&test.program, outcome) == Some(true) {
                    row.seen += times;
                }
            }
        }
    }

    /// Judges the results in an order that does not depend on the order of arrival.
    fn judge_all(
        &self,
        scene: &FindingContext<'_>,
        outcomes: FxHashMap<Outcome, u64>,
        recorded: Vec<History>,
        settled: &mut TestOutcome,
    ) {
        let program = &scene.planned.test.program;
        let mut outcomes: Vec<(Outcome, u64)> = outcomes.into_iter().collect();
        outcomes.sort_unstable();
        let mut found = false;
        for (outcome, times) in outcomes {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            match program.history(&outcome) {
                Ok(history) => {
                    found |= self.judge_one(scene, &history, times, found, settled);
                }
                Err(error) => {
                    self.misbehaved(scene, &error.to_string(), settled);
                    return;
                }
            }
        }
        for history in recorded {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            found |= self.judge_one(scene, &history, 1, found, settled);
        }
    }

    /// Judges an outcome; whether it violates the model. The first of a test that does is shrunk.
    fn judge_one(
        &self,
        scene: &FindingContext<'_>,
        history: &History,
        times: u64,
        found: bool,
        settled: &mut TestOutcome,
    ) -> bool {
        let budget = Budget::unlimited().with_time(JUDGE_TIME).with_stop(Arc::clone(self.stop));
        let verdict = self.campaign.model.refute(history, Engine::Auto, &budget);
        let totals = &mut settled.totals;
        totals.runs += times;
        totals.operations += times * history.len() as u64;
        totals.outcomes += 1;
        let shared = shared_lines(&scene.planned.test.program, history);
        settled.coverage.add_outcome(history, &shared);
        match verdict {
            Verdict::Holds(_) => {}
            Verdict::Undecided(_) => totals.undecided += 1,
            Verdict::Broken(proof) => {
                totals.violations += 1;
                if !found {
                    let known = |shape: &str| self.known.has(shape);
                    settled.findings.push(scene.violation(history, &proof, known));
                }
                return true;
            }
        }
        false
    }
}
