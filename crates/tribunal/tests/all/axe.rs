//! `tribunal axe`: the answers and the habits of Axe.

use crate::common::*;

#[test]
fn check_prints_a_word_a_trace_and_exits_0() {
    let input = [CONSISTENT, STORE_BUFFERING, STALE_READ].concat();
    let ran = run_with(&input, &["axe", "check", "TSO", "-"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "OK\nOK\nNO\n"));
    let ran = run_with(&input, &["axe", "check", "sc", "-", "-g", "-i"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "OK\nNO\nNO\n"));
}

#[test]
fn short_addresses_are_the_numbered_ones() {
    let ran = run_with("0: v1 := 1\n0: M[1] := 2\n0: v1 == 1\n", &["axe", "check", "SC", "-"]);
    assert_eq!(ran.stdout, "NO\n");
}

#[test]
fn times_count_for_wmo_unless_they_are_to_be_ignored() {
    let trace = "\
0: M[0] := 1
0: sync
0: M[1] := 1
1: M[1] == 1 @ 10:20
1: M[0] == 0 @ 30:40
check
";
    assert_eq!(run_with(trace, &["axe", "check", "WMO", "-"]).stdout, "NO\n");
    assert_eq!(run_with(trace, &["axe", "check", "WMO", "-", "-i"]).stdout, "OK\n");
}

#[test]
fn pow_is_refused_with_a_reason() {
    let ran = run_with("", &["axe", "check", "POW", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("POW model is not supported"), "{}", ran.stderr);
}

#[test]
fn test_compares_with_the_expected_answers() {
    let directory = directory("axe-test");
    let traces = file(&directory, "t.axe", [CONSISTENT, STORE_BUFFERING].concat());
    let right = file(&directory, "right.txt", "OK first\nNO store buffering\n");
    let wrong = file(&directory, "wrong.txt", "OK first\nOK store buffering\n");
    let long = file(&directory, "long.txt", "OK\nNO\nOK\n");
    let odd = file(&directory, "odd.txt", "OK\nMAYBE\n");

    let ran = run(&["axe", "test", "SC", &traces, &right]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "Ok, passed 2 tests.\n"));
    let ran = run(&["axe", "test", "SC", &traces, &wrong]);
    assert_eq!((ran.code, &*ran.stdout), (Some(1), "Test 1 failed\nTest name: store buffering\n"));
    let ran = run(&["axe", "test", "SC", &traces, &long]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("has 3 answers, but"), "{}", ran.stderr);
    let ran = run(&["axe", "test", "SC", &traces, &odd]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("odd.txt:2:1: expected `OK` or `NO`"), "{}", ran.stderr);
}

#[test]
fn bad_input_exits_2_after_the_answers_before_it() {
    let ran = run_with(format!("{CONSISTENT}0: M[x] ? 1\n"), &["axe", "check", "SC", "-"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), "OK\n"));
    assert!(ran.stderr.starts_with("<stdin>:6:9: "), "{}", ran.stderr);
}

#[test]
fn the_answers_of_the_corpora_are_the_expected_ones() {
    for (folder, count) in corpora() {
        let traces = format!("{folder}/tests.axe");
        for model in ["SC", "TSO", "PSO", "WMO"] {
            let ran = run(&["axe", "test", model, &traces, &format!("{folder}/{model}.txt")]);
            assert_eq!(ran.stdout, format!("Ok, passed {count} tests.\n"), "{folder} {model}");
        }
    }
}
