//! Every litmus test of the corpora has the outcomes that its corpus says: the same states, the
//! same observation, under every model that it answers for; and every state has an execution that
//! the kernel accepts. The answers of the small corpus were found by hand, those of the large one
//! by herd7.

use std::fs;
use std::path::Path;

use evidence::{Certificate, Evidence};
use models::Model;
use oracle::{large_corpus, small_corpus};
use serde_json::Value as Json;
use tribunal_litmus::{Limits, Litmus, MODELS, outcomes, parse};

/// Our states and observation, each state with an execution that the kernel accepts.
fn answer(test: &Litmus, model: Model) -> (Vec<String>, &'static str) {
    let found = outcomes(test, model, &Limits::NONE).unwrap();
    let (mut states, mut satisfy) = (Vec::new(), 0);
    found.each(|state| {
        states.push(found.spelled(state));
        satisfy += usize::from(found.holds(&test.condition.proposition, state));
        let execution = found.execution(state).unwrap();
        let execution = execution.unwrap_or_else(|| panic!("{}: no execution", test.name));
        let evidence = Evidence::Consistent(execution.witness());
        let certificate = Certificate { trace: 1, model, evidence };
        if let Err(rejection) = certify::certify(&execution.history, &certificate) {
            panic!("{} under {model}: {rejection}", test.name);
        }
        true
    });
    let observation = match satisfy {
        0 => "Never",
        all if all == states.len() => "Always",
        _ => "Sometimes",
    };
    (states, observation)
}

#[test]
fn the_litmus_tests_of_the_repository_have_the_expected_outcomes() {
    assert_eq!(compare(&small_corpus("litmus")), 38);
}

#[test]
fn every_litmus_test_of_the_large_corpus_has_the_outcomes_that_herd7_gives() {
    let Some(corpus) = large_corpus("litmus") else { return };
    assert!(compare(&corpus) > 2000, "the corpus is there but for a part");
}

/// Compares our answers to all tests of a corpus with its own; how many sets of states there are.
fn compare(corpus: &Path) -> usize {
    let answers = fs::read_to_string(corpus.join("outcomes.json")).unwrap();
    let answers: Json = serde_json::from_str(&answers).unwrap();
    let answers = answers.as_object().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, theirs) in answers {
        let text = fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
        let test = parse(&text).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
        let condition = test.condition.spelled(&test);
        if theirs["condition"] != condition || theirs["kind"] != test.condition.quantifier.kind() {
            wrong.push(format!("{name}: we read {condition}, expected {}", theirs["condition"]));
        }
        for &model in MODELS {
            let Some(theirs) = theirs.get(model.name()) else { continue };
            let (mut ours, observation) = answer(&test, model);
            ours.sort();
            let mut states: Vec<&str> =
                theirs["states"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
            states.sort_unstable();
            compared += 1;
            if ours != states || theirs["observation"] != observation {
                wrong.push(format!("{name} under {model}: {observation} {ours:?}, not {theirs}"));
            }
        }
    }
    println!("{} tests, {compared} sets of states", answers.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    compared
}
