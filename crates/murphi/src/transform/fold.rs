//! Expressions and statements rebuilt from rebuilt parts: what a transformation does not look at
//! stays as it is.

use crate::ast::{
    Branch, Case, Domain, Expression, ExpressionKind, MultisetFilter, Quantifier, Statement,
    StatementKind,
};

/// Rebuilds an expression from rebuilt parts. `rebuild` is not called for the expression itself.
pub fn rebuilt(
    whole: &Expression,
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Expression {
    let span = whole.span;
    let mut boxed = |part: &Expression| Box::new(rebuild(part));
    let kind = match &whole.kind {
        kind @ (ExpressionKind::Integer(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Undefined) => kind.clone(),
        ExpressionKind::Field(inner, field) => ExpressionKind::Field(boxed(inner), field.clone()),
        ExpressionKind::Index(array, at) => ExpressionKind::Index(boxed(array), boxed(at)),
        ExpressionKind::Unary(operator, inner) => ExpressionKind::Unary(*operator, boxed(inner)),
        ExpressionKind::Binary(operator, left, right) => {
            ExpressionKind::Binary(*operator, boxed(left), boxed(right))
        }
        ExpressionKind::Conditional(condition, left, right) => {
            ExpressionKind::Conditional(boxed(condition), boxed(left), boxed(right))
        }
        ExpressionKind::IsUndefined(place) => ExpressionKind::IsUndefined(boxed(place)),
        ExpressionKind::IsMember(value, ty) => ExpressionKind::IsMember(boxed(value), ty.clone()),
        ExpressionKind::Call(call) => {
            let mut call = call.clone();
            call.arguments = call.arguments.iter().map(&mut *rebuild).collect();
            ExpressionKind::Call(call)
        }
        ExpressionKind::Quantified { all, quantifiers, condition } => {
            let quantifiers = quantifiers.iter().map(|each| domain(each, rebuild)).collect();
            let condition = Box::new(rebuild(condition));
            ExpressionKind::Quantified { all: *all, quantifiers, condition }
        }
        ExpressionKind::MultisetCount(filter) => {
            ExpressionKind::MultisetCount(filtered(filter, rebuild))
        }
    };
    Expression { kind, span }
}

fn domain(
    quantifier: &Quantifier,
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Quantifier {
    let domain = match &quantifier.domain {
        Domain::Type(ty) => Domain::Type(ty.clone()),
        Domain::Range { from, to, by } => {
            let (from, to) = (rebuild(from), rebuild(to));
            Domain::Range { from, to, by: by.as_ref().map(&mut *rebuild) }
        }
    };
    Quantifier { name: quantifier.name.clone(), domain, span: quantifier.span }
}

fn filtered(
    filter: &MultisetFilter,
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> MultisetFilter {
    MultisetFilter {
        name: filter.name.clone(),
        multiset: Box::new(rebuild(&filter.multiset)),
        condition: Box::new(rebuild(&filter.condition)),
    }
}

/// Rebuilds an expression where that may fail for a part: then it fails for the first reason.
pub fn try_rebuilt<E>(
    whole: &Expression,
    rebuild: &mut dyn FnMut(&Expression) -> Result<Expression, E>,
) -> Result<Expression, E> {
    let mut problem = None;
    let done = rebuilt(whole, &mut or_as_it_is(rebuild, &mut problem));
    problem.map_or(Ok(done), Err)
}

/// Rebuilds a statement where that may fail for an expression: then it fails for the first reason.
pub fn try_rebuilt_statement<E>(
    whole: &Statement,
    rebuild: &mut dyn FnMut(&Expression) -> Result<Expression, E>,
) -> Result<Statement, E> {
    let mut problem = None;
    let done = rebuilt_statement(whole, &mut or_as_it_is(rebuild, &mut problem));
    problem.map_or(Ok(done), Err)
}

/// Leaves what cannot be rebuilt as it is, and notes the first reason.
fn or_as_it_is<E>(
    rebuild: &mut dyn FnMut(&Expression) -> Result<Expression, E>,
    problem: &mut Option<E>,
) -> impl FnMut(&Expression) -> Expression {
    move |part| {
        rebuild(part).unwrap_or_else(|found| {
            problem.get_or_insert(found);
            part.clone()
        })
    }
}

/// Statements with every expression rebuilt.
pub fn rebuilt_statements(
    statements: &[Statement],
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Vec<Statement> {
    statements.iter().map(|statement| rebuilt_statement(statement, rebuild)).collect()
}

/// A statement with every expression in it rebuilt.
pub fn rebuilt_statement(
    whole: &Statement,
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Statement {
    let body = |statements: &[Statement], rebuild: &mut dyn FnMut(&Expression) -> Expression| {
        rebuilt_statements(statements, rebuild)
    };
    let kind = match &whole.kind {
        StatementKind::Assign { target, value } => {
            StatementKind::Assign { target: rebuild(target), value: rebuild(value) }
        }
        StatementKind::If { branches, otherwise } => {
            let branches = branches.iter().map(|branch| Branch {
                condition: rebuild(&branch.condition),
                body: body(&branch.body, rebuild),
            });
            let branches = branches.collect();
            let otherwise = otherwise.as_ref().map(|statements| body(statements, rebuild));
            StatementKind::If { branches, otherwise }
        }
        StatementKind::Switch { value, cases, otherwise } => {
            let value = rebuild(value);
            let cases = cases.iter().map(|case| Case {
                values: case.values.iter().map(&mut *rebuild).collect(),
                body: body(&case.body, rebuild),
                span: case.span,
            });
            let cases = cases.collect();
            let otherwise = otherwise.as_ref().map(|statements| body(statements, rebuild));
            StatementKind::Switch { value, cases, otherwise }
        }
        StatementKind::For { quantifiers, body: inner } => StatementKind::For {
            quantifiers: quantifiers.iter().map(|each| domain(each, rebuild)).collect(),
            body: body(inner, rebuild),
        },
        StatementKind::While { condition, body: inner } => {
            StatementKind::While { condition: rebuild(condition), body: body(inner, rebuild) }
        }
        StatementKind::Alias { aliases, body: inner } => {
            let mut aliases = aliases.clone();
            for alias in &mut aliases {
                alias.value = rebuild(&alias.value);
            }
            StatementKind::Alias { aliases, body: body(inner, rebuild) }
        }
        StatementKind::Call(call) => {
            let mut call = call.clone();
            call.arguments = call.arguments.iter().map(&mut *rebuild).collect();
            StatementKind::Call(call)
        }
        StatementKind::Return(value) => StatementKind::Return(value.as_ref().map(rebuild)),
        StatementKind::Clear(place) => StatementKind::Clear(rebuild(place)),
        StatementKind::Undefine(place) => StatementKind::Undefine(rebuild(place)),
        StatementKind::Property(property) => {
            let mut property = property.clone();
            property.condition = rebuild(&property.condition);
            StatementKind::Property(property)
        }
        StatementKind::Put(value) => StatementKind::Put(rebuild(value)),
        StatementKind::MultisetAdd { value, multiset } => {
            StatementKind::MultisetAdd { value: rebuild(value), multiset: rebuild(multiset) }
        }
        StatementKind::MultisetRemove { position, multiset } => StatementKind::MultisetRemove {
            position: rebuild(position),
            multiset: rebuild(multiset),
        },
        StatementKind::MultisetRemoveWhere(filter) => {
            StatementKind::MultisetRemoveWhere(filtered(filter, rebuild))
        }
        kind @ (StatementKind::Error(_) | StatementKind::PutText(_)) => kind.clone(),
    };
    Statement { kind, span: whole.span }
}
