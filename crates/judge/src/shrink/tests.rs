//! Shrinking, held against the definitions: what is left violates the model by brute force, and
//! without any one of its lines it does not.

use std::sync::Arc;

use history::{Format, ReadOptions, Source, ThinAir, TraceReader, parse_text, write_text};
use oracle::{Rng, Shape, allows, annotated, random_histories, random_sized_history};

use models::Model;

use super::*;
use crate::{ModelFile, Outcome, judge};

fn text(history: &History) -> String {
    let mut text = Vec::new();
    write_text(history, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn shrink_history(history: &History, model: Model, options: ShrinkOptions) -> Option<Shrunk> {
    let budget = Budget::unlimited();
    match judge(history, model, Engine::Auto, &budget).outcome {
        Outcome::Broken(proof) => Some(shrink(history, model, &proof, options, &budget)),
        _ => None,
    }
}

fn shrink_text(trace: &str, model: Model) -> String {
    let shrunk = shrink_history(&parse_text(trace).unwrap(), model, ShrinkOptions::default());
    text(&shrunk.expect("the trace violates the model").history)
}

/// The trace without one line, dependency or time, for each of them.
fn smaller_texts(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| *line != "check").collect();
    let with = |at: usize, line: Option<&str>| {
        let mut kept = lines.clone();
        kept.splice(at..=at, line);
        kept.join("\n")
    };
    let mut smaller = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        smaller.push(with(at, None));
        let (rest, times) = line.split_once(" @ ").unwrap_or((line, ""));
        if !times.is_empty() {
            smaller.push(with(at, Some(rest)));
        }
        if let Some((event, dependencies)) = rest.split_once(" dep ") {
            let times = if times.is_empty() { String::new() } else { format!(" @ {times}") };
            let names: Vec<&str> = dependencies.split(',').collect();
            for gone in 0..names.len() {
                let mut names = names.clone();
                names.remove(gone);
                let dependencies = if names.is_empty() {
                    String::new()
                } else {
                    format!(" dep {}", names.join(","))
                };
                smaller.push(with(at, Some(&format!("{event}{dependencies}{times}"))));
            }
        }
    }
    smaller
}

fn assert_minimal(shrunk: &History, model: Model) {
    let text = text(shrunk);
    assert!(!allows(shrunk, model), "consistent with {model}:\n{text}");
    for smaller in smaller_texts(&text) {
        if let Ok(history) = parse_text(&smaller) {
            assert!(allows(&history, model), "{model} is violated by\n{text}and by\n{smaller}");
        }
    }
}

#[test]
fn what_is_left_is_minimal_by_definition() {
    for shape in Shape::all() {
        for (_, history) in random_histories(&shape, 0..80) {
            for model in Model::ALL {
                if let Some(shrunk) = shrink_history(&history, model, ShrinkOptions::default()) {
                    assert_eq!(shrunk.undecided, 0);
                    assert_minimal(&shrunk.history, model);
                }
            }
        }
    }
}

/// The lines of the candidate sources of the reader on each line.
fn candidates_by_line(history: &History) -> Vec<(u32, Vec<u32>)> {
    let line = |source: &Source| match source {
        Source::Initial => 0,
        Source::Write(write) => history.event(*write).line,
    };
    let readers = history.event_ids().filter(|&e| history.event(e).is_read());
    readers
        .map(|e| (history.event(e).line, history.sources(e).iter().map(line).collect()))
        .collect()
}

#[test]
fn readers_keep_all_their_sources_when_asked_to() {
    for (_, history) in random_histories(&Shape::repeated(), 0..150) {
        let history = parse_text(&text(&history)).unwrap();
        let before = candidates_by_line(&history);
        let options = ShrinkOptions { keep_sources: true };
        for model in [Model::Sc, Model::Tso, Model::Coherence] {
            let Some(shrunk) = shrink_history(&history, model, options) else { continue };
            assert!(!shrunk.sources_dropped && !allows(&shrunk.history, model));
            for (line, sources) in candidates_by_line(&shrunk.history) {
                let (_, all) = before.iter().find(|(l, _)| *l == line).unwrap();
                assert!(all.iter().all(|source| sources.contains(source)));
            }
        }
    }
}

#[test]
fn store_buffering_is_found_in_the_middle_of_other_things() {
    let shrunk = shrink_text(
        "0: z := 1
         0: x := 1
         0: z == 1
         0: y == 0
         1: y := 1
         1: v := 2
         1: sync
         1: x == 0
         2: v == 2
         2: x == 1
         final M[v] == 2",
        Model::Sc,
    );
    assert_eq!(shrunk, "0: M[x] := 1\n0: M[y] == 0\n1: M[y] := 1\n1: M[x] == 0\ncheck\n");
}

#[test]
fn the_smaller_of_two_violations_is_found() {
    // The reads of x go against its write order; and threads 0 and 1 buffer stores to y and z.
    let shrunk = shrink_text(
        "0: y := 1
         0: z == 0
         1: z := 1
         1: y == 0
         2: x := 1
         2: x := 2
         2: x == 1",
        Model::Sc,
    );
    assert_eq!(shrunk, "2: M[x] := 1\n2: M[x] := 2\n2: M[x] == 1\ncheck\n");
}

#[test]
fn a_fence_that_matters_stays_and_one_that_does_not_goes() {
    let shrunk = shrink_text(
        "0: x := 1
         0: fence r,r
         0: fence w,r
         0: y == 0
         1: y := 1
         1: sync
         1: x == 0",
        Model::Tso,
    );
    assert_eq!(
        shrunk,
        "0: M[x] := 1\n0: fence w,r\n0: M[y] == 0\n1: M[y] := 1\n1: sync\n1: M[x] == 0\ncheck\n"
    );
}

#[test]
fn order_and_final_lines_stay_when_they_are_the_reason() {
    let shrunk = shrink_text(
        "0: x := 1
         0: x := 2
         1: y := 1
         final M[y] == 1
         order M[x]: 2 < 1",
        Model::Coherence,
    );
    assert_eq!(shrunk, "0: M[x] := 1\n0: M[x] := 2\norder M[x]: 2 < 1\ncheck\n");
}

#[test]
fn a_chain_of_atomics_stays_whole_because_each_needs_the_one_before() {
    let shrunk = shrink_text(
        "init M[x] == 5
         0: <x == 5; x := 6>
         1: <x == 6; x := 7>
         0: <x == 7; x := 8>
         1: x == 8
         1: x == 7",
        Model::Coherence,
    );
    assert_eq!(shrunk.lines().count(), 7, "{shrunk}");
}

#[test]
fn a_value_from_nowhere_is_the_whole_violation() {
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let trace = "0: x := 1\n1: x == 1\n1: y := 2\n0: y == 7";
    let history = TraceReader::new(trace.as_bytes(), "trace", options).next_trace();
    let shrunk =
        shrink_history(&history.unwrap().unwrap(), Model::Tso, ShrinkOptions::default()).unwrap();
    assert_eq!(text(&shrunk.history), "0: M[y] == 7\ncheck\n");
}

#[test]
fn a_spent_budget_leaves_the_violation_as_it_was() {
    let history = parse_text("0: x := 1\n0: x := 2\n1: x == 2\n1: x == 1").unwrap();
    let unlimited = Budget::unlimited();
    let Outcome::Broken(proof) = judge(&history, Model::Sc, Engine::Auto, &unlimited).outcome
    else {
        panic!("reads against the order of writes")
    };
    let spent = Budget::unlimited().with_time(std::time::Duration::ZERO);
    let shrunk = shrink(&history, Model::Sc, &proof, ShrinkOptions::default(), &spent);
    assert_eq!(shrunk.history.len(), 4);
    assert!(shrunk.undecided > 0);
}

#[test]
fn a_long_trace_shrinks_to_a_few_events() {
    let mut trace = String::new();
    for round in 1..=5_000 {
        let (a, b) = (round % 7, round % 11);
        trace.push_str(&format!("{a}: M[{b}] := {round}\n"));
        trace.push_str(&format!("{}: M[{b}] == {round}\n", (a + 1) % 7));
    }
    // Round 4,900 wrote to address 5, round 4,911 too; thread 3 saw both in the wrong order.
    trace.push_str("3: M[5] == 4911\n3: M[5] == 4900\n");
    let history = parse_text(&trace).unwrap();
    let shrunk = shrink_history(&history, Model::Sc, ShrinkOptions::default()).unwrap();
    assert!(shrunk.history.len() <= 8, "{}", text(&shrunk.history));
    assert!(shrunk.judged < 1_000, "{}", shrunk.judged);
}

fn read_again(written: &str, format: Format) -> History {
    let options = ReadOptions { thin_air: ThinAir::Violation, format, ..ReadOptions::default() };
    let read = TraceReader::new(written.as_bytes(), "shrunk", options).next_trace();
    match read {
        Ok(Some(history)) => history,
        other => panic!("{other:?}:\n{written}"),
    }
}

/// What a history shrinks to under a model, if it violates it; written and read again in each format, it
/// has events and violates the model.
fn assert_stays_violating(history: &History, model: &AnyModel) -> bool {
    let budget = Budget::unlimited();
    let Verdict::Broken(proof) = model.refute(history, Engine::Auto, &budget) else { return false };
    for keep_sources in [false, true] {
        let options = ShrinkOptions { keep_sources };
        let shrunk = shrink(history, model.clone(), &proof, options, &budget);
        for format in [Format::Text, Format::JsonLines] {
            let written = format.text(&shrunk.history);
            let read = read_again(&written, format);
            assert!(!read.is_empty(), "{model}: no events in\n{written}of\n{}", text(history));
            let verdict = model.refute(&read, Engine::Auto, &budget);
            let is_violation = matches!(verdict, Verdict::Broken(_));
            assert!(is_violation, "{model} allows\n{written}of\n{}", text(history));
        }
    }
    true
}

#[test]
fn what_is_written_violates_the_model_when_it_is_read_again() {
    let file = |name| AnyModel::File(Arc::new(ModelFile::shipped(name).unwrap()));
    let files = ["rvwmo", "aarch64", "lin"].map(file);
    let mut violations = [0u64; 4];
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for (seed, history) in random_histories(&shape, 0..60) {
            for model in Model::ALL {
                violations[0] += u64::from(assert_stays_violating(&history, &model.into()));
            }
            let annotated = annotated(&mut Rng::new(seed), &history);
            for model in &files {
                violations[1] += u64::from(assert_stays_violating(&annotated, model));
            }
            // Nothing but a line says what is wrong.
            let said = format!("{}final M[said] == 7\n", text(&history).replace("check\n", ""));
            let said = read_again(&said, Format::Text);
            violations[2] += u64::from(assert_stays_violating(&said, &Model::Sc.into()));
        }
    }
    for seed in 0..400 {
        let history = random_sized_history(seed);
        for model in [Model::Sc.into(), Model::Tso.into(), files[0].clone()] {
            violations[3] += u64::from(assert_stays_violating(&history, &model));
        }
    }
    println!("{violations:?}");
    assert!(violations.iter().all(|&count| count > 100), "{violations:?}");
}

#[test]
fn a_line_that_is_wrong_by_itself_stays_with_an_event() {
    for (trace, wanted) in [
        ("0: x := 1\n0: y := 1\n1: x := 2\nfinal x == 5", "0: M[x] := 1\nfinal M[x] == 5\ncheck\n"),
        ("init x == 3\n0: y := 1\nfinal x == 4", "0: M[y] := 1\nfinal M[x] == 4\ncheck\n"),
        ("0: y := 1\n1: y == 1\nfinal x == 4", "0: M[y] := 1\nfinal M[x] == 4\ncheck\n"),
    ] {
        let history = read_again(trace, Format::Text);
        let shrunk = shrink_history(&history, Model::Sc, ShrinkOptions::default()).unwrap();
        assert_eq!(text(&shrunk.history), wanted);
    }
}
