//! Bytes: room for locals, slots, copies, comparisons.
//!
//! Locals go on the native stack while they are few bytes and calls are not deeply nested, else into
//! the arena that the context points to. A function calls only functions before it, so each has a
//! fixed part of the arena, after the parts of all functions it calls. A recursive function has no
//! locals on the stack, and moves the arena of the context behind all that its callers use.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
};
use murphi::ir::{FunctionId, TypeId};

use super::place::{Address, Origin};
use super::{Translator, Unit};
use crate::Error;
use crate::host::{self, Context};

/// The most bytes of locals that one native function keeps on the stack.
const GREATEST_STACK: u32 = 1024;
/// How deeply calls below a function may be nested if it keeps locals on the stack.
const SHALLOW: u32 = 64;
/// How deeply calls may be nested at all, so that the stack of a thread suffices.
const DEEPEST: u32 = 1000;
/// The most bytes that locals in an arena may take.
pub(crate) const GREATEST_ARENA: u64 = 1 << 30;
/// The most bytes that are copied, compared or zeroed without a call.
const GREATEST_INLINE: u32 = 256;

/// The memory that a native function needs, with all that it calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MemoryUse {
    /// The end of the part of the arena that it uses.
    pub(crate) arena_end: u64,
    /// How deeply its calls are nested.
    depth: u32,
    /// It is a recursive function: its part of the arena begins at 0, wherever that is.
    is_recursive: bool,
}

/// Room for locals.
pub(super) struct Memory {
    stack: u32,
    /// Where the arena is, in the context.
    pointer: usize,
    need: MemoryUse,
}

impl Memory {
    /// The room of a native function that calls these functions.
    pub(super) fn of_caller(unit: &Unit<'_>, calls: &[FunctionId]) -> Self {
        // Functions in the same circle of calls are not known yet, and do not matter: each moves
        // the arena.
        let called = calls.iter().filter_map(|call| unit.needs.get(call.0 as usize));
        let need = called.fold(MemoryUse::default(), |all, one| MemoryUse {
            arena_end: match one.is_recursive {
                true => all.arena_end,
                false => all.arena_end.max(one.arena_end),
            },
            depth: all.depth.max(one.depth + 1),
            is_recursive: false,
        });
        Memory { stack: 0, pointer: std::mem::offset_of!(Context, arena), need }
    }

    /// The room of a recursive function that calls these functions.
    pub(super) fn of_recursive(unit: &Unit<'_>, calls: &[FunctionId]) -> Self {
        let mut memory = Memory::of_caller(unit, calls);
        memory.need.is_recursive = true;
        memory
    }

    /// The room of guards: apart from all others, since guards call bodies.
    pub(super) fn of_guards() -> Self {
        let pointer = std::mem::offset_of!(Context, guard_arena);
        Memory { stack: 0, pointer, need: MemoryUse::default() }
    }

    /// What was needed in the end.
    pub(super) fn need(&self) -> Result<MemoryUse, Error> {
        match self.need.arena_end > GREATEST_ARENA || self.need.depth > DEEPEST {
            true => Err(Error::TooLarge),
            false => Ok(self.need),
        }
    }
}

impl Translator<'_, '_> {
    /// Room for `size` bytes, which hold anything.
    pub(super) fn allocate(&mut self, size: u32) -> Address {
        let size = size.max(1).next_multiple_of(8);
        let shallow = self.memory.need.depth <= SHALLOW && !self.memory.need.is_recursive;
        if shallow && self.memory.stack + size <= GREATEST_STACK {
            self.memory.stack += size;
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
            let slot = self.builder.create_sized_stack_slot(data);
            let pointer = self.builder.ins().stack_addr(types::I64, slot, 0);
            return Address::apart(pointer);
        }
        let offset = self.memory.need.arena_end;
        self.memory.need.arena_end += u64::from(size);
        let at = self.memory.pointer as i32;
        let arena = self.builder.ins().load(types::I64, plain(), self.context, at);
        let pointer = self.builder.ins().iadd_imm_s(arena, offset as i64);
        Address::apart(pointer)
    }

    /// What a slot holds, 0 for undefined.
    pub(super) fn load_slot(&mut self, address: &Address, width: u32) -> Value {
        let flags = self.load_flags(address);
        let (pointer, offset) = self.pointer(address);
        let instructions = self.builder.ins();
        match width {
            1 => instructions.uload8(types::I64, flags, pointer, offset),
            2 => instructions.uload16(types::I64, flags, pointer, offset),
            4 => instructions.uload32(flags, pointer, offset),
            _ => instructions.load(types::I64, flags, pointer, offset),
        }
    }

    pub(super) fn store_slot(&mut self, address: &Address, width: u32, slot: Value) {
        self.note_write(address, width);
        let (pointer, offset) = self.pointer(address);
        let instructions = self.builder.ins();
        match width {
            1 => instructions.istore8(plain(), slot, pointer, offset),
            2 => instructions.istore16(plain(), slot, pointer, offset),
            4 => instructions.istore32(plain(), slot, pointer, offset),
            _ => instructions.store(plain(), slot, pointer, offset),
        };
    }

    /// While a guard is evaluated nothing changes the state, so its slots may be read early and
    /// once, as far as their addresses are good on every path.
    fn load_flags(&self, address: &Address) -> MemFlagsData {
        match address.origin {
            Origin::State if self.scope.state_is_constant && address.certain => {
                plain().with_readonly().with_can_move()
            }
            Origin::State if self.scope.state_is_constant => plain().with_readonly(),
            _ => plain(),
        }
    }

    /// Copies `size` bytes between places that are the same or do not overlap.
    pub(super) fn copy(&mut self, to: &Address, from: &Address, size: u32) {
        self.note_write(to, size);
        self.copy_state(to, from, size);
    }

    /// The same for a whole state, which is no change of the state.
    pub(super) fn copy_state(&mut self, to: &Address, from: &Address, size: u32) {
        if size > GREATEST_INLINE {
            let (to, from) = (self.full_pointer(to), self.full_pointer(from));
            let size = self.constant(i64::from(size));
            self.call_host(host::copy as *const () as usize, &[to, from, size], 0);
            return;
        }
        let (to, to_offset) = self.pointer(to);
        let (from, from_offset) = self.pointer(from);
        for (piece, ty) in pieces(size, true) {
            let bytes = self.builder.ins().load(ty, plain(), from, from_offset + piece);
            self.builder.ins().store(plain(), bytes, to, to_offset + piece);
        }
    }

    /// Sets `size` bytes to zero.
    pub(super) fn zero(&mut self, at: &Address, size: u32) {
        self.note_write(at, size);
        if size > GREATEST_INLINE {
            let pointer = self.full_pointer(at);
            let size = self.constant(i64::from(size));
            self.call_host(host::zero as *const () as usize, &[pointer, size], 0);
            return;
        }
        let (pointer, offset) = self.pointer(at);
        for (piece, ty) in pieces(size, false) {
            let zero = self.builder.ins().iconst(ty, 0);
            self.builder.ins().store(plain(), zero, pointer, offset + piece);
        }
    }

    /// Where the shapes of the model's types are.
    pub(super) fn shapes(&mut self) -> Value {
        let at = std::mem::offset_of!(Context, shapes) as i32;
        self.builder.ins().load(types::I64, plain(), self.context, at)
    }

    /// Where the cleared value of a type is.
    pub(super) fn cleared(&mut self, ty: TypeId) -> Value {
        let at = std::mem::offset_of!(Context, cleared) as i32;
        let cleared = self.builder.ins().load(types::I64, plain(), self.context, at);
        self.builder.ins().load(types::I64, plain(), cleared, 8 * ty.0 as i32)
    }

    /// Whether two values of a type with components are the same, as 0 or 1.
    pub(super) fn same_values(&mut self, ty: TypeId, left: &Address, right: &Address) -> Value {
        let size = self.layout().of_type(ty).size;
        if size > GREATEST_INLINE || self.unit.knowledge.has_multiset(ty) {
            let shapes = self.shapes();
            let ty = self.constant(i64::from(ty.0));
            let (left, right) = (self.full_pointer(left), self.full_pointer(right));
            let arguments = [shapes, ty, left, right];
            let same = self.call_host(host::same as *const () as usize, &arguments, 1);
            return same.expect("the comparison has a result");
        }
        let (left, left_offset) = self.pointer(left);
        let (right, right_offset) = self.pointer(right);
        let mut difference = self.constant(0);
        for (piece, ty) in pieces(size, false) {
            let a = self.builder.ins().load(ty, plain(), left, left_offset + piece);
            let b = self.builder.ins().load(ty, plain(), right, right_offset + piece);
            let mut differ = self.builder.ins().bxor(a, b);
            if ty != types::I64 {
                differ = self.builder.ins().uextend(types::I64, differ);
            }
            difference = self.builder.ins().bor(difference, differ);
        }
        let same = self.builder.ins().icmp_imm_s(IntCC::Equal, difference, 0);
        self.builder.ins().uextend(types::I64, same)
    }
}

/// Flags of an access that cannot trap. Nothing is said about alignment, since states come from
/// byte vectors.
pub(super) fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// `size` bytes as offsets and types of accesses, as wide as possible.
fn pieces(size: u32, vectors: bool) -> Vec<(i32, Type)> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    let widths =
        [(16, types::I8X16), (8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)];
    for (width, ty) in widths {
        while (vectors || width < 16) && size - offset >= width {
            pieces.push((offset as i32, ty));
            offset += width;
        }
    }
    pieces
}
