//! Tests that are made from cycles: they are read back, the published tests of the same cycles and names
//! have the same verdict, and the trace of a cycle is allowed iff its test's outcome is.

use cat::{Answer, CatModel, solve};
use stress::{Assembly, Cycle};
use tribunal_litmus::{Limits, LitmusModel, outcomes_of, parse};

/// Whether a model allows the outcome that a test is about.
fn allows(text: &str, model: &LitmusModel) -> bool {
    let test = parse(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let outcomes = outcomes_of(&test, model, &Limits::NONE).expect("there is no limit");
    outcomes.count_where(&test.condition.proposition) > 0
}

/// Whether a model allows the trace of a cycle.
fn allows_trace(cycle: &Cycle, model: &CatModel) -> bool {
    matches!(solve(model, &cycle.history(), |_| true), Answer::Consistent(_))
}

/// The folder of published tests, if it is there.
fn published(name: &str) -> Option<std::path::PathBuf> {
    oracle::large_corpus(name)
}

/// What the tests of a folder say about cycles that we can make: how many were compared.
fn compare(folder: &str, assembly: Assembly, model: &str) -> Option<usize> {
    let folder = published(folder)?;
    let model = LitmusModel::named(model).unwrap();
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let (file, verdict) = line.split_once('\t').unwrap();
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let Some(edges) = text.lines().find_map(|line| line.strip_prefix("Orig=")) else {
            continue;
        };
        // Edges that leave a thread and come back, exclusive accesses and accesses of parts.
        let Ok(cycle) = edges.parse::<Cycle>() else { continue };
        let Ok(made) = cycle.litmus(assembly) else { continue };
        let name = |text: &str| text.split_whitespace().nth(1).unwrap_or_default().to_owned();
        // Some have names of their own, or begin with another thread.
        if name(&made).replace("coi", "wsi") != name(&text) {
            continue;
        }
        // Where a location has three writes, published tests have one more load, which observes their
        // order; ours ask for the last value alone and allow more.
        let accesses = |text: &str| text.matches(",[").count() + text.matches(",0(").count();
        if accesses(&made) != accesses(&text) {
            continue;
        }
        compared += 1;
        if allows(&made, &model) != (verdict == "1") {
            wrong.push(format!("{file}: another verdict\n{made}"));
        }
        if allows_trace(&cycle, model.file()) != (verdict == "1") {
            wrong.push(format!("{file}: another verdict of the trace\n{}", cycle.trace()));
        }
    }
    println!("{compared} compared, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    Some(compared)
}

#[test]
fn published_tests_for_riscv_have_the_verdicts_of_their_cycles() {
    assert!(
        compare("litmus-riscv", Assembly::RiscV, "rvwmo").is_none_or(|compared| compared > 900)
    );
}

#[test]
fn published_tests_for_aarch64_have_the_verdicts_of_their_cycles() {
    let compared = compare("litmus-aarch64", Assembly::AArch64, "aarch64-2020");
    assert!(compared.is_none_or(|compared| compared > 700));
}
