//! A thread of RISC-V or AArch64 as a [`Program`].

use super::thread::{Operand, Program, Registers, Request, Sources, ThreadAction};
use super::x86::named_fence;
use crate::lower;
use crate::test::{
    Architecture, AtomicChange, BranchCondition, Comparison, Extension, Flag, Register,
    RiscAddress, RiscFence, RiscInstruction, RiscOperation, RiscOperator, RiscSource, Size, Thread,
};

/// The registers of both architectures, and behind them what was last compared.
const REGISTERS: usize = 32;
const LEFT: usize = REGISTERS;
const RIGHT: usize = REGISTERS + 1;

pub(crate) struct Risc {
    code: Vec<RiscInstruction>,
    initial: Vec<u64>,
    architecture: Architecture,
}

impl Risc {
    pub(crate) fn new(thread: &Thread, architecture: Architecture) -> Self {
        let mut initial = vec![0; RIGHT + 1];
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
                let (left, right) = (registers.values[LEFT], registers.values[RIGHT]);
                (flagged(flag, left, right), registers.sources[LEFT] | registers.sources[RIGHT])
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
            RiscOperation::Compute { operator, to, left, right } => {
                let (left, right) = (operand(registers, left), operand(registers, right));
                let value = compute(operator, left.value, right.value, size);
                set(registers, to, Operand { value, sources: left.sources | right.sources });
                ThreadAction::Computed { next: step + 1 }
            }
            RiscOperation::Compare { left, right } => {
                let (left, right) = (operand(registers, left), operand(registers, right));
                for (cell, side) in [(LEFT, left), (RIGHT, right)] {
                    registers.values[cell] = size.signed(side.value) as u64;
                    registers.sources[cell] = side.sources;
                }
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
    match source {
        RiscSource::Number(number) => Operand { value: number as u64, sources: 0 },
        RiscSource::Register(Register(register), extension) => {
            let value = registers.values[register as usize];
            let value = match extension {
                Extension::Whole => value,
                Extension::SignedWord => Size::Long.signed(value) as u64,
                Extension::UnsignedWord => Size::Long.cut(value),
            };
            Operand { value, sources: registers.sources[register as usize] }
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
    })
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

/// Whether a condition holds after a comparison of two numbers.
fn flagged(flag: Flag, left: u64, right: u64) -> bool {
    let (signed_left, signed_right) = (left as i64, right as i64);
    match flag {
        Flag::Equal => left == right,
        Flag::NotEqual => left != right,
        Flag::Less => signed_left < signed_right,
        Flag::LessOrEqual => signed_left <= signed_right,
        Flag::Greater => signed_left > signed_right,
        Flag::GreaterOrEqual => signed_left >= signed_right,
        Flag::Below => left < right,
        Flag::BelowOrEqual => left <= right,
        Flag::Above => left > right,
        Flag::AboveOrEqual => left >= right,
        Flag::Sign => signed_left.wrapping_sub(signed_right) < 0,
        Flag::NoSign => signed_left.wrapping_sub(signed_right) >= 0,
        Flag::Overflow => signed_left.checked_sub(signed_right).is_none(),
        Flag::NoOverflow => signed_left.checked_sub(signed_right).is_some(),
    }
}
