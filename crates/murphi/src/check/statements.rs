//! Statements.

use super::constants::value_of;
use super::{Check, Checker, Dialect};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir::{Binder, Cover, Expression, Put, Simple, Statement, StatementKind, TypeKind};
use crate::source::Span;

impl Checker<'_> {
    /// Statements, without those that are wrong.
    pub(super) fn statements(&mut self, written: &[ast::Statement]) -> Vec<Statement> {
        let mut statements = Vec::with_capacity(written.len());
        for statement in written {
            if let ast::StatementKind::Alias { aliases, body } = &statement.kind {
                let inner = self.aliases(aliases, body, statement.span);
                statements.extend(inner.unwrap_or_default());
            } else if let Ok(statement) = self.statement(statement) {
                statements.push(statement);
            }
        }
        statements
    }

    fn statement(&mut self, written: &ast::Statement) -> Check<Statement> {
        let span = written.span;
        let kind = match &written.kind {
            ast::StatementKind::Assign { target, value } => self.assignment(target, value, span)?,
            ast::StatementKind::If { branches, otherwise } => {
                self.branches(branches, otherwise.as_deref())?
            }
            ast::StatementKind::Switch { value, cases, otherwise } => {
                self.switch(value, cases, otherwise.as_deref())?
            }
            ast::StatementKind::For { quantifiers, body } => {
                self.for_loop(quantifiers, body, span)?
            }
            ast::StatementKind::While { condition, body } => {
                let condition = self.condition(condition, "the condition of a loop");
                let body = self.statements(body);
                StatementKind::While { condition: condition?, body }
            }
            // An alias may come to nothing, and leave the statements inside it.
            ast::StatementKind::Alias { .. } => return Err(super::Reported),
            ast::StatementKind::Call(call) => self.call_statement(call, span)?,
            ast::StatementKind::Return(value) => self.return_statement(value.as_ref(), span)?,
            ast::StatementKind::Clear(place) => self.clear(place)?,
            ast::StatementKind::Undefine(place) => {
                StatementKind::Undefine(self.changed_place(place, "undefine {}")?)
            }
            ast::StatementKind::Error(message) => StatementKind::Error(message.text.clone()),
            ast::StatementKind::Property(property) => self.property_statement(property, span)?,
            ast::StatementKind::PutText(text) => StatementKind::Put(Put::Text(text.text.clone())),
            ast::StatementKind::Put(value) => {
                StatementKind::Put(Put::Value(self.expression(value)?))
            }
            ast::StatementKind::MultisetAdd { value, multiset } => {
                self.multiset_add(value, multiset)?
            }
            ast::StatementKind::MultisetRemove { position, multiset } => {
                self.multiset_remove(position, multiset)?
            }
            ast::StatementKind::MultisetRemoveWhere(filter) => {
                let place = self.changed_place(&filter.multiset, "remove from {}");
                let filter = self.multiset_filter(filter);
                place?;
                let (binder, condition) = filter?;
                StatementKind::MultisetRemoveWhere { binder, condition }
            }
        };
        Ok(Statement { kind, span })
    }

    fn branches(
        &mut self,
        written: &[ast::Branch],
        otherwise: Option<&[ast::Statement]>,
    ) -> Check<StatementKind> {
        let mut branches = Vec::with_capacity(written.len());
        for branch in written {
            let condition = self.condition(&branch.condition, "the condition of an `if`");
            let body = self.statements(&branch.body);
            branches.push(condition.map(|condition| (condition, body)));
        }
        let otherwise = otherwise.map(|body| self.statements(body)).unwrap_or_default();
        let branches = branches.into_iter().collect::<Check<Vec<_>>>()?;
        Ok(StatementKind::If { branches, otherwise })
    }

    fn switch(
        &mut self,
        value: &ast::Expression,
        written: &[ast::Case],
        otherwise: Option<&[ast::Statement]>,
    ) -> Check<StatementKind> {
        let value = self.expression(value).and_then(|value| self.require_simple(value));
        let mut cases = Vec::with_capacity(written.len());
        let mut known: Vec<(i64, Span)> = Vec::new();
        for case in written {
            let values: Vec<Check<Expression>> =
                case.values.iter().map(|case| self.case_value(&value, case)).collect();
            for value in values.iter().flatten() {
                self.warn_of_repeated_case(value, &mut known);
            }
            let values = values.into_iter().collect::<Check<Vec<_>>>();
            let body = self.statements(&case.body);
            cases.push(values.map(|values| (values, body)));
        }
        let otherwise = otherwise.map(|body| self.statements(body)).unwrap_or_default();
        let cases = cases.into_iter().collect::<Check<Vec<_>>>()?;
        Ok(StatementKind::Switch { value: value?, cases, otherwise })
    }

    fn require_simple(&mut self, value: Expression) -> Check<Expression> {
        if self.model.simple(value.ty).is_some() {
            return Ok(value);
        }
        let ty = self.type_name(value.ty);
        let message = format!("a `switch` needs a single value, but this is of type `{ty}`");
        Err(self.error(Diagnostic::error(value.span, message)))
    }

    /// A value that is compared with that of the `switch`. It may mean any value of a union that
    /// the other one is a member of, but what is switched on stays as it is.
    fn case_value(
        &mut self,
        value: &Check<Expression>,
        written: &ast::Expression,
    ) -> Check<Expression> {
        let case = self.expression(written)?;
        let value = value.as_ref().map_err(|&reported| reported)?;
        let (wanted, found, span) = (value.ty, case.ty, case.span);
        let narrower = self.union_members(found).is_some();
        match self.converted(case, wanted).filter(|_| !narrower || self.same_type(found, wanted)) {
            Some(case) => Ok(case),
            None => {
                let (found, wanted) = (self.type_name(found), self.type_name(wanted));
                let message =
                    format!("this case is a value of `{found}`, but the `switch` is on `{wanted}`");
                Err(self.error(Diagnostic::error(span, message)))
            }
        }
    }

    fn warn_of_repeated_case(&mut self, case: &Expression, known: &mut Vec<(i64, Span)>) {
        let Some(value) = value_of(case) else {
            return;
        };
        match known.iter().find(|(other, _)| *other == value) {
            Some(&(_, earlier)) => {
                let message = "this case is never reached";
                let diagnostic = Diagnostic::warning(case.span, message);
                self.warn(diagnostic.related(earlier, "the same value"));
            }
            None => known.push((value, case.span)),
        }
    }

    fn for_loop(
        &mut self,
        quantifiers: &[ast::Quantifier],
        body: &[ast::Statement],
        span: Span,
    ) -> Check<StatementKind> {
        self.enter_binding(quantifiers.len(), span)?;
        self.scopes.push();
        let binders: Vec<Check<Binder>> =
            quantifiers.iter().map(|quantifier| self.quantifier(quantifier)).collect();
        let mut body = self.statements(body);
        self.scopes.pop();
        self.leave_binding(quantifiers.len());
        let mut nest = None;
        for binder in binders.into_iter().rev() {
            let binder = binder?;
            let body_inside = std::mem::take(&mut body);
            let kind = StatementKind::For { binder, body: body_inside, runs_all: false };
            body = vec![Statement { kind: kind.clone(), span }];
            nest = Some(kind);
        }
        nest.ok_or(super::Reported)
    }

    /// Statements with aliases around them; those of constants have already done their work.
    fn aliases(
        &mut self,
        aliases: &[ast::Alias],
        body: &[ast::Statement],
        span: Span,
    ) -> Check<Vec<Statement>> {
        self.enter_binding(aliases.len(), span)?;
        self.scopes.push();
        let bound: Vec<_> = aliases.iter().map(|alias| self.alias(alias)).collect();
        let mut body = self.statements(body);
        self.scopes.pop();
        self.leave_binding(aliases.len());
        for alias in bound.into_iter().rev() {
            if let Some((local, target)) = alias? {
                let kind = StatementKind::Alias { local, target, body };
                body = vec![Statement { kind, span }];
            }
        }
        Ok(body)
    }

    fn return_statement(
        &mut self,
        value: Option<&ast::Expression>,
        span: Span,
    ) -> Check<StatementKind> {
        match (value, self.result) {
            (None, None) => Ok(StatementKind::Return(None)),
            (Some(written), Some(result)) => {
                let value = self.expression(written)?;
                let value = self.fit(value, result, |found, wanted| {
                    format!("cannot return a value of `{found}`: the result is of type `{wanted}`")
                })?;
                self.warn_of_value_outside(&value, result, "this result");
                Ok(StatementKind::Return(Some(value)))
            }
            (None, Some(result)) => {
                let ty = self.type_name(result);
                let message = format!("this function must return a value of `{ty}`");
                Err(self.error(Diagnostic::error(span, message)))
            }
            (Some(value), None) => {
                let message = "only a function can return a value";
                Err(self.error(Diagnostic::error(value.span, message)))
            }
        }
    }

    /// The lowest member of a scalarset is no better than another: CMurphi refuses to choose it.
    fn clear(&mut self, written: &ast::Expression) -> Check<StatementKind> {
        let place = self.changed_place(written, "clear {}")?;
        let Some(scalarset) = self.scalarset_inside(place.ty) else {
            return Ok(StatementKind::Clear(place));
        };
        let scalarset = self.type_name(scalarset);
        let text = self.text(place.span);
        let message = match self.model.kind(place.ty) {
            TypeKind::Simple(Simple::Scalarset(_)) => {
                format!("cannot clear `{text}`: the scalarset `{scalarset}` has no first member")
            }
            _ => format!(
                "cannot clear `{text}`: it holds a value of `{scalarset}`, and a scalarset has no \
                 first member"
            ),
        };
        let help = "use `undefine`, or assign a member";
        if self.options.dialect == Dialect::CMurphi {
            return Err(self.error(Diagnostic::error(place.span, message).help(help)));
        }
        let message =
            format!("`clear` sets a `{scalarset}` to its first member, which breaks symmetry");
        self.warn(Diagnostic::warning(place.span, message).help(help));
        Ok(StatementKind::Clear(place))
    }

    fn property_statement(&mut self, property: &ast::Property, span: Span) -> Check<StatementKind> {
        let what = match property.kind {
            ast::PropertyKind::Assertion | ast::PropertyKind::Check => "an assertion",
            ast::PropertyKind::Assumption => "an assumption",
            ast::PropertyKind::Cover => "the condition of a cover",
            ast::PropertyKind::Liveness => {
                let message = "a liveness property cannot be a statement";
                let help = "a liveness property is about all states: put it among the rules";
                return Err(self.error(Diagnostic::error(span, message).help(help)));
            }
        };
        let condition = self.condition(&property.condition, what)?;
        Ok(match property.kind {
            ast::PropertyKind::Assertion | ast::PropertyKind::Check => {
                let message = property.message.as_ref().map(|message| message.text.clone());
                StatementKind::Assert { condition, message }
            }
            ast::PropertyKind::Assumption => StatementKind::Assume(condition),
            _ => {
                let number = self.model.covers.len();
                let name = match &property.message {
                    Some(message) => message.text.clone(),
                    None => format!("Cover statement {}", number + 1),
                };
                self.model.covers.push(Cover { name, span });
                StatementKind::Cover { condition, number }
            }
        })
    }

    fn multiset_add(
        &mut self,
        value: &ast::Expression,
        multiset: &ast::Expression,
    ) -> Check<StatementKind> {
        let value = self.expression(value);
        let multiset = self.changed_place(multiset, "add to {}");
        let (value, multiset) = (value?, multiset?);
        self.require_multiset(&multiset)?;
        let TypeKind::Multiset { element, .. } = *self.model.kind(multiset.ty) else {
            return Err(super::Reported);
        };
        let text = self.text(multiset.span);
        let value = self.fit(value, element, |found, wanted| {
            format!("cannot add a value of `{found}` to `{text}`, whose elements are `{wanted}`")
        })?;
        Ok(StatementKind::MultisetAdd { value, multiset })
    }

    fn multiset_remove(
        &mut self,
        position: &ast::Expression,
        multiset: &ast::Expression,
    ) -> Check<StatementKind> {
        let position = self.expression(position);
        let multiset = self.changed_place(multiset, "remove from {}");
        let (position, multiset) = (position?, multiset?);
        self.require_multiset(&multiset)?;
        let wanted = self.position_type(multiset.ty);
        if !self.same_type(position.ty, wanted) {
            return Err(self.no_position(&position, multiset.ty));
        }
        Ok(StatementKind::MultisetRemove { position, multiset })
    }
}
