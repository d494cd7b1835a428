//! What programs read: the JSON of every command about traces and tests, byte by byte as it was
//! recorded, but for times. Fields keep their names, their order and their meaning.

use std::path::Path;

use crate::common::{directory, run};

/// Runs a command and compares its standard output with a file of `tests/recorded`.
#[track_caller]
fn expect(name: &str, arguments: &[&str]) {
    let ran = run(arguments);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    let actual = format!("exit code {:?}\n{}", ran.code, without_measurements(&ran.stdout));
    snapshot::expect(&path, &actual);
}

/// The same with 0 for every time, rate and measurement of memory.
pub(crate) fn without_measurements(text: &str) -> String {
    let mut text = text.to_owned();
    for field in ["micros", "seconds", "operations_per_second", "bytes_per_state"] {
        let start = format!("\"{field}\":");
        let parts: Vec<&str> = text.split(&start).collect();
        let number = |c: char| c.is_ascii_digit() || ".e-+".contains(c);
        let rest = parts[1..].iter().map(|part| part.trim_start_matches(number));
        let rest: String = rest.map(|part| format!("{start}0{part}")).collect();
        text = format!("{}{rest}", parts[0]);
    }
    text
}

#[test]
fn check_prints_the_fields_that_were_recorded() {
    let traces = ["examples/store-buffering.trace", "examples/coherence-bug.trace"];
    let models = "sc,tso,wmo,cc,ccv,cm,gradual";
    expect("check.jsonl", &[&["check", "--json", "--model", models], &traces[..]].concat());
    let full = ["check", "--json", "--stats=full", "--model", "sc,tso,cc,ccv,cm"];
    expect("check-full.jsonl", &[&full[..], &traces[..]].concat());
    expect("check-undecided.jsonl", &["check", "--json", "--budget", "0s", traces[1]]);
}

#[test]
fn certify_prints_the_fields_that_were_recorded() {
    let certificate = directory("recorded-certify").join("c.jsonl").display().to_string();
    let trace = "examples/store-buffering.trace";
    run(&["check", "--model", "sc,tso", "--certificate", &certificate, trace]);
    expect("certify.jsonl", &["certify", "--json", trace, &certificate]);
    expect("certify-not.jsonl", &["certify", "--json", "examples/iriw.trace", &certificate]);
}

#[test]
fn run_prints_the_fields_that_were_recorded() {
    let program = "examples/sb.program";
    let machine = ["--on", "machine:tso", "--check", "sc", "--json", "--traces", "50"];
    expect("run-machine.jsonl", &[&["run", program], &machine[..]].concat());
    let walked = ["--check", "sc", "--json", "-n", "20"];
    for (name, protocol) in [
        ("run-violation.jsonl", "protocols/broken/msi-store-buffer-drains-out-of-order.m"),
        ("run-broken.jsonl", "protocols/broken/msi-evictor-does-not-acknowledge.m"),
    ] {
        expect(name, &[&["run", "--on", protocol], &walked[..]].concat());
    }
}

#[test]
fn litmus_prints_the_fields_that_were_recorded() {
    let tests = ["examples/litmus/SB.litmus", "examples/litmus/spinlock.litmus"];
    let asked = ["litmus", "--json", "--witness", "--model", "sc,coherence"];
    expect("litmus.jsonl", &[&asked[..], &tests[..]].concat());
    let hasty = ["litmus", "--json", "--model", "tso", "--budget", "0s"];
    expect("litmus-undecided.jsonl", &[&hasty[..], &tests[..1]].concat());
}

#[test]
fn hunt_prints_the_fields_that_were_recorded() {
    let out = directory("recorded-hunt").join("hunt").display().to_string();
    let asked = ["hunt", "--on", "machine:tso", "--model", "sc", "--tests", "8", "--json"];
    let ran = run(&[&asked[..], &["--out", &out]].concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/hunt.jsonl");
    let printed = without_measurements(&ran.stdout).replace(&out, "FOLDER");
    snapshot::expect(&path, &printed);
}

#[test]
fn only_times_and_memory_may_differ() {
    let json = |seconds, states| {
        format!("{{\"seconds\":{seconds},\"states\":{states},\"bytes_per_state\":7.5}}")
    };
    assert_eq!(without_measurements(&json(0.1, 3)), without_measurements(&json(12.5, 3)));
    assert_ne!(without_measurements(&json(0.1, 3)), without_measurements(&json(0.1, 4)));
}
