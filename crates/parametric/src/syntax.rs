//! Small pieces of syntax: making nodes, and going through the ones that are there.

use murphi::ast::{
    BinaryOperator, Branch, Case, Domain, Expression, ExpressionKind, MultisetFilter, Name,
    Quantifier, Statement, StatementKind, Text, TypeExpression, TypeKind, UnaryOperator,
};
use murphi::source::Span;

pub(crate) fn expression(kind: ExpressionKind, span: Span) -> Expression {
    Expression { kind, span }
}

pub(crate) fn name(text: &str, span: Span) -> Expression {
    expression(ExpressionKind::Name(text.to_owned()), span)
}

pub(crate) fn identifier(text: &str, span: Span) -> Name {
    Name { text: text.to_owned(), span }
}

pub(crate) fn text(content: &str, span: Span) -> Text {
    Text { text: content.to_owned(), span }
}

pub(crate) fn named_type(text: &str, span: Span) -> TypeExpression {
    TypeExpression { kind: TypeKind::Named(identifier(text, span)), span }
}

pub(crate) fn quantifier(variable: &str, ty: TypeExpression) -> Quantifier {
    let span = ty.span;
    Quantifier { name: identifier(variable, span), domain: Domain::Type(ty), span }
}

pub(crate) fn boolean(value: bool, span: Span) -> Expression {
    name(if value { "true" } else { "false" }, span)
}

pub(crate) fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    expression(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span)
}

pub(crate) fn is_true(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Name(name) if name == "true")
}

pub(crate) fn is_false(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Name(name) if name == "false")
}

pub(crate) fn not(condition: Expression) -> Expression {
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

pub(crate) fn and(left: Expression, right: Expression) -> Expression {
    if is_true(&left) || is_false(&right) {
        return right;
    }
    if is_true(&right) || is_false(&left) {
        return left;
    }
    binary(BinaryOperator::And, left, right)
}

pub(crate) fn or(left: Expression, right: Expression) -> Expression {
    if is_false(&left) || is_true(&right) {
        return right;
    }
    if is_false(&right) || is_true(&left) {
        return left;
    }
    binary(BinaryOperator::Or, left, right)
}

pub(crate) fn implies(left: Expression, right: Expression) -> Expression {
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

pub(crate) fn quantified(
    all: bool,
    quantifiers: Vec<Quantifier>,
    condition: Expression,
) -> Expression {
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

pub(crate) fn index(array: Expression, at: Expression) -> Expression {
    let span = array.span.to(at.span);
    expression(ExpressionKind::Index(Box::new(array), Box::new(at)), span)
}

pub(crate) fn field(record: Expression, field: &str) -> Expression {
    let span = record.span;
    expression(ExpressionKind::Field(Box::new(record), identifier(field, span)), span)
}

pub(crate) fn statement(kind: StatementKind, span: Span) -> Statement {
    Statement { kind, span }
}

pub(crate) fn assign(target: Expression, value: Expression, span: Span) -> Statement {
    statement(StatementKind::Assign { target, value }, span)
}

pub(crate) fn when(
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
pub(crate) fn not_taken(stem: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut wish = stem.to_owned();
    let mut number = 2;
    while is_taken(&wish) {
        wish = format!("{stem}_{number}");
        number += 1;
    }
    wish
}

/// Whether an expression designates a place, or is the name of a value.
pub(crate) fn is_place(whole: &Expression) -> bool {
    matches!(
        whole.kind,
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..)
    )
}

/// The name at the root of a designator.
pub(crate) fn root(place: &Expression) -> Option<&str> {
    match &place.kind {
        ExpressionKind::Name(name) => Some(name),
        ExpressionKind::Field(inner, _) | ExpressionKind::Index(inner, _) => root(inner),
        _ => None,
    }
}

/// Calls `visit` for an expression and all its parts, from the outside in.
pub(crate) fn each_part(expression: &Expression, visit: &mut dyn FnMut(&Expression)) {
    visit(expression);
    for part in parts(expression) {
        each_part(part, visit);
    }
}

/// The expressions that an expression consists of.
pub(crate) fn parts(expression: &Expression) -> Vec<&Expression> {
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
pub(crate) fn names(expression: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    each_part(expression, &mut |part| match &part.kind {
        ExpressionKind::Name(name) => found.push(name.clone()),
        ExpressionKind::Quantified { quantifiers, .. } => {
            found.extend(quantifiers.iter().map(|quantifier| quantifier.name.text.clone()));
        }
        _ => {}
    });
    found
}

/// Calls `visit` for the statements and all that are in them.
pub(crate) fn each_statement(statements: &[Statement], visit: &mut dyn FnMut(&Statement)) {
    for statement in statements {
        visit(statement);
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|branch| each_statement(&branch.body, visit));
                otherwise.iter().for_each(|body| each_statement(body, visit));
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter().for_each(|case| each_statement(&case.body, visit));
                otherwise.iter().for_each(|body| each_statement(body, visit));
            }
            StatementKind::For { body, .. }
            | StatementKind::While { body, .. }
            | StatementKind::Alias { body, .. } => each_statement(body, visit),
            _ => {}
        }
    }
}

/// The expressions of a statement itself, not those of statements in it.
pub(crate) fn own_expressions(statement: &Statement) -> Vec<&Expression> {
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
pub(crate) fn each_expression(statements: &[Statement], visit: &mut dyn FnMut(&Expression)) {
    each_statement(statements, &mut |statement| {
        for expression in own_expressions(statement) {
            each_part(expression, visit);
        }
    });
}

/// The place that a statement itself changes.
pub(crate) fn changed(statement: &Statement) -> Option<&Expression> {
    match &statement.kind {
        StatementKind::Assign { target, .. } => Some(target),
        StatementKind::Clear(place) | StatementKind::Undefine(place) => Some(place),
        StatementKind::MultisetAdd { multiset, .. }
        | StatementKind::MultisetRemove { multiset, .. } => Some(multiset),
        StatementKind::MultisetRemoveWhere(filter) => Some(&filter.multiset),
        _ => None,
    }
}

/// Rebuilds an expression from rebuilt parts. `rebuild` is not called for the expression itself.
pub(crate) fn rebuilt(
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
pub(crate) fn try_rebuilt<E>(
    whole: &Expression,
    rebuild: &mut dyn FnMut(&Expression) -> Result<Expression, E>,
) -> Result<Expression, E> {
    let mut problem = None;
    let done = rebuilt(whole, &mut or_as_it_is(rebuild, &mut problem));
    problem.map_or(Ok(done), Err)
}

/// Rebuilds a statement where that may fail for an expression: then it fails for the first reason.
pub(crate) fn try_rebuilt_statement<E>(
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
pub(crate) fn rebuilt_statements(
    statements: &[Statement],
    rebuild: &mut dyn FnMut(&Expression) -> Expression,
) -> Vec<Statement> {
    statements.iter().map(|statement| rebuilt_statement(statement, rebuild)).collect()
}

/// A statement with every expression in it rebuilt.
pub(crate) fn rebuilt_statement(
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
