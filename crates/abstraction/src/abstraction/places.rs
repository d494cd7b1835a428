//! Where a place is: in view, or with processors that are not concrete.
//!
//! Transformation T8 of docs/abstraction.md, with p = `Other`: `c[p].state` is hidden, `c[q].state` is
//! visible for a concrete q, and `sharers[p]` is the element `sharers[Other]` of a set.

use murphi::ast::{Expression, ExpressionKind};
use murphi::transform::{expression, index, name, path};

use super::instance::{Instance, Mode, OTHER, Obstacle, ProcessorKind, Step};
use super::processors::ProcessorValue;

/// Whether a place is kept, for given concrete processors.
pub(super) enum Visibility {
    Visible(Expression),
    /// It belongs to an abstract processor, and is not kept.
    Hidden,
    /// The membership of an abstract processor in a set: the element that says whether any of them
    /// is a member.
    Member(Expression),
}

impl Instance<'_> {
    /// Whether a place is indexed by an abstract parameter or loop variable, or is not kept for
    /// another reason.
    pub(super) fn belongs_to_other(&self, place: &Expression) -> bool {
        self.types.leaves_out(&path(place)) || self.is_of_other(place)
    }

    fn is_of_other(&self, place: &Expression) -> bool {
        match &place.kind {
            ExpressionKind::Field(inner, _) => self.is_of_other(inner),
            ExpressionKind::Index(inner, at) => {
                let is_other = matches!(&at.kind, ExpressionKind::Name(name)
                    if self.processor_kinds.get(name).is_some_and(|at| *at != ProcessorKind::Concrete));
                (is_other && !self.is_set(inner)) || self.is_of_other(inner)
            }
            _ => false,
        }
    }

    /// The visibility of a place.
    pub(super) fn place(&mut self, whole: &Expression, mode: Mode) -> Step<Visibility> {
        if self.belongs_to_other(whole) {
            return Ok(Visibility::Hidden);
        }
        match &whole.kind {
            ExpressionKind::Field(inner, field) => Ok(match self.place(inner, mode)? {
                Visibility::Visible(inner) => Visibility::Visible(expression(
                    ExpressionKind::Field(Box::new(inner), field.clone()),
                    whole.span,
                )),
                Visibility::Hidden | Visibility::Member(_) => Visibility::Hidden,
            }),
            ExpressionKind::Index(array, at) => {
                let Visibility::Visible(inner) = self.place(array, mode)? else {
                    return Ok(Visibility::Hidden);
                };
                let ty = self.types.of(&self.scope, array);
                let by_processor = ty
                    .and_then(|ty| self.types.array(&ty))
                    .is_some_and(|(index, _)| self.types.is_processor(&index));
                if !by_processor {
                    return Ok(Visibility::Visible(index(inner, self.value(at, mode)?)));
                }
                match self.processor_value(at, mode)? {
                    ProcessorValue::Concrete(at) => Ok(Visibility::Visible(index(inner, at))),
                    ProcessorValue::Named | ProcessorValue::Other | ProcessorValue::Outside
                        if self.is_set(array) =>
                    {
                        let other = name(OTHER, at.span);
                        Ok(Visibility::Member(index(inner, other)))
                    }
                    ProcessorValue::Named | ProcessorValue::Other | ProcessorValue::Outside => {
                        Ok(Visibility::Hidden)
                    }
                    ProcessorValue::Stored(at) => Err(Obstacle::Split(at)),
                    ProcessorValue::Undefined => Err(Obstacle::Undefined),
                }
            }
            ExpressionKind::Name(_) => Ok(Visibility::Visible(whole.clone())),
            _ => Ok(Visibility::Visible(self.value(whole, mode)?)),
        }
    }
}
