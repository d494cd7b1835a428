//! New pieces of syntax. Conditions are simplified where one side is `true` or `false`, which keeps
//! what transformations produce short; nothing else is.

use crate::ast::{
    BinaryOperator, Branch, Case, Domain, Expression, ExpressionKind, Name, Quantifier, Statement,
    StatementKind, Text, TypeExpression, TypeKind, UnaryOperator,
};
use crate::source::Span;

/// An expression of this kind.
pub fn expression(kind: ExpressionKind, span: Span) -> Expression {
    Expression { kind, span }
}

/// A name as an expression.
pub fn name(text: &str, span: Span) -> Expression {
    expression(ExpressionKind::Name(text.to_owned()), span)
}

/// A name where it is declared.
pub fn identifier(text: &str, span: Span) -> Name {
    Name { text: text.to_owned(), span }
}

/// A text in quotes, such as the name of a rule.
pub fn text(content: &str, span: Span) -> Text {
    Text { text: content.to_owned(), span }
}

/// A type by its name.
pub fn named_type(text: &str, span: Span) -> TypeExpression {
    TypeExpression { kind: TypeKind::Named(identifier(text, span)), span }
}

/// A variable bound to the values of a type.
pub fn quantifier(variable: &str, ty: TypeExpression) -> Quantifier {
    let span = ty.span;
    Quantifier { name: identifier(variable, span), domain: Domain::Type(ty), span }
}

/// `true` or `false`.
pub fn boolean(value: bool, span: Span) -> Expression {
    name(if value { "true" } else { "false" }, span)
}

/// `left op right`.
pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    expression(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span)
}

/// Whether a condition is the word `true`.
pub fn is_true(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Name(name) if name == "true")
}

/// Whether a condition is the word `false`.
pub fn is_false(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Name(name) if name == "false")
}

/// The negation, without a second `!` and with `=` and `!=` exchanged.
pub fn not(condition: Expression) -> Expression {
    let span = condition.span;
    if is_true(&condition) {
        return boolean(false, span);
    }
    if is_false(&condition) {
        return boolean(true, span);
    }
    match condition.kind {
        ExpressionKind::Unary(UnaryOperator::Not, inner) => *inner,
        ExpressionKind::Binary(BinaryOperator::Equal, left, right) => {
            expression(ExpressionKind::Binary(BinaryOperator::NotEqual, left, right), span)
        }
        ExpressionKind::Binary(BinaryOperator::NotEqual, left, right) => {
            expression(ExpressionKind::Binary(BinaryOperator::Equal, left, right), span)
        }
        kind => expression(
            ExpressionKind::Unary(UnaryOperator::Not, Box::new(expression(kind, span))),
            span,
        ),
    }
}

/// `left & right`.
pub fn and(left: Expression, right: Expression) -> Expression {
    if is_true(&left) || is_false(&right) {
        return right;
    }
    if is_true(&right) || is_false(&left) {
        return left;
    }
    binary(BinaryOperator::And, left, right)
}

/// `left | right`.
pub fn or(left: Expression, right: Expression) -> Expression {
    if is_false(&left) || is_true(&right) {
        return right;
    }
    if is_false(&right) || is_true(&left) {
        return left;
    }
    binary(BinaryOperator::Or, left, right)
}

/// `left -> right`.
pub fn implies(left: Expression, right: Expression) -> Expression {
    if is_true(&left) || is_true(&right) {
        return right;
    }
    if is_false(&left) {
        return boolean(true, left.span);
    }
    if is_false(&right) {
        return not(left);
    }
    binary(BinaryOperator::Implies, left, right)
}

/// `forall` or `exists`. A quantifier over a range may be empty, so that its condition does not decide.
pub fn quantified(all: bool, quantifiers: Vec<Quantifier>, condition: Expression) -> Expression {
    let span = condition.span;
    let is_settled = if all { is_true(&condition) } else { is_false(&condition) };
    let is_other = if all { is_false(&condition) } else { is_true(&condition) };
    let is_never_empty = |each: &Quantifier| matches!(each.domain, Domain::Type(_));
    let is_same = is_settled || is_other && quantifiers.iter().all(is_never_empty);
    if quantifiers.is_empty() || is_same {
        return condition;
    }
    let condition = Box::new(condition);
    expression(ExpressionKind::Quantified { all, quantifiers, condition }, span)
}

/// `forall`, one quantifier at a time, as every tool accepts.
pub fn nested(quantifiers: &[Quantifier], inner: Expression) -> Expression {
    quantifiers.iter().rev().fold(inner, |inner, each| quantified(true, vec![each.clone()], inner))
}

/// `array[at]`.
pub fn index(array: Expression, at: Expression) -> Expression {
    let span = array.span.to(at.span);
    expression(ExpressionKind::Index(Box::new(array), Box::new(at)), span)
}

/// `record.field`.
pub fn field(record: Expression, field: &str) -> Expression {
    let span = record.span;
    expression(ExpressionKind::Field(Box::new(record), identifier(field, span)), span)
}

/// A statement of this kind.
pub fn statement(kind: StatementKind, span: Span) -> Statement {
    Statement { kind, span }
}

/// `target := value`.
pub fn assign(target: Expression, value: Expression, span: Span) -> Statement {
    statement(StatementKind::Assign { target, value }, span)
}

/// The cases of a `switch` as branches of an `if`.
pub fn as_branches(value: &Expression, cases: &[Case]) -> Vec<Branch> {
    let equal = |other: &Expression| binary(BinaryOperator::Equal, value.clone(), other.clone());
    let branch = |case: &Case| {
        let any = case.values.iter().map(equal).reduce(or);
        let condition = any.unwrap_or_else(|| boolean(false, case.span));
        Branch { condition, body: case.body.clone() }
    };
    cases.iter().map(branch).collect()
}

/// `if condition then … else …`, or the part that is left of it.
pub fn when(
    condition: Expression,
    then: Vec<Statement>,
    otherwise: Vec<Statement>,
    span: Span,
) -> Vec<Statement> {
    if is_true(&condition) || (then.is_empty() && otherwise.is_empty()) {
        return then;
    }
    if is_false(&condition) {
        return otherwise;
    }
    let (condition, then, otherwise) = match then.is_empty() {
        true => (not(condition), otherwise, Vec::new()),
        false => (condition, then, otherwise),
    };
    let otherwise = (!otherwise.is_empty()).then_some(otherwise);
    let branches = vec![Branch { condition, body: then }];
    vec![statement(StatementKind::If { branches, otherwise }, span)]
}

/// A name that begins like this and that is not taken.
pub fn not_taken(stem: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut wish = stem.to_owned();
    let mut number = 2;
    while is_taken(&wish) {
        wish = format!("{stem}_{number}");
        number += 1;
    }
    wish
}
