//! The tests for RISC-V and AArch64 in the repository have the answers that were found by hand, and
//! they notice what is missing from a model: with a line of `rvwmo.cat` or `aarch64.cat` left out,
//! some test has another answer, unless the line says what follows from the others.

use std::fs;

use cat::CatModel;
use oracle::small_corpus;
use tribunal_litmus::{Limits, Litmus, outcomes_by_file, parse};

/// The tests of a folder with the model and the observation that are expected.
fn expected(folder: &str) -> Vec<(Litmus, String, String)> {
    let folder = small_corpus(folder);
    let rows = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let row = |line: &str| {
        let [test, model, observation] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let text = fs::read_to_string(folder.join(test)).unwrap();
        let read = parse(&text).unwrap_or_else(|problem| panic!("{test}: {}", problem.message));
        (read, model.to_owned(), observation.to_owned())
    };
    rows.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn observation(test: &Litmus, model: &CatModel) -> &'static str {
    let found = outcomes_by_file(test, model, &Limits::NONE).unwrap();
    let (all, satisfy) = (found.count(), found.count_where(&test.condition.proposition));
    found.each(|state| {
        let reached = found.reached(state).unwrap();
        assert!(
            cat::allows(model, &reached.execution, &reached.choice),
            "{}: the definition forbids\n{}",
            test.name,
            reached.text(test)
        );
        true
    });
    match satisfy {
        0 => "Never",
        _ if satisfy == all => "Always",
        _ => "Sometimes",
    }
}

fn compare(folder: &str) {
    let rows = expected(folder);
    assert!(rows.len() > 60);
    for (test, model, wanted) in rows {
        assert_eq!(parse(&test.to_text()).as_ref(), Ok(&test));
        let file = CatModel::shipped(&model).unwrap();
        assert_eq!(observation(&test, &file), wanted, "{} under {model}", test.name);
    }
}

#[test]
fn the_tests_for_riscv_have_the_answers_found_by_hand() {
    compare("litmus-riscv");
}

#[test]
fn the_tests_for_aarch64_have_the_answers_found_by_hand() {
    compare("litmus-aarch64");
}

/// The text of a model with one alternative or condition left out, for each of them.
fn mutants(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let without = |at: usize, instead: &str| {
        let mut lines = lines.clone();
        lines[at] = instead;
        lines.join("\n")
    };
    let condition = |line: &str| {
        ["acyclic ", "irreflexive ", "empty "].iter().any(|word| line.starts_with(word))
    };
    let mutant = |(at, line): (usize, &&str)| {
        let instead = if line.starts_with("  | ") || condition(line) {
            ""
        } else if line.starts_with("    ") {
            "  0"
        } else {
            return None;
        };
        Some((line.trim().to_owned(), without(at, instead)))
    };
    lines.iter().enumerate().filter_map(mutant).collect()
}

/// The lines without which every test of a folder has the same answer.
fn unnoticed(folder: &str, model: &str, text: &str) -> Vec<String> {
    let rows = expected(folder);
    let mut unnoticed = Vec::new();
    for (line, mutant) in mutants(text) {
        let mutant = CatModel::from_text("mutant.cat", &mutant).unwrap_or_else(|e| panic!("{e}"));
        let mut asked = rows.iter().filter(|row| row.1 == model);
        if !asked.any(|(test, _, wanted)| observation(test, &mutant) != wanted) {
            unnoticed.push(line);
        }
    }
    unnoticed
}

#[test]
fn a_rule_that_is_missing_from_rvwmo_is_noticed() {
    let text = include_str!("../../../../models/rvwmo.cat");
    assert_eq!(mutants(text).len(), 17);
    assert_eq!(
        unnoticed("litmus-riscv", "rvwmo", text),
        [
            // From a read or write to a later write of its address there is fr or co anyway.
            "[M] ; po-loc ; [W]                              (* rule 1: same address, store second *)",
            "| lxsx                                            (* rule 8: pair *)",
            // A write that only the second of two reads has seen is after the first by fr.
            "| ([R] ; read-twice ; [R]) \\ (rf^-1 ; rf)         (* rule 2: same address, loads of different stores *)",
        ]
    );
}

#[test]
fn a_line_that_is_missing_from_aarch64_is_noticed() {
    let text = include_str!("../../../../models/aarch64.cat");
    // Whatever is before the read of an atomic is before its write by another line, or by coe.
    assert_eq!(unnoticed("litmus-aarch64", "aarch64", text), ["rmw"]);
}

/// An atomic of RISC-V is one event, which reads and writes; one of AArch64 is two, and `rmw` relates
/// them. A model has to keep both whole.
#[test]
fn nothing_comes_between_the_read_and_the_write_of_an_atomic() {
    let riscv = "RISCV atomic
        { 0:x5=x; 1:x5=x; }
        P0           | P1 ;
        ori x6,x0,1  | ori x6,x0,3 ;
        sw x6,0(x5)  | amoswap.w x7,x6,(x5) ;
        ori x6,x0,2  | ;
        sw x6,0(x5)  | ;
        exists (1:x7=1 /\\ x=3)";
    let aarch64 = "AArch64 atomic
        { 0:X1=x; 1:X1=x; }
        P0          | P1 ;
        MOV W2,#1   | MOV W2,#3 ;
        STR W2,[X1] | SWP W2,W3,[X1] ;
        MOV W2,#2   | ;
        STR W2,[X1] | ;
        exists (1:X3=1 /\\ x=3)";
    for text in [riscv, aarch64] {
        let test = parse(text).unwrap_or_else(|problem| panic!("{}", problem.message));
        for file in cat::shipped_models() {
            let model = CatModel::shipped(file).unwrap();
            assert_eq!(observation(&test, &model), "Never", "{text} under {file}");
        }
    }
}
