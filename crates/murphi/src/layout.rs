//! Where everything is in an unpacked state: the aligned bytes that rules work on.
//!
//! A simple value is one slot of 1, 2, 4 or 8 bytes, as few as hold `count + 1` numbers, at a
//! multiple of its width: 0 is undefined, otherwise `value − lowest + 1`. A record is its fields in
//! order, each aligned; an array its elements at a fixed stride; a multiset the number of its
//! elements (a slot wide enough for its capacity, the number itself), then room for `capacity`
//! elements, of which those beyond the number are all zero, then a mark for each room. Marks record
//! what a rule that is running has removed; in a state they are zero, as is padding, and neither is
//! a slot. So two values of the
//! same type are the same exactly if their bytes are, multisets aside, and the all-zero state is
//! the all-undefined state. Locals of rules and functions are laid out in the same way.

use crate::ir::{Model, TypeId, TypeKind};

/// The most bytes an unpacked state may have.
pub const GREATEST_STATE: u64 = 1 << 24;

/// Sizes of all types and offsets of all state variables.
#[derive(Debug, Clone)]
pub struct Layout {
    /// For each type of the model, how it is laid out.
    pub types: Vec<TypeLayout>,
    /// For each state variable, its offset in the state.
    pub globals: Vec<u32>,
    /// Bytes of a state, a multiple of 8.
    pub size: u32,
}

/// How a type is laid out.
#[derive(Debug, Clone, Default)]
pub struct TypeLayout {
    /// Bytes, a multiple of `align`.
    pub size: u32,
    /// 1, 2, 4 or 8. Of a simple type also its width.
    pub align: u32,
    /// Of a record, the offset of each field.
    pub fields: Vec<u32>,
    /// Of an array or a multiset, the distance between elements.
    pub stride: u32,
    /// Of an array or a multiset, how many elements there is room for.
    pub length: u32,
    /// Of a multiset, the offset of its first element; the count is at offset 0.
    pub elements: u32,
    /// Of a multiset, the width of the count.
    pub count_width: u32,
    /// Of a multiset, the offset of its marks, one byte for each element there is room for.
    pub marks: u32,
}

/// One simple slot (or the count of a multiset) inside a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Bytes from the start.
    pub offset: u32,
    /// Bytes wide.
    pub width: u32,
    /// Bits that its numbers need.
    pub bits: u32,
    /// The simple type; `None` for the count of a multiset.
    pub ty: Option<TypeId>,
}

/// The model has a type that is too large to be laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge {
    /// How many bytes it would take.
    pub bytes: u64,
    /// Which type.
    pub ty: TypeId,
}

impl Layout {
    /// Lays out a model.
    pub fn of(model: &Model) -> Result<Layout, TooLarge> {
        let mut types: Vec<TypeLayout> = Vec::with_capacity(model.types.len());
        for index in 0..model.types.len() {
            // The components of a type are declared before it.
            let layout = lay_out(model, TypeId(index as u32), &types)?;
            types.push(layout);
        }
        let mut globals = Vec::with_capacity(model.globals.len());
        let mut end = 0u64;
        for global in &model.globals {
            let layout = &types[global.ty.0 as usize];
            let offset = end.next_multiple_of(u64::from(layout.align.max(1)));
            end = offset + u64::from(layout.size);
            if end > GREATEST_STATE {
                return Err(TooLarge { bytes: end, ty: global.ty });
            }
            globals.push(offset as u32);
        }
        Ok(Layout { types, globals, size: end.next_multiple_of(8) as u32 })
    }

    /// How a type is laid out.
    pub fn of_type(&self, ty: TypeId) -> &TypeLayout {
        &self.types[ty.0 as usize]
    }

    /// All slots of a state, by offset.
    pub fn leaves(&self, model: &Model) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for (global, &offset) in model.globals.iter().zip(&self.globals) {
            self.push_leaves(model, global.ty, offset, &mut leaves);
        }
        leaves
    }

    /// All slots of a value of type `ty` that starts at `offset`, by offset.
    pub fn push_leaves(&self, model: &Model, ty: TypeId, offset: u32, leaves: &mut Vec<Leaf>) {
        let layout = self.of_type(ty);
        match model.kind(ty) {
            TypeKind::Simple(_) => leaves.push(Leaf {
                offset,
                width: layout.size,
                bits: bits_for(model.count(ty)),
                ty: Some(ty),
            }),
            TypeKind::Record(fields) => {
                for (field, &at) in fields.iter().zip(&layout.fields) {
                    self.push_leaves(model, field.ty, offset + at, leaves);
                }
            }
            TypeKind::Array { element, .. } => {
                for index in 0..layout.length {
                    self.push_leaves(model, *element, offset + index * layout.stride, leaves);
                }
            }
            TypeKind::Multiset { element, .. } => {
                leaves.push(Leaf {
                    offset,
                    width: layout.count_width,
                    bits: bits_for(u64::from(layout.length)),
                    ty: None,
                });
                for index in 0..layout.length {
                    let at = offset + layout.elements + index * layout.stride;
                    self.push_leaves(model, *element, at, leaves);
                }
            }
        }
    }
}

/// Bits that the numbers 0 … `greatest` need.
fn bits_for(greatest: u64) -> u32 {
    64 - greatest.leading_zeros()
}

/// Bytes of the slot that holds 0 … `greatest`.
fn width_for(greatest: u64) -> u32 {
    match bits_for(greatest) {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

fn lay_out(model: &Model, ty: TypeId, before: &[TypeLayout]) -> Result<TypeLayout, TooLarge> {
    let too_large = |bytes: u64| TooLarge { bytes, ty };
    let fitting = |bytes: u64| match bytes <= GREATEST_STATE {
        true => Ok(bytes as u32),
        false => Err(too_large(bytes)),
    };
    match model.kind(ty) {
        TypeKind::Simple(_) => {
            let width = width_for(model.count(ty));
            Ok(TypeLayout { size: width, align: width, ..TypeLayout::default() })
        }
        TypeKind::Record(fields) => {
            let mut layout = TypeLayout { align: 1, ..TypeLayout::default() };
            let mut end = 0u64;
            for field in fields {
                let part = &before[field.ty.0 as usize];
                let offset = end.next_multiple_of(u64::from(part.align));
                end = offset + u64::from(part.size);
                layout.fields.push(fitting(offset)?);
                layout.align = layout.align.max(part.align);
            }
            layout.size = fitting(end.next_multiple_of(u64::from(layout.align)))?;
            Ok(layout)
        }
        TypeKind::Array { index, element } => {
            let part = &before[element.0 as usize];
            let bytes = model.count(*index).saturating_mul(u64::from(part.size));
            let length = fitting(model.count(*index))?;
            let (size, align, stride) = (fitting(bytes)?, part.align, part.size);
            Ok(TypeLayout { size, align, stride, length, ..TypeLayout::default() })
        }
        TypeKind::Multiset { capacity, element } => {
            let part = &before[element.0 as usize];
            let count_width = width_for(u64::from(*capacity));
            let align = part.align.max(count_width);
            let elements = count_width.next_multiple_of(part.align.max(1));
            let marks = u64::from(elements) + u64::from(*capacity) * u64::from(part.size);
            let bytes = marks + u64::from(*capacity);
            Ok(TypeLayout {
                size: fitting(bytes.next_multiple_of(u64::from(align)))?,
                align,
                fields: Vec::new(),
                stride: part.size,
                length: *capacity,
                elements,
                count_width,
                marks: fitting(marks)?,
            })
        }
    }
}
