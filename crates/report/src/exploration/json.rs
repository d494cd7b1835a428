//! An exploration as one JSON object, for programs and for `--replay`.

use super::{Counterexample, Exploration, Settings, Start, Step, Totals};
use crate::verdict::{Object, quoted};

/// The exploration as a JSON object in one line, without the newline.
///
/// The fields are those of the contract, and more: what is needed to run the counterexample again
/// (`constants`, `dialect`, `loop_limit`, `deadlock`, and `start`, the start state in full), how
/// the search was done, and `rule_coverage`. A step that fails has `error` instead of `changed`.
pub fn object(exploration: &Exploration) -> String {
    let mut json = Object::new();
    json.text("model", &exploration.model);
    json.text("verdict", exploration.verdict.name());
    if let Some(broken) = &exploration.broken {
        json.text("property", &broken.property);
        json.text("kind", &broken.kind);
        if let Some((line, column)) = broken.place {
            json.raw("line", line);
            json.raw("column", column);
        }
    }
    if let Some(reason) = &exploration.reason {
        json.text("reason", reason);
    }
    add_totals(&mut json, &exploration.totals);
    add_settings(&mut json, &exploration.settings);
    if let Some(counterexample) = &exploration.counterexample {
        add_counterexample(&mut json, counterexample);
    }
    let rules = exploration
        .rules
        .iter()
        .map(|(rule, fired)| format!("{{\"rule\":{},\"fired\":{fired}}}", quoted(rule)));
    json.raw("rule_coverage", list(rules));
    json.finish()
}

fn add_totals(json: &mut Object, totals: &Totals) {
    json.raw("states", totals.states);
    json.raw("rules_fired", totals.rules_fired);
    json.raw("depth", totals.depth);
    json.raw("seconds", format_args!("{:.3}", totals.seconds));
    json.raw("bytes_per_state", format_args!("{:.1}", totals.bytes_per_state));
    if let Some(probability) = totals.omission_probability {
        json.raw("omission_probability", format_args!("{probability:e}"));
    }
}

pub(crate) fn add_settings(json: &mut Object, settings: &Settings) {
    json.text("symmetry", &settings.symmetry);
    if !settings.asymmetric.is_empty() {
        json.raw("asymmetric", list(settings.asymmetric.iter().map(|name| quoted(name))));
    }
    json.text("deadlock", &settings.deadlock);
    json.text("search", &settings.search);
    json.raw("jobs", settings.jobs);
    if let Some(seed) = settings.seed {
        json.raw("seed", seed);
    }
    if let Some(bound) = settings.bound {
        json.raw("bound", bound);
    }
    if let Some(bits) = settings.compact {
        json.raw("compact", bits);
    }
    json.raw("constants", map(&settings.constants));
    json.text("dialect", &settings.dialect);
    json.raw("loop_limit", settings.loop_limit);
}

pub(crate) fn add_counterexample(json: &mut Object, counterexample: &Counterexample) {
    json.raw("start", start(&counterexample.start));
    json.raw("counterexample", list(counterexample.steps.iter().map(step)));
}

fn start(start: &Start) -> String {
    let mut json = Object::new();
    json.text("rule", &start.rule);
    json.raw("bindings", map(&start.bindings));
    match &start.error {
        Some(message) => json.text("error", message),
        None => json.raw("state", map(&start.state)),
    }
    json.finish()
}

fn step(step: &Step) -> String {
    let mut json = Object::new();
    json.text("rule", &step.rule);
    json.raw("bindings", map(&step.bindings));
    match &step.error {
        Some(message) => json.text("error", message),
        None => {
            let changed = step.changed.iter();
            let changed = changed.map(|change| (change.place.as_str(), change.after.as_str()));
            json.raw("changed", pairs(changed));
        }
    }
    if let Some(state) = &step.state {
        json.raw("state", map(state));
    }
    json.finish()
}

fn map(fields: &[(String, String)]) -> String {
    pairs(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

fn pairs<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let fields = fields.map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
