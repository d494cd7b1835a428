//! What the tests of the kernel share.

pub(crate) mod causal_prover;
pub(crate) mod mutate;
pub(crate) mod proofs;
pub(crate) mod search;
pub(crate) mod store_prover;

use std::collections::BTreeSet;

use evidence::{
    Because, Certificate, Cycle, Edge, Evidence, Graph, Literal, Node, Proof, Reader, Step, Why,
};
use history::{History, Source, parse_text, write_text};
use models::Model;
use tribunal_certify::{Fault, Rejection, certify};

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

/// Every edge that the kernel grants a cycle in this graph, when these literals are true: each is
/// put into a cycle whose other half cannot hold, to see which half is blamed.
pub(crate) fn granted_edges(
    history: &History,
    model: Model,
    truths: &[Literal],
    graph: Graph,
) -> BTreeSet<(Node, Node, Because)> {
    let events = history.event_ids().flat_map(|e| [Node::Event(e), Node::ReadOf(e)]);
    let nodes: Vec<Node> = events.chain(history.address_ids().map(Node::Initial)).collect();
    let reasons = [
        Because::ProgramOrder,
        Because::Fence,
        Because::Dependency,
        Because::Time,
        Because::ReadsFrom,
        Because::WriteOrder,
        Because::FromRead,
        Because::Derived(0),
    ];
    let clause: Vec<Literal> = truths.iter().map(|literal| literal.negated()).collect();
    let impossible = Because::Derived(u32::MAX);
    let mut granted = BTreeSet::new();
    for &from in &nodes {
        for &to in &nodes {
            for because in reasons {
                let there = Edge { from, to, because };
                let back = Edge { from: to, to: from, because: impossible };
                let cycle = Cycle { graph, edges: vec![there, back] };
                let lemma = Step { clause: clause.clone(), why: Why::Cycle(cycle) };
                let end = Step { clause: vec![], why: Why::Propagation };
                let proof = Proof { steps: vec![lemma, end] };
                match certify(history, &claim(model, Evidence::Violation(proof))) {
                    Err(Rejection { fault: Fault::NoEdge { because: blamed, .. }, .. }) => {
                        if blamed == impossible {
                            granted.insert((from, to, because));
                        }
                    }
                    Err(Rejection { fault: Fault::NoSuchGraph { .. }, .. }) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    granted
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
    certify(&history, &certificate).map_err(|rejection| without_lines(&rejection.to_string()))
}

/// The sentence with which the kernel rejects it.
pub(crate) fn rejection(trace: &str, model: Model, evidence: &str) -> String {
    verdict(trace, model, evidence).expect_err("the kernel accepts this")
}

/// A sentence without the lines of events: `[0,1] (line 2)` is `[0,1]`.
pub(crate) fn without_lines(said: &str) -> String {
    let mut parts = said.split(" (line ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}
