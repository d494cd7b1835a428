//! Every violation of a causal model has a proof that the kernel accepts, and no proof is accepted
//! against a history that satisfies the model.

mod common;

use common::causal_prover::{edges_when, prove};
use common::mutate::{mutated_history, mutated_proof};
use common::store_prover::readers;
use common::{claim, granted_edges, shown};
use evidence::{Because, Evidence, Graph, Literal};
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

fn causal_models() -> impl Iterator<Item = Model> {
    Model::ALL.into_iter().filter(|model| model.causal_rules().is_some())
}

#[test]
fn every_violation_has_a_proof_that_is_accepted() {
    let mut proofs = [0; 5];
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for seed in 0..common::effort(15) {
            let history = random_history(&mut Rng::new(seed), &shape);
            for (row, model) in causal_models().enumerate() {
                let proof = prove(&history, model);
                let place = || format!("{model}, {} {seed}:\n{}", shape.name, shown(&history));
                assert_eq!(proof.is_none(), oracle::allows(&history, model), "{}", place());
                let Some(proof) = proof else { continue };
                proofs[row] += 1;
                let certificate = claim(model, Evidence::Violation(proof));
                let verdict = certify(&history, &certificate);
                assert_eq!(verdict, Ok(()), "{}\n{}", place(), certificate.to_json(&history));
            }
        }
    }
    assert!(proofs.iter().all(|&count| count > 20), "{proofs:?}");
    println!("{proofs:?}");
}

#[test]
fn no_proof_is_accepted_against_a_history_that_satisfies_the_model() {
    let mut rejected = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..common::effort(15) {
            let mut rng = Rng::new(seed);
            let violating = random_history(&mut rng, &shape);
            let proofs: Vec<_> =
                causal_models().filter_map(|model| prove(&violating, model)).collect();
            for _ in 0..4 {
                let history = mutated_history(&mut rng, &violating);
                for model in causal_models().filter(|&m| oracle::allows(&history, m)) {
                    for proof in &proofs {
                        for mutations in [0, 0, 1, 2] {
                            let proof = mutated_proof(&mut rng, &history, proof, mutations);
                            let certificate = claim(model, Evidence::Violation(proof));
                            let verdict = certify(&history, &certificate);
                            let line = certificate.to_json(&history);
                            assert!(verdict.is_err(), "{model}\n{}\n{line}", shown(&history));
                            rejected += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(rejected > 500, "{rejected}");
    println!("{rejected}");
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
