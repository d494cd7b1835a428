//! Instructions of x86, the same for both ways to spell them.

use super::word::{Register, Size};
use super::{Constant, LocationId};

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// Whether it has the `lock` prefix.
    pub locked: bool,
    /// How many bytes it moves; of no meaning for jumps and fences.
    pub size: Size,
}

impl Instruction {
    /// Where it accesses memory.
    pub fn memory(&self) -> impl Iterator<Item = Memory> + use<> {
        self.operation.operands().into_iter().flatten().filter_map(|operand| match operand {
            Operand::Memory(memory) => Some(memory),
            Operand::Immediate(_) | Operand::Register(_) => None,
        })
    }

    /// The registers that it has to do with, some perhaps more than once.
    pub fn registers(&self) -> impl Iterator<Item = Register> + use<> {
        let operands = self.operation.operands().into_iter().flatten();
        let named = operands.flat_map(|operand| match operand {
            Operand::Immediate(_) => [None, None],
            Operand::Register(register) => [Some(register), None],
            Operand::Memory(memory) => [memory.base, memory.index.map(|(index, _)| index)],
        });
        named.chain(self.written()).flatten()
    }

    /// The registers that it may change.
    pub fn written(&self) -> [Option<Register>; 2] {
        let register = |operand: Operand| match operand {
            Operand::Register(register) => Some(register),
            Operand::Immediate(_) | Operand::Memory(_) => None,
        };
        match self.operation {
            Operation::Move { to, .. }
            | Operation::Binary { to, .. }
            | Operation::Unary { to, .. } => [register(to), None],
            Operation::Exchange { register: one, with: to }
            | Operation::ExchangeAdd { register: one, to } => [Some(one), register(to)],
            Operation::CompareExchange { register: one, .. } => {
                [Some(Register::ACCUMULATOR), Some(one)]
            }
            Operation::Compare { .. }
            | Operation::Jump { .. }
            | Operation::Fence(_)
            | Operation::Nothing
            | Operation::Return => [None, None],
        }
    }
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `mov`
    Move {
        /// Register or memory.
        to: Operand,
        /// Not memory if `to` is.
        from: Operand,
    },
    /// `add` and its like: reads and writes `to`, and sets the flags.
    Binary {
        /// What is computed.
        operator: Binary,
        /// Register or memory.
        to: Operand,
        /// Not memory if `to` is.
        from: Operand,
    },
    /// `inc` and its like.
    Unary {
        /// What is computed.
        operator: Unary,
        /// Register or memory.
        to: Operand,
    },
    /// `cmp` and `test`: sets the flags and nothing else.
    Compare {
        /// `Binary::Subtract` for `cmp`, `Binary::And` for `test`.
        operator: Binary,
        /// The left side: `cmp` computes `left - right`.
        left: Operand,
        /// The right side.
        right: Operand,
    },
    /// `xchg`, which is atomic with or without `lock` if `with` is memory.
    Exchange {
        /// The register.
        register: Register,
        /// Register or memory.
        with: Operand,
    },
    /// `xadd`
    ExchangeAdd {
        /// Gets what `to` held.
        register: Register,
        /// Register or memory; gets the sum.
        to: Operand,
    },
    /// `cmpxchg`: if `to` holds what `rax` holds it gets `register`, else `rax` gets what it holds.
    CompareExchange {
        /// What is written.
        register: Register,
        /// Memory.
        to: Operand,
    },
    /// `jmp`, `je` and its like.
    Jump {
        /// When it is taken; `None` is always.
        when: Option<Flag>,
        /// The index of an instruction, or one past the last.
        target: u32,
    },
    /// `mfence`, `sfence`, `lfence`
    Fence(Fence),
    /// `nop`, `endbr64` and its like.
    Nothing,
    /// `ret`: the thread ends.
    Return,
}

impl Operation {
    /// Its operands that may be registers or memory, but for registers that it must have.
    pub(crate) fn operands(&self) -> [Option<Operand>; 2] {
        match *self {
            Operation::Move { to, from } | Operation::Binary { to, from, .. } => {
                [Some(to), Some(from)]
            }
            Operation::Compare { left, right, .. } => [Some(left), Some(right)],
            Operation::Unary { to, .. }
            | Operation::ExchangeAdd { to, .. }
            | Operation::CompareExchange { to, .. } => [Some(to), None],
            Operation::Exchange { with, .. } => [Some(with), None],
            Operation::Jump { .. }
            | Operation::Fence(_)
            | Operation::Nothing
            | Operation::Return => [None, None],
        }
    }
}

/// What an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A value in the code.
    Immediate(Constant),
    /// A register.
    Register(Register),
    /// Memory.
    Memory(Memory),
}

/// A place in memory: the sum of its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The address of this location.
    pub location: Option<LocationId>,
    /// What this register holds.
    pub base: Option<Register>,
    /// What this register holds, times this.
    pub index: Option<(Register, u8)>,
    /// A number.
    pub displacement: i64,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Unary {
    Increment,
    Decrement,
    Negate,
    Not,
}

/// What a conditional jump asks of the flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Flag {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Below,
    BelowOrEqual,
    Above,
    AboveOrEqual,
    Sign,
    NoSign,
    Overflow,
    NoOverflow,
}

impl Flag {
    /// What holds iff this does not.
    pub fn negated(self) -> Flag {
        match self {
            Flag::Equal => Flag::NotEqual,
            Flag::NotEqual => Flag::Equal,
            Flag::Less => Flag::GreaterOrEqual,
            Flag::LessOrEqual => Flag::Greater,
            Flag::Greater => Flag::LessOrEqual,
            Flag::GreaterOrEqual => Flag::Less,
            Flag::Below => Flag::AboveOrEqual,
            Flag::BelowOrEqual => Flag::Above,
            Flag::Above => Flag::BelowOrEqual,
            Flag::AboveOrEqual => Flag::Below,
            Flag::Sign => Flag::NoSign,
            Flag::NoSign => Flag::Sign,
            Flag::Overflow => Flag::NoOverflow,
            Flag::NoOverflow => Flag::Overflow,
        }
    }
}

/// Fences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// `mfence`: everything before it comes before everything after it.
    Full,
    /// `sfence`: writes before it come before writes after it.
    Store,
    /// `lfence`: reads before it come before everything after it.
    Load,
}
