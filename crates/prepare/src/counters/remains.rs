//! Checks that, once counters are sets, only the size of the scalarset depends on the number of
//! processors. Any other use is refused: bounds of types and loops, and expressions.

use std::collections::HashSet;

use murphi::ast::{
    Body, Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Quantifier,
    StatementKind, TypeExpression, TypeKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{Flattened, each_part, each_statement, own_expressions};

use super::Result;

/// Refuses uses of these constants outside the type of processors.
pub(super) fn nothing_depends_on(
    sized: &HashSet<String>,
    declarations: &[Declaration],
    flattened: &Flattened,
    processor: &str,
) -> Result<()> {
    let mut found: Option<Span> = None;
    each_use(declarations, flattened, processor, &mut |part| {
        if let ExpressionKind::Name(name) = &part.kind
            && sized.contains(name)
        {
            found.get_or_insert(part.span);
        }
    });
    let Some(span) = found else { return Ok(()) };
    let message = "this depends on the number of processors, but the proof is for any number";
    let help = "only the size of the scalarset, and counters of processors of type `0..N`, may \
                depend on it";
    Err(Diagnostic::error(span, message).help(help))
}

/// Visits every expression of a program, except constants and the size of the scalarset.
fn each_use(
    declarations: &[Declaration],
    flattened: &Flattened,
    processor: &str,
    visit: &mut dyn FnMut(&Expression),
) {
    for declaration in declarations {
        match &declaration.kind {
            DeclarationKind::Type { names, definition }
                if names.iter().all(|name| name.text != processor) =>
            {
                each_bound(definition, visit);
            }
            DeclarationKind::Variable(variables) => each_bound(&variables.ty, visit),
            _ => {}
        }
    }
    for rule in &flattened.rules {
        each_domain(&rule.quantifiers, visit);
        rule.guard.iter().for_each(|guard| each_part_and_domain(guard, visit));
        each_of_body(&rule.body, visit);
    }
    for start in &flattened.start_states {
        each_domain(&start.quantifiers, visit);
        each_of_body(&start.item.1, visit);
    }
    for property in &flattened.properties {
        each_domain(&property.quantifiers, visit);
        each_part_and_domain(&property.item.condition, visit);
    }
}

/// Visits the bounds of ranges and sizes in a type.
fn each_bound(ty: &TypeExpression, visit: &mut dyn FnMut(&Expression)) {
    match &ty.kind {
        TypeKind::Range(low, high) => {
            each_part(low, visit);
            each_part(high, visit);
        }
        TypeKind::Record(fields) => fields.iter().for_each(|field| each_bound(&field.ty, visit)),
        TypeKind::Array { index, element } => {
            each_bound(index, visit);
            each_bound(element, visit);
        }
        TypeKind::Multiset { capacity, element } => {
            each_part(capacity, visit);
            each_bound(element, visit);
        }
        TypeKind::Scalarset(size) => each_part(size, visit),
        TypeKind::Union(members) => members.iter().for_each(|member| each_bound(member, visit)),
        _ => {}
    }
}

/// Visits every expression in the types and ranges of variables.
fn each_domain(quantifiers: &[Quantifier], visit: &mut dyn FnMut(&Expression)) {
    for quantifier in quantifiers {
        match &quantifier.domain {
            Domain::Type(ty) => each_bound(ty, visit),
            Domain::Range { from, to, by } => {
                [from, to].into_iter().chain(by).for_each(|bound| each_part(bound, visit));
            }
        }
    }
}

/// Visits every part of an expression, and the types of its bound variables.
fn each_part_and_domain(whole: &Expression, visit: &mut dyn FnMut(&Expression)) {
    each_part(whole, &mut |part| {
        visit(part);
        if let ExpressionKind::Quantified { quantifiers, .. } = &part.kind {
            each_domain(quantifiers, visit);
        }
    });
}

/// Visits every expression of a rule, and the types of its variables.
fn each_of_body(body: &Body, visit: &mut dyn FnMut(&Expression)) {
    for declaration in &body.declarations {
        if let DeclarationKind::Variable(variables) = &declaration.kind {
            each_bound(&variables.ty, visit);
        }
    }
    each_statement(&body.statements, &mut |statement| {
        own_expressions(statement).into_iter().for_each(|part| each_part_and_domain(part, visit));
        if let StatementKind::For { quantifiers, .. } = &statement.kind {
            each_domain(quantifiers, visit);
        }
    });
}
