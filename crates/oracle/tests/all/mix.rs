//! The random histories are worth testing on: they satisfy and violate every model, have every
//! feature, and distinguish every two neighbours of the lattice.

use history::parse_text;
use models::{IMPLICATIONS, Model};
use tribunal_oracle::{FEATURES, Mix, Shape, allows, mix_report, random_histories, text};

/// Histories of each shape; 20,000 all together.
const SEEDS: u64 = 20_000 / 7;

fn mixes() -> Vec<(Shape, Mix)> {
    let mix = |shape: &Shape| mix_report(random_histories(shape, 0..SEEDS).map(|(_, h)| h));
    Shape::all().into_iter().map(|shape| (shape.clone(), mix(&shape))).collect()
}

#[test]
fn the_mix_of_random_histories_is_healthy() {
    let mixes = mixes();
    for (shape, mix) in &mixes {
        println!("{}: {mix}", shape.name);
        for model in Model::ALL {
            let percent = mix.percent_consistent(model);
            assert!((10.0..=90.0).contains(&percent), "{}: {model} {percent}%", shape.name);
        }
    }
    let (_, rich) = mixes.iter().find(|(shape, _)| shape.name == "rich").unwrap();
    for (feature, &count) in FEATURES.iter().zip(&rich.having) {
        assert!(count * 20 >= rich.histories, "only {count} rich histories have {}", feature.name);
    }
    for (i, pair) in IMPLICATIONS.iter().enumerate() {
        let count: usize = mixes.iter().map(|(_, mix)| mix.separating[i]).sum();
        assert!(count >= 20, "only {count} separate {} from {}", pair.stronger, pair.weaker);
    }
}

#[test]
fn a_seed_always_gives_the_same_history() {
    let texts = || -> Vec<String> {
        random_histories(&Shape::rich(), 0..50).map(|(_, history)| text(&history)).collect()
    };
    assert_eq!(texts(), texts());
}

#[test]
fn a_random_history_survives_being_written_and_read() {
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..500) {
            let text = text(&history);
            let again = parse_text(&text).unwrap();
            assert_eq!(again.len(), history.len(), "{} seed {seed}:\n{text}", shape.name);
            for model in Model::ALL {
                let same = allows(&again, model) == allows(&history, model);
                assert!(same, "{model}, {} seed {seed}:\n{text}", shape.name);
            }
        }
    }
}
