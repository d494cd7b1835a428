//! Every violation of a store model has a proof that the kernel accepts, and no proof is accepted
//! against a history that satisfies the model.

use crate::common::proofs::{every_violation_is_proved, no_proof_is_accepted};
use crate::common::store_prover::{edges_when, prove, readers};
use crate::common::{self, granted_edges, shown};
use evidence::{Graph, Literal, Proof};
use history::History;
use models::{Model, StoreRules};
use oracle::{Rng, Shape, random_history};

fn store_models() -> impl Iterator<Item = (Model, StoreRules)> {
    Model::ALL.into_iter().filter_map(|model| Some((model, model.store_rules()?)))
}

fn models() -> Vec<Model> {
    store_models().map(|(model, _)| model).collect()
}

fn prove_by_rules(history: &History, model: Model) -> Option<Proof> {
    prove(history, model.store_rules()?)
}

#[test]
fn every_violation_has_a_proof_that_is_accepted() {
    every_violation_is_proved(&models(), prove_by_rules, 25);
}

#[test]
fn no_proof_is_accepted_against_a_history_that_satisfies_the_model() {
    no_proof_is_accepted(&models(), prove_by_rules, 25, 2_000);
}

/// A random answer to every question that the trace leaves open.
fn random_truths(rng: &mut Rng, history: &History) -> Vec<Literal> {
    let mut truths = Vec::new();
    for (reader, sources) in readers(history).into_iter().filter(|(_, s)| s.len() > 1) {
        truths.extend(rng.pick(sources).map(|&source| Literal::reads(reader, source)));
    }
    for address in history.address_ids() {
        let writes = &history.address(address).writes;
        for (i, &a) in writes.iter().enumerate() {
            for &b in &writes[i + 1..] {
                let literal = Literal::before(a, b);
                truths.push(if rng.percent(50) { literal } else { literal.negated() });
            }
        }
    }
    truths.retain(|_| rng.percent(80));
    truths
}

#[test]
fn the_edges_granted_to_a_cycle_are_exactly_those_of_its_graph() {
    let mut edges = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..common::effort(1) {
            let mut rng = Rng::new(seed);
            let history = random_history(&mut rng, &shape);
            let truths = random_truths(&mut rng, &history);
            for (model, rules) in store_models() {
                for graph in [Graph::Location, Graph::Global, Graph::ThinAir] {
                    let granted = granted_edges(&history, model, &truths, graph);
                    let expected = edges_when(&history, rules, &truths, graph);
                    let trace = shown(&history);
                    assert_eq!(granted, expected, "{model} {graph} {truths:?}\n{trace}");
                    edges += granted.len();
                }
            }
        }
    }
    assert!(edges > 500, "{edges}");
}
