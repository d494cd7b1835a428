//! Rewrites expressions with counters. A counter may be compared with 0, which asks whether its set
//! is empty, or tested for being undefined; nothing else is supported.

use murphi::ast::{BinaryOperator, Expression, ExpressionKind};
use murphi::source::Span;
use murphi::transform::{bind, expression, index, name, not, quantified, try_rebuilt};

use super::{Context, Result, Sets, refused};

impl Sets<'_> {
    /// An expression in which counters are only compared with 0.
    pub(super) fn condition(
        &self,
        context: &mut Context,
        whole: &Expression,
    ) -> Result<Expression> {
        let span = whole.span;
        match &whole.kind {
            ExpressionKind::Binary(operator, left, right)
                if self.is_counter(context, left) || self.is_counter(context, right) =>
            {
                let compared = self.comparison(context, *operator, left, right, span);
                return compared.ok_or_else(|| refused(span));
            }
            ExpressionKind::IsUndefined(place) if self.is_counter(context, place) => {
                return Ok(self.of_elements(context, false, place, span, |element| {
                    expression(ExpressionKind::IsUndefined(Box::new(element)), span)
                }));
            }
            _ if self.is_counter(context, whole) => return Err(refused(span)),
            _ => {}
        }
        let scope = context.scope.clone();
        if let ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
            self.no_counters(quantifiers)?;
            bind(&mut context.scope, quantifiers);
        }
        let done = try_rebuilt(whole, &mut |part| self.condition(context, part));
        context.scope = scope;
        done
    }

    /// The condition on a set that corresponds to comparing its counter with 0; `None` for other
    /// comparisons.
    fn comparison(
        &self,
        context: &Context,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Option<Expression> {
        use BinaryOperator as B;
        let (counter, operator) = match (is_zero(left), is_zero(right)) {
            (false, true) => (left, operator),
            (true, false) => (right, turned_round(operator)),
            _ => return None,
        };
        let is_empty = match operator {
            B::Equal | B::LessOrEqual => true,
            B::NotEqual | B::Greater => false,
            _ => return None,
        };
        let condition = |element| if is_empty { not(element) } else { element };
        Some(self.of_elements(context, is_empty, counter, span, condition))
    }

    /// A condition on all elements of a set, or on some.
    fn of_elements(
        &self,
        context: &Context,
        all: bool,
        set: &Expression,
        span: Span,
        condition: impl FnOnce(Expression) -> Expression,
    ) -> Expression {
        let each = self.each(context);
        let element = index(set.clone(), name(&each, span));
        let quantifiers = vec![self.types.processor_quantifier(&each)];
        quantified(all, quantifiers, condition(element))
    }
}

fn is_zero(side: &Expression) -> bool {
    matches!(side.kind, ExpressionKind::Integer(0))
}

/// The operator with its sides exchanged.
fn turned_round(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessOrEqual => B::GreaterOrEqual,
        B::Greater => B::Less,
        B::GreaterOrEqual => B::LessOrEqual,
        other => other,
    }
}
