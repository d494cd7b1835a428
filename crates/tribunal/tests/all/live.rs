//! `tribunal check --live`: traces that are judged while they grow.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::common::*;

#[test]
fn what_live_says_is_what_check_says() {
    let cases = [(CONSISTENT, 0), (STORE_BUFFERING, 1), (STALE_READ, 1)];
    for (trace, code) in cases {
        let ran = run_with(trace, &["check", "--live", "-"]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    }
    let ran = run_with(STORE_BUFFERING, &["check", "--live", "--json", "--model", "tso,pso", "-"]);
    let verdicts: Vec<_> = ran.json().into_iter().map(|o| o["verdict"].clone()).collect();
    assert_eq!(verdicts, ["consistent", "consistent"]);
}

#[test]
fn a_violation_is_reported_while_the_producer_is_still_there() {
    let mut child = spawn(&["check", "--live", "--model", "sc", "-"]);
    let mut input = child.stdin.take().unwrap();
    for value in 1..2_000 {
        writeln!(input, "0: M[x] := {value}\n1: M[x] == {value}").unwrap();
    }
    let before = Instant::now();
    writeln!(input, "1: M[x] == 1998").unwrap();
    input.flush().unwrap();
    // Should nothing be said, the test fails and does not hang.
    let patience = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(20));
        drop(input);
    });
    // The pipe stays open, and the last line is the last thing that is sent.
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(before.elapsed() < Duration::from_secs(15), "{:?}", before.elapsed());
    drop(patience);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(said.starts_with("<stdin> #1: sc: violation (live, 3999 events"), "{said}");
    assert!(said.contains("line 3999  1: M[x] == 1998"), "{said}");
}

#[test]
fn what_needs_the_whole_trace_is_an_error_at_its_place() {
    let named = "0: M[x] := 1\n0: M[x] == 1 as a\n0: M[y] := 1 dep a\ncheck\n";
    let ran = run_with(named, &["check", "--live", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.starts_with("<stdin>:2:1: --live does not support names, dependencies"),
        "{}",
        ran.stderr
    );
    let late = "0: M[x] == 0\n1: M[x] := 7\ninit M[x] == 5\ncheck\n";
    assert_eq!(run_with(late, &["check", "--live", "-"]).code, Some(2));
    let nobody = "0: M[x] := 1\n1: M[x] == 7\ncheck\n";
    let ran = run_with(nobody, &["check", "--live", "-"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("2:1: reads 7 from M[x]"), "{}", ran.stderr);
    let ran = run_with(nobody, &["check", "--live", "--thin-air", "violation", "-"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(run_with("", &["check", "--live", "-"]).code, Some(2));
    let ran = run_with(CONSISTENT, &["check", "--live", "--model", "gradual", "-"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn initial_and_final_values_count() {
    let trace = "init M[x] == 5\n0: M[x] == 5\n0: M[x] := 6\n1: M[x] := 7\nfinal M[x] == ";
    for (last, code) in [("7", 0), ("6", 0), ("5", 1)] {
        let ran = run_with(format!("{trace}{last}\ncheck\n"), &["check", "--live", "-"]);
        assert_eq!(ran.code, Some(code), "final {last}: {}{}", ran.stdout, ran.stderr);
    }
}
