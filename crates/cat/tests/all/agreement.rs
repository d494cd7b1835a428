//! The shipped files say what the built-in models say, and the search finds what is there.

use crate::support::some_execution_meets;
use history::History;
use models::Model;
use oracle::{Shape, allows, random_histories, text};
use tribunal_cat::{Answer, CatModel, meets, solve};

/// How many histories of each shape are tried; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

/// What the search says, once the definition has confirmed a witness.
fn decided(model: &CatModel, history: &History) -> bool {
    match solve(model, history, |effort| effort.evaluations < 1_000_000) {
        Answer::Consistent(witness) => {
            assert!(meets(model, history, &witness), "a wrong witness of:\n{}", text(history));
            true
        }
        Answer::Violation(_) => false,
        Answer::Undecided(_) => panic!("undecided:\n{}", text(history)),
    }
}

#[test]
fn shipped_files_agree_with_the_built_in_models_on_random_histories() {
    let all = [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];
    let files = all.map(|model| (model, CatModel::shipped(model.name()).expect("it is shipped")));
    let mut answers = [[0; 2]; 6];
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            for (at, (model, file)) in files.iter().enumerate() {
                let expected = allows(&history, *model);
                let answer = decided(file, &history);
                assert_eq!(answer, expected, "{model}, seed {seed}:\n{}", text(&history));
                answers[at][usize::from(answer)] += 1;
            }
        }
    }
    assert!(answers.iter().flatten().all(|&count| count > trials() / 10), "{answers:?}");
}

#[test]
fn the_search_finds_what_trying_every_execution_finds() {
    let names = ["tso", "rmo", "rvwmo", "rvtso", "aarch64", "aarch64-2020", "x86", "ra"];
    let files = names.map(|name| CatModel::shipped(name).expect("shipped"));
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for (seed, history) in random_histories(&shape, 0..trials() / 20) {
            for file in &files {
                let expected = some_execution_meets(file, &history);
                assert_eq!(decided(file, &history), expected, "seed {seed}:\n{}", text(&history));
            }
        }
    }
}
