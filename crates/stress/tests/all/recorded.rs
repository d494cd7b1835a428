//! What a machine records, in the order in which it retires: the judge explains it by that order
//! alone, and never explains what a faulty machine has made.

use certify::certify;
use evidence::{Certificate, Evidence};
use judge::{Budget, Engine, Outcome, judge};
use tribunal_stress::{Bug, Knobs, Machine, MemoryModel};

fn knobs(places: usize) -> Knobs {
    Knobs { threads: 6, places, instructions: 200, ..Knobs::default() }
}

#[test]
fn the_recorded_order_explains_what_a_machine_did() {
    for (model, least) in [(MemoryModel::Sc, 100), (MemoryModel::Tso, 90), (MemoryModel::Pso, 90)] {
        let mut explained = 0;
        let built_in = model.model().unwrap();
        for seed in 0..100 {
            let program = knobs(4 << (seed % 4)).program(seed).unwrap();
            let history = Machine::new(model).record(&program, seed).unwrap();
            let judged = judge(&history, built_in, Engine::Recorded, &Budget::unlimited());
            let Outcome::Holds(witness) = judged.outcome else { continue };
            explained += 1;
            let evidence = Evidence::Consistent(witness);
            let certificate = Certificate { trace: 1, model: built_in, evidence };
            certify(&history, &certificate).unwrap();
        }
        println!("{model}: {explained}");
        assert!(explained >= least, "{model}: {explained} of 100");
    }
}

#[test]
fn what_a_faulty_machine_did_is_explained_only_if_the_model_allows_it() {
    let mut violations = 0;
    for seed in 0..200 {
        let program = Knobs { threads: 3, places: 3, instructions: 12, ..Knobs::default() };
        let program = program.program(seed).unwrap();
        let machine = Machine::new(MemoryModel::Tso).with_bug(Bug::StaleRead, 0.05).unwrap();
        let history = machine.record(&program, seed).unwrap();
        let model = models::Model::Tso;
        let by = |engine| judge(&history, model, engine, &Budget::unlimited()).outcome;
        let broken = matches!(by(Engine::Sat), Outcome::Broken(_));
        violations += u32::from(broken);
        assert!(!broken || !matches!(by(Engine::Recorded), Outcome::Holds(_)), "seed {seed}");
    }
    assert!((20..180).contains(&violations), "{violations} of 200");
}
