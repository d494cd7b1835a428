//! The graph of the states of a model, for Graphviz and as JSON.
//!
//! In a picture, variables that have one value in all states say nothing, so nodes show the others. In
//! JSON every state has all its variables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use explore::{GraphState, GraphStep, StateGraph, StateProblem, StepEnd};
use murphi::ir::Model;
use serde::Serialize;

use crate::json::ModelFileName;

/// The graph for Graphviz: a box a state, an arrow a step. Start states have a bold border, states that
/// break an invariant are red, deadlocks orange.
pub fn dot(graph: &StateGraph, model: &Model, file: &str) -> String {
    let listings: Vec<_> = graph.states.iter().map(|node| node.state.listing(model)).collect();
    let varying = varying(&listings);
    let mut text = format!(
        "// {}: {} states, {} steps{}\ndigraph states {{\n  node [shape=box, \
         fontname=\"monospace\"];\n  edge [fontname=\"sans-serif\"];\n",
        file.replace('\n', " "),
        graph.states.len(),
        graph.steps.len(),
        if graph.complete { "" } else { " (up to --bound)" }
    );
    for (number, (node, listing)) in graph.states.iter().zip(&listings).enumerate() {
        let mut label = number.to_string();
        for (path, value) in listing.iter().filter(|line| varying.contains(line.0.as_str())) {
            let _ = write!(label, "\n{path} = {value}");
        }
        let look = match &node.problem {
            Some(StateProblem::Invariant(name)) => {
                let _ = write!(label, "\nviolates \"{name}\"");
                ", color=red, fontcolor=red"
            }
            Some(StateProblem::Deadlock) => {
                label.push_str("\ndeadlock");
                ", color=darkorange"
            }
            None => "",
        };
        let start = if node.depth == 0 { ", style=bold" } else { "" };
        let _ = writeln!(text, "  {number} [label={}{look}{start}];", quoted(&label));
    }
    for (number, step) in graph.steps.iter().enumerate() {
        let Some(from) = step.from else { continue };
        let label = quoted(&rule(step));
        match &step.to {
            StepEnd::State(to) => {
                let _ = writeln!(text, "  {from} -> {to} [label={label}];");
            }
            StepEnd::Error(why) => {
                let why = quoted(why);
                let _ = writeln!(text, "  error{number} [label={why}, shape=octagon, color=red];");
                let _ = writeln!(text, "  {from} -> error{number} [label={label}];");
            }
        }
    }
    text + "}\n"
}

/// `read (p = Proc_1)`
fn rule(step: &GraphStep) -> String {
    let bindings: Vec<String> =
        step.bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match &bindings[..] {
        [] => step.rule.clone(),
        bindings => format!("{} ({})", step.rule, bindings.join(", ")),
    }
}

/// The places whose values differ between states.
fn varying(listings: &[Vec<(String, String)>]) -> BTreeSet<&str> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, value) in listings.iter().flatten() {
        values.entry(path).or_default().push(value);
    }
    let is_constant = |values: &[&str]| {
        values.len() == listings.len() && values.windows(2).all(|pair| pair[0] == pair[1])
    };
    values.into_iter().filter(|(_, values)| !is_constant(values)).map(|(path, _)| path).collect()
}

/// A text between quotes, as Graphviz reads it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l");
    let end = if escaped.contains("\\l") { "\\l" } else { "" };
    format!("\"{escaped}{end}\"")
}

/// The graph, in the order in which fields are printed.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    model: ModelFileName<'a>,
    complete: bool,
    states: Vec<StateObject>,
    steps: Vec<StepObject<'a>>,
}

#[derive(Serialize)]
struct StateObject {
    number: usize,
    start: bool,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    violates: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deadlock: bool,
    values: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct StepObject<'a> {
    from: Option<usize>,
    to: Option<usize>,
    rule: &'a str,
    bindings: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The graph as one JSON object, with a newline. The fields are those of docs/interface.md.
pub fn json(graph: &StateGraph, model: &Model, file: &str) -> String {
    let state = |(number, node): (usize, &GraphState)| StateObject {
        number,
        start: node.depth == 0,
        depth: node.depth,
        violates: match &node.problem {
            Some(StateProblem::Invariant(name)) => Some(name.clone()),
            _ => None,
        },
        deadlock: node.problem == Some(StateProblem::Deadlock),
        values: node.state.listing(model).into_iter().collect(),
    };
    fn step(step: &GraphStep) -> StepObject<'_> {
        let (to, error) = match &step.to {
            StepEnd::State(to) => (Some(*to), None),
            StepEnd::Error(why) => (None, Some(why.as_str())),
        };
        let bindings = step.bindings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        StepObject { from: step.from, to, rule: &step.rule, bindings: bindings.collect(), error }
    }
    let object = Object {
        model: ModelFileName::new(file),
        complete: graph.complete,
        states: graph.states.iter().enumerate().map(state).collect(),
        steps: graph.steps.iter().map(step).collect(),
    };
    crate::json::line(&object) + "\n"
}
