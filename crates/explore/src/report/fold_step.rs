//! A step in few lines: a record that was undefined, or becomes undefined, is one change and not one for
//! each field, and so is an element that leaves a queue, although all elements behind it move up. So a
//! message is sent and received in a line.
//!
//! One comparison per slot, and one more per element of an array that changed. Recursion follows the
//! nesting of types, which the parser limits.

use murphi::ir::{Model, Simple, TypeId, TypeKind};
use murphi::value::{State, Value, render_simple};

use super::Change;
use super::fold::{is_simple, is_undefined};
use super::reconstruct::reported;

/// What is different between two states.
pub(super) fn fold_step(model: &Model, before: &State, after: &State) -> Vec<Change> {
    let mut changes = Vec::new();
    for ((before, after), global) in before.0.iter().zip(&after.0).zip(&model.globals) {
        fold_change(model, global.ty, (before, after), &global.name, &mut changes);
    }
    changes
}

fn fold_change(
    model: &Model,
    ty: TypeId,
    (before, after): (&Value, &Value),
    place: &str,
    changes: &mut Vec<Change>,
) {
    if before == after {
        return;
    }
    match (before, after, model.kind(ty)) {
        (Value::Record(was), Value::Record(is), TypeKind::Record(fields)) => {
            let as_one = is_undefined(before) || is_undefined(after);
            if as_one && was.iter().chain(is).all(is_simple) {
                let (before, after) = (defined(model, ty, before), defined(model, ty, after));
                changes.push(Change {
                    place: place.to_owned(),
                    before,
                    after,
                    ..Change::default()
                });
                return;
            }
            for (pair, field) in was.iter().zip(is).zip(fields) {
                let place = format!("{place}.{}", field.name);
                fold_change(model, field.ty, pair, &place, changes);
            }
        }
        (Value::Array(was), Value::Array(is), &TypeKind::Array { index, element }) => {
            let is_queue = matches!(model.simple(index), Some(Simple::Range { .. }));
            if let Some(taken) = taken(was, is).filter(|_| is_queue) {
                changes.push(departure(model, (index, element), was, taken, place));
                return;
            }
            for (at, pair) in was.iter().zip(is).enumerate() {
                if pair.0 != pair.1 {
                    let place = format!("{place}[{}]", element_name(model, index, at));
                    fold_change(model, element, pair, &place, changes);
                }
            }
        }
        _ => changes.extend(before.changes(after, model, ty, place).into_iter().map(reported)),
    }
}

/// The element of a queue that left, if that and the moving up of those behind it is all that happened.
fn taken(was: &[Value], is: &[Value]) -> Option<usize> {
    let taken = was.iter().zip(is).position(|(was, is)| was != is)?;
    let behind = was.get(taken + 1..)?;
    let moved = is.get(taken..is.len() - 1)?;
    let are_moved = behind.first().is_some_and(|next| !is_undefined(next)) && behind == moved;
    (are_moved && !is_undefined(&was[taken]) && is.last().is_some_and(is_undefined))
        .then_some(taken)
}

/// `queue: -{kind: Get} from [0], 2 elements move up`
fn departure(
    model: &Model,
    (index, element): (TypeId, TypeId),
    was: &[Value],
    taken: usize,
    place: &str,
) -> Change {
    let moved = was[taken + 1..].iter().filter(|value| !is_undefined(value)).count();
    let gone = defined(model, element, &was[taken]);
    let from = element_name(model, index, taken);
    let move_up = if moved == 1 { "element moves up" } else { "elements move up" };
    let after = format!("-{gone} from [{from}], {moved} {move_up}");
    Change { place: place.to_owned(), after, removed: vec![gone], ..Change::default() }
}

/// The index of an element that is counted from 0.
fn element_name(model: &Model, index: TypeId, at: usize) -> String {
    render_simple(model, index, model.lowest(index) + at as i64)
}

/// A value without the fields that are undefined.
fn defined(model: &Model, ty: TypeId, value: &Value) -> String {
    match (value, model.kind(ty)) {
        (Value::Record(values), TypeKind::Record(fields)) if !is_undefined(value) => {
            let fields = values.iter().zip(fields).filter(|(value, _)| !is_undefined(value));
            let parts = fields
                .map(|(value, field)| format!("{}: {}", field.name, value.render(model, field.ty)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        _ if is_undefined(value) => "undefined".to_owned(),
        _ => value.render(model, ty),
    }
}
