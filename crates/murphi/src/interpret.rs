//! The reference interpreter: runs the typed model by walking it.
//!
//! It is here to be right and to explain: replays of counterexamples, the words of run-time errors,
//! the other side of every comparison with native code, and all states of the abstract program of a
//! certificate. Values are trees ([`Value`]), what a run has written is taken back before the next
//! one, and nothing is shared with what it is compared with but the typed model and the layout.
//! Recursion follows the nesting of the source, which the parser limits, and calls, of which so many
//! share a stack (`recursion.rs`).

mod error;
mod expression;
mod guards;
mod memory;
mod recursion;
mod statement;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::goal::Goals;
use crate::instance::{self, Scope};
use crate::ir::{Domain, Model, Parameter, Property, PropertyKind, Rule};
use crate::layout::{Layout, TooLarge};
use crate::machine::{Check, Firing, Machine, Outcome, Successors};
use crate::priority::Priorities;
use crate::value::{State, Value};

pub use error::{CallSite, RuntimeError, RuntimeErrorKind};
use expression::{Execution, Stop};
use guards::Blocks;

/// A model with all that is needed to run it.
#[derive(Debug, Clone)]
pub struct Interpreter {
    model: Arc<Model>,
    layout: Arc<Layout>,
    /// Of each rule.
    blocks: Arc<[Blocks]>,
    priorities: Option<Arc<Priorities>>,
    /// The goals of the model, each as a property that either holds or does not.
    goals: Arc<[Property]>,
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
pub struct FailedInstance {
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
        let blocks = model.rules.iter().map(|rule| Blocks::of(&model, rule)).collect();
        let layout = Arc::new(layout);
        let priorities = Priorities::of(&model).map(Arc::new);
        let goals = Goals::of(&model).unwrap_or_default().covers(&model).into();
        Ok(Interpreter { model, layout, blocks, priorities, goals, covered, stop: Arc::default() })
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
        run_once(&self.model, &self.model.start_states[start_state], instance, state)
    }

    /// Runs an instance of the rule with this number.
    ///
    /// # Panics
    ///
    /// If there is no such rule, or `state` is of another model.
    pub fn run_rule(&self, state: &State, rule: usize, instance: u64) -> Run {
        if self.is_outranked(state, rule) {
            return Run { end: End::Disabled, output: String::new() };
        }
        run_once(&self.model, &self.model.rules[rule], instance, state.clone())
    }

    /// Whether an instance of a rule applies in a state.
    ///
    /// # Panics
    ///
    /// If there is no such rule, or `state` is of another model.
    pub fn enabled(&self, state: &State, rule: usize, instance: u64) -> Result<bool, RuntimeError> {
        Ok(self.guard_holds(state, rule, instance)? && !self.is_outranked(state, rule))
    }

    /// Whether a rule with a lower number of priority applies in a state.
    fn is_outranked(&self, state: &State, rule: usize) -> bool {
        let Some(priorities) = &self.priorities else { return false };
        let lower = (0..self.model.rules.len())
            .filter(|&other| priorities.number(other) < priorities.number(rule));
        lower.into_iter().any(|other| {
            let mut instances = 0..self.blocks[other].count;
            instances.any(|instance| self.guard_holds(state, other, instance) == Ok(true))
        })
    }

    /// Whether the condition of an instance of a rule holds in a state.
    fn guard_holds(&self, state: &State, rule: usize, instance: u64) -> Result<bool, RuntimeError> {
        let rule = &self.model.rules[rule];
        let mut execution = Execution::new(&self.model, state.clone());
        match applies(&mut execution, rule, instance) {
            Ok(Applies::Yes) => Ok(true),
            Ok(Applies::No { .. } | Applies::Unoccupied { .. }) | Err(Stop::Excluded) => Ok(false),
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
    ) -> Result<Option<FailedInstance>, RuntimeError> {
        let model = &*self.model;
        let property = &model.properties[property];
        match first(&mut Execution::new(model, state.clone()), property, false) {
            Ok(None) | Err(Stop::Excluded) => Ok(None),
            Ok(Some(instance)) => {
                let bindings = instance::bindings(model, property, instance, state);
                Ok(Some(FailedInstance { instance, bindings }))
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

    /// Appends the state that an execution has made from the state with these bytes.
    fn append_state(&self, execution: &mut Execution<'_>, before: &[u8], out: &mut Successors) {
        execution.memory.close_gaps();
        let start = out.states.len();
        out.states.extend_from_slice(before);
        let bytes = &mut out.states[start..];
        for (global, value) in execution.memory.written() {
            let (ty, at) = (self.model.globals[global].ty, self.layout.globals[global] as usize);
            bytes[at..at + self.layout.of_type(ty).size as usize].fill(0);
            value.encode(&self.model, &self.layout, ty, bytes, at);
        }
    }

    /// Notes `cover` statements that were reached.
    fn note(&mut self, covers: &[usize]) {
        let first = self.model.properties.len();
        covers.iter().for_each(|number| self.covered[first + number] = true);
    }

    /// Runs all instances of a rule in the state of an execution, whose bytes are `before`.
    fn append_instances<'m>(
        &mut self,
        (rule, number, blocks): (&'m Rule, usize, &Blocks),
        (execution, before): (&mut Execution<'m>, &[u8]),
        out: &mut Successors,
        portions: &mut Portions<'_>,
    ) {
        let mut instance = 0;
        while instance < blocks.count {
            if self.stop.load(Relaxed) {
                return;
            }
            if out.firings.len() >= portions.most {
                (portions.full)(out);
                out.clear();
            }
            let ended = run(execution, rule, blocks, instance);
            self.note(&execution.covered);
            let outcome = match ended {
                Ended::Disabled { block } => {
                    execution.restart();
                    instance = (instance / block).saturating_add(1).saturating_mul(block);
                    continue;
                }
                Ended::Done => Outcome::Done,
                Ended::Excluded => Outcome::Excluded,
                Ended::GuardFailed(_) => Outcome::GuardFailed,
                Ended::Failed(_) => Outcome::Failed,
            };
            out.firings.push(Firing { rule: number as u32, instance, outcome });
            match outcome {
                Outcome::Done => self.append_state(execution, before, out),
                _ => out.states.resize(out.states.len() + out.size, 0),
            }
            execution.restart();
            instance += 1;
        }
    }
}

impl Interpreter {
    /// Runs every rule that applies, whatever its priority, or every start state.
    fn run_all_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let (model, portions) = (Arc::clone(&self.model), &mut Portions { most, full });
        let Some(bytes) = state else {
            let undefined = State::undefined(&model);
            let bytes = undefined.encode(&model, &self.layout);
            let execution = &mut Execution::new(&model, undefined);
            for (number, rule) in model.start_states.iter().enumerate() {
                let blocks = Blocks::of(&model, rule);
                let which = (rule, number, &blocks);
                self.append_instances(which, (execution, &bytes), out, portions);
            }
            return;
        };
        let state = State::decode(&model, &self.layout, bytes)
            .expect("an exploration only expands states that a machine has made");
        let execution = &mut Execution::new(&model, state);
        let blocks = Arc::clone(&self.blocks);
        for (number, (rule, blocks)) in model.rules.iter().zip(&*blocks).enumerate() {
            let which = (rule, number, blocks);
            self.append_instances(which, (execution, bytes), out, portions);
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
        match self.priorities.clone().filter(|_| state.is_some()) {
            Some(priorities) => {
                let mut whole = Successors::new(out.size);
                self.run_all_in_portions(state, usize::MAX, &mut whole, &mut |_| ());
                priorities.leave_out(&mut whole, 0);
                whole.hand_on(most, out, full);
            }
            None => self.run_all_in_portions(state, most, out, full),
        }
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        let model = Arc::clone(&self.model);
        let state = State::decode(&model, &self.layout, state)
            .expect("an exploration only checks states that a machine has made");
        let execution = &mut Execution::new(&model, state);
        for (kind, verdict) in [
            (PropertyKind::Assumption, (|_| Check::Excluded) as fn(u32) -> Check),
            (PropertyKind::Invariant, Check::Broken),
        ] {
            for (number, property) in of_kind(&model, kind) {
                let found = first(execution, property, false);
                self.note(&execution.covered);
                match found {
                    Ok(None) => {}
                    Ok(Some(_)) => return verdict(number),
                    Err(Stop::Excluded) => return Check::Excluded,
                    Err(Stop::Failed(_)) => return Check::Failed(number),
                }
            }
        }
        for (number, property) in of_kind(&model, PropertyKind::Cover) {
            let found = first(execution, property, true);
            self.note(&execution.covered);
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

    fn goals(&mut self, state: &[u8], reached: &mut [bool]) -> Result<(), usize> {
        let model = Arc::clone(&self.model);
        let state = State::decode(&model, &self.layout, state)
            .expect("an exploration only looks at states that a machine has made");
        let goals = Arc::clone(&self.goals);
        let execution = &mut Execution::new(&model, state);
        for (number, (goal, reached)) in goals.iter().zip(reached).enumerate() {
            *reached = match first(execution, goal, true) {
                Ok(found) => found.is_some(),
                Err(Stop::Excluded) => false,
                Err(Stop::Failed(_)) => return Err(number),
            };
        }
        Ok(())
    }
}

fn of_kind(model: &Model, kind: PropertyKind) -> impl Iterator<Item = (u32, &Property)> {
    let numbered = (0..).zip(&model.properties);
    numbered.filter(move |(_, property)| property.kind == kind)
}

/// Whether an instance applies.
enum Applies {
    Yes,
    /// So many parts of the guard were looked at, and the last of them is false.
    No {
        parts: usize,
    },
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
    let mut values = instance::values(execution.model, scope.parameters, instance);
    let slots = execution.memory.no_slots();
    execution.memory.enter(scope.frame, slots);
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
        (Applies::Yes, Some(guard)) => {
            let mut parts = 0;
            match guards::holds(execution, guard, &mut parts)? {
                true => Ok(Applies::Yes),
                false => Ok(Applies::No { parts }),
            }
        }
        (applies, _) => Ok(applies),
    }
}

/// How a run ended; what it has written is in the memory of its execution.
enum Ended {
    /// Neither this instance applies nor any other of the same block of so many instances.
    Disabled {
        block: u64,
    },
    Done,
    Excluded,
    GuardFailed(Box<RuntimeError>),
    Failed(Box<RuntimeError>),
}

/// Runs an instance of a rule in an execution that has just begun.
fn run<'m>(execution: &mut Execution<'m>, rule: &'m Rule, blocks: &Blocks, instance: u64) -> Ended {
    match applies(execution, rule, instance) {
        Ok(Applies::No { parts }) => Ended::Disabled { block: blocks.of_guard[parts - 1] },
        // Neither this position nor a later one is occupied, whatever the parameters after it.
        Ok(Applies::Unoccupied { parameter }) => {
            let block = instance::count(execution.model, &rule.parameters[parameter..]);
            Ended::Disabled { block: block.expect("a part is no larger than the whole") }
        }
        Err(Stop::Excluded) => Ended::Excluded,
        Err(Stop::Failed(error)) => Ended::GuardFailed(error),
        Ok(Applies::Yes) => match execution.block(&rule.body) {
            Ok(_) => Ended::Done,
            Err(Stop::Excluded) => Ended::Excluded,
            Err(Stop::Failed(error)) => Ended::Failed(error),
        },
    }
}

/// Runs one instance of a rule in a state.
fn run_once(model: &Model, rule: &Rule, instance: u64, state: State) -> Run {
    let mut execution = Execution::new(model, state);
    let ended = run(&mut execution, rule, &Blocks::of(model, rule), instance);
    let Execution { memory, output, .. } = execution;
    let end = match ended {
        Ended::Disabled { .. } => End::Disabled,
        Ended::Done => End::Done(memory.into_state()),
        Ended::Excluded => End::Excluded,
        Ended::GuardFailed(error) => End::GuardFailed(*error),
        Ended::Failed(error) => End::Failed(*error),
    };
    Run { end, output }
}

/// The first instance of a property whose condition has the truth value `wanted`. All instances
/// are looked at: an error of any of them comes first, since they have no order. The execution has
/// the `cover` statements that were reached.
fn first<'m>(
    execution: &mut Execution<'m>,
    property: &'m Property,
    wanted: bool,
) -> Result<Option<u64>, Stop> {
    let (mut found, mut excluded, mut covered) = (None, false, Vec::new());
    let count = instance::count(execution.model, &property.parameters)
        .expect("a model with more instances is not runnable");
    for instance in 0..count {
        execution.restart();
        let holds = bind(execution, property.into(), instance).and_then(|applies| {
            let applies = matches!(applies, Applies::Yes);
            Ok(applies && execution.truth(&property.condition)? == wanted)
        });
        covered.append(&mut execution.covered);
        match holds {
            Ok(true) => found = found.or(Some(instance)),
            Ok(false) => {}
            Err(Stop::Excluded) => excluded = true,
            Err(failed) => {
                execution.covered = covered;
                return Err(failed);
            }
        }
    }
    execution.covered = covered;
    match (found, excluded) {
        (None, true) => Err(Stop::Excluded),
        (found, _) => Ok(found),
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
