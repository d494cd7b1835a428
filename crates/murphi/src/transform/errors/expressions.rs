//! When an expression can be evaluated, a place found, and a value stored: ok(e), one line for each
//! kind of expression, in the order in which its parts are evaluated.

use crate::ast::{
    BinaryOperator, Domain, Expression, ExpressionKind, MultisetFilter, Quantifier, TypeExpression,
    TypeKind, UnaryOperator,
};
use crate::check::Dialect;
use crate::diagnostic::Diagnostic;
use crate::transform::bounds::{bounds, is_number, of_type};
use crate::transform::build::{
    and, binary, boolean, expression, implies, is_true, not, or, quantified,
};
use crate::transform::declarations::bind;
use crate::transform::identity::{path, same};
use crate::transform::visit::{each_part, is_place};

use super::{Context, Errors};

type Result<T> = std::result::Result<T, Diagnostic>;

impl Errors<'_> {
    /// ok(e): when an expression can be evaluated. Reading an undefined simple value is an error.
    pub(super) fn evaluates(
        &self,
        context: &mut Context,
        whole: &Expression,
    ) -> Result<Expression> {
        use BinaryOperator as B;
        let span = whole.span;
        let fine = || boolean(true, span);
        match &whole.kind {
            ExpressionKind::Integer(_) | ExpressionKind::Real(_) | ExpressionKind::Undefined => {
                Ok(fine())
            }
            ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
                Ok(and(self.finds(context, whole)?, self.has_value(context, whole)))
            }
            ExpressionKind::IsUndefined(place) => self.finds(context, place),
            ExpressionKind::IsMember(value, _) => self.evaluates(context, value),
            ExpressionKind::Unary(operator, inner) => {
                if *operator != UnaryOperator::Not {
                    self.fits_in_64_bits(context, whole)?;
                }
                self.evaluates(context, inner)
            }
            ExpressionKind::Binary(B::And | B::LogicalAnd | B::Implies, left, right)
                if !self.declarations.is_number(&context.scope, whole) =>
            {
                let (first, second) = self.both(context, left, right)?;
                Ok(and(first, implies(self.premise(left, true), second)))
            }
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right)
                if !self.declarations.is_number(&context.scope, whole) =>
            {
                let (first, second) = self.both(context, left, right)?;
                Ok(and(first, or(self.premise(left, false), second)))
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (first, second) = self.both(context, left, right)?;
                self.fits_in_64_bits(context, whole)?;
                let divides = matches!(operator, B::Divide | B::Remainder);
                let zero = expression(ExpressionKind::Integer(0), right.span);
                let (low, high) = bounds(self.declarations, &context.scope, right);
                let divisor = match divides && low <= 0 && high >= 0 {
                    true => binary(B::NotEqual, (**right).clone(), zero),
                    false => fine(),
                };
                Ok(and(and(first, second), divisor))
            }
            ExpressionKind::Conditional(condition, left, right) => {
                let first = self.evaluates(context, condition)?;
                let (left, right) = self.both(context, left, right)?;
                let cases =
                    and(implies((**condition).clone(), left), or((**condition).clone(), right));
                Ok(and(first, cases))
            }
            ExpressionKind::Quantified { quantifiers, condition, .. } => {
                self.for_every(context, quantifiers, condition)
            }
            ExpressionKind::MultisetCount(filter) => self.filters(context, filter),
            ExpressionKind::Call(call) => Err(Diagnostic::error(
                call.name.span,
                "the errors of this call cannot be determined",
            )),
        }
    }

    /// What of a condition is supposed where its value, `when`, lets the next one be evaluated: the
    /// parts that speak of some or all members of the opaque type are left out. So less is supposed
    /// and more is claimed, of fewer members at once.
    fn premise(&self, condition: &Expression, when: bool) -> Expression {
        use BinaryOperator as B;
        match (&condition.kind, when) {
            (ExpressionKind::Binary(B::And | B::LogicalAnd, left, right), true) => {
                and(self.premise(left, when), self.premise(right, when))
            }
            (ExpressionKind::Binary(B::Or | B::LogicalOr, left, right), false) => {
                or(self.premise(left, when), self.premise(right, when))
            }
            _ => {
                let mut quantifies = false;
                each_part(condition, &mut |part| {
                    if let ExpressionKind::Quantified { quantifiers, .. } = &part.kind {
                        quantifies |= quantifiers.iter().any(|each| self.is_of_members(each));
                    }
                });
                if quantifies { boolean(when, condition.span) } else { condition.clone() }
            }
        }
    }

    fn is_of_members(&self, quantifier: &Quantifier) -> bool {
        matches!(&quantifier.domain, Domain::Type(ty) if self.declarations.is_opaque(ty))
    }

    fn both(
        &self,
        context: &mut Context,
        left: &Expression,
        right: &Expression,
    ) -> Result<(Expression, Expression)> {
        Ok((self.evaluates(context, left)?, self.evaluates(context, right)?))
    }

    /// When a place can be found: each of its indices can be evaluated and is one of the array.
    pub(super) fn finds(&self, context: &mut Context, place: &Expression) -> Result<Expression> {
        match &place.kind {
            ExpressionKind::Field(inner, _) => self.finds(context, inner),
            ExpressionKind::Index(inner, at) => {
                let found = self.finds(context, inner)?;
                let ty = self.declarations.of(&context.scope, inner);
                if let Some((index, _)) = ty.as_ref().and_then(|ty| self.declarations.array(ty)) {
                    let known = self.evaluates(context, at)?;
                    return Ok(and(found, and(known, self.fits(context, at, &index)?)));
                }
                self.is_occupied(context, inner, at)?;
                Ok(found)
            }
            ExpressionKind::Name(_) => Ok(boolean(true, place.span)),
            _ => self.evaluates(context, place),
        }
    }

    /// That a simple place is not undefined.
    fn has_value(&self, context: &Context, place: &Expression) -> Expression {
        let fine = boolean(true, place.span);
        if let ExpressionKind::Name(name) = &place.kind {
            let is_variable = match context.scope.contains_key(name) {
                true => context.variables.contains(name),
                false => self.declarations.is_global(name),
            };
            if !is_variable {
                return fine;
            }
        }
        let ty = self.declarations.of(&context.scope, place);
        let is_simple = ty.is_none_or(|ty| self.declarations.is_simple(&ty));
        let is_defined =
            super::defined::is_of_state(context, place) && self.defined.contains(&path(place));
        if !is_simple || is_defined {
            return fine;
        }
        not(expression(ExpressionKind::IsUndefined(Box::new(place.clone())), place.span))
    }

    /// An element of a multiset is there if the variable of a filter stands for it.
    fn is_occupied(&self, context: &Context, multiset: &Expression, at: &Expression) -> Result<()> {
        let position = match &at.kind {
            ExpressionKind::Name(name) => context.positions.get(name),
            _ => None,
        };
        match position {
            Some(goes_through) if same(goes_through, multiset) => Ok(()),
            _ => Err(Diagnostic::error(at.span, "the multiset may not have this element")
                .help("access elements in `MultisetCount` and `MultisetRemovePred` only")),
        }
    }

    /// When a value that can be evaluated is one of a type.
    pub(super) fn fits(
        &self,
        context: &Context,
        value: &Expression,
        ty: &TypeExpression,
    ) -> Result<Expression> {
        let span = value.span;
        let wanted = self.declarations.resolve(ty);
        let found = self.declarations.of(&context.scope, value);
        let found = found.as_ref().map(|found| self.declarations.resolve(found));
        if found.is_some_and(|found| found.kind == wanted.kind) {
            return Ok(boolean(true, span));
        }
        if let (TypeKind::Range(low, high), Some(room)) =
            (&wanted.kind, of_type(self.declarations, wanted))
        {
            let value_bounds = bounds(self.declarations, &context.scope, value);
            if room.0 <= value_bounds.0 && value_bounds.1 <= room.1 {
                return Ok(boolean(true, span));
            }
            let at_least = binary(BinaryOperator::LessOrEqual, (**low).clone(), value.clone());
            let at_most = binary(BinaryOperator::LessOrEqual, value.clone(), (**high).clone());
            return Ok(and(at_least, at_most));
        }
        match (found.map(|found| &found.kind), &wanted.kind) {
            (Some(TypeKind::Union(_)), TypeKind::Union(_)) => {
                let message = "a value of one union may not be one of another";
                Err(Diagnostic::error(span, message).help("use one union for both"))
            }
            (Some(TypeKind::Union(_)), _) => {
                let (value, ty) = (Box::new(value.clone()), Box::new(ty.clone()));
                Ok(expression(ExpressionKind::IsMember(value, ty), span))
            }
            _ => Ok(boolean(true, span)),
        }
    }

    /// Refuses numbers that may not fit in 64 bits.
    fn fits_in_64_bits(&self, context: &Context, whole: &Expression) -> Result<()> {
        use BinaryOperator as B;
        let is_arithmetic = match &whole.kind {
            ExpressionKind::Unary(operator, _) => *operator == UnaryOperator::Negate,
            ExpressionKind::Binary(operator, ..) => {
                matches!(operator, B::Add | B::Subtract | B::Multiply | B::Divide)
            }
            _ => false,
        };
        let found = bounds(self.declarations, &context.scope, whole);
        if !is_arithmetic || is_number(found) {
            return Ok(());
        }
        Err(Diagnostic::error(whole.span, "this number may not fit in 64 bits")
            .help("use operands with smaller ranges"))
    }

    /// When a condition can be evaluated for every value of bound variables.
    fn for_every(
        &self,
        context: &mut Context,
        quantifiers: &[Quantifier],
        condition: &Expression,
    ) -> Result<Expression> {
        let Some((first, rest)) = quantifiers.split_first() else {
            return self.evaluates(context, condition);
        };
        let bounds = self.goes_through(context, first)?;
        let mut inner = context.clone();
        bind(&mut inner.scope, std::slice::from_ref(first));
        inner.variables.remove(&first.name.text);
        let each = self.for_every(&mut inner, rest, condition)?;
        Ok(and(bounds, quantified(true, vec![first.clone()], each)))
    }

    /// When the ends of a range can be evaluated, and its step leads on.
    pub(super) fn goes_through(
        &self,
        context: &mut Context,
        quantifier: &Quantifier,
    ) -> Result<Expression> {
        let Domain::Range { from, to, by } = &quantifier.domain else {
            return Ok(boolean(true, quantifier.span));
        };
        let mut known = and(self.evaluates(context, from)?, self.evaluates(context, to)?);
        if let Some(by) = by {
            known = and(known, self.evaluates(context, by)?);
            let number = |value| expression(ExpressionKind::Integer(value), by.span);
            if bounds(self.declarations, &context.scope, by).0 < 1 {
                let rises = binary(BinaryOperator::Greater, by.clone(), number(0));
                let falls = binary(BinaryOperator::Less, by.clone(), number(0));
                let down = binary(BinaryOperator::GreaterOrEqual, from.clone(), to.clone());
                known = and(known, or(rises, and(falls, down)));
            }
        }
        Ok(known)
    }

    /// When the condition of a filter can be evaluated for every element.
    pub(super) fn filters(
        &self,
        context: &mut Context,
        filter: &MultisetFilter,
    ) -> Result<Expression> {
        let found = self.finds(context, &filter.multiset)?;
        let mut inner = context.clone();
        let variable = &filter.name.text;
        inner.scope.insert(variable.clone(), position_type(filter));
        inner.variables.remove(variable);
        inner.positions.insert(variable.clone(), (*filter.multiset).clone());
        let each = self.evaluates(&mut inner, &filter.condition)?;
        if is_true(&each) {
            return Ok(found);
        }
        let span = filter.condition.span;
        let failing = MultisetFilter { condition: Box::new(not(each)), ..filter.clone() };
        let count = expression(ExpressionKind::MultisetCount(failing), span);
        let none = expression(ExpressionKind::Integer(0), span);
        Ok(and(found, binary(BinaryOperator::Equal, count, none)))
    }

    /// When what is passed or printed can be taken: it may be undefined.
    pub(super) fn passes(&self, context: &mut Context, value: &Expression) -> Result<Expression> {
        match is_place(value) {
            true => self.finds(context, value),
            false => self.evaluates(context, value),
        }
    }

    /// When a value can be taken and stored in something of a type.
    pub(super) fn stores(
        &self,
        context: &mut Context,
        value: &Expression,
        ty: &TypeExpression,
    ) -> Result<Expression> {
        let known = match self.dialect {
            Dialect::CMurphi => self.passes(context, value)?,
            Dialect::Rumur => self.evaluates(context, value)?,
        };
        let fits = self.fits(context, value, ty)?;
        if is_true(&fits) {
            return Ok(known);
        }
        let fits = match is_place(value) {
            true => implies(self.has_value(context, value), fits),
            false => fits,
        };
        Ok(and(known, fits))
    }
}

/// The variable of a filter has no type that could be written: a name that is none.
fn position_type(filter: &MultisetFilter) -> TypeExpression {
    let span = filter.name.span;
    crate::transform::build::named_type("", span)
}
