//! `tribunal explore` within limits: time, depth, memory, threads, and Ctrl-C.

use crate::common::*;
use crate::explore::{COUNTER, LOCK, explore, json};

/// 2^20 states: too many for a moment, too many for a megabyte.
pub(crate) const MANY: &str = r#"var bits : array [1..20] of boolean;
startstate begin for i : 1..20 do bits[i] := false; end; end;
ruleset i : 1..20 do rule "flip" true ==> begin bits[i] := !bits[i]; end; end;
invariant "true" true;
"#;

#[test]
fn a_budget_that_runs_out_leaves_it_undecided_with_what_was_done() {
    let ran = explore(MANY, &["--budget", "20ms"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let first =
        "<stdin>: undecided: the time limit was reached (raise --budget); no violation found\n";
    assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
    assert!(ran.lines()[1].contains(" state"), "{}", ran.stdout);

    let found = json(MANY, &["--memory", "1MiB"]);
    assert_eq!(found["verdict"], "undecided");
    assert_eq!(
        found["reason"],
        "the memory limit was reached (raise --memory); no violation found"
    );
}

#[test]
fn a_bound_leaves_it_undecided_unless_there_is_nothing_beyond() {
    let ran = explore(COUNTER, &["--bound", "3", "--deadlock", "off"]);
    assert_eq!(ran.code, Some(3));
    let why = "undecided: the search stopped at distance 3 (--bound); no violation found";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    assert_eq!(explore(COUNTER, &["--bound", "9", "--deadlock", "off"]).code, Some(0));
}

#[test]
fn a_bound_of_nothing_looks_at_the_start_states() {
    let found = json(COUNTER, &["--bound", "0", "--deadlock", "off"]);
    assert_eq!((&found["states"], &found["rules_fired"]), (&1.into(), &0.into()));
    assert_eq!(found["verdict"], "undecided");
}

/// More instances than anybody can go through, none of which applies.
const ENDLESS: &str = "
var n : 0..255;
startstate n := 0; end;
ruleset i : 0..999999; j : 0..3999 do
  rule \"never\" exists a : 0..9 do n > a + i + j end ==> n := 1; end;
end;
";

#[test]
fn a_budget_is_kept_within_one_state() {
    for flags in [&[][..], &["--search", "dfs"], &["--simulate", "10"]] {
        let started = std::time::Instant::now();
        let ran = explore(ENDLESS, &[flags, &["--budget", "100ms"]].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.stdout.contains("the time limit was reached (raise --budget)"),
            "{}",
            ran.stdout
        );
        assert!(started.elapsed() < std::time::Duration::from_secs(20));
    }
}

#[test]
fn large_states_and_many_of_them_stay_within_the_memory() {
    let large = "var a : array [0..19999] of 0..254; n : 0..20000;
        startstate clear a; n := 0; end;
        ruleset i : 1..20000 do rule n = 0 ==>
          n := i; for j : 0..19999 do a[j] := (i * j / 13 + i) % 255; end; end; end;";
    let found = json(large, &["--memory", "32MiB", "--jobs", "2", "--deadlock", "off"]);
    assert_eq!(
        found["reason"],
        "the memory limit was reached (raise --memory); no violation found"
    );
    assert!(found["states"].as_u64().unwrap() > 50, "{found}");
}

#[test]
fn large_states_that_hardly_differ_share_what_they_have_in_common() {
    // Four gigabytes, one state after the other.
    let large = "var a : array [0..199999] of 0..254; n : 0..20000;
        startstate clear a; n := 0; end;
        ruleset i : 1..20000 do rule n = 0 ==> n := i; a[i] := 1; end; end;";
    let found = json(large, &["--memory", "64MiB", "--jobs", "2", "--deadlock", "off"]);
    assert_eq!((&found["verdict"], &found["states"]), (&"verified".into(), &20_001.into()));
}

#[test]
fn fewer_threads_search_where_more_would_take_too_much_memory() {
    let ran = explore(LOCK, &["--jobs", "5000", "--memory", "64MiB"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("threads instead of 5000"), "{}", ran.stderr);
}

#[test]
fn an_interrupted_exploration_reports_what_it_has() {
    let directory = directory("interrupted-exploration");
    let model = file(&directory, "many.m", MANY.replace("20", "28"));
    let child = spawn(&["explore", "--jobs", "1", &model]);
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = finish(child);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.stdout.contains("undecided: interrupted; no violation found"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_seen_within_one_state() {
    let directory = directory("interrupted-within-a-state");
    let model = file(&directory, "endless.m", ENDLESS);
    let child = spawn(&["explore", "--jobs", "1", &model]);
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = finish(child);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.stdout.contains("undecided: interrupted; no violation found"), "{}", ran.stdout);
}
