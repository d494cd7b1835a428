//! What models imply each other, on random histories of every shape: the lemmas of the papers, and
//! what follows from the definitions of the store models.

use models::{Model, implies};
use tribunal_oracle::{Shape, allows, random_histories, smallest, text};

/// Histories of each shape; there are seven.
const SEEDS: u64 = 15_000;

fn assert_implications(seeds: u64, is_claimed: impl Fn(Model, Model) -> bool) {
    let pairs = Model::ALL.into_iter().flat_map(|a| Model::ALL.map(|b| (a, b)));
    let claims: Vec<_> = pairs.filter(|&(a, b)| a != b && is_claimed(a, b)).collect();
    let asked = Model::ALL.map(|model| claims.iter().any(|&(a, b)| model == a || model == b));
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..seeds) {
            let verdicts = Model::ALL.map(|m| asked[m as usize] && allows(&history, m));
            for &(a, b) in &claims {
                if verdicts[a as usize] && !verdicts[b as usize] {
                    let small = smallest(&history, |h| allows(h, a) && !allows(h, b));
                    panic!("{a} without {b}, {} seed {seed}:\n{}", shape.name, text(&small));
                }
            }
        }
    }
}

#[test]
fn every_implication_of_the_lattice_holds_on_random_histories() {
    assert_implications(SEEDS, implies);
}

/// What a thread reads after a write of its own adds nothing to the order of writes, so that the
/// relaxed orders of wccm still have all of co, and all of cf, between writes. Gradual consistency
/// checking, section 4.1, believes that TSO implies CCv and has no proof: with Lemma 3, this is
/// one.
#[test]
fn weak_convergent_causal_memory_implies_causal_convergence() {
    assert_implications(2_000, |a, b| (a, b) == (Model::Wccm, Model::Ccv));
}

/// Any total order of writes that extends po ∪ rf ∪ cf explains each address on its own.
#[test]
fn causal_convergence_implies_coherence() {
    assert_implications(2_000, |a, b| (a, b) == (Model::Ccv, Model::Coherence));
}

#[test]
fn a_read_of_a_value_nobody_wrote_violates_every_model() {
    let mut found = 0;
    for (seed, history) in random_histories(&Shape::thin_air(), 0..500) {
        let is_unexplained = |&e: &_| history.event(e).is_read() && history.sources(e).is_empty();
        if history.event_ids().any(|e| is_unexplained(&e)) {
            found += 1;
            for model in Model::ALL {
                assert!(!allows(&history, model), "{model}, seed {seed}:\n{}", text(&history));
            }
        }
    }
    assert!(found > 50, "only {found} histories with thin-air reads");
}
