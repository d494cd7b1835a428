//! A verification as one JSON object, for programs and for `--replay`.

use super::{Edge, Lemma, Memory, Open, Verification};
use crate::exploration::json::{add_counterexample, add_settings, list};
use crate::verdict::{Object, quoted};

/// The verification as a JSON object in one line, without the newline.
///
/// `counterexample` and what is needed to run it again are as in the JSON of an
/// [exploration](crate::exploration::json::object); `lemma` says of which composed model it is a
/// run, counted from 1.
pub fn object(verification: &Verification) -> String {
    let mut json = Object::new();
    json.text("model", &verification.model);
    json.text("memory_model", verification.memory_model.name());
    json.text("verdict", verification.verdict.name());
    json.text("sentence", &verification.sentence);
    let sizes = &verification.sizes;
    json.raw("processors", sizes.processors);
    json.raw("addresses", sizes.addresses);
    json.raw("values", sizes.values);
    json.raw("independent", verification.independent);
    add_grounds(&mut json, &verification.open, &verification.assuming);
    json.raw("lemmas", list(verification.lemmas.iter().map(lemma)));
    add_settings(&mut json, &verification.settings);
    for (kind, procedure) in &verification.events {
        json.text(kind, procedure);
    }
    json.raw("exact", verification.exact);
    if let Some(number) = verification.told_lemma {
        json.raw("lemma", number);
    }
    if let Some(broken) = &verification.broken {
        json.text("property", &broken.property);
        json.text("kind", &broken.kind);
    }
    if let Some(counterexample) = &verification.counterexample {
        add_counterexample(&mut json, counterexample);
    }
    if let Some(memory) = &verification.memory {
        add_memory(&mut json, memory);
    }
    json.raw("warnings", strings(&verification.warnings));
    json.finish()
}

/// What an answer would rest on and is not established, and what was assumed.
pub(crate) fn add_grounds(json: &mut Object, open: &[Open], assuming: &[String]) {
    json.raw("not_established", list(open.iter().map(not_established)));
    json.raw("assuming", strings(assuming));
}

fn not_established(open: &Open) -> String {
    let mut json = Object::new();
    json.text("what", &open.what);
    json.text("place", &open.place);
    json.text("sentence", &open.sentence);
    json.finish()
}

fn lemma(lemma: &Lemma) -> String {
    let mut json = Object::new();
    json.text("name", &lemma.name);
    json.raw("states", lemma.states);
    json.raw("rules_fired", lemma.rules_fired);
    json.raw("depth", lemma.depth);
    json.raw("seconds", format_args!("{:.3}", lemma.seconds));
    json.raw("holds", lemma.holds.map_or("null".to_owned(), |holds| holds.to_string()));
    if lemma.passed_over > 0 {
        json.raw("passed_over", lemma.passed_over);
    }
    json.finish()
}

fn add_memory(json: &mut Object, memory: &Memory) {
    json.raw("trace", strings(&memory.trace));
    json.raw("cycle", list(memory.cycle.iter().map(edge)));
    json.raw("judged", strings(&memory.judged));
}

fn edge(edge: &Edge) -> String {
    let mut json = Object::new();
    json.text("from", &edge.from);
    json.text("to", &edge.to);
    json.text("because", edge.because);
    json.finish()
}

fn strings(lines: &[String]) -> String {
    list(lines.iter().map(|line| quoted(line)))
}
