//! What was found, put into words and confirmed: the run by the reference interpreter, the
//! verdict on its memory trace by the kernel that checks certificates.

use std::sync::Arc;

use conform::{
    Counterexample, EventNames, Foundation, HAS_ROOM, Lemma, MOST_ALARMS, MemoryModel, NiceCycle,
    Options, ROOM, RestsOn, Verdict,
};
use evidence::{Certificate, Evidence};
use explore::Violation;
use explore::report::{self as run, Effect, Explanation, Open, Settings};
use history::{History, ReadOptions, ThinAir, TraceReader};
use judge::Outcome;
use models::Model;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use report::exploration::text::counted;
use report::verification::{self as told, Edge, Memory, Sizes, Verification};

use super::{Question, deadlock, grounds, told_model};
use crate::ending::Failure;
use crate::input;

/// What the names of observers' variables begin with.
const OBSERVER: &str = "tribunal_";

/// What was found, in words, and what it rests on.
pub(super) struct Tale {
    pub(super) verification: Verification,
    /// The composed model that the told run is of; nothing if it is the protocol itself.
    pub(super) composed: Option<String>,
    pub(super) judged: Option<Judged>,
}

/// A memory trace with a verdict that holds.
pub(super) struct Judged {
    pub(super) trace: String,
    pub(super) history: History,
    pub(super) certificate: Certificate,
}

/// Puts what was found into words.
pub(super) fn tell(
    question: &Question<'_>,
    found: &conform::Verification,
    timed_out: bool,
) -> Result<Tale, Failure> {
    let (processors, addresses, values) = found.sizes;
    let verification = Verification {
        sizes: Sizes { processors, addresses, values },
        independent: found.independent,
        reduced: is_reduced(found),
        commits: found.commits,
        lemmas: found.lemmas.iter().map(lemma).collect(),
        warnings: found.warnings.iter().map(|w| warning(w, question.source)).collect(),
        ..unanswered(question, String::new())
    };
    let mut tale = Tale { verification, composed: None, judged: None };
    match &found.verdict {
        Verdict::Verified => {
            tale.verification.verdict = told::Verdict::Verified;
            let Options { memory_model, only, .. } = question.options;
            tale.verification.sentence = match (memory_model, only) {
                (MemoryModel::Sc, None) => "sequentially consistent".to_owned(),
                (MemoryModel::Sc, Some(_)) => {
                    let lemma = found.lemmas.first().map_or("", |lemma| &lemma.name);
                    format!("{lemma}; others were not looked for")
                }
                (MemoryModel::Tso, _) => "implements total store order".to_owned(),
            };
            let sentence = &tale.verification.sentence;
            (tale.verification.sentence, tale.verification.assuming) =
                grounds::assuming(sentence, &found.assumed);
            tale.verification.sentence =
                grounds::with_unchecked(&tale.verification.sentence, &found.unchecked);
        }
        Verdict::NotEstablished(doubts) => {
            tale.verification.open = grounds::open(doubts, question.source);
            tale.verification.sentence = grounds::undecided(&tale.verification.open);
        }
        Verdict::Violation(alarm) => {
            tale.verification.verdict = told::Verdict::Violation;
            tell_alarm(&mut tale, question, found, alarm)?;
        }
        Verdict::FalseAlarm(alarm) => {
            tale.verification.verdict = match alarm.misuse {
                // It is no objection to the loads.
                Some(_) => told::Verdict::Undecided,
                None => told::Verdict::FalseAlarm,
            };
            tell_alarm(&mut tale, question, found, alarm)?;
        }
        Verdict::Broken => {
            tale.verification.verdict = told::Verdict::Broken;
            tell_broken(&mut tale, question, found)?;
        }
        Verdict::Undecided(reason) => {
            let reason = match (reason, timed_out) {
                (explore::Reason::Interrupted, true) => &explore::Reason::Time,
                (reason, _) => reason,
            };
            tale.verification.sentence =
                Open::Ended { reason: reason.clone(), bound: None }.to_string();
        }
        Verdict::NoStart => tale.verification.sentence = "there is no start state".to_owned(),
    }
    Ok(tale)
}

/// Whether few values were told apart to answer for any number of them.
fn is_reduced(found: &conform::Verification) -> bool {
    let needs = |rests_on: RestsOn| rests_on.includes(Foundation::DataIndependence);
    match found.verdict {
        Verdict::Verified => found.rests_on.iter().copied().any(needs),
        _ => found.lemmas.iter().any(|lemma| needs(lemma.rests_on)),
    }
}

/// How it is searched.
pub(super) fn settings(question: &Question<'_>) -> Settings {
    let Question { arguments, language, options, .. } = question;
    Settings {
        constants: language.constants.clone(),
        dialect: language.dialect,
        loop_limit: language.loop_limit,
        symmetry: arguments.symmetry.into(),
        deadlock: deadlock(arguments),
        jobs: options.search.threads,
        ..Settings::default()
    }
}

/// A verification without an answer, for this reason.
pub(super) fn unanswered(question: &Question<'_>, sentence: String) -> Verification {
    let Question { arguments, options, .. } = question;
    Verification {
        model: input::shown(&arguments.file).to_owned(),
        memory_model: told_model(options.memory_model),
        sentence,
        settings: settings(question),
        events: markers(&options.events),
        exact: options.exact,
        ..Verification::default()
    }
}

/// The procedures that mark events, as the flags that name them.
fn markers(names: &EventNames) -> Vec<(&'static str, String)> {
    let commit = names.commit.iter().map(|name| ("commit", name.clone()));
    [("load", names.load.clone()), ("store", names.store.clone())]
        .into_iter()
        .chain(commit)
        .collect()
}

fn lemma(lemma: &Lemma) -> told::Lemma {
    let found = &lemma.exploration;
    told::Lemma {
        name: lemma.name.clone(),
        states: found.states,
        rules_fired: found.rules_fired,
        depth: u64::from(found.depth),
        seconds: found.seconds,
        holds: match found.verdict {
            explore::Verdict::Verified => Some(lemma.passed_over == 0 && !lemma.misses_cover()),
            explore::Verdict::Violation(_) | explore::Verdict::Deadlock => Some(false),
            explore::Verdict::Undecided(_) => None,
        },
        passed_over: lemma.passed_over,
    }
}

/// `protocol.m:12:3: message`
fn warning(diagnostic: &Diagnostic, source: &Source) -> String {
    let (line, column) = source.position(diagnostic.span.start);
    format!("{}:{line}:{column}: {}", source.name, diagnostic.message)
}

/// An alarm: its run, its memory trace and what the trace checker says.
fn tell_alarm(
    tale: &mut Tale,
    question: &Question<'_>,
    found: &conform::Verification,
    alarm: &Counterexample,
) -> Result<(), Failure> {
    let lemma = &found.lemmas[alarm.lemma];
    let properties = &lemma.interpreter.model().properties;
    let property = properties.iter().position(|property| property.name == alarm.claim);
    let exploration = explore::Exploration {
        verdict: explore::Verdict::Violation(Violation::Broken {
            property: property.unwrap_or_default() as u32,
        }),
        counterexample: alarm.run.clone(),
        ..lemma.exploration.clone()
    };
    tell_run(tale, question, alarm.lemma, lemma, &exploration)?;
    if let Some(run) = &mut tale.verification.counterexample {
        for event in &alarm.trace.events {
            if let Some(step) = event.step.checked_sub(1).and_then(|at| run.steps.get_mut(at)) {
                step.printed.push(event.line());
            }
        }
    }
    let judged = judged(question, alarm)?;
    tale.verification.sentence =
        alarm_sentence(question.options.memory_model, tale.verification.commits, alarm);
    tale.verification.memory = Some(Memory {
        trace: judged.trace.lines().map(str::to_owned).collect(),
        cycle: alarm.cycle.as_ref().map(|cycle| edges(cycle, alarm)).unwrap_or_default(),
        judged: judgement(alarm, &judged.history),
    });
    tale.judged = Some(judged);
    Ok(())
}

fn alarm_sentence(memory_model: MemoryModel, commits: bool, alarm: &Counterexample) -> String {
    let witness = if commits { "order of commits" } else { "simple witness" };
    let after = format!(
        "after {} with {} and {}",
        counted(alarm.run.len().saturating_sub(1) as u64, "step"),
        counted(alarm.trace.events.iter().filter(|event| !event.is_store).count() as u64, "load"),
        counted(alarm.trace.events.iter().filter(|event| event.is_store).count() as u64, "store"),
    );
    if alarm.claim == HAS_ROOM && !matches!(alarm.judged.outcome, Outcome::Violation(_)) {
        let limit = match memory_model {
            MemoryModel::Sc => format!(" for more than {ROOM} pending stores to an address"),
            MemoryModel::Tso => String::new(),
        };
        return format!("allowed {after}, but the observer has no room{limit}; nothing is known");
    }
    if let (Some(misuse), Outcome::Consistent(_)) = (&alarm.misuse, &alarm.judged.outcome) {
        return format!(
            "{misuse} {after}; the order of commits means nothing then: call the mark once for each \
             store, after it, in the order of the processor's stores, or verify with --commit none"
        );
    }
    match (memory_model, &alarm.judged.outcome) {
        (MemoryModel::Sc, Outcome::Violation(_)) => format!("not sequentially consistent {after}"),
        (MemoryModel::Tso, Outcome::Violation(_)) => format!("violates total store order {after}"),
        (MemoryModel::Sc, _) => {
            format!("sequentially consistent {after}, but not by the {witness}; nothing is known")
        }
        (MemoryModel::Tso, _) => {
            format!("allowed by TSO but not by TSO-LB {after}; nothing is known")
        }
    }
}

/// The reference interpreter denies what a search says.
pub(super) fn contradiction(wrong: explore::Contradiction) -> Failure {
    Failure::Usage(wrong.to_string())
}

/// The run of a lemma, told by the reference interpreter.
fn tell_run(
    tale: &mut Tale,
    question: &Question<'_>,
    number: usize,
    lemma: &Lemma,
    exploration: &explore::Exploration,
) -> Result<(), Failure> {
    let told = run::told(&lemma.interpreter, exploration, false).map_err(contradiction)?;
    let text = &lemma.interpreter.model().source.text;
    tale.composed = (*text != question.source.text).then(|| text.clone());
    tale.verification.told_lemma = Some(number + 1);
    if let evidence::Verdict::Broken(finding) = told.verdict {
        tale.verification.broken = Some(finding.broken);
        tale.verification.counterexample = finding.counterexample;
    }
    if let (Some(run), Some(_)) = (&mut tale.verification.counterexample, &tale.composed) {
        for step in &mut run.steps {
            // The observer has put events into its own words.
            step.printed.retain(|line| !line.is_empty() && !line.starts_with(OBSERVER));
        }
    }
    Ok(())
}

/// The last lemma has met something that is wrong with the protocol itself.
fn tell_broken(
    tale: &mut Tale,
    question: &Question<'_>,
    found: &conform::Verification,
) -> Result<(), Failure> {
    let Some(lemma) = found.lemmas.last() else { return Ok(()) };
    tell_run(tale, question, found.lemmas.len() - 1, lemma, &lemma.exploration)?;
    // What a composition fails by is told at its place in the protocol.
    if let (Some(broken), Some(place)) = (&mut tale.verification.broken, &found.broken) {
        broken.sentence.clone_from(&place.message);
        broken.explanation = Explanation::Place {
            source: Arc::new(question.source.clone()),
            diagnostic: Box::new(place.clone()),
            values: Vec::new(),
        };
    }
    let steps = tale.verification.counterexample.as_ref().map(|run| run.steps.len());
    let what = tale.verification.broken.as_ref().map_or("", |broken| &broken.sentence);
    tale.verification.sentence = match steps {
        // No run shows what no run reaches.
        None => what.to_owned(),
        Some(0) => format!("{what} in a start state"),
        Some(steps) => format!("{what} after {}", counted(steps as u64, "step")),
    };
    Ok(())
}

/// The edges of a nice cycle.
fn edges(cycle: &NiceCycle, alarm: &Counterexample) -> Vec<Edge> {
    let line = |event: usize| alarm.trace.events[event].line();
    let mut edges = Vec::new();
    for (number, &(first, second)) in cycle.parts.iter().enumerate() {
        let next = cycle.parts[(number + 1) % cycle.parts.len()].0;
        let (from, to) = (line(first), line(second));
        edges.push(Edge { from, to, because: "program-order" });
        let (from, to) = (line(second), line(next));
        edges.push(Edge { from, to, because: "location-order" });
    }
    edges
}

/// The trace with its verdict, certified.
fn judged(question: &Question<'_>, alarm: &Counterexample) -> Result<Judged, Failure> {
    let trace = trace_text(alarm);
    let history = parse(&trace)?;
    let model = match question.options.memory_model {
        MemoryModel::Sc => Model::Sc,
        MemoryModel::Tso => Model::Tso,
    };
    // Comments shift the lines of events, so that the evidence is found again for this text.
    let verdict = complete_verdict(&history, model);
    let evidence = match verdict.outcome {
        Outcome::Violation(proof) => Evidence::Violation(proof),
        Outcome::Consistent(witness) => Evidence::Consistent(witness),
        Outcome::Undecided(_) => {
            return Err(Failure::Budget("the memory trace could not be judged".to_owned()));
        }
    };
    let certificate = Certificate { trace: 1, model, evidence };
    certify::certify(&history, &certificate).map_err(|rejection| {
        let advice = "this is a bug in tribunal, please report it with the model";
        Failure::Usage(format!(
            "the verdict on the memory trace is rejected: {rejection}; {advice}"
        ))
    })?;
    Ok(Judged { trace, history, certificate })
}

/// The trace, with the order in which the stores happened as a comment: the verdict must not rest
/// on it.
fn trace_text(alarm: &Counterexample) -> String {
    let (plain, ordered) = (alarm.trace.text(false), alarm.trace.text(true));
    let order = ordered.strip_prefix(&*plain).unwrap_or_default();
    let order = order.lines().map(|line| format!("# as it happened: {line}\n"));
    plain.clone() + &order.collect::<String>()
}

/// What the trace checker says, and why. Of what it allows, also what it says if stores must count
/// in the order in which they happened.
fn judgement(alarm: &Counterexample, history: &History) -> Vec<String> {
    let mut lines = vec![format!("{}, certified", in_short(&alarm.judged))];
    if let Outcome::Violation(proof) = &alarm.judged.outcome {
        lines.extend(report::cycle_lines(history, proof));
    } else if let Ok(ordered) = parse(&alarm.trace.text(true)) {
        let verdict = complete_verdict(&ordered, alarm.judged.model);
        lines.push(format!("with the stores in the order of the run: {}", in_short(&verdict)));
    }
    lines
}

/// `sc: violation (saturation)`
fn in_short(verdict: &judge::Verdict) -> String {
    let name = match &verdict.outcome {
        Outcome::Violation(_) => "violation",
        Outcome::Consistent(_) => "consistent",
        Outcome::Undecided(_) => "undecided",
    };
    format!("{}: {name} ({})", verdict.model, verdict.decided_by)
}

fn complete_verdict(history: &History, model: Model) -> judge::Verdict {
    judge::judge(history, model, judge::Engine::Auto, &judge::Budget::unlimited())
}

fn parse(trace: &str) -> Result<History, Failure> {
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    match TraceReader::new(trace.as_bytes(), "trace", options).next() {
        Some(Ok(history)) => Ok(history),
        Some(Err(error)) => Err(error.into()),
        None => Err(Failure::Usage("the run has no loads and stores".to_owned())),
    }
}

/// The verification without the variables of observers: a person looks at the protocol.
pub(super) fn without_observer(mut verification: Verification) -> Verification {
    let is_own = |name: &str| !name.starts_with(OBSERVER);
    if let Some(run) = &mut verification.counterexample {
        keep_own(&mut run.start, is_own);
        for step in &mut run.steps {
            if let Effect::Changed(changed) = &mut step.effect {
                changed.retain(|change| is_own(&change.place));
            }
            step.bindings.retain(|(name, _)| is_own(name));
        }
    }
    verification
}

fn keep_own(start: &mut run::Start, is_own: impl Fn(&str) -> bool) {
    start.folded.retain(|(place, _)| is_own(place));
    start.bindings.retain(|(name, _)| is_own(name));
}

/// The flags that ask the same question.
pub(super) fn asked_again(question: &Question<'_>) -> String {
    let mut flags = match question.options.memory_model {
        MemoryModel::Sc => "--model sc".to_owned(),
        MemoryModel::Tso => "--model tso".to_owned(),
    };
    for (name, value) in &question.language.constants {
        flags.push_str(&format!(" --const {name}={value}"));
    }
    let usual = markers(&EventNames::default());
    for (flag, name) in markers(&question.options.events) {
        if !usual.contains(&(flag, name.clone())) {
            flags.push_str(&format!(" --{flag} {name}"));
        }
    }
    if question.options.assume_independence {
        flags.push_str(&format!(" {}", grounds::ASSUME));
    }
    flags
}

/// How to go on when nothing was kept.
pub(super) fn commands(question: &Question<'_>, tale: &Tale) -> Vec<String> {
    let file = &question.arguments.file;
    let again = asked_again(question);
    let mut commands = Vec::new();
    let passes = question.options.pass_over > MOST_ALARMS;
    match (tale.verification.verdict, question.options.memory_model) {
        (told::Verdict::FalseAlarm, MemoryModel::Sc) if !passes => {
            commands.push(format!("tribunal verify {again} --witness none {file}"));
        }
        (told::Verdict::FalseAlarm, MemoryModel::Tso) if !passes => {
            commands.push(format!("tribunal verify {again} --continue {file}"));
        }
        _ => {}
    }
    if tale.verification.counterexample.is_some() {
        commands.push(format!("tribunal verify {again} --out DIR {file}"));
    }
    if grounds::can_be_assumed(&tale.verification.open) {
        commands.push(format!("tribunal verify {again} {} {file}", grounds::ASSUME));
    }
    commands
}
