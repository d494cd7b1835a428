//! Statements with a check before each that may fail.
//!
//! The conditions of `elsif` and of later cases are evaluated only if those before them did not
//! decide; so is what is asserted of them. What a loop evaluates again and again (the condition of
//! `while`) is checked before the loop and at the end of every round. That a `while` may have too many
//! rounds is not made explicit: a loop is never left out.

use crate::ast::{
    BinaryOperator, Case, Expression, ExpressionKind, MultisetFilter, Quantifier, Statement,
    StatementKind, TypeKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::transform::build::{
    and, binary, boolean, expression, identifier, is_true, not_taken, or,
};
use crate::transform::declarations::bind;
use crate::transform::fold::{bodies_mut, with_bodies};

use super::{Context, Errors, check};

type Result<T> = std::result::Result<T, Diagnostic>;

impl Errors<'_> {
    /// Statements, each behind a check of what it may fail by.
    pub(super) fn statements(
        &self,
        context: &mut Context,
        statements: &[Statement],
    ) -> Result<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            done.extend(check(self.runs(context, statement)?, statement.span));
            done.push(self.inside(context, statement)?);
        }
        Ok(done)
    }

    /// When a statement itself does not fail; statements in it have checks of their own.
    fn runs(&self, context: &mut Context, whole: &Statement) -> Result<Expression> {
        let span = whole.span;
        match &whole.kind {
            StatementKind::Assign { target, value } => {
                let found = self.finds(context, target)?;
                match self.declarations.of(&context.scope, target) {
                    Some(ty) => Ok(and(found, self.stores(context, value, &ty)?)),
                    None => Err(Diagnostic::error(
                        target.span,
                        "the type of this expression cannot be determined",
                    )),
                }
            }
            StatementKind::If { branches, .. } => {
                self.in_turn(context, branches.iter().map(|branch| branch.condition.clone()), span)
            }
            StatementKind::Switch { value, cases, .. } => self.selects(context, value, cases, span),
            StatementKind::For { quantifiers, .. } => match quantifiers.first() {
                Some(first) => self.goes_through(context, first),
                None => Ok(boolean(true, span)),
            },
            StatementKind::While { condition, .. } => self.evaluates(context, condition),
            StatementKind::Clear(place) | StatementKind::Undefine(place) => {
                self.finds(context, place)
            }
            StatementKind::Property(property) => self.evaluates(context, &property.condition),
            StatementKind::Put(value) => self.passes(context, value),
            StatementKind::MultisetAdd { value, multiset } => {
                self.adds(context, value, multiset, span)
            }
            StatementKind::MultisetRemoveWhere(filter) => self.filters(context, filter),
            StatementKind::Error(_) | StatementKind::PutText(_) => Ok(boolean(true, span)),
            StatementKind::MultisetRemove { .. }
            | StatementKind::Call(_)
            | StatementKind::Return(_)
            | StatementKind::Alias { .. } => {
                let message = "this statement is not supported for any number of processors";
                Err(Diagnostic::error(span, message))
            }
        }
    }

    /// When conditions can be evaluated one after the other, until one is true.
    fn in_turn(
        &self,
        context: &mut Context,
        conditions: impl DoubleEndedIterator<Item = Expression>,
        span: Span,
    ) -> Result<Expression> {
        let mut known = boolean(true, span);
        for condition in conditions.rev() {
            let first = self.evaluates(context, &condition)?;
            known = match is_true(&known) {
                true => first,
                false => and(first, or(condition, known)),
            };
        }
        Ok(known)
    }

    fn selects(
        &self,
        context: &mut Context,
        value: &Expression,
        cases: &[Case],
        span: Span,
    ) -> Result<Expression> {
        let first = self.evaluates(context, value)?;
        let candidates = cases.iter().flat_map(|case| &case.values);
        let equal =
            |other: &Expression| binary(BinaryOperator::Equal, value.clone(), other.clone());
        let candidates: Vec<Expression> = candidates.map(equal).collect();
        // That the value itself can be evaluated is known by then, and asked again: no harm.
        let others = self.in_turn(context, candidates.into_iter(), span)?;
        Ok(if others == first { first } else { and(first, others) })
    }

    /// When there is room in a multiset, and the value may be put there.
    fn adds(
        &self,
        context: &mut Context,
        value: &Expression,
        multiset: &Expression,
        span: Span,
    ) -> Result<Expression> {
        let known = and(self.evaluates(context, value)?, self.finds(context, multiset)?);
        let ty = self.declarations.of(&context.scope, multiset);
        let ty = ty.as_ref().map(|ty| self.declarations.resolve(ty));
        let Some(TypeKind::Multiset { capacity, element }) = ty.map(|ty| &ty.kind) else {
            return Err(Diagnostic::error(
                multiset.span,
                "the type of this expression cannot be determined",
            ));
        };
        let known = and(known, self.fits(context, value, element)?);
        let is_taken = |wish: &str| {
            context.scope.contains_key(wish) || self.declarations.declared().any(|one| one == wish)
        };
        let filter = MultisetFilter {
            name: identifier(&not_taken("element", is_taken), span),
            multiset: Box::new(multiset.clone()),
            condition: Box::new(boolean(true, span)),
        };
        let count = expression(ExpressionKind::MultisetCount(filter), span);
        Ok(and(known, binary(BinaryOperator::Less, count, (**capacity).clone())))
    }

    /// A statement with checks in its bodies.
    fn inside(&self, context: &mut Context, whole: &Statement) -> Result<Statement> {
        match &whole.kind {
            StatementKind::For { quantifiers, body } => {
                self.rounds(context, quantifiers, body, whole.span)
            }
            StatementKind::While { condition, .. } => with_bodies(whole, |body| {
                let mut body = self.statements(context, body)?;
                body.extend(check(self.evaluates(context, condition)?, condition.span));
                Ok(body)
            }),
            _ => with_bodies(whole, |body| self.statements(context, body)),
        }
    }

    /// Statements without `put`, but for those that may fail.
    pub(super) fn without_idle_puts(
        &self,
        context: &Context,
        statements: &[Statement],
    ) -> Vec<Statement> {
        let is_idle = |whole: &&Statement| match &whole.kind {
            StatementKind::Put(value) => {
                self.passes(&mut context.clone(), value).is_ok_and(|known| is_true(&known))
            }
            _ => false,
        };
        let kept = statements.iter().filter(|whole| !is_idle(whole)).cloned();
        let inside = |mut whole: Statement| {
            let mut inner = context.clone();
            if let StatementKind::For { quantifiers, .. } = &whole.kind {
                bind(&mut inner.scope, quantifiers);
            }
            for body in bodies_mut(&mut whole) {
                *body = self.without_idle_puts(&inner, body);
            }
            whole
        };
        kept.map(inside).collect()
    }

    /// A loop, one variable at a time where the range of a later one has to be checked.
    fn rounds(
        &self,
        context: &mut Context,
        quantifiers: &[Quantifier],
        body: &[Statement],
        span: Span,
    ) -> Result<Statement> {
        let mut inner = context.clone();
        let mut together = 0;
        for (number, quantifier) in quantifiers.iter().enumerate() {
            if number > 0 && !is_true(&self.goes_through(&mut inner, quantifier)?) {
                break;
            }
            bind(&mut inner.scope, std::slice::from_ref(quantifier));
            inner.variables.remove(&quantifier.name.text);
            together += 1;
        }
        let (now, later) = quantifiers.split_at(together);
        let body = match later.is_empty() {
            true => self.statements(&mut inner, body)?,
            false => {
                let kind = StatementKind::For { quantifiers: later.to_vec(), body: body.to_vec() };
                self.statements(&mut inner, &[Statement { kind, span }])?
            }
        };
        Ok(Statement { kind: StatementKind::For { quantifiers: now.to_vec(), body }, span })
    }
}
