//! The graph of the states of a model has the states and verdicts of the searches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use murphi::interpret::Interpreter;
use murphi::source::Source;
use tribunal_explore::{Deadlock, NoGraph, StateGraph, StateProblem, StepEnd};

use crate::brute_force::{Kind, search};

fn load(text: &str) -> Interpreter {
    let source = Source { name: "graph.m".to_owned(), text: text.to_owned() };
    let checked = murphi::load(source, &murphi::check::Options::default()).expect("a model");
    Interpreter::new(Arc::new(checked.model)).expect("a small model")
}

fn graph(interpreter: &Interpreter, bound: Option<u64>) -> Result<StateGraph, NoGraph> {
    StateGraph::new(interpreter, Deadlock::Stuttering, bound, &AtomicBool::new(false))
}

const TOKENS: &str = "type P: scalarset(3); var has: array [P] of boolean; n: 0..2;
  startstate begin for p: P do has[p] := false; end; n := 0; end;
  ruleset p: P do
    rule \"take\" n < 2 & !has[p] ==> begin has[p] := true; n := n + 1; end;
    rule \"give\" has[p] ==> begin has[p] := false; n := n - 1; end;
  end;";

#[test]
fn a_graph_has_all_states_and_every_step_once() {
    let interpreter = load(TOKENS);
    let graph = graph(&interpreter, None).unwrap();
    let plain = search(&interpreter, Deadlock::Stuttering, 1000).unwrap();
    assert_eq!((plain.kind, plain.states), (Kind::Verified, graph.states.len()));
    // None, each of three, each pair; a token is taken by one of 3 or 2, given by each who has one.
    assert_eq!(graph.states.len(), 7);
    assert!(graph.complete);
    let steps: Vec<_> = graph.steps.iter().filter(|step| step.from.is_some()).collect();
    assert_eq!(steps.len(), 3 + 3 * (2 + 1) + 3 * 2);
    let distinct: BTreeSet<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!(distinct.len(), steps.len());
    let within_one = self::graph(&interpreter, Some(1)).unwrap();
    assert_eq!((within_one.states.len(), within_one.complete), (4, false));
}

#[test]
fn problems_of_states_and_steps_are_marked() {
    let interpreter = load(
        "var n: 0..3; startstate begin n := 0; end;
         rule \"count\" n < 3 ==> begin n := n + 1; end;
         rule \"fail\" n = 1 ==> begin n := n + 3; end;
         invariant \"small\" n < 3;",
    );
    let graph = graph(&interpreter, None).unwrap();
    let problems: Vec<_> = graph.states.iter().map(|state| state.problem.clone()).collect();
    let broken = Some(StateProblem::Invariant("small".to_owned()));
    assert_eq!(problems, [None, None, None, broken]);
    let fails = |to: &StepEnd| matches!(to, StepEnd::Error(why) if !why.is_empty());
    assert_eq!(graph.steps.iter().filter(|step| fails(&step.to)).count(), 1);
    let stuck =
        load("var b: boolean; startstate begin b := false; end; rule !b ==> begin b := true; end;");
    let last = self::graph(&stuck, None).unwrap().states.pop().unwrap();
    assert_eq!(last.problem, Some(StateProblem::Deadlock));
}

#[test]
fn too_many_states_are_refused() {
    let interpreter = load(
        "var a, b: 0..199; startstate begin a := 0; b := 0; end;
         rule begin a := (a + 1) % 200; end; rule begin b := (b + 1) % 200; end;",
    );
    assert_eq!(graph(&interpreter, None).unwrap_err(), NoGraph::TooManyStates);
    assert!(graph(&interpreter, Some(20)).is_ok());
}
