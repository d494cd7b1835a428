//! The judge gives the answers of herd7: for every x86 litmus test of the corpus, the same set of
//! reachable final states and the same observation of the condition, under every model for which
//! herd7 was asked. The corpus is not part of the project; where it is absent there is nothing to
//! compare with.
//!
//! `MFENCE` is recorded as a full fence, `SFENCE` and `LFENCE` as fences that order nothing between
//! a write and a later read, and a locked instruction as one read-modify-write.

mod condition;
mod instruction;
mod litmus;
mod reach;
mod run;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use models::Model;
use serde_json::Value as Json;

use condition::Condition;
use litmus::Litmus;
use reach::{State, reachable};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/litmus")
}

/// What herd7 says about a test under a model.
struct Answer {
    model: Model,
    observation: String,
    states: BTreeSet<String>,
}

fn answers(outcome: &Json) -> Vec<Answer> {
    let models = [Model::Sc, Model::Tso, Model::Pso, Model::Coherence];
    let answer = |model: Model| {
        let answer = outcome.get(model.name())?;
        let states = answer["states"].as_array().unwrap();
        Some(Answer {
            model,
            observation: answer["observation"].as_str().unwrap().to_owned(),
            states: states.iter().map(|state| state.as_str().unwrap().to_owned()).collect(),
        })
    };
    models.into_iter().filter_map(answer).collect()
}

/// A state as herd7 writes it.
fn spelled(litmus: &Litmus, state: &State) -> String {
    let values = litmus.observed.iter().zip(state);
    let each = values.map(|(place, value)| format!("{}={value};", place.spelled(litmus.dialect)));
    each.collect::<Vec<_>>().join(" ")
}

fn holds(litmus: &Litmus, state: &State) -> bool {
    litmus.condition.proposition.holds(&|place| {
        let index = litmus.observed.iter().position(|p| p == place);
        state[index.expect("the places of the condition are observed")]
    })
}

#[test]
fn measure() {
    let outcomes = fs::read_to_string(corpus().join("outcomes.json")).unwrap();
    let outcomes: Json = serde_json::from_str(&outcomes).unwrap();
    let mut bad = 0;
    let mut total = (0,0);
    let t00 = std::time::Instant::now();
    for (name, outcome) in outcomes.as_object().unwrap() {
        let text = fs::read_to_string(corpus().join(format!("{name}.litmus"))).unwrap();
        let litmus = match Litmus::parse(&text) { Ok(l) => l, Err(e) => { println!("{name}: {e}"); continue; } };
        assert_eq!(Ok(&litmus.condition), Condition::parse(outcome["condition"].as_str().unwrap()).as_ref(), "{name}");
        assert_eq!(litmus.condition.quantifier.kind(), outcome["kind"]);
        let answers = answers(outcome);
        let models: Vec<Model> = answers.iter().map(|a| a.model).collect();
        let t0 = std::time::Instant::now();
        let (runs, values) = run::all_runs(&litmus).unwrap();
        let combos: usize = runs.iter().map(|r| r.len()).product::<usize>() * litmus.locations.names().iter().enumerate().map(|(a,n)| if litmus.observed.contains(&tokens::Place::Memory(n.clone())) { values[a].len() } else { 1 }).product::<usize>();
        if combos > 20000 && std::env::var("ALL").is_err() { println!("{name}: {combos}"); continue; }
        let reached = reachable(&litmus, &models).unwrap();
        total.0 += reached.histories; total.1 += reached.verdicts;
        if t0.elapsed().as_millis() > 300 { println!("{name}: {} histories {} verdicts {:?}", reached.histories, reached.verdicts, t0.elapsed()); }
        for (a, states) in answers.iter().zip(&reached.states) {
            let ours: BTreeSet<String> = states.iter().map(|s| spelled(&litmus, s)).collect();
            let obs = litmus.condition.observation(states.iter().map(|s| holds(&litmus, s)));
            if ours != a.states || obs != a.observation {
                bad += 1;
                println!("{name} {}: {obs} {} missing {:?} extra {:?}", a.model, a.observation, a.states.difference(&ours).take(3).collect::<Vec<_>>(), ours.difference(&a.states).take(3).collect::<Vec<_>>());
            }
        }
    }
    println!("{bad} bad, {total:?} {:?}", t00.elapsed());
}
