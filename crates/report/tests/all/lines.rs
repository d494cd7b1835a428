//! Verdicts and models as lines.

#[allow(dead_code)] // each test takes from it what it needs
use crate::common::{Sketch, expect, sketches};
use evidence::{Proof, Reader, Witness};
use history::{EventId, History, Source};
use judge::{DecidedBy, Judgement, Outcome, Reason, Stats, Undecided};
use models::Model;
use tribunal_report::{Fields, Line, models_json, models_table, summary_line, verdict_json};

fn row<'a>(
    file: &'a str,
    trace: u64,
    history: &'a History,
    judgement: &'a Judgement,
    micros: u64,
) -> Line<'a> {
    Line { file, trace, history, judgement, micros }
}

fn verdict(model: Model, outcome: Outcome, decided_by: DecidedBy) -> Judgement {
    let stats = Stats { write_pairs: Some(3), unordered_write_pairs: Some(1), ..Stats::default() };
    Judgement { model, outcome, decided_by, stats }
}

fn violation(model: Model, proof: &Proof) -> Judgement {
    verdict(model, Outcome::Broken(proof.clone()), DecidedBy::Saturation)
}

#[test]
fn a_violation_in_a_line() {
    let (model, sketch) = sketches::message_passing();
    let line = summary_line(
        &row("t.trace", 1, &sketch.history, &violation(model, &sketch.proof), 41),
        false,
    );
    assert_eq!(line, "t.trace #1: tso: violation (decided by saturation, 4 events, 41 µs)");
}

#[test]
fn an_undecided_verdict_says_what_was_established() {
    let sketch = Sketch::new("0: M[x] := 1");
    let undecided = Undecided {
        reason: Reason::Time,
        established: "7 of 9 pairs of writes are ordered".to_owned(),
    };
    let undecided = verdict(Model::Sc, Outcome::Undecided(undecided), DecidedBy::Sat);
    let line = summary_line(&row("t", 2, &sketch.history, &undecided, 60_000_000), false);
    assert_eq!(
        line,
        "t #2: sc: undecided (sat, 1 event, 60.0 s): the time limit was reached (raise --budget); \
         7 of 9 pairs of writes are ordered"
    );
    let json = verdict_json(
        &row("t", 2, &sketch.history, &undecided, 60_000_000),
        Fields { witness: false, stats: false },
    );
    assert!(json.ends_with(
        ",\"reason\":\"the time limit was reached (raise --budget)\",\
         \"established\":\"7 of 9 pairs of writes are ordered\"}"
    ));
}

#[test]
fn durations_are_short() {
    let sketch = Sketch::new("0: M[x] := 1");
    let consistent =
        verdict(Model::Tso, Outcome::Holds(Witness::Order(Vec::new())), DecidedBy::TotalOrder);
    let line = |micros| summary_line(&row("t", 1, &sketch.history, &consistent, micros), false);
    assert!(line(999).ends_with("999 µs)"));
    assert!(line(1_250).ends_with("1.2 ms)"));
    assert!(line(999_949).ends_with("999.9 ms)"));
    assert!(line(999_951).ends_with("1.0 s)"));
}

#[test]
fn violations_as_json_have_their_cycle() {
    let mut lines = String::new();
    for (name, (model, sketch)) in sketches::all() {
        let json = verdict_json(
            &row(name, 1, &sketch.history, &violation(model, &sketch.proof), 41),
            Fields { witness: true, stats: false },
        );
        let parsed: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(parsed["verdict"], "violation");
        assert!(parsed["cycle"].is_array());
        lines += &json;
        lines += "\n";
    }
    expect("violations.jsonl", &lines);
}

#[test]
fn consistent_verdicts_as_json_have_a_witness_when_asked_for() {
    let sketch = Sketch::new("0: M[x] := 1\n7: M[x] := 1\n7: M[x] == 1");
    let [a, b, c] = [0, 1, 2].map(EventId::new);
    let reads = vec![(Reader::Event(c), Source::Write(b))];
    let json = |witness: Witness, wanted| {
        let consistent = verdict(Model::Ccv, Outcome::Holds(witness), DecidedBy::Causal);
        let json = verdict_json(
            &row("t", 1, &sketch.history, &consistent, 5),
            Fields { witness: wanted, stats: false },
        );
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON")
    };
    let order = serde_json::json!([[0, 0], [7, 0], [7, 1]]);
    let total = json(Witness::Order(vec![a, b, c]), true);
    assert_eq!(total["witness"], order);
    assert_eq!(json(Witness::Order(vec![a, b, c]), false).get("witness"), None);
    let arbitration = Witness::Arbitration { order: vec![a, b, c], reads: reads.clone() };
    let arbitration = json(arbitration, true);
    assert_eq!(arbitration["witness"], order);
    assert_eq!(arbitration["reads"][0]["source"]["thread"], 7);
    let views = Witness::Views { views: vec![vec![a, b], vec![a, b, c]], reads };
    assert_eq!(json(views, true)["views"][1], order);
}

#[test]
fn file_names_are_escaped() {
    let sketch = Sketch::new("0: M[x] := 1");
    let consistent =
        verdict(Model::Sc, Outcome::Holds(Witness::Order(Vec::new())), DecidedBy::Linear);
    let json = verdict_json(
        &row("a\"\n\\.trace", 1, &sketch.history, &consistent, 1),
        Fields { witness: false, stats: false },
    );
    let parsed: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(parsed["file"], "a\"\n\\.trace");
    assert!(!json.contains('\n'));
}

#[test]
fn the_models_as_a_table() {
    expect("models.txt", &models_table());
}

#[test]
fn the_models_as_json() {
    let json = models_json();
    assert!(json.lines().count() > Model::ALL.len(), "files are models, too");
    for (number, line) in json.lines().enumerate() {
        let parsed: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        let name = parsed["model"].as_str().expect("a name");
        assert_eq!(name.parse::<Model>().is_ok(), number < Model::ALL.len(), "{name}");
    }
    expect("models.jsonl", &json);
}
