//! How a round of a loop writes a place, and which ways of writing commute.
//!
//! Two rounds that write a place in the same commuting manner leave the same behind in both orders,
//! and fail in both or in neither: a value that is the same in all rounds is in its range in all of
//! them or in none; a sum whose terms are not negative leaves its range in every order if it does in
//! one, since its last value is the greatest; a multiset has room for all new elements or not; an
//! extremum is looked at, defined or not, in every round. Whether two places are the same is reported by
//! their texts, which stand in one statement, and contain no call.

use super::path::{Meaning, Meanings, Path, meaning_of, path};
use crate::ir::{
    Assign, Expression, ExpressionKind, Model, Operator, Place, Simple, Statement, StatementKind,
    TypeId,
};
use crate::source::Span;

/// How a place is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WriteKind {
    /// It is given a value that may be another in each round.
    Assigned,
    /// It is given a value that is the same in all rounds.
    Uniform(Uniform),
    /// It is made undefined.
    Undefined,
    /// It is given its least value.
    Cleared,
    /// Something that is not negative is added.
    Up,
    /// Something that is not negative is subtracted.
    Down,
    Least,
    Greatest,
    Added,
    Removed,
}

/// A value that is the same in all rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Uniform {
    Constant(i64, TypeId),
    /// The value of this local of the code around.
    Outer(u32),
    /// What is at a place that is the same in all rounds, before any of them writes it. That one does
    /// is another matter: it is read.
    Place(Path),
}

impl WriteKind {
    /// Whether two rounds that write so leave the same behind in both orders.
    pub(super) fn commutes_with(&self, other: &WriteKind) -> bool {
        self == other && *self != WriteKind::Assigned
    }

    /// Whether what was there before has a part in what is there afterwards.
    pub(super) fn accumulates(&self) -> bool {
        match self {
            WriteKind::Assigned
            | WriteKind::Uniform(_)
            | WriteKind::Undefined
            | WriteKind::Cleared => false,
            WriteKind::Up | WriteKind::Down | WriteKind::Least | WriteKind::Greatest => true,
            WriteKind::Added | WriteKind::Removed => true,
        }
    }
}

/// The value of an expression, if it is evidently the same in all rounds.
pub(super) fn uniform(value: &Expression, meanings: &Meanings) -> Option<Uniform> {
    match &value.kind {
        ExpressionKind::Constant(constant) => Some(Uniform::Constant(*constant, value.ty)),
        ExpressionKind::Convert(inner) => uniform(inner, meanings),
        ExpressionKind::Read(place) => match (meaning_of(value, meanings), path(place, meanings)) {
            (Meaning::Outer(local), _) => Some(Uniform::Outer(local)),
            (_, Some(path)) => path.is_the_same_in_all_rounds().then_some(Uniform::Place(path)),
            _ => None,
        },
        _ => None,
    }
}

/// `v := v + e + …` and `v := v - e - …` with terms that are not negative: the manner, and the terms.
pub(super) fn accumulated<'m>(
    model: &Model,
    assign: &'m Assign,
) -> Option<(WriteKind, Vec<&'m Expression>)> {
    let is_target = |side: &Expression| is_place(model, side, &assign.target);
    let ExpressionKind::Binary(operator, ..) = &assign.value.kind else { return None };
    let (mut value, mut terms) = (&assign.value, Vec::new());
    while !is_target(value) {
        let (left, right) = match &value.kind {
            ExpressionKind::Binary(this, left, right) if this == operator => (left, right),
            _ => return None,
        };
        let swapped = *operator == Operator::Add && is_target(right);
        let (rest, term) = if swapped { (right, left) } else { (left, right) };
        terms.push(&**term);
        value = rest;
    }
    let manner = match operator {
        Operator::Add => WriteKind::Up,
        Operator::Subtract => WriteKind::Down,
        _ => return None,
    };
    terms.iter().all(|term| is_natural(model, term)).then_some((manner, terms))
}

/// `if e < v then v := e end`, which leaves the least in `v`, and the like.
pub(super) fn extremum<'m>(
    model: &Model,
    branches: &'m [(Expression, Vec<Statement>)],
    otherwise: &[Statement],
) -> Option<(WriteKind, &'m Assign)> {
    let [(condition, body)] = branches else { return None };
    let [Statement { kind: StatementKind::Assign(assign), .. }] = body.as_slice() else {
        return None;
    };
    let ExpressionKind::Binary(operator, left, right) = &condition.kind else { return None };
    let is_target = |side: &Expression| is_place(model, side, &assign.target);
    let is_value = |side: &Expression| same_text(model, side.span, assign.value.span);
    let value_is_left = match otherwise.is_empty() {
        true if is_value(left) && is_target(right) => true,
        true if is_target(left) && is_value(right) => false,
        _ => return None,
    };
    match (operator, value_is_left) {
        (Operator::Less | Operator::LessOrEqual, true)
        | (Operator::Greater | Operator::GreaterOrEqual, false) => Some((WriteKind::Least, assign)),
        (Operator::Less | Operator::LessOrEqual, false)
        | (Operator::Greater | Operator::GreaterOrEqual, true) => {
            Some((WriteKind::Greatest, assign))
        }
        _ => None,
    }
}

/// Whether an expression reads this place of the same statement.
fn is_place(model: &Model, expression: &Expression, place: &Place) -> bool {
    match &expression.kind {
        ExpressionKind::Read(read) => same_text(model, read.span, place.span),
        _ => false,
    }
}

/// Whether two pieces of one statement are the same, and call nothing.
fn same_text(model: &Model, left: Span, right: Span) -> bool {
    let text = |span: Span| &model.source.text[span.start as usize..span.end as usize];
    text(left) == text(right) && !text(left).contains('(')
}

/// Whether the value of an expression cannot be negative.
fn is_natural(model: &Model, expression: &Expression) -> bool {
    let natural = |part: &Expression| is_natural(model, part);
    match (&expression.kind, model.simple(expression.ty)) {
        (ExpressionKind::Constant(value), _) => *value >= 0,
        (ExpressionKind::MultisetCount { .. }, _) => true,
        (ExpressionKind::Conditional(_, yes, no), _) => natural(yes) && natural(no),
        (ExpressionKind::Binary(Operator::Add | Operator::Multiply, left, right), _) => {
            natural(left) && natural(right)
        }
        (_, Some(Simple::Range { low, .. })) => *low >= 0,
        _ => false,
    }
}
