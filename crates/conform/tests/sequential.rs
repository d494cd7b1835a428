//! "Verifying sequential consistency … by model checking": its example and its claims.

mod support;

use conform::{MemoryModel, Options, Verdict};
use judge::Outcome;
use support::{constants, model, verified};
use tribunal_conform as conform;

fn sc(overrides: &[(&str, &str)]) -> Options {
    Options { memory_model: MemoryModel::Sc, ..constants(overrides) }
}

#[test]
fn the_example_of_figure_1_is_verified_for_two_processors_and_two_locations() {
    let found = verified(&model("piranha"), &sc(&[]));
    assert!(matches!(found.verdict, Verdict::Verified), "{:?}", found.verdict);
    let names: Vec<&str> = found.lemmas.iter().map(|lemma| &*lemma.name).collect();
    assert_eq!(
        names,
        [
            "no nice cycle of 1 processor and 1 location",
            "no nice cycle of 2 processors and 2 locations",
            "the protocol's own claims"
        ]
    );
    assert!(found.independent, "{:?}", found.warnings);
    for lemma in &found.lemmas { eprintln!("{}: {} {}", lemma.name, lemma.exploration.states, lemma.exploration.seconds); }
}

#[test]
fn the_error_of_section_8_is_found_with_its_twelve_events_and_its_cycle() {
    let options = Options { only: Some(2), ..sc(&[("ForgetsOwner", "false")]) };
    let found = verified(&model("piranha"), &options);
    let Verdict::Violation(counterexample) = &found.verdict else {
        panic!("{:?}", found.verdict);
    };
    assert_eq!(counterexample.claim, "no nice cycle of 2 processors and 2 locations");
    // The start state and twelve rules.
    assert_eq!(counterexample.run.len(), 13);
    eprintln!("{}", counterexample.trace.text(true));
    let cycle = counterexample.cycle.as_ref().expect("there is a nice cycle");
    eprintln!("{:#?}", cycle.describe(&counterexample.trace));
    assert!(matches!(counterexample.judged.outcome, Outcome::Violation(_)));
    for lemma in &found.lemmas { eprintln!("{}: {} {}", lemma.name, lemma.exploration.states, lemma.exploration.seconds); }
}
