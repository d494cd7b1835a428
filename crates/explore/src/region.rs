//! The states that a run is caught in: all that can be reached from its end.
//!
//! The reference interpreter walks through them, breadth first, as they are: without symmetry,
//! multisets sorted. It sees which goals hold somewhere, which rules still change something, and
//! what never changes. This confirms that a goal is out of reach, and shows a person
//! why.

use std::collections::{HashSet, VecDeque};

use murphi::goal::Goals;
use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::value::State;
use serde::Serialize;

use crate::report::as_object;

/// What can still happen after a run from whose end a goal is out of reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The parameters of the liveness property that can no longer hold.
    #[serde(serialize_with = "as_object")]
    pub bindings: Vec<(String, String)>,
    /// How many states were looked at, the end of the run included.
    pub states: u64,
    /// Whether these are all that can be reached.
    pub complete: bool,
    /// The names of the rules that still change something.
    pub rules: Vec<String>,
    /// Every place that has the same value in all of these states.
    #[serde(serialize_with = "as_object")]
    pub stays: Vec<(String, String)>,
}

/// A walk through a region.
pub(crate) struct Walk {
    pub(crate) region: Region,
    /// For each goal, whether it holds in a state that was looked at.
    pub(crate) reached: Vec<bool>,
}

/// Walks through what can be reached from a state, up to `most` states.
pub(crate) fn walk(interpreter: &Interpreter, goals: &Goals, from: &State, most: usize) -> Walk {
    let mut search = Search {
        interpreter,
        machine: interpreter.clone(),
        seen: HashSet::new(),
        waiting: VecDeque::new(),
        most,
        complete: true,
    };
    let model = interpreter.model();
    let mut stays = from.listing(model);
    let mut fired = vec![false; model.rules.len()];
    let mut reached = vec![false; goals.len()];
    search.meet(from);
    let mut batch = Successors::new(interpreter.layout().size as usize);
    let (mut states, mut here) = (0, vec![false; goals.len()]);
    while let Some(bytes) = search.waiting.pop_front() {
        if search.machine.check(&bytes) == Check::Excluded {
            continue;
        }
        states += 1;
        if search.machine.goals(&bytes, &mut here).is_ok() {
            reached.iter_mut().zip(&here).for_each(|(reached, here)| *reached |= here);
        }
        let state = search.decoded(&bytes);
        let listing: HashSet<(String, String)> = state.listing(model).into_iter().collect();
        stays.retain(|field| listing.contains(field));
        batch.clear();
        search.machine.expand(&bytes, &mut batch);
        for (number, firing) in batch.firings.iter().enumerate() {
            if firing.outcome == Outcome::Done {
                let next = search.decoded(batch.state(number));
                fired[firing.rule as usize] |= search.meet(&next) != bytes;
            }
        }
    }
    let mut rules: Vec<String> = Vec::new();
    for (rule, _) in model.rules.iter().zip(&fired).filter(|(_, fired)| **fired) {
        if !rules.contains(&rule.name) {
            rules.push(rule.name.clone());
        }
    }
    let complete = search.complete;
    Walk { region: Region { bindings: Vec::new(), states, complete, rules, stays }, reached }
}

struct Search<'i> {
    interpreter: &'i Interpreter,
    machine: Interpreter,
    seen: HashSet<Vec<u8>>,
    waiting: VecDeque<Vec<u8>>,
    most: usize,
    complete: bool,
}

impl Search<'_> {
    /// Keeps a state that is new. Returns its bytes, multisets sorted.
    fn meet(&mut self, state: &State) -> Vec<u8> {
        let (model, layout) = (self.interpreter.model(), self.interpreter.layout());
        let bytes = state.sorted(model, layout).encode(model, layout);
        if !self.seen.contains(&bytes) {
            match self.seen.len() < self.most {
                true => {
                    self.seen.insert(bytes.clone());
                    self.waiting.push_back(bytes.clone());
                }
                false => self.complete = false,
            }
        }
        bytes
    }

    fn decoded(&self, bytes: &[u8]) -> State {
        let (model, layout) = (self.interpreter.model(), self.interpreter.layout());
        State::decode(model, layout, bytes).expect("the interpreter has made it")
    }
}
