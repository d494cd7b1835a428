//! Expressions without calls. A call becomes what the function returns, if that is all it does; else
//! its statements go before and a variable holds the result.
//!
//! Only what is evaluated in any case may be done before: not the right side of `and`, nor what is
//! under a quantifier. And what is done before must not change what was evaluated earlier.

use crate::ast::{BinaryOperator, Call, Expression, ExpressionKind, TypeKind};
use crate::source::Span;

use super::{Before, Inliner, Place, Result, is_steady, not_understood};
use crate::transform::declarations::{Scope, bind};
use crate::transform::effects::undisturbed;
use crate::transform::substitute::Substitution;
use crate::transform::{
    binary, boolean, expression, field, index, is_place, name, names, try_rebuilt,
};

impl Inliner<'_> {
    /// An expression without calls. What has to be done first goes to `before`.
    pub(super) fn evaluated(
        &self,
        place: &mut Place,
        whole: &Expression,
        before: &mut Before,
    ) -> Result<Expression> {
        if let ExpressionKind::Call(call) = &whole.kind {
            return self.called(place, call, whole.span, before);
        }
        let outer = place.scope.clone();
        if let ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
            bind(&mut place.scope, quantifiers);
        }
        let mut earlier = Vec::new();
        let done = try_rebuilt(whole, &mut |part| match is_lazy(whole) {
            true => self.evaluated(place, part, &mut None),
            false => self.evaluated_after(&mut earlier, place, part, before),
        });
        place.leave(outer)?;
        done
    }

    /// An expression that is evaluated after those that read `earlier`.
    fn evaluated_after(
        &self,
        earlier: &mut Vec<String>,
        place: &mut Place,
        whole: &Expression,
        before: &mut Before,
    ) -> Result<Expression> {
        let first = before.as_ref().map_or(0, Vec::len);
        let done = self.evaluated(place, whole, before)?;
        let hoisted = before.as_deref().unwrap_or_default();
        undisturbed(earlier, &hoisted[first..], whole.span)?;
        earlier.extend(names(&done));
        Ok(done)
    }

    /// The arguments of a call, without calls.
    pub(super) fn arguments(
        &self,
        place: &mut Place,
        call: &Call,
        before: &mut Before,
    ) -> Result<Vec<Expression>> {
        let mut earlier = Vec::new();
        let arguments = call.arguments.iter();
        arguments
            .map(|argument| self.evaluated_after(&mut earlier, place, argument, before))
            .collect()
    }

    /// What a call gives.
    fn called(
        &self,
        place: &mut Place,
        call: &Call,
        span: Span,
        before: &mut Before,
    ) -> Result<Expression> {
        let arguments = self.arguments(place, call, before)?;
        if let Some(value) = self.value_of(place, call, &arguments)? {
            return Ok(Expression { kind: value.kind, span });
        }
        let Some(before) = before else { return Err(not_understood(span)) };
        let call = Call { name: call.name.clone(), arguments };
        let (statements, result) = self.call(place, &call, span)?;
        before.extend(statements);
        result.ok_or_else(|| not_understood(span))
    }

    /// What a function returns for these arguments, if that is all it does and each of them fits.
    fn value_of(
        &self,
        place: &Place,
        call: &Call,
        arguments: &[Expression],
    ) -> Result<Option<Expression>> {
        let callee = self.found(call)?;
        let Some(value) = &callee.value else { return Ok(None) };
        let mut substitution = Substitution::default();
        substitution.avoid(place.scope.keys().cloned());
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            if self.narrows(&place.scope, argument, &parameter.ty) {
                return Ok(None);
            }
            substitution.insert(&parameter.name, argument.clone());
        }
        let value = substitution.expression(value);
        let unsteady = arguments.iter().rev().filter(|argument| !is_steady(argument));
        let is_condition = callee.result.as_ref().is_some_and(|ty| self.types.is_boolean(ty));
        let mut whole = value;
        for argument in unsteady {
            let Some(evaluates) = self.evaluates(&place.scope, argument) else { return Ok(None) };
            let [evaluates, value] = [evaluates, whole.clone()].map(Box::new);
            let kind = match is_condition {
                true => ExpressionKind::Binary(BinaryOperator::And, evaluates, value),
                false => ExpressionKind::Conditional(evaluates, value.clone(), value),
            };
            whole = Expression { kind, span: whole.span };
        }
        Ok(Some(whole))
    }

    /// A condition that is true, and fails if something cannot be passed.
    fn evaluates(&self, scope: &Scope, passed: &Expression) -> Option<Expression> {
        let span = passed.span;
        if !is_place(passed) {
            return Some(binary(BinaryOperator::Equal, passed.clone(), passed.clone()));
        }
        let part = self.simple_part(scope, passed)?;
        let asked = expression(ExpressionKind::IsUndefined(Box::new(part)), span);
        // Not by `or`, which leaves out what does not decide.
        Some(binary(BinaryOperator::Or, asked, boolean(true, span)))
    }

    /// A simple place that is found if and only if the whole is.
    fn simple_part(&self, scope: &Scope, whole: &Expression) -> Option<Expression> {
        let ty = self.types.of(scope, whole)?;
        let part = match &self.types.resolve(&ty).kind {
            TypeKind::Record(fields) => field(whole.clone(), &fields.first()?.names.first()?.text),
            TypeKind::Array { index: at, .. } => {
                let first = match &self.types.resolve(at).kind {
                    TypeKind::Range(low, _) => (**low).clone(),
                    TypeKind::Enumeration(members) => name(&members.first()?.text, whole.span),
                    TypeKind::Named(at) if at.text == "boolean" => boolean(false, whole.span),
                    _ => return None,
                };
                index(whole.clone(), first)
            }
            TypeKind::Multiset { .. } => return None,
            _ => return Some(whole.clone()),
        };
        self.simple_part(scope, &part)
    }
}

/// Whether some part of an expression need not be evaluated, or is more than once.
fn is_lazy(whole: &Expression) -> bool {
    use BinaryOperator as B;
    matches!(
        &whole.kind,
        ExpressionKind::Binary(B::And | B::Or | B::Implies | B::LogicalAnd | B::LogicalOr, ..)
            | ExpressionKind::Conditional(..)
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::MultisetCount(_)
    )
}
