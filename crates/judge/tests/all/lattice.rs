//! The implications between models hold for the engines, on histories too large for the oracle.

use models::{IMPLICATIONS, Model};
use oracle::{Shape, random_histories, text};
use tribunal_judge::{Budget, Engine, Outcome, judge};

fn allows(history: &history::History, model: Model) -> bool {
    match judge(history, model, Engine::Auto, &Budget::unlimited()).outcome {
        Outcome::Holds(_) => true,
        Outcome::Broken(_) => false,
        Outcome::Undecided(undecided) => panic!("{model}: {undecided:?}\n{}", text(history)),
    }
}

#[test]
fn a_history_of_a_stronger_model_is_one_of_a_weaker() {
    let mut separated = vec![0u32; IMPLICATIONS.len()];
    for shape in Shape::all() {
        for events in [10, 16, 24] {
            for (seed, history) in random_histories(&shape.clone().with_events(events), 0..200) {
                let allowed = Model::ALL.map(|model| allows(&history, model));
                for (i, implication) in IMPLICATIONS.iter().enumerate() {
                    let stronger = allowed[implication.stronger as usize];
                    let weaker = allowed[implication.weaker as usize];
                    assert!(
                        weaker || !stronger,
                        "{} but not {}, seed {seed}:\n{}",
                        implication.stronger,
                        implication.weaker,
                        text(&history)
                    );
                    separated[i] += u32::from(weaker && !stronger);
                }
            }
        }
    }
    // The histories would not test much if they never came between two models.
    assert!(separated.iter().filter(|&&n| n > 0).count() >= 10, "{separated:?}");
}
