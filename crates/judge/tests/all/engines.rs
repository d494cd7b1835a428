//! Every engine agrees with the brute-force oracle, wherever it decides, on every store model;
//! beyond the oracle's reach the engines agree with each other; and the kernel accepts the
//! evidence of every verdict.

use certify::certify;
use evidence::{Certificate, Evidence};
use history::History;
use models::Model;
use oracle::{Formula, Shape, SharedLiterals, allows, random_histories, text};
use tribunal_judge::{Budget, Engine, Outcome, judge};

const STORE_MODELS: [Model; 6] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];

/// How many random histories of each shape to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(8_000)
}

/// What an engine says, once the kernel has accepted its evidence; `None` if it is undecided.
fn certified(history: &History, model: Model, engine: Engine) -> Option<bool> {
    let verdict = judge(history, model, engine, &Budget::unlimited());
    let (consistent, evidence) = match verdict.outcome {
        Outcome::Holds(witness) => (true, Evidence::Consistent(witness)),
        Outcome::Broken(proof) => (false, Evidence::Violation(proof)),
        Outcome::Undecided(_) => {
            let complete = matches!(engine, Engine::Auto | Engine::Sat | Engine::Enumerate);
            assert!(!complete, "{engine:?} is undecided under {model}:\n{}", text(history));
            return None;
        }
    };
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify(history, &certificate) {
        panic!(
            "the kernel rejects what {engine:?} says under {model}: {rejection}\n{}\n{}",
            text(history),
            certificate.to_json(history)
        );
    }
    Some(consistent)
}

/// All engines, against an expected answer or the answer of the first.
fn agree(history: &History, model: Model, mut expected: Option<bool>, seed: u64) {
    for &(engine, ..) in Engine::ALL {
        let Some(answer) = certified(history, model, engine) else { continue };
        let expected = *expected.get_or_insert(answer);
        assert_eq!(answer, expected, "{engine:?} under {model}, seed {seed}:\n{}", text(history));
    }
}

#[test]
fn every_engine_agrees_with_the_oracle() {
    let all_of = |shape: Shape| {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            for model in STORE_MODELS {
                agree(&history, model, Some(allows(&history, model)), seed);
            }
        }
    };
    // By far the longest of the tests, so it takes what cores there are.
    std::thread::scope(|scope| {
        for shape in Shape::all() {
            scope.spawn(move || all_of(shape));
        }
    });
}

#[test]
fn engines_agree_with_each_other_on_larger_histories() {
    for shape in Shape::all() {
        for events in [12, 18] {
            let shape = shape.clone().with_events(events);
            for (seed, history) in random_histories(&shape, 0..trials() / 50) {
                for model in STORE_MODELS {
                    agree(&history, model, None, seed);
                }
            }
        }
    }
}

#[test]
fn proofs_of_search_are_accepted() {
    for seed in 0..30 {
        let formula = Formula::random(4, 20, seed);
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let history = formula.history(model, SharedLiterals::No);
            let answer = certified(&history, model, Engine::Auto);
            assert_eq!(answer, Some(formula.is_satisfiable()), "{formula:?}");
        }
    }
}
