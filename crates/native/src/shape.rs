//! How values look in memory, for what native code leaves to the host.
//!
//! For each type: its size, what `clear` makes of it, how to compare two of its values when there
//! are multisets inside, and how elements leave a multiset. For the state: which numbers each slot
//! may hold, so that bytes which are no state are refused before native code trusts them.
//!
//! An element that is removed leaves its room vacant, with a mark, until the rule ends and the gaps
//! are closed. Another element gets that room only when there is no other left, with another mark,
//! so that nothing which refers to the removed element is taken to refer to it.

use murphi::ir::{Model, TypeId, TypeKind};
use murphi::layout::Layout;
use murphi::machine::{line_bits, lines};

/// All types of a model.
#[derive(Debug)]
pub(crate) struct Shapes {
    shapes: Vec<Shape>,
    sizes: Vec<usize>,
    /// Offsets and types of the multisets of the state that are not inside others, and the lines
    /// they are in.
    state: Vec<(usize, usize, u64)>,
}

/// The mark of a room whose element was removed.
pub(crate) const VACANT: u8 = 1;
/// The mark of a room that was vacant and has another element now.
pub(crate) const REFILLED: u8 = 2;

/// One type.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Two values are the same if their bytes are.
    Plain,
    /// Offsets and types of the fields.
    Record(Vec<(usize, usize)>),
    /// Elements at a fixed distance.
    Array { length: usize, stride: usize, element: usize },
    /// A multiset.
    Multiset(Multiset),
}

/// The layout of a multiset.
#[derive(Debug)]
pub(crate) struct Multiset {
    count_width: usize,
    elements: usize,
    stride: usize,
    element: usize,
    capacity: usize,
    marks: usize,
}

impl Shapes {
    pub(crate) fn of(model: &Model, layout: &Layout) -> Self {
        let mut shapes: Vec<Shape> = Vec::with_capacity(model.types.len());
        for (ty, laid_out) in model.types.iter().zip(&layout.types) {
            let plain = |id: &TypeId| matches!(shapes[id.0 as usize], Shape::Plain);
            let shape = match &ty.kind {
                TypeKind::Record(fields) if !fields.iter().all(|field| plain(&field.ty)) => {
                    let offsets = laid_out.fields.iter().map(|&offset| offset as usize);
                    let types = fields.iter().map(|field| field.ty.0 as usize);
                    Shape::Record(offsets.zip(types).collect())
                }
                TypeKind::Array { element, .. } if !plain(element) => Shape::Array {
                    length: laid_out.length as usize,
                    stride: laid_out.stride as usize,
                    element: element.0 as usize,
                },
                TypeKind::Multiset { element, .. } => Shape::Multiset(Multiset {
                    count_width: laid_out.count_width as usize,
                    elements: laid_out.elements as usize,
                    stride: laid_out.stride as usize,
                    element: element.0 as usize,
                    capacity: laid_out.length as usize,
                    marks: laid_out.marks as usize,
                }),
                _ => Shape::Plain,
            };
            shapes.push(shape);
        }
        let sizes: Vec<usize> =
            layout.types.iter().map(|laid_out| laid_out.size as usize).collect();
        let globals = model.globals.iter().zip(&layout.globals);
        let globals = globals.map(|(global, &offset)| (offset as usize, global.ty.0 as usize));
        let line_bits = line_bits(layout.size as usize);
        let multisets = outermost_multisets(&shapes, globals.collect()).into_iter();
        let in_lines = |(at, ty): (usize, usize)| (at, ty, lines(at, sizes[ty], line_bits));
        let state = multisets.map(in_lines).collect();
        Shapes { shapes, sizes, state }
    }

    /// Closes the gaps that removals have left in the multisets of a state. Rules end with this, and
    /// most leave no gaps, so it looks at the marks of all multisets with a line that was written,
    /// and at nothing else.
    pub(crate) fn close_gaps(&self, state: &mut [u8], written: u64) {
        for &(offset, ty, lines) in &self.state {
            if lines & written == 0 {
                continue;
            }
            let bytes = &mut state[offset..offset + self.sizes[ty]];
            if let Shape::Multiset(multiset) = &self.shapes[ty] {
                let marks = &bytes[multiset.marks..multiset.marks + multiset.capacity];
                if any_marked(marks) || !matches!(self.shapes[multiset.element], Shape::Plain) {
                    self.close_gaps_in(ty, bytes);
                }
            }
        }
    }

    fn close_gaps_in(&self, ty: usize, bytes: &mut [u8]) {
        match &self.shapes[ty] {
            Shape::Plain => {}
            Shape::Record(fields) => {
                for &(offset, ty) in fields {
                    self.close_gaps_in(ty, &mut bytes[offset..offset + self.sizes[ty]]);
                }
            }
            Shape::Array { length, stride, element } => {
                for index in 0..*length {
                    let part = index * stride..index * stride + self.sizes[*element];
                    self.close_gaps_in(*element, &mut bytes[part]);
                }
            }
            Shape::Multiset(multiset) => {
                multiset.close_gaps(bytes);
                if !matches!(self.shapes[multiset.element], Shape::Plain) {
                    for position in 0..multiset.length(bytes) {
                        let part = multiset.at(position)..multiset.at(position + 1);
                        self.close_gaps_in(multiset.element, &mut bytes[part]);
                    }
                }
            }
        }
    }

    pub(crate) fn size(&self, ty: usize) -> usize {
        self.sizes[ty]
    }

    pub(crate) fn shape(&self, ty: usize) -> &Shape {
        &self.shapes[ty]
    }

    /// Whether two values of a type are the same, multisets without regard to positions.
    pub(crate) fn same(&self, ty: usize, left: &[u8], right: &[u8]) -> bool {
        let part = |ty: usize, offset: usize| {
            let range = offset..offset + self.sizes[ty];
            self.same(ty, &left[range.clone()], &right[range])
        };
        match &self.shapes[ty] {
            Shape::Plain => left == right,
            Shape::Record(fields) => fields.iter().all(|&(offset, ty)| part(ty, offset)),
            Shape::Array { length, stride, element } => {
                (0..*length).all(|index| part(*element, index * stride))
            }
            Shape::Multiset(multiset) => self.same_multisets(multiset, left, right),
        }
    }

    /// Whether two states are the same, multisets without regard to positions.
    pub(crate) fn same_states(&self, left: &[u8], right: &[u8]) -> bool {
        let mut plain = 0;
        let same = self.state.iter().all(|&(offset, ty, _)| {
            let multiset = offset..offset + self.sizes[ty];
            let before = plain..offset;
            plain = multiset.end;
            left[before.clone()] == right[before]
                && self.same(ty, &left[multiset.clone()], &right[multiset])
        });
        same && left[plain..] == right[plain..]
    }

    /// Being the same is an equivalence, so it is enough that every element of the left occurs
    /// as often in the right.
    fn same_multisets(&self, multiset: &Multiset, left: &[u8], right: &[u8]) -> bool {
        let occurrences = |of: &[u8], within: &[u8]| {
            let alike = |&position: &usize| {
                self.same(multiset.element, of, multiset.element(within, position))
            };
            multiset.occupied(within).filter(alike).count()
        };
        multiset.occupied(left).count() == multiset.occupied(right).count()
            && multiset.occupied(left).all(|position| {
                let element = multiset.element(left, position);
                occurrences(element, left) == occurrences(element, right)
            })
    }
}

/// The multisets among values at offsets, those inside other multisets apart.
fn outermost_multisets(shapes: &[Shape], values: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut pending = values;
    let mut multisets = Vec::new();
    while let Some((offset, ty)) = pending.pop() {
        match &shapes[ty] {
            Shape::Plain => {}
            Shape::Record(fields) => {
                pending.extend(fields.iter().map(|&(at, ty)| (offset + at, ty)));
            }
            Shape::Array { length, stride, element } => {
                pending.extend((0..*length).map(|index| (offset + index * stride, *element)));
            }
            Shape::Multiset(_) => multisets.push((offset, ty)),
        }
    }
    multisets.sort_unstable();
    multisets
}

impl Multiset {
    fn length(&self, bytes: &[u8]) -> usize {
        let mut number = [0; 8];
        number[..self.count_width].copy_from_slice(&bytes[..self.count_width]);
        // More than the capacity is not well-formed; never reading beyond it costs nothing.
        (u64::from_le_bytes(number) as usize).min(self.capacity)
    }

    fn set_length(&self, bytes: &mut [u8], length: usize) {
        let number = (length as u64).to_le_bytes();
        bytes[..self.count_width].copy_from_slice(&number[..self.count_width]);
    }

    fn element<'b>(&self, bytes: &'b [u8], position: usize) -> &'b [u8] {
        &bytes[self.at(position)..self.at(position + 1)]
    }

    fn at(&self, position: usize) -> usize {
        self.elements + position * self.stride
    }

    /// The rooms that have an element.
    fn occupied<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + use<'b> {
        let marks = &bytes[self.marks..self.marks + self.length(bytes)];
        (0..marks.len()).filter(move |&room| marks[room] != VACANT)
    }

    pub(crate) fn remove_at(&self, bytes: &mut [u8], room: usize) {
        if room < self.length(bytes) {
            bytes[self.at(room)..self.at(room + 1)].fill(0);
            bytes[self.marks + room] = VACANT;
        }
    }

    /// Takes the first vacant room for a new element; there may be none.
    pub(crate) fn refill(&self, bytes: &mut [u8]) -> Option<usize> {
        let length = self.length(bytes);
        let marks = &mut bytes[self.marks..self.marks + length];
        let room = marks.iter().position(|&mark| mark == VACANT)?;
        marks[room] = REFILLED;
        Some(room)
    }

    fn close_gaps(&self, bytes: &mut [u8]) {
        let length = self.length(bytes);
        let marks = self.marks..self.marks + length;
        if bytes[marks.clone()].iter().all(|&mark| mark == 0) {
            return;
        }
        let mut kept = 0;
        for room in 0..length {
            if bytes[self.marks + room] != VACANT {
                bytes.copy_within(self.at(room)..self.at(room + 1), self.at(kept));
                kept += 1;
            }
        }
        bytes[self.at(kept)..self.at(length)].fill(0);
        bytes[marks].fill(0);
        self.set_length(bytes, kept);
    }
}

/// Whether a room of a multiset is marked, eight rooms at a time.
#[inline(always)]
fn any_marked(marks: &[u8]) -> bool {
    let (eights, rest) = marks.as_chunks::<8>();
    let eights = eights.iter().fold(0, |any, &eight| any | u64::from_ne_bytes(eight));
    let rest = rest.iter().fold(0, |any, &mark| any | mark);
    eights | u64::from(rest) != 0
}

/// What `clear` makes of a value of this type.
pub(crate) fn cleared(model: &Model, layout: &Layout, ty: TypeId) -> Vec<u8> {
    let mut bytes = vec![0; layout.of_type(ty).size as usize];
    write_cleared(model, layout, ty, &mut bytes);
    bytes
}

fn write_cleared(model: &Model, layout: &Layout, ty: TypeId, bytes: &mut [u8]) {
    let laid_out = layout.of_type(ty);
    match model.kind(ty) {
        TypeKind::Simple(_) => bytes[0] = 1,
        TypeKind::Record(fields) => {
            for (field, &offset) in fields.iter().zip(&laid_out.fields) {
                write_cleared(model, layout, field.ty, &mut bytes[offset as usize..]);
            }
        }
        TypeKind::Array { element, .. } => {
            let one = cleared(model, layout, *element);
            let length = laid_out.size as usize;
            for room in bytes[..length].chunks_exact_mut(one.len().max(1)) {
                room.copy_from_slice(&one);
            }
        }
        TypeKind::Multiset { .. } => {}
    }
}

/// The greatest number that each slot of a state may hold.
#[derive(Debug)]
pub(crate) struct Limits {
    /// For slots of one byte, their limit; for all other bytes, no limit.
    bytes: Vec<u8>,
    /// Offset, width and limit of wider slots.
    wide: Vec<(usize, usize, u64)>,
}

impl Limits {
    pub(crate) fn of(model: &Model, layout: &Layout) -> Self {
        let mut limits = Limits { bytes: vec![u8::MAX; layout.size as usize], wide: Vec::new() };
        for (global, &offset) in model.globals.iter().zip(&layout.globals) {
            limits.add(model, layout, global.ty, offset as usize);
        }
        limits
    }

    fn add(&mut self, model: &Model, layout: &Layout, ty: TypeId, offset: usize) {
        let laid_out = layout.of_type(ty);
        let stride = laid_out.stride as usize;
        match model.kind(ty) {
            TypeKind::Simple(_) => {
                self.add_slot(offset, laid_out.size as usize, model.count(ty));
            }
            TypeKind::Record(fields) => {
                for (field, &at) in fields.iter().zip(&laid_out.fields) {
                    self.add(model, layout, field.ty, offset + at as usize);
                }
            }
            TypeKind::Array { element, .. } => {
                for index in 0..laid_out.length as usize {
                    self.add(model, layout, *element, offset + index * stride);
                }
            }
            TypeKind::Multiset { element, capacity } => {
                self.add_slot(offset, laid_out.count_width as usize, u64::from(*capacity));
                let elements = offset + laid_out.elements as usize;
                for index in 0..laid_out.length as usize {
                    self.add(model, layout, *element, elements + index * stride);
                    self.add_slot(offset + laid_out.marks as usize + index, 1, 0);
                }
            }
        }
    }

    fn add_slot(&mut self, offset: usize, width: usize, limit: u64) {
        match width {
            1 => self.bytes[offset] = limit as u8,
            _ => self.wide.push((offset, width, limit)),
        }
    }

    /// Whether every slot of the state holds a number that its type has. `state` must be as long
    /// as a state.
    pub(crate) fn admit(&self, state: &[u8]) -> bool {
        // No early exit, so that it is done with vectors.
        let mut beyond = false;
        for (&byte, &limit) in state.iter().zip(&self.bytes) {
            beyond |= byte > limit;
        }
        let fits = |&(offset, width, limit): &(usize, usize, u64)| {
            let mut number = [0; 8];
            number[..width].copy_from_slice(&state[offset..offset + width]);
            u64::from_le_bytes(number) <= limit
        };
        !beyond && self.wide.iter().all(fits)
    }
}
