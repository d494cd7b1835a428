//! A thread of RISC-V or AArch64 as a [`Program`].

use super::thread::{Operand, Program, Registers, Request, Sources, ThreadAction};
use super::x86::named_fence;
use crate::lower;
use crate::test::{
    Architecture, AtomicChange, BranchCondition, Comparison, Extension, Flag, Register,
    RiscAddress, RiscFence, RiscInstruction, RiscOperation, RiscOperator, RiscSource, SelectChange,
    Shift, Size, Thread,
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
            BranchCondition::Always => (true, Sources::NONE),
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
            RiscOperation::Atomic { to, at, order, .. }
            | RiscOperation::CompareAndSwap { expected: to, at, order, .. } => {
                ThreadAction::Modify {
                    request: Self::request(registers, at, size, order),
                    returns_nothing: to.is_none(),
                }
            }
            RiscOperation::Fence(RiscFence::Between(before, after)) => {
                ThreadAction::Fence { before, after, name: None }
            }
            RiscOperation::Fence(RiscFence::Named(name)) => named_fence(name),
            RiscOperation::Branch { when, target } => {
                let (taken, sources) = self.branch(when, size, registers);
                ThreadAction::Branched { sources, next: if taken { target } else { step + 1 } }
            }
            RiscOperation::Constant { to, value } => {
                let value = Operand { value: size.cut(lower::word(value)), sources: Sources::NONE };
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
            RiscOperation::MultiplyAdd { to, left, right, addend, subtracts } => {
                let [left, right, addend] =
                    [left, right, addend].map(|each| operand(registers, each));
                let product = left.value.wrapping_mul(right.value);
                let value = match subtracts {
                    true => addend.value.wrapping_sub(product),
                    false => addend.value.wrapping_add(product),
                };
                let sources = left.sources | right.sources | addend.sources;
                set(registers, to, Operand { value: size.cut(value), sources });
                ThreadAction::Computed { next: step + 1 }
            }
            RiscOperation::Select { to, when, left, right, change } => {
                let holds = is_flagged(when, registers.values[FLAGS]);
                let selected = operand(registers, if holds { left } else { right });
                let value = if holds { selected.value } else { changed(change, selected.value) };
                let sources = selected.sources | registers.sources[FLAGS].as_pick();
                set(registers, to, Operand { value: size.cut(value), sources });
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

    fn loaded(&self, step: u32, registers: &mut Registers, value: u64, from: Sources) {
        let RiscInstruction { operation, size } = self.code[step as usize];
        let RiscOperation::Load { to, signed, .. } = operation else { return };
        set(registers, to, Operand { value: extended(value, size, signed), sources: from });
    }

    fn stored(&self, step: u32, registers: &mut Registers, by: Option<usize>) {
        let RiscOperation::StoreConditional { status, .. } = self.code[step as usize].operation
        else {
            return;
        };
        // RISC-V: what uses the result depends on the store. Arm: on nothing.
        let carries = self.architecture == Architecture::RiscV;
        let sources = by.filter(|_| carries).map_or(Sources::NONE, Sources::event);
        set(registers, status, Operand { value: u64::from(by.is_none()), sources });
    }

    fn modified(
        &self,
        step: u32,
        registers: &mut Registers,
        value: u64,
        from: Sources,
    ) -> Option<Operand> {
        let RiscInstruction { operation, size } = self.code[step as usize];
        match operation {
            RiscOperation::Atomic { change, to, from: with, signed, .. } => {
                let with = operand(registers, with);
                let written = change_of(change, value, with.value, size);
                // What is exchanged does not depend on what was there.
                let is_used = change != AtomicChange::Swap;
                let picked = if is_used { from.picked } else { 0 };
                let sources = with.sources | Sources { picked, ..Sources::NONE };
                let value = extended(value, size, signed);
                set(registers, to, Operand { value, sources: from });
                Some(Operand { value: written, sources })
            }
            RiscOperation::CompareAndSwap { expected, from: new, .. } => {
                let (wanted, new) = (held(registers, expected), operand(registers, new));
                set(registers, expected, Operand { value: size.cut(value), sources: from });
                let picks = wanted.sources.as_pick() | Sources { carried: 0, ..from };
                let sources = new.sources | picks;
                (size.cut(wanted.value) == size.cut(value)).then_some(Operand { sources, ..new })
            }
            _ => None,
        }
    }

    /// A comparison that fails may write back what it read. One that succeeds may leave its register as
    /// it is, which then depends on what the register depended on, and was picked by the comparison.
    fn modified_otherwise(
        &self,
        step: u32,
        registers: &mut Registers,
        value: u64,
        from: Sources,
    ) -> Option<Operand> {
        let RiscInstruction { operation, size } = self.code[step as usize];
        let RiscOperation::CompareAndSwap { expected, from: new, .. } = operation else {
            return None;
        };
        let (wanted, new) = (held(registers, expected), operand(registers, new));
        let picks = wanted.sources.as_pick() | Sources { carried: 0, ..from };
        let value = size.cut(value);
        if size.cut(wanted.value) == value {
            let sources = wanted.sources | wanted.sources.as_pick() | from.as_pick();
            set(registers, expected, Operand { value, sources });
            Some(Operand { sources: new.sources | picks, ..new })
        } else {
            set(registers, expected, Operand { value, sources: from });
            Some(Operand { value, sources: picks })
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
            Extension::SignedHalf => Size::Word.signed(value) as u64,
            Extension::UnsignedHalf => Size::Word.cut(value),
            Extension::SignedByte => Size::Byte.signed(value) as u64,
            Extension::UnsignedByte => Size::Byte.cut(value),
        };
        Operand { value, sources: registers.sources[register as usize] }
    };
    match source {
        RiscSource::Number(number) => Operand { value: number as u64, sources: Sources::NONE },
        RiscSource::Register(register, extension) => held(register, extension),
        RiscSource::Shifted { register, extension, shift, count } => {
            let Operand { value, sources } = held(register, extension);
            let value = match shift {
                Shift::Left => value << count,
                Shift::Right => value >> count,
                Shift::RightSigned => ((value as i64) >> count) as u64,
                Shift::Rotate if extension == Extension::UnsignedWord => {
                    u64::from((value as u32).rotate_right(u32::from(count)))
                }
                Shift::Rotate => value.rotate_right(u32::from(count)),
            };
            Operand { value, sources }
        }
    }
}

/// What a register holds; the one that is always zero is `None`.
fn held(registers: &Registers, register: Option<Register>) -> Operand {
    let of = |register| RiscSource::Register(register, Extension::Whole);
    operand(registers, register.map_or(RiscSource::Number(0), of))
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
    let upper = |value: u64| value << (64 - size.bits());
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
        RiscOperator::RotateRight if size == Size::Long => {
            u64::from((left as u32).rotate_right(count))
        }
        RiscOperator::RotateRight => left.rotate_right(count),
        RiscOperator::Absolute => size.signed(right).unsigned_abs(),
        // Of a value at the upper end, the bits of 32 and 64 bits are counted from the same side.
        RiscOperator::LeadingZeros => u64::from(upper(right).leading_zeros().min(size.bits())),
        RiscOperator::LeadingSigns => {
            let signs = (size.signed(right) ^ (size.signed(right) >> 63)) as u64;
            u64::from(upper(signs).leading_zeros().min(size.bits()) - 1)
        }
        RiscOperator::ReverseBits => upper(right).reverse_bits(),
        RiscOperator::ReverseBytes => upper(right).swap_bytes(),
        RiscOperator::ReverseHalves => {
            let low = 0x00ff_00ff_00ff_00ff;
            (right & low) << 8 | (right >> 8) & low
        }
        RiscOperator::ReverseWords => right.swap_bytes().rotate_left(32),
    })
}

/// What a conditional select makes of the operand that it takes if its condition does not hold.
fn changed(change: SelectChange, value: u64) -> u64 {
    match change {
        SelectChange::None => value,
        SelectChange::Increment => value.wrapping_add(1),
        SelectChange::Invert => !value,
        SelectChange::Negate => value.wrapping_neg(),
    }
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
