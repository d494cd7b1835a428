//! The lemmas of a memory model, one after the other, and what becomes of an alarm.
//!
//! An alarm is a state in which an observer's claim is broken. Whether the memory model is violated
//! by a run to it is judged in `alarm.rs`. If not, it was the witness that was too strict, and the
//! search can go on past that state: then many alarms are collected in one search, and judged in
//! the order of their distance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use explore::symmetry::Symmetry;
use explore::{Deadlock, Exploration, PassedOver, Progress, Reason, Step, Violation};
use judge::Outcome;
use murphi::ast::Program;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;
use murphi::value::State;

use crate::alarm::{self, Judged};
use crate::cycle::{self, NiceCycle};
use crate::events::{self, EventNames, Protocol};
use crate::independence;
use crate::run::{self, Search};
use crate::sc;
use crate::sc_in_time::{self, Moment};
use crate::trace::{MemoryTrace, NotRepeatable};
use crate::tso::{self, Propagation};
use crate::tso_flat;
use crate::tso_news;
use crate::tso_sight;

/// The memory models that protocols are verified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryModel {
    /// Sequential consistency, relative to the simple witness: stores to a location count in the
    /// order in which they happen.
    Sc,
    /// Total store order, as refinement of TSO-LB, which is a little stricter.
    Tso,
}

/// What to verify, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Against which memory model.
    pub memory_model: MemoryModel,
    /// What the procedures that mark loads and stores are called.
    pub events: EventNames,
    /// How the protocol is read.
    pub language: check::Options,
    /// How each lemma is searched. [`explore::Options::deadlock`] is about the protocol itself.
    pub search: explore::Options,
    /// Which states count as the same.
    pub symmetry: Symmetry,
    /// Whether the protocol's own claims, run-time errors and deadlocks are looked at, too, after
    /// the lemmas.
    pub protocol: bool,
    /// For `sc`: the only lemma to look at, if not all.
    pub only: Option<u64>,
    /// For `tso`: how many values there are, if not as many as the protocol says.
    pub values: Option<u64>,
    /// For `tso`: whether to begin with the exact observer.
    pub exact: bool,
    /// How many alarms to look at, nearest first, for one that is a violation; with 0 it is the
    /// first one.
    pub pass_over: usize,
    /// Whether a rule that fails counts as one that does not apply. Else it ends the search: the
    /// protocol is broken. Searches with it answer about the runs that random walks take.
    pub forgiving: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            memory_model: MemoryModel::Sc,
            events: EventNames::default(),
            language: check::Options::default(),
            search: explore::Options::default(),
            symmetry: Symmetry::Full,
            protocol: true,
            only: None,
            values: None,
            exact: false,
            pass_over: 0,
            forgiving: false,
        }
    }
}

/// What was found out about a protocol.
#[derive(Debug, Clone)]
pub struct Verification {
    /// What was searched, in order.
    pub lemmas: Vec<Lemma>,
    /// The answer.
    pub verdict: Verdict,
    /// What could not be established about the protocol from its source, and other warnings.
    pub warnings: Vec<Diagnostic>,
    /// Whether causality and data independence are evident from the source.
    pub independent: bool,
    /// Whether the protocol marks where stores begin to count.
    pub commits: bool,
    /// How many processors, addresses and values the protocol has.
    pub sizes: (u64, u64, u64),
}

/// A model that was searched.
#[derive(Debug, Clone)]
pub struct Lemma {
    /// What it claims.
    pub name: String,
    /// The composed model, as a Murphi source and ready to be run.
    pub interpreter: Interpreter,
    /// What the search found.
    pub exploration: Exploration,
    /// How many alarms were passed over.
    pub passed_over: usize,
}

/// The answer.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// Every lemma holds: the protocol implements the memory model for these sizes.
    Verified,
    /// The last lemma met a run-time error or a deadlock of the protocol, or the protocol breaks a
    /// claim of its own.
    Broken,
    /// The memory model is violated.
    Violation(Box<Counterexample>),
    /// Every alarm that was looked at is allowed by the memory model: the way of verification is
    /// too strict for this protocol. Nothing is known.
    FalseAlarm(Box<Counterexample>),
    /// The search was ended early, for this reason.
    Undecided(Reason),
    /// Every start state has other first values than the lowest one.
    NoStart,
}

/// A run that raised an alarm.
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// The number of the lemma, from 0.
    pub lemma: usize,
    /// The claim of the observer that it breaks.
    pub claim: String,
    /// The run of the composed model.
    pub run: Vec<Step>,
    /// Its loads and stores, with unique values.
    pub trace: MemoryTrace,
    /// For `sc`: the nice cycle.
    pub cycle: Option<NiceCycle>,
    /// What the trace checker says about the trace.
    pub judged: judge::Verdict,
}

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol is unsuitable, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// The composition with an observer cannot be run. The diagnostics are about this source.
    Composition(Source, Vec<Diagnostic>),
    /// The composition is too large to be run.
    TooLarge,
    /// A run could not be taken again, or its trace not be read: data is not independent.
    NotRepeatable(String),
}

/// Verifies a protocol. `watch` hears of the lemma being searched and how far it has got.
pub fn verify(
    source: &Source,
    options: &Options,
    watch: &mut dyn FnMut(&str, &Progress),
    interrupt: &AtomicBool,
) -> Result<Verification, Failure> {
    let protocol =
        events::find(source, &options.language, &options.events).map_err(Failure::Unsuitable)?;
    let doubts = independence::doubts(&protocol);
    let independent = doubts.is_empty();
    let warnings = protocol.warnings.iter().cloned().chain(doubts).collect();
    let count = |domain: &events::Domain| domain.count;
    let sizes = (count(&protocol.processor), count(&protocol.address), count(&protocol.value));
    require_lemma(&protocol, options)?;
    let commits = protocol.commit.is_some();
    let mut trial = Trial { protocol: &protocol, options, watch, interrupt, lemmas: Vec::new() };
    let verdict = trial.hold()?;
    Ok(Verification { lemmas: trial.lemmas, verdict, warnings, independent, commits, sizes })
}

/// The composed models of all lemmas with their names: what [`verify`] would search.
pub fn compositions(source: &Source, options: &Options) -> Result<Vec<(String, String)>, Failure> {
    let protocol =
        events::find(source, &options.language, &options.events).map_err(Failure::Unsuitable)?;
    let planned = plan(&protocol, options);
    Ok(planned.into_iter().map(|(name, program)| (name, print(&program))).collect())
}

/// Programs for any number of processors that show what [`verify`] shows for a few, and the name of
/// the type of their processors.
pub fn composed_programs(source: &Source, options: &Options) -> Result<Composed, Failure> {
    let protocol =
        events::find(source, &options.language, &options.events).map_err(Failure::Unsuitable)?;
    let programs = match options.memory_model {
        // With many processors, the length of a cycle is limited by the addresses.
        MemoryModel::Sc => sc_lemmas(&protocol, options, protocol.address.count),
        MemoryModel::Tso => {
            let exact = tso_sight::lemma(&protocol, options.values)
                .or_else(|| tso_flat::lemma(&protocol, options.values))
                .map(|program| (AT_ANY_TIME.to_owned(), program));
            let mut attempts = plan(&protocol, options);
            if exact.is_some() {
                attempts.pop();
            }
            attempts.into_iter().chain(exact).collect()
        }
    };
    let doubts = independence::doubts(&protocol);
    let is_independent = doubts.is_empty();
    let by_address = match options.memory_model {
        MemoryModel::Sc if options.only.is_none() && is_independent => timely_programs(&protocol),
        // With one address, looking at it directly is easier.
        MemoryModel::Tso if is_independent && protocol.address.count > 1 => {
            let news = tso_news::lemma(&protocol);
            news.map(|program| (tso_news::CLAIM.to_owned(), program)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    Ok(Composed {
        processor: protocol.processor.text.clone(),
        address: protocol.address.text.clone(),
        addresses: protocol.address.count,
        programs,
        by_address,
        independent: is_independent,
        warnings: protocol.warnings.iter().cloned().chain(doubts).collect(),
    })
}

/// Claims that are enough for sequential consistency and speak of one address at a time, the
/// strongest first. They rest on data independence.
fn timely_programs(protocol: &Protocol) -> Vec<(String, Program)> {
    let moments = [Moment::Now, Moment::SinceLastEvent].into_iter();
    let composed = moments.filter_map(|moment| {
        Some((moment.claim().to_owned(), sc_in_time::lemma(protocol, moment)?))
    });
    composed.collect()
}

/// The composed models of all lemmas.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The type of processors, as it is named in the programs.
    pub processor: String,
    /// The type of addresses.
    pub address: String,
    /// How many addresses there are.
    pub addresses: u64,
    /// The programs with the names of their claims. For `tso`, the first one that holds is enough.
    pub programs: Vec<(String, Program)>,
    /// Claims about one address at a time, each of which is enough by itself, if there are any. For
    /// `sc`, that one of them fails says nothing.
    pub by_address: Vec<(String, Program)>,
    /// Whether causality and data independence are evident from the source.
    pub independent: bool,
    /// What could not be established about the protocol from its source, and other warnings.
    pub warnings: Vec<Diagnostic>,
}

/// There is something to look at.
fn require_lemma(protocol: &Protocol, options: &Options) -> Result<(), Failure> {
    let most = sc::lemmas(protocol);
    match options.only {
        Some(only) if !(1..=most).contains(&only) => {
            let span = protocol.model.functions[protocol.store.id.0 as usize].span;
            let message = format!("there is no nice cycle of {only} processors: {most} at most");
            Err(Failure::Unsuitable(vec![Diagnostic::error(span, message)]))
        }
        _ => Ok(()),
    }
}

/// The lemmas of a memory model. For `tso`, the first one that holds is enough.
fn plan(protocol: &Protocol, options: &Options) -> Vec<(String, Program)> {
    match options.memory_model {
        MemoryModel::Sc => sc_lemmas(protocol, options, sc::lemmas(protocol)),
        MemoryModel::Tso => {
            let lazy =
                ("TSO-LB follows, propagating when a load does not match", Propagation::Lazy);
            let exact = (AT_ANY_TIME, Propagation::Any);
            let at_once = options.exact || protocol.commit.is_some();
            let tries = if at_once { vec![exact] } else { vec![lazy, exact] };
            let composed = |(name, propagation): (&str, Propagation)| {
                (name.to_owned(), tso::lemma(protocol, options.values, propagation))
            };
            tries.into_iter().map(composed).collect()
        }
    }
}

/// What the exact observer of `tso` claims.
const AT_ANY_TIME: &str = "TSO-LB follows, propagating at any time";

/// That there are no nice cycles of up to so many processors.
fn sc_lemmas(protocol: &Protocol, options: &Options, most: u64) -> Vec<(String, Program)> {
    let ks = (1..=most).filter(|k| options.only.is_none_or(|only| only == *k));
    ks.map(|k| (sc::no_cycle(k), sc::lemma(protocol, k))).collect()
}

/// A verification under way.
struct Trial<'a> {
    protocol: &'a Protocol,
    options: &'a Options,
    watch: &'a mut dyn FnMut(&str, &Progress),
    interrupt: &'a AtomicBool,
    lemmas: Vec<Lemma>,
}

/// How a lemma ended.
enum Ending {
    Holds,
    Final(Verdict),
}

impl Trial<'_> {
    fn hold(&mut self) -> Result<Verdict, Failure> {
        if let Ending::Final(verdict) = self.memory_model()? {
            return Ok(verdict);
        }
        match self.options.protocol {
            true => self.protocol_itself(),
            false => Ok(Verdict::Verified),
        }
    }

    /// The lemmas of the memory model, until one does not hold. For `tso` each is an attempt at the
    /// same, more expensive than the one before, and the first that holds is enough.
    fn memory_model(&mut self) -> Result<Ending, Failure> {
        let planned = plan(self.protocol, self.options);
        let last = planned.len();
        let mut false_alarm = None;
        for (number, (name, program)) in planned.into_iter().enumerate() {
            let is_attempt = self.options.memory_model == MemoryModel::Tso && number + 1 < last;
            let ending = match is_attempt {
                true => self.attempt(name, &program)?,
                false => self.lemma(name, &program)?,
            };
            match (ending, self.options.memory_model) {
                (Some(Ending::Holds), MemoryModel::Sc) | (None, _) => {}
                // A longer cycle may still be a violation.
                (Some(Ending::Final(Verdict::FalseAlarm(found))), _) => {
                    false_alarm.get_or_insert(found);
                }
                (Some(ending), _) => return Ok(ending),
            }
        }
        Ok(match false_alarm {
            Some(found) => Ending::Final(Verdict::FalseAlarm(found)),
            None => Ending::Holds,
        })
    }

    /// The protocol without observers: its claims, errors and deadlocks.
    fn protocol_itself(&mut self) -> Result<Verdict, Failure> {
        let name = "the protocol's own claims".to_owned();
        let model = Arc::clone(&self.protocol.model);
        let interpreter = Interpreter::new(model).map_err(|_| Failure::TooLarge)?;
        let search = self.options.search.clone();
        let exploration = self.search(&name, &interpreter, &search);
        let verdict = match &exploration.verdict {
            explore::Verdict::Verified => Verdict::Verified,
            explore::Verdict::Violation(_) | explore::Verdict::Deadlock => Verdict::Broken,
            explore::Verdict::Undecided(reason) => Verdict::Undecided(reason.clone()),
        };
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over: 0 });
        Ok(verdict)
    }

    /// A lemma whose alarms are not believed: `None` if there is one.
    fn attempt(&mut self, name: String, program: &Program) -> Result<Option<Ending>, Failure> {
        let interpreter = self.composed(program)?;
        let exploration = self.observed(&name, &interpreter, 0);
        let is_alarm = !alarms(&exploration).is_empty();
        let ending = (!is_alarm).then(|| ended(&exploration));
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over: 0 });
        Ok(ending)
    }

    fn lemma(&mut self, name: String, program: &Program) -> Result<Option<Ending>, Failure> {
        let interpreter = self.composed(program)?;
        let exploration = self.observed(&name, &interpreter, self.options.pass_over);
        let (ending, passed_over) = match alarms(&exploration) {
            alarms if alarms.is_empty() => (ended(&exploration), 0),
            alarms => self.judged(&interpreter, &alarms)?,
        };
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over });
        Ok(Some(ending))
    }

    /// The first alarm that is a violation, or the first one, and how many are none.
    fn judged(
        &self,
        interpreter: &Interpreter,
        alarms: &[PassedOver],
    ) -> Result<(Ending, usize), Failure> {
        let mut false_alarm = None;
        for (passed_over, found) in alarms.iter().enumerate() {
            if self.interrupt.load(Relaxed) {
                break;
            }
            let patience = if passed_over == 0 { alarm::PATIENCE } else { alarm::HASTE };
            let found = Box::new(self.counterexample(interpreter, found, patience)?);
            if matches!(found.judged.outcome, Outcome::Violation(_)) {
                return Ok((Ending::Final(Verdict::Violation(found)), passed_over));
            }
            false_alarm.get_or_insert(found);
        }
        // What was passed over may also be reached by a run that is a violation.
        let verdict = match false_alarm {
            Some(found) => Verdict::FalseAlarm(found),
            None => Verdict::Undecided(Reason::Interrupted),
        };
        Ok((Ending::Final(verdict), alarms.len()))
    }

    /// Reads a composition from its own text, so that what is searched is what can be written out.
    fn composed(&self, program: &Program) -> Result<Interpreter, Failure> {
        let name = self.protocol.model.source.name.clone();
        let source = Source { name, text: print(program) };
        let checked = murphi::load(source.clone(), &self.protocol.options)
            .map_err(|problems| Failure::Composition(source, problems))?;
        Interpreter::new(Arc::new(checked.model)).map_err(|_| Failure::TooLarge)
    }

    /// Searches a composition. What an observer assumes away may leave a state without successors,
    /// so deadlocks mean nothing.
    fn observed(&mut self, name: &str, interpreter: &Interpreter, pass_over: usize) -> Exploration {
        let search = self.options.search.clone();
        let search = explore::Options { deadlock: Deadlock::Off, pass_over, ..search };
        self.search(name, interpreter, &search)
    }

    fn search(
        &mut self,
        name: &str,
        interpreter: &Interpreter,
        options: &explore::Options,
    ) -> Exploration {
        let Options { symmetry, forgiving, .. } = *self.options;
        let search = Search { options, symmetry, forgiving, interrupt: self.interrupt };
        run::search(interpreter, &search, &mut |progress| (self.watch)(name, progress))
    }

    /// The run to an alarm with its memory trace, judged.
    fn counterexample(
        &self,
        interpreter: &Interpreter,
        found: &PassedOver,
        patience: usize,
    ) -> Result<Counterexample, Failure> {
        let claim = interpreter.model().properties[found.property as usize].name.clone();
        let memory_model = self.options.memory_model;
        let Judged { run, trace, verdict } =
            alarm::judge_run(self.protocol, interpreter, &found.run, memory_model, patience)
                .map_err(|NotRepeatable(why)| Failure::NotRepeatable(why))?;
        let last = run.last().and_then(|step| {
            State::decode(interpreter.model(), interpreter.layout(), &step.state).ok()
        });
        let cycle = match memory_model {
            MemoryModel::Sc => {
                last.and_then(|last| cycle::find(self.protocol, interpreter, &last, &trace))
            }
            MemoryModel::Tso => None,
        };
        let judged = verdict;
        Ok(Counterexample { lemma: self.lemmas.len(), claim, run, trace, cycle, judged })
    }
}

/// Where a search has found a claim of an observer broken, the nearest first.
fn alarms(exploration: &Exploration) -> Vec<PassedOver> {
    match exploration.verdict {
        explore::Verdict::Violation(Violation::Broken { property }) => {
            match exploration.passed_over.is_empty() {
                true => vec![PassedOver { property, run: exploration.counterexample.clone() }],
                false => exploration.passed_over.clone(),
            }
        }
        _ => Vec::new(),
    }
}

/// How a search without an alarm ended.
fn ended(exploration: &Exploration) -> Ending {
    match &exploration.verdict {
        explore::Verdict::Verified if exploration.states == 0 => Ending::Final(Verdict::NoStart),
        explore::Verdict::Verified => Ending::Holds,
        explore::Verdict::Undecided(reason) => Ending::Final(Verdict::Undecided(reason.clone())),
        explore::Verdict::Violation(_) | explore::Verdict::Deadlock => {
            Ending::Final(Verdict::Broken)
        }
    }
}
