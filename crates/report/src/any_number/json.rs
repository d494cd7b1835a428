//! A verification for any number of processors as one JSON object.

use super::{AnyNumber, Audit, Claim, Instance, Lemma};
use crate::exploration::json::{add_counterexample, add_settings, list};
use crate::verdict::{Object, quoted};
use crate::verification::json::add_grounds;

/// The verification as a JSON object in one line, without the newline.
pub fn object(found: &AnyNumber) -> String {
    let mut json = Object::new();
    json.text("model", &found.model);
    json.raw(
        "memory_model",
        found.memory_model.as_ref().map_or("null".to_owned(), |name| quoted(name)),
    );
    json.text("verdict", found.verdict.name());
    json.text("sentence", &found.sentence);
    json.raw("any_processors", true);
    json.text("processor_type", &found.processor);
    json.raw("concrete", found.concrete);
    json.raw("claims", list(found.claims.iter().map(claim)));
    add_grounds(&mut json, &found.open, &found.assuming);
    add_settings(&mut json, &found.settings);
    if let Some(broken) = &found.broken {
        json.text("property", &broken.property);
        json.text("kind", &broken.kind);
    }
    if let Some(processors) = found.processors {
        json.raw("processors", processors);
    }
    if let Some(counterexample) = &found.counterexample {
        add_counterexample(&mut json, counterexample);
    }
    json.raw("notes", list(found.notes.iter().map(|note| quoted(note))));
    if let Some(found) = &found.audit {
        json.raw("audit", audit(found));
    }
    json.finish()
}

fn audit(found: &Audit) -> String {
    let mut json = Object::new();
    json.raw("steps", found.steps);
    json.raw("views", found.views);
    json.raw("processors", found.processors);
    json.raw("searched", found.searched.map_or("null".to_owned(), |many| many.to_string()));
    json.raw("states", found.states);
    json.finish()
}

fn claim(claim: &Claim) -> String {
    let mut json = Object::new();
    json.text("name", &claim.name);
    json.raw("holds", claim.holds.map_or("null".to_owned(), |holds| holds.to_string()));
    json.raw("states", claim.states);
    json.raw("rules_fired", claim.rules_fired);
    json.raw("depth", claim.depth);
    json.raw("seconds", format_args!("{:.3}", claim.seconds));
    json.raw("rounds", claim.rounds);
    json.raw("named", claim.named);
    json.raw("minimal", claim.minimal);
    json.raw("lemmas", list(claim.lemmas.iter().map(lemma)));
    json.raw("instances", list(claim.instances.iter().map(instance)));
    json.finish()
}

fn lemma(lemma: &Lemma) -> String {
    let mut json = Object::new();
    json.text("rule", &lemma.rule);
    json.text("condition", &lemma.condition);
    json.text("invariant", &lemma.invariant);
    let called_for = lemma.called_for.as_ref();
    json.raw("called_for", called_for.map_or("null".to_owned(), |step| quoted(step)));
    json.finish()
}

fn instance(instance: &Instance) -> String {
    let mut json = Object::new();
    json.raw("processors", instance.processors);
    json.raw("states", instance.states);
    json.raw("complete", instance.complete);
    json.finish()
}
