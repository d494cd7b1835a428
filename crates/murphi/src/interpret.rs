//! The reference interpreter: runs the typed model by walking it.
//!
//! It is here to be right and to explain, not to be fast: replays of counterexamples, the words of
//! run-time errors, and the other side of every comparison with native code. Values are trees
//! ([`Value`]), each run works on a copy of the state, and nothing is shared with what it is
//! compared with but the typed model and the layout. Recursion follows the nesting of the source,
//! which the parser limits, and calls, where a function calls only functions before it.

mod error;
mod expression;
mod memory;
mod statement;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::instance::{self, Scope};
use crate::ir::{Domain, Model, Parameter, Property, PropertyKind, Rule};
use crate::layout::{Layout, TooLarge};
use crate::machine::{Check, Firing, Machine, Outcome, Successors};
use crate::value::{State, Value};

pub use error::{CallSite, RuntimeError, RuntimeErrorKind};
use expression::{Execution, Stop};

/// A model with all that is needed to run it.
#[derive(Debug, Clone)]
pub struct Interpreter {
    model: Arc<Model>,
    layout: Arc<Layout>,
    covered: Vec<bool>,
    stop: Arc<AtomicBool>,
}

/// Why a model cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrunnable {
    /// A type or the state is too large.
    TooLarge(TooLarge),
    /// The rule, start state or property of this name has more instances than can be counted.
    TooManyInstances(String),
}

/// What running one instance of a rule led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// What `put` printed until then.
    pub output: String,
}

/// How running one instance of a rule ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The guard does not hold, or a position to choose is not occupied.
    Disabled,
    /// It led to this state.
    Done(State),
    /// An `assume` did not hold.
    Excluded,
    /// A run-time error in a parameter or the guard.
    GuardFailed(RuntimeError),
    /// A run-time error in the body.
    Failed(RuntimeError),
}

/// An instance for which a property does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Which instance.
    pub instance: u64,
    /// Names and values of its parameters.
    pub bindings: Vec<(String, String)>,
}

impl Interpreter {
    /// Prepares a model to be run.
    pub fn new(model: Arc<Model>) -> Result<Self, Unrunnable> {
        let layout = Layout::of(&model).map_err(Unrunnable::TooLarge)?;
        let rules = model.rules.iter().chain(&model.start_states);
        let rules = rules.map(|rule| (&rule.name, &rule.parameters));
        let properties = model.properties.iter();
        let properties = properties.map(|property| (&property.name, &property.parameters));
        for (name, parameters) in rules.chain(properties) {
            if instance::count(&model, parameters).is_none() {
                return Err(Unrunnable::TooManyInstances(name.clone()));
            }
        }
        let covered = vec![false; model.properties.len() + model.covers.len()];
        Ok(Interpreter { model, layout: Arc::new(layout), covered, stop: Arc::default() })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Where everything is in the bytes of a state.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Runs an instance of the start state with this number.
    ///
    /// # Panics
    ///
    /// If there is no such start state.
    pub fn start(&self, start_state: usize, instance: u64) -> Run {
        let state = State::undefined(&self.model);
        run(&self.model, &self.model.start_states[start_state], instance, &state).0
    }

    /// Runs an instance of the rule with this number.
    ///
    /// # Panics
    ///
    /// If there is no such rule, or `state` is of another model.
    pub fn run_rule(&self, state: &State, rule: usize, instance: u64) -> Run {
        run(&self.model, &self.model.rules[rule], instance, state).0
    }

    /// Whether an instance of a rule applies in a state.
    ///
    /// # Panics
    ///
    /// If there is no such rule, or `state` is of another model.
    pub fn enabled(&self, state: &State, rule: usize, instance: u64) -> Result<bool, RuntimeError> {
        let rule = &self.model.rules[rule];
        let mut execution = Execution::new(&self.model, state.clone());
        match applies(&mut execution, rule, instance) {
            Ok(Applies::Yes) => Ok(true),
            Ok(Applies::No | Applies::Unoccupied { .. }) | Err(Stop::Excluded) => Ok(false),
            Err(Stop::Failed(error)) => Err(*error),
        }
    }

    /// The first instance of a property that does not hold in a state, whatever kind of property
    /// it is. A state that an `assume` excludes breaks nothing.
    ///
    /// # Panics
    ///
    /// If there is no such property, or `state` is of another model.
    pub fn check_property(
        &self,
        state: &State,
        property: usize,
    ) -> Result<Option<Breach>, RuntimeError> {
        let model = &*self.model;
        let property = &model.properties[property];
        match first(model, state, property, false).0 {
            Ok(None) | Err(Stop::Excluded) => Ok(None),
            Ok(Some(instance)) => {
                let bindings = instance::bindings(model, property, instance, state);
                Ok(Some(Breach { instance, bindings }))
            }
            Err(Stop::Failed(error)) => Err(*error),
        }
    }

    /// Names and values of the parameters of an instance of a rule.
    ///
    /// # Panics
    ///
    /// If there is no such rule, or `state` is of another model.
    pub fn bindings(&self, state: &State, rule: usize, instance: u64) -> Vec<(String, String)> {
        instance::bindings(&self.model, &self.model.rules[rule], instance, state)
    }

    fn append_run(&self, run: Run, rule: usize, instance: u64, out: &mut Successors) {
        let outcome = match &run.end {
            End::Disabled => return,
            End::Done(_) => Outcome::Done,
            End::Excluded => Outcome::Excluded,
            End::GuardFailed(_) => Outcome::GuardFailed,
            End::Failed(_) => Outcome::Failed,
        };
        out.firings.push(Firing { rule: rule as u32, instance, outcome });
        match run.end {
            End::Done(state) => out.states.extend(state.encode(&self.model, &self.layout)),
            _ => out.states.resize(out.states.len() + out.size, 0),
        }
    }

    /// Notes `cover` statements that were reached.
    fn note(&mut self, covers: &[usize]) {
        let first = self.model.properties.len();
        covers.iter().for_each(|number| self.covered[first + number] = true);
    }

    fn append_all(
        &mut self,
        rules: &[Rule],
        state: &State,
        out: &mut Successors,
        portions: Portions,
    ) {
        let Portions { most, full } = portions;
        for (number, rule) in rules.iter().enumerate() {
            for instance in instances(&self.model, rule.into(), state) {
                if self.stop.load(Relaxed) {
                    return;
                }
                if out.firings.len() >= most {
                    full(out);
                    out.clear();
                }
                let (run, covered) = run(&self.model, rule, instance, state);
                self.note(&covered);
                self.append_run(run, number, instance, out);
            }
        }
    }
}

/// How large a batch may be, and what to do with it then.
struct Portions<'a> {
    most: usize,
    full: &'a mut dyn FnMut(&mut Successors),
}

impl Machine for Interpreter {
    fn start(&mut self, out: &mut Successors) {
        self.run_in_portions(None, usize::MAX, out, &mut |_| ());
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.run_in_portions(Some(state), usize::MAX, out, &mut |_| ());
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let (model, portions) = (Arc::clone(&self.model), Portions { most, full });
        let Some(state) = state else {
            let undefined = State::undefined(&model);
            return self.append_all(&model.start_states, &undefined, out, portions);
        };
        let state = State::decode(&model, &self.layout, state)
            .expect("an exploration only expands states that a machine has made");
        self.append_all(&model.rules, &state, out, portions);
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        let model = Arc::clone(&self.model);
        let state = State::decode(&model, &self.layout, state)
            .expect("an exploration only checks states that a machine has made");
        for (kind, verdict) in [
            (PropertyKind::Assumption, (|_| Check::Excluded) as fn(u32) -> Check),
            (PropertyKind::Invariant, Check::Broken),
        ] {
            for (number, property) in of_kind(&model, kind) {
                let (found, covered) = first(&model, &state, property, false);
                self.note(&covered);
                match found {
                    Ok(None) => {}
                    Ok(Some(_)) => return verdict(number),
                    Err(Stop::Excluded) => return Check::Excluded,
                    Err(Stop::Failed(_)) => return Check::Failed(number),
                }
            }
        }
        for (number, property) in of_kind(&model, PropertyKind::Cover) {
            let (found, covered) = first(&model, &state, property, true);
            self.note(&covered);
            match found {
                Ok(Some(_)) => self.covered[number as usize] = true,
                Ok(None) | Err(Stop::Excluded) => {}
                Err(Stop::Failed(_)) => return Check::Failed(number),
            }
        }
        Check::Holds
    }

    fn covered(&self) -> &[bool] {
        &self.covered
    }
}

fn of_kind(model: &Model, kind: PropertyKind) -> impl Iterator<Item = (u32, &Property)> {
    let numbered = (0..).zip(&model.properties);
    numbered.filter(move |(_, property)| property.kind == kind)
}

/// Whether an instance applies.
enum Applies {
    Yes,
    No,
    /// The position for the parameter with this number is not occupied.
    Unoccupied {
        parameter: usize,
    },
}

/// Binds the parameters of an instance, in order, in a new frame.
fn bind<'m>(
    execution: &mut Execution<'m>,
    scope: Scope<'m>,
    instance: u64,
) -> Result<Applies, Stop> {
    let values = instance::decode(execution.model, scope.parameters, instance);
    let mut values = values.into_iter();
    execution.memory.enter(scope.frame, Vec::new());
    for (number, parameter) in scope.parameters.iter().enumerate() {
        match parameter {
            Parameter::Each(binder) => {
                let value = values.next().expect("an instance has a value for each parameter");
                if let Domain::Multiset(place) = &binder.domain {
                    let address = execution.address(place)?;
                    let rooms = execution.rooms(&address, place.span)?;
                    if memory::element(rooms, value as usize).is_err() {
                        return Ok(Applies::Unoccupied { parameter: number });
                    }
                }
                execution.bind(binder.local, value);
            }
            Parameter::Alias { local, target } => execution.bind_alias(*local, target)?,
        }
    }
    Ok(Applies::Yes)
}

/// Binds the parameters of a rule and evaluates its guard.
fn applies<'m>(
    execution: &mut Execution<'m>,
    rule: &'m Rule,
    instance: u64,
) -> Result<Applies, Stop> {
    match (bind(execution, rule.into(), instance)?, &rule.guard) {
        (Applies::Yes, Some(guard)) if !execution.truth(guard)? => Ok(Applies::No),
        (applies, _) => Ok(applies),
    }
}

/// Runs an instance of a rule; also says which `cover` statements it reached.
fn run(model: &Model, rule: &Rule, instance: u64, state: &State) -> (Run, Vec<usize>) {
    let mut execution = Execution::new(model, state.clone());
    let end = match applies(&mut execution, rule, instance) {
        Ok(Applies::No | Applies::Unoccupied { .. }) => Err(End::Disabled),
        Err(Stop::Excluded) => Err(End::Excluded),
        Err(Stop::Failed(error)) => Err(End::GuardFailed(*error)),
        Ok(Applies::Yes) => match execution.block(&rule.body) {
            Ok(_) => Ok(()),
            Err(Stop::Excluded) => Err(End::Excluded),
            Err(Stop::Failed(error)) => Err(End::Failed(*error)),
        },
    };
    let Execution { memory, output, covered, .. } = execution;
    let end = match end {
        Ok(()) => End::Done(memory.into_state()),
        Err(end) => end,
    };
    (Run { end, output }, covered)
}

/// All instances in a state whose positions are occupied, ascending.
fn instances(model: &Model, scope: Scope<'_>, state: &State) -> Vec<u64> {
    let count = instance::count(model, scope.parameters)
        .expect("a model with more instances is not runnable");
    let chooses = |parameter: &Parameter| match parameter {
        Parameter::Each(binder) => matches!(binder.domain, Domain::Multiset(_)),
        Parameter::Alias { .. } => false,
    };
    if !scope.parameters.iter().any(chooses) {
        return (0..count).collect();
    }
    let mut instances = Vec::new();
    let mut instance = 0;
    while instance < count {
        let mut execution = Execution::new(model, state.clone());
        match bind(&mut execution, scope, instance) {
            Ok(Applies::Unoccupied { parameter }) => {
                // Neither this position nor a later one is occupied, whatever the digits below.
                let below = instance::count(model, &scope.parameters[parameter..]);
                let block = below.expect("a part is no larger than the whole");
                instance = (instance / block).saturating_add(1).saturating_mul(block);
            }
            _ => {
                instances.push(instance);
                instance += 1;
            }
        }
    }
    instances
}

/// The first instance of a property whose condition has the truth value `wanted`. All instances
/// are looked at: an error of any of them comes first, since they have no order. Also says which
/// `cover` statements were reached.
fn first(
    model: &Model,
    state: &State,
    property: &Property,
    wanted: bool,
) -> (Result<Option<u64>, Stop>, Vec<usize>) {
    let (mut found, mut excluded, mut covered) = (None, false, Vec::new());
    for instance in instances(model, property.into(), state) {
        let mut execution = Execution::new(model, state.clone());
        let holds = bind(&mut execution, property.into(), instance).and_then(|applies| {
            let applies = matches!(applies, Applies::Yes);
            Ok(applies && execution.truth(&property.condition)? == wanted)
        });
        covered.append(&mut execution.covered);
        match holds {
            Ok(true) => found = found.or(Some(instance)),
            Ok(false) => {}
            Err(Stop::Excluded) => excluded = true,
            Err(failed) => return (Err(failed), covered),
        }
    }
    match (found, excluded) {
        (None, true) => (Err(Stop::Excluded), covered),
        (found, _) => (Ok(found), covered),
    }
}

/// For each `Each` parameter, the rendered element it stands for if it chooses from a multiset.
pub(crate) fn chosen_elements(
    model: &Model,
    scope: Scope<'_>,
    instance: u64,
    state: &State,
) -> Vec<Option<String>> {
    let mut execution = Execution::new(model, state.clone());
    let mut chosen = vec![None; instance::binders(scope.parameters).count()];
    if !matches!(bind(&mut execution, scope, instance), Ok(Applies::Yes)) {
        return chosen;
    }
    let values = instance::decode(model, scope.parameters, instance);
    for ((binder, value), chosen) in
        instance::binders(scope.parameters).zip(values).zip(&mut chosen)
    {
        let Domain::Multiset(place) = &binder.domain else {
            continue;
        };
        let crate::ir::TypeKind::Multiset { element, .. } = model.kind(place.ty) else {
            continue;
        };
        let multiset = execution.address(place).ok();
        let elements = multiset.and_then(|address| execution.memory.read(&address).ok());
        if let Some(Value::Multiset(values)) = elements {
            let content = values.get(value as usize);
            *chosen = content.map(|content| content.render(model, *element));
        }
    }
    chosen
}
