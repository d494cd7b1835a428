//! Projects a state of a concrete instance to a view of the abstraction: concrete processors keep their
//! variables, references to other processors become `Other` (or the processor known by name), and a set
//! keeps one element that says whether it has members outside the view.

use murphi::ir::{Model, TypeId, TypeKind};
use murphi::value::{State, Value};

/// Projects a state of the prepared program to a view. `view` has the numbers, from 0, of the
/// processors that are concrete, in the order of the abstraction; its length is the number of
/// concrete processors. `named` is the processor that is known by name, if there is one. Both
/// models must come from the same prepared program.
pub(crate) fn project(
    concrete: &Model,
    abstracted: &Model,
    processor: &str,
    view: &[usize],
    named: Option<usize>,
    state: &State,
) -> State {
    let projection = Projection { concrete, abstracted, processor, view, named };
    let variables = concrete.globals.iter().zip(&abstracted.globals);
    let values = variables.zip(&state.0);
    State(values.map(|((from, to), value)| projection.value(from.ty, to.ty, value)).collect())
}

struct Projection<'a> {
    concrete: &'a Model,
    abstracted: &'a Model,
    processor: &'a str,
    view: &'a [usize],
    named: Option<usize>,
}

impl Projection<'_> {
    fn is_processor(&self, ty: TypeId) -> bool {
        self.concrete.types[ty.0 as usize].name.as_deref() == Some(self.processor)
    }

    fn value(&self, from: TypeId, to: TypeId, value: &Value) -> Value {
        match (value, self.concrete.kind(from), self.abstracted.kind(to)) {
            (Value::Simple(Some(number)), ..) if self.is_processor(from) => {
                let in_view = self.view.iter().position(|&seen| seen as i64 == *number);
                let is_named = self.named.is_some_and(|named| named as i64 == *number);
                // Elements of a union: concrete processors, then `Other`, then the processor known
                // by name.
                let outside = self.view.len() + usize::from(is_named);
                let number = in_view.unwrap_or(outside);
                Value::Simple(Some(self.abstracted.lowest(to) + number as i64))
            }
            (Value::Record(parts), TypeKind::Record(from), TypeKind::Record(to)) => {
                let parts = parts.iter().zip(from.iter().zip(to));
                let part = |(value, (from, to)): (&Value, (&murphi::ir::Field, _))| {
                    let to: &murphi::ir::Field = to;
                    self.value(from.ty, to.ty, value)
                };
                Value::Record(parts.map(part).collect())
            }
            (
                Value::Array(elements),
                TypeKind::Array { index, element },
                TypeKind::Array { index: to_index, element: to_element },
            ) => {
                let project = |value: &Value| self.value(*element, *to_element, value);
                if !self.is_processor(*index) {
                    return Value::Array(elements.iter().map(project).collect());
                }
                let mut seen: Vec<Value> =
                    self.view.iter().map(|&number| project(&elements[number])).collect();
                if self.abstracted.count(*to_index) as usize > self.view.len() {
                    let others = elements.iter().enumerate();
                    let mut others = others.filter(|(number, _)| !self.view.contains(number));
                    let any = others.any(|(_, value)| *value == Value::Simple(Some(1)));
                    seen.push(Value::Simple(Some(i64::from(any))));
                }
                Value::Array(seen)
            }
            (
                Value::Multiset(elements),
                TypeKind::Multiset { element, .. },
                TypeKind::Multiset { element: to_element, .. },
            ) => {
                let project = |value: &Value| self.value(*element, *to_element, value);
                Value::Multiset(elements.iter().map(project).collect())
            }
            (value, ..) => value.clone(),
        }
    }
}
