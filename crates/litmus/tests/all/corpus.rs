//! Every litmus test of the corpus has the outcomes that herd7 gives it: the same states, the same
//! observation, under every model for which herd7 was asked; and every state has an execution that
//! the kernel accepts. The corpus is not part of the project; where it is absent there is nothing
//! to compare with.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::{Certificate, Evidence};
use models::Model;
use serde_json::Value as Json;
use tribunal_litmus::{Limits, Litmus, MODELS, outcomes, parse};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/litmus")
}

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
fn every_litmus_test_of_the_corpus_has_the_outcomes_that_herd7_gives() {
    let Ok(answers) = fs::read_to_string(corpus().join("outcomes.json")) else {
        println!("no corpus of litmus tests at {}: nothing compared", corpus().display());
        return;
    };
    let answers: Json = serde_json::from_str(&answers).unwrap();
    let answers = answers.as_object().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, theirs) in answers {
        let text = fs::read_to_string(corpus().join(format!("{name}.litmus"))).unwrap();
        let test = parse(&text).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
        let condition = test.condition.spelled(&test);
        if theirs["condition"] != condition || theirs["kind"] != test.condition.quantifier.kind() {
            wrong.push(format!("{name}: we read {condition}, herd7 {}", theirs["condition"]));
        }
        for model in MODELS {
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
    assert!(compared > 2000, "the corpus is there but for a part");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
