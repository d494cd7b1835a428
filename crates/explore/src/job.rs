//! A whole exploration, from the source of a model to the report: load it, search it with what the
//! host can do, and have the reference interpreter confirm what was found.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use evidence::Verdict;
//! use murphi::source::Source;
//! use tribunal_explore::{Loaded, Question};
//!
//! let text = "
//!     var n: 0..3;
//!     startstate begin n := 0; end;
//!     rule \"count\" n < 3 ==> begin n := n + 1; end;
//!     invariant \"small\" n < 3;";
//! let source = Source { name: "counter.m".to_owned(), text: text.to_owned() };
//! let model = Loaded::new(&source, &Default::default()).expect("the model is right");
//! let report = model.explore(&Question::default(), &mut |_| (), &AtomicBool::new(false))?;
//! let Verdict::Broken(finding) = &report.verdict else { panic!("n becomes 3") };
//! assert_eq!(finding.broken.sentence, "invariant \"small\" does not hold");
//! assert_eq!(finding.counterexample.as_ref().map(|run| run.steps.len()), Some(3));
//! # Ok::<(), tribunal_explore::Contradiction>(())
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use evidence::Verdict;
use murphi::Refusal;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::goal::{Goals, NoGoals};
use murphi::interpret::{Interpreter, Unrunnable};
use murphi::ir::Model;
use murphi::machine::Codec;
use murphi::source::Source;
use murphi::symmetric;

use crate::asked::{Asked, Watcher};
use crate::disk::{discard, saved_entry};
use crate::hash;
use crate::replay::{Recorded, Refuted, replay};
use crate::report::{
    Contradiction, Open, Report, SearchOrder, Settings, Unestablished, asymmetric,
    confirmed_watching, counted,
};
use crate::symmetry::Symmetry;
use crate::towards::Parts;
use crate::{
    Bare, Checkpointing, Cluster, Deadlock, Distance, Engine, Growth, MOST_THREADS, Options,
    Progress, SearchIdentity, Size, Strategy, Unusable, resumable, threads, usable,
};

/// A model that can be explored.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What runs it.
    pub interpreter: Interpreter,
    /// What looks like a mistake in it.
    pub warnings: Vec<Diagnostic>,
    /// Where the order of members may show in loops that a search can try in all orders: a search
    /// warns of them where it does not, or finds that the order shows.
    pub order_warnings: Vec<Diagnostic>,
    language: check::Options,
    asked: Asked,
    watcher: Watcher,
    guide: Option<Guide>,
    since: Instant,
}

/// The model with the atoms of the condition that a best-first search goes towards.
#[derive(Debug, Clone)]
struct Guide {
    interpreter: Interpreter,
    goals: Goals,
    distance: Distance,
}

impl Guide {
    fn new(
        source: &Source,
        language: &check::Options,
        asked: &Asked,
        condition: &str,
    ) -> Result<Guide, Refusal> {
        let whole = asked.with_condition(source, condition);
        murphi::load(whole.clone(), language).map_err(|wrong| Refusal::of(&whole, wrong))?;
        let Some(parts) = Parts::of_last(&whole) else {
            return Err(Refusal::whole(source, "--towards takes one condition".to_owned()));
        };
        let guided = asked.with_properties(source, &parts.text());
        let checked = murphi::load(guided.clone(), language);
        let model = Arc::new(checked.map_err(|wrong| Refusal::of(&guided, wrong))?.model);
        let interpreter = Interpreter::new(Arc::clone(&model))
            .map_err(|why| Refusal::whole(source, unrunnable(&model, why)))?;
        let goals = Goals::of(&model).map_err(|_| {
            let why = "the condition of --towards has too many values, or mentions elements of a \
                       multiset";
            Refusal::whole(source, why.to_owned())
        })?;
        let distance = parts.distance(&model, &goals);
        Ok(Guide { interpreter, goals, distance })
    }
}

/// Why a model cannot be explored.
#[derive(Debug, Clone)]
pub enum Refused {
    /// It is wrong, for these reasons.
    Wrong(Vec<Diagnostic>),
    /// It is right, but cannot be run; the sentence says why and what to do.
    TooLarge(String),
}

/// What to look for, and how.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// How to search, and how far.
    pub options: Options,
    /// Which states count as the same.
    pub symmetry: Symmetry,
    /// Whether every step of a counterexample comes with the whole state.
    pub whole_states: bool,
}

/// What happens on the way to an answer.
#[derive(Debug)]
pub enum Event<'a> {
    /// The model is being compiled.
    Compiling,
    /// It cannot be compiled, for this reason, and is interpreted, which is slow.
    Interpreting(&'a native::Error),
    /// The order of the members of scalarsets may show at these places, or was found to show: they
    /// are not used for symmetry reduction.
    OrderMayShow(&'a [Diagnostic]),
    /// So many threads search, fewer than were asked for: more would take too much memory.
    FewerThreads {
        /// How many search.
        threads: usize,
        /// How many were asked for.
        asked: usize,
    },
    /// The search has come so far.
    Searching(&'a Progress),
    /// The reference interpreter confirms what was found.
    Confirming,
}

impl Loaded {
    /// Reads a model.
    pub fn new(source: &Source, language: &check::Options) -> Result<Loaded, Refused> {
        Loaded::asking(source, language, &Asked::default())
    }

    /// Reads a model, and below it what else is asked of it.
    fn asking(
        source: &Source,
        language: &check::Options,
        asked: &Asked,
    ) -> Result<Loaded, Refused> {
        let since = Instant::now();
        let mut checked = murphi::load(asked.below(source), language).map_err(Refused::Wrong)?;
        let watcher = asked.take_off(&mut checked.model);
        let model = Arc::new(checked.model);
        let interpreter = Interpreter::new(Arc::clone(&model))
            .map_err(|why| Refused::TooLarge(unrunnable(&model, why)))?;
        let is_tried = |warning: &Diagnostic| {
            let mut here = model.ordered.iter().filter(|it| it.span == warning.span).peekable();
            here.peek().is_some()
                && here.all(|it| it.tried && !model.is_ordered(it.scalarset, true))
        };
        let (order_warnings, warnings) = checked.warnings.into_iter().partition(is_tried);
        let language = language.clone();
        let (asked, guide) = (asked.clone(), None);
        Ok(Loaded { interpreter, warnings, order_warnings, language, asked, watcher, guide, since })
    }

    /// The same, with what is wrong with the model as a refusal.
    pub fn read(
        source: &Source,
        language: &check::Options,
        asked: &Asked,
    ) -> Result<Loaded, Refusal> {
        let treated = symmetric::treat(source, &asked.symmetric, language)
            .map_err(|wrong| Refusal::of(&wrong.source, wrong.problems))?;
        let (source, types) = (&treated.source, treated.types);
        let language = &check::Options { symmetric: types, ..language.clone() };
        let mut loaded = Loaded::asking(source, language, asked).map_err(|why| match why {
            Refused::Wrong(problems) => {
                let mut whole = asked.below(source);
                let end = source.text.len();
                if problems.iter().all(|problem| problem.span.start as usize >= end) {
                    whole.name += " with --liveness and --show";
                }
                Refusal::of(&whole, problems)
            }
            Refused::TooLarge(why) => Refusal::whole(source, why),
        })?;
        if let Some(condition) = &asked.towards {
            loaded.guide = Some(Guide::new(source, language, asked, condition)?);
        }
        Ok(loaded)
    }

    /// The types that are used as scalarsets are but are none, which [`Asked::symmetric`] would make
    /// some.
    pub fn symmetric_types(&self) -> Vec<String> {
        let source = self.source();
        match source.text.len() < MOST_TEXT && self.asked == Asked::default() {
            true => symmetric::candidates(source, self.interpreter.model(), &self.language),
            false => Vec::new(),
        }
    }

    /// The text of the model, with what else is asked of it.
    pub fn source(&self) -> &Source {
        &self.interpreter.model().source
    }

    /// Whether a search can keep checkpoints as the question says, or go on from one; if it can, what
    /// identifies its checkpoints is added to the question.
    pub fn prepare(&self, question: &mut Question) -> Result<(), Unusable> {
        self.identify(question);
        let disk = question.options.disk.as_ref();
        let Some(kept) = disk.and_then(|disk| disk.checkpoint.as_ref()) else { return Ok(()) };
        match kept.resume {
            true => resumable(&kept.directory, &kept.identity),
            false => usable(&kept.directory),
        }
    }

    /// Adds what identifies the checkpoints of a search to the question.
    pub fn identify(&self, question: &mut Question) {
        let disk = question.options.disk.as_ref();
        if disk.is_none_or(|disk| disk.checkpoint.is_none()) {
            return;
        }
        // This reads all of the executable, which takes longer than a small search.
        let identity = self.identity(question);
        if let Some(kept) = kept(&mut question.options) {
            kept.identity = identity;
            if kept.resume {
                // A search goes on as it was begun.
                kept.identity.extend(saved_entry(&kept.directory, ORDERS));
            }
        }
    }

    /// What is asked, as far as states and verdict depend on it.
    fn identity(&self, question: &Question) -> SearchIdentity {
        let settings = self.settings(question, 1);
        let constants = settings.constants.iter().map(|(name, value)| format!("{name}={value}"));
        let entries = [
            ("model", digest(self.asked.searched(&self.source().text).as_bytes())),
            ("constants", constants.collect::<Vec<_>>().join(" ")),
            ("dialect", format!("{:?}", settings.dialect).to_lowercase()),
            ("loop limit", settings.loop_limit.to_string()),
            ("call limit", self.language.call_limit.to_string()),
            ("symmetry", settings.symmetry.name().to_owned()),
            ("symmetric types", settings.symmetric.join(" ")),
            ("deadlock", settings.deadlock.name().to_owned()),
            ("build of tribunal", build()),
        ];
        entries.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// What has to be the same for all processes that search the model together.
    pub fn cluster_identity(&self, question: &Question, processes: usize) -> SearchIdentity {
        cluster_identity(self.identity(question), &question.options, processes)
    }

    /// Explores the model. `events` hears what happens on the way; setting `interrupt` ends the
    /// search with what was found so far.
    pub fn explore(
        &self,
        question: &Question,
        events: &mut dyn FnMut(Event<'_>),
        interrupt: &AtomicBool,
    ) -> Result<Report, Contradiction> {
        events(Event::Compiling);
        // Compiling is part of what the time budget is for.
        let mut options = question.options.clone();
        let started = Instant::now();
        let is_over = || options.time.is_some_and(|budget| started.elapsed() >= budget);
        let guide = self.guide.as_ref().filter(|_| options.strategy == Strategy::Best);
        let interpreter = guide.map_or(&self.interpreter, |guide| &guide.interpreter);
        let engine = Engine::new_unless(interpreter, &is_over);
        if let Engine::Interpreted(_, _, why) = &engine
            && *why != native::Error::Stopped
        {
            events(Event::Interpreting(why));
        }
        options.time = options.time.map(|budget| budget.saturating_sub(started.elapsed()));
        let jobs = threads_of(&options, engine.packed_size());
        let has_one = matches!(options.strategy, Strategy::Depth | Strategy::Best);
        if jobs < options.threads && !has_one {
            events(Event::FewerThreads { threads: jobs, asked: options.threads });
        }
        let goals = Goals::of(self.interpreter.model());
        options.goals = match guide {
            Some(guide) => guide.goals.clone(),
            None => goals.clone().unwrap_or_default(),
        };
        options.towards = guide.map(|guide| guide.distance.clone());
        let mut growth = Growth::default();
        let tries = tries_orders(&engine, interpreter.model(), question);
        if tries
            && let Some(kept) = kept(&mut options)
            && !kept.resume
        {
            kept.identity.push((ORDERS.to_owned(), "all".to_owned()));
        }
        let tried = tries.then(|| {
            let progress = &mut observed(&mut growth, events);
            engine.explore_trying_orders(interpreter, &options, progress, interrupt)
        });
        let by_trial = matches!(tried, Some(Some(_)));
        let found = tried.flatten().unwrap_or_else(|| {
            if !self.order_warnings.is_empty() {
                events(Event::OrderMayShow(&self.order_warnings));
            }
            if tries {
                begin_anew(&mut options);
            }
            growth = Growth::default();
            options.time = question.options.time.map(|it| it.saturating_sub(started.elapsed()));
            let how = (&options, question.symmetry);
            let progress = &mut observed(&mut growth, events);
            engine.explore(interpreter, how, &Bare, progress, interrupt)
        });
        events(Event::Confirming);
        let mut report =
            confirmed_watching(&self.interpreter, &found, question.whole_states, &self.watcher)?;
        let end = Size { states: found.states, bytes: found.bytes };
        report.growth = growth.together(&found.growth, (found.seconds, end));
        report.settings = self.settings(question, jobs);
        if by_trial {
            report.settings.asymmetric = asymmetric(self.interpreter.model(), true);
        }
        match &mut report.verdict {
            Verdict::Undecided(Open::Ended { bound, .. }) => *bound = report.settings.bound,
            Verdict::Undecided(Open::Liveness { why: why @ Unestablished::NotAsked, .. }) => {
                *why = Unestablished::Unsuited(unsuited(&options, goals.err()));
            }
            _ => {}
        }
        report.totals.seconds = self.since.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Whether a recorded counterexample is one.
    pub fn replay(&self, recorded: &Recorded, deadlock: Deadlock) -> Result<(), Refuted> {
        replay(&self.interpreter, recorded, deadlock)
    }

    fn settings(&self, question: &Question, jobs: usize) -> Settings {
        let Question { options, symmetry, .. } = question;
        let (search, seed, bound) = match options.strategy {
            Strategy::Simulate { seed, length, .. } => {
                (SearchOrder::Simulate, Some(seed), (length != WALK).then_some(length))
            }
            Strategy::Depth => (SearchOrder::Dfs, None, options.depth.map(u64::from)),
            Strategy::Best => (SearchOrder::Best, None, options.depth.map(u64::from)),
            Strategy::Breadth | Strategy::Compact { .. } => {
                (SearchOrder::Bfs, None, options.depth.map(u64::from))
            }
        };
        Settings {
            symmetry: *symmetry,
            asymmetric: match symmetry {
                Symmetry::Full => asymmetric(self.interpreter.model(), false),
                Symmetry::Off => Vec::new(),
            },
            deadlock: options.deadlock,
            search,
            jobs: if matches!(search, SearchOrder::Dfs | SearchOrder::Best) { 1 } else { jobs },
            processes: options.cluster.as_ref().map(Cluster::processes),
            seed,
            bound,
            compact: match options.strategy {
                Strategy::Compact { bits } => Some(bits as u8),
                _ => None,
            },
            towards: self.asked.towards.clone(),
            symmetric: self.asked.symmetric.clone(),
            liveness: self.asked.liveness.clone(),
            constants: self.language.constants.clone(),
            dialect: self.language.dialect,
            loop_limit: self.language.loop_limit,
            call_limit: self
                .interpreter
                .model()
                .functions
                .iter()
                .any(|function| function.is_recursive)
                .then_some(self.language.call_limit),
        }
    }
}

/// What is asked, with what else has to be the same for all processes that search together.
pub fn cluster_identity(
    identity: SearchIdentity,
    options: &Options,
    processes: usize,
) -> SearchIdentity {
    let Options { threads, depth, ref disk, .. } = *options;
    let on_disk = match disk.as_ref().map(|disk| &disk.checkpoint) {
        None => "no",
        Some(None) => "--disk",
        Some(Some(kept)) if kept.resume => "--resume",
        Some(Some(_)) => "--checkpoint",
    };
    let bound = depth.map_or("none".to_owned(), |depth| depth.to_string());
    let own = [
        ("processes", processes.to_string()),
        ("--jobs", threads.to_string()),
        ("--bound", bound),
        ("states on disk", on_disk.to_owned()),
    ];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    identity.into_iter().chain(own).collect()
}

/// The name of what identifies a checkpoint of a search that runs rules in all orders of members.
const ORDERS: &str = "orders of loops over members";

/// How a search keeps checkpoints.
fn kept(options: &mut Options) -> Option<&mut Checkpointing> {
    options.disk.as_mut()?.checkpoint.as_mut()
}

/// Whether rules are run in all orders of members first. A search that goes on from a checkpoint does
/// so if it was begun like that.
fn tries_orders(engine: &Engine, model: &Model, question: &Question) -> bool {
    let disk = question.options.disk.as_ref();
    let may_try =
        |kept: &Checkpointing| !kept.resume || kept.identity.iter().any(|(name, _)| name == ORDERS);
    question.symmetry == Symmetry::Full
        && !model.tried.is_empty()
        && disk.and_then(|disk| disk.checkpoint.as_ref()).is_none_or(may_try)
        && engine.can_all_try_orders(&question.options)
}

/// After a search in which the order of members showed: nothing of it is of use.
fn begin_anew(options: &mut Options) {
    let is_first = options.cluster.as_ref().is_none_or(|cluster| cluster.process() == 0);
    if let Some(kept) = kept(options) {
        kept.resume = false;
        kept.identity.retain(|(name, _)| name != ORDERS);
        if is_first {
            discard(&kept.directory);
        }
    }
}

/// Notes how a search grows, and hands its progress on.
fn observed<'a>(
    growth: &'a mut Growth,
    events: &'a mut dyn FnMut(Event<'_>),
) -> impl FnMut(&Progress) + 'a {
    |now| {
        let Progress { seconds, states, bytes, .. } = *now;
        growth.push(seconds, Size { states, bytes });
        events(Event::Searching(now));
    }
}

/// A number that identifies a text.
pub fn digest(text: &[u8]) -> String {
    let hash = |seed| hash::hash(text, seed ^ text.len() as u64);
    format!("{:016x}{:016x}", hash(hash::PLACE), hash(hash::SIGNATURE))
}

/// What identifies a build of this program: others may pack states in another way, or choose other
/// representatives.
pub fn build() -> String {
    let program = std::env::current_exe().and_then(std::fs::read);
    program.map_or_else(|_| env!("CARGO_PKG_VERSION").to_owned(), |program| digest(&program))
}

/// In longer texts nobody looks for types that are used symmetrically: it would take a while.
const MOST_TEXT: usize = 200_000;

/// Steps of a random walk before the next begins, unless somebody says otherwise.
pub const WALK: u64 = 10_000;

/// The number of threads that search.
fn threads_of(options: &Options, packed_size: usize) -> usize {
    match options.strategy {
        Strategy::Depth | Strategy::Best => options.threads,
        Strategy::Simulate { .. } => options.threads.min(MOST_THREADS),
        Strategy::Breadth | Strategy::Compact { .. } => threads(options, packed_size),
    }
}

/// Why a search that has visited every state says nothing about liveness.
fn unsuited(options: &Options, no_goals: Option<NoGoals>) -> String {
    match (no_goals, options.strategy) {
        (Some(why), _) => why.to_string(),
        (None, Strategy::Compact { .. }) => "--compact does not store the states".to_owned(),
        (None, _) => "only breadth-first search decides liveness".to_owned(),
    }
}

fn unrunnable(model: &Model, why: Unrunnable) -> String {
    match why {
        Unrunnable::TooLarge(too_large) => {
            let name = model.types[too_large.ty.0 as usize].name.as_deref();
            let what = name.map_or("a state".to_owned(), |name| format!("type `{name}`"));
            format!("{what} would take {} bytes; use smaller constants", too_large.bytes)
        }
        Unrunnable::TooManyInstances(name) => {
            format!("\"{name}\" has more instances than can be counted")
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Compiling => f.write_str("compiling"),
            Event::Interpreting(why) => {
                write!(f, "{why}; the model is interpreted, which is slower")
            }
            Event::OrderMayShow(places) => {
                let places = places.iter().map(|place| place.message.as_str());
                f.write_str(&places.collect::<Vec<_>>().join("; "))
            }
            Event::FewerThreads { threads, asked } => {
                let threads = counted(*threads as u64, "thread");
                write!(f, "using {threads} instead of {asked}: more would exceed --memory")
            }
            Event::Searching(now) => now.fmt(f),
            Event::Confirming => f.write_str("confirming"),
        }
    }
}
