//! Conditions that are not compared with each other.
//!
//! A comparison like `flag = exists p: P do … end` is written as two implications: then it is known
//! on which side of a claim each part stands.
//!
//! Transformation T6 of docs/abstraction.md.
//!
//! ```text
//! before: busy = exists p: P do wants[p] end
//! after:  (busy -> exists p: P do wants[p] end) & ((exists p: P do wants[p] end) -> busy)
//! ```

use std::borrow::Cow;

use murphi::ast::{
    BinaryOperator, Body, Expression, ExpressionKind, Quantifier, StatementKind, UnaryOperator,
};
use murphi::transform::{
    Flattened, Scope, and, bind, bind_variables, each_statement, implies, not, rebuilt,
    rebuilt_statements,
};

use crate::types::ProcessorTypes;

/// Replaces comparisons of conditions by implications.
pub(crate) fn comparisons_to_implications(flattened: &mut Flattened, types: &ProcessorTypes) {
    let around = |quantifiers: &[Quantifier]| {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        scope
    };
    for rule in &mut flattened.rules {
        let scope = around(&rule.quantifiers);
        rule.guard = rule.guard.as_ref().map(|guard| implied(types, &scope, guard));
        in_body(types, scope, &mut rule.body);
    }
    for start in &mut flattened.start_states {
        in_body(types, around(&start.quantifiers), &mut start.item.1);
    }
    for property in &mut flattened.properties {
        let scope = around(&property.quantifiers);
        property.item.condition = implied(types, &scope, &property.item.condition);
    }
}

fn in_body(types: &ProcessorTypes, mut scope: Scope, body: &mut Body) {
    bind_variables(&mut scope, &body.declarations);
    each_statement(&body.statements, &mut |statement| {
        if let StatementKind::For { quantifiers, .. } = &statement.kind {
            bind(&mut scope, quantifiers);
        }
    });
    body.statements =
        rebuilt_statements(&body.statements, &mut |part| implied(types, &scope, part));
}

fn implied(types: &ProcessorTypes, scope: &Scope, whole: &Expression) -> Expression {
    let mut scope = Cow::Borrowed(scope);
    if let ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
        bind(scope.to_mut(), quantifiers);
    }
    let whole = rebuilt(whole, &mut |part| implied(types, &scope, part));
    let ExpressionKind::Binary(operator, left, right) = &whole.kind else { return whole };
    let is_equal = match operator {
        BinaryOperator::Equal => true,
        BinaryOperator::NotEqual => false,
        _ => return whole,
    };
    let is_number = |part: &Expression| types.is_number(&scope, part);
    if !is_condition(left) && !is_condition(right) || is_number(left) || is_number(right) {
        return whole;
    }
    let left = (**left).clone();
    let right = if is_equal { (**right).clone() } else { not((**right).clone()) };
    and(implies(left.clone(), right.clone()), implies(right, left))
}

fn is_condition(whole: &Expression) -> bool {
    use BinaryOperator as B;
    matches!(
        whole.kind,
        ExpressionKind::Quantified { .. }
            | ExpressionKind::Unary(UnaryOperator::Not, _)
            | ExpressionKind::Binary(
                B::And | B::Or | B::Implies | B::LogicalAnd | B::LogicalOr,
                ..
            )
    )
}
