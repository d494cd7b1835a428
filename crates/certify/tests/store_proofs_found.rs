//! Every violation of a store model has a proof that the kernel accepts, and no proof is accepted
//! against a history that satisfies the model.

mod common;

use common::mutate::{mutated_history, mutated_proof};
use common::store_prover::{edges_when, prove, readers};
use common::{claim, granted_edges, shown};
use evidence::{Evidence, Graph, Literal};
use history::History;
use models::{Model, StoreRules};
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

fn store_models() -> impl Iterator<Item = (Model, StoreRules)> {
    Model::ALL.into_iter().filter_map(|model| Some((model, model.store_rules()?)))
}

#[test]
fn every_violation_has_a_proof_that_is_accepted() {
    let mut proofs = [0; 6];
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for seed in 0..common::effort(25) {
            let history = random_history(&mut Rng::new(seed), &shape);
            for (row, (model, rules)) in store_models().enumerate() {
                let proof = prove(&history, rules);
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
        for seed in 0..common::effort(25) {
            let mut rng = Rng::new(seed);
            let violating = random_history(&mut rng, &shape);
            let proofs: Vec<_> =
                store_models().filter_map(|(_, rules)| prove(&violating, rules)).collect();
            for _ in 0..4 {
                let history = mutated_history(&mut rng, &violating);
                for (model, _) in store_models().filter(|&(m, _)| oracle::allows(&history, m)) {
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
    assert!(rejected > 2_000, "{rejected}");
    println!("{rejected}");
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
