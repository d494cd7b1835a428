//! What instructions compute: registers of one thread, and the flags.

use crate::lower::{CARRY, CELLS, Cell, Change, FLAGS, Source, Step, Target};
use crate::test::{Binary, Flag, Memory, Register, Size, Unary};

/// The registers of a thread.
pub(crate) type Cells = [u64; CELLS];

const ZERO: u64 = 1;
const SIGN: u64 = 2;
const OVERFLOW: u64 = 4;

pub(crate) fn value(cells: &Cells, source: Source) -> u64 {
    match source {
        Source::Value(value) => value,
        Source::Cell(cell) => cells[cell as usize],
    }
}

/// Writes the low part of a register: a 32-bit write clears the upper half, narrower writes keep
/// the rest.
pub(crate) fn set(cells: &mut Cells, to: Cell, value: u64, size: Size) {
    let old = cells[to as usize];
    cells[to as usize] = match size {
        Size::Long | Size::Quad => size.cut(value),
        Size::Byte | Size::Word => old & !size.cut(u64::MAX) | size.cut(value),
    };
}

/// The address an access goes to.
pub(crate) fn address(cells: &Cells, memory: Memory) -> u64 {
    let register = |register: Register| cells[register.0 as usize];
    let base = memory.base.map_or(0, register);
    let index =
        memory.index.map_or(0, |(index, scale)| register(index).wrapping_mul(u64::from(scale)));
    base.wrapping_add(index).wrapping_add(memory.displacement as u64)
}

/// Computes a step that touches no memory. Returns whether it was one.
pub(crate) fn run(cells: &mut Cells, step: &Step, next: &mut u32) -> bool {
    match *step {
        Step::Move { to, from, size } => set(cells, to, value(cells, from), size),
        Step::Binary { operator, to, left, right, size } => {
            let (left, right) = (value(cells, left), value(cells, right));
            let result = binary(cells, operator, left, right, size);
            if let Some(to) = to {
                set(cells, to, result, size);
            }
        }
        Step::Unary { operator, to, from, size } => {
            let result = unary(cells, operator, value(cells, from), size);
            set(cells, to, result, size);
        }
        Step::Jump { when, target } => {
            if when.is_none_or(|flag| holds(cells, flag)) {
                *next = target;
                return true;
            }
        }
        Step::Load { .. }
        | Step::Store { .. }
        | Step::Modify { .. }
        | Step::Fence(_)
        | Step::End => return false,
    }
    *next += 1;
    true
}

/// The value that an atomic step writes after a read; its registers and flags are set.
pub(crate) fn modify(cells: &mut Cells, change: Change, read: u64, size: Size) -> u64 {
    match change {
        Change::Binary(operator, right) => {
            let right = value(cells, right);
            binary(cells, operator, read, right, size)
        }
        Change::Unary(operator) => unary(cells, operator, read, size),
        Change::Exchange(register) => {
            let written = cells[register as usize];
            set(cells, register, read, size);
            written
        }
        Change::ExchangeAdd(register) => {
            let sum = binary(cells, Binary::Add, read, cells[register as usize], size);
            set(cells, register, read, size);
            sum
        }
        Change::CompareExchange(register) => {
            let accumulator = Register::ACCUMULATOR.0;
            let expected = cells[accumulator as usize];
            binary(cells, Binary::Subtract, expected, read, size);
            if size.cut(expected) == size.cut(read) {
                return cells[register as usize];
            }
            // If the comparison fails, the processor writes back the value that it read.
            set(cells, accumulator, read, size);
            read
        }
    }
}

fn binary(cells: &mut Cells, operator: Binary, left: u64, right: u64, size: Size) -> u64 {
    let (left, right) = (size.cut(left), size.cut(right));
    let (a, b) = (size.signed(left), size.signed(right));
    let count = right & if size == Size::Quad { 63 } else { 31 };
    let exact = match operator {
        Binary::Add => i128::from(a) + i128::from(b),
        Binary::Subtract => i128::from(a) - i128::from(b),
        Binary::And => i128::from(a & b),
        Binary::Or => i128::from(a | b),
        Binary::Xor => i128::from(a ^ b),
        Binary::ShiftLeft => i128::from(left.checked_shl(count as u32).unwrap_or(0) as i64),
        Binary::ShiftRight => i128::from(left.checked_shr(count as u32).unwrap_or(0) as i64),
        Binary::ShiftRightSigned => i128::from(a >> count.min(63)),
    };
    let result = size.cut(exact as u64);
    let carry = match operator {
        Binary::Add => u128::from(left) + u128::from(right) != u128::from(result),
        Binary::Subtract => left < right,
        _ => false,
    };
    let arithmetic = matches!(operator, Binary::Add | Binary::Subtract);
    let overflow = arithmetic && i128::from(size.signed(result)) != exact;
    cells[FLAGS as usize] = flags(result, size, overflow);
    cells[CARRY as usize] = u64::from(carry);
    result
}

fn unary(cells: &mut Cells, operator: Unary, from: u64, size: Size) -> u64 {
    let carry = cells[CARRY as usize];
    match operator {
        Unary::Increment | Unary::Decrement => {
            let operator =
                if operator == Unary::Increment { Binary::Add } else { Binary::Subtract };
            let result = binary(cells, operator, from, 1, size);
            // These two leave the carry alone.
            cells[CARRY as usize] = carry;
            result
        }
        Unary::Negate => binary(cells, Binary::Subtract, 0, from, size),
        Unary::Not => size.cut(!from),
    }
}

fn flags(result: u64, size: Size, overflow: bool) -> u64 {
    let bit = |set: bool, bit: u64| if set { bit } else { 0 };
    bit(result == 0, ZERO) | bit(size.signed(result) < 0, SIGN) | bit(overflow, OVERFLOW)
}

fn holds(cells: &Cells, flag: Flag) -> bool {
    let is = |bit: u64| cells[FLAGS as usize] & bit != 0;
    let carry = cells[CARRY as usize] != 0;
    let less = is(SIGN) != is(OVERFLOW);
    match flag {
        Flag::Equal => is(ZERO),
        Flag::NotEqual => !is(ZERO),
        Flag::Less => less,
        Flag::LessOrEqual => less || is(ZERO),
        Flag::Greater => !less && !is(ZERO),
        Flag::GreaterOrEqual => !less,
        Flag::Below => carry,
        Flag::BelowOrEqual => carry || is(ZERO),
        Flag::Above => !carry && !is(ZERO),
        Flag::AboveOrEqual => !carry,
        Flag::Sign => is(SIGN),
        Flag::NoSign => !is(SIGN),
        Flag::Overflow => is(OVERFLOW),
        Flag::NoOverflow => !is(OVERFLOW),
    }
}

const ALL_FLAGS: u32 = 1 << FLAGS | 1 << CARRY;

/// The flags that an operator sets.
fn unary_flags(operator: Unary) -> u32 {
    match operator {
        Unary::Increment | Unary::Decrement => 1 << FLAGS,
        Unary::Negate => ALL_FLAGS,
        Unary::Not => 0,
    }
}

/// The flags that a jump tests.
fn jump_flags(flag: Flag) -> u32 {
    match flag {
        Flag::Below | Flag::AboveOrEqual => 1 << CARRY,
        Flag::BelowOrEqual | Flag::Above => ALL_FLAGS,
        _ => 1 << FLAGS,
    }
}

/// Cells that a step reads and cells that it surely overwrites.
pub(crate) fn uses(step: &Step) -> (u32, u32) {
    let bit = |cell: Cell| 1 << cell;
    let of = |source: Source| match source {
        Source::Value(_) => 0,
        Source::Cell(cell) => bit(cell),
    };
    let at = |target: Target| match target {
        Target::Location(_) => 0,
        Target::Computed(memory) => {
            memory.base.map_or(0, |base| bit(base.0))
                | memory.index.map_or(0, |(index, _)| bit(index.0))
        }
    };
    // A narrow write keeps the rest of the register, which it therefore reads.
    let written = |to: Cell, size: Size| match size {
        Size::Long | Size::Quad => (0, bit(to)),
        Size::Byte | Size::Word => (bit(to), 0),
    };
    match *step {
        Step::Load { to, at: target, size } => {
            let (kept, over) = written(to, size);
            (at(target) | kept, over)
        }
        Step::Store { from, at: target, .. } => (of(from) | at(target), 0),
        Step::Move { to, from, size } => {
            let (kept, over) = written(to, size);
            (of(from) | kept, over)
        }
        Step::Binary { to, left, right, size, .. } => {
            let (kept, over) = to.map_or((0, 0), |to| written(to, size));
            (of(left) | of(right) | kept, over | ALL_FLAGS)
        }
        Step::Unary { operator, to, from, size } => {
            let (kept, over) = written(to, size);
            (of(from) | kept, over | unary_flags(operator))
        }
        Step::Modify { change, at: target, size } => {
            let (read, over) = match change {
                Change::Binary(_, right) => (of(right), ALL_FLAGS),
                Change::Unary(operator) => (0, unary_flags(operator)),
                Change::Exchange(register) => {
                    let (_, over) = written(register, size);
                    (bit(register), over)
                }
                Change::ExchangeAdd(register) => {
                    let (_, over) = written(register, size);
                    (bit(register), over | ALL_FLAGS)
                }
                Change::CompareExchange(register) => {
                    (bit(register) | bit(Register::ACCUMULATOR.0), ALL_FLAGS)
                }
            };
            (read | at(target), over)
        }
        Step::Jump { when, .. } => (when.map_or(0, jump_flags), 0),
        Step::Fence(_) | Step::End => (0, 0),
    }
}

/// Cells that a step may change.
pub(crate) fn changes(step: &Step) -> u32 {
    let bit = |cell: Cell| 1 << cell;
    match *step {
        Step::Load { to, .. } | Step::Move { to, .. } => bit(to),
        Step::Binary { to, .. } => to.map_or(0, bit) | ALL_FLAGS,
        Step::Unary { operator, to, .. } => bit(to) | unary_flags(operator),
        Step::Modify { change, .. } => match change {
            Change::Exchange(to) => bit(to),
            Change::ExchangeAdd(to) => bit(to) | ALL_FLAGS,
            Change::CompareExchange(_) => bit(Register::ACCUMULATOR.0) | ALL_FLAGS,
            Change::Binary(..) => ALL_FLAGS,
            Change::Unary(operator) => unary_flags(operator),
        },
        Step::Store { .. } | Step::Jump { .. } | Step::Fence(_) | Step::End => 0,
    }
}
