//! Sketches say nothing that the run does not: those of a run that keeps its model keep it, too.
//! And what is store buffering in reduce becomes store buffering.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::atomic::AtomicBool;

use chance::Rng;
use judge::{ShrinkOptions, shrink};
use stress::{Knobs, Machine, MemoryModel, Mix, RunResult, Runs, Target};

use super::*;

fn runs(model: MemoryModel, seed: u64) -> Vec<History> {
    let mix: Mix = "load=4,store=4,swap=1,add=1,cas=1,sync=1".parse().unwrap();
    let knobs = Knobs { threads: 2, instructions: 8, places: 2, mix, ..Knobs::default() };
    let program = knobs.program(seed).unwrap();
    let stop = AtomicBool::new(false);
    let mut histories = Vec::new();
    let runs = Runs { count: 3, seed, stop: &stop };
    let ran = Machine::new(model).run(&program, runs, &mut |ran| {
        if let RunResult::Outcome(outcome, _) = ran {
            histories.push(program.history(&outcome).unwrap());
        }
        std::ops::ControlFlow::Continue(())
    });
    ran.unwrap();
    histories
}

#[test]
fn sketches_of_a_run_that_keeps_its_model_keep_it() {
    let budget = Budget::unlimited();
    let mut rng = Rng::new(8);
    let (mut judged, mut begun) = (0, 0);
    for (model, machine) in [(Model::Sc, MemoryModel::Sc), (Model::Tso, MemoryModel::Tso)] {
        for run in (0..40).flat_map(|seed| runs(machine, seed)) {
            let mut sketch = EditableHistory::of(&run, &run, &budget).unwrap();
            while let Some(smaller) = rng.pick(&sketch.smaller()).cloned() {
                let initial =
                    |sketch: &EditableHistory| sketch.places.iter().map(|p| p.1).sum::<Value>();
                let Some(history) = smaller.build() else {
                    // A read without its write: another step may do.
                    if rng.percent(10) {
                        break;
                    }
                    continue;
                };
                begun += usize::from(initial(&smaller) != initial(&sketch));
                sketch = smaller;
                let verdict = judge(&history, model, Engine::Auto, &budget);
                let consistent = matches!(verdict.outcome, Outcome::Holds(_));
                assert!(consistent, "{model}: {}", crate::shape(&history));
                judged += 1;
            }
        }
    }
    assert!(judged > 1000 && begun > 50, "{judged} {begun}");
}

fn essence_of(text: &str) -> String {
    let run = history::parse_text(text).unwrap();
    let budget = Budget::unlimited();
    let Outcome::Broken(proof) = judge(&run, Model::Sc, Engine::Auto, &budget).outcome else {
        panic!("this is sc:\n{text}");
    };
    let options = ShrinkOptions { keep_sources: true };
    let shrunk = shrink(&run, Model::Sc, &proof, options, &budget);
    let (shrunk, _) = reduce(&run, shrunk, &Model::Sc.into(), &budget);
    crate::shape(&shrunk.history)
}

#[test]
fn store_buffering_is_found_whatever_its_reads_returned() {
    const SB: &str = "Wa1 Rb0 | Wb1 Ra0";
    const R: &str = "Wa1 Wb1 | Wb2 Ra0 ; b=2";
    for (text, shape) in [
        // The read returns what its own thread wrote before; a later read shows the order.
        ("0: a := 1\n0: b := 1\n0: a == 1\n0: a == 2\n1: a := 2\n1: b == 0", SB),
        ("0: a := 1\n0: b := 1\n0: a == 1\n1: a := 2\n1: b == 0\nfinal a == 2", SB),
        ("0: a := 1\n0: b == 0\n1: <b == 0; b := 1>\n1: a == 0", SB),
        ("0: a := 1\n0: b == 0\n1: <a == 0; a := 2>\n1: b := 1\n1: a == 2", SB),
        (
            "0: <a == 0; a := 1>\n0: b := 1\n0: a := 2\n0: b == 1\n1: b == 1\n1: b := 2\n1: a == 1",
            SB,
        ),
        ("0: a := 1\n0: b := 1\n0: b == 2\n1: b := 2\n1: a == 0", R),
        ("0: a := 1\n0: b := 1\n1: b := 2\n1: a == 0\nfinal b == 2", R),
    ] {
        assert_eq!(essence_of(text), shape, "{text}");
    }
}

#[test]
fn what_is_not_coherent_is_left_as_it_is() {
    let text = "0: x := 1\n0: x := 2\n1: x == 2\n1: x == 1";
    assert_eq!(essence_of(text), "Wa1 Wa2 | Ra2 Ra1");
}
