//! Expressions without calls. A call becomes what the function returns, if that is all it does; else
//! its statements go before and a variable holds the result.
//!
//! Only what is evaluated in any case may be done before: not the right side of `and`, nor what is
//! under a quantifier. And what is done before must not change what was evaluated earlier.

use crate::ast::{BinaryOperator, Call, Expression, ExpressionKind};
use crate::source::Span;

use super::{Before, Inliner, Place, Result, not_understood};
use crate::transform::declarations::bind;
use crate::transform::effects::undisturbed;
use crate::transform::substitute::Substitution;
use crate::transform::{names, try_rebuilt};

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
        Ok(Some(substitution.expression(value)))
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
