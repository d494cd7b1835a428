//! Loops over processors whose rounds depend on each other.
//!
//! The concrete processors have their rounds first in the abstraction, and what the others do comes
//! after. That is the same as any other order only if no round reads what another one writes: each
//! may read what it has for itself (an element that the loop variable picks, if all writes of it do
//! the same) and what the loop does not change.
//!
//! The condition of transformation T12 of docs/abstraction.md.

use murphi::ast::{Expression, ExpressionKind, Statement};
use murphi::source::Span;
use murphi::transform::{changed, each_statement, own_expressions, parts};

use super::instance::{key, overlap};

/// Where a round may read what another round writes.
pub(super) fn dependence(variable: &str, body: &[Statement]) -> Option<Span> {
    let mut written: Vec<Expression> = Vec::new();
    let mut read: Vec<Expression> = Vec::new();
    each_statement(body, &mut |statement| {
        let target = changed(statement);
        written.extend(target.cloned());
        for each in own_expressions(statement) {
            match target.is_some_and(|target| std::ptr::eq(target, each)) {
                true => indices(each).into_iter().for_each(|at| places(at, &mut read)),
                false => places(each, &mut read),
            }
        }
    });
    let depends = |read: &&Expression| {
        let is_other =
            |write: &Expression| overlap(&key(read), &key(write)) && !is_own(variable, read, write);
        written.iter().any(is_other)
    };
    read.iter().find(depends).map(|read| read.span)
}

/// Whether the loop variable picks both at the same index.
fn is_own(variable: &str, read: &Expression, write: &Expression) -> bool {
    let picks =
        |at: &Expression| matches!(&at.kind, ExpressionKind::Name(name) if name == variable);
    let (read, write) = (indices(read), indices(write));
    read.iter().zip(&write).any(|(read, write)| picks(read) && picks(write))
}

/// The indices of a place, the outermost first.
fn indices(place: &Expression) -> Vec<&Expression> {
    match &place.kind {
        ExpressionKind::Field(inner, _) => indices(inner),
        ExpressionKind::Index(inner, at) => {
            let mut found = indices(inner);
            found.push(at);
            found
        }
        _ => Vec::new(),
    }
}

/// All places that an expression reads.
fn places(whole: &Expression, found: &mut Vec<Expression>) {
    match &whole.kind {
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
            found.push(whole.clone());
            indices(whole).into_iter().for_each(|at| places(at, found));
        }
        _ => parts(whole).into_iter().for_each(|part| places(part, found)),
    }
}
