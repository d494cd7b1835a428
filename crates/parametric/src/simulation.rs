//! Checks that an abstraction simulates an instance, step by step: projected to any view, every step of
//! the instance is a step of the abstraction or leaves the projection unchanged (lemma L1 of
//! docs/abstraction.md). If the step fails, a step of the abstraction must fail in some view, or one of
//! its invariants must not hold (L3).
//!
//! Used by the audit and by tests only; no proof depends on it.

use std::sync::Arc;

use abstraction::{Abstraction, Prepared, RuleId, with_processors};
use murphi::ast::Program;
use murphi::check;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::machine::{Check, Machine};
use murphi::print::print;
use murphi::source::Source;
use murphi::value::State;

use crate::projection::project;

/// An instance of a program, with its abstraction.
pub struct Simulation<'a> {
    abstraction: &'a Abstraction,
    processor: &'a str,
    instance: Interpreter,
    abstracted: Interpreter,
    views: Vec<Vec<usize>>,
}

/// A step of the instance that the abstraction cannot take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingStep {
    /// The rule, or `None` for a start state.
    pub rule: Option<String>,
    /// The processors in view, by number. If one is known by name, it is the last.
    pub view: Vec<usize>,
    /// The states before and after the step, or the error.
    pub what: String,
}

impl<'a> Simulation<'a> {
    /// An instance with this number of processors, and all its views. `None` if one of the programs
    /// cannot be run.
    pub fn new(
        prepared: &'a Prepared,
        abstraction: &'a Abstraction,
        processors: u64,
        language: &check::Options,
    ) -> Option<Simulation<'a>> {
        let whole = with_processors(&prepared.program, &prepared.processor, processors);
        let simulation = Simulation {
            abstraction,
            processor: &prepared.processor.name,
            instance: runnable(&whole, language)?,
            abstracted: runnable(&abstraction.program, language)?,
            views: views(processors as usize, abstraction),
        };
        let rules = simulation.abstracted.model().rules.len();
        (rules == abstraction.origins.len()).then_some(simulation)
    }

    /// Uses these views only.
    pub fn with_views(self, views: Vec<Vec<usize>>) -> Self {
        Simulation { views, ..self }
    }

    /// Uses one of the views that differ only in the order of concrete processors: the abstraction
    /// is symmetric in them.
    pub fn with_unordered_views(mut self) -> Self {
        let concrete = self.abstraction.view.concrete as usize;
        self.views.retain(|view| view[..concrete].is_sorted());
        self
    }

    /// The instance.
    pub fn instance(&self) -> &Interpreter {
        &self.instance
    }

    /// The number of views in which each step is checked.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// The start states of the instance. In every view, each must be a start state of the
    /// abstraction.
    pub fn starts(&self) -> Result<Vec<State>, MissingStep> {
        let seen = starts(&self.abstracted);
        let found = starts(&self.instance);
        for start in &found {
            for view in &self.views {
                let projected = self.project(start, view);
                if !seen.contains(&projected) {
                    let what = format!("{projected:?}");
                    return Err(MissingStep { rule: None, view: view.clone(), what });
                }
            }
        }
        Ok(found)
    }

    /// The enabled instances of rules in a state, each with its effect.
    pub fn steps(&self, state: &State) -> Vec<(usize, End)> {
        let model = self.instance.model();
        let mut found = Vec::new();
        for (number, rule) in model.rules.iter().enumerate() {
            for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
                match self.instance.run_rule(state, number, instance).end {
                    End::Disabled | End::Excluded => {}
                    end => found.push((number, end)),
                }
            }
        }
        found
    }

    /// Checks that, in every view, a step of the instance is a step of the abstraction; or, for a
    /// step that fails, that the abstraction fails in some view.
    pub fn sees(&self, state: &State, rule: usize, end: &End) -> Result<(), MissingStep> {
        let unseen = |view: &[usize], what: String| MissingStep {
            rule: Some(self.instance.model().rules[rule].name.clone()),
            view: view.to_vec(),
            what,
        };
        let after = match end {
            End::Done(after) => after,
            End::Disabled | End::Excluded => return Ok(()),
            End::Failed(error) | End::GuardFailed(error) => {
                let is_alarm = |view: &Vec<usize>| self.alarms(&self.project(state, view), rule);
                return match self.views.iter().any(is_alarm) {
                    true => Ok(()),
                    false => Err(unseen(&[], format!("it fails in {state:?}: {error:?}"))),
                };
            }
        };
        for view in &self.views {
            let (from, to) = (self.project(state, view), self.project(after, view));
            if from != to && !self.leads(rule, &from, &to) {
                return Err(unseen(view, format!("from {from:?} to {to:?}")));
            }
        }
        Ok(())
    }

    fn project(&self, state: &State, view: &[usize]) -> State {
        let (view, named) = view.split_at(self.abstraction.view.concrete as usize);
        let (instance, abstracted) = (self.instance.model(), self.abstracted.model());
        project(instance, abstracted, self.processor, view, named.first().copied(), state)
    }

    /// The effects of the abstract instances of a rule in an abstract state.
    fn ends(&self, rule: usize, from: &State) -> impl Iterator<Item = End> {
        let model = self.abstracted.model();
        let origins = self.abstraction.origins.iter().enumerate();
        let own = origins.filter(move |(_, (origin, _))| *origin == RuleId(rule));
        own.flat_map(move |(number, _)| {
            let instances = instance::count(model, &model.rules[number].parameters).unwrap_or(0);
            (0..instances).map(move |instance| self.abstracted.run_rule(from, number, instance).end)
        })
    }

    /// Whether an abstract instance of a rule leads from one state to the other, or fails: a
    /// failure is an alarm, so nothing is called safe.
    fn leads(&self, rule: usize, from: &State, to: &State) -> bool {
        self.ends(rule, from).any(|end| match end {
            End::Done(next) => next == *to,
            End::Failed(_) | End::GuardFailed(_) => true,
            End::Disabled | End::Excluded => false,
        })
    }

    /// Whether an abstract instance of a rule fails in a state, or an invariant does not hold
    /// there.
    fn alarms(&self, state: &State, rule: usize) -> bool {
        let (model, layout) = (self.abstracted.model(), self.abstracted.layout());
        let mut machine = self.abstracted.clone();
        matches!(machine.check(&state.encode(model, layout)), Check::Broken(_) | Check::Failed(_))
            || self.ends(rule, state).any(|end| matches!(end, End::Failed(_) | End::GuardFailed(_)))
    }
}

fn runnable(program: &Program, language: &check::Options) -> Option<Interpreter> {
    let source = Source { name: "simulation".to_owned(), text: print(program) };
    let checked = murphi::load(source, language).ok()?;
    Interpreter::new(Arc::new(checked.model)).ok()
}

/// All start states of a model.
fn starts(machine: &Interpreter) -> Vec<State> {
    let model = machine.model();
    let mut found = Vec::new();
    for (number, start) in model.start_states.iter().enumerate() {
        for instance in 0..instance::count(model, &start.parameters).unwrap_or(0) {
            if let End::Done(state) = machine.start(number, instance).end {
                found.push(state);
            }
        }
    }
    found
}

/// All ways to choose and order the processors in view.
fn views(processors: usize, abstraction: &Abstraction) -> Vec<Vec<usize>> {
    let kept = abstraction.view.concrete as usize + usize::from(abstraction.view.named);
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..kept {
        let longer = |view: &Vec<usize>| -> Vec<Vec<usize>> {
            let others = (0..processors).filter(|next| !view.contains(next));
            others.map(|next| [view.clone(), vec![next]].concat()).collect()
        };
        found = found.iter().flat_map(longer).collect();
    }
    found
}
