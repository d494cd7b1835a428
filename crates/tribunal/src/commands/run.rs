//! `tribunal run`: a protocol walked at random, and the traces that come of it; programs on
//! machines, commands and protocols are in `run/program.rs`.
//!
//! Without --check, standard output (or the file of -o) is a stream of traces. With --check, each
//! trace is judged in the thread that recorded it; the first violating one is shrunk and shown, and
//! written whole to the file of -o.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Instant;

use explore::Stop;
use history::{Format, History};
use judge::{Budget, Engine, Outcome, judge};
use murphi::source::Source;
use stress::TargetName;
use stress::protocol::{Broken, Clients, Fleet, Plan, Protocol, Scribe, Walk, walk_all};

use super::explore::model;
use super::record::{Wanted, prepare};
use super::{count, remark};
use crate::arguments::{DeadlockChoice, RunArguments};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Output, Saved};
use crate::progress::Progress;

mod program;
mod tell;

use tell::Tale;

/// How many traces there are if nothing is said.
const TRACES: u64 = 100;

pub(crate) fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let file = match (&arguments.on, &arguments.program) {
        (TargetName::Protocol(file), None) => file,
        (target, None) => {
            let sentence = format!("say which program to run on {target}: tribunal run PROGRAM …");
            return Err(Failure::Usage(sentence));
        }
        (target, Some(file)) => return program::run(arguments, target, file, interrupt),
    };
    let source = model::read_source(file)?;
    let wanted = Wanted {
        flags: &arguments.protocol,
        stores: arguments.operations,
        colour: output::colours(arguments.colour, &std::io::stderr()),
        quiet: arguments.quiet.quiet,
    };
    let protocol = match prepare(&source, &wanted)? {
        Ok(protocol) => protocol,
        Err(ending) => return Ok(ending),
    };
    let mut session = Session::begin(arguments, &source, &protocol, interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let ended = session.walk(&progress);
    drop(progress);
    ended?;
    session.finish(interrupt)
}

/// What became of a walk.
struct Made {
    number: u64,
    events: usize,
    /// The trace as it is to be written; empty if it is not.
    text: Vec<u8>,
    broken: Option<(Broken, usize)>,
    judged: Judged,
}

enum Judged {
    Not,
    Consistent,
    /// It was time to stop.
    Abandoned,
    Violation(Box<(Walk, History)>),
}

/// A run under way.
struct Session<'a> {
    arguments: &'a RunArguments,
    source: &'a Source,
    protocol: &'a Protocol,
    plan: Plan,
    stop: Stop,
    sink: Sink,
    tale: Tale,
    started: Instant,
}

impl<'a> Session<'a> {
    fn begin(
        arguments: &'a RunArguments,
        source: &'a Source,
        protocol: &'a Protocol,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let deadlock = arguments.deadlock.unwrap_or(DeadlockChoice::Stuttering);
        let plan = Plan {
            operations: arguments.operations as usize,
            seed: arguments.seed,
            clients: if arguments.uniform { Clients::Uniform } else { Clients::Swarm },
            deadlock: deadlock.into(),
            steps: arguments.steps,
        };
        let sink = match &arguments.out.output {
            Some(path) if path.as_os_str() != "-" => Sink::File(Saved::create(path, interrupt)?),
            _ => Sink::Stdout(Output::stdout()),
        };
        Ok(Session {
            arguments,
            source,
            protocol,
            plan,
            stop: interrupt.stop(arguments.budget),
            sink,
            tale: Tale::default(),
            started: Instant::now(),
        })
    }

    /// Walks, and writes or judges what comes.
    fn walk(&mut self, progress: &Progress) -> Result<(), Failure> {
        let writes_all = self.arguments.check.is_none();
        if writes_all && self.arguments.format.is_none_or(|format| format == Format::Text) {
            let header = tell::header(self.arguments, self.source, self.protocol);
            self.sink.write(header.as_bytes())?;
        }
        let (arguments, protocol, plan) = (self.arguments, self.protocol, self.plan.clone());
        let scribe = Scribe::new(protocol);
        let unbounded = if arguments.budget.is_some() { u64::MAX } else { TRACES };
        let asked = arguments.traces.unwrap_or(unbounded);
        let teller = progress.teller();
        let mut failure = None;
        let Session { stop, sink, tale, .. } = self;
        let fleet = Fleet { count: asked, jobs: arguments.workers(), stop: stop.flag() };
        let budget = || Budget::unlimited().with_stop(stop.shared());
        let make = |walk: Walk| make(arguments, &scribe, walk, &budget());
        walk_all(protocol, &plan, fleet, make, &mut |made: Made| {
            if writes_all && let Err(error) = sink.write(&made.text) {
                failure = Some(error);
                return ControlFlow::Break(());
            }
            if matches!(made.judged, Judged::Abandoned) {
                return ControlFlow::Break(());
            }
            tale.add(made);
            teller.say(|| {
                let violating = match tale.violating {
                    0 => String::new(),
                    number => format!(", {number} violate the model"),
                };
                format!("{} traces, {} events{violating}", tale.traces, tale.events)
            });
            match arguments.first && tale.violating > 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        tale.cut_short = stop.timed_out() && arguments.traces.is_some_and(|n| tale.traces < n);
        match failure {
            Some(Failure::BrokenPipe) | None => Ok(()),
            Some(failure) => Err(failure),
        }
    }

    /// Says what was found.
    fn finish(self, interrupt: &Interrupt) -> Result<Ending, Failure> {
        let Session { arguments, source, protocol, stop, mut sink, tale, started, .. } = self;
        let ending = match () {
            () if interrupt.happened()
                || stop.flag().load(Ordering::SeqCst) && !stop.timed_out() =>
            {
                Ending::Interrupted
            }
            () if tale.violating > 0 || tale.broken.is_some() => Ending::Broken,
            () if tale.cut_short => Ending::Undecided,
            () => Ending::Kept,
        };
        let seconds = started.elapsed().as_secs_f64();
        let about = tell::About { arguments, source, protocol, tale: &tale, seconds };
        if let (Some(model), Sink::File(file)) = (arguments.check, &mut sink)
            && let Some(first) = &tale.first
        {
            let text = tell::whole(&about, model, first)?;
            file.write(&text)?;
        }
        sink.finish()?;
        if arguments.check.is_none() {
            if let Some(sentence) = about.broken() {
                remark(&sentence);
            }
            if !arguments.quiet.quiet {
                remark(&about.totals());
            }
            return Ok(ending);
        }
        let report = match arguments.json.json {
            true => about.json() + "\n",
            false => about.report(),
        };
        output::deliver(&report, None, ending, interrupt)
    }
}

/// Judges a walk or makes a text of it, in the thread that walked.
fn make(arguments: &RunArguments, scribe: &Scribe<'_>, walk: Walk, budget: &Budget) -> Made {
    let mut made = Made {
        number: walk.number,
        events: walk.events.len(),
        text: Vec::new(),
        broken: walk.broken.clone(),
        judged: Judged::Not,
    };
    let history =
        || scribe.history(&walk, arguments.order).expect("what a protocol records is a history");
    match (arguments.check, arguments.format) {
        (Some(model), _) => {
            let history = history();
            let verdict = judge(&history, model, Engine::Auto, budget);
            made.judged = match verdict.outcome {
                Outcome::Holds(_) => Judged::Consistent,
                Outcome::Undecided(_) => Judged::Abandoned,
                Outcome::Broken(_) => Judged::Violation(Box::new((walk, history))),
            };
        }
        (None, Some(Format::JsonLines)) => {
            // Nothing can go wrong in memory.
            let _ = history::write_jsonl(&history(), &mut made.text);
        }
        (None, _) => {
            let mut text = format!("# trace {}\n", walk.number + 1);
            scribe.text(&walk, arguments.order, &mut text);
            made.text = text.into_bytes();
        }
    }
    made
}

/// Where traces go.
enum Sink {
    Stdout(Output),
    File(Saved),
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Sink::Stdout(output) => output.writer().write_all(bytes).map_err(Failure::of_stdout),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Sink::Stdout(mut output) => match output.flush() {
                Err(Failure::BrokenPipe) => Ok(()),
                flushed => flushed,
            },
            Sink::File(file) => file.finish(),
        }
    }
}

impl Tale {
    fn add(&mut self, made: Made) {
        self.traces += 1;
        self.events += made.events as u64;
        if let Some((broken, events)) = made.broken
            && self.broken.is_none()
        {
            self.broken = Some((made.number, broken, events));
        }
        match made.judged {
            Judged::Not | Judged::Consistent | Judged::Abandoned => {}
            Judged::Violation(found) => {
                self.violating += 1;
                self.first.get_or_insert(found);
            }
        }
    }
}

/// `1 trace`, for numbers of 64 bits.
fn counted(number: u64, what: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), what)
}
