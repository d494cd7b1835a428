//! A model by its definition: what is written, evaluated as it stands on one finished execution.
//!
//! Sets are sets of numbers and relations sets of pairs; an expression is evaluated whenever it is
//! met. This shares nothing with the graph and the search but the syntax and the list of events, so
//! that it can say whether they are right: [`meets`] checks a witness axiom by axiom, and the tests
//! try every execution with it. Slow, and meant to be read.

use std::collections::BTreeSet;

use history::{AccessOrder, DependencyKind, FenceName, History, Source};

use crate::execution::{Action, Atomicity, Execution, Link, MixedSizeRules, Translated};
use crate::load::CatModel;
use crate::solve::mixed_sizes;
use crate::syntax::{
    AxiomSyntax, Binary, Binding, Expression, ExpressionKind, Instruction, Name, Test, Unary,
};
use crate::witness::{Choice, Witness};

/// An event: its place in the list of the execution.
type Node = usize;
type Set = BTreeSet<Node>;
type Relation = BTreeSet<(Node, Node)>;

#[derive(Debug, Clone)]
enum Value<'a> {
    Set(Set),
    Relation(Relation),
    Nothing,
    Function { parameters: &'a [Name], body: &'a Expression, scope: usize },
}

/// The axioms of a model that a witness does not meet: their numbers. `None` if the witness is no
/// execution of the history at all: a read has no source or a wrong one, an order lacks a write or
/// contradicts what the history says.
pub fn broken_axioms(model: &CatModel, history: &History, witness: &Witness) -> Option<Vec<usize>> {
    let translated = Translated::of(history);
    let history = history.mixed().map_or(history, history::Mixed::parts);
    let mut reads_from = Vec::new();
    for &(read, source) in &witness.reads_from {
        let is_it = |&at: &usize| {
            translated.origins[at] == Some(read) && translated.execution.events[at].is_read()
        };
        let at = (0..translated.origins.len()).find(is_it)?;
        let address = translated.execution.events[at].address?;
        let is_write = match source {
            Source::Initial => true,
            Source::Write(write) => history.event(write).is_write(),
        };
        reads_from.push((at, is_write.then(|| translated.write_of(source, address))?));
    }
    let mut write_orders = Vec::new();
    for order in &witness.write_orders {
        let at = |&write| {
            let is_write = history.event(write).is_write();
            is_write.then(|| translated.write_of(Source::Write(write), 0))
        };
        write_orders.push(order.iter().map(at).collect::<Option<Vec<usize>>>()?);
    }
    broken_by(model, &translated.execution, &Choice { reads_from, write_orders })
}

/// Whether a witness is an execution of the history that the model allows.
pub fn meets(model: &CatModel, history: &History, witness: &Witness) -> bool {
    broken_axioms(model, history, witness).is_some_and(|broken| broken.is_empty())
}

/// Whether a choice makes an execution of given events that the model allows.
pub fn allows(model: &CatModel, execution: &Execution, choice: &Choice) -> bool {
    broken_by(model, execution, choice).is_some_and(|broken| broken.is_empty())
}

/// The axioms that a choice does not meet; `None` if it is no execution of these events.
fn broken_by(model: &CatModel, execution: &Execution, choice: &Choice) -> Option<Vec<usize>> {
    let facts = Facts::new(execution, choice)?;
    let mut evaluator = Evaluator { facts, names: Vec::new() };
    let mut broken = Vec::new();
    let mut number = 0;
    for instruction in &model.instructions {
        match instruction {
            Instruction::Let { recursive, bindings } => evaluator.bind(*recursive, bindings),
            Instruction::Axiom(axiom) => {
                let glued = Some(mixed_sizes(model, execution))
                    .filter(|g| !execution.wholes.is_empty() && g.location != Some(number));
                if !evaluator.holds(axiom, glued) {
                    broken.push(number);
                }
                number += 1;
            }
        }
    }
    Some(broken)
}

/// One finished execution.
struct Facts<'a> {
    execution: &'a Execution,
    nodes: Set,
    reads_from: Relation,
    coherence: Relation,
}

impl<'a> Facts<'a> {
    fn new(execution: &'a Execution, choice: &Choice) -> Option<Self> {
        let nodes = (0..execution.events.len()).collect();
        let facts =
            Facts { execution, nodes, reads_from: Relation::new(), coherence: Relation::new() };
        facts.with_reads(choice)?.with_orders(choice)
    }

    fn with_reads(mut self, choice: &Choice) -> Option<Self> {
        let readers = self.nodes.iter().filter(|&&node| self.execution.events[node].is_read());
        let mut said: Vec<Node> = choice.reads_from.iter().map(|&(read, _)| read).collect();
        said.sort_unstable();
        if !said.iter().eq(readers) {
            return None;
        }
        for &(read, write) in &choice.reads_from {
            let mut sources = self.execution.sources.iter();
            if !sources.any(|(each, writes)| *each == read && writes.contains(&write)) {
                return None;
            }
            self.reads_from.insert((write, read));
        }
        Some(self)
    }

    fn with_orders(mut self, choice: &Choice) -> Option<Self> {
        let initial = |node: &&Node| self.execution.events[**node].is_initial();
        if choice.write_orders.len() != self.nodes.iter().filter(initial).count() {
            return None;
        }
        for (address, order) in choice.write_orders.iter().enumerate() {
            let is_write = |node: &Node| {
                let event = &self.execution.events[*node];
                event.is_write() && event.address == Some(address)
            };
            let writes: Set = self.nodes.iter().copied().filter(is_write).collect();
            let first = *writes.iter().find(|&&node| self.execution.events[node].is_initial())?;
            let whole: Vec<Node> = std::iter::once(first).chain(order.iter().copied()).collect();
            if whole.len() != writes.len() || whole.iter().copied().collect::<Set>() != writes {
                return None;
            }
            for (at, &write) in whole.iter().enumerate() {
                self.coherence.extend(whole[..at].iter().map(|&before| (before, write)));
            }
            let last = whole.last()?;
            let mut finals = self.execution.last_writes.iter().filter(|each| each.0 == address);
            if !finals.all(|(_, candidates)| candidates.contains(last)) {
                return None;
            }
        }
        let mut known = self.execution.ordered_writes.iter();
        known.all(|pair| self.coherence.contains(pair)).then_some(self)
    }

    fn set(&self, name: &str) -> Option<Set> {
        Some(match name {
            "R" => self.those(|event| event.is_read()),
            "W" => self.those(|event| event.is_write()),
            "IW" => self.those(|event| event.is_initial()),
            "F" => self.those(|event| matches!(event.action, Action::Fence { .. })),
            "X" => self.those(|event| event.atomicity == Atomicity::Atomic),
            "EX" => self.those(|event| event.atomicity == Atomicity::Exclusive),
            "NoRet" => self.those(|event| event.returns_nothing),
            "Acq" | "AcqPc" | "Rel" | "AcqRel" | "Sc" => {
                let order = AccessOrder::from_spelling(&name.to_lowercase());
                self.those(|event| event.order.is_some() && event.order == order)
            }
            _ if FenceName::ALL.iter().any(|fence| fence.set_name() == name) => {
                self.those(|event| match event.action {
                    Action::Fence { name: Some(fence), .. } => fence.set_name() == name,
                    _ => false,
                })
            }
            _ => {
                let (wanted_before, wanted_after) = name.strip_prefix("Fence.")?.split_once('.')?;
                let letters = ["r", "w", "rw"];
                if !letters.contains(&wanted_before) || !letters.contains(&wanted_after) {
                    return None;
                }
                self.those(|event| match event.action {
                    Action::Fence { before, after, .. } => {
                        before.letters() == wanted_before && after.letters() == wanted_after
                    }
                    _ => false,
                })
            }
        })
    }

    /// The events of which something is true.
    fn those(&self, holds: impl Fn(&crate::execution::CatEvent) -> bool) -> Set {
        let nodes = self.nodes.iter().copied();
        nodes.filter(|&node| holds(&self.execution.events[node])).collect()
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        let linked = |wanted: Link| {
            let links = self.execution.links.iter().filter(|each| each.0 == wanted);
            links.map(|&(_, from, to)| (from, to)).collect()
        };
        let events = &self.execution.events;
        let holds: Box<dyn Fn(Node, Node) -> bool> = match name {
            "rf" => return Some(self.reads_from.clone()),
            "co" => return Some(self.coherence.clone()),
            "addr" => return Some(linked(Link::Dependency(DependencyKind::Address))),
            "data" => return Some(linked(Link::Dependency(DependencyKind::Data))),
            "ctrl" => return Some(linked(Link::Dependency(DependencyKind::Control))),
            "amo" => return Some(linked(Link::Atomic)),
            "lxsx" => return Some(linked(Link::Exclusive)),
            "id" => Box::new(|a, b| a == b),
            "int" => Box::new(|a, b| match (events[a].thread, events[b].thread) {
                (Some(a), Some(b)) => a == b,
                _ => a == b,
            }),
            "po" => Box::new(|a, b| {
                let (a, b) = (&events[a], &events[b]);
                a.thread == b.thread && a.thread.is_some() && a.instruction < b.instruction
            }),
            "loc" => Box::new(|a, b| match (events[a].address, events[b].address) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            }),
            "rt" => Box::new(|a, b| match (events[a].times.end, events[b].times.begin) {
                (Some(end), Some(begin)) => end < begin,
                _ => false,
            }),
            _ => return None,
        };
        let mut pairs = Relation::new();
        for &a in &self.nodes {
            pairs.extend(self.nodes.iter().filter(|&&b| holds(a, b)).map(|&b| (a, b)));
        }
        Some(pairs)
    }
}

struct Evaluator<'a> {
    facts: Facts<'a>,
    /// What is defined, later ones hiding earlier ones.
    names: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Evaluator<'a> {
    /// Whether an axiom holds: of parts if it is about locations, else of whole accesses.
    fn holds(&mut self, axiom: &'a AxiomSyntax, glued: Option<MixedSizeRules>) -> bool {
        let value = self.value(&axiom.body);
        let holds = match axiom.test {
            Test::Empty => match &value {
                Value::Set(set) => set.is_empty(),
                other => relation(other.clone()).is_empty(),
            },
            Test::Irreflexive => relation(value).iter().all(|(a, b)| a != b),
            Test::Acyclic => {
                let mut steps = relation(value);
                if let Some(mixed_sizes) = glued {
                    let (execution, nodes) = (self.facts.execution, &self.facts.nodes);
                    let whole = |node: Node| execution.wholes[node];
                    let reached = |&(a, b): &(Node, Node)| -> Vec<(Node, Node)> {
                        let alone = a == b || execution.is_reached_alone(a, b, &mixed_sizes);
                        let parts = nodes.iter().filter(|&&part| match alone {
                            true => part == b,
                            false => whole(part) == whole(b) && whole(a) != whole(b),
                        });
                        parts.map(|&part| (a, part)).collect()
                    };
                    steps = steps.iter().flat_map(reached).collect();
                }
                closure(&steps).iter().all(|(a, b)| a != b)
            }
        };
        holds != axiom.negated
    }

    fn bind(&mut self, recursive: bool, bindings: &'a [Binding]) {
        if recursive {
            return self.bind_recursive(bindings);
        }
        let scope = self.names.len();
        let meaning = |evaluator: &mut Self, binding: &'a Binding| match &binding.parameters {
            Some(parameters) => Value::Function { parameters, body: &binding.body, scope },
            None => evaluator.value(&binding.body),
        };
        let values: Vec<Value<'a>> = bindings.iter().map(|each| meaning(self, each)).collect();
        self.names.extend(bindings.iter().map(|each| each.name.text.as_str()).zip(values));
    }

    /// From nothing, until nothing changes.
    fn bind_recursive(&mut self, bindings: &'a [Binding]) {
        let first = self.names.len();
        self.names.extend(bindings.iter().map(|each| (each.name.text.as_str(), Value::Nothing)));
        loop {
            let values: Vec<Value<'a>> =
                bindings.iter().map(|each| self.value(&each.body)).collect();
            let old = &mut self.names[first..];
            if old.iter().zip(&values).all(|((_, before), after)| is_same(before, after)) {
                return;
            }
            old.iter_mut().zip(values).for_each(|(name, value)| name.1 = value);
        }
    }

    fn look_up(&self, name: &str) -> Option<Value<'a>> {
        let defined = self.names.iter().rev().find(|(known, _)| *known == name);
        defined
            .map(|(_, value)| value.clone())
            .or_else(|| self.facts.set(name).map(Value::Set))
            .or_else(|| self.facts.relation(name).map(Value::Relation))
    }

    fn value(&mut self, expression: &'a Expression) -> Value<'a> {
        match &expression.kind {
            ExpressionKind::Name(name) => {
                self.look_up(name).expect("elaboration has found every name")
            }
            ExpressionKind::Empty => Value::Nothing,
            ExpressionKind::Universe => Value::Set(self.facts.nodes.clone()),
            ExpressionKind::Identity(inner) => {
                let inner = self.value(inner);
                Value::Relation(set(inner).into_iter().map(|node| (node, node)).collect())
            }
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.value(inner);
                self.unary(*operator, inner)
            }
            ExpressionKind::Binary(operator, operands) => {
                let mut values =
                    operands.iter().map(|each| self.value(each)).collect::<Vec<_>>().into_iter();
                let first = values.next().unwrap_or(Value::Nothing);
                values.fold(first, |left, right| binary(*operator, left, right))
            }
            ExpressionKind::Apply { function, arguments } => {
                let values: Vec<Value<'a>> =
                    arguments.iter().map(|each| self.value(each)).collect();
                self.apply(&function.text, values)
            }
            ExpressionKind::Let { recursive, bindings, body } => {
                let before = self.names.len();
                self.bind(*recursive, bindings);
                let value = self.value(body);
                self.names.truncate(before);
                value
            }
            ExpressionKind::Try { first, otherwise } => {
                if self.is_defined(first) {
                    self.value(first)
                } else {
                    self.value(otherwise)
                }
            }
        }
    }

    /// Whether all names of an expression are defined.
    fn is_defined(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name(name) => self.look_up(name).is_some(),
            ExpressionKind::Empty | ExpressionKind::Universe => true,
            ExpressionKind::Identity(inner) | ExpressionKind::Unary(_, inner) => {
                self.is_defined(inner)
            }
            ExpressionKind::Binary(_, operands) => {
                operands.iter().all(|each| self.is_defined(each))
            }
            ExpressionKind::Apply { function, arguments } => {
                let known = ["domain", "range"].contains(&function.text.as_str())
                    || self.look_up(&function.text).is_some();
                known && arguments.iter().all(|each| self.is_defined(each))
            }
            // Definitions in the middle of an attempt: rare enough to be taken as they are.
            ExpressionKind::Let { .. } | ExpressionKind::Try { .. } => true,
        }
    }

    fn apply(&mut self, function: &str, arguments: Vec<Value<'a>>) -> Value<'a> {
        if let ("domain" | "range", [argument]) = (function, &arguments[..]) {
            let pairs = relation(argument.clone()).into_iter();
            let end = |(a, b)| if function == "domain" { a } else { b };
            return Value::Set(pairs.map(end).collect());
        }
        let Some(Value::Function { parameters, body, scope }) = self.look_up(function) else {
            unreachable!("elaboration has found every function")
        };
        // The body sees what was defined before the function, and its arguments.
        let hidden = self.names.split_off(scope);
        let names = parameters.iter().map(|parameter| parameter.text.as_str());
        self.names.extend(names.zip(arguments));
        let value = self.value(body);
        self.names.truncate(scope);
        self.names.extend(hidden);
        value
    }

    fn unary(&self, operator: Unary, inner: Value<'a>) -> Value<'a> {
        let same = || self.facts.nodes.iter().map(|&node| (node, node));
        Value::Relation(match operator {
            Unary::Complement => {
                if let Value::Set(inner) = inner {
                    return Value::Set(self.facts.nodes.difference(&inner).copied().collect());
                }
                let inner = relation(inner);
                let all = self.facts.nodes.iter();
                let pairs = all.flat_map(|&a| self.facts.nodes.iter().map(move |&b| (a, b)));
                pairs.filter(|pair| !inner.contains(pair)).collect()
            }
            Unary::Inverse => relation(inner).into_iter().map(|(a, b)| (b, a)).collect(),
            Unary::Plus => closure(&relation(inner)),
            Unary::Star => closure(&relation(inner)).into_iter().chain(same()).collect(),
            Unary::Optional => relation(inner).into_iter().chain(same()).collect(),
        })
    }
}

/// Whether two values are the same set or relation.
fn is_same(left: &Value<'_>, right: &Value<'_>) -> bool {
    set(left.clone()) == set(right.clone()) && relation(left.clone()) == relation(right.clone())
}

fn set(value: Value<'_>) -> Set {
    match value {
        Value::Set(set) => set,
        _ => Set::new(),
    }
}

fn relation(value: Value<'_>) -> Relation {
    match value {
        Value::Relation(relation) => relation,
        _ => Relation::new(),
    }
}

fn binary<'a>(operator: Binary, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match operator {
        Binary::Sequence => Value::Relation(sequence(&relation(left), &relation(right))),
        Binary::Product => {
            let (left, right) = (set(left), set(right));
            Value::Relation(left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b))).collect())
        }
        Binary::Union | Binary::Intersection | Binary::Difference => match (left, right) {
            (Value::Nothing, Value::Nothing) => Value::Nothing,
            (left @ Value::Set(_), right) | (left, right @ Value::Set(_)) => {
                Value::Set(combined(operator, &set(left), &set(right)))
            }
            (left, right) => Value::Relation(combined(operator, &relation(left), &relation(right))),
        },
    }
}

fn combined<T: Ord + Copy>(
    operator: Binary,
    left: &BTreeSet<T>,
    right: &BTreeSet<T>,
) -> BTreeSet<T> {
    match operator {
        Binary::Union => left.union(right).copied().collect(),
        Binary::Intersection => left.intersection(right).copied().collect(),
        _ => left.difference(right).copied().collect(),
    }
}

/// Where the pairs of a relation lead from a node.
fn steps_from(relation: &Relation, from: Node) -> impl Iterator<Item = Node> + '_ {
    relation.range((from, 0)..=(from, Node::MAX)).map(|&(_, to)| to)
}

fn sequence(left: &Relation, right: &Relation) -> Relation {
    let steps = |&(a, middle): &(Node, Node)| steps_from(right, middle).map(move |b| (a, b));
    left.iter().flat_map(steps).collect()
}

/// One step or more: from each node, all that is reached step by step.
fn closure(steps: &Relation) -> Relation {
    let starts: Set = steps.iter().map(|&(from, _)| from).collect();
    let mut paths = Relation::new();
    for start in starts {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            waiting.extend(steps_from(steps, node).filter(|&to| paths.insert((start, to))));
        }
    }
    paths
}
