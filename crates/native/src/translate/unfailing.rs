//! Conditions that neither fail nor exclude anything, whatever the state.
//!
//! A quantifier over something without an order evaluates its condition for every member, because an
//! error of any member is an error. Where there can be none, it may stop at the first that decides.
//! What is said here is said of the syntax alone: constants, bound variables, comparisons of them,
//! what has undefined among its values, and whether something is undefined, at a place that certainly
//! exists.

use murphi::ir::{
    Base, Domain, Expression, ExpressionKind, Frame, Model, Operator, Place, Storage,
};

use super::instances::cannot_fail;

/// Whether evaluating a condition can end in nothing but its value, and changes nothing.
pub(super) fn is_unfailing(model: &Model, frame: &Frame, expression: &Expression) -> bool {
    let unfailing = |part: &Expression| is_unfailing(model, frame, part);
    match &expression.kind {
        ExpressionKind::Constant(_) => true,
        // What reads it here compares it: an index is part of a place.
        ExpressionKind::Read(place) => {
            let exists = || is_certain(model, frame, place);
            is_bound(frame, place) || model.has_undefined_value(place.ty) && exists()
        }
        ExpressionKind::IsUndefined(place) => is_certain(model, frame, place),
        ExpressionKind::Not(part) | ExpressionKind::IsMember { value: part, .. } => unfailing(part),
        ExpressionKind::Binary(operator, left, right) => {
            let computes = matches!(
                operator,
                Operator::Add
                    | Operator::Subtract
                    | Operator::Multiply
                    | Operator::Divide
                    | Operator::Remainder
            );
            !computes && unfailing(left) && unfailing(right)
        }
        ExpressionKind::Conditional(condition, yes, no) => {
            unfailing(condition) && unfailing(yes) && unfailing(no)
        }
        ExpressionKind::Quantified { binder, condition, .. } => {
            matches!(binder.domain, Domain::Type(_)) && unfailing(condition)
        }
        _ => false,
    }
}

/// Whether a place of the state certainly exists.
fn is_certain(model: &Model, frame: &Frame, place: &Place) -> bool {
    matches!(place.base, Base::Global(_)) && cannot_fail(model, frame, place)
}

fn is_bound(frame: &Frame, place: &Place) -> bool {
    let bound =
        |local: murphi::ir::LocalId| frame.locals[local.0 as usize].storage == Storage::Bound;
    place.steps.is_empty() && matches!(place.base, Base::Local(local) if bound(local))
}
