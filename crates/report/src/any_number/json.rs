//! A verification for any number of processors as one JSON object.

use conform::report::settings;
use evidence::Verdict;
use explore::report::{Counterexample, Settings};
use parametric::Audit;
use parametric::report::{ClaimSummary, Report};
use serde::Serialize;

use crate::json::{ModelFileName, line};
use crate::verification::{Open, assuming, open};

#[derive(Serialize)]
struct Fields<'a> {
    #[serde(flatten)]
    model: ModelFileName<'a>,
    memory_model: Option<&'static str>,
    verdict: &'static str,
    sentence: &'a str,
    any_processors: bool,
    processor_type: &'a str,
    concrete: u64,
    claims: &'a [ClaimSummary],
    not_established: Vec<Open<'a>>,
    assuming: &'static [&'static str],
    #[serde(flatten)]
    settings: Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<u64>,
    #[serde(flatten)]
    counterexample: Option<&'a Counterexample>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<Audit>,
}

/// The verification as a JSON object in one line, without the newline.
pub fn object(report: &Report) -> String {
    let finding = report.finding();
    line(&Fields {
        model: ModelFileName::new(&report.source.name),
        memory_model: report.memory_model.map(conform::MemoryModel::name),
        verdict: report.verdict_name(),
        sentence: &report.sentence,
        any_processors: true,
        processor_type: &report.processor,
        concrete: report.concrete,
        claims: &report.claims,
        not_established: open(report.not_established(), &report.source),
        assuming: assuming(&report.assumed),
        settings: settings(&report.options),
        property: finding.map(|finding| finding.broken.property.as_str()),
        kind: finding.map(|finding| finding.broken.kind.as_str()),
        processors: match &report.verdict {
            Verdict::Broken(broken) => Some(broken.processors),
            Verdict::Holds(()) | Verdict::Undecided(_) => None,
        },
        counterexample: finding.and_then(|finding| finding.counterexample.as_ref()),
        notes: &report.notes,
        audit: report.audit,
    })
}
