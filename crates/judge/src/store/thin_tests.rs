//! Thin chains find less and decide the same: against the oracle, on histories of its size, as if
//! there were no room for wide clocks.

use certify::certify;
use evidence::{Certificate, Evidence};
use models::{Model, Rules};
use oracle::{Shape, allows, random_histories, text};

use super::decide_with;
use crate::{Budget, Engine};

#[test]
fn thin_chains_agree_with_the_oracle() {
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..2_000) {
            for model in [Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence] {
                let Rules::Store(rules) = model.rules() else { continue };
                let budget = Budget::unlimited();
                let verdict = decide_with(&history, model, rules, Engine::Auto, &budget, 0);
                let Some(evidence) = verdict.outcome.into_evidence() else {
                    panic!("undecided under {model}, seed {seed}");
                };
                let consistent = matches!(evidence, Evidence::Consistent(_));
                assert_eq!(
                    consistent,
                    allows(&history, model),
                    "{model}, seed {seed}:\n{}",
                    text(&history)
                );
                let certificate = Certificate { trace: 1, model, evidence };
                if let Err(rejection) = certify(&history, &certificate) {
                    panic!("{model}, seed {seed}: {rejection}\n{}", text(&history));
                }
            }
        }
    }
}
