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

#[test]
fn litmus_tests_become_programs_and_programs_litmus_tests() {
    let folder = directory("convert-litmus");
    let mut converted = 0;
    for name in ["SB", "MP", "LB", "S", "R", "2+2W", "IRIW", "SB+mfences", "SB+xchgs"] {
        let test = format!("examples/litmus/{name}.litmus");
        let ran = run(&["convert", "--to", "program", &test]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        let program = file(&folder, &format!("{name}.program"), &ran.stdout);
        // The outcomes of the program on a reference machine are those of the litmus test.
        let back = run(&["convert", "--to", "x86", &program]);
        let back = file(&folder, &format!("{name}.litmus"), &back.stdout);
        for model in ["sc", "tso", "pso"] {
            let answer = |test: &str| {
                let ran = run(&["litmus", "--json", "--model", model, test]);
                let answer = &ran.json()[0];
                [&answer["observation"], &answer["positive"], &answer["negative"]].map(Clone::clone)
            };
            assert_eq!(answer(&test)[0], answer(&back)[0], "{name} under {model}");
        }
        converted += 1;
    }
    assert_eq!(converted, 9);
}

#[test]
fn dependencies_and_annotations_survive_the_way_to_riscv_and_aarch64() {
    let text = "program MP\n0: x := 1\n0: fence w,w\n0: y := 1 rel\n1: y ? as a acq\n\
                1: x ? as b dep a\nexists a == 1, b == 0\nend\n";
    let program = file(&directory("convert-annotated"), "mp.program", text);
    for (assembly, load, store) in [("riscv", "lw.aq", "sw.rl"), ("aarch64", "LDAR", "STLR")] {
        let ran = run(&["convert", "--to", assembly, &program]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(load) && ran.stdout.contains(store), "{ran:?}");
        let test = file(&directory("convert-back"), &format!("mp-{assembly}.litmus"), &ran.stdout);
        let answer = run(&["litmus", "--json", &test]);
        assert_eq!(answer.json()[0]["observation"], "Never", "{answer:?}");
        let again = run(&["convert", "--to", "program", &test]);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert!(again.stdout.contains("M[x] ? as b dep a"), "{again:?}");
    }
    let refused = run(&["convert", "--to", "x86", &program]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("thread 1, instruction 2: X86_64"), "{refused:?}");
    let loops = run(&["convert", "--to", "program", "examples/litmus/spinlock.litmus"]);
    assert_eq!(loops.code, Some(2), "{loops:?}");
    assert!(loops.stderr.contains("is not a test program: thread"), "{loops:?}");
}
