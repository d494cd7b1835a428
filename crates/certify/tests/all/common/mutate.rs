//! Histories and proofs that are nearly the same.

use evidence::{
    Atom, Because, Cycle, Derived, Edge, Graph, Literal, Node, Proof, Reader, Rule, Why,
};
use history::{AddressId, EventId, History, Source, parse_text};
use oracle::Rng;

use super::shown;

/// The history with a digit of one value changed, if that is a history of as many events and
/// addresses; else the history itself.
pub(crate) fn mutated_history(rng: &mut Rng, history: &History) -> History {
    let mut text = shown(history).into_bytes();
    for _ in 0..rng.below(3) {
        let digits: Vec<usize> = (1..text.len())
            .filter(|&at| text[at].is_ascii_digit() && text[at - 1] == b' ')
            .collect();
        if let Some(&at) = rng.pick(&digits) {
            text[at] = b'0' + rng.below(4) as u8;
        }
    }
    let mutated = String::from_utf8(text).ok().and_then(|text| parse_text(&text).ok());
    let same_size = |other: &History| {
        other.len() == history.len() && other.address_count() == history.address_count()
    };
    mutated.filter(same_size).unwrap_or_else(|| history.clone())
}

/// The proof with some parts of it changed.
pub(crate) fn mutated_proof(
    rng: &mut Rng,
    history: &History,
    proof: &Proof,
    mutations: usize,
) -> Proof {
    let mut proof = proof.clone();
    for _ in 0..mutations {
        mutate(rng, history, &mut proof);
    }
    proof
}

fn event(rng: &mut Rng, history: &History) -> EventId {
    EventId::new(rng.below(history.len().max(1)))
}

fn node(rng: &mut Rng, history: &History) -> Node {
    match rng.below(4) {
        0 => Node::Initial(AddressId::new(rng.below(history.address_count().max(1)))),
        1 => Node::ReadOf(event(rng, history)),
        _ => Node::Event(event(rng, history)),
    }
}

fn because(rng: &mut Rng) -> Because {
    [
        Because::ProgramOrder,
        Because::Fence,
        Because::Dependency,
        Because::Time,
        Because::ReadsFrom,
        Because::WriteOrder,
        Because::FromRead,
        Because::Derived(0),
        Because::Derived(1),
        Because::Derived(2),
    ][rng.below(10)]
}

fn literal(rng: &mut Rng, history: &History) -> Literal {
    let source = |rng: &mut Rng| match rng.below(3) {
        0 => Source::Initial,
        _ => Source::Write(event(rng, history)),
    };
    match rng.below(3) {
        0 => Literal::before(event(rng, history), event(rng, history)),
        1 => Literal::reads(Reader::Event(event(rng, history)), source(rng)),
        _ => Literal {
            atom: Atom::Reads(Reader::Event(event(rng, history)), source(rng)),
            positive: false,
        },
    }
}

fn mutate(rng: &mut Rng, history: &History, proof: &mut Proof) {
    let count = proof.steps.len().max(1);
    let index = rng.below(count);
    let Some(step) = proof.steps.get_mut(index) else { return };
    match rng.below(6) {
        0 if index + 1 < count => {
            proof.steps.remove(index);
        }
        1 => {
            let at = rng.below(step.clause.len().max(1));
            if at < step.clause.len() {
                step.clause.remove(at);
            }
        }
        2 if index + 1 < count => step.clause.push(literal(rng, history)),
        3 => step.why = Why::Propagation,
        _ => match &mut step.why {
            Why::Propagation => {}
            Why::Cycle(cycle) => mutate_cycle(rng, history, cycle),
            Why::Derivation { derived, cycle } => {
                if rng.percent(40) || derived.is_empty() {
                    mutate_cycle(rng, history, cycle);
                } else {
                    let at = rng.below(derived.len());
                    mutate_derived(rng, history, &mut derived[at]);
                }
            }
        },
    }
}

fn mutate_cycle(rng: &mut Rng, history: &History, cycle: &mut Cycle) {
    if rng.percent(20) {
        cycle.graph = graph(rng);
    } else {
        mutate_edges(rng, history, &mut cycle.edges);
    }
}

fn graph(rng: &mut Rng) -> Graph {
    [Graph::Location, Graph::Global, Graph::ThinAir][rng.below(3)]
}

fn mutate_edges(rng: &mut Rng, history: &History, edges: &mut Vec<Edge>) {
    let at = rng.below(edges.len().max(1));
    if at >= edges.len() {
        return;
    }
    let next = (at + 1) % edges.len();
    match rng.below(5) {
        // Skip a node: one edge where there were two.
        0 if edges.len() > 1 && next != 0 => {
            edges[at].to = edges[next].to;
            edges.remove(next);
        }
        1 => edges[at].because = because(rng),
        // Go through another node.
        2 => {
            let other = node(rng, history);
            edges[at].to = other;
            edges[next].from = other;
        }
        3 => {
            let other = node(rng, history);
            let Edge { to, .. } = edges[at];
            edges[at].to = other;
            edges.insert(at + 1, Edge { from: other, to, because: because(rng) });
        }
        _ => {
            edges.remove(at);
        }
    }
}

fn mutate_derived(rng: &mut Rng, history: &History, derived: &mut Derived) {
    match rng.below(8) {
        0 => derived.graph = graph(rng),
        1 => derived.scope = Some(node(rng, history)),
        2 => derived.via = Some(node(rng, history)),
        3 => derived.from = node(rng, history),
        4 => derived.to = node(rng, history),
        5 => {
            derived.rule =
                [Rule::Observed, Rule::Conflict, Rule::StoreOrder, Rule::Overwritten, Rule::Atomic]
                    [rng.below(5)];
        }
        _ => mutate_edges(rng, history, &mut derived.path),
    }
}
