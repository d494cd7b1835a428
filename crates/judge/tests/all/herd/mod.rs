//! The judge gives the answers of the corpora: for every x86 litmus test, the same set of reachable
//! final states and the same observation of the condition, under every model that is answered
//! for. The answers of the small corpus were found by hand, those of the large one by herd7.
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
use std::path::Path;

use models::Model;
use oracle::{large_corpus, small_corpus};
use serde_json::Value as Json;

use condition::{Condition, observation};
use litmus::Litmus;
use reach::{State, reachable};

/// What is said about a test under a model.
#[derive(PartialEq, Eq, Debug)]
struct Answer {
    model: Model,
    observation: String,
    states: BTreeSet<String>,
}

/// Our answers for these models, and the number of verdicts they rest on.
fn our_answers(litmus: &Litmus, models: &[Model]) -> Result<(Vec<Answer>, usize), String> {
    let reached = reachable(litmus, models)?;
    let answer = |(&model, states): (&Model, &BTreeSet<State>)| Answer {
        model,
        observation: observation(states.iter().map(|state| holds(litmus, state))).to_owned(),
        states: states.iter().map(|state| spelled(litmus, state)).collect(),
    };
    Ok((models.iter().zip(&reached.states).map(answer).collect(), reached.verdicts))
}

/// Whether a state meets the proposition of the test's condition.
fn holds(litmus: &Litmus, state: &State) -> bool {
    litmus.condition.proposition.holds(&|place| {
        let index = litmus.observed.iter().position(|p| p == place);
        state[index.expect("the places of the condition are observed")]
    })
}

/// A state as herd7 writes it.
fn spelled(litmus: &Litmus, state: &State) -> String {
    let values = litmus.observed.iter().zip(state);
    let each = values.map(|(place, value)| format!("{}={value};", place.spelled(litmus.dialect)));
    each.collect::<Vec<_>>().join(" ")
}

/// A field of the outcomes that is text.
fn text_of(json: &Json) -> &str {
    json.as_str().expect("outcomes.json has text here")
}

/// The answers of herd7, for the models it was asked about.
fn answers_of_herd(outcome: &Json) -> Vec<Answer> {
    let answer = |model: Model| {
        let answer = outcome.get(model.name())?;
        let states = answer["states"].as_array().expect("outcomes.json lists states");
        Some(Answer {
            model,
            observation: text_of(&answer["observation"]).to_owned(),
            states: states.iter().map(|state| text_of(state).to_owned()).collect(),
        })
    };
    Model::ALL.into_iter().filter_map(answer).collect()
}

/// The test as its file has it; herd7 must have read the same condition.
fn parsed(text: &str, outcome: &Json) -> Result<Litmus, String> {
    let litmus = Litmus::parse(text)?;
    let condition = Condition::parse(text_of(&outcome["condition"]))?;
    if litmus.condition != condition || condition.quantifier.kind() != outcome["kind"] {
        return Err(format!("we read {:?}, herd7 {condition:?}", litmus.condition));
    }
    Ok(litmus)
}

/// Where two answers differ, as a line for each model.
fn differences(ours: &[Answer], theirs: &[Answer]) -> Vec<String> {
    let differing = ours.iter().zip(theirs).filter(|(ours, theirs)| ours != theirs);
    let line = |(ours, theirs): (&Answer, &Answer)| {
        format!(
            "{}: {} where herd7 has {}; only ours {:?}; only herd7's {:?}",
            ours.model,
            ours.observation,
            theirs.observation,
            ours.states.difference(&theirs.states).collect::<Vec<_>>(),
            theirs.states.difference(&ours.states).collect::<Vec<_>>(),
        )
    };
    differing.map(line).collect()
}

/// The names of the litmus tests in a folder.
fn tests_in(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("the corpus can be listed");
    let names = files.map(|file| file.expect("the corpus can be listed").file_name());
    names.filter_map(|name| Some(name.to_str()?.strip_suffix(".litmus")?.to_owned())).collect()
}

#[test]
fn the_litmus_tests_of_the_repository_have_the_expected_outcomes() {
    compare(&small_corpus("litmus"));
}

#[test]
fn every_litmus_test_of_the_large_corpus_has_the_outcomes_that_herd7_gives() {
    if let Some(corpus) = large_corpus("litmus") {
        compare(&corpus);
    }
}

/// Compares our answers to all tests of a corpus with its own.
fn compare(corpus: &Path) {
    let outcomes = fs::read_to_string(corpus.join("outcomes.json")).unwrap();
    let outcomes: Json = serde_json::from_str(&outcomes).unwrap();
    let tests = tests_in(corpus);
    let answered: BTreeSet<String> = outcomes.as_object().unwrap().keys().cloned().collect();
    assert_eq!(tests, answered, "each test has its outcomes and no other has");

    let (mut compared, mut certified, mut wrong) = (0, 0, Vec::new());
    for name in &tests {
        let text = fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
        let theirs = answers_of_herd(&outcomes[name]);
        let models: Vec<Model> = theirs.iter().map(|answer| answer.model).collect();
        let ours = parsed(&text, &outcomes[name]).and_then(|test| our_answers(&test, &models));
        // No test is left out: one that cannot be read or run is a failure.
        let (ours, verdicts) = ours.unwrap_or_else(|error| panic!("{name}: {error}"));
        compared += models.len();
        certified += verdicts;
        wrong.extend(differences(&ours, &theirs).iter().map(|line| format!("{name}, {line}")));
    }
    println!("{} tests, {compared} sets of states, {certified} certified verdicts", tests.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The states of a test under a model, as herd7 would list them.
fn states(text: &str, model: Model) -> Vec<String> {
    let litmus = Litmus::parse(text).expect("the test is well-formed");
    let (answers, _) = our_answers(&litmus, &[model]).expect("no thread loops");
    answers.into_iter().flat_map(|answer| answer.states).collect()
}

#[test]
fn a_store_buffer_adds_one_state_to_store_buffering() {
    let test = r"X86 SB
        { }
        P0          | P1          ;
        MOV [x],$1  | MOV [y],$1  ;
        MOV EAX,[y] | MOV EAX,[x] ;
        exists (0:EAX=0 /\ 1:EAX=0)";
    let sc = ["0:EAX=0; 1:EAX=1;", "0:EAX=1; 1:EAX=0;", "0:EAX=1; 1:EAX=1;"];
    assert_eq!(states(test, Model::Sc), sc);
    assert_eq!(states(test, Model::Tso), [&["0:EAX=0; 1:EAX=0;"], &sc[..]].concat());
}

#[test]
fn what_is_written_follows_from_what_is_read() {
    let test = r"X86_64 copy
        { int x=5; 1:rbx=7; }
        P0             | P1                     ;
        movl (x),%eax  | movl $5,%eax           ;
        movl %eax,(y)  | lock cmpxchgl (x),%ebx ;
        locations [y;]
        forall (1:rax=5)";
    assert_eq!(states(test, Model::Sc), ["1:rax=5; [y]=5;", "1:rax=5; [y]=7;"]);
}

#[test]
fn a_branch_is_taken_as_the_value_read_says() {
    let test = r"X86_64 branch
        { }
        P0           | P1            ;
        movl $1,(x)  | movl (x),%eax ;
                     | cmp $1,%eax   ;
                     | je L          ;
                     | movl $2,(y)   ;
                     | L:            ;
        forall ([y]=0 \/ [y]=2)";
    assert_eq!(states(test, Model::Tso), ["[y]=0;", "[y]=2;"]);
}
