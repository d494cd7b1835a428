//! Which processor an expression is, and whether two are the same.
//!
//! Transformations T9 and T11 of docs/abstraction.md. With p = `Other`, `owner = p` becomes
//! `owner = Other` in a guard, which may hold of another one as well.

use murphi::ast::{BinaryOperator, Expression, ExpressionKind};
use murphi::transform::{and, binary, boolean, name, not, or};

use super::instance::{Instance, Mode, NAMED, OTHER, Obstacle, ProcessorKind, Step};
use super::places::Visibility;
use crate::{Choice, Fixed};

/// The processor that an expression denotes.
pub(super) enum ProcessorValue {
    Concrete(Expression),
    /// The processor known by name.
    Named,
    /// An abstract processor that is not known by name.
    Other,
    /// Any processor that is not concrete.
    Outside,
    /// A stored reference, which may be concrete or not.
    Stored(Expression),
    /// No processor: the value is undefined.
    Undefined,
}

impl Instance<'_> {
    pub(super) fn is_processor(&self, whole: &Expression) -> bool {
        self.types.of(&self.scope, whole).is_some_and(|ty| self.types.is_processor(&ty))
    }

    pub(super) fn same_processor(
        &mut self,
        whole: &Expression,
        left: &Expression,
        right: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let span = whole.span;
        let is_same_name = matches!((&left.kind, &right.kind),
            (ExpressionKind::Name(left), ExpressionKind::Name(right)) if left == right);
        if is_same_name {
            return Ok(boolean(true, span));
        }
        let first = self.processor_value(left, mode.strict())?;
        let second = self.processor_value(right, mode.strict())?;
        let equal = |left, right| binary(BinaryOperator::Equal, left, right);
        let other = name(OTHER, span);
        let equation = || equal(left.clone(), right.clone());
        match (first, second) {
            (ProcessorValue::Undefined, _) | (_, ProcessorValue::Undefined) => {
                Err(Obstacle::Undefined)
            }
            (ProcessorValue::Concrete(left), ProcessorValue::Concrete(right))
            | (ProcessorValue::Concrete(left), ProcessorValue::Stored(right))
            | (ProcessorValue::Stored(left), ProcessorValue::Concrete(right)) => {
                Ok(equal(left, right))
            }
            (ProcessorValue::Concrete(_), _) | (_, ProcessorValue::Concrete(_)) => {
                Ok(boolean(false, span))
            }
            (ProcessorValue::Named, ProcessorValue::Named) => Ok(boolean(true, span)),
            (ProcessorValue::Named, ProcessorValue::Other)
            | (ProcessorValue::Other, ProcessorValue::Named) => Ok(boolean(false, span)),
            (ProcessorValue::Stored(stored), ProcessorValue::Named)
            | (ProcessorValue::Named, ProcessorValue::Stored(stored)) => {
                Ok(equal(stored, name(NAMED, span)))
            }
            (ProcessorValue::Stored(left), ProcessorValue::Stored(right)) => {
                let same = equal(left.clone(), right);
                match mode {
                    Mode::Weaker => Ok(same),
                    Mode::Stronger => Ok(and(same, not(equal(left, other)))),
                    // If one of them is concrete, the comparison is known.
                    Mode::Probe => Err(Obstacle::Split(left)),
                    Mode::Exact => {
                        let chosen = self.chosen_truth(&equation())?;
                        Ok(and(same, or(not(equal(left, other)), chosen)))
                    }
                }
            }
            (ProcessorValue::Stored(stored), outside)
            | (outside, ProcessorValue::Stored(stored)) => {
                let is_other = equal(stored.clone(), other);
                let may_be = match outside {
                    ProcessorValue::Outside if self.types.has_named() => {
                        or(is_other, equal(stored, name(NAMED, span)))
                    }
                    _ => is_other,
                };
                match mode {
                    Mode::Weaker => Ok(match self.known_truth(&equation()) {
                        Some(known) => and(may_be, known),
                        None => may_be,
                    }),
                    Mode::Stronger => Ok(match self.known_truth(&equation()) {
                        Some(known) => and(may_be, known),
                        None => boolean(false, span),
                    }),
                    Mode::Probe => Err(Obstacle::Unknown),
                    Mode::Exact => Ok(and(may_be, self.chosen_truth(&equation())?)),
                }
            }
            // Two abstract processors, which may be equal.
            (ProcessorValue::Named | ProcessorValue::Other | ProcessorValue::Outside, _) => {
                match mode {
                    Mode::Exact => self.chosen_truth(&equation()),
                    _ => self.known_truth(&equation()).ok_or(Obstacle::Unknown),
                }
            }
        }
    }

    /// The processor that an expression denotes.
    pub(super) fn processor_value(
        &mut self,
        whole: &Expression,
        mode: Mode,
    ) -> Step<ProcessorValue> {
        if let ExpressionKind::Name(variable) = &whole.kind
            && let Some(processor_kinds) = self.processor_kinds.get(variable)
        {
            return Ok(match processor_kinds {
                ProcessorKind::Concrete => ProcessorValue::Concrete(whole.clone()),
                ProcessorKind::Named => ProcessorValue::Named,
                ProcessorKind::Other => ProcessorValue::Other,
                ProcessorKind::Outside => ProcessorValue::Outside,
            });
        }
        if matches!(whole.kind, ExpressionKind::Undefined) {
            return Ok(ProcessorValue::Undefined);
        }
        if matches!(whole.kind, ExpressionKind::Conditional(..)) {
            let message = "a conditional expression that chooses between two processors cannot be \
                           used here";
            return Err(Obstacle::refuse(whole.span, message, "use `if` and two assignments"));
        }
        match self.place(whole, mode)? {
            Visibility::Visible(place) => Ok(match self.standing_of(&place) {
                Some(ProcessorKind::Concrete) => ProcessorValue::Concrete(place),
                Some(ProcessorKind::Named) => ProcessorValue::Named,
                Some(ProcessorKind::Other) => ProcessorValue::Other,
                Some(ProcessorKind::Outside) | None => ProcessorValue::Stored(place),
            }),
            Visibility::Hidden | Visibility::Member(_) => {
                let choice = self.choice(whole, mode, false)?;
                Ok(processor_of(&choice, whole))
            }
        }
    }
}

/// The processor that a choice denotes.
pub(super) fn processor_of(choice: &Choice, at: &Expression) -> ProcessorValue {
    match (&choice.name, choice.fixed) {
        (Some(parameter), _) => ProcessorValue::Concrete(name(parameter, at.span)),
        (None, Some(Fixed::Named)) => ProcessorValue::Named,
        (None, Some(Fixed::Other)) => ProcessorValue::Other,
        (None, _) => ProcessorValue::Undefined,
    }
}
