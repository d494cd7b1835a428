//! Names that are bound: variables that go through a domain, and aliases.

use super::constants::value_of;
use super::places::Designator;
use super::scope::{Access, Root, Symbol};
use super::{Check, Checker, Dialect, LocalInfo, Reported};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AliasTarget, Binder, Domain, Expression, ExpressionKind, LocalId, Model, Operator, Place,
    Storage, TypeId, TypeKind,
};
use crate::source::Span;

/// How many names may be bound around one place. A list of names is a nest of the typed model, so
/// this bounds its depth as the parser bounds that of the syntax tree.
const MOST_BOUND: usize = 256;

impl Checker<'_> {
    /// Notes that `count` more names are bound around what follows.
    pub(super) fn enter_binding(&mut self, count: usize, span: Span) -> Check<()> {
        self.bound += count;
        if self.bound <= MOST_BOUND {
            return Ok(());
        }
        self.bound -= count;
        let message = format!("more than {MOST_BOUND} names are bound around this");
        Err(self.error(Diagnostic::error(span, message)))
    }

    /// Leaves what [`Checker::enter_binding`] entered.
    pub(super) fn leave_binding(&mut self, count: usize) {
        self.bound -= count;
    }

    /// `forall` and `exists`.
    pub(super) fn quantified(
        &mut self,
        all: bool,
        quantifiers: &[ast::Quantifier],
        condition: &ast::Expression,
        span: Span,
    ) -> Check<Expression> {
        self.enter_binding(quantifiers.len(), span)?;
        self.scopes.push();
        let binders: Vec<Check<Binder>> =
            quantifiers.iter().map(|quantifier| self.quantifier(quantifier)).collect();
        let condition = self.condition(condition, "a quantified condition");
        self.scopes.pop();
        self.leave_binding(quantifiers.len());
        binders.into_iter().rev().fold(condition, |condition, binder| {
            let (condition, binder) = (Box::new(condition?), binder?);
            let kind = ExpressionKind::Quantified { all, binder, condition };
            Ok(Expression { kind, ty: Model::BOOLEAN, span })
        })
    }

    /// A variable that goes through a type or a range, declared in the innermost scope.
    pub(super) fn quantifier(&mut self, quantifier: &ast::Quantifier) -> Check<Binder> {
        let domain = match &quantifier.domain {
            ast::Domain::Type(ty) => {
                let what = format!("`{}`", quantifier.name.text);
                self.simple_type(ty, &what).map(|ty| (Domain::Type(ty), ty))
            }
            ast::Domain::Range { from, to, by } => {
                self.range_domain(from, to, by.as_ref(), quantifier.span)
            }
        };
        self.bind(&quantifier.name, domain, quantifier.span)
    }

    fn range_domain(
        &mut self,
        from: &ast::Expression,
        to: &ast::Expression,
        by: Option<&ast::Expression>,
        span: Span,
    ) -> Check<(Domain, TypeId)> {
        let from = self.integer(from, "the first value of a range");
        let to = self.integer(to, "the last value of a range");
        let step = by.map(|by| self.integer(by, "the step of a range"));
        let (from, to) = (from?, to?);
        let step = match step {
            Some(step) => step?,
            None => self.usual_step(&from, &to, span),
        };
        if value_of(&step) == Some(0) {
            let message = "the step of a range cannot be 0";
            return Err(self.error(Diagnostic::error(step.span, message)));
        }
        let ty = match (value_of(&from), value_of(&to)) {
            (Some(from), Some(to)) => {
                self.warn_of_step(from, to, &step, span);
                self.range_type(from, to, span)
            }
            _ => self.wide_type(),
        };
        let (from, to, by) = (Box::new(from), Box::new(to), Box::new(step));
        Ok((Domain::Range { from, to, by }, ty))
    }

    /// The step of a range that says none: 1, and in Rumur -1 if the last value is below the first.
    fn usual_step(&self, from: &Expression, to: &Expression, span: Span) -> Expression {
        let (ty, truth) = (Model::INTEGER, Model::BOOLEAN);
        let number = |value| Expression { kind: ExpressionKind::Constant(value), ty, span };
        if self.options.dialect == Dialect::CMurphi {
            return number(1);
        }
        if let (Some(from), Some(to)) = (value_of(from), value_of(to)) {
            return number(if from > to { -1 } else { 1 });
        }
        let (left, right) = (Box::new(from.clone()), Box::new(to.clone()));
        let falls = ExpressionKind::Binary(Operator::Greater, left, right);
        let falls = Box::new(Expression { kind: falls, ty: truth, span });
        let (down, up) = (Box::new(number(-1)), Box::new(number(1)));
        Expression { kind: ExpressionKind::Conditional(falls, down, up), ty, span }
    }

    /// Past its end a range is empty, as in CMurphi; away from its end it is an error.
    fn warn_of_step(&mut self, from: i64, to: i64, step: &Expression, span: Span) {
        let Some(by) = value_of(step) else {
            return;
        };
        if from > to && by > 0 {
            let message = format!("the range from {from} to {to} by steps of {by} is empty");
            self.warn(Diagnostic::warning(span, message));
        } else if from < to && by < 0 {
            let message = format!("steps of {by} do not lead from {from} to {to}");
            let help = "this is an error whenever it is executed";
            self.warn(Diagnostic::warning(span, message).help(help));
        }
    }

    /// `x: m`: a variable that goes through the positions of a multiset, declared in the innermost
    /// scope.
    pub(super) fn multiset_binder(
        &mut self,
        name: &ast::Name,
        multiset: &ast::Expression,
    ) -> Check<Binder> {
        let place = self.multiset_place(multiset);
        let domain = place.map(|place| {
            let ty = self.position_type(place.ty);
            (Domain::Multiset(place), ty)
        });
        self.bind(name, domain, name.span.to(multiset.span))
    }

    /// A place that holds a multiset.
    pub(super) fn multiset_place(&mut self, written: &ast::Expression) -> Check<Place> {
        let place = self.place(written)?;
        self.require_multiset(&place)?;
        Ok(place)
    }

    /// Whether a place holds a multiset.
    pub(super) fn require_multiset(&mut self, place: &Place) -> Check<()> {
        if matches!(self.model.kind(place.ty), TypeKind::Multiset { .. }) {
            return Ok(());
        }
        let text = self.text(place.span);
        let ty = self.type_name(place.ty);
        let message = format!("`{text}` is of type `{ty}`, not a multiset");
        Err(self.error(Diagnostic::error(place.span, message)))
    }

    /// `(x: m, condition)`.
    pub(super) fn multiset_filter(
        &mut self,
        filter: &ast::MultisetFilter,
    ) -> Check<(Binder, Expression)> {
        self.enter_binding(1, filter.name.span)?;
        self.scopes.push();
        let binder = self.multiset_binder(&filter.name, &filter.multiset);
        let condition = self.condition(&filter.condition, "the condition on an element");
        self.scopes.pop();
        self.leave_binding(1);
        Ok((binder?, condition?))
    }

    fn bind(
        &mut self,
        name: &ast::Name,
        domain: Check<(Domain, TypeId)>,
        span: Span,
    ) -> Check<Binder> {
        self.warn_of_hidden_variable(name);
        let Ok((domain, ty)) = domain else {
            self.declare(name, Symbol::Broken);
            return Err(Reported);
        };
        let info = LocalInfo { access: Access::LoopVariable, root: Root::Own };
        let local = self.add_local(&name.text, ty, Storage::Bound, info);
        self.declare(name, Symbol::Local(local));
        Ok(Binder { local, domain, span })
    }

    /// CMurphi refuses a variable that hides one of an outer loop: it is rarely meant.
    fn warn_of_hidden_variable(&mut self, name: &ast::Name) {
        let Some(outer) = self.scopes.find_outside(&name.text) else {
            return;
        };
        let (Symbol::Local(local), Some(span)) = (outer.symbol, outer.span) else {
            return;
        };
        if self.locals[local.0 as usize].access != Access::LoopVariable {
            return;
        }
        let message = format!("`{}` hides a variable of the same name", name.text);
        self.warn(Diagnostic::warning(name.span, message).related(span, "the hidden one"));
    }

    /// An alias, declared in the innermost scope. One for a constant is that constant, and has no
    /// local.
    pub(super) fn alias(&mut self, alias: &ast::Alias) -> Check<Option<(LocalId, AliasTarget)>> {
        let target = self.alias_target(&alias.value);
        let Ok(target) = target else {
            self.declare(&alias.name, Symbol::Broken);
            return Err(Reported);
        };
        let (ty, storage, info) = match &target {
            AliasTarget::Place(place) => {
                let access = match self.access(place) {
                    Access::Writable => Access::Writable,
                    _ => Access::AliasOfValue,
                };
                (place.ty, Storage::Reference, LocalInfo { access, root: self.root(place) })
            }
            AliasTarget::Value(value) => {
                if let Some(constant) = value_of(value) {
                    let symbol = Symbol::Constant { ty: value.ty, value: constant };
                    self.declare(&alias.name, symbol);
                    return Ok(None);
                }
                let ty = if value.ty == Model::INTEGER { self.wide_type() } else { value.ty };
                let info = LocalInfo { access: Access::AliasOfValue, root: Root::Own };
                (ty, Storage::Own, info)
            }
        };
        let local = self.add_local(&alias.name.text, ty, storage, info);
        self.declare(&alias.name, Symbol::Local(local));
        Ok(Some((local, target)))
    }

    /// A stored thing is referred to; what goes through a domain is a value.
    fn alias_target(&mut self, written: &ast::Expression) -> Check<AliasTarget> {
        let designator = matches!(
            written.kind,
            ast::ExpressionKind::Name(_)
                | ast::ExpressionKind::Field(..)
                | ast::ExpressionKind::Index(..)
        );
        if !designator {
            return self.expression(written).map(AliasTarget::Value);
        }
        Ok(match self.designator(written)? {
            Designator::Place(place) if !self.is_bound(&place) => AliasTarget::Place(place),
            Designator::Place(place) => {
                let (ty, span) = (place.ty, place.span);
                AliasTarget::Value(Expression { kind: ExpressionKind::Read(place), ty, span })
            }
            Designator::Constant { ty, value } => {
                let kind = ExpressionKind::Constant(value);
                AliasTarget::Value(Expression { kind, ty, span: written.span })
            }
        })
    }
}
