//! The position of a term in a state: a fixed offset, and a stride for each index that is a variable. So
//! the position is known before any state is read.
//!
//! Variables of abstract processors are not stored, except that a set of processors has one element that
//! says whether it has abstract members.

use murphi::ir::{Model, Simple, TypeId, TypeKind};
use murphi::layout::Layout;

use super::label::{Code, NAMED_NUMBER, Raw, UNKNOWN};
use super::meaning::{AbstractProcessors, Names, meaning};
use crate::vocabulary::{Origin, Step, Term};

/// The position of a place in a state.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    offset: usize,
    strides: Vec<Stride>,
    width: usize,
    /// The meaning of each number in the slot.
    meaning: Vec<Code>,
}

/// A variable index of a place.
#[derive(Debug, Clone, Copy)]
struct Stride {
    variable: usize,
    /// The distance of two elements.
    apart: usize,
    /// The element that says whether a set has members outside the view, if the array is a set.
    others: Option<usize>,
}

/// The processor whose element is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    One,
    Others,
}

impl Slot {
    /// The slot of a term, if the model has it.
    pub(super) fn of(
        term: &Term,
        model: &Model,
        layout: &Layout,
        outside: Option<AbstractProcessors<'_>>,
        names: &mut Names,
    ) -> Option<Slot> {
        let Origin::Place { global, steps } = &term.origin else { return None };
        let at = model.globals.iter().position(|candidate| candidate.name == *global)?;
        let mut offset = layout.globals[at] as usize;
        let mut ty = model.globals[at].ty;
        let mut strides = Vec::new();
        for step in steps {
            let shape = layout.of_type(ty);
            match (step, model.kind(ty)) {
                (Step::Field(name), TypeKind::Record(fields)) => {
                    let field = fields.iter().position(|field| field.name == *name)?;
                    offset += shape.fields[field] as usize;
                    ty = fields[field].ty;
                }
                (Step::At(variable), TypeKind::Array { index, element }) => {
                    let is_set = model.simple(*element) == Some(&Simple::Boolean);
                    let others = is_set.then(|| others(model, *index, outside)).flatten();
                    let apart = shape.stride as usize;
                    strides.push(Stride { variable: *variable, apart, others });
                    ty = *element;
                }
                (Step::Element(number), TypeKind::Array { element, .. }) => {
                    if *number >= u64::from(shape.length) {
                        return None;
                    }
                    offset += *number as usize * shape.stride as usize;
                    ty = *element;
                }
                _ => return None,
            }
        }
        model.simple(ty)?;
        let width = layout.of_type(ty).size as usize;
        let meaning = meaning(model, ty, outside, names).into_iter().map(Raw::code).collect();
        Some(Slot { offset, strides, width, meaning })
    }

    /// The offset for these values of the variables; `None` if it belongs to an abstract processor,
    /// of which nothing is kept.
    pub(super) fn at(&self, values: &[Option<u64>]) -> Option<(usize, Owner)> {
        let mut offset = self.offset;
        let mut whose = Owner::One;
        for stride in &self.strides {
            let at = match values[stride.variable] {
                Some(NAMED_NUMBER) | None => {
                    whose = Owner::Others;
                    stride.others?
                }
                Some(value) => value as usize,
            };
            offset += at * stride.apart;
        }
        Some((offset, whose))
    }

    /// What is read at an offset that [`Slot::at`] gave.
    pub(super) fn read(&self, state: &[u8], offset: usize) -> Code {
        let unknown = UNKNOWN.into();
        let Some(bytes) = state.get(offset..offset + self.width) else { return unknown };
        let number = match *bytes {
            [byte] => u64::from(byte),
            _ => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        self.meaning.get(number as usize).copied().unwrap_or(unknown)
    }
}

/// The value of an index that stands for the abstract processors.
fn others(model: &Model, index: TypeId, outside: Option<AbstractProcessors<'_>>) -> Option<usize> {
    let values = meaning(model, index, outside, &mut Names::default());
    values[1..].iter().position(|value| *value == Raw::Other)
}
