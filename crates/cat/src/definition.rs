//! A model by its definition: what is written, evaluated as it stands on one finished execution.
//!
//! Sets are sets of numbers and relations sets of pairs; an expression is evaluated whenever it is
//! met. This shares nothing with the graph and the search but the syntax, so that it can say whether
//! they are right: [`meets`] checks a witness axiom by axiom, and the tests try every execution with
//! it. Slow, and meant to be read.

use std::collections::BTreeSet;

use history::{DependencyKind, EventId, FenceName, History, Operation, Source};

use crate::load::CatModel;
use crate::syntax::{
    AxiomSyntax, Binary, Binding, Expression, ExpressionKind, Instruction, Name, Test, Unary,
};
use crate::witness::Witness;

/// An event: the initial write of an address, or a half of an event of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Initial(usize),
    Reads(EventId),
    Writes(EventId),
    Fence(EventId),
}

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
    let facts = Facts::new(history, witness)?;
    let mut evaluator = Evaluator { facts, names: Vec::new() };
    let mut broken = Vec::new();
    let mut number = 0;
    for instruction in &model.instructions {
        match instruction {
            Instruction::Let { recursive, bindings } => evaluator.bind(*recursive, bindings),
            Instruction::Axiom(axiom) => {
                if !evaluator.holds(axiom) {
                    broken.push(number);
                }
                number += 1;
            }
        }
    }
    Some(broken)
}

/// Whether a witness is an execution of the history that the model allows.
pub fn meets(model: &CatModel, history: &History, witness: &Witness) -> bool {
    broken_axioms(model, history, witness).is_some_and(|broken| broken.is_empty())
}

/// One finished execution.
struct Facts<'a> {
    history: &'a History,
    nodes: Set,
    reads_from: Relation,
    coherence: Relation,
}

impl<'a> Facts<'a> {
    fn new(history: &'a History, witness: &Witness) -> Option<Self> {
        let mut nodes: Set = (0..history.address_count()).map(Node::Initial).collect();
        for id in history.event_ids() {
            let event = history.event(id);
            nodes.extend(event.is_read().then_some(Node::Reads(id)));
            nodes.extend(event.is_write().then_some(Node::Writes(id)));
            nodes.extend(event.is_fence().then_some(Node::Fence(id)));
        }
        let facts =
            Facts { history, nodes, reads_from: Relation::new(), coherence: Relation::new() };
        facts.with_reads(witness)?.with_orders(witness)
    }

    fn with_reads(mut self, witness: &Witness) -> Option<Self> {
        let readers = self.history.event_ids().filter(|&id| self.history.event(id).is_read());
        let mut said: Vec<EventId> = witness.reads_from.iter().map(|&(read, _)| read).collect();
        said.sort_unstable();
        if !said.into_iter().eq(readers) {
            return None;
        }
        for &(read, source) in &witness.reads_from {
            if !self.history.sources(read).contains(&source) {
                return None;
            }
            let write = match source {
                Source::Initial => Node::Initial(self.history.address_of(read)?.index()),
                Source::Write(write) => Node::Writes(write),
            };
            self.reads_from.insert((write, Node::Reads(read)));
        }
        Some(self)
    }

    fn with_orders(mut self, witness: &Witness) -> Option<Self> {
        if witness.write_orders.len() != self.history.address_count() {
            return None;
        }
        for (address, order) in self.history.address_ids().zip(&witness.write_orders) {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if sorted != self.history.address(address).writes {
                return None;
            }
            let place = |source: &Source| match source {
                Source::Initial => Some(0),
                Source::Write(write) => {
                    order.iter().position(|each| each == write).map(|at| at + 1)
                }
            };
            let orders = self.history.orders().iter().filter(|chain| chain.address == address);
            let is_in_order = |chain: &history::OrderChain| {
                chain.writes.windows(2).all(|pair| place(&pair[0]) < place(&pair[1]))
            };
            let last = order.last().map_or(Source::Initial, |&write| Source::Write(write));
            let mut finals = self.history.finals().iter().filter(|each| each.address == address);
            if !orders.into_iter().all(is_in_order)
                || !finals.all(|each| each.sources.contains(&last))
            {
                return None;
            }
            let mut before = vec![Node::Initial(address.index())];
            for &write in order {
                self.coherence.extend(before.iter().map(|&each| (each, Node::Writes(write))));
                before.push(Node::Writes(write));
            }
        }
        Some(self)
    }

    fn address(&self, node: Node) -> Option<usize> {
        match node {
            Node::Initial(address) => Some(address),
            Node::Reads(id) | Node::Writes(id) | Node::Fence(id) => {
                self.history.address_of(id).map(|address| address.index())
            }
        }
    }

    fn event(node: Node) -> Option<EventId> {
        match node {
            Node::Initial(_) => None,
            Node::Reads(id) | Node::Writes(id) | Node::Fence(id) => Some(id),
        }
    }

    fn set(&self, name: &str) -> Option<Set> {
        let holds: Box<dyn Fn(Node) -> bool> = match name {
            "R" => Box::new(|node| matches!(node, Node::Reads(_))),
            "W" => Box::new(|node| matches!(node, Node::Initial(_) | Node::Writes(_))),
            "IW" => Box::new(|node| matches!(node, Node::Initial(_))),
            "F" => Box::new(|node| matches!(node, Node::Fence(_))),
            "X" => Box::new(|node| {
                Self::event(node).is_some_and(|id| self.history.event(id).is_atomic())
            }),
            "EX" => {
                let pairs = self.history.pairs().iter();
                let paired: Vec<EventId> = pairs.flat_map(|&(store, load)| [store, load]).collect();
                Box::new(move |node| Self::event(node).is_some_and(|id| paired.contains(&id)))
            }
            "Acq" | "AcqPc" | "Rel" | "AcqRel" | "Sc" => {
                let spelling = name.to_lowercase();
                Box::new(move |node| {
                    let order = Self::event(node).and_then(|id| self.history.access_order(id));
                    order.is_some_and(|order| order.spelling() == spelling)
                })
            }
            _ if FenceName::ALL.iter().any(|fence| fence.set_name() == name) => {
                let name = name.to_owned();
                Box::new(move |node| {
                    let fence = Self::event(node).and_then(|id| self.history.fence_name(id));
                    fence.is_some_and(|fence| fence.set_name() == name)
                })
            }
            _ => {
                let (before, after) = name.strip_prefix("Fence.")?.split_once('.')?;
                let letters = ["r", "w", "rw"];
                if !letters.contains(&before) || !letters.contains(&after) {
                    return None;
                }
                let wanted = (before.to_owned(), after.to_owned());
                Box::new(move |node| {
                    match Self::event(node).map(|id| self.history.event(id).operation) {
                        Some(Operation::Fence { before, after }) => {
                            before.letters() == wanted.0 && after.letters() == wanted.1
                        }
                        _ => false,
                    }
                })
            }
        };
        Some(self.nodes.iter().copied().filter(|&node| holds(node)).collect())
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        let events = |a, b| Self::event(a).zip(Self::event(b));
        let holds: Box<dyn Fn(Node, Node) -> bool> = match name {
            "rf" => return Some(self.reads_from.clone()),
            "co" => return Some(self.coherence.clone()),
            "id" => Box::new(|a, b| a == b),
            "po" => Box::new(move |a, b| {
                events(a, b).is_some_and(|(a, b)| self.history.program_order(a, b))
            }),
            "loc" => {
                Box::new(|a, b| self.address(a).is_some() && self.address(a) == self.address(b))
            }
            "int" => Box::new(move |a, b| match events(a, b) {
                Some((a, b)) => self.history.thread_of(a) == self.history.thread_of(b),
                None => a == b,
            }),
            "addr" | "data" | "ctrl" => {
                let kind = DependencyKind::from_spelling(name)?;
                Box::new(move |a, b| {
                    let Some((from, to)) = events(a, b) else { return false };
                    let mut all = self.history.dependencies().iter().enumerate();
                    let declared = all.find(|(_, pair)| **pair == (to, from));
                    let is_of_kind = |at| self.history.kinds_of_dependency(at).contains(kind);
                    matches!(a, Node::Reads(_)) && declared.is_some_and(|(at, _)| is_of_kind(at))
                })
            }
            "lxsx" => Box::new(move |a, b| {
                events(a, b)
                    .is_some_and(|(load, store)| self.history.pairs().contains(&(store, load)))
            }),
            "amo" => Box::new(|a, b| match (a, b) {
                (Node::Reads(a), Node::Writes(b)) => a == b,
                _ => false,
            }),
            "rt" => Box::new(move |a, b| {
                let times = |id| self.history.times(id);
                events(a, b)
                    .and_then(|(a, b)| times(a).end.zip(times(b).begin))
                    .is_some_and(|(end, begin)| end < begin)
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
    fn holds(&mut self, axiom: &'a AxiomSyntax) -> bool {
        let value = self.value(&axiom.body);
        let holds = match axiom.test {
            Test::Empty => match &value {
                Value::Set(set) => set.is_empty(),
                other => relation(other.clone()).is_empty(),
            },
            Test::Irreflexive => relation(value).iter().all(|(a, b)| a != b),
            Test::Acyclic => closure(&relation(value)).iter().all(|(a, b)| a != b),
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

fn sequence(left: &Relation, right: &Relation) -> Relation {
    let steps = |&(a, middle): &(Node, Node)| {
        right.iter().filter(move |(from, _)| *from == middle).map(move |&(_, b)| (a, b))
    };
    left.iter().flat_map(steps).collect()
}

/// One step or more: longer and longer paths, until there is no new one.
fn closure(steps: &Relation) -> Relation {
    let mut paths = steps.clone();
    loop {
        let longer = sequence(&paths, steps);
        if longer.is_subset(&paths) {
            return paths;
        }
        paths.extend(longer);
    }
}
