//! Every violation of a causal model has a proof that the kernel accepts, and no proof is accepted
//! against a history that satisfies the model.

use crate::common::causal_prover::{edges_when, prove};
use crate::common::proofs::{every_violation_is_proved, no_proof_is_accepted};
use crate::common::store_prover::readers;
use crate::common::{self, granted_edges, shown};
use evidence::{Because, Graph, Literal};
use models::Model;
use oracle::{Rng, Shape, random_history};

fn causal_models() -> impl Iterator<Item = Model> {
    Model::ALL.into_iter().filter(|model| model.causal_rules().is_some())
}

fn models() -> Vec<Model> {
    causal_models().collect()
}

#[test]
fn every_violation_has_a_proof_that_is_accepted() {
    every_violation_is_proved(&models(), prove, 15);
}

#[test]
fn no_proof_is_accepted_against_a_history_that_satisfies_the_model() {
    no_proof_is_accepted(&models(), prove, 15, 500);
}

#[test]
fn the_edges_granted_without_a_rule_are_exactly_those_of_the_model() {
    let mut edges = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..common::effort(2) {
            let mut rng = Rng::new(seed);
            let history = random_history(&mut rng, &shape);
            let mut truths = Vec::new();
            for (reader, sources) in readers(&history).into_iter().filter(|(_, s)| s.len() > 1) {
                truths.extend(rng.pick(sources).map(|&source| Literal::reads(reader, source)));
            }
            for model in causal_models() {
                let relaxed = model == Model::Wccm;
                let graphs = [Graph::Global, Graph::Location];
                for graph in graphs.into_iter().filter(|&g| relaxed || g == Graph::Global) {
                    // That a fence orders what program order orders anyway, and that a line puts
                    // the initial write first, is granted but nothing new.
                    let mut granted = granted_edges(&history, model, &truths, graph);
                    let expected = edges_when(&history, model, &truths, graph);
                    granted.retain(|&(from, to, because)| {
                        let program = (from, to, Because::ProgramOrder);
                        let known = matches!(because, Because::Fence | Because::WriteOrder);
                        expected.contains(&(from, to, because))
                            || !(known && expected.contains(&program))
                    });
                    let trace = shown(&history);
                    assert_eq!(granted, expected, "{model} {graph} {truths:?}\n{trace}");
                    edges += granted.len();
                }
            }
        }
    }
    assert!(edges > 500, "{edges}");
}
