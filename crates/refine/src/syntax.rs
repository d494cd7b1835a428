//! Helpers for expressions: the names that occur in them, and how to combine them.

use murphi::ast::{BinaryOperator, Domain, Expression, ExpressionKind, UnaryOperator};

use super::vocabulary::plain;

/// Calls `found` for every name in an expression, fields and called functions aside.
pub(crate) fn each_name(expression: &Expression, found: &mut dyn FnMut(&str)) {
    match &expression.kind {
        ExpressionKind::Name(name) => found(name),
        ExpressionKind::Integer(_) | ExpressionKind::Real(_) | ExpressionKind::Undefined => {}
        ExpressionKind::Field(inner, _)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::IsUndefined(inner)
        | ExpressionKind::IsMember(inner, _) => each_name(inner, found),
        ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
            each_name(left, found);
            each_name(right, found);
        }
        ExpressionKind::Conditional(condition, yes, no) => {
            for part in [condition, yes, no] {
                each_name(part, found);
            }
        }
        ExpressionKind::Call(call) => {
            for argument in &call.arguments {
                each_name(argument, found);
            }
        }
        ExpressionKind::Quantified { quantifiers, condition, .. } => {
            for quantifier in quantifiers {
                if let Domain::Range { from, to, by } = &quantifier.domain {
                    for part in [Some(from), Some(to), by.as_ref()].into_iter().flatten() {
                        each_name(part, found);
                    }
                }
            }
            each_name(condition, found);
        }
        ExpressionKind::MultisetCount(filter) => {
            each_name(&filter.multiset, found);
            each_name(&filter.condition, found);
        }
    }
}

/// `left op right`.
pub(crate) fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    plain(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)))
}

/// `!inner`.
pub(crate) fn not(inner: Expression) -> Expression {
    plain(ExpressionKind::Unary(UnaryOperator::Not, Box::new(inner)))
}

/// `isundefined(inner)`.
pub(crate) fn is_undefined(inner: Expression) -> Expression {
    plain(ExpressionKind::IsUndefined(Box::new(inner)))
}

/// All parts with `operator` between them; `None` if there are none.
pub(crate) fn joined(operator: BinaryOperator, parts: Vec<Expression>) -> Option<Expression> {
    parts.into_iter().reduce(|left, right| binary(operator, left, right))
}
