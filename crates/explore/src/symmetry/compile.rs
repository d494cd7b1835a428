//! From a layout to the tables of [`plan`](super::plan).
//!
//! A walk over the types collects slots with the indices over scalarsets that lead to them (an
//! array over anything else is just its elements, an array over a union both), then the slots are
//! grouped into cells. Types are nested no deeper than the source, which the parser limits.

use murphi::ir::{Model, TypeId, TypeKind};
use murphi::layout::{Layout, Leaf};

use super::bytes::width_mask;
use super::hash::Constants;
use super::plan::{
    Axis, Bag, Block, Cell, Names, Plan, Reference, Region, Role, Set, Short, Window,
    for_each_combination, scalarsets_of,
};
use super::tabulate::{Slot, tabulate};
use super::touch::Touch;

/// Which scalarsets are a symmetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalarsets {
    None,
    /// Those of which it is known that the order of members does not show.
    Known,
    /// Also those of which the search finds out, by [trying](murphi::ir::Model::tried).
    Tried,
}

/// Compiles a layout. Without `scalarsets`, only multisets are seen.
pub(super) fn compile(
    model: &Model,
    layout: &Layout,
    scalarsets: Scalarsets,
    constants: Constants,
) -> Plan {
    let mut compiler = Compiler {
        model,
        layout,
        constants,
        plan: Plan { size: layout.size as usize, ..Plan::default() },
        inert: Vec::new(),
        decoder_of: vec![None; model.types.len()],
    };
    if model.elements_have_order {
        // The order of elements is part of a state, and renaming members would change it.
        compiler.plan.regions.push(Region::default());
        return compiler.plan;
    }
    if scalarsets != Scalarsets::None {
        compiler.find_sets(scalarsets == Scalarsets::Tried);
    }
    compiler.find_inert();
    let mut slots = Slots::default();
    for (global, &offset) in model.globals.iter().zip(&layout.globals) {
        compiler.walk(global.ty, offset, &mut Vec::new(), &mut slots);
    }
    // What belongs to nobody stays where and what it is.
    slots.plain.retain(|slot| !slot.axes.is_empty());
    let small = compiler.small_slots(&slots);
    let state = compiler.region(slots, layout.size, false);
    compiler.plan.regions.push(state);
    let mut plan = compiler.plan;
    plan.tables = small.and_then(|slots| tabulate(&plan, slots, compiler.constants.next()));
    plan.touch = Touch::of(&plan);
    plan
}

struct Compiler<'m> {
    model: &'m Model,
    layout: &'m Layout,
    constants: Constants,
    plan: Plan,
    /// For each type, whether it holds neither references nor multisets nor indices to permute.
    inert: Vec<bool>,
    /// For each type, where its decoder begins.
    decoder_of: Vec<Option<u32>>,
}

/// The slots of a region, in the order of their offsets.
#[derive(Default)]
struct Slots {
    plain: Vec<PlainSlot>,
    references: Vec<ReferenceSlot>,
    bags: Vec<BagSlot>,
    blocks: Vec<Block>,
}

struct PlainSlot {
    axes: Vec<Axis>,
    leaf: Leaf,
}

struct ReferenceSlot {
    axes: Vec<Axis>,
    offset: u32,
    width: u32,
    decoder: u32,
    /// How many numbers it may hold.
    numbers: u32,
}

struct BagSlot {
    axes: Vec<Axis>,
    offset: u32,
    ty: TypeId,
    element: usize,
}

impl Compiler<'_> {
    /// Finds the scalarsets that occur in the state.
    fn find_sets(&mut self, trying: bool) {
        let mut seen = vec![false; self.model.types.len()];
        let mut pending: Vec<TypeId> = self.model.globals.iter().map(|global| global.ty).collect();
        let mut found = Vec::new();
        while let Some(ty) = pending.pop() {
            if std::mem::replace(&mut seen[ty.0 as usize], true) {
                continue;
            }
            match self.model.kind(ty) {
                TypeKind::Simple(_) => {
                    found.extend(scalarsets_of(self.model, ty).iter().map(|part| (part.0, part.2)));
                }
                TypeKind::Record(fields) => pending.extend(fields.iter().map(|field| field.ty)),
                TypeKind::Array { index, element } => pending.extend([*index, *element]),
                TypeKind::Multiset { element, .. } => pending.push(*element),
            }
        }
        // Where the order of its members may show in a rule or a property, a scalarset is no symmetry.
        found.retain(|&(ty, _)| !self.model.is_ordered(ty, trying));
        found.sort();
        found.dedup();
        for (ty, size) in found {
            self.plan.sets.push(Set { ty, first: self.plan.members as u32, size });
            self.plan.set_seeds.push(self.constants.next());
            self.plan.members += size as usize;
        }
    }

    fn set(&self, ty: TypeId) -> Option<usize> {
        self.plan.sets.iter().position(|set| set.ty == ty)
    }

    fn names_members(&self, ty: TypeId) -> bool {
        scalarsets_of(self.model, ty).iter().any(|part| self.set(part.0).is_some())
    }

    fn find_inert(&mut self) {
        for index in 0..self.model.types.len() {
            let ty = TypeId(index as u32);
            let inert = |ty: TypeId| self.inert[ty.0 as usize];
            // The components of a type come before it.
            let result = match self.model.kind(ty) {
                TypeKind::Simple(_) => !self.names_members(ty),
                TypeKind::Record(fields) => fields.iter().all(|field| inert(field.ty)),
                TypeKind::Array { index, element } => {
                    !self.names_members(*index) && inert(*element)
                }
                TypeKind::Multiset { .. } => false,
            };
            self.inert.push(result);
        }
    }

    fn walk(&mut self, ty: TypeId, offset: u32, axes: &mut Vec<Axis>, slots: &mut Slots) {
        let layout = self.layout.of_type(ty);
        if self.inert[ty.0 as usize] {
            let mut leaves = Vec::new();
            self.layout.push_leaves(self.model, ty, offset, &mut leaves);
            slots.block(axes, offset, layout.size);
            slots
                .plain
                .extend(leaves.into_iter().map(|leaf| PlainSlot { axes: axes.clone(), leaf }));
            return;
        }
        match self.model.kind(ty) {
            TypeKind::Simple(_) => {
                let decoder = self.decoder(ty);
                slots.block(axes, offset, layout.size);
                let (axes, width) = (axes.clone(), layout.size);
                let numbers = self.model.count(ty) as u32 + 1;
                slots.references.push(ReferenceSlot { axes, offset, width, decoder, numbers });
            }
            TypeKind::Record(fields) => {
                for (field, &at) in fields.iter().zip(&layout.fields) {
                    self.walk(field.ty, offset + at, axes, slots);
                }
            }
            TypeKind::Array { index, element } => {
                self.walk_array(*index, *element, layout.stride, offset, axes, slots);
            }
            TypeKind::Multiset { element, .. } => {
                let element = self.element_region(*element);
                slots.block(axes, offset, layout.size);
                slots.bags.push(BagSlot { axes: axes.clone(), offset, ty, element });
            }
        }
    }

    /// An array: members of scalarsets among its indices become an axis, all others are walked.
    fn walk_array(
        &mut self,
        index: TypeId,
        element: TypeId,
        stride: u32,
        offset: u32,
        axes: &mut Vec<Axis>,
        slots: &mut Slots,
    ) {
        let count = self.model.count(index) as u32;
        let mut parts = scalarsets_of(self.model, index).into_iter().peekable();
        let mut position = 0;
        while position < count {
            let at = offset + position * stride;
            match parts.peek().copied() {
                Some((ty, first, size)) if first == position => {
                    parts.next();
                    let Some(set) = self.set(ty) else { continue };
                    axes.push(Axis { set, stride });
                    self.walk(element, at, axes, slots);
                    axes.pop();
                    position += size;
                }
                _ => {
                    self.walk(element, at, axes, slots);
                    position += 1;
                }
            }
        }
    }

    fn element_region(&mut self, element: TypeId) -> usize {
        let mut slots = Slots::default();
        self.walk(element, 0, &mut Vec::new(), &mut slots);
        let region = self.region(slots, self.layout.of_type(element).size, true);
        self.plan.regions.push(region);
        self.plan.regions.len() - 1
    }

    /// Where the decoder of a type begins; made at the first use.
    fn decoder(&mut self, ty: TypeId) -> u32 {
        if let Some(start) = self.decoder_of[ty.0 as usize] {
            return start;
        }
        let start = self.plan.decoders.len();
        self.plan.decoders.resize(start + self.model.count(ty) as usize + 1, self.plan.nobody());
        for (part, offset, size) in scalarsets_of(self.model, ty) {
            let Some(set) = self.set(part) else { continue };
            for member in 0..size {
                self.plan.decoders[start + (1 + offset + member) as usize] =
                    self.plan.sets[set].first + member;
            }
        }
        self.decoder_of[ty.0 as usize] = Some(start as u32);
        start as u32
    }

    /// All slots that members have a part in, unless there are multisets.
    fn small_slots(&self, slots: &Slots) -> Option<Vec<Slot>> {
        if !slots.bags.is_empty() {
            return None;
        }
        let plain = slots.plain.iter().map(|PlainSlot { axes, leaf }| Slot {
            axes: axes.clone(),
            offset: leaf.offset,
            width: leaf.width,
            bits: leaf.bits,
            decoder: None,
        });
        let references = slots.references.iter().map(|slot| Slot {
            axes: slot.axes.clone(),
            offset: slot.offset,
            width: slot.width,
            bits: u32::BITS - (slot.numbers - 1).leading_zeros(),
            decoder: Some((slot.decoder, slot.numbers)),
        });
        Some(plain.chain(references).collect())
    }

    fn region(&mut self, slots: Slots, size: u32, element: bool) -> Region {
        let cells = self.cells(&slots, element);
        let names = slots.references.iter().map(|slot| self.names(slot)).collect();
        let bags = slots.bags.iter().map(|slot| self.bag(slot)).collect();
        Region { size: size as usize, cells, blocks: slots.blocks, names, bags }
    }

    /// Groups slots into cells by the scalarsets of their indices.
    fn cells(&mut self, slots: &Slots, element: bool) -> Vec<Cell> {
        let sets_of = |axes: &[Axis]| axes.iter().map(|axis| axis.set).collect::<Vec<_>>();
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        kinds.extend(element.then(Vec::new));
        kinds.extend(slots.plain.iter().map(|slot| sets_of(&slot.axes)));
        kinds.extend(slots.references.iter().map(|slot| sets_of(&slot.axes)));
        // Shorter first, so that the cell without indices leads.
        kinds.sort_by(|left, right| left.len().cmp(&right.len()).then(left.cmp(right)));
        kinds.dedup();
        kinds.into_iter().map(|sets| self.cell(sets, slots)).collect()
    }

    fn cell(&mut self, sets: Vec<usize>, slots: &Slots) -> Cell {
        let belongs = |axes: &[Axis]| axes.iter().map(|axis| axis.set).eq(sets.iter().copied());
        let plain = slots.plain.iter().filter(|slot| belongs(&slot.axes));
        let views = views(plain);
        let references: Vec<&ReferenceSlot> =
            slots.references.iter().filter(|slot| belongs(&slot.axes)).collect();
        let mut cell = Cell {
            seed: self.constants.next(),
            windows: views.iter().map(|view| self.window(view)).collect(),
            references: (sets.len()..)
                .zip(&references)
                .map(|(number, slot)| self.reference(number, slot))
                .collect(),
            roles: (0..sets.len()).map(|number| self.role(number)).collect(),
            instances: 0,
            indices: Vec::new(),
            window_offsets: Vec::new(),
            reference_offsets: Vec::new(),
            sets,
        };
        let axes: Vec<Axis> = cell.sets.iter().map(|&set| Axis { set, stride: 0 }).collect();
        for_each_combination(&self.plan.sets, &axes, |indices, _| {
            let place =
                |axes: &[Axis], offset: u32| offset + distance(&self.plan.sets, axes, indices);
            cell.instances += 1;
            cell.indices.extend(indices);
            cell.window_offsets.extend(views.iter().map(|view| place(view.axes, view.offset)));
            cell.reference_offsets
                .extend(references.iter().map(|slot| place(&slot.axes, slot.offset)));
        });
        cell
    }

    fn window(&mut self, view: &View) -> Window {
        Window { mask: view.mask, lowest: view.lowest, factor: self.constants.next() }
    }

    /// The role with this number in its cell.
    fn role(&mut self, number: usize) -> Role {
        Role { constant: self.constants.next(), rotation: number as u32 * 11 % 64 }
    }

    fn reference(&mut self, number: usize, slot: &ReferenceSlot) -> Reference {
        Reference {
            decoder: slot.decoder,
            mask: width_mask(slot.width),
            factor: self.constants.next(),
            role: self.role(number),
            owner_role: self.role(number),
        }
    }

    fn names(&self, slot: &ReferenceSlot) -> Names {
        let mut offsets = Vec::new();
        for_each_combination(&self.plan.sets, &slot.axes, |_, distance| {
            offsets.push(slot.offset + distance);
        });
        Names { decoder: slot.decoder, width: slot.width, mask: width_mask(slot.width), offsets }
    }

    fn bag(&mut self, slot: &BagSlot) -> Bag {
        let layout = self.layout.of_type(slot.ty);
        let element = &self.plan.regions[slot.element];
        let flat = element.cells.len() == 1 && element.bags.is_empty();
        let mut bag = Bag {
            seed: self.constants.next(),
            count_mask: width_mask(layout.count_width),
            elements: layout.elements,
            stride: layout.stride,
            capacity: layout.length,
            element: slot.element,
            flat,
            short: (flat && layout.stride <= 8).then(|| short(&element.cells[0])),
            container_role: self.role(0),
            roles: (0..slot.axes.len()).map(|number| self.role(32 + number)).collect(),
            offsets: Vec::new(),
            indices: Vec::new(),
        };
        for_each_combination(&self.plan.sets, &slot.axes, |indices, distance| {
            bag.offsets.push(slot.offset + distance);
            bag.indices.extend(indices);
        });
        bag
    }
}

impl Slots {
    /// Notes bytes that move, together with those before them if they move alike.
    fn block(&mut self, axes: &[Axis], offset: u32, length: u32) {
        let Some(innermost) = axes.last() else { return };
        if let Some(last) = self.blocks.last_mut()
            && last.axes == axes
            && offset + length - last.offset <= innermost.stride
        {
            // Only padding lies between the two: slots come in the order of their offsets.
            last.length = offset + length - last.offset;
            return;
        }
        self.blocks.push(Block { axes: axes.to_vec(), offset, length });
    }
}

/// A cell of at most eight bytes as a word.
fn short(cell: &Cell) -> Short {
    let mut plain = Window { mask: 0, lowest: 0, factor: 1 };
    for (window, &offset) in cell.windows.iter().zip(&cell.window_offsets) {
        plain.mask |= window.mask << (8 * offset);
        plain.lowest |= window.lowest << (8 * offset);
        plain.factor = window.factor;
    }
    let shifts = cell.reference_offsets.iter().map(|offset| 8 * offset);
    Short { plain, references: shifts.zip(cell.references.iter().copied()).collect() }
}

/// Eight bytes below the same indices, and which of their bits are plain slots.
struct View<'s> {
    axes: &'s [Axis],
    offset: u32,
    mask: u64,
    lowest: u64,
}

/// Covers plain slots by as few views as a walk in the order of offsets finds.
fn views<'s>(slots: impl Iterator<Item = &'s PlainSlot>) -> Vec<View<'s>> {
    let mut views: Vec<View<'s>> = Vec::new();
    for PlainSlot { axes, leaf } in slots {
        // A view that already covers slots that move alike may have room for one more.
        let fitting = views
            .iter_mut()
            .rev()
            .take(4)
            .find(|view| view.axes == axes && leaf.offset + leaf.width - view.offset <= 8);
        let view = match fitting {
            Some(view) => view,
            None => {
                views.push(View { axes, offset: leaf.offset, mask: 0, lowest: 0 });
                views.last_mut().expect("a view was just pushed")
            }
        };
        let shift = 8 * (leaf.offset - view.offset);
        view.mask |= width_mask(leaf.width) << shift;
        view.lowest |= 1 << shift;
    }
    views
}

/// How far the part of these members lies from that of the first members.
fn distance(sets: &[Set], axes: &[Axis], indices: &[u32]) -> u32 {
    axes.iter().zip(indices).map(|(axis, index)| (index - sets[axis.set].first) * axis.stride).sum()
}
