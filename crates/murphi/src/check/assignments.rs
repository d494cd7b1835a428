//! Assignments, and values that must fit the type of what they are given to.

use super::{Check, Checker, Dialect};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Assign, Expression, ExpressionKind, Model, Place, Simple, Statement, StatementKind, TypeId,
};
use crate::source::Span;

impl Checker<'_> {
    /// `target := value`.
    pub(super) fn assignment(
        &mut self,
        target: &ast::Expression,
        written: &ast::Expression,
        span: Span,
    ) -> Check<StatementKind> {
        let place = self.changed_place(target, "assign to {}");
        if written.kind == ast::ExpressionKind::Undefined {
            return place.map(StatementKind::Undefine);
        }
        let value = self.expression(written);
        let (target, value) = (place?, value?);
        let text = self.text(target.span);
        let value = self.fit(value, target.ty, |found, wanted| {
            format!("cannot assign a value of `{found}` to `{text}`, which is of type `{wanted}`")
        })?;
        self.warn_of_value_outside(&value, target.ty, "this value");
        Ok(self.assign(target, value, span))
    }

    /// CMurphi copies a variable that is undefined. If the value must be converted on the way,
    /// the question comes first.
    fn assign(&self, target: Place, value: Expression, span: Span) -> StatementKind {
        let copied = match &value.kind {
            ExpressionKind::Convert(inner) => self.copied_place(inner),
            _ => None,
        };
        let copies_undefined = self.copied_place(&value).is_some();
        let assign = StatementKind::Assign(Assign {
            target: target.clone(),
            value: value.clone(),
            copies_undefined,
        });
        let Some(place) = copied else {
            return assign;
        };
        let kind = ExpressionKind::IsUndefined(place.clone());
        let question = Expression { kind, ty: Model::BOOLEAN, span: place.span };
        let undefine = Statement { kind: StatementKind::Undefine(target), span };
        StatementKind::If {
            branches: vec![(question, vec![undefine])],
            otherwise: vec![Statement { kind: assign, span }],
        }
    }

    /// The single place whose being undefined is copied when it is assigned.
    fn copied_place<'e>(&self, value: &'e Expression) -> Option<&'e Place> {
        let ExpressionKind::Read(place) = &value.kind else {
            return None;
        };
        let copies = self.options.dialect == Dialect::CMurphi
            && self.model.simple(place.ty).is_some()
            && !self.is_bound(place);
        copies.then_some(place)
    }

    /// A value as one of the type that is wanted. `message` is given the names of the types found
    /// and wanted.
    pub(super) fn fit(
        &mut self,
        value: Expression,
        wanted: TypeId,
        message: impl FnOnce(&str, &str) -> String,
    ) -> Check<Expression> {
        let (found, span) = (value.ty, value.span);
        if let Some(value) = self.converted(value, wanted) {
            return Ok(value);
        }
        let names = (self.type_name(found), self.type_name(wanted));
        let message = message(&names.0, &names.1);
        let help = match self.model.simple(wanted) {
            Some(Simple::Scalarset(_)) if self.is_integer(found) => Some(
                "members of a scalarset have no numbers: bind one with `ruleset`, `for` or `exists`",
            ),
            Some(Simple::Scalarset(_)) if self.is_scalarset(found) => {
                Some("different scalarsets are different types, even if their sizes are equal")
            }
            _ => None,
        };
        let help = help.map(str::to_owned);
        let mut diagnostic = Diagnostic { help, ..Diagnostic::error(span, message) };
        if names.0 == names.1 {
            // Their names do not distinguish the two, but their places do.
            diagnostic = diagnostic
                .related(self.table.span(found), "the type of the value")
                .related(self.table.span(wanted), "the expected type");
        }
        Err(self.error(diagnostic))
    }

    fn is_scalarset(&self, ty: TypeId) -> bool {
        matches!(self.model.simple(ty), Some(Simple::Scalarset(_)))
    }
}
