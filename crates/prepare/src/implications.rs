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

use murphi::ast::{BinaryOperator, Expression, ExpressionKind, Statement, UnaryOperator};
use murphi::transform::{Flattened, and, implies, not, rebuilt, rebuilt_statements};

/// Writes comparisons of conditions as implications.
pub(crate) fn comparisons_to_implications(flattened: &mut Flattened) {
    let done = |statements: &[Statement]| rebuilt_statements(statements, &mut |part| implied(part));
    for rule in &mut flattened.rules {
        rule.guard = rule.guard.as_ref().map(implied);
        rule.body.statements = done(&rule.body.statements);
    }
    for start in &mut flattened.start_states {
        start.item.1.statements = done(&start.item.1.statements);
    }
    for property in &mut flattened.properties {
        property.item.condition = implied(&property.item.condition);
    }
}

fn implied(whole: &Expression) -> Expression {
    let whole = rebuilt(whole, &mut implied);
    let ExpressionKind::Binary(operator, left, right) = &whole.kind else { return whole };
    let is_equal = match operator {
        BinaryOperator::Equal => true,
        BinaryOperator::NotEqual => false,
        _ => return whole,
    };
    if !is_condition(left) && !is_condition(right) || is_number(left) || is_number(right) {
        return whole;
    }
    let left = (**left).clone();
    let right = if is_equal { (**right).clone() } else { not((**right).clone()) };
    and(implies(left.clone(), right.clone()), implies(right, left))
}

/// Whether this is evidently a number: `&` and `|` are operators on numbers as well.
fn is_number(whole: &Expression) -> bool {
    use BinaryOperator as B;
    match &whole.kind {
        ExpressionKind::Integer(_) | ExpressionKind::MultisetCount(_) => true,
        ExpressionKind::Unary(operator, _) => *operator != UnaryOperator::Not,
        ExpressionKind::Binary(B::And | B::Or, left, right) => is_number(left) || is_number(right),
        ExpressionKind::Binary(operator, ..) => matches!(
            operator,
            B::Add
                | B::Subtract
                | B::Multiply
                | B::Divide
                | B::Remainder
                | B::Xor
                | B::ShiftLeft
                | B::ShiftRight
        ),
        _ => false,
    }
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
