//! What came of verifying a protocol, as data, confirmed by others than those who found it: the run
//! by the reference interpreter, the verdict on its memory trace by the kernel that checks
//! certificates. The `report` crate shows it to a person and to programs.
//!
//! ```
//! use evidence::Verdict;
//! use explore::Stop;
//! use murphi::source::Source;
//! use tribunal_conform::{ViolationKind, Options};
//! use tribunal_conform::report::answer;
//!
//! // Every load and every store is one step on one memory.
//! let text = "
//!     type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
//!     var memory: array [Addr] of Value;
//!     procedure Load(p: Proc; a: Addr; v: Value); begin end;
//!     procedure Store(p: Proc; a: Addr; v: Value); begin end;
//!     startstate begin for a: Addr do memory[a] := 0; end; end;
//!     ruleset p: Proc; a: Addr; v: Value do
//!       rule memory[a] = v ==> begin Load(p, a, v); end;
//!       rule begin memory[a] := v; Store(p, a, v); end;
//!     end;";
//! let source = Source { name: "memory.m".into(), text: text.into() };
//! let report = answer(&source, &Options::default(), &mut |_, _| (), &Stop::after(None))?;
//! assert!(matches!(report.verdict, Verdict::Holds(())));
//! assert_eq!(report.sentence, "sequentially consistent for 2 processors, 2 addresses");
//! # Ok::<(), tribunal_conform::report::Unanswered>(())
//! ```

mod alarm;
mod sentence;

use std::fmt;
use std::sync::Arc;

use evidence::{Certificate, Verdict};
use explore::report::{
    Counterexample, Effect, Explanation, Finding, Settings, confirmed, milliseconds,
};
use explore::{Contradiction, Exploration, Progress, Reason, Stop};
use history::History;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use serde::Serialize;

pub use sentence::{assuming, undecided, with_unchecked};

use crate::verify::verify;
use crate::{
    Failure, Foundation, Lemma, Options, Premises, Sizes, Unestablished, Unknown, Verification,
    ViolationKind,
};

/// The prefix of observers' variables.
const OBSERVER: &str = "tribunal_";

/// The question, its answer, and the size of the searches.
#[derive(Debug, Clone)]
pub struct Report {
    /// The protocol.
    pub source: Source,
    /// The question.
    pub options: Options,
    /// The verdict.
    pub verdict: Verdict<(), Broken, Open>,
    /// The verdict as a sentence.
    pub sentence: String,
    /// The numbers of processors, addresses and values.
    pub sizes: Sizes,
    /// Whether causality and data independence are established, so that a few values stand for any
    /// number.
    pub independent: bool,
    /// Whether the searches used fewer values than the protocol may have, so that the verdict needs
    /// data independence.
    pub reduced: bool,
    /// Assumptions that are not established and that the user has allowed (`--assume`).
    pub assumed: Vec<Unestablished>,
    /// Whether the protocol marks where stores enter the coherence order.
    pub commits: bool,
    /// The searches, in order.
    pub lemmas: Vec<Searched>,
    /// Warnings, including assumptions that are not established.
    pub warnings: Vec<Diagnostic>,
}

/// A confirmed violation.
#[derive(Debug, Clone)]
pub enum Broken {
    /// The memory model is violated.
    MemoryModel(Box<Alarm>),
    /// The protocol violates one of its own properties, never reaches a cover, fails or deadlocks.
    Protocol(Box<Run>),
}

/// Why the question is undecided.
#[derive(Debug, Clone)]
pub enum Open {
    /// An observer rejects a run that the memory model allows.
    FalseAlarm(Box<Alarm>),
    /// The same, because the protocol marks commits wrongly: the loads may be right.
    Misuse(Box<Alarm>),
    /// An assumption of the verdict is not established.
    NotEstablished(Vec<Unestablished>),
    /// A search ended early.
    Ended(Reason),
    /// A run cannot be repeated with other values, for this reason.
    NotRepeatable(String),
}

/// A run of a composed model, confirmed by the reference interpreter.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The number of its lemma, from 1.
    pub lemma: usize,
    /// The composed model; `None` for a run of the protocol itself.
    pub composed: Option<String>,
    /// The violated property, and the run.
    pub finding: Finding,
}

/// A run whose loads and stores an observer rejects.
#[derive(Debug, Clone)]
pub struct Alarm {
    /// The run.
    pub run: Run,
    /// Its memory trace.
    pub memory: Memory,
}

/// The loads and stores of a run, with a certified verdict.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The trace in Tribunal's format. The order in which the stores happened is a comment: the
    /// verdict does not depend on it.
    pub trace: String,
    /// Whether a load returns a value that was never stored.
    pub thin_air: bool,
    /// The cycle that the observer found, if there is one.
    pub cycle: Vec<Edge>,
    /// The trace as the trace checker reads it.
    pub history: History,
    /// The verdict of the trace checker.
    pub judged: judge::Judgement,
    /// If the trace is consistent: the verdict with the stores of each address ordered as in the
    /// run.
    pub in_order_of_run: Option<judge::Judgement>,
    /// The evidence for the verdict, which the certificate checker has accepted.
    pub certificate: Certificate,
}

/// An edge of a cycle: one event precedes another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The earlier event, as a line of the trace.
    pub from: String,
    /// The later event.
    pub to: String,
    /// The kind of edge.
    pub because: &'static str,
}

/// A search of a composed model.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Searched {
    /// The claim.
    pub name: String,
    /// The number of visited states (orbits, with symmetry reduction).
    pub states: u64,
    /// The number of rules fired.
    pub rules_fired: u64,
    /// The greatest distance of a visited state from the start states.
    pub depth: u32,
    /// Seconds of the search.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// Whether the claim holds; `None` if the search ended early.
    pub holds: Option<bool>,
    /// The number of alarms that were passed over, because the memory model allows them.
    #[serde(skip_serializing_if = "is_zero")]
    pub passed_over: usize,
}

/// Why there is no report.
#[derive(Debug, Clone)]
pub enum Unanswered {
    /// The protocol cannot be verified.
    Refused(Failure),
    /// The assumptions of the protocol exclude all its start states.
    NoStart,
    /// The reference interpreter contradicts the search.
    Contradicted(Contradiction),
    /// The trace checker has no verdict on the memory trace of the run.
    NotJudged,
    /// The certificate checker rejects the verdict of the trace checker, for this reason.
    Rejected(String),
}

/// Verifies a protocol and confirms a violation. `watch` is called with the current lemma and the
/// progress of its search.
pub fn answer(
    source: &Source,
    options: &Options,
    watch: &mut dyn FnMut(&str, &Progress),
    stop: &Stop,
) -> Result<Report, Unanswered> {
    match verify(source, options, watch, stop.flag()) {
        Ok(found) => report(source, options, &found, stop),
        Err(Failure::NotRepeatable(why)) => Ok(not_repeatable(source, options, why)),
        Err(why) => Err(Unanswered::Refused(why)),
    }
}

/// Confirms the result of a verification and makes a report of it. `stop` is what may have ended
/// the searches.
pub fn report(
    source: &Source,
    options: &Options,
    found: &Verification,
    stop: &Stop,
) -> Result<Report, Unanswered> {
    let verdict = match &found.verdict {
        Verdict::Holds(()) => Verdict::Holds(()),
        Verdict::Broken(ViolationKind::MemoryModel(alarm)) => {
            let alarm = alarm::confirmed(source, options.memory_model, found, alarm)?;
            Verdict::Broken(Broken::MemoryModel(Box::new(alarm)))
        }
        Verdict::Broken(ViolationKind::Protocol) => {
            Verdict::Broken(Broken::Protocol(Box::new(of_protocol(source, found)?)))
        }
        Verdict::Undecided(Unknown::FalseAlarm(alarm)) => {
            let confirmed = alarm::confirmed(source, options.memory_model, found, alarm)?;
            Verdict::Undecided(match alarm.misuse {
                Some(_) => Open::Misuse(Box::new(confirmed)),
                None => Open::FalseAlarm(Box::new(confirmed)),
            })
        }
        Verdict::Undecided(Unknown::NotEstablished(doubts)) => {
            Verdict::Undecided(Open::NotEstablished(doubts.clone()))
        }
        Verdict::Undecided(Unknown::Ended(reason)) => {
            Verdict::Undecided(Open::Ended(stop.reason(reason)))
        }
        Verdict::Undecided(Unknown::NoStart) => return Err(Unanswered::NoStart),
    };
    let mut report = Report {
        sizes: found.sizes,
        independent: found.independent,
        reduced: is_reduced(found),
        commits: found.commits,
        lemmas: found.lemmas.iter().map(searched).collect(),
        warnings: found.warnings.clone(),
        ..Report::new(source, options, verdict)
    };
    if let Verdict::Holds(()) = report.verdict {
        report.assumed.clone_from(&found.assumed);
    }
    report.sentence = sentence::of(&report, found);
    Ok(report)
}

/// The report on an alarm whose run cannot be repeated with other values.
fn not_repeatable(source: &Source, options: &Options, why: String) -> Report {
    let sentence = format!(
        "data independence does not hold: the run of an alarm cannot be repeated with other \
         values ({why}); nothing is proved or refuted"
    );
    let verdict = Verdict::Undecided(Open::NotRepeatable(why));
    Report { sentence, ..Report::new(source, options, verdict) }
}

/// The settings of searches with these options.
pub fn settings(options: &Options) -> Settings {
    Settings {
        constants: options.language.constants.clone(),
        dialect: options.language.dialect,
        loop_limit: options.language.loop_limit,
        symmetry: options.symmetry,
        deadlock: options.search.deadlock,
        jobs: options.search.threads,
        ..Settings::default()
    }
}

/// Whether the searches used few values to answer for any number of them.
fn is_reduced(found: &Verification) -> bool {
    let needs = |rests_on: Premises| rests_on.includes(Foundation::DataIndependence);
    match found.verdict {
        Verdict::Holds(()) => found.rests_on.iter().copied().any(needs),
        _ => found.lemmas.iter().any(|lemma| needs(lemma.rests_on)),
    }
}

fn searched(lemma: &Lemma) -> Searched {
    let found = &lemma.exploration;
    Searched {
        name: lemma.name.clone(),
        states: found.states,
        rules_fired: found.rules_fired,
        depth: found.depth,
        seconds: found.seconds,
        holds: match found.verdict {
            Verdict::Holds(()) => Some(lemma.passed_over == 0 && !lemma.misses_cover()),
            Verdict::Broken(_) => Some(false),
            Verdict::Undecided(_) => None,
        },
        passed_over: lemma.passed_over,
    }
}

/// The run to a violation of the protocol itself, which the last search found.
fn of_protocol(source: &Source, found: &Verification) -> Result<Run, Unanswered> {
    let Some(lemma) = found.lemmas.last() else { return Ok(Run::default()) };
    let mut run = confirmed_run(source, found.lemmas.len() - 1, lemma, &lemma.exploration)?;
    // An error of a composition is reported at its place in the protocol.
    if let Some(place) = &found.broken {
        run.finding.broken.sentence.clone_from(&place.message);
        run.finding.broken.explanation = Explanation::Place {
            source: Arc::new(source.clone()),
            diagnostic: Box::new(place.clone()),
            values: Vec::new(),
        };
    }
    Ok(run)
}

/// The run of a lemma, replayed by the reference interpreter.
fn confirmed_run(
    source: &Source,
    number: usize,
    lemma: &Lemma,
    exploration: &Exploration,
) -> Result<Run, Unanswered> {
    let run =
        confirmed(&lemma.interpreter, exploration, false).map_err(Unanswered::Contradicted)?;
    let text = &lemma.interpreter.model().source.text;
    let composed = (*text != source.text).then(|| text.clone());
    let mut finding = match run.verdict {
        Verdict::Broken(finding) => finding,
        Verdict::Holds(()) | Verdict::Undecided(_) => Finding::default(),
    };
    if let (Some(run), Some(_)) = (&mut finding.counterexample, &composed) {
        for step in &mut run.steps {
            // Lines that the observer printed are events, which are shown in another way.
            step.printed.retain(|line| !line.is_empty() && !line.starts_with(OBSERVER));
        }
    }
    Ok(Run { lemma: number + 1, composed, finding })
}

impl Report {
    /// A report with nothing but this verdict.
    fn new(source: &Source, options: &Options, verdict: Verdict<(), Broken, Open>) -> Report {
        Report {
            source: source.clone(),
            options: options.clone(),
            verdict,
            sentence: String::new(),
            sizes: Sizes::default(),
            independent: false,
            reduced: false,
            assumed: Vec::new(),
            commits: false,
            lemmas: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The name of the verdict in JSON.
    pub fn verdict_name(&self) -> &'static str {
        match &self.verdict {
            Verdict::Holds(()) => "verified",
            Verdict::Broken(Broken::MemoryModel(_)) => "violation",
            Verdict::Broken(Broken::Protocol(_)) => "broken",
            Verdict::Undecided(Open::FalseAlarm(_)) => "false-alarm",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// The run of a violation or a false alarm. A cover that is never reached has no run.
    pub fn run(&self) -> Option<&Run> {
        match &self.verdict {
            Verdict::Broken(Broken::Protocol(run)) => Some(run),
            _ => self.alarm().map(|alarm| &alarm.run),
        }
    }

    /// The memory trace of that run, if an observer rejects it.
    pub fn memory(&self) -> Option<&Memory> {
        self.alarm().map(|alarm| &alarm.memory)
    }

    fn alarm(&self) -> Option<&Alarm> {
        match &self.verdict {
            Verdict::Broken(Broken::MemoryModel(alarm))
            | Verdict::Undecided(Open::FalseAlarm(alarm) | Open::Misuse(alarm)) => Some(alarm),
            _ => None,
        }
    }

    /// The assumptions that a verdict needs and that are not established.
    pub fn not_established(&self) -> &[Unestablished] {
        match &self.verdict {
            Verdict::Undecided(Open::NotEstablished(doubts)) => doubts,
            _ => &[],
        }
    }
}

impl Run {
    /// The run without the variables of observers.
    pub fn without_observer(&self) -> Option<Counterexample> {
        let is_own = |name: &str| !name.starts_with(OBSERVER);
        let mut run = self.finding.counterexample.clone()?;
        run.start.folded.retain(|(place, _)| is_own(place));
        run.start.bindings.retain(|(name, _)| is_own(name));
        for step in &mut run.steps {
            if let Effect::Changed(changed) = &mut step.effect {
                changed.retain(|change| is_own(&change.place));
            }
            step.folded.retain(|change| is_own(&change.place));
            step.bindings.retain(|(name, _)| is_own(name));
        }
        Some(run)
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Refused(why) => why.fmt(f),
            Unanswered::NoStart => {
                f.write_str("the protocol has no start state (it declares none, or its assumptions exclude all)")
            }
            Unanswered::Contradicted(wrong) => wrong.fmt(f),
            Unanswered::NotJudged => f.write_str(
                "the memory trace of the counterexample could not be checked within the limits",
            ),
            Unanswered::Rejected(why) => write!(
                f,
                "the verdict on the memory trace is rejected: {why}; this is a bug in tribunal, \
                 please report it with the model"
            ),
        }
    }
}

impl std::error::Error for Unanswered {}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
