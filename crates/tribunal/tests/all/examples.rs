//! The example traces are what their comments say.

use crate::common::*;

/// The verdicts on each trace of an example, model by model.
fn verdicts(example: &str, models: &str) -> Vec<String> {
    let ran = run(&["check", "--json", "--model", models, &format!("examples/{example}")]);
    let word = |v: &serde_json::Value| {
        format!("{} {}", v["model"].as_str().unwrap(), v["verdict"].as_str().unwrap())
    };
    ran.json().iter().map(word).collect()
}

#[test]
fn store_buffering_is_tso_but_not_sc_unless_fenced() {
    let expected = ["sc violation", "tso consistent", "sc violation", "tso violation"];
    assert_eq!(verdicts("store-buffering.trace", "sc,tso"), expected);
    assert_eq!(verdicts("store-buffering.jsonl", "sc,tso"), expected);
}

#[test]
fn message_passing_needs_a_fence_under_pso() {
    let expected = ["tso violation", "pso consistent", "tso violation", "pso violation"];
    assert_eq!(verdicts("message-passing.trace", "tso,pso"), expected);
}

#[test]
fn independent_reads_are_causal_but_not_pso() {
    let expected = ["pso violation", "rmo consistent", "cc consistent", "ccv consistent"];
    assert_eq!(verdicts("iriw.trace", "pso,rmo,cc,ccv"), expected);
}

#[test]
fn the_lock_holds_and_the_broken_one_does_not() {
    let expected = ["sc consistent", "coherence consistent", "sc violation", "coherence violation"];
    assert_eq!(verdicts("spinlock.trace", "sc,coherence"), expected);
}

#[test]
fn the_coherence_bug_is_one() {
    assert_eq!(verdicts("coherence-bug.trace", "coherence"), ["coherence violation"]);
}
