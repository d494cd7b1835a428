//! Statements: what is visible of them once some processors are `Other`.
//!
//! A statement stays as it is where it speaks of concrete processors, and leaves nothing where all
//! it changes is not kept. Where it depends on a stored processor that may or may not be concrete,
//! it is done in cases, one for each.
//!
//! Transformation T9 of docs/abstraction.md.
//!
//! ```text
//! before: c[owner] := I;
//! after:  if owner != Other then c[owner] := I; end;
//! ```

mod assignment;
mod branches;
mod claims;
mod multisets;

use murphi::ast::{BinaryOperator, Expression, PropertyKind, Statement, StatementKind};
use murphi::source::Span;
use murphi::transform::{
    Path, binary, boolean, name, names, overlap, own_expressions, same, statement, when,
};

use super::instance::{Instance, Mode, Obstacle, ProcessorKind, Step, outside, reads};
use super::loops::writes;

use branches::chained;
pub(super) use branches::taken_if;
use claims::assumed;

/// Whether this is a run-time check for the next statement.
fn is_check(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Property(property)
        if property.kind == PropertyKind::Check)
}

/// Whether two statements evaluate the same expressions in the same way.
fn evaluates_same(left: &Statement, right: &Statement) -> bool {
    let (ours, theirs) = (own_expressions(left), own_expressions(right));
    std::mem::discriminant(&left.kind) == std::mem::discriminant(&right.kind)
        && ours.len() == theirs.len()
        && ours.into_iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
}

impl<'t> Instance<'t> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Step<Vec<Statement>> {
        let mut done = Vec::new();
        let mut check: Option<Vec<Statement>> = None;
        for statement in statements {
            let made = self.statement(statement)?;
            if is_check(statement) {
                done.extend(check.replace(made).unwrap_or_default());
                continue;
            }
            // A statement that is evaluated unchanged fails exactly where its check fails.
            let fails_itself = matches!(made.as_slice(), [only] if evaluates_same(only, statement));
            done.extend(check.take().filter(|_| !fails_itself).unwrap_or_default());
            done.extend(made);
        }
        done.extend(check.unwrap_or_default());
        Ok(done)
    }

    /// Abstracts a statement; by cases if it depends on whether a stored processor is concrete.
    fn statement(&mut self, whole: &Statement) -> Step<Vec<Statement>> {
        let before = self.clone();
        match self.attempt(whole) {
            // The case distinction is made outside the loop rather than in it.
            Err(Obstacle::Split(stored)) if self.is_steady(&stored) => Err(Obstacle::Split(stored)),
            Err(Obstacle::Split(stored)) => {
                *self = before;
                self.in_cases(&stored, whole)
            }
            // An error that is claimed in another view: in this one the step does not happen.
            Err(Obstacle::Undefined) => {
                *self = before;
                Ok(vec![assumed(boolean(false, whole.span), whole.span)])
            }
            Err(Obstacle::Bound(span)) => Err(Obstacle::refuse(
                span,
                "this reads a variable of another processor that differs for each value of the \
                 loop variable",
                "write the loop so that it does not depend on another processor's state",
            )),
            other => other,
        }
    }

    /// Whether a place is not written by the enclosing loops, and has the same index in all
    /// iterations.
    fn is_steady(&self, place: &Expression) -> bool {
        let mentioned = names(place);
        let is_read = |written: &Path| reads(place).iter().any(|read| overlap(written, read));
        !self.bound.is_empty()
            && !self.bound.iter().any(|bound| mentioned.contains(bound))
            && !self.loop_writes.iter().any(is_read)
    }

    /// One statement for each case of a stored processor.
    fn in_cases(&mut self, stored: &Expression, whole: &Statement) -> Step<Vec<Statement>> {
        let base = self.clone();
        let mut cases = Vec::new();
        let mut written = Vec::new();
        for (processor_kinds, called) in outside(self.types) {
            self.learn(stored, *processor_kinds);
            cases.push((called, self.statement(whole)?));
            written.extend(self.next_branch(&base));
        }
        self.learn(stored, ProcessorKind::Concrete);
        let mut done = self.statement(whole)?;
        self.join(&base, written);
        for (called, outside) in cases.into_iter().rev() {
            let called = name(called, whole.span);
            let is_it = binary(BinaryOperator::Equal, stored.clone(), called);
            done = chained(when(is_it, outside, done, whole.span));
        }
        Ok(done)
    }

    fn attempt(&mut self, whole: &Statement) -> Step<Vec<Statement>> {
        let span = whole.span;
        match &whole.kind {
            StatementKind::Assign { target, value } => self.assignment(target, value, span),
            StatementKind::Undefine(place) => self.undefine(place, span),
            StatementKind::Clear(place) => self.clear(place, span),
            StatementKind::If { branches, otherwise } => {
                self.branches(branches, otherwise.as_deref().unwrap_or_default(), span)
            }
            StatementKind::Switch { value, cases, otherwise } => {
                self.switch(value, cases, otherwise.as_deref(), span)
            }
            StatementKind::For { quantifiers, body } => self.for_all(quantifiers, body, span),
            StatementKind::While { condition, body } => self.while_true(condition, body, span),
            StatementKind::Error(message) => self.error(message, span),
            StatementKind::Property(property) => self.property(property, span),
            StatementKind::MultisetAdd { value, multiset } => {
                self.multiset_add(value, multiset, span)
            }
            StatementKind::MultisetRemove { position, multiset } => {
                self.multiset_remove(position, multiset, span)
            }
            StatementKind::MultisetRemoveWhere(filter) => self.multiset_filter(filter, span),
            StatementKind::Put(_) | StatementKind::PutText(_) => Ok(Vec::new()),
            StatementKind::Return(_) | StatementKind::Call(_) | StatementKind::Alias { .. } => {
                let message = "this statement cannot be abstracted";
                Err(Obstacle::refuse(span, message, "write it as separate statements"))
            }
        }
    }

    fn while_true(
        &mut self,
        condition: &Expression,
        body: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let outer = self.enter_loop(body);
        // A choice in the body would have to differ in each iteration.
        self.bound.push(String::new());
        // Facts learned in one iteration do not hold in the next, nor after the loop.
        self.log.extend(writes(body));
        let condition = self.condition(condition, Mode::Probe);
        let done = self.statements(body);
        self.log.extend(writes(body));
        self.bound.pop();
        self.loop_writes = outer;
        match condition {
            Ok(condition) => {
                Ok(vec![statement(StatementKind::While { condition, body: done? }, span)])
            }
            Err(Obstacle::Refuse(problem)) => Err(Obstacle::Refuse(problem)),
            Err(_) => Err(Obstacle::refuse(
                span,
                "the number of iterations depends on processors that are not concrete",
                "use `for`",
            )),
        }
    }
}
