//! The states of a run, one after the other, from its start and what each step changed.

use std::collections::BTreeMap;

use explore::report::{Change, Counterexample, Effect};

/// A state: every simple place with its value, and every multiset with its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) places: BTreeMap<String, String>,
    pub(super) multisets: BTreeMap<String, Vec<String>>,
}

impl Shown {
    /// The start of a run.
    pub(super) fn start(run: &Counterexample) -> Self {
        let mut state = Shown::default();
        for (place, value) in run.start.state.iter().flatten() {
            match place.rsplit_once('{') {
                Some((multiset, _)) => {
                    state.multisets.entry(multiset.to_owned()).or_default().push(value.clone());
                }
                None if value == "empty" => {
                    state.multisets.entry(place.clone()).or_default();
                }
                None => {
                    state.places.insert(place.clone(), value.clone());
                }
            }
        }
        state
    }

    /// Applies the effect of a step.
    pub(super) fn step(&mut self, effect: &Effect) {
        let Effect::Changed(changes) = effect else { return };
        for Change { place, after, removed, added, .. } in changes {
            if removed.is_empty() && added.is_empty() {
                self.places.insert(place.clone(), after.clone());
                continue;
            }
            let elements = self.multisets.entry(place.clone()).or_default();
            for gone in removed {
                if let Some(at) = elements.iter().position(|element| element == gone) {
                    elements.remove(at);
                }
            }
            elements.extend(added.iter().cloned());
        }
    }
}

/// The index in the first brackets of a place: `Processor_1` of `cache[Processor_1].state`.
pub(super) fn first_index(place: &str) -> Option<&str> {
    let (_, rest) = place.split_once('[')?;
    rest.split_once(']').map(|(index, _)| index)
}

/// The variable of a place: `cache` of `cache[Processor_1].state`.
pub(super) fn variable(place: &str) -> &str {
    place.split(['[', '.', '{']).next().unwrap_or(place)
}
