//! Liveness where states are on disk or in several processes: what a fixpoint says, and the same
//! counterexample as one process in memory, with memory for those who wait and without.

use std::sync::atomic::AtomicBool;

use crate::cluster::{protocol_with, together};
use crate::disk::{Directory, on_disk};
use crate::liveness::{interpreter, judged, program, truth};
use crate::symmetric_programs::{first_seed, number};
use crate::toys::{self, essence};
use murphi::goal::Goals;
use murphi::interpret::Interpreter;
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{
    Bare, BitCodec, Deadlock, Engine, Exploration, Liveness, Options, Reason, StateForm, Verdict,
    Violation,
};

fn interpreted(interpreter: &Interpreter) -> Engine {
    let codec = BitCodec::new(interpreter.model(), interpreter.layout());
    Engine::Interpreted(Box::new(interpreter.clone()), codec, native::Error::Stopped)
}

fn explore(engine: &Engine, interpreter: &Interpreter, options: &Options) -> Exploration {
    let goals = Goals::of(interpreter.model()).expect("there are few");
    let options = Options { goals, deadlock: Deadlock::Off, ..options.clone() };
    let how = (&options, Symmetry::Full);
    engine.explore(interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
}

/// What must not depend on where states are, nor on how long it took.
fn found(exploration: &Exploration) -> Exploration {
    let liveness = match &exploration.liveness {
        Liveness::Holds { .. } => Liveness::Holds { seconds: 0.0 },
        other => other.clone(),
    };
    Exploration { disk_bytes: None, liveness, ..essence(exploration) }
}

/// What the broken lock claims, of the right one.
const LIVE: &str = "\nruleset p: Process do liveness \"p can take it\" step[p] = Critical; end;\n";

/// So little memory that nobody can wait for an answer: states are gone through again and again.
fn little(options: Options, mebibytes: u64) -> Options {
    Options { memory: Some(mebibytes << 20), ..options }
}

#[test]
fn random_models_keep_within_reach_what_the_fixpoint_says_on_disk_and_in_processes() {
    let (first, trials) = (first_seed(), number("TRIBUNAL_TRIALS", 40));
    println!("FIRST_SEED={first} TRIBUNAL_TRIALS={trials}");
    let directory = Directory::new();
    let (mut hold, mut broken) = (0, 0);
    for seed in first..first + trials {
        let text = program(seed);
        let model = interpreter(&text);
        let Some(truth) = truth(&model, 2000) else { continue };
        let engine = interpreted(&model);
        let expected = found(&explore(&engine, &model, &toys::threads(1)));
        let (mut answers, mut answers_of_processes) = (Vec::new(), Vec::new());
        for options in [
            on_disk(&directory.0, 1, 5),
            on_disk(&directory.0, 3, 20),
            little(on_disk(&directory.0, 1, 3), 2),
        ] {
            answers.push(explore(&engine, &model, &options));
        }
        if seed % 4 == 0 {
            let (shape, options) = match seed % 12 {
                0 => ((2, 1), little(toys::threads(1), 6)),
                4 => ((3, 1), toys::threads(1)),
                _ => ((2, 2), Options { form: StateForm::Tree, ..toys::threads(2) }),
            };
            let form = options.form;
            let expected = explore(&engine, &model, &Options { form, ..toys::threads(1) });
            for answer in together(shape, &options, |how| explore(&engine, &model, how)) {
                assert_eq!(found(&answer), found(&expected), "seed {seed}\n{text}");
                answers_of_processes.push(answer);
            }
        }
        for answer in &answers {
            assert_eq!(found(answer), expected, "seed {seed}\n{text}");
        }
        for answer in answers.iter().chain(&answers_of_processes) {
            if let Err(wrong) = judged(&model, &truth, answer) {
                panic!("seed {seed}: {wrong}\n{text}");
            }
        }
        hold += u64::from(expected.violation().is_none());
        broken += u64::from(expected.violation().is_some());
    }
    println!("{hold} hold, {broken} are broken");
    assert!(trials < 40 || hold > 0 && broken > 0, "{hold} hold, {broken} are broken");
}

#[test]
fn protocols_have_the_liveness_of_one_process_in_memory() {
    let directory = Directory::new();
    let broken = "broken/mcs-lock-tail-cleared-without-comparing";
    for (name, more, is_live) in [("mcs-lock", LIVE, true), (broken, "", false)] {
        let model = protocol_with(name, &[], more);
        let engine = Engine::new(&model);
        let expected = found(&explore(&engine, &model, &toys::threads(1)));
        let is_violation =
            |found: &Exploration| matches!(found.violation(), Some(Violation::OutOfReach { .. }));
        assert_eq!(!is_live, is_violation(&expected), "{name}");
        for options in [on_disk(&directory.0, 1, 100), little(on_disk(&directory.0, 1, 100), 2)] {
            assert_eq!(found(&explore(&engine, &model, &options)), expected, "{name} on disk");
        }
        for (shape, options) in [
            ((2, 1), toys::threads(1)),
            ((4, 1), toys::threads(1)),
            ((2, 2), toys::threads(2)),
            ((2, 1), Options { form: StateForm::Tree, ..toys::threads(1) }),
            ((2, 1), little(toys::threads(1), 6)),
        ] {
            let form = options.form;
            let expected = explore(&engine, &model, &Options { form, ..toys::threads(1) });
            for answer in together(shape, &options, |how| explore(&engine, &model, how)) {
                assert_eq!(found(&answer), found(&expected), "{name} with {shape:?}");
            }
        }
    }
}

/// The time is up while liveness is decided, or before: all processes say so, and nothing else.
#[test]
fn a_decision_that_is_ended_says_nothing() {
    let model = protocol_with("mcs-lock", &[], LIVE);
    let engine = Engine::new(&model);
    for milliseconds in [0, 5, 20, 40, 80] {
        let time = Some(std::time::Duration::from_millis(milliseconds));
        let options = Options { time, ..toys::threads(1) };
        for answer in together((2, 1), &options, |how| explore(&engine, &model, how)) {
            match (&answer.verdict, &answer.liveness) {
                // The time may also be up just after the decision.
                (Verdict::Undecided(Reason::Time), Liveness::Open | Liveness::Holds { .. }) => {}
                (Verdict::Holds(()), Liveness::Ended(Reason::Time) | Liveness::Holds { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
