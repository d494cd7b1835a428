//! Measurements of the engines, printed as a table with ratios.
//!
//! `cargo run --release -p tribunal-bench -- EVENTS…` judges valid traces of each size under the
//! given models and prints time, the phase that decided, and the pairs saturation left open.

mod traces;

use std::time::Instant;

use judge::{Budget, Engine, Outcome, judge};
use models::Model;
use oracle::{Formula, SharedLiterals};
use traces::{Size, sequential};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    let models: Vec<Model> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let models = if models.is_empty() { vec![Model::Sc, Model::Tso] } else { models };
    let engine = arguments.iter().find_map(|a| a.strip_prefix("engine=")?.parse().ok());
    let atomics = if arguments.iter().any(|a| a == "atomics") { 30 } else { 0 };
    valid_traces(&sizes, &models, atomics, engine.unwrap_or_default());
    if arguments.iter().any(|a| a == "hard") {
        hard_histories();
    }
}

fn valid_traces(sizes: &[usize], models: &[Model], atomics: u32, engine: Engine) {
    println!(
        "{:>9} {:>7} {:>9}  {:<9} {:>10} {:>9}  {:<11} {:>12} {:>10}",
        "events", "threads", "addresses", "model", "ms", "ns/event", "by", "open pairs", "inferred"
    );
    for &events in sizes {
        for threads in [4, 16] {
            for addresses in [16, 256] {
                let history = sequential(Size { events, threads, addresses, atomics }, 1);
                for &model in models {
                    let start = Instant::now();
                    let verdict = judge(&history, model, engine, &Budget::unlimited());
                    let time = start.elapsed();
                    let by = match verdict.outcome {
                        Outcome::Consistent(_) => verdict.decided_by.to_string(),
                        Outcome::Violation(_) => "VIOLATION".to_owned(),
                        Outcome::Undecided(_) => "undecided".to_owned(),
                    };
                    println!(
                        "{events:>9} {threads:>7} {addresses:>9}  {model:<9} {:>10.1} {:>9.0}  {by:<11} {:>12} {:>10}",
                        time.as_secs_f64() * 1e3,
                        time.as_secs_f64() * 1e9 / events as f64,
                        verdict.stats.unordered_write_pairs.unwrap_or(0),
                        verdict.stats.inferred_edges,
                    );
                }
            }
        }
    }
}

fn hard_histories() {
    println!("\n3-SAT at ratio 4.3 (sc: Fig. 1, tso and pso: Fig. 2)");
    println!(
        "{:>9} {:>5} {:>6} {:>10}  {:<10} {:>9} {:>10}",
        "variables", "seed", "model", "ms", "verdict", "conflicts", "decisions"
    );
    for variables in [10usize, 20, 50] {
        for seed in 0..3 {
            let formula = Formula::random(variables, (variables * 43).div_ceil(10), seed);
            for model in [Model::Sc, Model::Tso] {
                let history = formula.history(model, SharedLiterals::No);
                let start = Instant::now();
                let verdict = judge(&history, model, Engine::Auto, &Budget::unlimited());
                let time = start.elapsed();
                let word = match verdict.outcome {
                    Outcome::Consistent(_) => "consistent",
                    Outcome::Violation(_) => "violation",
                    Outcome::Undecided(_) => "undecided",
                };
                println!(
                    "{variables:>9} {seed:>5} {model:>6} {:>10.1}  {word:<10} {:>9} {:>10}",
                    time.as_secs_f64() * 1e3,
                    verdict.stats.conflicts,
                    verdict.stats.decisions
                );
            }
        }
    }
}
