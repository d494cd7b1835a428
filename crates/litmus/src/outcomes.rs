//! All outcomes of a test under a model.

use std::cell::RefCell;

use std::collections::BTreeMap;

use cat::CatModel;
use models::Model;

use crate::axiomatic::{self, Reached};
use crate::buffers::{Buffers, Style};
use crate::coherence::{self, Coherent};
use crate::condition::{Node, Proposition};
use crate::count::{AtomEvaluator, Counter};
use crate::diagram::{Diagrams, NONE, Set, UNIT};
use crate::lower;
use crate::model::LitmusModel;
use crate::search::{self, Explored, Limits, Stopped};
use crate::test::{Array, Litmus, LocationId, Place, Type};
use crate::variables::Variables;
use crate::witness::{self, Execution};

/// The built-in models whose outcomes are enumerated by a machine, for x86.
pub const MODELS: &[Model] = &[Model::Sc, Model::Tso, Model::Pso, Model::Coherence];

/// The outcomes of a test under a model.
pub struct Outcomes<'a> {
    test: &'a Litmus,
    variables: Variables,
    diagrams: Diagrams,
    /// All outcomes, with variables numbered as places are shown, after the others.
    shown: Set,
    how: Method<'a>,
    states: u64,
}

/// How they were found.
enum Method<'a> {
    Machine(Box<RefCell<Buffers<'a>>>, Explored),
    Coherence(Coherent),
    /// By a file, with an execution for each; and whether loops were cut short.
    Axioms(BTreeMap<Vec<u64>, Reached>, bool),
}

/// A final state: a value for each of [`Outcomes::places`], as its bits.
pub type State = [u64];

/// Enumerates the outcomes of a test under a model: by its machine if it has one and the test is
/// for x86, else by its file.
///
/// ```
/// use tribunal_litmus::{Limits, LitmusModel, outcomes_of, parse};
///
/// let test = parse(
///     r"RISCV MP
///     { 0:x5=x; 0:x6=y; 1:x5=x; 1:x6=y; }
///      P0          | P1          ;
///      ori x7,x0,1 | lw x7,0(x6) ;
///      sw x7,0(x5) | fence r,r   ;
///      fence w,w   | lw x8,0(x5) ;
///      sw x7,0(x6) |             ;
///     exists (1:x7=1 /\ 1:x8=0)",
/// )
/// .expect("the test is well-formed");
/// let rvwmo = LitmusModel::named("rvwmo").expect("it is shipped");
/// let found = outcomes_of(&test, &rvwmo, &Limits::NONE).expect("there is no limit");
/// assert_eq!(found.count(), 3);
/// assert_eq!(found.count_where(&test.condition.proposition), 0);
/// ```
pub fn outcomes_of<'a>(
    test: &'a Litmus,
    model: &LitmusModel,
    limits: &Limits<'_>,
) -> Result<Outcomes<'a>, Stopped> {
    match model.machine() {
        Some(machine) if test.architecture.is_x86() => outcomes(test, machine, limits),
        _ => outcomes_by_file(test, model.file(), limits),
    }
}

/// Enumerates the outcomes of a test for any architecture under a model that is a file.
pub fn outcomes_by_file<'a>(
    test: &'a Litmus,
    model: &CatModel,
    limits: &Limits<'_>,
) -> Result<Outcomes<'a>, Stopped> {
    let variables = Variables::new(test);
    let found = axiomatic::explore(test, model, &variables, limits)?;
    let mut diagrams = Diagrams::default();
    let first = variables.places.len();
    let mut shown = NONE;
    for state in found.states.keys() {
        let values = state.iter().enumerate().rev();
        let one =
            values.fold(UNIT, |set, (at, &value)| diagrams.with(set, (first + at) as u32, value));
        shown = diagrams.union(shown, one);
    }
    diagrams.forget();
    let how = Method::Axioms(found.states, found.cut);
    Ok(Outcomes { test, variables, diagrams, shown, how, states: found.looked_at })
}

/// Enumerates the outcomes of a test for x86 under a model of [`MODELS`].
///
/// # Panics
///
/// If the model or the architecture is another.
pub fn outcomes<'a>(
    test: &'a Litmus,
    model: Model,
    limits: &Limits<'_>,
) -> Result<Outcomes<'a>, Stopped> {
    assert!(test.architecture.is_x86(), "this model enumerates x86 tests only");
    let variables = Variables::new(test);
    let mut diagrams = Diagrams::default();
    let style = match model {
        Model::Sc => Some(Style::Sc),
        Model::Tso => Some(Style::Tso),
        Model::Pso => Some(Style::Pso),
        Model::Coherence => None,
        other => panic!(
            "cannot enumerate outcomes under {other}: use sc, tso, pso, coherence or a model file \
             (`--model {other}.cat`)"
        ),
    };
    let (how, set, states) = match style {
        Some(style) => {
            let mut machine = Buffers::new(test, variables.clone(), style);
            let explored = search::explore(&mut machine, &mut diagrams, limits)?;
            machine.record_steps();
            let (set, states) = (explored.outcomes, explored.len() as u64);
            (Method::Machine(Box::new(RefCell::new(machine)), explored), set, states)
        }
        None => {
            let coherent = coherence::explore(test, &variables, &mut diagrams, limits)?;
            let (set, states) = (coherent.outcomes, coherent.states);
            (Method::Coherence(coherent), set, states)
        }
    };
    diagrams.forget();
    let shown = diagrams.reordered(set, &variables.of_place, variables.places.len() as u32);
    Ok(Outcomes { test, variables, diagrams, shown, how, states })
}

impl Outcomes<'_> {
    /// The places that a state has values for, in order.
    pub fn places(&self) -> &[Place] {
        &self.variables.places
    }

    /// What each of [`Outcomes::places`] is.
    pub fn kinds(&self) -> &[Type] {
        &self.variables.kinds
    }

    /// The number of machine states that were visited.
    pub fn machine_states(&self) -> u64 {
        self.states
    }

    /// How often loops were unrolled, if longer runs exist.
    pub fn unrolled(&self) -> Option<u32> {
        match &self.how {
            Method::Coherence(coherent) if coherent.is_cut() => Some(crate::runs::UNROLL),
            Method::Axioms(_, true) => Some(crate::runs::UNROLL),
            _ => None,
        }
    }

    /// Calls this with every final state that the filter of the test lets through, in order, until
    /// it returns false.
    pub fn each(&self, mut each: impl FnMut(&State) -> bool) {
        if self.shown == NONE {
            return;
        }
        let key = |place: usize, value: u64| self.number(place, value);
        let mut room = Vec::new();
        self.diagrams.each(self.shown, key, |state| match &self.test.filter {
            Some(filter) if !self.satisfies(filter, state, &mut room) => true,
            _ => each(state),
        });
    }

    /// Whether this is one of the final states, whatever the filter says of it.
    pub fn contains(&self, state: &State) -> bool {
        let first = self.variables.places.len() as u32;
        let value = |variable: u32| state[(variable - first) as usize];
        self.shown != NONE && self.diagrams.contains(self.shown, value)
    }

    /// Whether the filter lets a state through.
    pub fn passes(&self, state: &State) -> bool {
        self.test.filter.as_ref().is_none_or(|filter| self.holds(filter, state))
    }

    /// The number of final states that the filter allows.
    pub fn count(&self) -> u128 {
        self.count_where(&Proposition::always())
    }

    /// The number of final states that satisfy a proposition, without listing them.
    pub fn count_where(&self, proposition: &Proposition) -> u128 {
        let filtered = self.test.filter.as_ref().map(|filter| filter.and(proposition));
        let proposition = filtered.as_ref().unwrap_or(proposition);
        let levels = self.variables.places.len();
        Counter::new(&self.diagrams, proposition, self, levels).count(self.shown)
    }

    /// Whether a state satisfies a proposition over its places.
    pub fn holds(&self, proposition: &Proposition, state: &State) -> bool {
        self.satisfies(proposition, state, &mut Vec::new())
    }

    fn satisfies(&self, proposition: &Proposition, state: &State, room: &mut Vec<bool>) -> bool {
        let index = |place: Place| self.variables.index(place);
        proposition.holds(room, |atom| match *atom {
            Node::Equals(place, value) => {
                let index = index(place);
                state[index] == self.variables.kinds[index].size.cut(lower::word(value))
            }
            Node::Same(one, other) => {
                let (one, other) = (index(one), index(other));
                self.number(one, state[one]) == self.number(other, state[other])
            }
            _ => false,
        })
    }

    /// A value as a number with its sign.
    pub fn number(&self, place: usize, value: u64) -> i128 {
        let kind = self.variables.kinds[place];
        match kind.signed {
            true => i128::from(kind.size.signed(value)),
            false => i128::from(value),
        }
    }

    /// A value as it is shown: the name of a location where it is the address of one, `x+4` where it is
    /// the address of something in it or behind it.
    pub fn value(&self, place: usize, value: u64) -> String {
        match lower::location_around(value, &self.test.locations) {
            Some((id, offset)) => self.test.address_name(id, u64::from(offset)),
            None => self.number(place, value).to_string(),
        }
    }

    /// A state as herd7 writes it: `0:rax=1; [x]=2; a={1,2};`
    pub fn spelled(&self, state: &State) -> String {
        let places = self.places();
        let mut parts: Vec<String> = Vec::with_capacity(places.len());
        let mut index = 0;
        while index < places.len() {
            let value = |index: usize| self.value(index, state[index]);
            match self.array_from(index) {
                Some(array) => {
                    let end = index + array.count as usize;
                    let values: Vec<String> = (index..end).map(value).collect();
                    parts.push(format!("{}={{{}}};", array.name, values.join(",")));
                    index = end;
                }
                None => {
                    parts.push(format!("{}={};", self.test.place(places[index]), value(index)));
                    index += 1;
                }
            }
        }
        parts.join(" ")
    }

    /// The array whose elements are all shown, if they begin at this place.
    fn array_from(&self, index: usize) -> Option<&Array> {
        let Place::Memory(first) = self.places()[index] else { return None };
        let array = self.test.locations[first.0 as usize].array.as_ref()?;
        let last = self.places().get(index + array.count as usize - 1)?;
        let is_whole = *last == Place::Memory(LocationId(first.0 + array.count - 1));
        (array.first == first && is_whole).then_some(array)
    }

    /// The execution by which a file allows this state; `None` if it was found by a machine.
    pub fn reached(&self, state: &State) -> Option<&Reached> {
        match &self.how {
            Method::Axioms(states, _) => states.get(state),
            Method::Machine(..) | Method::Coherence(_) => None,
        }
    }

    /// A run of a machine that ends in this state; `None` if there is none.
    pub fn execution(&self, state: &State) -> Result<Option<Execution>, Stopped> {
        let outcome = |variable: u32| state[self.variables.place_of(variable)];
        let places = self.places().iter().zip(state);
        let finals: Vec<(LocationId, u64)> = places
            .filter_map(|(place, &value)| match *place {
                Place::Memory(id) => Some((id, value)),
                Place::Register(..) => None,
            })
            .collect();
        match &self.how {
            Method::Machine(machine, explored) => {
                let mut machine = machine.borrow_mut();
                let run = explored.run(&mut *machine, &self.diagrams, &outcome)?;
                Ok(run.and_then(|run| witness::execution(self.test, &run, &finals)))
            }
            Method::Coherence(coherent) => {
                coherent.execution(self.test, &self.variables, &outcome, &finals)
            }
            Method::Axioms(..) => Ok(None),
        }
    }
}

impl AtomEvaluator for Outcomes<'_> {
    fn equals(&self, atom: &Node, level: usize, value: u64) -> bool {
        let Node::Equals(_, wanted) = *atom else { return false };
        value == self.variables.kinds[level].size.cut(lower::word(wanted))
    }

    fn number(&self, level: usize, value: u64) -> i128 {
        Outcomes::number(self, level, value)
    }

    fn levels(&self, atom: &Node) -> (usize, Option<usize>) {
        match *atom {
            Node::Equals(place, _) => (self.variables.index(place), None),
            Node::Same(one, other) => {
                (self.variables.index(one), Some(self.variables.index(other)))
            }
            _ => (0, None),
        }
    }
}

#[cfg(test)]
mod tests;
