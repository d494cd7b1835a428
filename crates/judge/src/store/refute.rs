//! From a cycle to a proof.
//!
//! The inferred edges of a cycle each rest on a path of older edges, which may hold inferred edges
//! in turn. Taking the youngest first, each is explained by the shortest such path; what comes out
//! is the part of the derivation that the cycle needs, as lemmas of one literal each: "this write
//! came before that one, or else this cycle". One breadth-first search per inferred edge used.

use std::collections::BTreeSet;

use evidence::{Because, Edge, Literal, Node, Proof, Step, Why};
use history::EventId;

use super::coherence::{self, SeenOrder};
use super::graph::{EdgeId, Origin, node};
use super::problem::Problem;

/// The proof that a cycle of the graph gives.
pub(crate) fn refute(problem: &Problem, cycle: &[EdgeId]) -> Proof {
    let mut steps = lemmas(problem, cycle.iter().copied());
    let edges = problem.graph.evidence(problem.history, cycle);
    steps.push(Step { clause: vec![], why: Why::Cycle(problem.cycle(edges)) });
    Proof { steps }
}

/// The lemmas on which the given edges rest, each after those it uses.
fn lemmas(problem: &Problem, edges: impl Iterator<Item = EdgeId>) -> Vec<Step> {
    orders_and_lemmas(problem, edges, std::iter::empty())
}

/// The lemmas on which the given edges rest, and those that prove orders of writes the clocks
/// know.
pub(crate) fn orders_and_lemmas(
    problem: &Problem,
    edges: impl Iterator<Item = EdgeId>,
    orders: impl Iterator<Item = (EventId, EventId)>,
) -> Vec<Step> {
    let mut needed: BTreeSet<EdgeId> = edges.collect();
    let mut steps = Vec::new();
    for (a, b) in orders {
        let path = problem
            .graph
            .shortest_path(node(a), node(b), problem.graph.edge_count())
            .expect("the clocks know only what a path shows");
        if !is_write_order(problem, &path) {
            let closing = step_edge(b, a, Because::WriteOrder);
            steps.push(by_path(problem, a, b, &path, closing));
        }
        needed.extend(path);
    }
    while let Some(edge) = needed.pop_last() {
        if let Some((step, premise)) = lemma(problem, edge) {
            needed.extend(premise);
            steps.extend(step);
        }
    }
    steps.reverse();
    let mut proved = BTreeSet::new();
    steps.retain(|step: &Step| proved.insert(step.clause.clone()));
    steps
}

/// The lemma on which an inferred edge rests, if it needs one, and the edges that one uses.
fn lemma(problem: &Problem, edge: EdgeId) -> Option<(Option<Step>, Vec<EdgeId>)> {
    let graph = &problem.graph;
    let event = |n| graph.event(n).expect("inferred edges join events");
    let origin = graph.origin(edge)?;
    let (from, to) = (event(graph.from(edge)), event(graph.to(edge)));
    let path = |a: EventId, b: EventId| {
        graph
            .shortest_path(node(a), node(b), edge as usize)
            .expect("an inferred edge rests on a path of older edges")
    };
    match origin {
        Origin::Given | Origin::OverwritesInitial | Origin::Tried => None,
        Origin::Coherence { first, second } => {
            let order = SeenOrder { before: from, after: to, first, second };
            let cycle = coherence::refutation(&order);
            Some((Some(before(from, to, Why::Cycle(cycle))), vec![]))
        }
        Origin::SeenBefore { read } => {
            let premise = path(from, read);
            let closing = step_edge(read, from, Because::FromRead);
            Some((Some(by_path(problem, from, to, &premise, closing)), premise))
        }
        Origin::Overwrites { source } => {
            let premise = path(source, to);
            if is_write_order(problem, &premise) {
                return Some((None, premise));
            }
            let closing = step_edge(to, source, Because::WriteOrder);
            Some((Some(by_path(problem, source, to, &premise, closing)), premise))
        }
    }
}

/// Whether a path is one edge of the write order, which speaks for itself.
fn is_write_order(problem: &Problem, path: &[EdgeId]) -> bool {
    matches!(path, [only] if matches!(
        problem.graph.origin(*only),
        Some(Origin::Given | Origin::Coherence { .. } | Origin::SeenBefore { .. })
    ))
}

fn before(a: EventId, b: EventId, why: Why) -> Step {
    Step { clause: vec![Literal::before(a, b)], why }
}

/// `a` comes before `b`: otherwise `closing` would close this path.
fn by_path(problem: &Problem, a: EventId, b: EventId, path: &[EdgeId], closing: Edge) -> Step {
    let mut edges = problem.graph.evidence(problem.history, path);
    edges.push(closing);
    before(a, b, Why::Cycle(problem.cycle(edges)))
}

pub(crate) fn step_edge(from: EventId, to: EventId, because: Because) -> Edge {
    Edge { from: Node::Event(from), to: Node::Event(to), because }
}
