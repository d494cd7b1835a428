//! Public suites for RISC-V and AArch64, where a folder of them is at hand: each test has the verdict
//! that was published with it, and every state that is found is allowed by the definition of the
//! model.

use std::fs;
use std::path::Path;

use oracle::large_corpus;
use tribunal_litmus::{Limits, LitmusModel, Stopped, outcomes_of, parse};

/// How many tests of a suite have the published verdict; panics if one has another.
fn compare(folder: &Path, model: &str) -> usize {
    let model = LitmusModel::named(model).unwrap();
    let expected = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let (mut agree, mut states, mut wrong) = (0, 0, Vec::new());
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let (name, verdict) = line.split_once('\t').unwrap();
        let Ok(text) = fs::read_to_string(folder.join(name)) else { continue };
        let test = parse(&text).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
        assert_eq!(parse(&test.to_text()).as_ref(), Ok(&test), "{name} is printed as it is read");
        // Unaligned accesses are refused, and accesses of parts of a location under some models.
        let found = match outcomes_of(&test, &model, &Limits::NONE) {
            Ok(found) => found,
            Err(Stopped::Mixed { .. } | Stopped::Fault { .. }) => continue,
            Err(stopped) => panic!("{name}: {stopped}"),
        };
        let satisfy = found.count_where(&test.condition.proposition);
        let holds = test.condition.quantifier.holds(satisfy, found.count() - satisfy);
        if holds == (verdict == "1") {
            agree += 1
        } else {
            wrong.push(name.to_owned())
        }
        // The definition is slow: the states of every tenth test.
        if agree % 10 == 0 {
            found.each(|state| {
                let reached = found.reached(state).unwrap();
                states += 1;
                cat::allows(model.file(), &reached.execution, &reached.choice)
                    || panic!("{name}: the definition forbids\n{}", reached.text(&test))
            });
        }
    }
    println!("{agree} verdicts agree, {states} states confirmed");
    assert!(wrong.is_empty(), "{} differ: {}", wrong.len(), wrong.join(", "));
    agree
}

#[test]
fn the_suite_for_riscv_has_the_published_verdicts() {
    let Some(folder) = large_corpus("litmus-riscv") else { return };
    assert!(compare(&folder, "rvwmo") > 1_700);
}

#[test]
fn the_suite_for_aarch64_has_the_published_verdicts() {
    let Some(folder) = large_corpus("litmus-aarch64") else { return };
    // The other 13 have unaligned accesses.
    assert!(compare(&folder, "aarch64-2020") >= 1_899);
    // What was added since forbids nothing that the suite asks for.
    assert!(compare(&folder, "aarch64") >= 1_239);
}
