//! Simple values in registers: an integer with what is known about it.
//!
//! A value that was read from a slot is one less than the slot plus the least value of its type;
//! keeping the slot as it is and the difference aside makes most conversions free: comparing with
//! a constant compares the slot, indexing folds the difference into the address, copying between
//! variables of one type computes nothing. The bounds come from types and arithmetic and prove
//! most range checks unnecessary.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use murphi::ir::{Model, Simple, TypeId};

use super::Translator;

/// A simple, defined value: `register + bias`, modulo 2^64, or a constant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    /// Nothing if the value is a constant.
    register: Option<Value>,
    bias: i64,
    pub(super) bounds: Bounds,
}

/// Both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Bounds {
    pub(super) const ALL: Bounds = Bounds { low: i64::MIN, high: i64::MAX };
    pub(super) const TRUTH: Bounds = Bounds { low: 0, high: 1 };

    pub(super) fn new(low: i64, high: i64) -> Self {
        Bounds { low, high }
    }

    /// The bounds of a simple type.
    pub(super) fn of(model: &Model, ty: TypeId) -> Self {
        match model.simple(ty) {
            None | Some(Simple::Integer) => Bounds::ALL,
            Some(Simple::Range { low, high }) => Bounds::new(*low, *high),
            Some(_) => Bounds::new(0, model.count(ty) as i64 - 1),
        }
    }

    /// The bounds if both fit in 64 bits.
    pub(super) fn exact(low: i128, high: i128) -> Option<Self> {
        Some(Bounds::new(i64::try_from(low).ok()?, i64::try_from(high).ok()?))
    }

    /// The bounds of what is left after everything that does not fit has been refused.
    pub(super) fn clamped(low: i128, high: i128) -> Self {
        let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Bounds::new(clamp(low), clamp(high))
    }

    pub(super) fn contains(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    pub(super) fn within(&self, outer: Bounds) -> bool {
        outer.low <= self.low && self.high <= outer.high
    }

    pub(super) fn hull(&self, other: Bounds) -> Self {
        Bounds::new(self.low.min(other.low), self.high.max(other.high))
    }
}

impl Operand {
    pub(super) fn constant(value: i64) -> Self {
        Operand { register: None, bias: value, bounds: Bounds::new(value, value) }
    }

    pub(super) fn register(value: Value, bounds: Bounds) -> Self {
        Operand { register: Some(value), bias: 0, bounds }
    }

    /// `register + bias`, with these bounds.
    pub(super) fn biased(register: Value, bias: i64, bounds: Bounds) -> Self {
        Operand { register: Some(register), bias, bounds }
    }

    /// What a slot that is not undefined holds.
    pub(super) fn slot(model: &Model, ty: TypeId, slot: Value) -> Self {
        Operand::biased(slot, model.lowest(ty).wrapping_sub(1), Bounds::of(model, ty))
    }

    /// The value, if it is known.
    pub(super) fn known(&self) -> Option<i64> {
        match self.register {
            None => Some(self.bias),
            Some(_) => (self.bounds.low == self.bounds.high).then_some(self.bounds.low),
        }
    }

    /// Register and bias, unless it is a constant.
    pub(super) fn parts(&self) -> Option<(Value, i64)> {
        self.register.map(|register| (register, self.bias))
    }

    /// The same value plus a constant; the sum is known to lie within `bounds`.
    pub(super) fn plus(&self, constant: i64, bounds: Bounds) -> Self {
        Operand { register: self.register, bias: self.bias.wrapping_add(constant), bounds }
    }
}

impl Translator<'_, '_> {
    /// The value in a register of its own.
    pub(super) fn number(&mut self, operand: Operand) -> Value {
        self.shifted(operand, 0)
    }

    /// The value plus a constant, modulo 2^64, in a register.
    pub(super) fn shifted(&mut self, operand: Operand, by: i64) -> Value {
        let bias = operand.bias.wrapping_add(by);
        match operand.register {
            None => self.constant(bias),
            Some(register) if bias == 0 => register,
            Some(register) => self.builder.ins().iadd_imm_s(register, bias),
        }
    }

    /// What a slot of type `ty` holds for this value, which must be one of that type.
    pub(super) fn slot_of(&mut self, operand: Operand, ty: TypeId) -> Value {
        let lowest = self.model().lowest(ty);
        self.shifted(operand, 1i64.wrapping_sub(lowest))
    }

    /// Leaves with a run-time error if the value is not one of the type.
    pub(super) fn admit(&mut self, operand: Operand, ty: TypeId) {
        if matches!(self.model().simple(ty), Some(Simple::Integer)) {
            return;
        }
        let domain = Bounds::of(self.model(), ty);
        let count = self.model().count(ty);
        self.check_within(operand, domain, count);
    }

    /// The value, having left with a run-time error if it is not one of the type.
    pub(super) fn admitted(&mut self, operand: Operand, ty: TypeId) -> Operand {
        self.admit(operand, ty);
        let domain = Bounds::of(self.model(), ty);
        let low = operand.bounds.low.max(domain.low);
        let high = operand.bounds.high.min(domain.high);
        match low <= high {
            true => Operand { bounds: Bounds::new(low, high), ..operand },
            // It always fails, so nothing after it is reached.
            false => operand,
        }
    }

    /// Leaves with a run-time error if the value is not within `domain`, which has `count` values.
    pub(super) fn check_within(&mut self, operand: Operand, domain: Bounds, count: u64) {
        let bounds = operand.bounds;
        if count != 0 && bounds.within(domain) {
            return;
        }
        if count == 0 || bounds.high < domain.low || domain.high < bounds.low {
            return self.fail();
        }
        let above = self.shifted(operand, domain.low.wrapping_neg());
        let inside = match count {
            u64::MAX => return,
            _ => self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, above, count as i64),
        };
        self.fail_unless(inside);
    }
}
