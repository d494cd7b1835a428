//! What is so: all reachable states of instances with 2 to 7 processors, by the reference
//! interpreter.
//!
//! States that differ by an exchange of processors are looked at once: each state is replaced by
//! one in which the processors are sorted by what can be said of each alone. Any such exchange is
//! right, because processors are a scalarset, so this needs no proof that the order is a canonical
//! one, and nothing of the search that is tested here is used.
//!
//! Several questions are asked of one search: with which numbers of processors each rule and each
//! invariant is broken. A rule that is only a question is not followed further, so that what it
//! writes must be read by nobody else.

use std::collections::{HashSet, VecDeque};

use murphi::ast::Program;
use murphi::instance as parameters;
use murphi::interpret::{End, Interpreter, RuntimeError};
use murphi::ir::{Domain, Model, PropertyKind, TypeId, TypeKind};
use murphi::value::{State, Value};
use tribunal_abstraction::{Processor, with_processors};

use crate::judge::runnable;

/// The most processors of an instance.
pub(crate) const MOST: u64 = 7;

/// The most states of an instance, and the most rules and properties that are run in all.
const MOST_STATES: usize = 1_500;
const MOST_RUNS: usize = 20_000;

/// The numbers of processors with which something is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Broken(u64);

impl Broken {
    fn insert(&mut self, count: u64) {
        self.0 |= 1 << count;
    }

    fn contains(self, count: u64) -> bool {
        self.0 & (1 << count) != 0
    }

    /// Whether there is nothing to learn from one more instance: those with up to 5 are always asked,
    /// because a view of so many is about them.
    fn is_enough(self, count: u64) -> bool {
        self.contains(count) || (count > 5 && self.0 != 0)
    }

    /// The least of them that is not below another number.
    pub(crate) fn least_from(self, count: u64) -> Option<u64> {
        (count..=MOST).find(|&count| self.contains(count))
    }
}

/// With which numbers of processors the parts of a program are broken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Truth {
    pub(crate) rules: Vec<Broken>,
    pub(crate) invariants: Vec<Broken>,
    /// The start states and assumptions.
    start: Broken,
    /// All instances with up to so many processors were searched to the end.
    pub(crate) known_to: u64,
}

impl Truth {
    /// With how many processors these rules, these invariants or a start state are broken.
    pub(crate) fn of(
        &self,
        rules: impl Iterator<Item = usize>,
        invariants: impl Iterator<Item = usize>,
    ) -> Broken {
        let rules = rules.map(|at| self.rules[at].0);
        let invariants = invariants.map(|at| self.invariants[at].0);
        Broken(rules.chain(invariants).fold(self.start.0, |all, each| all | each))
    }
}

/// Looks at all states of a program with 2 to [`MOST`] processors. Rules from number `followed` on
/// are only asked whether they fail.
pub(crate) fn truth(program: &Program, processor: &Processor, followed: usize) -> Truth {
    let mut found = Truth { known_to: 1, ..Truth::default() };
    let mut runs = 0;
    for count in 2..=MOST {
        let machine = match runnable(&with_processors(program, processor, count)) {
            Ok(machine) => machine,
            Err(why) => panic!("{why}"),
        };
        found.rules.resize(machine.model().rules.len(), Broken::default());
        found.invariants.resize(machine.model().properties.len(), Broken::default());
        let mut search = Search { machine: &machine, count, found: &mut found, runs: &mut runs };
        if !search.all(followed) {
            break;
        }
        found.known_to = count;
    }
    found
}

struct Search<'a> {
    machine: &'a Interpreter,
    count: u64,
    found: &'a mut Truth,
    runs: &'a mut usize,
}

impl Search<'_> {
    /// Whether all states were looked at.
    fn all(&mut self, followed: usize) -> bool {
        let instances = instances(self.machine.model());
        let mut visited: HashSet<State> = HashSet::new();
        let mut pending: VecDeque<State> = VecDeque::new();
        let mut is_new = |state: State, pending: &mut VecDeque<State>| {
            let state = sorted(self.machine.model(), self.count as usize, state);
            if visited.insert(state.clone()) {
                pending.push_back(state);
            }
            visited.len() <= MOST_STATES
        };
        for state in starts(self.machine, self.count, &mut self.found.start) {
            is_new(state, &mut pending);
        }
        while let Some(state) = pending.pop_front() {
            match is_assumed_away(self.machine, &state) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(_) => {
                    self.found.start.insert(self.count);
                    continue;
                }
            }
            for number in 0..self.found.invariants.len() {
                let known = &mut self.found.invariants[number];
                let is_broken = || !matches!(self.machine.check_property(&state, number), Ok(None));
                if known.is_enough(self.count) {
                    continue;
                }
                // It has quantifiers inside.
                *self.runs += self.count as usize;
                if is_broken() {
                    known.insert(self.count);
                }
            }
            let alike = Alike::new(self.machine.model(), self.count as usize, &state);
            for (number, of_rule) in instances.iter().enumerate() {
                let is_followed = number < followed;
                if !is_followed && self.found.rules[number].is_enough(self.count) {
                    continue;
                }
                for &(instance, ref processors) in of_rule {
                    if !alike.is_first(processors) {
                        continue;
                    }
                    *self.runs += 1;
                    match self.machine.run_rule(&state, number, instance).end {
                        End::Done(next) if is_followed => {
                            if !is_new(next, &mut pending) {
                                return false;
                            }
                        }
                        End::Failed(_) | End::GuardFailed(_) => {
                            self.found.rules[number].insert(self.count);
                            if !is_followed {
                                break;
                            }
                        }
                        End::Done(_) | End::Disabled | End::Excluded => {}
                    }
                }
            }
            if *self.runs > MOST_RUNS {
                return false;
            }
        }
        true
    }
}

/// Whether an assumption does not hold in a state.
fn is_assumed_away(machine: &Interpreter, state: &State) -> Result<bool, RuntimeError> {
    for (number, property) in machine.model().properties.iter().enumerate() {
        if property.kind == PropertyKind::Assumption
            && machine.check_property(state, number)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The start states. One that fails is noted.
fn starts(machine: &Interpreter, count: u64, failed: &mut Broken) -> Vec<State> {
    let model = machine.model();
    let mut found = Vec::new();
    for (number, start) in model.start_states.iter().enumerate() {
        for instance in 0..parameters::count(model, &start.parameters).unwrap_or(0) {
            match machine.start(number, instance).end {
                End::Done(state) => found.push(state),
                End::Failed(_) | End::GuardFailed(_) => failed.insert(count),
                End::Disabled | End::Excluded => {}
            }
        }
    }
    found
}

/// The same state with the processors in the order of what can be said of each alone. Values of a
/// union with processors are not exchanged here, so that such a state stays as it is.
fn sorted(model: &Model, count: usize, mut state: State) -> State {
    if is_fixed(model) {
        return state;
    }
    let mut described: Vec<(Vec<i64>, usize)> =
        (0..count).map(|one| (described(model, &state, one), one)).collect();
    described.sort();
    let mut place = vec![0; count];
    for (to, (_, from)) in described.iter().enumerate() {
        place[*from] = to;
    }
    for (variable, value) in model.globals.iter().zip(&mut state.0) {
        exchange(model, variable.ty, value, &place);
    }
    state
}

/// Whether no two processors are taken to be alike: if a union has processors.
fn is_fixed(model: &Model) -> bool {
    model.types.iter().any(|ty| ty.name.as_deref() == Some("W"))
}

/// For each rule its instances, with the processors among their parameters.
fn instances(model: &Model) -> Vec<Vec<(u64, Vec<usize>)>> {
    let of_rule = |rule: &murphi::ir::Rule| {
        let count = parameters::count(model, &rule.parameters).unwrap_or(0);
        let is_own: Vec<bool> = parameters::binders(&rule.parameters)
            .map(|binder| matches!(binder.domain, Domain::Type(ty) if is_processor(model, ty)))
            .collect();
        let own = |instance| {
            let values = parameters::decode(model, &rule.parameters, instance);
            let values = values.into_iter().zip(&is_own).filter(|(_, is_own)| **is_own);
            (instance, values.map(|(value, _)| value as usize).collect())
        };
        (0..count).map(own).collect()
    };
    model.rules.iter().map(of_rule).collect()
}

/// Which processors of a sorted state can be exchanged without a change. If the state refers to a
/// processor, none are taken to be alike.
struct Alike {
    /// For each processor the first one that is like it.
    first: Vec<usize>,
}

impl Alike {
    fn new(model: &Model, count: usize, state: &State) -> Alike {
        let described: Vec<Vec<i64>> = (0..count).map(|one| described(model, state, one)).collect();
        let mut variables = model.globals.iter().zip(&state.0);
        if is_fixed(model) || variables.any(|(variable, value)| refers(model, variable.ty, value)) {
            return Alike { first: (0..count).collect() };
        }
        let like = |one: usize| described.iter().position(|each| *each == described[one]);
        Alike { first: (0..count).map(|one| like(one).unwrap_or(one)).collect() }
    }

    /// Whether no other choice of processors that comes before this one is the same but for an
    /// exchange: among those that are alike, they are taken in their order.
    fn is_first(&self, processors: &[usize]) -> bool {
        processors.iter().enumerate().all(|(at, &one)| {
            (self.first[one]..one).all(|before| {
                self.first[before] != self.first[one] || processors[..at].contains(&before)
            })
        })
    }
}

/// Whether values of a type are something for each processor.
fn is_by_processors(model: &Model, ty: TypeId) -> bool {
    matches!(model.kind(ty), TypeKind::Array { index, .. } if is_processor(model, *index))
}

/// Whether a value refers to a processor, or relates two of them.
fn refers(model: &Model, ty: TypeId, value: &Value) -> bool {
    match (value, model.kind(ty)) {
        (Value::Simple(number), _) => number.is_some() && is_processor(model, ty),
        (Value::Record(parts), TypeKind::Record(fields)) => {
            parts.iter().zip(fields).any(|(part, field)| refers(model, field.ty, part))
        }
        (Value::Array(parts), TypeKind::Array { index, element }) => {
            (is_processor(model, *index) && is_by_processors(model, *element))
                || parts.iter().any(|part| refers(model, *element, part))
        }
        _ => false,
    }
}

/// What can be said of one processor alone.
fn described(model: &Model, state: &State, one: usize) -> Vec<i64> {
    let mut words = Vec::new();
    for (variable, value) in model.globals.iter().zip(&state.0) {
        describe(model, variable.ty, value, one, &mut words);
    }
    words
}

fn is_processor(model: &Model, ty: TypeId) -> bool {
    model.types[ty.0 as usize].name.as_deref() == Some("P")
}

/// What a value says of one processor, without naming another.
fn describe(model: &Model, ty: TypeId, value: &Value, one: usize, words: &mut Vec<i64>) {
    match (value, model.kind(ty)) {
        (Value::Simple(number), _) if is_processor(model, ty) => {
            words.push(number.map_or(0, |number| if number == one as i64 { 1 } else { 2 }));
        }
        (Value::Simple(number), _) => words.push(number.map_or(-1, |number| number)),
        (Value::Record(parts), TypeKind::Record(fields)) => {
            for (part, field) in parts.iter().zip(fields) {
                describe(model, field.ty, part, one, words);
            }
        }
        (Value::Array(parts), TypeKind::Array { index, element }) => {
            match is_processor(model, *index) {
                true => describe(model, *element, &parts[one], one, words),
                false => {
                    for part in parts {
                        describe(model, *element, part, one, words);
                    }
                }
            }
        }
        // No multiset here refers to processors.
        _ => {}
    }
}

/// Exchanges processors: the one with number `i` gets the number `place[i]`.
fn exchange(model: &Model, ty: TypeId, value: &mut Value, place: &[usize]) {
    match (value, model.kind(ty)) {
        (Value::Simple(Some(number)), _) if is_processor(model, ty) => {
            *number = place[*number as usize] as i64;
        }
        (Value::Record(parts), TypeKind::Record(fields)) => {
            for (part, field) in parts.iter_mut().zip(fields) {
                exchange(model, field.ty, part, place);
            }
        }
        (Value::Array(parts), TypeKind::Array { index, element }) => {
            for part in parts.iter_mut() {
                exchange(model, *element, part, place);
            }
            if is_processor(model, *index) {
                let mut moved = parts.clone();
                for (from, part) in parts.drain(..).enumerate() {
                    moved[place[from]] = part;
                }
                *parts = moved;
            }
        }
        (Value::Multiset(parts), TypeKind::Multiset { .. }) => {
            parts.sort_by_key(|part| format!("{part:?}"));
        }
        _ => {}
    }
}
