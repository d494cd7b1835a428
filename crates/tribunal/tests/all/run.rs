//! `tribunal run --on PROTOCOL.m`: traces, verdicts about them, and how a run ends.

use crate::common::{directory, run, run_with};

const BROKEN: &str = "protocols/broken/piranha-owner-not-cleared.m";

#[test]
fn what_it_writes_is_what_check_reads() {
    let traces = run(&["run", "--on", "protocols/piranha.m", "-n", "30", "--operations", "20"]);
    assert_eq!(traces.code, Some(0), "{traces:?}");
    assert!(traces.stdout.starts_with("# protocols/piranha.m, walked at random: seed 0"));
    assert!(traces.stderr.contains("30 traces with 600 events"), "{traces:?}");
    let checked = run_with(&traces.stdout, &["check", "--quiet", "--model", "sc", "-"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!(checked.lines().len(), 30);
}

#[test]
fn the_seed_is_all_that_matters() {
    let traces = |seed: &str, jobs: &str| {
        run(&["run", "-q", "--on", BROKEN, "-n", "20", "--seed", seed, "--jobs", jobs]).stdout
    };
    assert_eq!(traces("5", "1"), traces("5", "4"));
    assert_ne!(traces("5", "1"), traces("6", "1"));
}

#[test]
fn json_lines_say_the_same_as_text() {
    let common = ["run", "-q", "--on", "protocols/msi.m", "-n", "5", "--order"];
    let text = run(&common);
    let lines = run(&[&common[..], &["--format", "jsonl"]].concat());
    let converted = run_with(&lines.stdout, &["convert", "--from", "jsonl", "--to", "text", "-"]);
    let expected = run_with(&text.stdout, &["convert", "--to", "text", "-"]);
    assert_eq!(converted.stdout, expected.stdout);
    assert!(expected.stdout.contains("order M[Address_1]: "));
}

#[test]
fn a_violating_trace_is_counted_shown_and_kept() {
    let directory = directory("run-violation");
    let kept = directory.join("bad.trace");
    let kept = kept.to_str().unwrap();
    let ran = run(&["run", "--on", BROKEN, "--check", "sc", "-n", "200", "-o", kept]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains(": violation: "), "{ran:?}");
    assert!(ran.stdout.contains("these alone violate sc:"), "{ran:?}");
    let checked = run(&["check", "--quiet", "--model", "sc", kept]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let json = run(&["run", "--on", BROKEN, "--check", "sc", "--first", "--json"]).json();
    assert_eq!(json[0]["verdict"], "violation");
    assert_eq!(json[0]["violating"], 1);
    assert_eq!(json[0]["traces"], json[0]["first"]["trace"]);
}

#[test]
fn what_the_protocol_claims_itself_is_reported() {
    let file = "protocols/broken/msi-former-owner-forgotten.m";
    let ran = run(&["run", "-q", "--on", file, "-n", "300"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("invariant \"single writer, multiple readers\" does not hold"));
    assert!(ran.stdout.matches("check").count() == 300, "the traces are written all the same");
    let ran = run(&["run", "--on", file, "-n", "300", "--check", "sc", "--json"]);
    assert!(ran.json()[0]["broken"]["trace"].is_u64(), "{ran:?}");
}

#[test]
fn what_cannot_be_run_is_said() {
    let no_events = run(&["run", "--on", "protocols/peterson.m"]);
    assert_eq!(no_events.code, Some(2));
    assert!(no_events.stderr.contains("the protocol has no procedure `Load`"), "{no_events:?}");
    let missing = run(&["run", "--on", "nowhere.m"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

#[test]
fn rules_have_weights() {
    let file = "protocols/broken/tso-cc-read-only-copy-survives.m";
    let flags = ["run", "--on", file, "--check", "tso", "-n", "300", "--first", "--json"];
    let weigh = |weight: &str| run(&[&flags[..], &["--weight", weight]].concat());
    let ran = weigh("drop a shared copy*=0");
    assert_eq!(ran.json()[0]["verdict"], "violation", "{ran:?}");
    let ran = weigh("drop a shared copy=0");
    assert_eq!(ran.code, Some(2));
    let names = "no rule is called \"drop a shared copy\"; the rules are \"load hits\", ";
    assert!(ran.stderr.contains(names), "{ran:?}");
    for weight in ["evict*", "evict*=often", "evict*=-1", "evict*=1001", "evict*=NaN", "=1"] {
        let ran = weigh(weight);
        assert_eq!(ran.code, Some(2), "{weight}: {ran:?}");
    }
    // What was asked for is part of what was done.
    let header = |more: &[&str]| {
        let ran = run(&[&["run", "--on", file, "-n", "1"], more].concat());
        ran.lines()[0].to_owned()
    };
    assert!(header(&["--weight", "evict*=0.5"]).ends_with(", weight evict*=0.5"));
    let hunt = ["hunt", "--on", file, "--model", "tso", "--tests", "1"];
    let folder = directory("run-weights").join("hunt");
    let folder = folder.to_str().expect("a path of letters");
    let hunt = |weight: &str| run(&[&hunt[..], &["--out", folder, "--weight", weight]].concat());
    assert_ne!(hunt("evict*=0.5").code, Some(2));
    let other = hunt("evict*=0.6");
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("--weight was evict*=0.5 and is now evict*=0.6"), "{other:?}");
}

#[test]
fn time_ends_it() {
    let flags = ["run", "--on", "protocols/msi.m", "--check", "sc", "--budget", "200ms"];
    let ran = run(&flags);
    assert_eq!(ran.code, Some(0), "as many as there was time for: {ran:?}");
    let ran = run(&[&flags[..], &["-n", "1000000000"]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn a_program_runs_on_this_machine() {
    let ran = run(&["run", "examples/sb.program", "--on", "host", "--check", "tso", "-n", "5000"]);
    if ran.code == Some(2) {
        eprintln!("skipped: {}", ran.stderr);
        return;
    }
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("SB: 5000 runs, "), "{ran:?}");
    let line = ran.lines()[0];
    assert!(line.contains(" distinct outcome") && line.ends_with(", all satisfy tso"), "{ran:?}");
    let odd = run(&["run", "examples/sb.program", "--on", "host", "--exhaustive"]);
    assert_eq!(odd.code, Some(2));
    assert!(odd.stderr.contains("it needs --on machine:MODEL"), "{odd:?}");
}

#[test]
fn a_protocol_runs_programs() {
    let file = "protocols/msi-store-buffer.m";
    let ran = run(&["run", "examples/sb.program", "--on", file, "-n", "200", "--check", "sc"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("SB: 200 runs, 4 distinct outcomes, 1 violates sc\n"));
    let msi = ["run", "examples/sb.program", "--on", "protocols/msi.m"];
    let few = run(&[&msi[..], &["--check", "sc"]].concat());
    assert_eq!(few.code, Some(2), "{}", few.stdout);
    assert!(
        few.stderr.contains("the program has 2 addresses and the protocol 1"),
        "{}",
        few.stderr
    );
    let two = run(&[&msi[..], &["--const", "AddressCount=2", "--check", "sc"]].concat());
    assert_eq!(two.code, Some(0), "{}", two.stderr);
    let all = run(&["run", "examples/sb.program", "--on", file, "--exhaustive"]);
    assert_eq!(all.code, Some(2));
}
