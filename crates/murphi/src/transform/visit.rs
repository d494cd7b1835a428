//! Going through the parts of expressions and statements, from the outside in.

use crate::ast::{
    BinaryOperator, Domain, Expression, ExpressionKind, Quantifier, Statement, StatementKind,
};

/// Whether an expression designates a place, or is the name of a value.
pub fn is_place(whole: &Expression) -> bool {
    matches!(
        whole.kind,
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..)
    )
}

/// The name at the root of a designator.
pub fn root(place: &Expression) -> Option<&str> {
    match &place.kind {
        ExpressionKind::Name(name) => Some(name),
        ExpressionKind::Field(inner, _) | ExpressionKind::Index(inner, _) => root(inner),
        _ => None,
    }
}

/// Calls `visit` for an expression and all its parts, from the outside in.
pub fn each_part(expression: &Expression, visit: &mut dyn FnMut(&Expression)) {
    visit(expression);
    for part in parts(expression) {
        each_part(part, visit);
    }
}

/// The expressions that an expression consists of.
pub fn parts(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Integer(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Undefined => Vec::new(),
        ExpressionKind::Field(inner, _)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::IsUndefined(inner)
        | ExpressionKind::IsMember(inner, _) => vec![inner],
        ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
            vec![left, right]
        }
        ExpressionKind::Call(call) => call.arguments.iter().collect(),
        ExpressionKind::Conditional(condition, left, right) => vec![condition, left, right],
        ExpressionKind::Quantified { quantifiers, condition, .. } => {
            let mut parts: Vec<&Expression> = quantifiers.iter().flat_map(bounds).collect();
            parts.push(condition);
            parts
        }
        ExpressionKind::MultisetCount(filter) => vec![&filter.multiset, &filter.condition],
    }
}

fn bounds(quantifier: &Quantifier) -> Vec<&Expression> {
    match &quantifier.domain {
        Domain::Type(_) => Vec::new(),
        Domain::Range { from, to, by } => [from, to].into_iter().chain(by.as_ref()).collect(),
    }
}

/// All names in an expression, bound ones included.
pub fn names(expression: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    each_part(expression, &mut |part| match &part.kind {
        ExpressionKind::Name(name) => found.push(name.clone()),
        ExpressionKind::Quantified { quantifiers, .. } => {
            found.extend(quantifiers.iter().map(|quantifier| quantifier.name.text.clone()));
        }
        ExpressionKind::MultisetCount(filter) => found.push(filter.name.text.clone()),
        _ => {}
    });
    found
}

/// The parts of a condition that all must hold.
pub fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    match &condition.kind {
        ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::LogicalAnd, left, right) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        _ => vec![condition],
    }
}

/// The bodies of a statement, in the order of the source.
pub fn bodies(statement: &Statement) -> Vec<&[Statement]> {
    match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            let branches = branches.iter().map(|branch| branch.body.as_slice());
            branches.chain(otherwise.as_deref()).collect()
        }
        StatementKind::Switch { cases, otherwise, .. } => {
            let cases = cases.iter().map(|case| case.body.as_slice());
            cases.chain(otherwise.as_deref()).collect()
        }
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::Alias { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// All names in some statements, bound ones included.
pub fn names_in(statements: &[Statement]) -> Vec<String> {
    let mut found = Vec::new();
    each_statement(statements, &mut |statement| {
        own_expressions(statement).into_iter().for_each(|whole| found.extend(names(whole)));
        match &statement.kind {
            StatementKind::For { quantifiers, .. } => {
                found.extend(quantifiers.iter().map(|quantifier| quantifier.name.text.clone()));
            }
            StatementKind::MultisetRemoveWhere(filter) => found.push(filter.name.text.clone()),
            _ => {}
        }
    });
    found
}

/// Calls `visit` for the statements and all that are in them.
pub fn each_statement(statements: &[Statement], visit: &mut dyn FnMut(&Statement)) {
    for statement in statements {
        visit(statement);
        bodies(statement).into_iter().for_each(|body| each_statement(body, visit));
    }
}

/// Whether one of the statements, or of those in them, is of a kind.
pub fn any_statement(statements: &[Statement], is: &dyn Fn(&Statement) -> bool) -> bool {
    statements.iter().any(|statement| {
        is(statement) || bodies(statement).into_iter().any(|body| any_statement(body, is))
    })
}

/// The expressions of a statement itself, not those of statements in it.
pub fn own_expressions(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Assign { target, value } => vec![target, value],
        StatementKind::If { branches, .. } => {
            branches.iter().map(|branch| &branch.condition).collect()
        }
        StatementKind::Switch { value, cases, .. } => {
            let values = cases.iter().flat_map(|case| &case.values);
            std::iter::once(value).chain(values).collect()
        }
        StatementKind::For { quantifiers, .. } => quantifiers.iter().flat_map(bounds).collect(),
        StatementKind::While { condition, .. } => vec![condition],
        StatementKind::Alias { aliases, .. } => aliases.iter().map(|alias| &alias.value).collect(),
        StatementKind::Call(call) => call.arguments.iter().collect(),
        StatementKind::Return(value) => value.iter().collect(),
        StatementKind::Clear(place) | StatementKind::Undefine(place) => vec![place],
        StatementKind::Property(property) => vec![&property.condition],
        StatementKind::Put(value) => vec![value],
        StatementKind::MultisetAdd { value, multiset } => vec![value, multiset],
        StatementKind::MultisetRemove { position, multiset } => vec![position, multiset],
        StatementKind::MultisetRemoveWhere(filter) => vec![&filter.multiset, &filter.condition],
        StatementKind::Error(_) | StatementKind::PutText(_) => Vec::new(),
    }
}

/// Every expression and every part of one in some statements.
pub fn each_expression(statements: &[Statement], visit: &mut dyn FnMut(&Expression)) {
    each_statement(statements, &mut |statement| {
        for expression in own_expressions(statement) {
            each_part(expression, visit);
        }
    });
}

/// The place that a statement itself changes.
pub fn changed(statement: &Statement) -> Option<&Expression> {
    match &statement.kind {
        StatementKind::Assign { target, .. } => Some(target),
        StatementKind::Clear(place) | StatementKind::Undefine(place) => Some(place),
        StatementKind::MultisetAdd { multiset, .. }
        | StatementKind::MultisetRemove { multiset, .. } => Some(multiset),
        StatementKind::MultisetRemoveWhere(filter) => Some(&filter.multiset),
        _ => None,
    }
}
