//! How far a state is from a condition, as a number that a search can follow.
//!
//! A condition is taken apart: of `a & b` and `forall` the distances are added, of `a | b` and
//! `exists` the least counts, `!` is moved inwards. What is left are *atoms*; one that holds is at
//! distance 0, one that does not at 1. So the distance is 0 exactly where the condition holds, and
//! it is the same for states that differ in the names of members only. It is a guess about the way
//! that is left (Edelkamp, Lluch Lafuente, Leue: Directed explicit model checking with HSF-SPIN,
//! SPIN 2001), not a bound.
//!
//! Atoms are added to the text of the model as liveness properties, one claim for each value of the
//! quantified variables around them, so that whatever runs the model evaluates them.

use murphi::ast::{
    BinaryOperator, Expression, ExpressionKind, Item, Quantifier, RuleKind, UnaryOperator,
};
use murphi::goal::Goals;
use murphi::instance;
use murphi::ir::Model;
use murphi::parse;
use murphi::source::{Source, Span};

/// How the distance of a state is put together from atoms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distance {
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// An atom: its number among the goals with all variables at their first value.
    Atom(usize),
    /// All parts, or one of them.
    Parts { all: bool, parts: Vec<Node> },
    /// For all values of a variable, or for one; it has so many.
    Quantified { all: bool, values: usize, inner: Box<Node> },
}

/// A condition taken apart.
pub(crate) struct Parts {
    root: Node,
    /// The properties, as text.
    atoms: Vec<String>,
}

impl Parts {
    /// Takes apart the condition that stands last in a text, as a property. `None` if there is none.
    pub(crate) fn of_last(source: &Source) -> Option<Parts> {
        let program = parse::parse(source).0?;
        let Item::Rule(rule) = program.items.last()? else { return None };
        let RuleKind::Property(property) = &rule.kind else { return None };
        let mut parts = Parts { root: Node::Atom(0), atoms: Vec::new() };
        let mut around = Vec::new();
        parts.root = parts.take_apart(source, &property.condition, true, &mut around);
        Some(parts)
    }

    /// The properties of all atoms.
    pub(crate) fn text(&self) -> String {
        self.atoms.concat()
    }

    /// The distance in a model that ends with the properties of all atoms.
    pub(crate) fn distance(mut self, model: &Model, goals: &Goals) -> Distance {
        let first = model.properties.len() - self.atoms.len();
        let number = |property: usize| {
            let mut all = 0..goals.len();
            all.find(|&goal| goals.get(goal).property as usize == property).unwrap_or(goals.len())
        };
        let radices =
            |atom: usize| instance::radices(model, &model.properties[first + atom].parameters);
        resolve(&mut self.root, 0, &|atom| number(first + atom), &radices);
        Distance { root: self.root }
    }

    fn take_apart<'a>(
        &mut self,
        source: &Source,
        condition: &'a Expression,
        positive: bool,
        around: &mut Vec<&'a Quantifier>,
    ) -> Node {
        use BinaryOperator::{And, Implies, LogicalAnd, LogicalOr, Or};
        match &condition.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                self.take_apart(source, inner, !positive, around)
            }
            ExpressionKind::Binary(operator @ (And | LogicalAnd | Or | LogicalOr), a, b) => {
                let all = matches!(operator, And | LogicalAnd) == positive;
                let parts = [a, b].map(|part| self.take_apart(source, part, positive, around));
                Node::Parts { all, parts: parts.into() }
            }
            ExpressionKind::Binary(Implies, a, b) => {
                let a = self.take_apart(source, a, !positive, around);
                let b = self.take_apart(source, b, positive, around);
                Node::Parts { all: !positive, parts: vec![a, b] }
            }
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                let all = *all == positive;
                around.extend(quantifiers);
                let mut node = self.take_apart(source, condition, positive, around);
                for _ in quantifiers {
                    around.pop();
                    node = Node::Quantified { all, values: 0, inner: Box::new(node) };
                }
                node
            }
            _ => {
                self.atoms.push(property(source, condition, positive, around));
                Node::Atom(self.atoms.len() - 1)
            }
        }
    }
}

/// An atom as a property.
fn property(
    source: &Source,
    condition: &Expression,
    positive: bool,
    around: &[&Quantifier],
) -> String {
    let written = |span: Span| &source.text[span.start as usize..span.end as usize];
    let mut text = String::from("\n");
    for quantifier in around {
        text.push_str(&format!("ruleset {} do ", written(quantifier.span)));
    }
    let not = if positive { "" } else { "!" };
    text.push_str(&format!("liveness {not}({});", written(condition.span)));
    text.push_str(&" end;".repeat(around.len()));
    text.push('\n');
    text
}

/// Fills in where atoms are among the goals, and how many values variables have. Returns the number
/// of an atom of the node, as it was.
fn resolve(
    node: &mut Node,
    depth: usize,
    number: &impl Fn(usize) -> usize,
    radices: &impl Fn(usize) -> Vec<u64>,
) -> usize {
    match node {
        Node::Atom(atom) => {
            let own = *atom;
            *atom = number(own);
            own
        }
        Node::Parts { parts, .. } => {
            let atoms = parts.iter_mut().map(|part| resolve(part, depth, number, radices));
            atoms.fold(0, |_, atom| atom)
        }
        Node::Quantified { values, inner, .. } => {
            let atom = resolve(inner, depth + 1, number, radices);
            *values = radices(atom).get(depth).map_or(0, |&radix| radix as usize);
            atom
        }
    }
}

impl Distance {
    /// The distance of a state in which these goals hold.
    pub(crate) fn of(&self, reached: &[bool]) -> u32 {
        self.root.distance(reached, 0)
    }

    /// The distance of a state in which no atom holds.
    pub(crate) fn farthest(&self, goals: usize) -> u32 {
        self.of(&vec![false; goals])
    }
}

impl Node {
    /// The distance, with variables around it at the values that `instance` stands for.
    fn distance(&self, reached: &[bool], instance: usize) -> u32 {
        let combined = |all: bool, distances: &mut dyn Iterator<Item = u32>| match all {
            true => distances.fold(0, u32::saturating_add),
            // Of no values none is near.
            false => distances.min().unwrap_or(u32::MAX / 2),
        };
        match self {
            Node::Atom(first) => {
                u32::from(!reached.get(first + instance).copied().unwrap_or(false))
            }
            Node::Parts { all, parts } => {
                combined(*all, &mut parts.iter().map(|part| part.distance(reached, instance)))
            }
            Node::Quantified { all, values, inner } => {
                let value = |value: usize| inner.distance(reached, instance * values + value);
                combined(*all, &mut (0..*values).map(value))
            }
        }
    }
}
