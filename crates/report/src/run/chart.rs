//! A run as a message-sequence chart: who acts in each step, and which messages go from the step that
//! sends them to the step that takes them.
//!
//! A message is sent in the step after which it is in its slot, and taken in the step after which it is
//! not, or is another one. Its ends are those who act in these steps. Costs the size of the changes.

use std::collections::{BTreeMap, BTreeSet};

use explore::report::{Counterexample, Step};
use serde::Serialize;

use super::recognise::{Actor, Form, Recognised, is_nothing};
use super::states::{Shown, first_index, variable};

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arrow {
    /// The label: its kind, or the name of its variable.
    pub label: String,
    /// All of it.
    pub detail: String,
    /// The variable and index that it stands in while it is under way.
    pub slot: String,
    /// The step that sends it, from 1; 0 if it is there from the start.
    pub sent: usize,
    /// The step that takes it; nothing if it is still under way at the end.
    pub taken: Option<usize>,
    /// The lane that it comes from.
    pub from: usize,
    /// The lane that it goes to, as far as that shows.
    pub to: Option<usize>,
}

/// A run as a chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Chart {
    /// The lanes from left to right: processors, then the home.
    pub lanes: Vec<String>,
    /// The lane that acts in each step.
    pub actors: Vec<usize>,
    /// The messages, in the order in which they are sent.
    pub arrows: Vec<Arrow>,
}

/// A message in its slot: the slot, and the text of the message.
type Token = (String, String);

impl Chart {
    /// The chart of a run.
    pub fn of(recognised: &Recognised, run: &Counterexample) -> Self {
        let mut lanes = recognised.processors.clone();
        lanes.push(recognised.home.clone());
        let mut chart = Chart { lanes, actors: Vec::new(), arrows: Vec::new() };
        let mut state = Shown::start(run);
        let start = state.clone();
        let slots = Slots { recognised, start: &start };
        let mut before = slots.tokens(&state);
        let mut under_way: BTreeMap<Token, Vec<usize>> = BTreeMap::new();
        let home = chart.lanes.len() - 1;
        for (token, count) in &before {
            for _ in 0..*count {
                chart.send(token, 0, home, &mut under_way);
            }
        }
        for (at, step) in run.steps.iter().enumerate() {
            state.step(&step.effect);
            let after = slots.tokens(&state);
            let gone = difference(&before, &after);
            let actor = chart.actor(recognised, step, &gone);
            chart.actors.push(actor);
            for token in gone {
                let sent = under_way.get_mut(&token).filter(|sent| !sent.is_empty());
                if let Some(number) = sent.map(|sent| sent.remove(0)) {
                    chart.arrows[number].taken = Some(at + 1);
                    chart.arrows[number].to = Some(actor);
                }
            }
            for token in difference(&after, &before) {
                chart.send(&token, at + 1, actor, &mut under_way);
            }
            before = after;
        }
        chart.settle(recognised);
        chart
    }

    fn send(
        &mut self,
        token: &Token,
        step: usize,
        actor: usize,
        under_way: &mut BTreeMap<Token, Vec<usize>>,
    ) {
        under_way.entry(token.clone()).or_default().push(self.arrows.len());
        let (slot, detail) = token.clone();
        let label = label(&slot, &detail);
        let (sent, taken, from, to) = (step, None, actor, None);
        self.arrows.push(Arrow { label, detail, slot, sent, taken, from, to });
    }

    /// Who acts in a step.
    fn actor(&self, recognised: &Recognised, step: &Step, gone: &[Token]) -> usize {
        let home = self.lanes.len() - 1;
        let lane = |name: &str| self.lanes[..home].iter().position(|lane| lane == name);
        let binding = |name: &String| {
            let bound = step.bindings.iter().find(|(parameter, _)| parameter == name);
            bound.and_then(|(_, value)| lane(value))
        };
        match recognised.actors.get(&step.rule) {
            Some(Actor::Processor(parameter)) => {
                let direct = parameter.as_ref().and_then(binding);
                let changed = || self.only_changed(recognised, step).and_then(|name| lane(&name));
                let addressed = || gone.iter().find_map(|(_, detail)| lane(&destination(detail)?));
                let any = || recognised.parameters.get(&step.rule)?.iter().find_map(binding);
                direct.or_else(changed).or_else(addressed).or_else(any).unwrap_or(home)
            }
            _ => home,
        }
    }

    /// The processor whose state a step changes, if it is one.
    fn only_changed(&self, recognised: &Recognised, step: &Step) -> Option<String> {
        let explore::report::Effect::Changed(changes) = &step.effect else { return None };
        let local = changes.iter().filter(|c| recognised.local.contains(variable(&c.place)));
        let indices: BTreeSet<&str> = local.filter_map(|c| first_index(&c.place)).collect();
        indices.first().filter(|_| indices.len() == 1).map(|&index| index.to_owned())
    }

    /// Drops what turned out to be no message, and guesses where the rest is heading.
    fn settle(&mut self, recognised: &Recognised) {
        let home = self.lanes.len() - 1;
        let owner = |lanes: &[String], slot: &str| {
            let index = first_index(slot)?;
            lanes[..home].iter().position(|lane| lane == index)
        };
        // Of what only processors use, a variable whose every message stays with the processor of its
        // index is state of that processor.
        let mut travels: BTreeSet<String> = BTreeSet::new();
        for arrow in &self.arrows {
            let own = owner(&self.lanes, &arrow.slot);
            if own != Some(arrow.from) || arrow.to.is_some_and(|to| own != Some(to)) {
                travels.insert(variable(&arrow.slot).to_owned());
            }
        }
        let lanes = self.lanes.clone();
        self.arrows.retain(|arrow| {
            let name = variable(&arrow.slot);
            !recognised.between_processors.contains(name) || travels.contains(name)
        });
        for arrow in self.arrows.iter_mut().filter(|arrow| arrow.to.is_none()) {
            let named = destination(&arrow.detail);
            let named = named.and_then(|name| lanes[..home].iter().position(|lane| *lane == name));
            let index = owner(&lanes, &arrow.slot).filter(|&lane| lane != arrow.from);
            let other = (arrow.from != home).then_some(home);
            arrow.to = named.or(index).or(other);
        }
    }
}

/// A slot that is being read: its place, whether it is full, and its fields.
#[derive(Default)]
struct Slot {
    place: String,
    full: bool,
    fields: Vec<(String, String)>,
}

impl Slot {
    /// The message in the slot, its leading field first.
    fn token(mut self, lead: &str, processors: &[String]) -> Option<Token> {
        if !self.full {
            return None;
        }
        self.fields.sort_by_key(|(field, _)| field != lead);
        let fields = self.fields.into_iter().filter(|(_, value)| value != "undefined");
        let parts = fields.map(|(field, value)| match field.as_str() {
            "" => value,
            field => format!("{field}: {value}"),
        });
        Some((container(&self.place, processors), parts.collect::<Vec<_>>().join(", ")))
    }
}

struct Slots<'r> {
    recognised: &'r Recognised,
    start: &'r Shown,
}

impl Slots<'_> {
    /// The messages in a state, with their counts.
    fn tokens(&self, state: &Shown) -> BTreeMap<Token, usize> {
        let mut tokens: BTreeMap<Token, usize> = BTreeMap::new();
        for (slot, elements) in &state.multisets {
            if self.recognised.messages.contains_key(variable(slot)) {
                for element in elements {
                    *tokens.entry((slot.clone(), element.clone())).or_default() += 1;
                }
            }
        }
        // Places are sorted, so that the fields of a slot follow each other.
        let mut slot = Slot::default();
        for (place, value) in &state.places {
            let Some(form) = self.recognised.messages.get(variable(place)) else { continue };
            let (at, field) = split(place);
            if slot.place != at {
                let read = std::mem::replace(&mut slot, Slot { place: at, ..Slot::default() });
                self.finish(read, &mut tokens);
            }
            slot.full |= self.is_full(*form, place, field, value);
            slot.fields.push((field.to_owned(), value.clone()));
        }
        self.finish(slot, &mut tokens);
        tokens
    }

    fn finish(&self, slot: Slot, tokens: &mut BTreeMap<Token, usize>) {
        let lead = self.recognised.leads.get(variable(&slot.place));
        if let Some(token) =
            slot.token(lead.map_or("", String::as_str), &self.recognised.processors)
        {
            *tokens.entry(token).or_default() += 1;
        }
    }

    /// Whether a field says that its slot is full.
    fn is_full(&self, form: Form, place: &str, field: &str, value: &str) -> bool {
        if self.recognised.leads.get(variable(place)).is_none_or(|lead| lead != field) {
            return false;
        }
        match form {
            Form::Flag => value == "true",
            Form::Kind => value != "undefined" && !is_nothing(value),
            Form::Changed => self.start.places.get(place).is_none_or(|start| start != value),
            Form::Multiset => false,
        }
    }
}

/// A place as slot and field: `transaction[Remote_1]` and `kind` of `transaction[Remote_1].kind`.
fn split(place: &str) -> (String, &str) {
    match place.rfind("].") {
        Some(at) => (place[..=at].to_owned(), &place[at + 2..]),
        None if place.ends_with(']') => (place.to_owned(), ""),
        None => {
            let (slot, field) = place.split_once('.').unwrap_or((place, ""));
            (slot.to_owned(), field)
        }
    }
}

/// The slot, or the queue it is a part of: numbers in brackets that are no processors are positions
/// in a queue.
fn container(place: &str, processors: &[String]) -> String {
    let mut name = String::new();
    for part in place.split_inclusive(']') {
        let index = part.split_once('[').map(|(_, index)| index.trim_end_matches(']'));
        let is_position = index.is_some_and(|index| {
            index.parse::<i64>().is_ok() && !processors.iter().any(|name| name == index)
        });
        name += if is_position { part.split('[').next().unwrap_or_default() } else { part };
    }
    name
}

/// The label of a message: its first value, or its variable if there is none.
fn label(slot: &str, detail: &str) -> String {
    let text = detail.trim_start_matches('{').trim_end_matches('}');
    let first = text.split(", ").next().unwrap_or_default();
    let value = first.rsplit(": ").next().unwrap_or(first);
    if value == "true" { variable(slot).to_owned() } else { value.to_owned() }
}

/// Where a message says that it goes.
fn destination(detail: &str) -> Option<String> {
    let text = detail.trim_start_matches('{').trim_end_matches('}');
    let fields = text.split(", ").filter_map(|field| field.split_once(": "));
    let names = ["destination", "dest", "dst", "to", "target", "receiver"];
    let mut found = fields.filter(|(name, _)| names.contains(&name.to_lowercase().as_str()));
    found.next().map(|(_, value)| value.to_owned())
}

/// The elements of the first multiset that are not in the second.
fn difference(a: &BTreeMap<Token, usize>, b: &BTreeMap<Token, usize>) -> Vec<Token> {
    let mut found = Vec::new();
    for (token, count) in a {
        let left = count.saturating_sub(b.get(token).copied().unwrap_or(0));
        found.extend(std::iter::repeat_n(token.clone(), left));
    }
    found
}
