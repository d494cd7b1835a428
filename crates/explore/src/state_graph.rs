//! The graph of the states of a small model, to be drawn or read by other tools.
//!
//! Breadth first, with the reference interpreter, without symmetry reduction: states are numbered in the
//! order in which they are found, and every firing of a rule is an edge. A state that breaks an
//! invariant is kept and has no successors; what an assumption excludes is left out, with the edges to
//! it. A graph is for people, so there are at most [`StateGraph::MOST`] states: beyond that it is refused.
//! O(edges · size of a state · log states).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use murphi::interpret::{End, Interpreter};
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::value::State;

use crate::Deadlock;
use crate::report::grouped;

/// The states of a model and the steps between them.
#[derive(Debug, Clone, Default)]
pub struct StateGraph {
    /// The states, in the order in which a breadth-first search finds them.
    pub states: Vec<GraphState>,
    /// The steps, by the state they begin in, in the order of the rules.
    pub steps: Vec<GraphStep>,
    /// Whether every reachable state is there: the bound on the depth left out none.
    pub complete: bool,
}

/// A state of a graph.
#[derive(Debug, Clone)]
pub struct GraphState {
    /// The state.
    pub state: State,
    /// The length of a shortest run to it.
    pub depth: u32,
    /// What is wrong with it.
    pub problem: Option<StateProblem>,
}

/// What is wrong with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateProblem {
    /// The invariant of this name does not hold, or cannot be evaluated.
    Invariant(String),
    /// It has no successor that counts.
    Deadlock,
}

/// A step of a graph: a rule that fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphStep {
    /// The state it begins in, by its number; `None` for a start state.
    pub from: Option<usize>,
    /// Where it leads.
    pub to: StepEnd,
    /// The name of the rule.
    pub rule: String,
    /// Names and values of its parameters.
    pub bindings: Vec<(String, String)>,
}

/// Where a step leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    /// To the state with this number.
    State(usize),
    /// To a run-time error.
    Error(String),
}

/// Why there is no graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoGraph {
    /// There are more states than a graph may have.
    TooManyStates,
    /// The search was interrupted.
    Interrupted,
}

impl fmt::Display for NoGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoGraph::TooManyStates => write!(
                f,
                "the model has more than {} states, too many for --graph: use smaller constants \
                 (--const NAME=VALUE) or --bound DEPTH",
                grouped(StateGraph::MOST as u64)
            ),
            NoGraph::Interrupted => f.write_str("the graph of states was interrupted"),
        }
    }
}

impl StateGraph {
    /// The most states of a graph.
    pub const MOST: usize = 10_000;

    /// The graph of the states that are at most `bound` steps away from a start state.
    pub fn new(
        interpreter: &Interpreter,
        deadlock: Deadlock,
        bound: Option<u64>,
        interrupt: &AtomicBool,
    ) -> Result<StateGraph, NoGraph> {
        let mut search = Search {
            interpreter: interpreter.clone(),
            numbers: BTreeMap::new(),
            graph: StateGraph { complete: true, ..StateGraph::default() },
        };
        let mut next = Successors::new(interpreter.layout().size as usize);
        Machine::start(&mut search.interpreter, &mut next);
        search.take(None, &next);
        let mut at = 0;
        while at < search.graph.states.len() {
            if search.graph.states.len() > Self::MOST {
                return Err(NoGraph::TooManyStates);
            }
            if interrupt.load(Relaxed) {
                return Err(NoGraph::Interrupted);
            }
            search.expand(at, deadlock, bound, &mut next);
            at += 1;
        }
        Ok(search.graph)
    }
}

struct Search {
    interpreter: Interpreter,
    /// The number of each state, by its bytes.
    numbers: BTreeMap<Vec<u8>, usize>,
    graph: StateGraph,
}

impl Search {
    /// Adds what follows a state.
    fn expand(&mut self, at: usize, deadlock: Deadlock, bound: Option<u64>, next: &mut Successors) {
        let GraphState { state, depth, problem } = &self.graph.states[at];
        if problem.is_some() {
            return;
        }
        if bound.is_some_and(|bound| u64::from(*depth) >= bound) {
            self.graph.complete = false;
            return;
        }
        let bytes = state.encode(self.interpreter.model(), self.interpreter.layout());
        next.clear();
        self.interpreter.expand(&bytes, next);
        let first = self.graph.steps.len();
        self.take(Some(at), next);
        let leaves = self.graph.steps[first..].iter().any(|step| match step.to {
            StepEnd::State(to) => deadlock == Deadlock::Stuck || to != at,
            StepEnd::Error(_) => true,
        });
        if deadlock != Deadlock::Off && !leaves {
            self.graph.states[at].problem = Some(StateProblem::Deadlock);
        }
    }

    /// Adds the steps that rules made, and the states they led to.
    fn take(&mut self, from: Option<usize>, next: &Successors) {
        for (number, firing) in next.firings.iter().enumerate() {
            let (rule, instance) = (firing.rule as usize, firing.instance);
            let to = match firing.outcome {
                Outcome::Excluded => continue,
                Outcome::Done => match self.number_of(next.state(number), from) {
                    Some(number) => StepEnd::State(number),
                    None => continue,
                },
                Outcome::Failed | Outcome::GuardFailed => {
                    StepEnd::Error(self.error(from, rule, instance))
                }
            };
            let model = self.interpreter.model();
            let (rule, bindings) = match from {
                None => (model.start_states[rule].name.clone(), Vec::new()),
                Some(at) => {
                    let state = &self.graph.states[at].state;
                    let bindings = self.interpreter.bindings(state, rule, instance);
                    (model.rules[rule].name.clone(), bindings)
                }
            };
            self.graph.steps.push(GraphStep { from, to, rule, bindings });
        }
    }

    /// The number of a state, which may be new; `None` if an assumption excludes it.
    fn number_of(&mut self, bytes: &[u8], from: Option<usize>) -> Option<usize> {
        let (model, layout) = (self.interpreter.model().clone(), self.interpreter.layout().clone());
        let state = State::decode(&model, &layout, bytes).expect("a machine makes whole states");
        let state = if model.elements_have_order { state } else { state.sorted(&model, &layout) };
        let bytes = state.encode(&model, &layout);
        if let Some(&number) = self.numbers.get(&bytes) {
            return Some(number);
        }
        let problem = match self.interpreter.check(&bytes) {
            Check::Excluded => return None,
            Check::Holds => None,
            Check::Broken(property) | Check::Failed(property) => {
                let property = &model.properties[property as usize];
                Some(StateProblem::Invariant(property.name.clone()))
            }
        };
        let depth = from.map_or(0, |at| self.graph.states[at].depth + 1);
        let number = self.graph.states.len();
        self.graph.states.push(GraphState { state, depth, problem });
        self.numbers.insert(bytes, number);
        Some(number)
    }

    /// The message of a rule that fails.
    fn error(&self, from: Option<usize>, rule: usize, instance: u64) -> String {
        let run = match from {
            None => self.interpreter.start(rule, instance),
            Some(at) => self.interpreter.run_rule(&self.graph.states[at].state, rule, instance),
        };
        match run.end {
            End::Failed(error) | End::GuardFailed(error) => error.to_string(),
            End::Disabled | End::Done(_) | End::Excluded => "run-time error".to_owned(),
        }
    }
}
