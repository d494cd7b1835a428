//! Expressions and statements rebuilt from rebuilt parts: what a transformation does not look at
//! stays as it is.

use crate::ast::{
    Domain, Expression, ExpressionKind, MultisetFilter, Quantifier, Statement, StatementKind,
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

/// A part of a statement that may be replaced.
pub enum Part<'a> {
    /// One of its own expressions.
    Expression(&'a mut Expression),
    /// One of its bodies.
    Body(&'a mut Vec<Statement>),
}

/// The expressions and bodies of a statement, in the order of the source.
pub fn parts_mut(whole: &mut Statement) -> Vec<Part<'_>> {
    use Part::{Body, Expression as Own};
    match &mut whole.kind {
        StatementKind::Assign { target, value } => vec![Own(target), Own(value)],
        StatementKind::If { branches, otherwise } => {
            let branches = branches.iter_mut();
            let each = branches.flat_map(|each| [Own(&mut each.condition), Body(&mut each.body)]);
            each.chain(otherwise.as_mut().map(Body)).collect()
        }
        StatementKind::Switch { value, cases, otherwise } => {
            let each = cases
                .iter_mut()
                .flat_map(|case| case.values.iter_mut().map(Own).chain([Body(&mut case.body)]));
            [Own(value)].into_iter().chain(each).chain(otherwise.as_mut().map(Body)).collect()
        }
        StatementKind::For { quantifiers, body } => {
            let bounds = quantifiers.iter_mut().flat_map(bounds_mut).map(Own);
            bounds.chain([Body(body)]).collect()
        }
        StatementKind::While { condition, body } => vec![Own(condition), Body(body)],
        StatementKind::Alias { aliases, body } => {
            let values = aliases.iter_mut().map(|alias| Own(&mut alias.value));
            values.chain([Body(body)]).collect()
        }
        StatementKind::Call(call) => call.arguments.iter_mut().map(Own).collect(),
        StatementKind::Return(value) => value.iter_mut().map(Own).collect(),
        StatementKind::Clear(place) | StatementKind::Undefine(place) => vec![Own(place)],
        StatementKind::Property(property) => vec![Own(&mut property.condition)],
        StatementKind::Put(value) => vec![Own(value)],
        StatementKind::MultisetAdd { value, multiset } => vec![Own(value), Own(multiset)],
        StatementKind::MultisetRemove { position, multiset } => vec![Own(position), Own(multiset)],
        StatementKind::MultisetRemoveWhere(filter) => {
            vec![Own(&mut filter.multiset), Own(&mut filter.condition)]
        }
        StatementKind::Error(_) | StatementKind::PutText(_) => Vec::new(),
    }
}

/// The bodies of a statement, in the order of the source.
pub fn bodies_mut(whole: &mut Statement) -> impl Iterator<Item = &mut Vec<Statement>> {
    parts_mut(whole).into_iter().filter_map(|part| match part {
        Part::Expression(_) => None,
        Part::Body(body) => Some(body),
    })
}

/// The expressions in the range that a variable goes through.
fn bounds_mut(quantifier: &mut Quantifier) -> Vec<&mut Expression> {
    match &mut quantifier.domain {
        Domain::Type(_) => Vec::new(),
        Domain::Range { from, to, by } => [from, to].into_iter().chain(by).collect(),
    }
}

/// Rebuilds a statement from rebuilt expressions and bodies, in the order of the source; it fails
/// for the first reason.
pub fn try_rebuilt_statement<E>(
    whole: &Statement,
    rebuild: &mut dyn FnMut(Part<'_>) -> Result<(), E>,
) -> Result<Statement, E> {
    let mut done = whole.clone();
    parts_mut(&mut done).into_iter().try_for_each(rebuild)?;
    Ok(done)
}

/// Rebuilds a statement from rebuilt bodies; its own expressions stay.
pub fn with_bodies<E>(
    whole: &Statement,
    mut rebuild: impl FnMut(&[Statement]) -> Result<Vec<Statement>, E>,
) -> Result<Statement, E> {
    try_rebuilt_statement(whole, &mut |part| {
        if let Part::Body(body) = part {
            *body = rebuild(body)?;
        }
        Ok(())
    })
}

/// Statements with every expression rebuilt.
pub fn rebuilt_statements(
    statements: &[Statement],
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Vec<Statement> {
    let mut done = statements.to_vec();
    for part in done.iter_mut().flat_map(parts_mut) {
        match part {
            Part::Expression(own) => *own = rebuild(own),
            Part::Body(body) => *body = rebuilt_statements(body, rebuild),
        }
    }
    done
}
