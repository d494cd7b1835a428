//! `tribunal convert` and `tribunal models`.

use crate::common::*;

const EVERYTHING: &str = "\
init M[x] == 5
0: M[x] := 1 as first
0: fence w,r
0: M[y] == 0 as seen @ 10:20
0: M[z] := 2 dep seen
1: <M[y] == 0; M[y] := 7>
1: sync
final M[y] == 7
order M[x]: 5 < first
check
";

#[test]
fn there_and_back_again_changes_nothing() {
    let json = run_with(EVERYTHING, &["convert", "--to", "jsonl", "-"]);
    assert_eq!(json.code, Some(0), "{}", json.stderr);
    assert_eq!(json.json().len(), 10);
    let text = run_with(&json.stdout, &["convert", "--from", "jsonl", "--to", "text", "-"]);
    let again = run_with(EVERYTHING, &["convert", "--to", "text", "-"]);
    assert_eq!(text.stdout, again.stdout);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let directory = directory("convert");
    let out = directory.join("out.jsonl");
    let path = out.to_str().unwrap();
    let bad = format!("{CONSISTENT}nonsense\n");
    assert_eq!(run_with(bad, &["convert", "--to", "jsonl", "-o", path, "-"]).code, Some(2));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    assert_eq!(run_with(CONSISTENT, &["convert", "--to", "jsonl", "-o", path, "-"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(out).unwrap().lines().count(), 5);
}

#[test]
fn the_example_in_json_lines_is_the_one_in_text() {
    let ran = run(&["convert", "--to", "jsonl", "examples/store-buffering.trace"]);
    let shipped = std::fs::read_to_string(root().join("examples/store-buffering.jsonl")).unwrap();
    assert_eq!(ran.stdout, shipped);
}

#[test]
fn the_models_are_listed_for_people_and_for_programs() {
    let ran = run(&["models"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("total store order"));
    let ran = run(&["models", "--json"]);
    assert_eq!(ran.json()[1]["model"], "tso");
    for model in ["wccm", "rvwmo", "aarch64", "lin"] {
        assert!(ran.json().iter().any(|row| row["model"] == model), "{model}: {ran:?}");
    }
}

/// A format that nobody can read about might as well not be there.
#[test]
fn the_guide_to_traces_names_every_format() {
    let guide = std::fs::read_to_string(root().join("docs/traces.md")).unwrap();
    for format in history::Format::ALL {
        assert!(guide.contains(&format!("`--format {format}`")), "{format} is not in the guide");
    }
}
