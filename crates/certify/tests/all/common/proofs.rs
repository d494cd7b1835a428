//! What holds of the proofs of both families: they are found and accepted where they should be, and
//! nowhere else.

use evidence::{Evidence, Proof};
use history::History;
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

use super::mutate::{mutated_history, mutated_proof};
use super::{claim, effort, shown};

/// Finds a proof that a history violates a model, if it does.
pub(crate) type Prover = fn(&History, Model) -> Option<Proof>;

/// Every violation of these models has a proof, and the kernel accepts it.
pub(crate) fn every_violation_is_proved(models: &[Model], prove: Prover, cases: u64) {
    let mut proofs = vec![0; models.len()];
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for seed in 0..effort(cases) {
            let history = random_history(&mut Rng::new(seed), &shape);
            for (row, &model) in models.iter().enumerate() {
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

/// No proof, as found or mutated, is accepted against a history that satisfies the model; at least
/// so many are tried.
pub(crate) fn no_proof_is_accepted(models: &[Model], prove: Prover, cases: u64, least: u32) {
    let mut rejected = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..effort(cases) {
            let mut rng = Rng::new(seed);
            let violating = random_history(&mut rng, &shape);
            let proofs: Vec<_> =
                models.iter().filter_map(|&model| prove(&violating, model)).collect();
            for _ in 0..4 {
                let history = mutated_history(&mut rng, &violating);
                for &model in models.iter().filter(|&&m| oracle::allows(&history, m)) {
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
    assert!(rejected > least, "{rejected}");
    println!("{rejected}");
}
