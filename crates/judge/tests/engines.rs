//! Every engine agrees with the brute-force oracle, wherever it decides, on every store model.

use history::History;
use models::Model;
use oracle::{Shape, allows, random_histories};
use tribunal_judge::{Budget, Engine, Outcome, judge};

const STORE_MODELS: [Model; 6] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];

/// How many random histories of each shape to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

fn text(history: &History) -> String {
    let mut out = Vec::new();
    history::write_text(history, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn agrees(history: &History, model: Model, expected: bool, seed: u64) {
    for (engine, name, _) in Engine::ALL {
        let verdict = judge(history, model, engine, &Budget::unlimited());
        let consistent = match &verdict.outcome {
            Outcome::Consistent(_) => true,
            Outcome::Violation(_) => false,
            Outcome::Undecided(_) => {
                let complete = matches!(engine, Engine::Auto | Engine::Sat | Engine::Enumerate);
                assert!(!complete, "{name} is undecided under {model}:\n{}", text(history));
                continue;
            }
        };
        assert_eq!(
            consistent,
            expected,
            "{name} under {model} is wrong (seed {seed}):\n{}",
            text(history)
        );
    }
}

#[test]
fn every_engine_agrees_with_the_oracle() {
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            for model in STORE_MODELS {
                agrees(&history, model, allows(&history, model), seed);
            }
        }
    }
}
