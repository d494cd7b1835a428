//! Which instances of a rule need not be looked at one by one.
//!
//! A guard is a conjunction of parts, evaluated from left to right until one is false. A part that is
//! false for one instance, after all parts before it were true, is so for every instance with the same
//! values of the parameters that these parts mention: nothing else that they could read differs. If
//! binding the other parameters cannot fail, none of these instances applies. Instances are numbered
//! with the last parameter first, so those with the same values of the first few parameters are a block
//! of successive numbers.

use super::expression::{Execution, Stop};
use crate::instance;
use crate::ir::{
    Base, Domain, Expression, ExpressionKind, LocalId, Model, Operator, Parameter, Place, Rule,
};
use crate::walk::{self, Visitor};

/// The instances of a rule.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    /// How many there are.
    pub(super) count: u64,
    /// For each part of the guard, the size of the blocks that it decides about if it is false.
    pub(super) of_guard: Vec<u64>,
}

impl Blocks {
    pub(super) fn of(model: &Model, rule: &Rule) -> Blocks {
        let parameters = &rule.parameters;
        // A part is no larger than the whole, unless there are no instances at all.
        let count = |parameters: &[Parameter]| instance::count(model, parameters).unwrap_or(0);
        let mut parts = Vec::new();
        rule.guard.iter().for_each(|guard| split(guard, &mut parts));
        // Binding an alias or choosing an element may fail, so that they are bound in any case.
        let may_fail = |parameter: &Parameter| match parameter {
            Parameter::Each(binder) => matches!(binder.domain, Domain::Multiset(_)),
            Parameter::Alias { .. } => true,
        };
        let mut needed = parameters.iter().rposition(may_fail).map_or(0, |last| last + 1);
        let mut of_guard = Vec::new();
        for part in parts {
            let mut mentioned = Mentioned { parameters, needed };
            walk::expression(part, &mut mentioned);
            needed = mentioned.needed;
            of_guard.push(count(&parameters[needed..]));
        }
        Blocks { count: count(parameters), of_guard }
    }
}

/// Whether a guard holds. Counts the parts that are evaluated.
pub(super) fn holds<'m>(
    execution: &mut Execution<'m>,
    guard: &'m Expression,
    parts: &mut usize,
) -> Result<bool, Stop> {
    match &guard.kind {
        ExpressionKind::Binary(Operator::And, left, right) => {
            Ok(holds(execution, left, parts)? && holds(execution, right, parts)?)
        }
        _ => {
            *parts += 1;
            execution.truth(guard)
        }
    }
}

/// The parts of a guard, in the order in which [`holds`] evaluates them.
fn split<'m>(guard: &'m Expression, parts: &mut Vec<&'m Expression>) {
    match &guard.kind {
        ExpressionKind::Binary(Operator::And, left, right) => {
            split(left, parts);
            split(right, parts);
        }
        _ => parts.push(guard),
    }
}

/// How many of the first parameters are enough to bind all that are mentioned.
struct Mentioned<'m> {
    parameters: &'m [Parameter],
    needed: usize,
}

impl Visitor for Mentioned<'_> {
    fn place(&mut self, place: &Place) {
        let Base::Local(mentioned) = place.base else { return };
        let bound = |parameter: &Parameter| -> LocalId {
            match parameter {
                Parameter::Each(binder) => binder.local,
                Parameter::Alias { local, .. } => *local,
            }
        };
        if let Some(at) = self.parameters.iter().position(|it| bound(it) == mentioned) {
            self.needed = self.needed.max(at + 1);
        }
    }
}
