//! Instructions of RISC-V and AArch64, the same for both: loads and stores, atomics, exclusives,
//! computing on registers, branches, fences.
//!
//! A register that is always zero is no register here: read, it is the number 0; written, it is
//! `None`.

use history::{AccessOrder, FenceName, Kinds};

use super::word::{Register, Size};
use super::{Constant, Flag};

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RiscInstruction {
    /// What it does.
    pub operation: RiscOperation,
    /// How wide its access or its result is; of no meaning for branches by flags and fences.
    pub size: Size,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RiscOperation {
    /// `lw`, `LDR` and their like.
    Load {
        /// Gets the value.
        to: Option<Register>,
        /// Where.
        at: RiscAddress,
        /// How it is ordered.
        order: Option<AccessOrder>,
        /// Whether it begins an exclusive pair: `lr`, `LDXR`.
        exclusive: bool,
        /// Whether a narrow value is extended by its sign.
        signed: bool,
    },
    /// `sw`, `STR` and their like.
    Store {
        /// The value.
        from: RiscSource,
        /// Where.
        at: RiscAddress,
        /// How it is ordered.
        order: Option<AccessOrder>,
    },
    /// `sc`, `STXR`: may fail; it can succeed only after an exclusive load of the address.
    StoreConditional {
        /// Gets 0 if it succeeds, else 1.
        status: Option<Register>,
        /// The value.
        from: RiscSource,
        /// Where.
        at: RiscAddress,
        /// How it is ordered.
        order: Option<AccessOrder>,
    },
    /// `amoadd`, `SWP`, `LDADD` and their like.
    Atomic {
        /// What is written.
        change: AtomicChange,
        /// Gets what was read.
        to: Option<Register>,
        /// The operand.
        from: RiscSource,
        /// Where.
        at: RiscAddress,
        /// How it is ordered.
        order: Option<AccessOrder>,
        /// Whether a narrow value is extended by its sign.
        signed: bool,
    },
    /// `CAS`: writes if the location holds what a register holds.
    CompareAndSwap {
        /// What is compared with; gets what was read.
        expected: Option<Register>,
        /// What is written.
        from: RiscSource,
        /// Where.
        at: RiscAddress,
        /// How it is ordered.
        order: Option<AccessOrder>,
    },
    /// `li`, `MOV` of a number.
    Constant {
        /// Gets the value.
        to: Option<Register>,
        /// The value.
        value: Constant,
    },
    /// `add`, `EOR` and their like.
    Compute {
        /// What is computed.
        operator: RiscOperator,
        /// Gets the result.
        to: Option<Register>,
        /// The left side.
        left: RiscSource,
        /// The right side.
        right: RiscSource,
        /// Whether it sets the flags (`ADDS`).
        sets_flags: bool,
    },
    /// `MADD`, `MSUB` and their like: a product, added to a value or subtracted from it.
    MultiplyAdd {
        /// Gets the result.
        to: Option<Register>,
        /// A factor.
        left: RiscSource,
        /// The other factor.
        right: RiscSource,
        /// What it is added to.
        addend: RiscSource,
        /// Whether it is subtracted instead.
        subtracts: bool,
    },
    /// `CSEL`, `CSINC` and their like.
    Select {
        /// Gets the result.
        to: Option<Register>,
        /// What is asked of the flags.
        when: Flag,
        /// The result if it is so.
        left: RiscSource,
        /// The result if it is not, except for the change.
        right: RiscSource,
        /// What is made of that.
        change: SelectChange,
    },
    /// `CMP`: sets the flags.
    Compare {
        /// The left side.
        left: RiscSource,
        /// The right side.
        right: RiscSource,
    },
    /// `bne`, `CBNZ`, `B.EQ`, `B` and their like.
    Branch {
        /// When it is taken.
        when: BranchCondition,
        /// The index of an instruction, or one past the last.
        target: u32,
    },
    /// `fence rw,rw`, `DMB SY`, `ISB` and their like.
    Fence(RiscFence),
    /// `nop`
    Nothing,
}

/// Where an access goes: the sum of a register and an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RiscAddress {
    /// The register.
    pub base: RiscSource,
    /// The offset.
    pub offset: RiscSource,
}

/// A number or the value of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RiscSource {
    /// A number.
    Number(i64),
    /// What a register holds.
    Register(Register, Extension),
    /// The same, shifted: `X2,LSL #3`. What is shifted to the right in an instruction of 32 bits is
    /// extended first.
    Shifted {
        /// The register.
        register: Register,
        /// How much of it.
        extension: Extension,
        /// Where to.
        shift: Shift,
        /// How far, in bits.
        count: u8,
    },
}

/// What a conditional select makes of its last operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelectChange {
    /// Nothing (`CSEL`).
    None,
    /// One more (`CSINC`).
    Increment,
    /// All bits are inverted (`CSINV`).
    Invert,
    /// The sign is changed (`CSNEG`).
    Negate,
}

/// The shift of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// `LSL`
    Left,
    /// `LSR`
    Right,
    /// `ASR`
    RightSigned,
    /// `ROR`: what leaves at the low end comes in at the upper one.
    Rotate,
}

/// How much of a register is meant as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// All of it.
    Whole,
    /// The low 32 bits with their sign (`SXTW`).
    SignedWord,
    /// The low 32 bits (`UXTW`).
    UnsignedWord,
    /// The low 16 bits with their sign (`SXTH`).
    SignedHalf,
    /// The low 16 bits (`UXTH`).
    UnsignedHalf,
    /// The low 8 bits with their sign (`SXTB`).
    SignedByte,
    /// The low 8 bits (`UXTB`).
    UnsignedByte,
}

/// What an atomic writes, from what it read and its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicChange {
    /// The operand.
    Swap,
    /// What an operator makes of both.
    Compute(RiscOperator),
    /// The bits of what was read that the operand does not have (`LDCLR`).
    Clear,
    /// The larger of the two.
    Maximum {
        /// Whether numbers have a sign.
        signed: bool,
    },
    /// The smaller of the two.
    Minimum {
        /// Whether numbers have a sign.
        signed: bool,
    },
}

/// Operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum RiscOperator {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    SetLess,
    SetLessUnsigned,
    Multiply,
    /// The left side and the inverse of the right one (`BIC`); so with the next two.
    AndNot,
    OrNot,
    XorNot,
    RotateRight,
    /// Of the right side alone (`ABS`); so with all that follow.
    Absolute,
    LeadingZeros,
    LeadingSigns,
    ReverseBits,
    ReverseBytes,
    /// The bytes of each halfword (`REV16`).
    ReverseHalves,
    /// The bytes of each word (`REV32`).
    ReverseWords,
}

/// When a branch is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BranchCondition {
    /// Always.
    Always,
    /// By what the last comparison found.
    Flag(Flag),
    /// If two values compare so.
    Compare(Comparison, RiscSource, RiscSource),
    /// If a bit of a value is set, or is not (`TBNZ`, `TBZ`).
    Bit {
        /// The value.
        of: RiscSource,
        /// Which bit.
        bit: u8,
        /// What it has to be.
        is_set: bool,
    },
}

/// How two values compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
    LessUnsigned,
    GreaterOrEqualUnsigned,
}

/// A fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RiscFence {
    /// `fence p,s`
    Between(Kinds, Kinds),
    /// One with a name.
    Named(FenceName),
}

impl RiscInstruction {
    /// The registers that it names as wide as the instruction is.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Register> {
        let of = |source: RiscSource| match source {
            RiscSource::Register(register, Extension::Whole) => Some(register),
            _ => None,
        };
        let named = match self.operation {
            RiscOperation::Load { to, .. } => [to, None, None],
            RiscOperation::Store { from, .. } => [of(from), None, None],
            RiscOperation::StoreConditional { from, .. } => [of(from), None, None],
            RiscOperation::Atomic { to, from, .. } => [to, of(from), None],
            RiscOperation::CompareAndSwap { expected, from, .. } => [expected, of(from), None],
            RiscOperation::Constant { to, .. } => [to, None, None],
            RiscOperation::Compute { to, left, right, .. }
            | RiscOperation::Select { to, left, right, .. } => [to, of(left), of(right)],
            RiscOperation::MultiplyAdd { to, left, right, addend, .. } => {
                return [to, of(left), of(right), of(addend)].into_iter().flatten();
            }
            RiscOperation::Compare { left, right } => [of(left), of(right), None],
            RiscOperation::Branch { when: BranchCondition::Compare(_, left, right), .. } => {
                [of(left), of(right), None]
            }
            RiscOperation::Branch { when: BranchCondition::Bit { of: named, .. }, .. } => {
                [of(named), None, None]
            }
            RiscOperation::Branch { .. } | RiscOperation::Fence(_) | RiscOperation::Nothing => {
                [None, None, None]
            }
        };
        let [first, second, third] = named;
        [first, second, third, None].into_iter().flatten()
    }

    /// The address of its access.
    pub(crate) fn address(&self) -> Option<RiscAddress> {
        match self.operation {
            RiscOperation::Load { at, .. }
            | RiscOperation::Store { at, .. }
            | RiscOperation::StoreConditional { at, .. }
            | RiscOperation::Atomic { at, .. }
            | RiscOperation::CompareAndSwap { at, .. } => Some(at),
            _ => None,
        }
    }
}
