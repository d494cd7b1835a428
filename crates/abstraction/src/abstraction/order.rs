//! Loops over processors whose rounds depend on each other.
//!
//! The concrete processors have their rounds first in the abstraction, and what the others do comes
//! after. That is the same as any other order only if no round reads what another one writes: each
//! may read what it has for itself (an element that the loop variable picks, if all writes of it do
//! the same) and what the loop does not change.
//!
//! The condition of transformation T12 of docs/abstraction.md.
//!
//! ```text
//! accepted: for q: P do if s[q] then s[q] := false; ack := true; end; end
//! refused:  for q: P do if !ack then ack := true; s[q] := true; end; end    -- reads ack
//! ```

use murphi::ast::{Expression, ExpressionKind, Statement};
use murphi::source::Span;
use murphi::transform::{
    changed, each_statement, indices, overlap, own_expressions, path, places_read,
};

/// The span of a read that may depend on a write of another iteration.
pub(super) fn dependence(variable: &str, body: &[Statement]) -> Option<Span> {
    let mut written: Vec<Expression> = Vec::new();
    let mut read: Vec<Expression> = Vec::new();
    let mut reads = |whole: &Expression| read.extend(places_read(whole).into_iter().cloned());
    each_statement(body, &mut |statement| {
        let target = changed(statement);
        written.extend(target.cloned());
        for each in own_expressions(statement) {
            match target.is_some_and(|target| std::ptr::eq(target, each)) {
                true => indices(each).into_iter().for_each(&mut reads),
                false => reads(each),
            }
        }
    });
    let depends = |read: &&Expression| {
        let is_other = |write: &Expression| {
            overlap(&path(read), &path(write)) && !is_own(variable, read, write)
        };
        written.iter().any(is_other)
    };
    read.iter().find(depends).map(|read| read.span)
}

/// Whether the loop variable selects the element in both, at the same index.
fn is_own(variable: &str, read: &Expression, write: &Expression) -> bool {
    let picks =
        |at: &Expression| matches!(&at.kind, ExpressionKind::Name(name) if name == variable);
    let (read, write) = (indices(read), indices(write));
    read.iter().zip(&write).any(|(read, write)| picks(read) && picks(write))
}
