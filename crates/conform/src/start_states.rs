//! Decides whether all defined values in a start state are equal.
//!
//! Every observer assumes one initial value for all addresses, and excludes other start states: a
//! load that returns another value could be of a copy that differs from memory, or of an address
//! with another initial value, and the observers do not distinguish these. The value itself does
//! not matter, so a start state may choose it or name it. The source establishes that there is only
//! one if a start state has a single source of values. Otherwise the start states are computed for
//! the declared number of processors: linear in their number and size.

use std::sync::Arc;

use murphi::diagnostic::Diagnostic;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{Model, TypeId, TypeKind};
use murphi::value::{State, Value};

use crate::events::Protocol;
use crate::foundations::{Foundation, Unestablished};
use crate::independence::FirstValues;

/// The largest number of start states that are computed. A search stores all of them, and runs out
/// of memory before it reaches this limit.
const MOST_INSTANCES: u64 = 1 << 22;

/// The start states that may have different values, according to the source.
pub(crate) fn doubts(protocol: &Protocol) -> Vec<Unestablished> {
    let starts = protocol.model.start_states.iter().zip(&protocol.treatment.first);
    let several = starts.filter(|(_, first)| first.others || first.chosen + first.named.len() > 1);
    let doubts = several.map(|(start, _)| {
        let message = "start states in which two variables hold different values are not verified";
        let help = "start with one value everywhere, and leave absent copies undefined";
        let diagnostic = Diagnostic::warning(start.span, message).help(help);
        Unestablished { about: Foundation::StartStates, diagnostic }
    });
    doubts.collect()
}

/// Whether the lowest value is the only one in start states.
pub(crate) fn begin_with_the_lowest(protocol: &Protocol) -> bool {
    let lowest = protocol.model.lowest(protocol.value.ty);
    let is_lowest = |first: &FirstValues| {
        !first.others && first.chosen == 0 && first.named.iter().all(|&value| value == lowest)
    };
    protocol.treatment.first.iter().all(is_lowest)
}

/// Whether each start state of the protocol has a single value. Start states that fail, or that an
/// assumption excludes, have no run.
pub(crate) fn are_equal(protocol: &Protocol) -> bool {
    let (model, value) = (&protocol.model, protocol.value.ty);
    // With one value, a difference could not be seen.
    if protocol.value.count < 2 {
        return false;
    }
    let Ok(interpreter) = Interpreter::new(Arc::clone(model)) else { return false };
    let mut instances = 0;
    for (number, start) in model.start_states.iter().enumerate() {
        let count = instance::count(model, &start.parameters).unwrap_or(u64::MAX);
        instances = count.saturating_add(instances);
        if instances > MOST_INSTANCES {
            return false;
        }
        for instance in 0..count {
            if let End::Done(state) = interpreter.start(number, instance).end
                && !is_equal(model, value, &state)
            {
                return false;
            }
        }
    }
    true
}

/// Whether all values in a state are equal.
fn is_equal(model: &Model, value: TypeId, state: &State) -> bool {
    first_of(model, value, state).is_some()
}

/// The value of all defined places of a state, if there is one; `None` if they hold different ones.
pub(crate) fn first_of(model: &Model, value: TypeId, state: &State) -> Option<Option<i64>> {
    let mut first = None;
    let mut places = model.globals.iter().zip(&state.0);
    let equal = places.all(|(global, held)| agree(model, value, global.ty, held, &mut first));
    equal.then_some(first)
}

/// Whether the values in a place are equal to the one found before, if there was one.
fn agree(model: &Model, value: TypeId, ty: TypeId, held: &Value, first: &mut Option<i64>) -> bool {
    match (held, model.kind(ty)) {
        (Value::Simple(Some(number)), _) if ty == value => *first.get_or_insert(*number) == *number,
        (Value::Record(values), TypeKind::Record(fields)) => {
            let parts = values.iter().zip(fields);
            parts.into_iter().all(|(held, field)| agree(model, value, field.ty, held, first))
        }
        (Value::Array(values), TypeKind::Array { element, .. })
        | (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
            values.iter().all(|held| agree(model, value, *element, held, first))
        }
        _ => true,
    }
}
