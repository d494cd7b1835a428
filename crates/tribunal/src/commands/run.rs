//! `tribunal run`: a protocol walked at random, and the traces that come of it; programs on
//! machines, commands and protocols are in `run/program.rs`.
//!
//! Without --check, standard output (or the file of -o) is a stream of traces. With --check, each
//! trace is judged; the first violating one is shrunk and shown, and written whole to the file of
//! -o.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Instant;

use history::Format;
use hunt::{WalkReport, Walks};
use judge::Promise;
use stress::protocol::{Clients, Plan, Protocol};
use stress::{Effort, TargetName};

use super::record::{Wanted, prepare};
use super::{explore::model, remark};
use crate::arguments::{DeadlockChoice, PromiseArgument, RunArguments};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Sink};
use crate::progress::Progress;

mod program;

pub(crate) fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if let Some((flag, needs)) = without_effect(arguments) {
        return Err(Failure::Usage(format!("{flag} has no effect here: it needs {needs}")));
    }
    let file = match (&arguments.on, &arguments.program) {
        (TargetName::Protocol(file), None) => file,
        (target, None) => {
            let sentence = format!(
                "missing PROGRAM: `tribunal run PROGRAM --on {target}` (`tribunal generate \
                 program` makes one)"
            );
            return Err(Failure::Usage(sentence));
        }
        (target, Some(file)) => return program::run(arguments, target, file, interrupt),
    };
    let source = model::read_source(file)?;
    let wanted = Wanted {
        flags: &arguments.protocol,
        stores: arguments.operations(),
        colour: output::colours(arguments.colour, &std::io::stderr()),
        quiet: arguments.quiet.quiet,
    };
    let check = arguments.check.as_ref().map(PromiseArgument::promise).transpose()?;
    match prepare(&source, &wanted)? {
        Ok(protocol) => {
            walk(arguments, &walks(arguments, &source.name, check), &protocol, interrupt)
        }
        Err(ending) => Ok(ending),
    }
}

/// The first flag that would change nothing, and what it needs to have an effect.
fn without_effect(arguments: &RunArguments) -> Option<(&'static str, &'static str)> {
    let walks = arguments.program.is_none();
    let protocol = matches!(arguments.on, TargetName::Protocol(_));
    let machine = matches!(arguments.on, TargetName::Machine(_));
    let (walk, murphi) = ("a protocol without a program: --on PROTOCOL.m", "--on PROTOCOL.m");
    let flags = &arguments.protocol;
    let rows = [
        ("--operations", arguments.operations.is_some(), walks, walk),
        ("--first", arguments.first, walks, walk),
        ("--order", arguments.order, walks, walk),
        ("--steps", arguments.steps, walks, walk),
        ("--uniform", arguments.uniform, walks, walk),
        ("--deadlock", arguments.deadlock.is_some(), walks, walk),
        ("--jobs", arguments.jobs.is_some(), walks, walk),
        ("--exhaustive", arguments.exhaustive, machine, "--on machine:MODEL"),
        ("--bug", arguments.bug.bug.is_some(), machine, "--on machine:MODEL"),
        ("--const", !flags.language.constants.is_empty(), protocol, murphi),
        ("--values", flags.values.is_some(), protocol, murphi),
        ("--weight", !flags.weights.is_empty(), protocol, murphi),
        ("--commit", flags.commit.is_some(), protocol, murphi),
    ];
    let unused = rows.into_iter().find(|(_, given, effective, _)| *given && !effective);
    unused.map(|(flag, _, _, needs)| (flag, needs))
}

/// Which walks are asked for.
fn walks<'a>(arguments: &'a RunArguments, name: &'a str, check: Option<Promise>) -> Walks<'a> {
    let deadlock = arguments.deadlock.unwrap_or(DeadlockChoice::Stuttering);
    let constants = arguments.protocol.language.constants.iter();
    let constants = constants.map(|(name, value)| format!("{name}={value}"));
    let weights = arguments.protocol.weights.iter();
    let weights = weights.map(|(rule, factor)| format!("weight {rule}={factor}"));
    let unbounded = if arguments.budget.is_some() { u64::MAX } else { Effort::RUNS };
    Walks {
        name,
        plan: Plan {
            operations: arguments.operations() as usize,
            seed: arguments.seed,
            clients: if arguments.uniform { Clients::Uniform } else { Clients::Swarm },
            deadlock: deadlock.into(),
            steps: arguments.steps,
        },
        count: arguments.traces.unwrap_or(unbounded),
        jobs: arguments.workers(),
        order: arguments.order,
        check,
        first: arguments.first,
        format: arguments.format.unwrap_or_default(),
        settings: constants.chain(weights).collect(),
    }
}

/// Walks, writes what comes, and says what was found.
fn walk(
    arguments: &RunArguments,
    walks: &Walks<'_>,
    protocol: &Protocol,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let out = arguments.out.output.as_deref();
    let mut sink = Sink::open(out, interrupt)?;
    let stop = interrupt.stop(arguments.budget);
    let started = Instant::now();
    let progress = Progress::start(arguments.quiet.quiet);
    let teller = progress.teller();
    if walks.check.is_none() && walks.format == Format::Text {
        sink.write(|out| out.write_all(walks.heading(protocol).as_bytes()))?;
    }
    let mut failure = None;
    let mut write = |text: &str| match sink.write(|out| out.write_all(text.as_bytes())) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    };
    let mut watch = |walked: &hunt::Walked| teller.say(|| walked.progress());
    let mut walked = walks.walk(protocol, &stop.shared(), &mut write, &mut watch);
    walked.cut_short = stop.timed_out() && arguments.traces.is_some_and(|n| walked.traces < n);
    drop(progress);
    match failure {
        None | Some(Failure::BrokenPipe) => {}
        Some(failure) => return Err(failure),
    }
    let interrupted =
        interrupt.happened() || stop.flag().load(Ordering::SeqCst) && !stop.timed_out();
    let ending = if interrupted { Ending::Interrupted } else { Ending::of(&walked.verdict()) };
    let kept = match (&walks.check, &walked.first, &sink) {
        (Some(model), Some(first), Sink::File(_)) => Some(walks.violation(protocol, model, first)),
        _ => None,
    };
    if let Some(text) = kept {
        sink.write(|out| out.write_all(text.as_bytes()))?;
    }
    match sink.finish() {
        Ok(()) | Err(Failure::BrokenPipe) => {}
        Err(failure) => return Err(failure),
    }
    let seconds = started.elapsed().as_secs_f64();
    let report = WalkReport { walks, protocol, walked: &walked, seconds, kept: out };
    if walks.check.is_none() {
        report.broken().iter().for_each(|sentence| remark(sentence));
        if !arguments.quiet.quiet {
            remark(&report.totals());
        }
        return Ok(ending);
    }
    let text = match arguments.json.json {
        true => report.json() + "\n",
        false => report.text(arguments.quiet.quiet),
    };
    output::deliver(&text, None, ending, interrupt)
}
