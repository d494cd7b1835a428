//! Measures the random histories and the oracle: what is in each shape, how fast each model is
//! decided, and which models imply which as far as random histories can tell.
//!
//! `cargo run --release -p tribunal-oracle --example survey -- [HISTORIES]`

use std::time::Instant;

use history::History;
use models::{IMPLICATIONS, Model, implies};
use oracle::{Shape, allows, machine_allows, mix_report, random_histories, smallest};
use tribunal_oracle as oracle;

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(20_000);
    for shape in Shape::all() {
        let mix = mix_report(random_histories(&shape, 0..count / 7).map(|(_, h)| h));
        println!("{}: {mix}", shape.name);
    }
    print_speed(count / 7);
    print_implications(count / 7);
}

fn print_speed(count: u64) {
    let histories: Vec<History> = Shape::all()
        .iter()
        .flat_map(|shape| random_histories(shape, 0..count.min(2000)).map(|(_, h)| h))
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

/// For each pair of models, the smallest history found that the first allows and the second does
/// not.
fn print_implications(count: u64) {
    let mut separating: Vec<Vec<(usize, Option<History>)>> = vec![vec![(0, None); 11]; 11];
    for shape in Shape::all() {
        for (_, history) in random_histories(&shape, 0..count) {
            let verdicts = Model::ALL.map(|model| allows(&history, model));
            for a in Model::ALL {
                for b in Model::ALL {
                    if verdicts[a as usize] && !verdicts[b as usize] {
                        note(&mut separating[a as usize][b as usize], &history, a, b);
                    }
                }
            }
        }
    }
    for a in Model::ALL {
        for b in Model::ALL {
            let (found, example) = &separating[a as usize][b as usize];
            match (implies(a, b), example) {
                (true, Some(history)) => println!("BROKEN {a} ⇒ {b}:\n{}", text(history)),
                (false, None) => println!("unlisted: {a} ⇒ {b} has no counterexample"),
                (false, Some(history))
                    if IMPLICATIONS.iter().any(|i| i.stronger == b && i.weaker == a) =>
                {
                    println!("{a}-not-{b} ({found}):\n{}", text(history));
                }
                (false, Some(_)) => println!("{a}-not-{b}: {found}"),
                (true, None) => {}
            }
        }
    }
}

fn note(entry: &mut (usize, Option<History>), history: &History, a: Model, b: Model) {
    entry.0 += 1;
    if entry.0 > 3000 {
        return;
    }
    let small = smallest(history, |h| allows(h, a) && !allows(h, b));
    if entry.1.as_ref().is_none_or(|best| size(&small) < size(best)) {
        entry.1 = Some(small);
    }
}

/// Events first, then threads, then everything else a trace can say.
fn size(history: &History) -> (usize, usize, usize) {
    let text = text(history);
    (history.len(), history.thread_count(), text.len())
}

fn text(history: &History) -> String {
    let mut text = Vec::new();
    history::write_text(history, &mut text).expect("a vector takes everything");
    String::from_utf8(text).expect("a trace is text")
}
