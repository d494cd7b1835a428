//! Flags of observers as errors.
//!
//! An observer that cannot follow sets a flag, and an invariant says that it is never set. When a
//! processor that is not concrete sets it, nothing is known of why: the same step is looked at where
//! that processor is concrete. Errors are handled so, hence setting the flag becomes one.
//!
//! Transformation T4 of docs/abstraction.md.
//!
//! ```text
//! before: failed := true;                     invariant "follows" !failed;
//! after:  error "follows";                    invariant "follows" !failed;
//! ```

use std::collections::HashSet;

use murphi::ast::{
    Expression, ExpressionKind, PropertyKind, Statement, StatementKind, UnaryOperator,
};
use murphi::transform::{
    Flattened, bodies_mut, changed, each_expression, each_part, each_statement, is_false, is_true,
    root, text,
};

use crate::types::ProcessorTypes;

/// Replaces an assignment to a flag by an error with the name of the invariant.
pub(crate) fn flags_to_errors(flattened: &mut Flattened, types: &ProcessorTypes) {
    let claims: Vec<(String, String)> = flattened.properties.iter().filter_map(claim).collect();
    for (flag, message) in claims {
        if types.is_global(&flag) && is_flag(flattened, &flag) {
            for rule in &mut flattened.rules {
                raise(&mut rule.body.statements, &flag, &message);
            }
        }
    }
}

/// The flag of an invariant `!flag`, and the invariant's name.
fn claim(property: &murphi::transform::Flat<murphi::ast::Property>) -> Option<(String, String)> {
    let item = &property.item;
    let ExpressionKind::Unary(UnaryOperator::Not, inner) = &item.condition.kind else {
        return None;
    };
    match (&inner.kind, item.kind, property.quantifiers.is_empty()) {
        (ExpressionKind::Name(flag), PropertyKind::Assertion, true) => {
            let message = item.message.as_ref().map_or(flag.clone(), |text| text.text.clone());
            Some((flag.clone(), message))
        }
        _ => None,
    }
}

/// Whether a variable is initially false, is only ever set to true, and is read by its invariant
/// alone.
fn is_flag(flattened: &Flattened, flag: &str) -> bool {
    let is_it =
        |place: &Expression| matches!(&place.kind, ExpressionKind::Name(name) if name == flag);
    let mut mentions = 0;
    let mut count = |part: &Expression| mentions += usize::from(is_it(part));
    for rule in &flattened.rules {
        each_expression(&rule.body.statements, &mut count);
        rule.guard.iter().for_each(|guard| each_part(guard, &mut count));
    }
    for start in &flattened.start_states {
        each_expression(&start.item.1.statements, &mut count);
    }
    let readers = flattened.properties.iter().filter(|property| {
        let mut found = false;
        each_part(&property.item.condition, &mut |part| found |= is_it(part));
        found
    });
    if readers.count() != 1 {
        return false;
    }
    let mut assignments = 0;
    let mut starts = HashSet::new();
    for rule in &flattened.rules {
        each_statement(&rule.body.statements, &mut |statement| {
            if let StatementKind::Assign { target, value } = &statement.kind {
                assignments += usize::from(is_it(target) && is_true(value));
            }
        });
    }
    for (number, start) in flattened.start_states.iter().enumerate() {
        each_statement(&start.item.1.statements, &mut |statement| {
            if let StatementKind::Assign { target, value } = &statement.kind
                && is_it(target)
                && is_false(value)
            {
                assignments += 1;
                starts.insert(number);
            }
        });
    }
    assignments == mentions && starts.len() == flattened.start_states.len()
}

fn raise(statements: &mut [Statement], flag: &str, message: &str) {
    for statement in statements {
        let is_set = matches!(statement.kind, StatementKind::Assign { .. })
            && changed(statement).and_then(root) == Some(flag);
        if is_set {
            statement.kind = StatementKind::Error(text(message, statement.span));
            continue;
        }
        bodies_mut(statement).for_each(|body| raise(body, flag, message));
    }
}
