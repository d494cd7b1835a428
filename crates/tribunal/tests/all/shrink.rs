//! `tribunal shrink` and `tribunal explain`.

use crate::common::*;

#[test]
fn the_example_with_a_coherence_bug_shrinks_to_four_events() {
    let ran = run(&["shrink", "--model", "coherence", "examples/coherence-bug.trace"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stdout,
        "\
# 4 of the 62 events of examples/coherence-bug.trace, trace 1: these alone violate coherence
# (lines 33, 36, 42, 48)
2: M[slot1] := 3
2: M[slot1] == 4
0: M[slot1] := 4
0: M[slot1] == 3
check
"
    );
    assert_eq!(run_with(&ran.stdout, &["check", "-m", "coherence", "-"]).code, Some(1));
}

#[test]
fn violations_of_the_corpora_shrink_to_something_minimal() {
    let traces = corpora().into_iter().flat_map(|(folder, _)| {
        let text = std::fs::read_to_string(format!("{folder}/tests.axe")).unwrap();
        text.split_inclusive("check\n").take(40).map(str::to_owned).collect::<Vec<_>>()
    });
    for (trace, model) in traces.zip(["sc", "tso", "pso", "wmo"].iter().cycle()) {
        let ran = run_with(trace, &["shrink", "-q", "--model", model, "-"]);
        if ran.code == Some(0) {
            continue;
        }
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let lines: Vec<&str> = ran.stdout.lines().filter(|l| !l.starts_with('#')).collect();
        assert_eq!(run_with(lines.join("\n"), &["axe", "check", model, "-"]).stdout, "NO\n");
        for gone in 0..lines.len() - 1 {
            let mut fewer = lines.clone();
            fewer.remove(gone);
            let answer = run_with(fewer.join("\n"), &["axe", "check", model, "-"]);
            assert!(answer.stdout == "OK\n" || answer.code == Some(2), "{lines:?} without {gone}");
        }
    }
}

#[test]
fn a_consistent_trace_has_nothing_to_shrink_or_explain() {
    for command in ["shrink", "explain"] {
        let ran = run_with(CONSISTENT, &[command, "--model", "tso", "-"]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), ""));
        assert!(ran.stderr.contains("every trace of <stdin> is consistent with tso"));
    }
}

#[test]
fn the_first_violating_trace_is_taken_or_the_one_asked_for() {
    let input = [CONSISTENT, STORE_BUFFERING, STALE_READ].concat();
    let ran = run_with(&input, &["shrink", "--model", "sc", "-"]);
    assert!(ran.stdout.contains("trace 2:") && ran.stdout.contains("M[y] == 0"));
    let ran = run_with(&input, &["shrink", "--model", "sc", "--trace", "3", "-"]);
    assert!(ran.stdout.contains("trace 3:") && ran.stdout.contains("0: M[x] == 1"));
    let ran = run_with(&input, &["shrink", "--model", "sc", "--trace", "4", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("--trace 4 does not exist: <stdin> has 3 traces"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_hundred_thousand_events_shrink_in_a_moment() {
    let mut trace = String::new();
    for i in 0..50_000u64 {
        let (address, value) = (i % 10, i / 10 + 1);
        trace.push_str(&format!("{}: M[{address}] := {value}\n", i % 4));
        trace.push_str(&format!("{}: M[{address}] == {value}\n", (i + 1) % 4));
    }
    trace.push_str("3: M[4] == 4000\n3: M[4] == 3999\n");
    let ran = run_with(trace, &["shrink", "--model", "tso", "-"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.lines().len() < 16, "{}", ran.stdout);
}

#[test]
fn the_result_can_go_to_a_file() {
    let directory = directory("shrink-output");
    let out = directory.join("small.trace");
    let path = out.to_str().unwrap();
    let ran = run_with(STORE_BUFFERING, &["shrink", "--model", "sc", "-o", path, "-"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""));
    assert!(std::fs::read_to_string(out).unwrap().ends_with("1: M[x] == 0\ncheck\n"));
}

#[test]
fn the_result_can_be_json_lines() {
    let ran = run_with(STORE_BUFFERING, &["shrink", "--model", "sc", "--json", "-"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json().len(), 5);
    assert_eq!(run_with(&ran.stdout, &["check", "--format", "jsonl", "-"]).code, Some(1));
}

#[test]
fn an_explanation_is_text_a_graph_or_a_picture_by_the_name_of_its_file() {
    let directory = directory("explain");
    for (name, part) in [
        ("why.txt", "violation of sequential consistency"),
        ("why.dot", "digraph"),
        ("why.svg", "<svg"),
    ] {
        let out = directory.join(name);
        let path = out.to_str().unwrap();
        let ran = run_with(STORE_BUFFERING, &["explain", "--model", "sc", "-o", path, "-"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(std::fs::read_to_string(out).unwrap().contains(part), "{name}");
    }
    let ran = run_with(STORE_BUFFERING, &["explain", "--model", "sc", "--to", "dot", "-"]);
    assert!(ran.stdout.contains("digraph"));
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_is_read() {
    for (name, sentence) in
        [("why.pdf", "use .txt, .dot, .svg, .html or .json"), ("why.png", "use .txt, .dot, .svg")]
    {
        let ran = run(&["explain", "--model", "sc", "-o", name, "no-such-file"]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
}

#[test]
fn an_explanation_can_be_of_the_shrunk_trace() {
    let ran = run(&["explain", "--shrink", "--model", "tso", "examples/coherence-bug.trace"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("line 48") && !ran.stdout.contains("more"), "{}", ran.stdout);
}
