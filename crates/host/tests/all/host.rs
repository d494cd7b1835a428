//! What this machine does is what its memory model allows, and what programs ask for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use judge::{Budget, Engine, judge};
use models::Model;
use stress::{
    Action, Cycle, Instruction, Knobs, Outcome, Place, Program, RunResult, Runs, Target,
    TargetError,
};
use tribunal_host::Host;

/// How often each outcome was seen; `None`, with a remark, where the host cannot run races.
fn outcomes(program: &Program, count: u64) -> Option<BTreeMap<Outcome, u64>> {
    let mut host = match Host::new() {
        Ok(host) => host,
        Err(why) => {
            eprintln!("skipped: {why}");
            return None;
        }
    };
    let stop = AtomicBool::new(false);
    let mut counts = BTreeMap::new();
    let ran = host.run(program, Runs { count, seed: 7, stop: &stop }, &mut |ran| {
        let RunResult::Outcome(outcome, times) = ran else {
            panic!("the host records no histories")
        };
        *counts.entry(outcome).or_insert(0) += times;
        ControlFlow::Continue(())
    });
    ran.expect("the program suits the host");
    assert_eq!(counts.values().sum::<u64>(), count);
    Some(counts)
}

fn allowed(program: &Program, outcome: &Outcome, model: Model) -> bool {
    let history = program.history(outcome).expect("an outcome of the program");
    let verdict = judge(&history, model, Engine::Auto, &Budget::unlimited());
    matches!(verdict.outcome, judge::Outcome::Holds(_))
}

#[test]
fn litmus_tests_show_what_tso_allows_and_nothing_else() {
    for name in ["PodWR Fre PodWR Fre", "PodWW Rfe PodRR Fre", "PodRW Rfe PodRW Rfe"] {
        let test = name.parse::<Cycle>().expect("a cycle").test();
        let Some(outcomes) = outcomes(&test.program, 20_000) else { return };
        for outcome in outcomes.keys() {
            assert!(allowed(&test.program, outcome, Model::Tso), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn random_programs_with_atomics_and_fences_keep_to_tso() {
    let knobs = Knobs { threads: 2, instructions: 30, dependencies: 20, ..Knobs::default() };
    for seed in 0..10 {
        let program = knobs.program(seed).expect("such programs exist");
        let Some(outcomes) = outcomes(&program, 200) else { return };
        for outcome in outcomes.keys() {
            assert!(allowed(&program, outcome, Model::Tso), "seed {seed}: {outcome:?}");
        }
    }
}

#[test]
fn one_thread_computes_what_its_program_says() {
    let actions = [
        Action::Load { place: 0 },
        Action::Store { place: 0, value: 7 },
        Action::Swap { place: 0, value: 1 << 40 },
        Action::FetchAdd { place: 0, amount: 5 },
        Action::CompareAndSwap { place: 0, expected: (1 << 40) + 5, new: 9 },
        Action::CompareAndSwap { place: 0, expected: 3, new: 8 },
        Action::SYNC,
        Action::Load { place: 1 },
    ];
    let mut thread: Vec<_> = actions.map(Instruction::plain).into();
    thread[7].depends_on = vec![0, 4];
    // More reads than there are registers for results.
    thread.extend((0..12).map(|_| Instruction::plain(Action::FetchAdd { place: 1, amount: 1 })));
    let mut places = vec![Place::named("x", 0), Place::named("y", 0)];
    (places[0].initial, places[1].initial, places[1].word) = (3, 4, 1);
    let program = Program { name: String::new(), places, threads: vec![thread, Vec::new()] };
    let Some(outcomes) = outcomes(&program, 100) else { return };
    let mut reads = vec![3, 7, 1 << 40, (1 << 40) + 5, 9, 4];
    reads.extend(4..16);
    let expected = Outcome { reads, finals: Some(vec![9, 16]) };
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [(expected, 100)]);
}

#[test]
fn whoever_receives_can_say_that_it_is_enough() {
    let test = "PodWR Fre PodWR Fre".parse::<Cycle>().expect("a cycle").test();
    let Ok(mut host) = Host::new() else { return };
    let stop = AtomicBool::new(false);
    let mut seen = 0;
    let runs = Runs { count: u64::MAX, seed: 1, stop: &stop };
    let ran = host.run(&test.program, runs, &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((ran, seen > 0), (Ok(()), true));
}

#[test]
fn one_core_is_not_enough() {
    let refused = Host::on(vec![0]).map(|_| ());
    assert!(matches!(refused, Err(TargetError::Unavailable(_))), "{refused:?}");
}
