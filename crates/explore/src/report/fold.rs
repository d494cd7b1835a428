//! A whole state in few lines: what is undefined as a whole is one line, and so are small records
//! and neighbours in an array that hold the same.
//!
//! One visit per slot and one comparison per element. Recursion follows the nesting of types,
//! which the parser limits.

use murphi::ir::{Model, TypeId, TypeKind};
use murphi::value::{State, Value, render_simple};

/// How wide a record may be to stay in one line.
const WIDTH: usize = 72;

/// Places with their values; a place may stand for several: `x[Proc_1..Proc_3]`.
pub(super) fn fold(model: &Model, state: &State) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (value, global) in state.0.iter().zip(&model.globals) {
        fold_value(model, global.ty, value, &global.name, &mut lines);
    }
    lines
}

fn fold_value(
    model: &Model,
    ty: TypeId,
    value: &Value,
    place: &str,
    lines: &mut Vec<(String, String)>,
) {
    if is_undefined(value) {
        lines.push((place.to_owned(), "undefined".to_owned()));
        return;
    }
    match (value, model.kind(ty)) {
        (Value::Record(values), TypeKind::Record(fields)) => {
            let whole = value.render(model, ty);
            if values.iter().all(is_simple) && whole.len() <= WIDTH {
                lines.push((place.to_owned(), whole));
                return;
            }
            for (value, field) in values.iter().zip(fields) {
                fold_value(model, field.ty, value, &format!("{place}.{}", field.name), lines);
            }
        }
        (Value::Array(values), TypeKind::Array { index, element }) => {
            let name = |at: usize| render_simple(model, *index, model.lowest(*index) + at as i64);
            let mut first = 0;
            for run in values.chunk_by(|left, right| left == right) {
                let last = first + run.len() - 1;
                let indices = match run.len() {
                    1 => name(first),
                    _ => format!("{}..{}", name(first), name(last)),
                };
                fold_value(model, *element, &run[0], &format!("{place}[{indices}]"), lines);
                first = last + 1;
            }
        }
        (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
            if values.is_empty() {
                lines.push((place.to_owned(), "empty".to_owned()));
            }
            for (at, value) in values.iter().enumerate() {
                lines.push((format!("{place}{{{at}}}"), value.render(model, *element)));
            }
        }
        _ => lines.push((place.to_owned(), value.render(model, ty))),
    }
}

pub(super) fn is_simple(value: &Value) -> bool {
    matches!(value, Value::Simple(_))
}

/// Whether everything in a value is undefined. An empty multiset is a value, not undefined.
pub(super) fn is_undefined(value: &Value) -> bool {
    match value {
        Value::Simple(value) => value.is_none(),
        Value::Record(values) | Value::Array(values) => values.iter().all(is_undefined),
        Value::Multiset(_) | Value::Removed(_) => false,
    }
}
