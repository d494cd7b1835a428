//! The causal models as the kernel recomputes them, with prefixes of chains, are the causal models
//! as defined, with matrices: under some choice of what was read, or under none.

use crate::common::{self, choices, claim, shown};
use evidence::{Evidence, Witness};
use history::History;
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

fn some_choice_is_accepted(history: &History, model: Model) -> bool {
    choices(history).into_iter().any(|choices| {
        let evidence = Evidence::Consistent(Witness::Choices(choices));
        certify(history, &claim(model, evidence)).is_ok()
    })
}

#[test]
fn some_choice_is_accepted_iff_the_definition_holds() {
    let mut decided = [[0; 2]; 5];
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for seed in 0..common::effort(60) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let causal = Model::ALL.into_iter().filter(|model| model.causal_rules().is_some());
            for (row, model) in causal.enumerate() {
                let allowed = oracle::allows(&history, model);
                let accepted = some_choice_is_accepted(&history, model);
                let shape = shape.name;
                assert_eq!(accepted, allowed, "{model}, {shape} {seed}:\n{}", shown(&history));
                decided[row][usize::from(allowed)] += 1;
            }
        }
    }
    assert!(decided.iter().flatten().all(|&times| times > 50), "{decided:?}");
    println!("{decided:?}");
}
