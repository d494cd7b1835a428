//! A thread of RISC-V or AArch64 as a [`Program`].

use super::thread::{Operand, Program, Registers, Request, Sources, ThreadAction};
use super::x86::named_fence;
use crate::lower;
use crate::test::{
    Architecture, AtomicChange, BranchCondition, Comparison, Extension, Flag, Register,
    RiscAddress, RiscFence, RiscInstruction, RiscOperation, RiscOperator, RiscSource, Shift, Size,
    Thread,
};

/// The registers of both architectures, and behind them the flags of Arm.
const FLAGS: usize = 32;
/// The flags, as bits of a value: negative, zero, carry and overflow.
const NEGATIVE: u64 = 8;
const ZERO: u64 = 4;
const CARRY: u64 = 2;
const OVERFLOW: u64 = 1;

pub(crate) struct Risc {
    code: Vec<RiscInstruction>,
    initial: Vec<u64>,
    architecture: Architecture,
}

impl Risc {
    pub(crate) fn new(thread: &Thread, architecture: Architecture) -> Self {
        let mut initial = vec![0; FLAGS + 1];
        for each in &thread.registers {
            initial[each.register.0 as usize] = lower::word(each.value);
        }
        if let Some(zero) = architecture.zero() {
            initial[zero.0 as usize] = 0;
        }
        Risc { code: thread.risc().to_vec(), initial, architecture }
    }

    fn request(
        registers: &Registers,
        at: RiscAddress,
        size: Size,
        order: Option<history::AccessOrder>,
    ) -> Request {
        let (base, offset) = (operand(registers, at.base), operand(registers, at.offset));
        let address = Operand {
            value: base.value.wrapping_add(offset.value),
            sources: base.sources | offset.sources,
        };
        Request { address, size, order }
    }

    fn branch(&self, when: BranchCondition, size: Size, registers: &Registers) -> (bool, Sources) {
        match when {
            BranchCondition::Always => (true, 0),
            BranchCondition::Flag(flag) => {
                (is_flagged(flag, registers.values[FLAGS]), registers.sources[FLAGS])
            }
            BranchCondition::Bit { of, bit, is_set } => {
                let of = operand(registers, of);
                (((of.value >> bit) & 1 == 1) == is_set, of.sources)
            }
            BranchCondition::Compare(comparison, left, right) => {
                let (left, right) = (operand(registers, left), operand(registers, right));
                let (a, b) = (size.cut(left.value), size.cut(right.value));
                let (signed_a, signed_b) = (size.signed(a), size.signed(b));
                let taken = match comparison {
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                    Comparison::Less => signed_a < signed_b,
                    Comparison::GreaterOrEqual => signed_a >= signed_b,
                    Comparison::LessUnsigned => a < b,
                    Comparison::GreaterOrEqualUnsigned => a >= b,
                };
                (taken, left.sources | right.sources)
            }
        }
    }
}

impl Program for Risc {
    fn start(&self) -> Registers {
        Registers::new(self.initial.clone())
    }

    fn act(&self, step: u32, registers: &mut Registers) -> ThreadAction {
        let Some(&RiscInstruction { operation, size }) = self.code.get(step as usize) else {
            return ThreadAction::End;
        };
        match operation {
            RiscOperation::Load { at, order, exclusive, .. } => {
                ThreadAction::Load { request: Self::request(registers, at, size, order), exclusive }
            }
            RiscOperation::Store { from, at, order } => {
                let request = Self::request(registers, at, size, order);
                ThreadAction::Store { request, value: operand(registers, from) }
            }
            RiscOperation::StoreConditional { from, at, order, .. } => {
                let request = Self::request(registers, at, size, order);
                ThreadAction::StoreConditional { request, value: operand(registers, from) }
            }
            RiscOperation::Atomic { to, from, at, order, .. } => ThreadAction::Modify {
                request: Self::request(registers, at, size, order),
                operand: operand(registers, from).sources,
                returns_nothing: to.is_none(),
            },
            RiscOperation::CompareAndSwap { from, at, order, .. } => ThreadAction::Modify {
                request: Self::request(registers, at, size, order),
                operand: operand(registers, from).sources,
                returns_nothing: false,
            },
            RiscOperation::Fence(RiscFence::Between(before, after)) => {
                ThreadAction::Fence { before, after, name: None }
            }
            RiscOperation::Fence(RiscFence::Named(name)) => named_fence(name),
            RiscOperation::Branch { when, target } => {
                let (taken, sources) = self.branch(when, size, registers);
                ThreadAction::Branched { sources, next: if taken { target } else { step + 1 } }
            }
            RiscOperation::Constant { to, value } => {
                let value = Operand { value: size.cut(lower::word(value)), sources: 0 };
                set(registers, to, value);
                ThreadAction::Computed { next: step + 1 }
            }
            RiscOperation::Compute { operator, to, left, right, sets_flags } => {
                let (left, right) = (operand(registers, left), operand(registers, right));
                let sources = left.sources | right.sources;
                let value = compute(operator, left.value, right.value, size);
                // Of instructions on 32 bits, RISC-V extends the sign of the result.
                let value = match self.architecture == Architecture::RiscV {
                    true => size.signed(value) as u64,
                    false => value,
                };
                if sets_flags {
                    registers.values[FLAGS] = flags(operator, left.value, right.value, size);
                    registers.sources[FLAGS] = sources;
                }
                set(registers, to, Operand { value, sources });
                ThreadAction::Computed { next: step + 1 }
            }
            RiscOperation::Compare { left, right } => {
                let (left, right) = (operand(registers, left), operand(registers, right));
                let found = flags(RiscOperator::Subtract, left.value, right.value, size);
                registers.values[FLAGS] = found;
                registers.sources[FLAGS] = left.sources | right.sources;
                ThreadAction::Computed { next: step + 1 }
            }
            RiscOperation::Nothing => ThreadAction::Computed { next: step + 1 },
        }
    }

    fn loaded(&self, step: u32, registers: &mut Registers, value: u64, by: usize) {
        let RiscInstruction { operation, size } = self.code[step as usize];
        let RiscOperation::Load { to, signed, .. } = operation else { return };
        set(registers, to, Operand { value: extended(value, size, signed), sources: 1 << by });
    }

    fn stored(&self, step: u32, registers: &mut Registers, by: Option<usize>) {
        let RiscOperation::StoreConditional { status, .. } = self.code[step as usize].operation
        else {
            return;
        };
        // RISC-V: what uses the result depends on the store. Arm: on nothing.
        let carries = self.architecture == Architecture::RiscV;
        let sources = by.filter(|_| carries).map_or(0, |by| 1 << by);
        set(registers, status, Operand { value: u64::from(by.is_none()), sources });
    }

    fn modified(&self, step: u32, registers: &mut Registers, value: u64, by: usize) -> Option<u64> {
        let RiscInstruction { operation, size } = self.code[step as usize];
        match operation {
            RiscOperation::Atomic { change, to, from, signed, .. } => {
                let written = change_of(change, value, operand(registers, from).value, size);
                let sources = 1 << by;
                set(registers, to, Operand { value: extended(value, size, signed), sources });
                Some(written)
            }
            RiscOperation::CompareAndSwap { expected, from, .. } => {
                let wanted = expected.map_or(0, |each| registers.values[each.0 as usize]);
                let written = operand(registers, from).value;
                let succeeds = size.cut(wanted) == size.cut(value);
                set(registers, expected, Operand { value: size.cut(value), sources: 1 << by });
                succeeds.then_some(written)
            }
            _ => None,
        }
    }

    fn has_atomics_as_one(&self) -> bool {
        self.architecture == Architecture::RiscV
    }

    fn ignores_sizes(&self) -> bool {
        false
    }
}

fn operand(registers: &Registers, source: RiscSource) -> Operand {
    let held = |Register(register): Register, extension: Extension| {
        let value = registers.values[register as usize];
        let value = match extension {
            Extension::Whole => value,
            Extension::SignedWord => Size::Long.signed(value) as u64,
            Extension::UnsignedWord => Size::Long.cut(value),
        };
        Operand { value, sources: registers.sources[register as usize] }
    };
    match source {
        RiscSource::Number(number) => Operand { value: number as u64, sources: 0 },
        RiscSource::Register(register, extension) => held(register, extension),
        RiscSource::Shifted { register, extension, shift, count } => {
            let Operand { value, sources } = held(register, extension);
            let value = match shift {
                Shift::Left => value << count,
                Shift::Right => value >> count,
                Shift::RightSigned => ((value as i64) >> count) as u64,
            };
            Operand { value, sources }
        }
    }
}

fn set(registers: &mut Registers, to: Option<Register>, from: Operand) {
    if let Some(Register(to)) = to {
        registers.values[to as usize] = from.value;
        registers.sources[to as usize] = from.sources;
    }
}

fn extended(value: u64, size: Size, signed: bool) -> u64 {
    if signed { size.signed(value) as u64 } else { size.cut(value) }
}

fn compute(operator: RiscOperator, left: u64, right: u64, size: Size) -> u64 {
    let count = (right & u64::from(size.bits() - 1)) as u32;
    size.cut(match operator {
        RiscOperator::Add => left.wrapping_add(right),
        RiscOperator::Subtract => left.wrapping_sub(right),
        RiscOperator::And => left & right,
        RiscOperator::Or => left | right,
        RiscOperator::Xor => left ^ right,
        RiscOperator::ShiftLeft => left << count,
        RiscOperator::ShiftRight => size.cut(left) >> count,
        RiscOperator::ShiftRightSigned => (size.signed(left) >> count) as u64,
        RiscOperator::SetLess => u64::from(size.signed(left) < size.signed(right)),
        RiscOperator::SetLessUnsigned => u64::from(size.cut(left) < size.cut(right)),
        RiscOperator::Multiply => left.wrapping_mul(right),
        RiscOperator::AndNot => left & !right,
        RiscOperator::OrNot => left | !right,
        RiscOperator::XorNot => left ^ !right,
    })
}

/// The flags after an instruction of Arm on two values.
fn flags(operator: RiscOperator, left: u64, right: u64, size: Size) -> u64 {
    let result = compute(operator, left, right, size);
    let (a, b) = (size.cut(left), size.cut(right));
    let (signed_a, signed_b) = (i128::from(size.signed(a)), i128::from(size.signed(b)));
    let overflows = |exact: i128| exact != i128::from(size.signed(result));
    let (carry, overflow) = match operator {
        RiscOperator::Add => {
            ((u128::from(a) + u128::from(b)) >> size.bits() != 0, overflows(signed_a + signed_b))
        }
        // No borrow.
        RiscOperator::Subtract => (a >= b, overflows(signed_a - signed_b)),
        _ => (false, false),
    };
    let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
    flag(size.signed(result) < 0, NEGATIVE)
        | flag(result == 0, ZERO)
        | flag(carry, CARRY)
        | flag(overflow, OVERFLOW)
}

fn change_of(change: AtomicChange, read: u64, operand: u64, size: Size) -> u64 {
    let pick = |signed: bool, largest: bool| {
        let first = match signed {
            true => size.signed(read) > size.signed(operand),
            false => size.cut(read) > size.cut(operand),
        };
        if first == largest { read } else { operand }
    };
    size.cut(match change {
        AtomicChange::Swap => operand,
        AtomicChange::Compute(operator) => compute(operator, read, operand, size),
        AtomicChange::Clear => read & !operand,
        AtomicChange::Maximum { signed } => pick(signed, true),
        AtomicChange::Minimum { signed } => pick(signed, false),
    })
}

/// Whether a condition holds with these flags.
fn is_flagged(flag: Flag, flags: u64) -> bool {
    let has = |flag: u64| flags & flag != 0;
    let is_less = has(NEGATIVE) != has(OVERFLOW);
    match flag {
        Flag::Equal => has(ZERO),
        Flag::NotEqual => !has(ZERO),
        Flag::Less => is_less,
        Flag::LessOrEqual => has(ZERO) || is_less,
        Flag::Greater => !has(ZERO) && !is_less,
        Flag::GreaterOrEqual => !is_less,
        Flag::Below => !has(CARRY),
        Flag::BelowOrEqual => !has(CARRY) || has(ZERO),
        Flag::Above => has(CARRY) && !has(ZERO),
        Flag::AboveOrEqual => has(CARRY),
        Flag::Sign => has(NEGATIVE),
        Flag::NoSign => !has(NEGATIVE),
        Flag::Overflow => has(OVERFLOW),
        Flag::NoOverflow => !has(OVERFLOW),
    }
}
