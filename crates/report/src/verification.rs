//! What came of verifying a protocol against its memory model: [`text`] shows it to a person,
//! [`json`] to a program, and [`keep`] makes files of it to go on with.

pub mod json;
pub mod keep;
pub mod text;

use conform::Unestablished;
use conform::report::Memory;
use evidence::Evidence;
use judge::Outcome;
use murphi::source::Source;
use serde::Serialize;

use crate::brief::cycle_lines;

/// Something that is not established, in JSON and in text.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Open<'a> {
    /// The assumption: `data-independence`, `start-states` ….
    what: &'static str,
    /// Where: `protocol.m:12:3`.
    pub(crate) place: String,
    /// Why, in a sentence.
    pub(crate) sentence: &'a str,
}

/// The assumptions that are not established, with their places.
pub(crate) fn open<'a>(doubts: &'a [Unestablished], source: &Source) -> Vec<Open<'a>> {
    let open = |doubt: &'a Unestablished| Open {
        what: doubt.about.name(),
        place: source.place(doubt.diagnostic.span.start),
        sentence: &doubt.diagnostic.message,
    };
    doubts.iter().map(open).collect()
}

/// The allowed assumptions, by their names in flags and JSON.
pub(crate) fn assuming(assumed: &[Unestablished]) -> &'static [&'static str] {
    if assumed.is_empty() { &[] } else { &["data-independence"] }
}

/// Whether assuming data independence would leave nothing open.
pub(crate) fn can_be_assumed(open: &[Unestablished]) -> bool {
    !open.is_empty() && open.iter().all(|doubt| doubt.about.is_assumable())
}

/// The verdict of the trace checker, with its reason; for a consistent trace, also the verdict with
/// the stores ordered as in the run.
pub(crate) fn judged(memory: &Memory) -> Vec<String> {
    let mut lines = vec![format!("{}, certified", in_short(&memory.judged))];
    if let Evidence::Violation(proof) = &memory.certificate.evidence {
        lines.extend(cycle_lines(&memory.history, proof));
    }
    if let Some(verdict) = &memory.in_order_of_run {
        lines.push(format!(
            "with the stores of each address ordered as in the run: {}",
            in_short(verdict)
        ));
    }
    lines
}

/// `sc: violation (saturation)`
fn in_short(verdict: &judge::Judgement) -> String {
    let name = match &verdict.outcome {
        Outcome::Broken(_) => "violation",
        Outcome::Holds(_) => "consistent",
        Outcome::Undecided(_) => "undecided",
    };
    format!("{}: {name} ({})", verdict.model, verdict.decided_by)
}
