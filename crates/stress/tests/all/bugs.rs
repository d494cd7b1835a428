//! Every bug of every machine makes it break its model, soon.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use judge::{Budget, Engine, ModelFile, judge, judge_by_file};
use models::Model;
use tribunal_stress::{Bug, Knobs, Machine, MemoryModel, RunResult, Runs, Target, TargetError};

/// How many programs it takes until a run of one violates the model, up to a limit.
fn programs_until_found(mut machine: Machine, limit: u64) -> Option<u64> {
    // Long traces are not decided under aarch64, whose machine keeps all that wmo keeps.
    let built_in = match machine.model() {
        MemoryModel::AArch64 => Some(Model::Wmo),
        model => model.model(),
    };
    let file = ModelFile::shipped(machine.model().name()).unwrap();
    (0..limit).find(|&seed| {
        let knobs = Knobs { dependencies: 10, annotations: 10, ..Knobs::default() };
        let program = knobs.program(seed).unwrap();
        let runs = Runs { count: 5, seed, stop: &AtomicBool::new(false) };
        let mut found = false;
        let mut receive = |ran| {
            let RunResult::Outcome(outcome, _) = ran else { panic!() };
            let history = program.history(&outcome).unwrap();
            let budget = Budget::unlimited();
            let verdict = match built_in {
                Some(model) => judge(&history, model, Engine::Auto, &budget).outcome.of_trace(),
                None => judge_by_file(&history, &file, &budget).outcome.of_trace(),
            };
            found |= verdict == "violation";
            ControlFlow::Continue(())
        };
        machine.run(&program, runs, &mut receive).unwrap();
        found
    })
}

#[test]
fn every_bug_of_every_machine_is_found_within_a_hundred_programs() {
    for &model in MemoryModel::ALL {
        for &(bug, name, _) in Bug::ALL {
            let machine = match Machine::new(model).with_bug(bug, Machine::DEFAULT_RATE) {
                Ok(machine) => machine,
                Err(error) => {
                    // Without buffers nothing drains and nothing is forwarded.
                    assert_eq!(model, MemoryModel::Sc);
                    assert!(matches!(bug, Bug::ReorderedDrain | Bug::BrokenForwarding));
                    assert!(matches!(error, TargetError::Unsuitable(_)));
                    continue;
                }
            };
            let found = programs_until_found(machine, 100);
            eprintln!("{model} {name}: {found:?}");
            assert!(found.is_some(), "{name} of {model}");
        }
    }
}

#[test]
fn a_machine_without_a_bug_breaks_nothing() {
    for &model in MemoryModel::ALL {
        assert_eq!(programs_until_found(Machine::new(model), 30), None, "{model}");
    }
}
