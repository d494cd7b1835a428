//! A program in which each name means one thing where it is used, and in which conditions are not
//! compared with each other.
//!
//! Places are recognised by their text, so a variable that hides another one gets a name of its own.
//! A comparison like `flag = exists p: P do … end` is written as two implications: then it is known
//! on which side of a claim each part stands.

use murphi::ast::{BinaryOperator, Body, Expression, ExpressionKind, Statement, UnaryOperator};

use crate::rules::Flattened;
use crate::substitute::Substitution;
use crate::syntax::{and, implies, not, rebuilt, rebuilt_statements};
use crate::types::Types;

/// Gives variables that hide others names of their own.
pub(crate) fn names_apart(flattened: &mut Flattened, types: &Types) {
    let apart = |quantifiers: &[murphi::ast::Quantifier], body: Option<&Body>| {
        let mut apart = Substitution::default();
        apart.avoid(types.declared().cloned());
        apart.avoid(quantifiers.iter().map(|each| each.name.text.clone()));
        let declarations = body.into_iter().flat_map(|body| &body.declarations);
        for declaration in declarations {
            if let murphi::ast::DeclarationKind::Variable(variables) = &declaration.kind {
                apart.avoid(variables.names.iter().map(|name| name.text.clone()));
            }
        }
        apart
    };
    for rule in &mut flattened.rules {
        let apart = apart(&rule.quantifiers, Some(&rule.body));
        rule.guard = rule.guard.as_ref().map(|guard| apart.expression(guard));
        rule.body.statements = apart.statements(&rule.body.statements);
    }
    for start in &mut flattened.start_states {
        let apart = apart(&start.quantifiers, Some(&start.item.1));
        start.item.1.statements = apart.statements(&start.item.1.statements);
    }
    for property in &mut flattened.properties {
        let apart = apart(&property.quantifiers, None);
        property.item.condition = apart.expression(&property.item.condition);
    }
}

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
    if !is_condition(left) && !is_condition(right) {
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
