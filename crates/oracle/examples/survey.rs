//! Measures the random histories and the oracle: what is in each shape, how fast each model is
//! decided, and which models imply which as far as random histories show.
//!
//! `cargo run --release -p tribunal-oracle --example survey -- [HISTORIES [SHAPE]]`

use std::time::Instant;

use history::History;
use models::{IMPLICATIONS, Model, implies};
use tribunal_oracle::{
    Shape, allows, machine_allows, mix_report, random_histories, smallest, text,
};

/// Histories of each shape for what is only measured.
const SAMPLE: u64 = 3_000;

/// How many histories that separate two models are made small, to find the smallest.
const TRIES: usize = 300;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = arguments.first().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut shapes = Shape::all().to_vec();
    if let Some(name) = arguments.get(1) {
        shapes.retain(|shape| shape.name == name);
    }
    for shape in &shapes {
        let mix = mix_report(random_histories(shape, 0..SAMPLE).map(|(_, h)| h));
        println!("{}: {mix}", shape.name);
    }
    print_speed(&shapes);
    print_implications(&shapes, count / shapes.len().max(1) as u64);
}

fn print_speed(shapes: &[Shape]) {
    let histories: Vec<History> = shapes
        .iter()
        .flat_map(|shape| random_histories(shape, 0..SAMPLE).map(|(_, h)| h))
        .collect();
    let rate = |decide: &dyn Fn(&History) -> bool| {
        let start = Instant::now();
        histories.iter().filter(|h| decide(h)).count();
        histories.len() as f64 / start.elapsed().as_secs_f64()
    };
    for model in Model::ALL {
        println!("{model:>10}: {:>9.0} histories/s", rate(&|h| allows(h, model)));
    }
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        println!("{model:>10}: {:>9.0} histories/s (machine)", rate(&|h| machine_allows(h, model)));
    }
}

/// The histories that one model allows and another does not.
#[derive(Clone, Default)]
struct Separating {
    count: usize,
    smallest: Option<History>,
}

fn print_implications(shapes: &[Shape], count: u64) {
    let mut separating = vec![Separating::default(); Model::ALL.len() * Model::ALL.len()];
    for shape in shapes {
        for (_, history) in random_histories(shape, 0..count) {
            let verdicts = Model::ALL.map(|model| allows(&history, model));
            for (a, b) in pairs() {
                if verdicts[a as usize] && !verdicts[b as usize] {
                    note(
                        &mut separating[a as usize * Model::ALL.len() + b as usize],
                        &history,
                        a,
                        b,
                    );
                }
            }
        }
    }
    for (a, b) in pairs() {
        let found = &separating[a as usize * Model::ALL.len() + b as usize];
        let is_neighbour = IMPLICATIONS.iter().any(|i| i.stronger == b && i.weaker == a);
        match (implies(a, b), &found.smallest) {
            (true, None) => {}
            (true, Some(history)) => println!("{a} ⇒ {b} DOES NOT HOLD:\n{}", text(history)),
            (false, None) => println!("{a} ⇒ {b} may hold: no counterexample"),
            (false, Some(history)) if is_neighbour => {
                println!("{a}-not-{b}: {}, such as\n{}", found.count, text(history));
            }
            (false, Some(_)) => println!("{a}-not-{b}: {}", found.count),
        }
    }
}

fn pairs() -> impl Iterator<Item = (Model, Model)> {
    Model::ALL.into_iter().flat_map(|a| Model::ALL.into_iter().map(move |b| (a, b)))
}

fn note(entry: &mut Separating, history: &History, allowing: Model, forbidding: Model) {
    entry.count += 1;
    if entry.count > TRIES {
        return;
    }
    let small = smallest(history, |h| allows(h, allowing) && !allows(h, forbidding));
    if entry.smallest.as_ref().is_none_or(|best| size(&small) < size(best)) {
        entry.smallest = Some(small);
    }
}

/// Events first, then threads, then everything else a trace can say.
fn size(history: &History) -> (usize, usize, usize) {
    (history.len(), history.thread_count(), text(history).len())
}
