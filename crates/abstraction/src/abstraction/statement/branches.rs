//! `if` and `switch`. Each branch begins with what was known before, and what one of them may have
//! written is written behind all of them. Where nothing shows of any branch, nothing is chosen for
//! the condition.
//!
//! Transformation T11 of docs/abstraction.md, with p = `Other`:
//!
//! ```text
//! before: if d[p] then busy := true; end          if d[p] then d[p] := false; end
//! after:  if d_p then busy := true; end           (nothing)
//! ```

use murphi::ast::{Branch, Case, Expression, PropertyKind, Statement, StatementKind};
use murphi::source::Span;
use murphi::transform::{Path, and, boolean, is_false, is_true, not, statement, when};

use super::claims::assumed;
use crate::abstraction::instance::{Instance, Mode, Obstacle, Step};

impl<'t> Instance<'t> {
    /// Ends one branch and starts the next; returns the paths that the branch wrote.
    pub(super) fn next_branch(&mut self, base: &Instance<'t>) -> Vec<Path> {
        self.leave_branch(base);
        self.log.split_off(base.log.len())
    }

    /// Joins the branches.
    pub(super) fn join(&mut self, base: &Instance<'t>, written: Vec<Path>) {
        self.leave_branch(base);
        self.log.extend(written);
    }
}

impl Instance<'_> {
    pub(super) fn branches(
        &mut self,
        branches: &[Branch],
        otherwise: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some((first, rest)) = branches.split_first() else {
            return self.statements(otherwise);
        };
        let all = |this: &mut Self, condition: Option<Expression>| {
            let base = this.clone();
            let skips_then = condition.as_ref().is_some_and(is_false);
            let then = if skips_then { Vec::new() } else { this.statements(&first.body)? };
            let written = this.next_branch(&base);
            let skips_else = condition.as_ref().is_some_and(is_true);
            let other = if skips_else { Vec::new() } else { this.rest(rest, otherwise, span)? };
            this.join(&base, written);
            Step::Ok((then, other))
        };
        // A condition needs no choice if no visible effect depends on it.
        let mut trial = self.clone();
        if let Ok((then, other)) = all(&mut trial, None)
            && (then.is_empty() && other.is_empty()
                || only_assumes(&then)
                    && only_assumes(&other)
                    && matches!(
                        self.condition(&first.condition, Mode::Probe),
                        Err(Obstacle::Unknown)
                    ))
        {
            self.log = trial.log;
            return Ok(Vec::new());
        }
        let condition = self.condition(&first.condition, Mode::Exact)?;
        let (then, other) = all(self, Some(condition.clone()))?;
        Ok(chained(when(condition, then, other, span)))
    }

    /// The branches after one that is not taken.
    fn rest(
        &mut self,
        branches: &[Branch],
        otherwise: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let before = self.clone();
        match self.branches(branches, otherwise, span) {
            // An error that is claimed in another view, if this branch is reached.
            Err(Obstacle::Undefined) => {
                *self = before;
                Ok(vec![assumed(boolean(false, span), span)])
            }
            other => other,
        }
    }

    pub(super) fn switch(
        &mut self,
        value: &Expression,
        cases: &[Case],
        otherwise: Option<&[Statement]>,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let all = |this: &mut Self| {
            let mut bodies = Vec::new();
            let mut written = Vec::new();
            let base = this.clone();
            let rest = otherwise.unwrap_or_default();
            for body in cases.iter().map(|case| case.body.as_slice()).chain([rest]) {
                bodies.push(this.statements(body)?);
                written.extend(this.next_branch(&base));
            }
            this.join(&base, written);
            Step::Ok(bodies)
        };
        let mut trial = self.clone();
        if let Ok(bodies) = all(&mut trial)
            && (bodies.iter().all(Vec::is_empty)
                || bodies.iter().all(|body| only_assumes(body))
                    && matches!(self.value(value, Mode::Probe), Err(Obstacle::Unknown)))
        {
            self.log = trial.log;
            return Ok(Vec::new());
        }
        let value = self.value(value, Mode::Exact)?;
        let mut values = Vec::new();
        for case in cases {
            let each = case.values.iter().map(|value| self.case_value(value));
            values.push(each.collect::<Step<Vec<Expression>>>()?);
        }
        let mut bodies = all(self)?;
        let rest = bodies.pop().filter(|body| !body.is_empty());
        let cases = cases.iter().zip(values).zip(bodies);
        let cases = cases.map(|((case, values), body)| Case { values, body, span: case.span });
        let mut cases: Vec<Case> = cases.collect();
        // The cases after this one are for other values.
        while rest.is_none() && cases.last().is_some_and(|case| case.body.is_empty()) {
            cases.pop();
        }
        let kind = StatementKind::Switch { value, cases, otherwise: rest };
        Ok(vec![statement(kind, span)])
    }

    /// The value of a case of a `switch`. It is not evaluated if an earlier case applies.
    fn case_value(&mut self, value: &Expression) -> Step<Expression> {
        self.value(value, Mode::Exact).map_err(|stop| match stop {
            Obstacle::Undefined => Obstacle::refuse(
                value.span,
                "this variable of another processor may be undefined where no case applies",
                "use `if` and `elsif`",
            ),
            other => other,
        })
    }
}

/// Whether statements contain only assumptions. If it is unknown whether they are executed, they
/// exclude nothing.
fn only_assumes(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| {
        matches!(&statement.kind, StatementKind::Property(property)
            if property.kind == PropertyKind::Assumption)
    })
}

/// `else if` as `elsif`.
pub(super) fn chained(mut statements: Vec<Statement>) -> Vec<Statement> {
    for whole in &mut statements {
        let StatementKind::If { branches, otherwise } = &mut whole.kind else { continue };
        if let Some([only]) = otherwise.as_deref_mut()
            && let StatementKind::If { branches: more, otherwise: last } = &mut only.kind
        {
            branches.append(more);
            let last = last.take();
            *otherwise = last;
        }
    }
    statements
}

/// The condition under which a branch is taken.
pub(in crate::abstraction) fn taken_if(before: &[Branch], own: Option<&Expression>) -> Expression {
    let span = own.map_or(Span::default(), |own| own.span);
    let mut condition = boolean(true, span);
    for branch in before {
        condition = and(condition, not(branch.condition.clone()));
    }
    match own {
        Some(own) => and(condition, own.clone()),
        None => condition,
    }
}
