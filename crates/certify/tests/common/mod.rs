//! What the tests of the kernel share.
#![allow(dead_code)] // not every test uses everything

pub(crate) mod causal_prover;
pub(crate) mod mutate;
pub(crate) mod search;
pub(crate) mod store_prover;

use evidence::{Certificate, Evidence, Reader};
use history::{History, Source, parse_text, write_text};
use models::Model;
use tribunal_certify::certify;

/// A certificate about the first trace.
pub(crate) fn claim(model: Model, evidence: Evidence) -> Certificate {
    Certificate { trace: 1, model, evidence }
}

/// The history in the trace format.
pub(crate) fn shown(history: &History) -> String {
    let mut text = Vec::new();
    write_text(history, &mut text).expect("writing to memory does not fail");
    String::from_utf8_lossy(&text).into_owned()
}

/// How many cases to try: these, or so many times as many as `TRIBUNAL_EFFORT` says.
pub(crate) fn effort(cases: u64) -> u64 {
    let factor = std::env::var("TRIBUNAL_EFFORT").ok().and_then(|text| text.parse().ok());
    cases * factor.unwrap_or(1)
}

/// All orders of some things.
pub(crate) fn permutations<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let mut all = vec![Vec::new()];
    for (count, &item) in items.iter().enumerate() {
        let longer = |order: &Vec<T>| {
            let order = order.clone();
            (0..=count).map(move |at| {
                let mut order = order.clone();
                order.insert(at, item);
                order
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Every way to choose a source for each reader that has several candidates.
pub(crate) fn choices(history: &History) -> Vec<Vec<(Reader, Source)>> {
    let events = history.event_ids().map(|e| (Reader::Event(e), history.sources(e)));
    let finals = history.finals().iter().map(|f| (Reader::Final(f.address), &f.sources[..]));
    let mut all = vec![Vec::new()];
    for (reader, sources) in events.chain(finals).filter(|(_, sources)| sources.len() > 1) {
        let longer = |choice: &Vec<(Reader, Source)>| {
            let choice = choice.clone();
            sources.iter().map(move |&source| {
                let mut choice = choice.clone();
                choice.push((reader, source));
                choice
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// What the kernel says about a trace and the evidence of a certificate for it, given as the
/// fields of its JSON.
pub(crate) fn verdict(trace: &str, model: Model, evidence: &str) -> Result<(), String> {
    let history = parse_text(trace).expect("the trace is well-formed");
    let verdict = if evidence.contains("\"proof\"") { "violation" } else { "consistent" };
    let line = format!(
        r#"{{"tribunal":1,"trace":1,"model":"{model}","verdict":"{verdict}","events":{},{evidence}}}"#,
        history.len()
    );
    let certificate = Certificate::from_json(&line, &history).expect("the line is a certificate");
    certify(&history, &certificate).map_err(|rejection| rejection.to_string())
}

/// The sentence with which the kernel rejects it.
pub(crate) fn rejection(trace: &str, model: Model, evidence: &str) -> String {
    verdict(trace, model, evidence).expect_err("the kernel accepts this")
}
