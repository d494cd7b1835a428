//! Budgets are kept on histories made to break them: an answer or "undecided", and soon.

use std::fmt::Write;
use std::time::{Duration, Instant};

use history::History;
use models::Model;
use tribunal_judge::{Budget, Engine, Outcome, judge};

fn parse(text: &str) -> History {
    history::parse_text(text).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Every read may have seen every write.
fn one_value_everywhere(events: usize) -> History {
    let mut text = String::new();
    for i in 0..events {
        let operation = if i % 2 == 0 { "==" } else { ":=" };
        writeln!(text, "{}: x {operation} 0", i % 4).unwrap();
    }
    parse(&text)
}

fn many_threads(threads: usize) -> History {
    let mut text = String::new();
    for i in 0..threads {
        writeln!(text, "{i}: x := {}", i + 1).unwrap();
        writeln!(text, "{i}: y == 0").unwrap();
    }
    parse(&text)
}

fn ends_soon(history: &History, engine: Engine, models: &[Model]) {
    for &model in models {
        let budget = Budget::unlimited().with_time(Duration::from_secs(1)).with_memory(100 << 20);
        let start = Instant::now();
        let outcome = judge(history, model, engine, &budget).outcome;
        // Generous, for loaded machines; without the bounds these take minutes or all memory.
        assert!(start.elapsed() < Duration::from_secs(15), "{model}: {:?}", start.elapsed());
        assert!(!matches!(outcome, Outcome::Broken(_)), "{model}");
    }
}

#[test]
fn a_value_written_everywhere_does_not_exhaust_memory() {
    let history = one_value_everywhere(8_000);
    ends_soon(&history, Engine::Auto, &Model::ALL);
    for &(engine, ..) in Engine::ALL {
        ends_soon(&history, engine, &[Model::Sc, Model::Rmo, Model::Coherence]);
    }
}

#[test]
fn many_threads_do_not_exhaust_memory() {
    ends_soon(&many_threads(20_000), Engine::Auto, &Model::ALL);
}

#[test]
fn many_writes_of_one_address_are_refused_or_decided_by_the_exponential_engines() {
    let mut text = String::new();
    for i in 0..40_000 {
        writeln!(text, "{}: x := {}", i % 8, i + 1).unwrap();
    }
    let history = parse(&text);
    for engine in [Engine::Enumerate, Engine::Subsets] {
        ends_soon(&history, engine, &[Model::Sc, Model::Tso]);
    }
}
