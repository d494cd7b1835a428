//! Plans: the same test for the same number, and nothing that the target cannot do.

use std::collections::BTreeSet;

use stress::{Action, KnobError};
use tribunal_hunt::{Abilities, Plan, PlanError, TestOptions};

use crate::common::plan;

#[test]
fn a_test_depends_on_seed_and_number_only() {
    let (first, again) = (plan(7), plan(7));
    let forwards: Vec<_> = (0..200).map(|number| first.test(number)).collect();
    let backwards: Vec<_> = (0..200).rev().map(|number| again.test(number)).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
    assert_ne!(plan(7).test(0).seed, plan(8).test(0).seed);
    let programs: BTreeSet<String> =
        forwards.iter().map(|planned| planned.test.program.to_string()).collect();
    assert_eq!(programs.len(), 200, "they differ");
}

#[test]
fn litmus_tests_come_in_turn_and_then_with_places_in_one_line() {
    let plan = plan(0);
    let count = plan.litmus().len();
    eprintln!("{count} litmus tests");
    let tests = (0..).map(|number| plan.test(number)).filter(|planned| planned.litmus.is_some());
    let tests: Vec<_> = tests.take(2 * count).collect();
    let order: Vec<usize> = tests.iter().filter_map(|planned| planned.litmus).collect();
    assert!(order.iter().copied().eq((0..count).chain(0..count)));
    assert_eq!(&tests[0].test, &plan.litmus()[0]);
    let lines = |at: usize| -> BTreeSet<u32> {
        tests[at].test.program.places.iter().map(|place| place.line).collect()
    };
    assert!(lines(0).len() > 1 && lines(count).len() == 1);
    for planned in &tests {
        planned.test.program.check().unwrap();
    }
}

#[test]
fn the_share_of_litmus_tests_is_as_asked() {
    for litmus in [0, 1, 30, 99, 100] {
        let plan =
            Plan::new(TestOptions { litmus, ..TestOptions::default() }, Abilities::machine(2))
                .unwrap();
        let have = (0..1000).filter(|&number| plan.test(number).litmus.is_some()).count();
        assert_eq!(have, litmus as usize * 10);
    }
}

#[test]
fn programs_fit_the_target() {
    let abilities = Abilities {
        threads: 2,
        atomics: false,
        fences: false,
        dependencies: false,
        ..Abilities::machine(2)
    };
    let plan = Plan::new(TestOptions::default(), abilities).unwrap();
    for number in 0..500 {
        let program = plan.test(number).test.program;
        assert!(program.threads.len() <= 2, "{program}");
        for instruction in program.threads.iter().flatten() {
            let plain = matches!(instruction.action, Action::Load { .. } | Action::Store { .. });
            assert!(plain && instruction.depends_on.is_empty(), "{program}");
        }
    }
}

#[test]
fn wishes_are_kept_and_impossible_ones_refused() {
    let wishes = TestOptions {
        threads: Some(3),
        instructions: Some(5),
        places: Some(1),
        mix: Some("store=1".parse().unwrap()),
        runs: Some(9),
        ..TestOptions::default()
    };
    let plan = Plan::new(wishes, Abilities::machine(4)).unwrap();
    for planned in (0..100).map(|number| plan.test(number)) {
        assert_eq!((planned.test.program.threads.len(), planned.runs), (3, 9));
        if planned.litmus.is_none() {
            assert_eq!(planned.test.program.len(), 15);
            assert_eq!(planned.test.program.readers().count(), 0);
        }
    }
    let refused = |wishes| Plan::new(wishes, Abilities::machine(4)).map(drop);
    assert_eq!(
        refused(TestOptions { threads: Some(0), ..TestOptions::default() }),
        Err(PlanError::Knobs(KnobError::Threads))
    );
    assert_eq!(
        refused(TestOptions { threads: Some(9), litmus: 100, ..TestOptions::default() }),
        Err(PlanError::NoLitmus)
    );
}
