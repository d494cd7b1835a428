//! `check --model FILE.cat`: models of the user's own.

use crate::common::{directory, file, run};

const MINE: &str = "\"mine\"
let ppo = po & (R * M | W * W)
acyclic po-loc | rf | co | fr as location
acyclic ppo | rfe | co | fr as global
";

#[test]
fn a_model_file_is_asked_for_like_a_model() {
    let mine = file(&directory("model-file"), "mine.cat", MINE);
    let both = format!("{mine},sc");
    let ran = run(&["check", "--model", &both, "examples/message-passing.trace"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let line = format!("  no reads-from and write order meets global ({mine}:4)\n");
    assert!(ran.stdout.contains(&line), "{}", ran.stdout);
}

#[test]
fn a_weaker_model_allows_what_the_file_says() {
    let folder = directory("model-file-weaker");
    let weaker = file(&folder, "weaker.cat", MINE.replace("W * W", "W * W & loc"));
    let ran = run(&["check", "--json", "--model", &weaker, "examples/message-passing.trace"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\"verdict\":\"consistent\""), "{}", ran.stdout);
    assert!(!ran.stdout.contains("choices"), "{}", ran.stdout);
}

#[test]
fn a_mistake_is_shown_at_its_place_and_nothing_is_judged() {
    let wrong = file(&directory("model-file-wrong"), "wrong.cat", "acyclic po | rff\n");
    let ran = run(&["check", "--model", &wrong, "examples/iriw.trace"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("`rff` is not defined") && ran.stderr.contains("wrong.cat:1:14"));
    let ran = run(&["check", "--model", "nowhere.cat", "examples/iriw.trace"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: nowhere.cat: cannot be read"), "{}", ran.stderr);
}

#[test]
fn a_long_trace_is_decided_or_undecided_at_once_and_a_certificate_is_refused() {
    let folder = directory("model-file-long");
    let mine = file(&folder, "long.cat", MINE);
    let strange = format!("{MINE}irreflexive po ; co ; fr as strange\n");
    let strange = file(&folder, "strange.cat", strange);
    let trace: String = (1..=600).map(|value| format!("0: M[x] := {value}\n")).collect();
    let trace = file(&folder, "long.trace", trace);
    for model in [&mine, "tso.cat", "rvwmo"] {
        let ran = run(&["check", "--model", model, &trace]);
        assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    }
    let ran = run(&["check", "--model", &strange, &trace]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("`strange` ({strange}:5) is not")), "{}", ran.stdout);
    let proof = folder.join("proof").display().to_string();
    let asked = ["check", "--model", &mine, "--certificate", &proof, "examples/iriw.trace"];
    assert_eq!(run(&asked).code, Some(2));
}
