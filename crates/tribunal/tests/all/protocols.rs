//! The models we ship do what `protocols/expected.tsv` says, which other model checkers confirmed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rows beyond this many states are for benchmarks.
const LARGEST: u64 = 150_000;

fn protocols() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

/// A row of the table.
struct Expected<'a> {
    file: &'a str,
    constants: &'a str,
    symmetry: &'a str,
    verdict: &'a str,
    property: &'a str,
    states: Option<u64>,
    rules_fired: Option<u64>,
    /// Steps of a shortest counterexample.
    steps: Option<usize>,
}

fn rows(table: &str) -> impl Iterator<Item = Expected<'_>> {
    table.lines().filter(|line| !line.starts_with('#') && !line.starts_with("file\t")).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[file, constants, symmetry, verdict, property, states, rules, ..] = &cells[..] else {
            panic!("a row of expected.tsv has too few cells: {line}");
        };
        Expected {
            file,
            constants,
            symmetry,
            verdict,
            property,
            states: states.parse().ok(),
            rules_fired: rules.parse().ok(),
            steps: cells
                .get(7)
                .and_then(|note| note.strip_suffix(" steps"))
                .and_then(|number| number.parse().ok()),
        }
    })
}

fn explore(row: &Expected, jobs: &str) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
    command.args(["explore", "--json", "--quiet", "--jobs", jobs, "--symmetry", row.symmetry]);
    for constant in row.constants.split(',').filter(|&constant| constant != "-") {
        command.args(["--const", constant]);
    }
    let output = command.arg(protocols().join(row.file)).output().expect("tribunal starts");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    serde_json::from_str(text.trim()).unwrap_or_else(|error| {
        panic!("{}: {error}: {text}{}", row.file, String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
fn every_model_has_the_expected_verdict_and_counts() {
    let table = fs::read_to_string(protocols().join("expected.tsv")).expect("the table is there");
    let mut seen = 0;
    for row in rows(&table) {
        if row.states.is_some_and(|states| states > LARGEST) {
            continue;
        }
        let said = explore(&row, if seen % 2 == 0 { "1" } else { "2" });
        let name = format!("{} {} symmetry {}", row.file, row.constants, row.symmetry);
        assert_eq!(said["verdict"], row.verdict, "{name}: {said}");
        if row.verdict == "verified" {
            assert_eq!(said["states"].as_u64(), row.states, "{name}");
            assert_eq!(said["rules_fired"].as_u64(), row.rules_fired, "{name}");
        } else if row.verdict == "violation" && row.property != "-" {
            // Several may break at the same distance; `|` separates them.
            let said = said["property"].as_str().unwrap_or_default();
            assert!(row.property.split('|').any(|property| property == said), "{name}: {said}");
        }
        if let Some(steps) = row.steps {
            let found = said["counterexample"].as_array().map(Vec::len);
            assert_eq!(found, Some(steps), "{name}: not a shortest counterexample");
        }
        seen += 1;
    }
    assert!(seen > 20, "only {seen} rows were looked at");
}

#[test]
fn who_waits_can_still_be_served() {
    let table = fs::read_to_string(protocols().join("liveness.tsv")).expect("the table is there");
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[file, constants, symmetry, liveness, verdict] = &cells[..] else {
            panic!("a row of liveness.tsv has other cells: {line}");
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
        command.args(["explore", "--json", "--quiet", "--symmetry", symmetry]);
        command.args(["--liveness", liveness]);
        for constant in constants.split(',').filter(|&constant| constant != "-") {
            command.args(["--const", constant]);
        }
        let output = command.arg(protocols().join(file)).output().expect("tribunal starts");
        let said = String::from_utf8(output.stdout).expect("JSON is UTF-8");
        assert!(said.contains(&format!("\"verdict\":\"{verdict}\"")), "{line}: {said}");
        assert!(said.contains("\"liveness_seconds\":"), "{line}: {said}");
    }
}

/// The files of a folder that are models, by name.
fn models(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name());
    let mut models: Vec<String> = names
        .filter_map(|name| name.into_string().ok()?.strip_suffix(".m").map(str::to_owned))
        .collect();
    models.sort();
    models
}

/// Lines of `a` that `b` has not as often.
fn lines_only_in(a: &str, b: &str) -> usize {
    let mut count = std::collections::HashMap::new();
    b.lines().for_each(|line| *count.entry(line).or_insert(0) += 1);
    a.lines()
        .filter(|line| match count.get_mut(line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        })
        .count()
}

#[test]
fn a_broken_model_differs_from_the_right_one_in_a_few_lines_only() {
    let right = models(&protocols());
    let read = |file: String| fs::read_to_string(protocols().join(file)).expect("it is there");
    for broken in models(&protocols().join("broken")) {
        let base = right
            .iter()
            .filter(|model| broken.starts_with(&format!("{model}-")))
            .max_by_key(|model| model.len())
            .unwrap_or_else(|| panic!("{broken} is a variant of no model"));
        let (one, other) = (read(format!("broken/{broken}.m")), read(format!("{base}.m")));
        let apart = lines_only_in(&one, &other) + lines_only_in(&other, &one);
        // The right ones also claim that who waits has something to wait for.
        assert!((1..=60).contains(&apart), "{broken} and {base} are {apart} lines apart");
        assert!(one.contains("BUG"), "{broken} does not say where it is broken");
    }
}
