//! The headline of a report, in one sentence.

use evidence::Verdict;
use explore::report::{Open as Ended, counted};
use judge::Outcome;
use murphi::source::Source;

use super::{Broken, Open, Report, Run};
use crate::{
    Counterexample, HAS_ROOM, MemoryModel, ROOM, Unestablished, Unknown, Verification,
    ViolationKind,
};

/// The sentence of a report.
pub(super) fn of(report: &Report, found: &Verification) -> String {
    match (&report.verdict, &found.verdict) {
        (Verdict::Holds(()), _) => {
            let sentence = assuming(verified(report), &report.assumed);
            with_unchecked(sentence, &found.unchecked)
        }
        (Verdict::Broken(Broken::Protocol(run)), _) => broken(run),
        (_, Verdict::Broken(ViolationKind::MemoryModel(alarm)))
        | (_, Verdict::Undecided(Unknown::FalseAlarm(alarm))) => of_alarm(report, alarm),
        (Verdict::Undecided(Open::NotEstablished(doubts)), _) => undecided(doubts, &report.source),
        (Verdict::Undecided(Open::Ended(reason)), _) => {
            Ended::Ended { reason: reason.clone(), bound: None, unchecked: Vec::new() }.to_string()
        }
        _ => String::new(),
    }
}

fn verified(report: &Report) -> String {
    match (report.options.memory_model, report.options.only) {
        (MemoryModel::Sc, Some(_)) => {
            let lemma = report.lemmas.first().map_or("", |lemma| &lemma.name);
            format!("{lemma}; other cycle lengths were not checked")
        }
        (memory_model, _) => format!("{} for {}", memory_model.kept(), report.sizes),
    }
}

/// Appends the assumptions that the user has allowed.
pub fn assuming(sentence: String, assumed: &[Unestablished]) -> String {
    match assumed.is_empty() {
        true => sentence,
        false => format!("{sentence}, assuming data independence"),
    }
}

/// Appends the properties that were not checked.
pub fn with_unchecked(sentence: String, unchecked: &[String]) -> String {
    match unchecked {
        [] => sentence,
        [one] => format!("{sentence}; {one} is not checked"),
        [several @ .., last] => {
            format!("{sentence}; {} and {last} are not checked", several.join(", "))
        }
    }
}

/// The sentence of a verdict that is undecided because assumptions are not established: the first
/// one with its place, and how many more there are.
pub fn undecided(doubts: &[Unestablished], source: &Source) -> String {
    let Some(first) = doubts.first() else { return String::new() };
    let more = match doubts.len() - 1 {
        0 => String::new(),
        1 => ", and at 1 more place".to_owned(),
        more => format!(", and at {more} more places"),
    };
    let place = source.place(first.diagnostic.span.start);
    format!("{} (at {place}{more}); nothing is proved or refuted", first.diagnostic.message)
}

fn broken(run: &Run) -> String {
    let what = &run.finding.broken.sentence;
    match run.finding.counterexample.as_ref().map(|run| run.steps.len()) {
        // A cover that is never reached has no run.
        None => what.clone(),
        Some(0) => format!("{what} in a start state"),
        Some(steps) => format!("{what} after {}", counted(steps as u64, "step")),
    }
}

fn of_alarm(report: &Report, alarm: &Counterexample) -> String {
    let memory_model = report.options.memory_model;
    let witness = if report.commits { "order of commits" } else { "simple witness" };
    let after = after(alarm);
    if alarm.claim == HAS_ROOM && !matches!(alarm.judged.outcome, Outcome::Broken(_)) {
        let limit = match memory_model {
            MemoryModel::Sc => format!(" for more than {ROOM} pending stores to an address"),
            MemoryModel::Tso => String::new(),
        };
        return format!(
            "the memory model allows the run {after}, but the observer has no room{limit}; \
             nothing is proved or refuted"
        );
    }
    if let (Some(misuse), Outcome::Holds(_)) = (&alarm.misuse, &alarm.judged.outcome) {
        return format!(
            "{misuse} {after}; call the commit procedure once for each store, after the store and \
             in the order of the processor's stores, or verify with --commit none"
        );
    }
    match (memory_model, &alarm.judged.outcome) {
        (MemoryModel::Sc, Outcome::Broken(_)) => format!("not sequentially consistent {after}"),
        (MemoryModel::Tso, Outcome::Broken(_)) => format!("violates total store order {after}"),
        (MemoryModel::Sc, _) => {
            format!(
                "the run {after} is sequentially consistent, but not in the assumed store \
                     order ({witness}); nothing is proved or refuted"
            )
        }
        (MemoryModel::Tso, _) => {
            format!("TSO allows the run {after}, TSO-LB does not; nothing is proved or refuted")
        }
    }
}

/// `after 5 steps with 2 loads and 1 store`
fn after(alarm: &Counterexample) -> String {
    let stores = alarm.trace.events.iter().filter(|event| event.is_store).count();
    let loads = alarm.trace.events.len() - stores;
    format!(
        "after {} with {} and {}",
        counted(alarm.run.len().saturating_sub(1) as u64, "step"),
        counted(loads as u64, "load"),
        counted(stores as u64, "store"),
    )
}
