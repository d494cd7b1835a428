//! `tribunal verify --mutants`: what would have been noticed.
//!
//! Each small change of the protocol is verified like the protocol itself. The report says which
//! of them its claims, deadlock and the memory model notice, and lists the others for a person to
//! look at.

use conform::mutate::{self, Entry, Fate, Options, Report, Totals};
use murphi::source::Source;
use serde_json::{Value, json};

use super::{Question, Stop, refused};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

/// Tries all mutants and reports.
pub(super) fn run(question: &Question<'_>, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let arguments = question.arguments;
    let mut options = Options { verify: question.options.clone(), ..Options::default() };
    options.survivors = arguments.survivors;
    options.only.clone_from(&arguments.mutant);
    options.jobs = question.options.search.threads;
    options.verify.search.threads = 1;
    let usual = Options::default().verify.search;
    options.verify.search.time = arguments.limits.budget.or(usual.time);
    options.verify.search.memory = arguments.limits.memory.map(|m| m as u64).or(usual.memory);
    let stop = Stop::new(None, interrupt);
    let progress = Progress::start(arguments.quiet.quiet);
    let teller = progress.teller();
    teller.say(|| "verifying the protocol".to_owned());
    let mut watch = |now: &mutate::Progress| {
        teller.say(|| format!("{} of {} mutants tried", now.done, now.total));
    };
    let report = mutate::run(question.source, &options, &mut watch, stop.flag());
    drop(progress);
    let report = match report {
        Ok(report) => report,
        Err(why) => return refused(question, why, interrupt),
    };
    let text = match arguments.json.json {
        true => format!("{}\n", object(question, &report)),
        false => {
            let text = report.text(question.source);
            let lines = if arguments.quiet.quiet { 1 } else { usize::MAX };
            let text = text.lines().take(lines).map(|line| format!("{line}\n"));
            format!("{}: {}", question.source.name, text.collect::<String>())
        }
    };
    let ending = match report.totals().undecided {
        _ if interrupt.happened() => Ending::Interrupted,
        0 => Ending::Kept,
        _ => Ending::Undecided,
    };
    output::deliver(&text, None, ending, interrupt)
}

/// The report for programs.
fn object(question: &Question<'_>, report: &Report) -> Value {
    let source = question.source;
    json!({
        "model": source.name,
        "memory_model": super::told_model(question.options.memory_model).name(),
        "totals": totals(&report.totals()),
        "mutants": report.entries.iter().map(|entry| mutant(entry, source)).collect::<Value>(),
    })
}

fn totals(totals: &Totals) -> Value {
    json!({
        "mutants": totals.mutants,
        "refused": totals.refused,
        "killed": totals.killed,
        "by_invariant": totals.by_invariant,
        "by_error": totals.by_error,
        "by_deadlock": totals.by_deadlock,
        "by_memory_model": totals.by_memory_model,
        "only_by_memory_model": totals.only_by_memory_model,
        "equivalent": totals.equivalent,
        "survived": totals.survived,
        "undecided": totals.undecided,
    })
}

fn mutant(entry: &Entry, source: &Source) -> Value {
    let (fate, why) = match &entry.fate {
        Fate::Refused(why) => ("refused", Some(why)),
        Fate::KilledByInvariant(name) => ("killed-by-invariant", Some(name)),
        Fate::KilledByError(message) => ("killed-by-error", Some(message)),
        Fate::KilledByDeadlock => ("killed-by-deadlock", None),
        Fate::KilledByMemoryModel(claim) => ("killed-by-memory-model", Some(claim)),
        Fate::LooksEquivalent => ("looks-equivalent", None),
        Fate::Survived => ("survived", None),
        Fate::Undecided(why) => ("undecided", Some(why)),
    };
    let mutant = &entry.mutant;
    json!({
        "number": mutant.number,
        "operator": mutant.operator.name(),
        "line": mutant.line(source),
        "place": mutant.place,
        "change": mutant.describe(source),
        "fate": fate,
        "why": why,
    })
}
