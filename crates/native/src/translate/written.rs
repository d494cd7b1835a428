//! Which lines of the state a rule writes.
//!
//! A rule of a large model writes a handful of bytes. Whoever stores its successor asks which: to
//! find that out afterwards takes a look at all of the state. So the code keeps a word
//! in the context with a bit for each [line](murphi::machine::line_bits), which is set wherever
//! something is written that is in the state, or may be: a reference may lead to a local or to the
//! state, which is decided when it runs. What is noted may be more than what changes, never less;
//! random models compare the two.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use murphi::machine::{line_bits, lines};

use super::Translator;
use super::memory::plain;
use super::place::{Address, Origin};
use crate::host::Context;

/// Where the lines written so far are in the context.
const WRITTEN: i32 = std::mem::offset_of!(Context, written) as i32;

impl Translator<'_, '_> {
    /// Begins a successor: nothing is written yet.
    pub(super) fn begin_writing(&mut self) {
        if self.unit.tracks {
            let none = self.constant(0);
            self.builder.ins().store(plain(), none, self.context, WRITTEN);
        }
    }

    /// The lines that were written; all of them if that is not tracked.
    pub(super) fn written(&mut self) -> Value {
        match self.unit.tracks {
            true => self.builder.ins().load(types::I64, plain(), self.context, WRITTEN),
            false => self.constant(-1),
        }
    }

    /// Records the lines that were written, beside the firing.
    pub(super) fn record_written(&mut self) {
        if !self.unit.tracks {
            return;
        }
        let written = self.written();
        let at = std::mem::offset_of!(Context, next_written) as i32;
        let next = self.builder.ins().load(types::I64, plain(), self.context, at);
        self.builder.ins().store(plain(), written, next, 0);
        let next = self.builder.ins().iadd_imm_s(next, size_of::<u64>() as i64);
        self.builder.ins().store(plain(), next, self.context, at);
    }

    /// Notes that so many bytes at an address are written, if they are in the state.
    pub(super) fn note_write(&mut self, address: &Address, size: u32) {
        if !self.unit.tracks || address.is_apart() || size == 0 {
            return;
        }
        let state_size = self.layout().size;
        let lines = match (address.origin, address.distance()) {
            (Origin::State, (None, offset)) => {
                let line_bits = line_bits(state_size as usize);
                let lines = lines(offset as usize, size as usize, line_bits);
                self.constant(lines as i64)
            }
            (Origin::State, (Some(index), offset)) => {
                let distance = self.builder.ins().iadd_imm_s(index, i64::from(offset));
                self.lines_from(distance, size)
            }
            (Origin::Pointer(_), _) => {
                let pointer = self.full_pointer(address);
                let distance = self.builder.ins().isub(pointer, self.state);
                let lines = self.lines_from(distance, size);
                let (end, none) = (i64::from(state_size), self.constant(0));
                let inside = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, distance, end);
                self.builder.ins().select(inside, lines, none)
            }
        };
        let written = self.written();
        let written = self.builder.ins().bor(written, lines);
        self.builder.ins().store(plain(), written, self.context, WRITTEN);
    }

    /// The lines of so many bytes that begin at a distance from the start of the state, if they are
    /// inside.
    fn lines_from(&mut self, distance: Value, size: u32) -> Value {
        let line_bits = i64::from(line_bits(self.layout().size as usize));
        let one = self.constant(1);
        let first = self.builder.ins().ushr_imm_u(distance, line_bits);
        let from_first = self.builder.ins().ishl(one, first);
        if size == 1 {
            return from_first;
        }
        let last = self.builder.ins().iadd_imm_s(distance, i64::from(size) - 1);
        let last = self.builder.ins().ushr_imm_u(last, line_bits);
        let two = self.constant(2);
        // Bits from the first to the last, also where that is the highest.
        let beyond_last = self.builder.ins().ishl(two, last);
        self.builder.ins().isub(beyond_last, from_first)
    }
}
