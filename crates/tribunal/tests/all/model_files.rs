//! Models of the user's own, and those that come as files, in every command.

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
    let line =
        format!("  no choice of reads-from and coherence order satisfies global ({mine}:4)\n");
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
fn a_long_trace_is_decided_or_undecided_at_once() {
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
}

#[test]
fn a_certificate_is_about_one_text_of_a_file() {
    let folder = directory("model-file-certified");
    let mine = file(&folder, "mine.cat", MINE);
    let proof = folder.join("proof").display().to_string();
    let traces = "examples/store-buffering.trace";
    let ran = run(&["check", "--model", &mine, "--certificate", &proof, traces]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let ran = run(&["check", "--model", "sc.cat,rvwmo", "--certificate", &proof, traces]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let ran = run(&["certify", traces, &proof]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.matches("certificate holds").count(), 4, "{}", ran.stdout);
    let ran = run(&["check", "--model", &mine, "--certificate", &proof, traces]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    file(&folder, "mine.cat", MINE.replace("mine", "other"));
    let ran = run(&["certify", "--json", traces, &proof]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the certificate is about another version of"), "{}", ran.stdout);
    let moved = file(&folder, "moved.cat", MINE);
    let ran = run(&["certify", "--model", &moved, traces, &proof]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    std::fs::remove_file(&mine).unwrap();
    assert_eq!(run(&["certify", traces, &proof]).code, Some(2));
}

#[test]
fn explanations_name_the_rule_and_its_line() {
    let trace = "examples/message-passing-acquire.trace";
    let explained = |to: &str| {
        let ran = run(&["explain", "--model", "rvwmo", "--to", to, trace]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        ran.stdout
    };
    let text = explained("text");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "The violated condition is `global` (rvwmo.cat:",
        "by rvwmo rule 6: release (rvwmo.cat:",
        "by rvwmo rule 5: acquire (rvwmo.cat:",
        "[AQ] ; po ; [M])",
    ] {
        assert!(joined.contains(words), "{words}: {text}");
    }
    assert!(explained("dot").contains("label=\"rvwmo rule 5: acquire\""));
    assert!(explained("svg").contains("rule\u{a0}5:") || explained("svg").contains("rule 5:"));
    let mine = file(&directory("model-file-explained"), "mine.cat", MINE);
    let ran = run(&["explain", "--model", &mine, "examples/message-passing.trace"]);
    let joined = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("`global` of"), "{}", ran.stdout);
    assert!(joined.contains("mine.cat:2, W * W)"), "{}", ran.stdout);
}

#[test]
fn what_violates_a_file_is_shrunk() {
    let ran = run(&["shrink", "--model", "tso.cat", "examples/coherence-bug.trace"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("# 4 of the 62 events"), "{}", ran.stdout);
    assert!(ran.stdout.contains("these alone violate tso.cat"), "{}", ran.stdout);
    let kept = run(&["shrink", "--model", "wmo", "examples/message-passing-acquire.trace"]);
    assert_eq!(kept.code, Some(0), "{}", kept.stdout);
}

#[test]
fn runs_and_hunts_take_a_file() {
    let asked = ["run", "--on", "machine:tso", "--check", "sc.cat", "examples/sb.program"];
    let ran = run(&asked);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("1 violates sc.cat"), "{}", ran.stdout);
    let folder = directory("model-file-hunt").join("found").display().to_string();
    let on = ["hunt", "--on", "machine:tso", "--model", "sc.cat", "--tests", "40", "--first"];
    let ran = run(&[&on[..], &["--seed", "1", "--quiet", "--out", &folder]].concat());
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let findings = std::path::Path::new(&folder).join("findings");
    let found = std::fs::read_dir(findings).unwrap().filter_map(|entry| {
        std::fs::read_to_string(entry.ok()?.path().join("certificate.jsonl")).ok()
    });
    let lines: Vec<String> = found.collect();
    assert!(lines.iter().any(|line| line.contains("\"model\":\"sc.cat\"")), "{lines:?}");
    let ran = run(&["hunt", "--on", "machine:sc", "--model", "nowhere.cat", "--tests", "1"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn models_that_come_as_files_are_listed_and_printed() {
    let ran = run(&["models"]);
    assert!(ran.stdout.contains("  rvwmo         RVWMO: the RISC-V weak memory order\n"));
    assert!(ran.stdout.contains("  lin           linearizability"), "{}", ran.stdout);
    let ran = run(&["models", "rvwmo"]);
    assert_eq!((ran.code, ran.stdout.contains("(* rule 5: acquire *)")), (Some(0), true));
    assert_eq!(run(&["models", "rvwm"]).code, Some(2));
}

#[test]
fn a_model_file_is_described() {
    let ran = run(&["models", "rvwmo.cat"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("  global     acyclic  rvwmo.cat:33\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nTraces: of any length.\n"), "{}", ran.stdout);
    // By name, the file itself is printed, and described as JSON.
    let ran = run(&["models", "RVWMO", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["most_events"], serde_json::Value::Null);
    assert_eq!(object["conditions"][1]["name"], "global");

    let folder = directory("described-models");
    let write = |name: &str, text: &str| file(&folder, name, text);
    let path = write("no-amo.cat", "acyclic po-loc | rf | co | fr\nacyclic po | rf | co | fr");
    assert!(run(&["models", &path]).stdout.contains("up to 500 events if there are atomics"));
    let path = write("odd.cat", "acyclic po-loc | rf | co | fr\nirreflexive fr ; co ; po as odd");
    let ran = run(&["models", &path, "--json"]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&object["most_events"], &object["limited_by"]), (&500.into(), &"odd".into()));
    let ran = run(&["models", &path]);
    assert!(ran.stdout.contains("up to 500 events, by search"), "{}", ran.stdout);
    let path = write("mistake.cat", "acyclic po | rg");
    let ran = run(&["models", &path]);
    assert_eq!((ran.code, ran.stderr.contains("`rg` is not defined")), (Some(2), true));
    assert_eq!(run(&["models", "nowhere.cat"]).code, Some(2));
}
