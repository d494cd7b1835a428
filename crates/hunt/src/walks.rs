//! Random walks of a protocol: written down as traces, or judged one by one.
//!
//! A walk is judged, or made a text, in the thread that walked. Results come in the order of the
//! walks, so that neither the traces nor the first violation depends on the number of threads.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use evidence::Verdict;
use history::{Format, History, ReadOptions, ThinAir, TraceReader};
use judge::{AnyModel, Budget, Engine, Reason, ShrinkOptions, shrink};
use serde::Serialize;
use stress::protocol::{Broken, Plan, Protocol, TraceWriter, Walk, WalkJob, walk_all};

use crate::summary::{counted, grouped};

/// Which walks to make of a protocol, and what of each.
#[derive(Clone, Debug)]
pub struct Walks<'a> {
    /// The name of the protocol.
    pub name: &'a str,
    /// How to walk.
    pub plan: Plan,
    /// The number of walks.
    pub count: u64,
    /// The number of threads.
    pub jobs: usize,
    /// Whether the order in which stores counted is written down, too.
    pub order: bool,
    /// The model to judge by; `None` if traces are to be written.
    pub check: Option<AnyModel>,
    /// Whether to stop at the first trace that violates the model.
    pub first: bool,
    /// How traces are written.
    pub format: Format,
    /// The options with which the protocol was prepared, for the heading of a file: `N=3`, `weight
    /// of evict 0.1`.
    pub settings: Vec<String>,
}

/// The results so far.
#[derive(Debug, Default)]
pub struct Walked {
    /// The number of walks.
    pub traces: u64,
    /// The number of their loads and stores.
    pub events: u64,
    /// The number of violations.
    pub violating: u64,
    /// The number of undecided walks.
    pub undecided: u64,
    /// The first that does.
    pub first: Option<Box<(Walk, History)>>,
    /// An error of the protocol itself: the number of the walk, the error, and the number of events
    /// before it.
    pub broken: Option<(u64, Broken, usize)>,
    /// The time limit was reached before all walks.
    pub cut_short: bool,
}

/// What became of a walk.
struct WalkResult {
    number: u64,
    events: usize,
    /// The trace as it is to be written; empty if it is not.
    text: String,
    broken: Option<(Broken, usize)>,
    judged: Judged,
}

enum Judged {
    Not,
    Consistent,
    /// It was time to stop.
    Abandoned,
    /// The model cannot be decided for such traces.
    Undecided,
    Violation(Box<(Walk, History)>),
}

impl Walks<'_> {
    /// The comment at the top of a file of traces: how to get it again.
    pub fn heading(&self, protocol: &Protocol) -> String {
        let Plan { seed, operations, .. } = self.plan;
        let mut text = format!(
            "# {}, walked at random: seed {seed}, {operations} operations per trace",
            self.name
        );
        for setting in &self.settings {
            let _ = write!(text, ", {setting}");
        }
        text.push('\n');
        for (name, thread) in &protocol.recording().processors {
            let _ = writeln!(text, "# thread {thread} is {name}");
        }
        text
    }

    /// Walks until all walks are made, `stop` is set, or `write` breaks. Where traces are written,
    /// `write` gets the text of each; `watch` sees what has been found after each.
    pub fn walk(
        &self,
        protocol: &Protocol,
        stop: &Arc<AtomicBool>,
        write: &mut dyn FnMut(&str) -> ControlFlow<()>,
        watch: &mut dyn FnMut(&Walked),
    ) -> Walked {
        let scribe = TraceWriter::new(protocol);
        let mut walked = Walked::default();
        let fleet = WalkJob { count: self.count, jobs: self.jobs, stop };
        let make = |walk: Walk| {
            let budget = Budget::unlimited().with_stop(Arc::clone(stop));
            self.make(&scribe, walk, &budget)
        };
        walk_all(protocol, &self.plan, fleet, make, &mut |made: WalkResult| {
            if self.check.is_none() {
                write(&made.text)?;
            }
            if matches!(made.judged, Judged::Abandoned) {
                return ControlFlow::Break(());
            }
            walked.add(made);
            watch(&walked);
            match self.first && walked.violating > 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        walked
    }

    /// Judges a walk or makes a text of it.
    fn make(&self, scribe: &TraceWriter<'_>, walk: Walk, budget: &Budget) -> WalkResult {
        let mut made = WalkResult {
            number: walk.number,
            events: walk.events.len(),
            text: String::new(),
            broken: walk.broken.clone(),
            judged: Judged::Not,
        };
        let history = || {
            let history = scribe.history(&walk, self.order);
            history.expect("what a protocol records is a history")
        };
        match (&self.check, self.format) {
            (Some(model), _) => {
                let history = history();
                made.judged = match model.refute(&history, Engine::Auto, budget) {
                    Verdict::Holds(_) => Judged::Consistent,
                    Verdict::Undecided(why) if why.reason == Reason::Time => Judged::Abandoned,
                    Verdict::Undecided(_) => Judged::Undecided,
                    Verdict::Broken(_) => Judged::Violation(Box::new((walk, history))),
                };
            }
            (None, Format::Text) => {
                made.text = format!("# trace {}\n", walk.number + 1);
                scribe.text(&walk, self.order, &mut made.text);
            }
            (None, format) => made.text = format.recorded_text(&history()),
        }
        made
    }

    /// The first violating trace as a file of its own.
    pub fn violation(
        &self,
        protocol: &Protocol,
        model: &AnyModel,
        (walk, history): &(Walk, History),
    ) -> String {
        if self.format != Format::Text {
            return self.format.recorded_text(history);
        }
        let mut text = self.heading(protocol);
        let _ = writeln!(text, "# trace {}, which violates {model}", walk.number + 1);
        TraceWriter::new(protocol).text(walk, self.order, &mut text);
        text
    }
}

impl Walked {
    fn add(&mut self, made: WalkResult) {
        self.traces += 1;
        self.events += made.events as u64;
        if let Some((broken, events)) = made.broken
            && self.broken.is_none()
        {
            self.broken = Some((made.number, broken, events));
        }
        match made.judged {
            Judged::Not | Judged::Consistent | Judged::Abandoned => {}
            Judged::Undecided => self.undecided += 1,
            Judged::Violation(found) => {
                self.violating += 1;
                self.first.get_or_insert(found);
            }
        }
    }

    /// Broken if a trace violates the model or the protocol breaks a claim of its own; undecided if
    /// time ran out before.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        match () {
            () if self.violating > 0 || self.broken.is_some() => Verdict::Broken(()),
            () if self.cut_short || self.undecided > 0 || self.traces == 0 => {
                Verdict::Undecided(())
            }
            () => Verdict::Holds(()),
        }
    }

    /// `3 traces, 192 events, 1 violation`
    pub fn progress(&self) -> String {
        let violating = match self.violating {
            0 => String::new(),
            number => format!(", {}", counted(number, "violation")),
        };
        format!("{}, {}{violating}", counted(self.traces, "trace"), counted(self.events, "event"))
    }
}

/// The report on random walks.
#[derive(Clone, Copy)]
pub struct WalkReport<'a> {
    /// The options of the walks.
    pub walks: &'a Walks<'a>,
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The results.
    pub walked: &'a Walked,
    /// The time.
    pub seconds: f64,
    /// Where the first violation was written, if it was.
    pub kept: Option<&'a Path>,
}

impl WalkReport<'_> {
    /// How much was recorded.
    pub fn totals(&self) -> String {
        let Walked { traces, events, .. } = self.walked;
        format!(
            "{} with {} in {:.2} s ({} events/s), seed {}",
            counted(*traces, "trace"),
            counted(*events, "event"),
            self.seconds,
            grouped((*events as f64 / self.seconds.max(1e-9)) as u64),
            self.walks.plan.seed
        )
    }

    /// The error of the protocol itself, if there is one.
    pub fn broken(&self) -> Option<String> {
        let (number, broken, events) = self.walked.broken.as_ref()?;
        Some(format!(
            "{}: protocol error: {}; first seen in trace {} after {} (`tribunal explore` finds a shortest counterexample)",
            self.walks.name,
            self.protocol.explain(broken),
            number + 1,
            counted(*events as u64, "event")
        ))
    }

    /// The name of the model; a report is made where there is one.
    fn model(&self) -> &str {
        self.walks.check.as_ref().map_or("", AnyModel::name)
    }

    /// The report for people; only its first line if `quiet`.
    pub fn text(&self, quiet: bool) -> String {
        let (walked, name, model) = (self.walked, self.walks.name, self.model());
        let traces = counted(walked.traces, "trace");
        let mut text = match &walked.first {
            Some(_) => {
                let verb = if walked.violating == 1 { "violates" } else { "violate" };
                format!("{name}: violation: {} of {traces} {verb} {model}\n", walked.violating)
            }
            None if walked.broken.is_some() => {
                let broken = self.broken().unwrap_or_default();
                format!("{broken}\n  no violation of {model} in {traces}\n")
            }
            None if walked.undecided > 0 => format!(
                "{name}: undecided: {} of {traces} are undecided under {model}; no violation found\n",
                walked.undecided
            ),
            None if walked.traces == 0 => format!("{name}: undecided: no trace was recorded\n"),
            None => format!("{name}: {model} allows all {traces}\n"),
        };
        if quiet {
            return text.lines().take(1).map(|line| format!("{line}\n")).collect();
        }
        let _ = writeln!(text, "  {}", self.totals());
        if let Some(sentence) = self.broken().filter(|_| walked.first.is_some()) {
            let _ = writeln!(text, "  {sentence}");
        }
        if let Some(first) = &walked.first {
            self.show(&first.0, &first.1, &mut text);
        }
        text
    }

    /// The first violating trace, shrunk.
    fn show(&self, walk: &Walk, history: &History, text: &mut String) {
        let model = self.model();
        let Some(memory_model) = &self.walks.check else { return };
        let lines = shrunk(history, memory_model);
        let _ = writeln!(
            text,
            "\nTrace {} is the first. Of its {}, these alone violate {model}:",
            walk.number + 1,
            counted(history.len() as u64, "event"),
        );
        for line in lines.iter().chain(&cycle(&lines, memory_model)) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(path) = self.kept {
            let path = path.display();
            let _ = writeln!(text, "\nNext steps:");
            let _ = writeln!(text, "  tribunal check --model {model} {path}");
            let _ = writeln!(text, "  tribunal explain --model {model} --shrink {path}");
        }
    }

    /// The report as a JSON object in one line, without the newline.
    pub fn json(&self) -> String {
        let walked = self.walked;
        let verdict = match walked {
            Walked { violating: 1.., .. } => "violation",
            Walked { broken: Some(_), .. } => "broken",
            Walked { cut_short: true, .. }
            | Walked { undecided: 1.., .. }
            | Walked { traces: 0, .. } => "undecided",
            _ => "consistent",
        };
        let first = walked.first.as_deref().map(|(walk, history)| First {
            events: history.len(),
            shrunk: self.walks.check.as_ref().map_or_else(Vec::new, |model| shrunk(history, model)),
            trace: walk.number + 1,
        });
        let broken = walked.broken.as_ref().map(|(number, broken, events)| BrokenObject {
            events: *events,
            trace: number + 1,
            what: self.protocol.explain(broken).to_string(),
        });
        crate::json_line(&Object {
            broken,
            events: walked.events,
            file: self.walks.name,
            first,
            memory_model: self.model(),
            model: self.walks.name,
            seconds: self.seconds,
            seed: self.walks.plan.seed,
            traces: walked.traces,
            verdict,
            violating: walked.violating,
        })
    }
}

/// The fields of the report, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    broken: Option<BrokenObject>,
    events: u64,
    file: &'a str,
    first: Option<First>,
    memory_model: &'a str,
    model: &'a str,
    seconds: f64,
    seed: u64,
    traces: u64,
    verdict: &'static str,
    violating: u64,
}

#[derive(Serialize)]
struct First {
    events: usize,
    shrunk: Vec<String>,
    trace: u64,
}

#[derive(Serialize)]
struct BrokenObject {
    events: usize,
    trace: u64,
    what: String,
}

/// The few events of a violating trace that matter, as lines of a trace.
fn shrunk(history: &History, model: &AnyModel) -> Vec<String> {
    let budget = Budget::unlimited();
    let part = match model.refute(history, Engine::Auto, &budget) {
        Verdict::Broken(proof) => {
            shrink(history, model, &proof, ShrinkOptions::default(), &budget).history
        }
        _ => history.clone(),
    };
    let text = Format::Text.text(&part);
    text.lines().filter(|line| *line != "check").map(str::to_owned).collect()
}

/// Why these lines cannot be, shown with their numbers.
fn cycle(lines: &[String], model: &AnyModel) -> Vec<String> {
    let text = lines.join("\n");
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let Some(Ok(history)) = TraceReader::new(text.as_bytes(), "trace", options).next() else {
        return Vec::new();
    };
    match model.refute(&history, Engine::Auto, &Budget::unlimited()) {
        Verdict::Broken(proof) => report::cycle_lines(&history, &proof),
        _ => Vec::new(),
    }
}
