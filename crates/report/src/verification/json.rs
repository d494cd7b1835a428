//! A verification as one JSON object, for programs and for a replay.

use conform::EventNames;
use conform::report::{Edge, Memory, Report, Searched, settings};
use explore::report::{Counterexample, Settings};
use serde::Serialize;

use super::{Open, assuming, judged, open};
use crate::json::{ModelFileName, line};

/// The verification as a JSON object in one line, without the newline.
pub fn object(report: &Report) -> String {
    let text = Text::of(report);
    line(&Fields::of(report, &text, report.verdict_name()))
}

/// The input of a replay, as `--out` writes it: a run is a violation or a deadlock, whatever its
/// meaning for memory.
pub(super) fn for_replay(report: &Report) -> String {
    let text = Text::of(report);
    let verdict = match report.run().map(|run| run.finding.broken.kind.as_str()) {
        Some("deadlock") => "deadlock",
        Some(_) => "violation",
        None => report.verdict_name(),
    };
    // A JSON value has its fields in the order of their names.
    line(&serde_json::json!(Fields::of(report, &text, verdict)))
}

/// `counterexample` and what is needed to run it again are as in the JSON of an
/// [exploration](crate::exploration::json::object); `lemma` says of which composed model it is a
/// run, counted from 1.
#[derive(Serialize)]
struct Fields<'a> {
    #[serde(flatten)]
    model: ModelFileName<'a>,
    memory_model: &'static str,
    verdict: &'static str,
    sentence: &'a str,
    #[serde(flatten)]
    sizes: conform::Sizes,
    independent: bool,
    not_established: &'a [Open<'a>],
    assuming: &'static [&'static str],
    lemmas: &'a [Searched],
    #[serde(flatten)]
    settings: Settings,
    #[serde(flatten)]
    events: Events<'a>,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lemma: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(flatten)]
    counterexample: Option<&'a Counterexample>,
    #[serde(flatten)]
    memory: Option<MemoryFields<'a>>,
    warnings: &'a [String],
}

/// The procedures that mark events.
#[derive(Serialize)]
struct Events<'a> {
    load: &'a str,
    store: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'a str>,
}

/// The loads and stores of a run.
#[derive(Serialize)]
struct MemoryFields<'a> {
    trace: Vec<&'a str>,
    cycle: &'a [Edge],
    judged: Vec<String>,
}

/// A text with places in the source.
struct Text<'a> {
    open: Vec<Open<'a>>,
    warnings: Vec<String>,
}

impl<'a> Text<'a> {
    fn of(report: &'a Report) -> Self {
        let source = &report.source;
        let warnings = report.warnings.iter();
        let warnings = warnings
            .map(|warning| format!("{}: {}", source.place(warning.span.start), warning.message));
        Text { open: open(report.not_established(), source), warnings: warnings.collect() }
    }
}

impl<'a> Fields<'a> {
    fn of(report: &'a Report, text: &'a Text<'a>, verdict: &'static str) -> Self {
        let run = report.run();
        let broken = run.map(|run| &run.finding.broken);
        let EventNames { load, store, commit } = &report.options.events;
        Fields {
            model: ModelFileName::new(&report.source.name),
            memory_model: report.options.memory_model.name(),
            verdict,
            sentence: &report.sentence,
            sizes: report.sizes,
            independent: report.independent,
            not_established: &text.open,
            assuming: assuming(&report.assumed),
            lemmas: &report.lemmas,
            settings: settings(&report.options),
            events: Events { load, store, commit: commit.as_deref() },
            exact: report.options.exact,
            lemma: run.map(|run| run.lemma),
            property: broken.map(|broken| broken.property.as_str()),
            kind: broken.map(|broken| broken.kind.as_str()),
            counterexample: run.and_then(|run| run.finding.counterexample.as_ref()),
            memory: report.memory().map(MemoryFields::of),
            warnings: &text.warnings,
        }
    }
}

impl<'a> MemoryFields<'a> {
    fn of(memory: &'a Memory) -> Self {
        MemoryFields {
            trace: memory.trace.lines().collect(),
            cycle: &memory.cycle,
            judged: judged(memory),
        }
    }
}
