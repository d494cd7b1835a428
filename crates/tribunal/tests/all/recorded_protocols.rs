//! The JSON of explorations and verifications, byte for byte but for times and memory, as it was
//! recorded in `tests/recorded`. Programs rely on its fields, their order and their meaning.

use std::path::Path;

use crate::common::{directory, run};
use crate::recorded::without_measurements;

/// What is asked, by the name of the file with the answer.
const QUESTIONS: &[(&str, &str)] = &[
    ("explore-verified", "explore protocols/mi.m"),
    ("explore-violation", "explore protocols/broken/mcs-lock-flag-raised-late.m"),
    ("explore-deadlock", "explore -D N=2 protocols/broken/peterson-victim-not-consulted.m"),
    ("explore-undecided", "explore --bound 3 protocols/mi.m"),
    ("verify-verified", "verify --model sc protocols/mi.m"),
    ("verify-violation", "verify --model sc protocols/broken/mi-stale-put-taken.m"),
    ("verify-broken", "verify --model sc protocols/broken/mi-early-forward-dropped.m"),
    ("verify-false-alarm", "verify --model sc crates/conform/tests/models/delayed-stores.m"),
    ("verify-not-established", "verify --model sc crates/conform/tests/models/looks-at-values.m"),
    ("verify-tso", "verify --model tso crates/conform/tests/models/load-buffers.m"),
    ("verify-mutants", "verify --model sc --mutants --mutant 1 --mutant 2 protocols/mi.m"),
    ("any-processors-verified", "verify --any-processors protocols/german.m"),
    (
        "any-processors-violation",
        "verify --any-processors protocols/broken/german-write-back-lost.m",
    ),
    ("any-processors-missing-lemma", "verify --any-processors --concrete 2 protocols/mcs-lock.m"),
    (
        "any-processors-not-established",
        "verify --any-processors --model sc crates/conform/tests/models/looks-at-values.m",
    ),
];

#[test]
fn json_is_what_was_recorded() {
    for (name, question) in QUESTIONS {
        let arguments: Vec<&str> = question.split(' ').chain(["--json", "--jobs", "1"]).collect();
        let ran = run(&arguments);
        assert!(!ran.stdout.is_empty(), "{question}: {}", ran.stderr);
        assert_recorded(name, &ran.stdout);
    }
}

#[test]
fn json_of_certificates_and_replays_is_what_was_recorded() {
    let directory = directory("recorded");
    let place = |name: &str| directory.join(name).to_str().expect("a name").to_owned();
    let certificate = place("german.certificate");
    run(&["verify", "--any-processors", "--certificate", &certificate, "protocols/german.m"]);
    for (name, protocol) in [
        ("certify-holds", "protocols/german.m"),
        ("certify-rejected", "protocols/broken/german-write-back-lost.m"),
    ] {
        assert_recorded(name, &run(&["certify", "--json", protocol, &certificate]).stdout);
    }
    let (broken, kept) = ("protocols/broken/mi-stale-put-taken.m", place("kept"));
    run(&["verify", "--model", "sc", "--jobs", "1", "--out", &kept, broken]);
    let kept = format!("{kept}/run.json");
    let text = std::fs::read_to_string(&kept).expect("it is kept");
    assert_recorded("run-kept", &text);
    for (name, protocol) in [("replay-holds", broken), ("replay-refuted", "protocols/mi.m")] {
        let ran = run(&["verify", "--json", "--replay", &kept, protocol]);
        assert_recorded(name, &ran.stdout.replace(&kept, "run.json"));
    }
}

/// Compares JSON with what was recorded under this name.
#[track_caller]
fn assert_recorded(name: &str, printed: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    snapshot::expect(&path.with_extension("json"), &without_measurements(printed));
}
