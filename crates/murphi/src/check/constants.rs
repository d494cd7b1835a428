//! What is known before a run: folding of constants, places that need a constant, and the
//! constants a user chose.
//!
//! An operation on constants is replaced by its value. One that has none (a division by zero, a
//! result outside 64 bits) stays as it is: it may never be executed, and is an error at run time
//! if it is. Where a constant is needed it is an error at once.

use super::suggest::closest;
use super::{Check, Checker};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir::{Expression, ExpressionKind, Operator, Simple, TypeId};
use crate::source::Span;

/// The value of an expression that is known from the start.
pub(super) fn value_of(expression: &Expression) -> Option<i64> {
    match expression.kind {
        ExpressionKind::Constant(value) => Some(value),
        _ => None,
    }
}

/// The value of `left operator right`, or why there is none.
pub(super) fn fold(operator: Operator, left: i64, right: i64) -> Result<i64, &'static str> {
    const OVERFLOW: &str = "the result does not fit in 64 bits";
    let value = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide if right == 0 => return Err("this divides by zero"),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder if right == 0 => return Err("this divides by zero"),
        Operator::Remainder => left.checked_rem(right),
        Operator::BitAnd => Some(left & right),
        Operator::BitOr => Some(left | right),
        Operator::BitXor => Some(left ^ right),
        Operator::ShiftLeft => match (0..63).contains(&right) {
            true => left.checked_mul(1 << right),
            false => None,
        },
        Operator::ShiftRight => match (0..63).contains(&right) {
            true => Some(left >> right),
            false => None,
        },
        Operator::And => Some(left & right),
        Operator::Or => Some(left | right),
        Operator::Implies => Some((left ^ 1) | right),
        Operator::Equal => Some(i64::from(left == right)),
        Operator::NotEqual => Some(i64::from(left != right)),
        Operator::Less => Some(i64::from(left < right)),
        Operator::LessOrEqual => Some(i64::from(left <= right)),
        Operator::Greater => Some(i64::from(left > right)),
        Operator::GreaterOrEqual => Some(i64::from(left >= right)),
    };
    value.ok_or(OVERFLOW)
}

/// Which part of an expression is to blame that it has no value from the start, and why if it is
/// not simply unknown.
fn culprit(expression: &Expression) -> (Span, Option<&'static str>) {
    let unknown = (expression.span, None);
    match &expression.kind {
        ExpressionKind::Not(operand)
        | ExpressionKind::Negate(operand)
        | ExpressionKind::Complement(operand)
        | ExpressionKind::Convert(operand) => match value_of(operand) {
            Some(_) => (expression.span, Some("the result does not fit in 64 bits")),
            None => culprit(operand),
        },
        ExpressionKind::Binary(operator, left, right) => match (value_of(left), value_of(right)) {
            (Some(left), Some(right)) => (expression.span, fold(*operator, left, right).err()),
            (None, _) => culprit(left),
            (_, None) => culprit(right),
        },
        ExpressionKind::Conditional(condition, left, right) => {
            let parts = [condition, left, right];
            let open = parts.into_iter().find(|part| value_of(part).is_none());
            open.map_or(unknown, |part| culprit(part))
        }
        _ => unknown,
    }
}

impl Checker<'_> {
    /// An expression whose value must be known from the start. `what` names its role.
    pub(super) fn constant(
        &mut self,
        written: &ast::Expression,
        what: &str,
    ) -> Check<(i64, TypeId)> {
        let expression = self.expression(written)?;
        if let Some(value) = value_of(&expression) {
            return Ok((value, expression.ty));
        }
        let (span, reason) = culprit(&expression);
        let message = match reason {
            Some(reason) => reason.to_owned(),
            None => format!("{what} must be a constant expression"),
        };
        Err(self.error(Diagnostic::error(span, message)))
    }

    /// A number that must be known from the start.
    pub(super) fn constant_integer(&mut self, written: &ast::Expression, what: &str) -> Check<i64> {
        let (value, ty) = self.constant(written, what)?;
        if self.is_integer(ty) {
            return Ok(value);
        }
        let message = format!("{what} must be an integer, not a `{}`", self.type_name(ty));
        Err(self.error(Diagnostic::error(written.span, message)))
    }

    /// The value a user chose for a constant, if any.
    pub(super) fn chosen_value(&mut self, name: &ast::Name, ty: TypeId) -> Check<Option<i64>> {
        let mut chosen = None;
        for (index, (wanted, text)) in self.options.constants.iter().enumerate() {
            if *wanted == name.text {
                self.overridden[index] = true;
                chosen = Some(text);
            }
        }
        let Some(text) = chosen else {
            return Ok(None);
        };
        if let Some(value) = self.parse_value(text, ty) {
            return Ok(Some(value));
        }
        let wanted = match self.model.simple(ty) {
            Some(Simple::Boolean) => "`true` or `false`".to_owned(),
            Some(Simple::Enumeration(_)) => format!("a member of `{}`", self.type_name(ty)),
            _ => "an integer".to_owned(),
        };
        let message = format!("the constant `{}` cannot be `{text}`", name.text);
        let help = format!("it must be {wanted}");
        Err(self.error(Diagnostic::error(name.span, message).help(help)))
    }

    fn parse_value(&self, text: &str, ty: TypeId) -> Option<i64> {
        let text = text.trim();
        match self.model.simple(ty)? {
            Simple::Boolean if text.eq_ignore_ascii_case("false") => Some(0),
            Simple::Boolean if text.eq_ignore_ascii_case("true") => Some(1),
            Simple::Boolean => None,
            Simple::Enumeration(members) => {
                members.iter().position(|member| member == text).map(|value| value as i64)
            }
            _ => text.parse().ok(),
        }
    }

    /// Constants that a user chose but the program does not have.
    pub(super) fn report_unused_constants(&mut self) {
        let overridden = std::mem::take(&mut self.overridden);
        for ((name, _), met) in self.options.constants.iter().zip(&overridden) {
            if *met {
                continue;
            }
            let known: Vec<&str> = self.choosable.iter().map(|(known, _)| known.as_str()).collect();
            let close = closest(name, known.iter().copied());
            let help = match close {
                Some(close) => format!("did you mean `{close}`?"),
                None if known.is_empty() => "the model declares no constants".to_owned(),
                None => format!("its constants are {}", known.join(", ")),
            };
            // The place of the constant that was meant, else of the first one.
            let meant = known.iter().position(|known| Some(*known) == close).unwrap_or_default();
            let place = self.choosable.get(meant).map_or_else(Span::default, |(_, span)| *span);
            let message = format!("the model has no constant `{name}`");
            self.error(Diagnostic { help: Some(help), ..Diagnostic::error(place, message) });
        }
    }
}
