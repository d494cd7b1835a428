//! The strategy shrinks what fails to something a person can read.

use history::History;
use models::Model;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm::ChaCha;
use proptest::test_runner::{Config, TestError, TestRng, TestRunner};
use tribunal_oracle::{Shape, allows, strategy, text};

/// The smallest counterexample that proptest finds to "every history of this shape has it".
fn counterexample(shape: Shape, holds: impl Fn(&History) -> bool) -> History {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(ChaCha));
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
fn a_violation_of_sequential_consistency_shrinks_to_three_events() {
    let history = counterexample(Shape::plain(), |h| allows(h, Model::Sc));
    assert_eq!(text(&history), "0: M[x] == 1\n0: M[x] == 0\n1: M[x] := 1\ncheck\n");
}

#[test]
fn store_buffering_shrinks_to_its_four_events() {
    let history = counterexample(Shape::rich(), |h| allows(h, Model::Sc) || !allows(h, Model::Tso));
    assert_eq!(text(&history), "0: M[x] := 1\n0: M[y] == 0\n1: M[y] := 1\n1: M[x] == 0\ncheck\n");
}
