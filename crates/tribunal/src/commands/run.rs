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
use judge::AnyModel;
use stress::protocol::{Clients, Plan, Protocol};
use stress::{Effort, TargetName};

use super::record::{PreparationOptions, prepare};
use super::{explore::model, remark};
use crate::arguments::{DeadlockChoice, RunArguments, SingleModel};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Sink};
use crate::progress::Progress;

mod program;

pub(crate) fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
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
    let wanted = PreparationOptions {
        flags: &arguments.protocol,
        stores: arguments.operations(),
        colour: output::colours(arguments.colour, &std::io::stderr()),
        quiet: arguments.quiet.quiet,
    };
    let check = arguments.check.as_ref().map(SingleModel::memory_model).transpose()?;
    match prepare(&source, &wanted)? {
        Ok(protocol) => {
            walk(arguments, &walks(arguments, &source.name, check), &protocol, interrupt)
        }
        Err(ending) => Ok(ending),
    }
}

/// The options of the walks.
fn walks<'a>(arguments: &'a RunArguments, name: &'a str, check: Option<AnyModel>) -> Walks<'a> {
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
        format: arguments.format.unwrap_or_else(|| match arguments.check {
            Some(_) => Format::Text,
            None => arguments.json.trace_format(),
        }),
        settings: constants.chain(weights).collect(),
    }
}

/// Walks, writes the traces, and prints the summary.
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
    let reporter = progress.reporter();
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
    let mut watch = |walked: &hunt::Walked| reporter.say(|| walked.progress());
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
