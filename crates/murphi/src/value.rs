//! Values as plain trees: what the reference interpreter computes with and what people are shown.
//!
//! A tree is made from, and written to, the bytes that [`Layout`] describes, slot by slot and
//! without help from anything native, so that the two views of a state check each other. Both
//! directions cost one visit per slot. Rendering is in the words of the source: names of
//! enumeration members, `Proc_2` for the second member of the scalarset `Proc`, `undefined`.
//! Recursion follows the nesting of types, which the parser limits.

mod listing;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::ir::{Model, Simple, TypeId, TypeKind};
use crate::layout::Layout;

pub use listing::Change;
pub(crate) use listing::component;

/// A value of any type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A simple value; `None` is undefined.
    Simple(Option<i64>),
    /// The fields of a record, in the order of their declaration.
    Record(Vec<Value>),
    /// The elements of an array, in the order of the index type.
    Array(Vec<Value>),
    /// The elements of a multiset, by position.
    Multiset(Vec<Value>),
    /// Among the elements of a multiset: one that the rule which is running has removed, with
    /// what was added in its room since. Only the interpreter makes these, and no state has one.
    Removed(Option<Box<Value>>),
}

/// The values of all state variables, in the order of their declaration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State(pub Vec<Value>);

/// Bytes that are not a state of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// There are too many or too few bytes.
    Size {
        /// How many a state has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The slot at this offset holds a number that its type does not have.
    Slot {
        /// Bytes from the start of the state.
        offset: usize,
        /// What it holds.
        number: u64,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Size { expected, found } => {
                write!(out, "a state of this model has {expected} bytes, not {found}")
            }
            Malformed::Slot { offset, number } => {
                write!(
                    out,
                    "the slot at byte {offset} holds {number}, which its type does not have"
                )
            }
        }
    }
}

impl std::error::Error for Malformed {}

impl Value {
    /// The all-undefined value of a type; its multisets are empty.
    pub fn undefined(model: &Model, ty: TypeId) -> Value {
        Value::uniform(model, ty, &|_| None)
    }

    /// The value that `clear` gives: the least one of every component; multisets are empty.
    pub fn least(model: &Model, ty: TypeId) -> Value {
        Value::uniform(model, ty, &|ty| Some(model.lowest(ty)))
    }

    fn uniform(model: &Model, ty: TypeId, simple: &impl Fn(TypeId) -> Option<i64>) -> Value {
        match model.kind(ty) {
            TypeKind::Simple(_) => Value::Simple(simple(ty)),
            TypeKind::Record(fields) => {
                let part = |field: &crate::ir::Field| Value::uniform(model, field.ty, simple);
                Value::Record(fields.iter().map(part).collect())
            }
            TypeKind::Array { index, element } => {
                let length = model.count(*index) as usize;
                Value::Array(vec![Value::uniform(model, *element, simple); length])
            }
            TypeKind::Multiset { .. } => Value::Multiset(Vec::new()),
        }
    }

    /// Whether two values of one type are the same: component by component, undefined the same as
    /// undefined only, multisets without regard to positions.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Simple(left), Value::Simple(right)) => left == right,
            (Value::Record(left), Value::Record(right))
            | (Value::Array(left), Value::Array(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.same(right))
            }
            (Value::Multiset(left), Value::Multiset(right)) => {
                let (removed, added) = multiset_difference(left, right);
                removed.is_empty() && added.is_empty()
            }
            _ => false,
        }
    }

    /// Closes the gaps that removals have left in multisets; the elements keep their order.
    pub(crate) fn close_gaps(&mut self) {
        if let Value::Multiset(values) = self {
            values.retain_mut(|value| match value {
                Value::Removed(None) => false,
                Value::Removed(Some(added)) => {
                    *value = std::mem::replace(added, Value::Simple(None));
                    true
                }
                _ => true,
            });
        }
        match self {
            Value::Record(values) | Value::Array(values) | Value::Multiset(values) => {
                values.iter_mut().for_each(Value::close_gaps);
            }
            Value::Simple(_) | Value::Removed(_) => {}
        }
    }

    /// Reads a value of type `ty` from the bytes of a state, starting at `offset`.
    pub fn decode(
        model: &Model,
        layout: &Layout,
        ty: TypeId,
        bytes: &[u8],
        offset: usize,
    ) -> Result<Value, Malformed> {
        let shape = layout.of_type(ty);
        let element_at = |element: TypeId, start: usize, index: usize| {
            Value::decode(model, layout, element, bytes, start + index * shape.stride as usize)
        };
        match model.kind(ty) {
            TypeKind::Simple(_) => {
                let number = read_slot(bytes, offset, shape.size);
                if number > model.count(ty) {
                    return Err(Malformed::Slot { offset, number });
                }
                let value = i128::from(model.lowest(ty)) + i128::from(number) - 1;
                Ok(Value::Simple((number != 0).then_some(value as i64)))
            }
            TypeKind::Record(fields) => {
                let parts = fields.iter().zip(&shape.fields);
                let values = parts.map(|(field, &at)| {
                    Value::decode(model, layout, field.ty, bytes, offset + at as usize)
                });
                values.collect::<Result<_, _>>().map(Value::Record)
            }
            TypeKind::Array { element, .. } => {
                let values =
                    (0..shape.length as usize).map(|index| element_at(*element, offset, index));
                values.collect::<Result<_, _>>().map(Value::Array)
            }
            TypeKind::Multiset { capacity, element } => {
                let number = read_slot(bytes, offset, shape.count_width);
                if number > u64::from(*capacity) {
                    return Err(Malformed::Slot { offset, number });
                }
                let start = offset + shape.elements as usize;
                let values = (0..number as usize).map(|index| element_at(*element, start, index));
                values.collect::<Result<_, _>>().map(Value::Multiset)
            }
        }
    }

    /// Writes a value of type `ty` into zeroed bytes, starting at `offset`.
    ///
    /// # Panics
    ///
    /// If the value is not one of type `ty`.
    pub fn encode(
        &self,
        model: &Model,
        layout: &Layout,
        ty: TypeId,
        bytes: &mut [u8],
        offset: usize,
    ) {
        let shape = layout.of_type(ty);
        match (self, model.kind(ty)) {
            (Value::Simple(value), TypeKind::Simple(_)) => {
                let number =
                    value.map_or(0, |value| i128::from(value) - i128::from(model.lowest(ty)) + 1);
                write_slot(bytes, offset, shape.size, number as u64);
            }
            (Value::Record(values), TypeKind::Record(fields)) => {
                for ((value, field), &at) in values.iter().zip(fields).zip(&shape.fields) {
                    value.encode(model, layout, field.ty, bytes, offset + at as usize);
                }
            }
            (Value::Array(values), TypeKind::Array { element, .. }) => {
                for (index, value) in values.iter().enumerate() {
                    let at = offset + index * shape.stride as usize;
                    value.encode(model, layout, *element, bytes, at);
                }
            }
            (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
                write_slot(bytes, offset, shape.count_width, values.len() as u64);
                for (index, value) in values.iter().enumerate() {
                    let at = offset + (shape.elements as usize) + index * shape.stride as usize;
                    value.encode(model, layout, *element, bytes, at);
                }
            }
            (value, kind) => panic!("{value:?} is not of type {kind:?}"),
        }
    }

    /// The value in the words of the source: `3`, `Proc_1`, `{kind: Get, source: Proc_2}`,
    /// `[Proc_1: true, Proc_2: undefined]`, and a multiset as `{| 1, 1, 2 |}`.
    pub fn render(&self, model: &Model, ty: TypeId) -> String {
        match (self, model.kind(ty)) {
            (Value::Simple(None), _) => "undefined".to_owned(),
            (Value::Simple(Some(value)), _) => render_simple(model, ty, *value),
            (Value::Record(values), TypeKind::Record(fields)) => {
                let parts = values.iter().zip(fields).map(|(value, field)| {
                    format!("{}: {}", field.name, value.render(model, field.ty))
                });
                format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
            }
            (Value::Array(values), TypeKind::Array { index, element }) => {
                let parts = values.iter().enumerate().map(|(at, value)| {
                    let position = render_index(model, *index, at);
                    format!("{position}: {}", value.render(model, *element))
                });
                format!("[{}]", parts.collect::<Vec<_>>().join(", "))
            }
            (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
                let parts = present(values).map(|value| value.render(model, *element));
                let parts = parts.collect::<Vec<_>>();
                match parts.is_empty() {
                    true => "{| |}".to_owned(),
                    false => format!("{{| {} |}}", parts.join(", ")),
                }
            }
            (value, kind) => panic!("{value:?} is not of type {kind:?}"),
        }
    }
}

impl State {
    /// The state before anything was assigned: everything is undefined.
    pub fn undefined(model: &Model) -> State {
        State(model.globals.iter().map(|global| Value::undefined(model, global.ty)).collect())
    }

    /// Reads the bytes of a state.
    pub fn decode(model: &Model, layout: &Layout, bytes: &[u8]) -> Result<State, Malformed> {
        if bytes.len() != layout.size as usize {
            return Err(Malformed::Size { expected: layout.size as usize, found: bytes.len() });
        }
        let globals = model.globals.iter().zip(&layout.globals);
        let values = globals.map(|(global, &offset)| {
            Value::decode(model, layout, global.ty, bytes, offset as usize)
        });
        values.collect::<Result<_, _>>().map(State)
    }

    /// The bytes of the state.
    pub fn encode(&self, model: &Model, layout: &Layout) -> Vec<u8> {
        let mut bytes = vec![0; layout.size as usize];
        let globals = model.globals.iter().zip(&layout.globals);
        for (value, (global, &offset)) in self.0.iter().zip(globals) {
            value.encode(model, layout, global.ty, &mut bytes, offset as usize);
        }
        bytes
    }

    /// The same state with the elements of every multiset sorted by their bytes, from the inside
    /// out. Two states are the same as states exactly if their sorted forms are equal.
    pub fn sorted(&self, model: &Model, layout: &Layout) -> State {
        let mut state = self.clone();
        for (value, global) in state.0.iter_mut().zip(&model.globals) {
            sort_multisets(value, model, layout, global.ty);
        }
        state
    }
}

fn sort_multisets(value: &mut Value, model: &Model, layout: &Layout, ty: TypeId) {
    match (value, model.kind(ty)) {
        (Value::Record(values), TypeKind::Record(fields)) => {
            for (value, field) in values.iter_mut().zip(fields) {
                sort_multisets(value, model, layout, field.ty);
            }
        }
        (Value::Array(values), TypeKind::Array { element, .. }) => {
            for value in values {
                sort_multisets(value, model, layout, *element);
            }
        }
        (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
            for value in values.iter_mut() {
                sort_multisets(value, model, layout, *element);
            }
            let size = layout.of_type(*element).size as usize;
            values.sort_by_cached_key(|value| {
                let mut bytes = vec![0; size];
                value.encode(model, layout, *element, &mut bytes, 0);
                bytes
            });
        }
        _ => {}
    }
}

/// The elements of a multiset, without the gaps between them.
pub(crate) fn present(values: &[Value]) -> impl Iterator<Item = &Value> {
    values.iter().filter_map(|value| match value {
        Value::Removed(added) => added.as_deref(),
        value => Some(value),
    })
}

/// The elements of `before` that `after` does not have, and the reverse, with multiplicity.
pub(crate) fn multiset_difference<'a>(
    before: &'a [Value],
    after: &'a [Value],
) -> (Vec<&'a Value>, Vec<&'a Value>) {
    let mut added: Vec<&Value> = present(after).collect();
    let mut removed = Vec::new();
    for value in present(before) {
        // Being the same is an equivalence, so any partner is as good as another.
        match added.iter().position(|candidate| candidate.same(value)) {
            Some(at) => drop(added.remove(at)),
            None => removed.push(value),
        }
    }
    (removed, added)
}

fn read_slot(bytes: &[u8], offset: usize, width: u32) -> u64 {
    let mut number = [0; 8];
    number[..width as usize].copy_from_slice(&bytes[offset..offset + width as usize]);
    u64::from_le_bytes(number)
}

fn write_slot(bytes: &mut [u8], offset: usize, width: u32, number: u64) {
    let number = number.to_le_bytes();
    bytes[offset..offset + width as usize].copy_from_slice(&number[..width as usize]);
}

/// A defined value of a simple type in the words of the source.
pub fn render_simple(model: &Model, ty: TypeId, value: i64) -> String {
    match model.simple(ty) {
        Some(Simple::Boolean) => if value == 0 { "false" } else { "true" }.to_owned(),
        Some(Simple::Enumeration(members)) => match usize::try_from(value) {
            Ok(at) if at < members.len() => members[at].clone(),
            _ => value.to_string(),
        },
        Some(Simple::Scalarset(_)) => match &model.types[ty.0 as usize].name {
            Some(name) => format!("{name}_{}", value.wrapping_add(1)),
            // No name of the source has this form, so it stays unambiguous.
            None => format!("scalarset#{}_{}", ty.0, value.wrapping_add(1)),
        },
        Some(Simple::Union(_)) => match union_member(model, ty, value) {
            Some((member, value)) => render_simple(model, member, value),
            None => value.to_string(),
        },
        _ => value.to_string(),
    }
}

/// To which member of a union a value belongs, and which value of that member it is.
pub(crate) fn union_member(model: &Model, union: TypeId, value: i64) -> Option<(TypeId, i64)> {
    let Some(Simple::Union(members)) = model.simple(union) else {
        return None;
    };
    let mut rest = value;
    for &member in members {
        let count = model.count(member) as i64;
        if (0..count).contains(&rest) {
            return Some((member, rest));
        }
        rest -= count;
    }
    None
}

/// The index of the array element at a place counted from 0, in the words of the source.
pub(crate) fn render_index(model: &Model, index: TypeId, at: usize) -> String {
    render_simple(model, index, model.lowest(index).wrapping_add(at as i64))
}
