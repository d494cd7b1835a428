//! Model files by their definition: every reads-from and every order of the writes of each address,
//! and for each of them the conditions of the file, evaluated as they are written.
//!
//! Nothing is shared with the engines that take model files, not even the parser: `parse` reads the
//! file, `events` says what the names mean on a history, `value` does the operators, and this file
//! tries every execution. [`Definition::mutants`] are the same model with something left out.

mod events;
mod parse;
mod steps;
mod value;

use std::path::Path;

use history::{AddressId, EventId, History, Source};

use crate::combinations::combinations;
use events::{Choice, Events};
use parse::{Line, Test, Tree};
use steps::{Step, Steps};
use value::Value;

/// A model as its file defines it.
///
/// ```
/// use tribunal_oracle::Definition;
///
/// let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0")?;
/// let sc = Definition::of("acyclic po | rf | co | fr as interleaving")?;
/// assert_eq!(sc.unmet(&history), Some(vec!["interleaving"]));
/// let coherence = Definition::of("acyclic po-loc | rf | co | fr")?;
/// assert!(coherence.allows(&history));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Definition {
    text: String,
    steps: Steps,
}

/// A model with a part left out.
#[derive(Debug)]
pub struct Mutant {
    /// What was left out.
    pub without: String,
    /// What is left.
    pub text: String,
}

impl Definition {
    /// The model of a text that includes nothing.
    pub fn of(text: &str) -> Result<Self, String> {
        let steps = Steps::of(&parse::parse(text)?)?;
        Ok(Definition { text: text.to_owned(), steps })
    }

    /// The model of a file of the `models` folder, by its name without `.cat`.
    pub fn shipped(name: &str) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let text = read(&format!("{name}.cat")).ok_or_else(|| format!("no model {name}"))?;
        Self::of(&parse::flatten(&text, &read)?)
    }

    /// The text with everything that it includes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether some execution of the history meets every condition.
    pub fn allows(&self, history: &History) -> bool {
        self.unmet(history).is_none()
    }

    /// `None` if some execution meets every condition; else the conditions that no execution meets,
    /// each for itself. There may be none of these: one of several conditions fails each time.
    pub fn unmet(&self, history: &History) -> Option<Vec<&str>> {
        let events = Events::of(history);
        let mut values = vec![Value::Nothing; self.steps.steps.len()];
        self.evaluate(&events, None, &mut values);
        let readers = readers(history);
        let sources: Vec<usize> = readers.iter().map(|&id| history.sources(id).len()).collect();
        let orders: Vec<Vec<Vec<EventId>>> =
            history.address_ids().map(|address| orders(history, address)).collect();
        let counts: Vec<usize> = orders.iter().map(Vec::len).collect();
        let mut met = vec![false; self.steps.axioms.len()];
        for chosen_sources in combinations(&sources) {
            let reads_from: Vec<(EventId, Source)> = readers
                .iter()
                .zip(&chosen_sources)
                .map(|(&read, &at)| (read, history.sources(read)[at]))
                .collect();
            for chosen_orders in combinations(&counts) {
                let orders: Vec<&[EventId]> =
                    orders.iter().zip(&chosen_orders).map(|(all, &at)| &all[at][..]).collect();
                let choice = Choice { reads_from: &reads_from, orders: &orders };
                if self.meets(&events, &choice, &mut values, &mut met) {
                    return None;
                }
            }
        }
        let unmet = self.steps.axioms.iter().zip(met).filter(|(_, met)| !met);
        Some(unmet.map(|(axiom, _)| axiom.name.as_str()).collect())
    }

    /// Whether an execution meets every condition; which it meets is noted.
    fn meets(
        &self,
        events: &Events<'_>,
        choice: &Choice<'_>,
        values: &mut [Value],
        met: &mut [bool],
    ) -> bool {
        self.evaluate(events, Some(choice), values);
        let mut all = true;
        for (axiom, met) in self.steps.axioms.iter().zip(met) {
            let value = values[axiom.at];
            let holds = match axiom.test {
                Test::Empty => value.is_empty(),
                Test::Acyclic => value.relation(events.size()).is_acyclic(),
                Test::Irreflexive => value.relation(events.size()).is_irreflexive(),
            };
            let holds = holds != axiom.negated;
            *met |= holds;
            all &= holds;
        }
        all
    }

    /// Computes the values of the steps that depend on a choice, or of all others.
    fn evaluate(&self, events: &Events<'_>, choice: Option<&Choice<'_>>, values: &mut [Value]) {
        let size = events.size();
        let steps = &self.steps.steps;
        let mut at = 0;
        while at < steps.len() {
            let (step, varies) = &steps[at];
            at += 1;
            if *varies != choice.is_some() {
                continue;
            }
            values[at - 1] = match step {
                Step::Named(name) => {
                    events.named(name).unwrap_or_else(|| panic!("no set or relation {name}"))
                }
                Step::ReadsFrom => {
                    choice.map_or(Value::Nothing, |it| Value::Relation(events.reads_from(it)))
                }
                Step::Coherence => {
                    choice.map_or(Value::Nothing, |it| Value::Relation(events.coherence(it)))
                }
                Step::Nothing | Step::Unknown => Value::Nothing,
                Step::Everything => Value::Set(value::everything(size)),
                Step::Identity(set) => values[*set].identity(size),
                Step::Domain(relation) => values[*relation].domain(size),
                Step::Unary(operator, operand) => values[*operand].unary(*operator, size),
                Step::Binary(operator, first, second) => {
                    values[*first].binary(*operator, values[*second], size)
                }
                Step::Again { first, unknowns } => {
                    let changes = |&(unknown, body): &(usize, usize)| {
                        let (before, after) = (values[unknown], values[body]);
                        before != after && !(before.is_empty() && after.is_empty())
                    };
                    if unknowns.iter().any(changes) {
                        for &(unknown, body) in unknowns {
                            values[unknown] = values[body];
                        }
                        at = *first;
                    }
                    Value::Nothing
                }
            };
        }
    }

    /// The model without one of its conditions, or without one operand of a union, for each of them.
    pub fn mutants(&self) -> Vec<Mutant> {
        let lines = parse::parse(&self.text).expect("it was read before");
        let axioms = lines.iter().filter(|line| matches!(line, Line::Axiom { .. })).count();
        let mut mutants = Vec::new();
        for line in &lines {
            match line {
                Line::Let { bindings, .. } => {
                    bindings.iter().for_each(|binding| self.leave_out(&binding.body, &mut mutants));
                }
                Line::Axiom { body, place, .. } => {
                    if axioms > 1 {
                        let text = [&self.text[..place.start], &self.text[place.end..]].concat();
                        let without = self.text[place.clone()].to_owned();
                        mutants.push(Mutant { without, text });
                    }
                    self.leave_out(body, &mut mutants);
                }
            }
        }
        mutants
    }

    /// The mutants without an operand of a union in an expression.
    fn leave_out(&self, tree: &Tree, mutants: &mut Vec<Mutant>) {
        match tree {
            Tree::Name(_) | Tree::Nothing | Tree::Everything => {}
            Tree::Identity(inner) | Tree::Unary(_, inner) => self.leave_out(inner, mutants),
            Tree::Binary(_, first, second) => {
                self.leave_out(first, mutants);
                self.leave_out(second, mutants);
            }
            Tree::Call(_, arguments) => {
                arguments.iter().for_each(|argument| self.leave_out(argument, mutants));
            }
            Tree::Let { bindings, body, .. } => {
                bindings.iter().for_each(|binding| self.leave_out(&binding.body, mutants));
                self.leave_out(body, mutants);
            }
            Tree::Union(operands) => {
                for (at, (operand, place)) in operands.iter().enumerate() {
                    // With the bar that joins it to the one before it or, of the first, behind it.
                    let cut = match operands.get(1).filter(|_| at == 0) {
                        Some((_, next)) => place.start..next.start,
                        None => operands[at - 1].1.end..place.end,
                    };
                    let text = [&self.text[..cut.start], " ", &self.text[cut.end..]].concat();
                    let without = self.text[place.clone()].to_owned();
                    mutants.push(Mutant { without, text });
                    self.leave_out(operand, mutants);
                }
            }
        }
    }
}

/// How many executions a history has: every reads-from with every order of writes that the `order` and
/// `final` lines admit.
pub fn executions(history: &History) -> usize {
    let sources = readers(history).into_iter().map(|read| history.sources(read).len());
    let orders = history.address_ids().map(|address| orders(history, address).len());
    sources.chain(orders).fold(1, usize::saturating_mul)
}

fn readers(history: &History) -> Vec<EventId> {
    history.event_ids().filter(|&id| history.event(id).is_read()).collect()
}

/// The orders of the writes of an address that its `final` and `order` lines admit.
fn orders(history: &History, address: AddressId) -> Vec<Vec<EventId>> {
    let mut all = vec![Vec::new()];
    for &write in &history.address(address).writes {
        let longer = |order: &Vec<EventId>| -> Vec<Vec<EventId>> {
            let insert = |at| [&order[..at], &[write], &order[at..]].concat();
            (0..=order.len()).map(insert).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.retain(|order| is_as_said(history, address, order));
    all
}

fn is_as_said(history: &History, address: AddressId, order: &[EventId]) -> bool {
    let last = order.last().map_or(Source::Initial, |&write| Source::Write(write));
    let place = |source: &Source| match source {
        Source::Initial => 0,
        Source::Write(write) => 1 + order.iter().position(|each| each == write).unwrap_or(0),
    };
    let mut finals = history.finals().iter().filter(|line| line.address == address);
    let mut chains = history.orders().iter().filter(|chain| chain.address == address);
    finals.all(|line| line.sources.contains(&last))
        && chains.all(|chain| chain.writes.is_sorted_by(|a, b| place(a) < place(b)))
}
