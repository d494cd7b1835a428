//! Places: where something is stored, followed once.
//!
//! An address is a pointer, or the current state, plus what the indices add up to. The current
//! state is left open so that an alias bound before the guard means the successor in the body. An
//! element of a multiset can disappear while something still refers to it; an address remembers
//! the elements it leads through so that later uses can be checked again.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use murphi::ir::{
    AliasTarget, Base, Expression, Frame, LocalId, Place, Step, Storage, TypeId, TypeKind,
};

use super::Translator;
use super::operand::{Bounds, Operand};
use crate::facts::Usage;
use crate::shape::REFILLED;

/// Where the bytes of a value are.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) origin: Origin,
    /// What indices add that are not known before the run.
    index: Option<Value>,
    offset: i32,
    /// It is inside the state whatever path was taken to it: no index had to be checked.
    pub(super) certain: bool,
    /// It is known not to be in the state.
    apart: bool,
    /// The elements of multisets it leads through.
    elements: Vec<Element>,
}

/// What an address starts from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// The current state.
    State,
    /// A fixed pointer.
    Pointer(Value),
}

/// An element of a multiset.
#[derive(Debug, Clone)]
struct Element {
    multiset: Box<Address>,
    /// The type of the multiset.
    ty: TypeId,
    room: MultisetSlot,
}

/// Which room of a multiset a position means.
#[derive(Debug, Clone, Copy)]
pub(super) struct MultisetSlot {
    pub(super) number: Value,
    /// The mark it must have: zero, or that of a refilled room. Nothing is zero.
    mark: Option<Value>,
}

/// What a place denotes.
pub(super) enum Location {
    /// A simple local kept in a register: what its slot would hold.
    Variable(Variable),
    /// A simple value that never changes.
    Value(Operand),
    /// Something in memory.
    Memory(Address),
}

/// What a local is bound to.
#[derive(Debug, Clone)]
pub(super) enum Binding {
    Unbound,
    Variable(Variable),
    Value(Operand),
    Memory(Address),
}

/// The locals in sight.
pub(super) struct Scope<'m> {
    pub(super) frame: &'m Frame,
    pub(super) bindings: Vec<Binding>,
    /// Nothing changes the state while this code runs.
    pub(super) state_is_constant: bool,
}

impl<'m> Scope<'m> {
    pub(super) fn empty() -> Self {
        const NONE: &Frame = &Frame { locals: Vec::new() };
        Scope { frame: NONE, bindings: Vec::new(), state_is_constant: false }
    }

    pub(super) fn of(frame: &'m Frame, state_is_constant: bool) -> Self {
        let bindings = vec![Binding::Unbound; frame.locals.len()];
        Scope { frame, bindings, state_is_constant }
    }

    pub(super) fn bind(&mut self, local: LocalId, binding: Binding) {
        self.bindings[local.0 as usize] = binding;
    }
}

impl Address {
    /// The address a pointer has.
    pub(super) fn at(pointer: Value) -> Self {
        let origin = Origin::Pointer(pointer);
        Address {
            origin,
            index: None,
            offset: 0,
            certain: true,
            apart: false,
            elements: Vec::new(),
        }
    }

    /// The address of a pointer to something that is not in the state.
    pub(super) fn apart(pointer: Value) -> Self {
        Address { apart: true, ..Address::at(pointer) }
    }

    /// Whether it is known not to be in the state.
    pub(super) fn is_apart(&self) -> bool {
        self.apart
    }

    /// An offset in the current state.
    pub(super) fn in_state(offset: u32) -> Self {
        let origin = Origin::State;
        let offset = offset as i32;
        Address { origin, index: None, offset, certain: true, apart: false, elements: Vec::new() }
    }

    /// So many bytes further.
    pub(super) fn plus(mut self, bytes: u32) -> Self {
        // Offsets within a state or a local are below 2^24, so they stay far from the ends.
        self.offset += bytes as i32;
        self
    }

    /// What indices add that are not known before the run, and what is known.
    pub(super) fn distance(&self) -> (Option<Value>, i32) {
        (self.index, self.offset)
    }

    /// Whether it leads through elements of multisets.
    pub(super) fn has_elements(&self) -> bool {
        !self.elements.is_empty()
    }
}

impl<'m> Translator<'_, 'm> {
    /// Pointer and constant offset of an address.
    pub(super) fn pointer(&mut self, address: &Address) -> (Value, i32) {
        let origin = match address.origin {
            Origin::State => self.state,
            Origin::Pointer(pointer) => pointer,
        };
        match address.index {
            None => (origin, address.offset),
            Some(index) => (self.builder.ins().iadd(origin, index), address.offset),
        }
    }

    /// An address as one pointer.
    pub(super) fn full_pointer(&mut self, address: &Address) -> Value {
        match self.pointer(address) {
            (pointer, 0) => pointer,
            (pointer, offset) => self.builder.ins().iadd_imm_s(pointer, i64::from(offset)),
        }
    }

    /// Follows a place, checking its indices.
    pub(super) fn locate(&mut self, place: &'m Place) -> Location {
        let (mut address, mut ty) = match place.base {
            Base::Global(global) => {
                let global = global.0 as usize;
                let offset = self.layout().globals[global];
                (Address::in_state(offset), self.model().globals[global].ty)
            }
            Base::Local(local) => {
                let local = local.0 as usize;
                let ty = self.scope.frame.locals[local].ty;
                match self.scope.bindings[local].clone() {
                    Binding::Variable(variable) => return Location::Variable(variable),
                    Binding::Value(operand) => return Location::Value(operand),
                    Binding::Memory(address) => {
                        if self.shrunk {
                            self.check_elements(&address);
                        }
                        (address, ty)
                    }
                    Binding::Unbound => {
                        unreachable!("a local is bound before the code it is visible in")
                    }
                }
            }
        };
        for step in &place.steps {
            (address, ty) = self.step(address, ty, step);
        }
        Location::Memory(address)
    }

    /// Whether a place is a local that stands for a defined value.
    pub(super) fn is_bound_value(&self, place: &Place) -> bool {
        match place.base {
            Base::Local(local) => {
                matches!(self.scope.bindings[local.0 as usize], Binding::Value(_))
            }
            Base::Global(_) => false,
        }
    }

    /// Follows a place to something in memory.
    pub(super) fn locate_memory(&mut self, place: &'m Place) -> Address {
        match self.locate(place) {
            Location::Memory(address) => address,
            Location::Variable(variable) => {
                let slot = self.builder.use_var(variable);
                self.spill(slot, place.ty)
            }
            Location::Value(operand) => {
                let slot = self.slot_of(operand, place.ty);
                self.spill(slot, place.ty)
            }
        }
    }

    /// Puts what a slot holds into memory of its own.
    fn spill(&mut self, slot: Value, ty: TypeId) -> Address {
        let width = self.layout().of_type(ty).size;
        let address = self.allocate(width);
        self.store_slot(&address, width, slot);
        address
    }

    fn step(&mut self, address: Address, ty: TypeId, step: &'m Step) -> (Address, TypeId) {
        let (model, layout) = (self.model(), self.layout().of_type(ty));
        match (step, model.kind(ty)) {
            (Step::Field(field), TypeKind::Record(fields)) => {
                (address.plus(layout.fields[*field]), fields[*field].ty)
            }
            (Step::Index(expression), TypeKind::Array { index, element }) => {
                let domain = Bounds::of(model, *index);
                let at = self.operand(expression);
                self.check_after(&address, expression);
                let certain = at.bounds.within(domain) && self.is_certain(expression);
                self.check_within(at, domain, model.count(*index));
                let mut address = self.indexed(address, at, domain.low, layout.stride);
                address.certain &= certain;
                (address, *element)
            }
            (Step::Element(expression), TypeKind::Multiset { element, .. }) => {
                let at = self.operand(expression);
                self.check_after(&address, expression);
                let room = self.room(at, ty);
                let multiset = Element { multiset: Box::new(address.clone()), ty, room };
                self.check_element(&multiset);
                let mut address = self.element_address(&address, room.number, ty);
                address.elements.push(multiset);
                address.certain = false;
                (address, *element)
            }
            (step, kind) => unreachable!("{step:?} does not lead into {kind:?}"),
        }
    }

    /// Whether evaluating an index cannot fail, so that its value is good on every path.
    fn is_certain(&self, expression: &murphi::ir::Expression) -> bool {
        use murphi::ir::ExpressionKind;
        match &expression.kind {
            ExpressionKind::Constant(_) => true,
            ExpressionKind::Read(place) => match place.base {
                Base::Local(local) => {
                    self.scope.frame.locals[local.0 as usize].storage == Storage::Bound
                }
                Base::Global(_) => false,
            },
            _ => false,
        }
    }

    /// The element at `at`, counted from `lowest`.
    fn indexed(&mut self, mut address: Address, at: Operand, lowest: i64, stride: u32) -> Address {
        let stride = i64::from(stride);
        let (register, bias) = match (at.known(), at.parts()) {
            (Some(known), _) => {
                let bytes = known.wrapping_sub(lowest).wrapping_mul(stride);
                // A constant index outside has already failed; any address will do.
                address.offset = address.offset.wrapping_add(bytes as i32);
                return address;
            }
            (None, Some(parts)) => parts,
            (None, None) => unreachable!("a value is a constant or in a register"),
        };
        let mut scaled = match stride {
            1 => register,
            _ => self.builder.ins().imul_imm_s(register, stride),
        };
        let bytes = bias.wrapping_sub(lowest).wrapping_mul(stride);
        match i32::try_from(bytes).ok().and_then(|bytes| address.offset.checked_add(bytes)) {
            Some(offset) => address.offset = offset,
            None => scaled = self.builder.ins().iadd_imm_s(scaled, bytes),
        }
        address.index = Some(match address.index {
            None => scaled,
            Some(index) => self.builder.ins().iadd(index, scaled),
        });
        address
    }

    /// Where the element in a room of the multiset at `address` is.
    pub(super) fn element_address(
        &mut self,
        address: &Address,
        room: Value,
        multiset: TypeId,
    ) -> Address {
        let layout = self.layout().of_type(multiset);
        let room = Operand::register(room, Bounds::ALL);
        self.indexed(address.clone(), room, 0, layout.stride).plus(layout.elements)
    }

    /// Leaves with a run-time error if an element that the address leads through is not there.
    pub(super) fn check_elements(&mut self, address: &Address) {
        for element in &address.elements {
            self.check_element(element);
        }
    }

    /// Checks an address again if evaluating an expression may have removed what it leads through.
    pub(super) fn check_after(&mut self, address: &Address, evaluated: &Expression) {
        if address.has_elements() && self.may_shrink_in(evaluated) {
            self.check_elements(address);
        }
    }

    fn check_element(&mut self, element: &Element) {
        self.check_room(&element.multiset, element.ty, element.room);
    }

    /// Which room of a multiset of type `ty` a position means. The element that was put in a
    /// vacant room is at the position of that room plus the capacity.
    pub(super) fn room(&mut self, position: Operand, ty: TypeId) -> MultisetSlot {
        let capacity = i64::from(self.layout().of_type(ty).length);
        let number = self.number(position);
        if !self.shrunk || position.bounds.high < capacity {
            return MultisetSlot { number, mark: None };
        }
        let (zero, refilled) = (self.constant(0), self.constant(i64::from(REFILLED)));
        let first = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, number, capacity);
        let beyond = self.builder.ins().iadd_imm_s(number, -capacity);
        let number = self.builder.ins().select(first, number, beyond);
        let mark = self.builder.ins().select(first, zero, refilled);
        MultisetSlot { number, mark: Some(mark) }
    }

    /// Leaves with a run-time error if the element that is meant is not there.
    pub(super) fn check_room(&mut self, multiset: &Address, ty: TypeId, room: MultisetSlot) {
        let layout = self.layout().of_type(ty);
        let count = self.load_slot(multiset, layout.count_width);
        let there = self.builder.ins().icmp(IntCC::UnsignedLessThan, room.number, count);
        self.fail_unless(there);
        if self.shrunk {
            let mark = self.load_mark(multiset, ty, room.number);
            let as_meant = match room.mark {
                Some(expected) => self.builder.ins().icmp(IntCC::Equal, mark, expected),
                None => self.is_zero(mark),
            };
            self.fail_unless(as_meant);
        }
    }

    /// The mark of a room that the multiset has.
    pub(super) fn load_mark(&mut self, multiset: &Address, ty: TypeId, room: Value) -> Value {
        let marks = self.layout().of_type(ty).marks;
        let room = Operand::register(room, Bounds::ALL);
        let mut mark = self.indexed(multiset.clone(), room, 0, 1).plus(marks);
        mark.certain = false;
        self.load_slot(&mark, 1)
    }

    /// Binds an alias.
    pub(super) fn bind_alias(&mut self, local: LocalId, target: &'m AliasTarget) {
        let binding = match target {
            AliasTarget::Place(place) => match self.locate(place) {
                Location::Variable(variable) => Binding::Variable(variable),
                Location::Value(operand) => Binding::Value(operand),
                Location::Memory(address) => Binding::Memory(address),
            },
            AliasTarget::Value(value) => {
                let ty = self.scope.frame.locals[local.0 as usize].ty;
                if self.model().simple(ty).is_none() {
                    let room = self.allocate(self.layout().of_type(ty).size);
                    self.store_aggregate(&room, value);
                    Binding::Memory(room)
                } else if self.unit.knowledge.may_be_undefined(value) {
                    let slot = self.slot_value(value, ty, false);
                    let variable = self.builder.declare_var(cranelift_codegen::ir::types::I64);
                    self.builder.def_var(variable, slot);
                    Binding::Variable(variable)
                } else {
                    let operand = self.operand(value);
                    Binding::Value(self.admitted(operand, ty))
                }
            }
        };
        self.scope.bind(local, binding);
    }

    /// Gives the locals of the scope that have room of their own that room, all undefined.
    pub(super) fn enter_locals(&mut self, usage: &Usage) {
        let frame = self.scope.frame;
        for (number, local) in frame.locals.iter().enumerate() {
            let unbound = matches!(self.scope.bindings[number], Binding::Unbound);
            if local.storage != Storage::Own || usage.alias_value[number] || !unbound {
                continue;
            }
            let simple = self.model().simple(local.ty).is_some();
            let binding = if simple && !usage.referred[number] {
                let variable = self.builder.declare_var(cranelift_codegen::ir::types::I64);
                let undefined = self.constant(0);
                self.builder.def_var(variable, undefined);
                Binding::Variable(variable)
            } else {
                let size = self.layout().of_type(local.ty).size;
                let room = self.allocate(size);
                self.zero(&room, size);
                Binding::Memory(room)
            };
            self.scope.bindings[number] = binding;
        }
    }
}
