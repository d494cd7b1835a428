//! Properties of single verdicts, on histories that proptest shrinks when one fails.

use std::time::{Duration, Instant};

use models::Model;
use oracle::{Formula, Shape, SharedLiterals, allows, strategy, text};
use proptest::prelude::*;
use tribunal_judge::{Budget, Engine, Outcome, Reason, judge};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn verdicts_agree_with_the_oracle(history in strategy(Shape::rich())) {
        for model in Model::ALL {
            let verdict = judge(&history, model, Engine::Auto, &Budget::unlimited());
            let consistent = matches!(verdict.outcome, Outcome::Holds(_));
            prop_assert_eq!(consistent, allows(&history, model), "{}:\n{}", model, text(&history));
        }
    }

    #[test]
    fn the_same_question_gets_the_same_answer_with_the_same_evidence(
        history in strategy(Shape::rich())
    ) {
        for model in Model::ALL {
            for &(engine, ..) in Engine::ALL {
                let first = judge(&history, model, engine, &Budget::unlimited());
                let second = judge(&history, model, engine, &Budget::unlimited());
                prop_assert_eq!(first, second);
            }
        }
    }
}

#[test]
fn a_spent_budget_is_undecided_and_says_what_was_established() {
    let formula = Formula::random(60, 258, 1);
    let history = formula.history(Model::Sc, SharedLiterals::No);
    let start = Instant::now();
    let budget = Budget::unlimited().with_time(Duration::from_millis(1));
    let verdict = judge(&history, Model::Sc, Engine::Auto, &budget);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let Outcome::Undecided(undecided) = verdict.outcome else { panic!("{verdict:?}") };
    assert_eq!(undecided.reason, Reason::Time);
}

#[test]
fn tables_beyond_the_memory_budget_are_undecided() {
    let formula = Formula::random(20, 86, 1);
    let history = formula.history(Model::Sc, SharedLiterals::No);
    let budget = Budget::unlimited().with_memory(1000);
    let verdict = judge(&history, Model::Sc, Engine::Auto, &budget);
    let Outcome::Undecided(undecided) = verdict.outcome else { panic!("{verdict:?}") };
    assert_eq!(undecided.reason, Reason::Memory);
}
