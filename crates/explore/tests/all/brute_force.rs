//! What an exploration should find, by a plain search of all states.
//!
//! States are values of the reference interpreter, kept in a set; rules are run one instance after the
//! other. Nothing is reduced but the order of multisets, which a state does not have unless the model
//! shows it. Orbits are counted by definition. Shares nothing with the searches of this crate.

use std::collections::{BTreeSet, HashSet};

use crate::symmetry_support::{Oracle, sorted};
use murphi::instance;
use murphi::interpret::{End, Interpreter, RuntimeError};
use murphi::ir::{Model, Rule};
use murphi::layout::Layout;
use murphi::machine::{Check, Machine};
use murphi::value::State;
use tribunal_explore::Deadlock;

/// What kind of verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Verified,
    Violation,
    Deadlock,
}

/// What a search of all states found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) states: usize,
    /// How many of them differ by more than the names of members.
    pub(crate) orbits: usize,
    /// The same, if the order of members shows in no loop that can be tried in all orders.
    pub(crate) tried_orbits: usize,
    /// The first error in a rule, a guard or a property.
    pub(crate) error: Option<RuntimeError>,
}

/// What is wrong at a level; the least decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Property,
    Deadlock,
    Step,
}

struct Search<'i> {
    interpreter: &'i Interpreter,
    deadlock: Deadlock,
    seen: HashSet<Vec<u8>>,
    level: Vec<State>,
    wrong: BTreeSet<Wrong>,
    error: Option<RuntimeError>,
}

/// Searches all states, unless there are more than `most`.
pub(crate) fn search(interpreter: &Interpreter, deadlock: Deadlock, most: usize) -> Option<Found> {
    let (seen, wrong) = (HashSet::new(), BTreeSet::new());
    let mut search = Search { interpreter, deadlock, seen, level: Vec::new(), wrong, error: None };
    let model = interpreter.model().clone();
    for (number, rule) in model.start_states.iter().enumerate() {
        for at in 0..instances(interpreter, rule) {
            search.take(interpreter.start(number, at).end);
        }
    }
    let mut counted = Vec::new();
    while search.wrong.is_empty() && !search.level.is_empty() {
        let level = std::mem::take(&mut search.level);
        let kept: Vec<&State> = level.iter().filter(|state| search.keeps(state)).collect();
        counted.extend(kept.iter().map(|state| search.encode(state)));
        if !search.wrong.contains(&Wrong::Property) {
            kept.iter().for_each(|state| search.expand(state));
        }
        if search.seen.len() > most {
            return None;
        }
    }
    let kind = match search.wrong.first() {
        None => Kind::Verified,
        Some(Wrong::Deadlock) => Kind::Deadlock,
        Some(Wrong::Property | Wrong::Step) => Kind::Violation,
    };
    let mut without_tried = Model::clone(&model);
    without_tried.ordered.retain(|ordered| !ordered.tried);
    let [orbits, tried_orbits] =
        [&model, &without_tried].map(|model| orbits(model, interpreter.layout(), &counted));
    Some(Found { kind, states: counted.len(), orbits, tried_orbits, error: search.error })
}

fn instances(interpreter: &Interpreter, rule: &Rule) -> u64 {
    instance::count(interpreter.model(), &rule.parameters).expect("programs are small")
}

/// How many states are left if those that renaming turns into each other are one.
fn orbits(model: &Model, layout: &Layout, states: &[Vec<u8>]) -> usize {
    if model.elements_have_order {
        return states.len();
    }
    let oracle = Oracle { model, layout };
    let least = |state: &Vec<u8>| oracle.least(&oracle.decode(state));
    states.iter().map(least).collect::<HashSet<_>>().len()
}

impl Search<'_> {
    /// A state as bytes, its multisets in one order unless their own shows.
    fn encode(&self, state: &State) -> Vec<u8> {
        let (model, layout) = (self.interpreter.model(), self.interpreter.layout());
        if model.elements_have_order {
            return state.encode(model, layout);
        }
        let oracle = Oracle { model, layout };
        oracle.encode(&sorted(&oracle.decode(&state.encode(model, layout))))
    }

    fn fail(&mut self, error: RuntimeError) {
        self.error.get_or_insert(error);
    }

    /// Takes in what running a rule led to. Says where it led.
    fn take(&mut self, end: End) -> Option<Vec<u8>> {
        match end {
            End::Disabled | End::Excluded => None,
            End::GuardFailed(error) | End::Failed(error) => {
                self.fail(error);
                self.wrong.insert(Wrong::Step);
                Some(Vec::new())
            }
            End::Done(state) => {
                let bytes = self.encode(&state);
                if self.seen.insert(bytes.clone()) {
                    let (model, layout) = (self.interpreter.model(), self.interpreter.layout());
                    let state = State::decode(model, layout, &bytes).expect("it was encoded");
                    self.level.push(state);
                }
                Some(bytes)
            }
        }
    }

    /// Looks at the properties of a state. Says whether an assumption keeps it.
    fn keeps(&mut self, state: &State) -> bool {
        match self.interpreter.clone().check(&self.encode(state)) {
            Check::Holds => return true,
            Check::Excluded => return false,
            Check::Broken(_) => {}
            Check::Failed(property) => {
                if let Err(error) = self.interpreter.check_property(state, property as usize) {
                    self.fail(error);
                }
            }
        }
        self.wrong.insert(Wrong::Property);
        true
    }

    fn expand(&mut self, state: &State) {
        let (interpreter, before) = (self.interpreter, self.encode(state));
        let mut leaves = self.deadlock == Deadlock::Off;
        for (number, rule) in interpreter.model().rules.iter().enumerate() {
            for at in 0..instances(interpreter, rule) {
                let after = self.take(interpreter.run_rule(state, number, at).end);
                leaves |=
                    after.is_some_and(|after| self.deadlock == Deadlock::Stuck || after != before);
            }
        }
        if !leaves {
            self.wrong.insert(Wrong::Deadlock);
        }
    }
}
