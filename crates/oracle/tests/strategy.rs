//! The strategy makes a healthy mix too, and shrinks what fails to something a person can read.

use history::History;
use models::Model;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestError, TestRunner};
use tribunal_oracle::{FEATURES, Shape, allows, mix_report, strategy};

/// The smallest counterexample that proptest finds to "every history of this shape has it".
fn counterexample(shape: Shape, holds: impl Fn(&History) -> bool) -> History {
    let mut runner = TestRunner::deterministic();
    let result = runner.run(&strategy(shape), |history| {
        prop_assert!(holds(&history));
        Ok(())
    });
    match result {
        Err(TestError::Fail(_, history)) => history,
        other => panic!("no counterexample: {other:?}"),
    }
}

#[test]
fn a_violation_of_sequential_consistency_shrinks_to_few_events() {
    let history = counterexample(Shape::rich(), |h| allows(h, Model::Sc));
    assert!(history.len() <= 3, "{history:?}");
    assert!(history.dependencies().is_empty() && !history.has_times(), "{history:?}");
}

#[test]
fn store_buffering_shrinks_to_its_four_events() {
    let history =
        counterexample(Shape::plain(), |h| allows(h, Model::Sc) || !allows(h, Model::Tso));
    assert_eq!((history.len(), history.thread_count(), history.address_count()), (4, 2, 2));
}

#[test]
fn the_strategy_makes_a_healthy_mix() {
    let mut runner = TestRunner::deterministic();
    let rich = strategy(Shape::rich());
    let histories: Vec<History> =
        (0..2_000).map(|_| rich.new_tree(&mut runner).unwrap().current()).collect();
    let mix = mix_report(histories);
    println!("{mix}");
    for model in Model::ALL {
        let percent = mix.percent_consistent(model);
        assert!((10.0..=90.0).contains(&percent), "{model} {percent}%");
    }
    for (feature, &count) in FEATURES.iter().zip(&mix.having) {
        assert!(count * 20 >= mix.histories, "only {count} have {}", feature.name);
    }
}
