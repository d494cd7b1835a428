//! Instructions of RISC-V and AArch64 as text.
//!
//! A test that was read has only instructions of its own architecture. One that was made with those
//! of the other (a comparison by flags in RISC-V) gets `nop` for them.

use history::{AccessOrder, FenceName, Kinds};

use crate::test::{
    Architecture, AtomicChange, BranchCondition, Comparison, Constant, Extension, Flag, Litmus,
    Register, RiscAddress, RiscFence, RiscInstruction, RiscOperation, RiscOperator, RiscSource,
    SelectChange, Shift, Size, Thread,
};

impl Litmus {
    pub(super) fn risc_instruction(&self, thread: &Thread, one: &RiscInstruction) -> String {
        let label = |target: u32| {
            let label = thread.labels.iter().find(|label| label.1 == target);
            label.map_or(String::new(), |label| label.0.clone())
        };
        match self.architecture {
            Architecture::AArch64 => self.aarch64(one, label),
            _ => self.riscv(one, label),
        }
    }

    fn riscv(&self, one: &RiscInstruction, label: impl Fn(u32) -> String) -> String {
        let letter = match one.size {
            Size::Byte => "b",
            Size::Word => "h",
            Size::Long => "w",
            Size::Quad => "d",
        };
        match one.operation {
            RiscOperation::Load { to, at, order, exclusive, signed } => {
                let unsigned = if signed || one.size == Size::Quad { "" } else { "u" };
                let name = match exclusive {
                    true => format!("lr.{letter}"),
                    false => format!("l{letter}{unsigned}"),
                };
                format!("{name}{} {},{}", suffix(order), number(to), riscv_address(at))
            }
            RiscOperation::Store { from, at, order } => {
                format!("s{letter}{} {},{}", suffix(order), riscv_source(from), riscv_address(at))
            }
            RiscOperation::StoreConditional { status, from, at, order } => {
                let (status, from) = (number(status), riscv_source(from));
                format!("sc.{letter}{} {status},{from},{}", suffix(order), riscv_address(at))
            }
            RiscOperation::Atomic { change, to, from, at, order, .. } => {
                let name = riscv_atomic(change);
                let (to, from) = (number(to), riscv_source(from));
                let at = riscv_address(at);
                let at = at.strip_prefix('0').unwrap_or(&at);
                format!("{name}.{letter}{} {to},{from},{at}", suffix(order))
            }
            RiscOperation::Constant { to, value: Constant::Number(value) } => {
                format!("li {},{value}", number(to))
            }
            RiscOperation::Constant { to, value } => {
                format!("la {},{}", number(to), self.constant(value))
            }
            RiscOperation::Compute { operator, to, left, right, .. } => {
                // What has no form with a number has the register that is 0.
                let right = match (operator, right) {
                    (operator, RiscSource::Number(0)) if !has_immediate(operator) => {
                        RiscSource::Register(Register(0), Extension::Whole)
                    }
                    (_, right) => right,
                };
                let immediate = if matches!(right, RiscSource::Number(_)) { "i" } else { "" };
                let word = if one.size == Size::Long { "w" } else { "" };
                let name = match operator {
                    RiscOperator::SetLessUnsigned if immediate == "i" => "sltiu".to_owned(),
                    _ => format!("{}{immediate}{word}", riscv_operator(operator)),
                };
                let right = match right {
                    RiscSource::Number(value) => value.to_string(),
                    source => riscv_source(source),
                };
                format!("{name} {},{},{right}", number(to), riscv_source(left))
            }
            RiscOperation::Branch { when: BranchCondition::Always, target } => {
                format!("j {}", label(target))
            }
            RiscOperation::Branch {
                when: BranchCondition::Compare(comparison, left, right),
                target,
            } => {
                let (left, right) = (riscv_source(left), riscv_source(right));
                format!("{} {left},{right},{}", riscv_branch(comparison), label(target))
            }
            RiscOperation::Fence(fence) => riscv_fence(fence),
            RiscOperation::CompareAndSwap { .. }
            | RiscOperation::MultiplyAdd { .. }
            | RiscOperation::Select { .. }
            | RiscOperation::Compare { .. }
            | RiscOperation::Branch {
                when: BranchCondition::Flag(_) | BranchCondition::Bit { .. },
                ..
            }
            | RiscOperation::Nothing => "nop".to_owned(),
        }
    }

    fn aarch64(&self, one: &RiscInstruction, label: impl Fn(u32) -> String) -> String {
        let size = one.size;
        let source = |source: RiscSource| aarch64_source(source, size);
        let register = |register: Option<Register>| aarch64_register(register, size);
        let narrow = match size {
            Size::Byte => "B",
            Size::Word => "H",
            Size::Long | Size::Quad => "",
        };
        match one.operation {
            RiscOperation::Load { to, at, signed: true, .. } if size != Size::Quad => {
                let letter = match size {
                    Size::Byte => "B",
                    Size::Word => "H",
                    Size::Long | Size::Quad => "W",
                };
                let to = aarch64_register(to, Size::Quad);
                format!("LDRS{letter} {to},{}", aarch64_address(at))
            }
            RiscOperation::Load { to, at, order, exclusive, .. } => {
                let name = match (order, exclusive) {
                    (None, false) => "LDR",
                    (None, true) => "LDXR",
                    (Some(AccessOrder::AcquirePc), _) => "LDAPR",
                    (Some(_), false) => "LDAR",
                    (Some(_), true) => "LDAXR",
                };
                format!("{name}{narrow} {},{}", register(to), aarch64_address(at))
            }
            RiscOperation::Store { from, at, order } => {
                let name = if order.is_some() { "STLR" } else { "STR" };
                format!("{name}{narrow} {},{}", source(from), aarch64_address(at))
            }
            RiscOperation::StoreConditional { status, from, at, order } => {
                let name = if order.is_some() { "STLXR" } else { "STXR" };
                let status = aarch64_register(status, Size::Long);
                format!("{name}{narrow} {status},{},{}", source(from), aarch64_address(at))
            }
            RiscOperation::Atomic { change, to, from, at, order, .. } => {
                let name = aarch64_atomic(change);
                let (from, at) = (source(from), aarch64_address(at));
                format!("{name}{}{narrow} {from},{},{at}", letters(order), register(to))
            }
            RiscOperation::CompareAndSwap { expected, from, at, order } => {
                let (from, at) = (source(from), aarch64_address(at));
                format!("CAS{}{narrow} {},{from},{at}", letters(order), register(expected))
            }
            RiscOperation::Constant { to, value } => {
                format!("MOV {},#{}", register(to), self.constant(value))
            }
            RiscOperation::Compute {
                operator: RiscOperator::Or,
                to,
                left: RiscSource::Number(0),
                right: right @ RiscSource::Register(_, Extension::Whole),
                ..
            } => format!("MOV {},{}", register(to), source(right)),
            RiscOperation::Compute { operator, to, right, .. } if is_of_one(operator) => {
                format!("{} {},{}", aarch64_operator(operator), register(to), source(right))
            }
            RiscOperation::MultiplyAdd { to, left, right, addend, subtracts } => {
                let is_extended = |by: Extension| {
                    [left, right].iter().any(
                        |source| matches!(source, RiscSource::Register(_, each) if *each == by),
                    )
                };
                let (letter, long) = match () {
                    () if is_extended(Extension::SignedWord) => ("S", "L"),
                    () if is_extended(Extension::UnsignedWord) => ("U", "L"),
                    () => ("", ""),
                };
                let name = if subtracts { "MSUB" } else { "MADD" };
                let factor = |source: RiscSource| match source {
                    RiscSource::Register(register, _) if long == "L" => {
                        aarch64_register(Some(register), Size::Long)
                    }
                    source => aarch64_source(source, if long == "L" { Size::Long } else { size }),
                };
                let (to, left, right) = (register(to), factor(left), factor(right));
                format!("{letter}{name}{long} {to},{left},{right},{}", source(addend))
            }
            RiscOperation::Select { to, when, left, right, change } => {
                let name = match change {
                    SelectChange::None => "CSEL",
                    SelectChange::Increment => "CSINC",
                    SelectChange::Invert => "CSINV",
                    SelectChange::Negate => "CSNEG",
                };
                let (left, right) = (source(left), source(right));
                format!("{name} {},{left},{right},{}", register(to), aarch64_flag(when))
            }
            RiscOperation::Compute { operator, to, left, right, sets_flags } => {
                let name = aarch64_operator(operator);
                let flags = if sets_flags { "S" } else { "" };
                let right = aarch64_last(right, size);
                format!("{name}{flags} {},{},{right}", register(to), source(left))
            }
            RiscOperation::Compare { left, right } => {
                format!("CMP {},{}", source(left), aarch64_last(right, size))
            }
            RiscOperation::Branch { when, target } => {
                let label = label(target);
                match when {
                    BranchCondition::Always => format!("B {label}"),
                    BranchCondition::Flag(flag) => format!("B.{} {label}", aarch64_flag(flag)),
                    BranchCondition::Compare(comparison, left, _) => {
                        let name = if comparison == Comparison::Equal { "CBZ" } else { "CBNZ" };
                        format!("{name} {},{label}", source(left))
                    }
                    BranchCondition::Bit { of, bit, is_set } => {
                        let name = if is_set { "TBNZ" } else { "TBZ" };
                        format!("{name} {},#{bit},{label}", source(of))
                    }
                }
            }
            RiscOperation::Fence(RiscFence::Named(name)) => aarch64_fence(name).to_owned(),
            RiscOperation::Fence(RiscFence::Between(before, after)) => {
                let kind = match (before, after) {
                    (Kinds::READS, _) => "LD",
                    (Kinds::WRITES, Kinds::WRITES) => "ST",
                    _ => "SY",
                };
                format!("DMB {kind}")
            }
            RiscOperation::Nothing => "NOP".to_owned(),
        }
    }
}

fn number(register: Option<Register>) -> String {
    format!("x{}", register.map_or(0, |register| register.0))
}

fn riscv_source(source: RiscSource) -> String {
    match source {
        RiscSource::Register(register, _) | RiscSource::Shifted { register, .. } => {
            number(Some(register))
        }
        RiscSource::Number(_) => "x0".to_owned(),
    }
}

fn riscv_address(at: RiscAddress) -> String {
    let offset = match at.offset {
        RiscSource::Number(offset) => offset,
        RiscSource::Register(..) | RiscSource::Shifted { .. } => 0,
    };
    format!("{offset}({})", riscv_source(at.base))
}

fn suffix(order: Option<AccessOrder>) -> &'static str {
    match order {
        None => "",
        Some(AccessOrder::Acquire | AccessOrder::AcquirePc) => ".aq",
        Some(AccessOrder::Release) => ".rl",
        Some(AccessOrder::AcquireRelease | AccessOrder::Sequential) => ".aq.rl",
    }
}

fn riscv_atomic(change: AtomicChange) -> &'static str {
    match change {
        AtomicChange::Swap => "amoswap",
        AtomicChange::Compute(RiscOperator::Add) => "amoadd",
        AtomicChange::Compute(RiscOperator::Or) => "amoor",
        AtomicChange::Compute(RiscOperator::Xor) => "amoxor",
        AtomicChange::Compute(_) | AtomicChange::Clear => "amoand",
        AtomicChange::Maximum { signed: true } => "amomax",
        AtomicChange::Maximum { signed: false } => "amomaxu",
        AtomicChange::Minimum { signed: true } => "amomin",
        AtomicChange::Minimum { signed: false } => "amominu",
    }
}

/// Whether an operator of RISC-V has a form with a number.
fn has_immediate(operator: RiscOperator) -> bool {
    !matches!(
        operator,
        RiscOperator::Subtract
            | RiscOperator::Multiply
            | RiscOperator::AndNot
            | RiscOperator::OrNot
            | RiscOperator::XorNot
    )
}

/// Whether an operator has a right side only.
fn is_of_one(operator: RiscOperator) -> bool {
    matches!(
        operator,
        RiscOperator::Absolute
            | RiscOperator::LeadingZeros
            | RiscOperator::LeadingSigns
            | RiscOperator::ReverseBits
            | RiscOperator::ReverseBytes
            | RiscOperator::ReverseHalves
            | RiscOperator::ReverseWords
    )
}

fn riscv_operator(operator: RiscOperator) -> &'static str {
    match operator {
        RiscOperator::Add => "add",
        RiscOperator::Subtract => "sub",
        RiscOperator::And => "and",
        RiscOperator::Or => "or",
        RiscOperator::Xor => "xor",
        RiscOperator::ShiftLeft => "sll",
        RiscOperator::ShiftRight => "srl",
        RiscOperator::ShiftRightSigned => "sra",
        RiscOperator::SetLess => "slt",
        RiscOperator::SetLessUnsigned => "sltu",
        RiscOperator::Multiply => "mul",
        RiscOperator::AndNot => "andn",
        RiscOperator::OrNot => "orn",
        RiscOperator::XorNot => "xnor",
        RiscOperator::RotateRight => "ror",
        RiscOperator::LeadingZeros => "clz",
        RiscOperator::ReverseBytes => "rev8",
        RiscOperator::Absolute
        | RiscOperator::LeadingSigns
        | RiscOperator::ReverseBits
        | RiscOperator::ReverseHalves
        | RiscOperator::ReverseWords => "nop",
    }
}

fn riscv_branch(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "beq",
        Comparison::NotEqual => "bne",
        Comparison::Less => "blt",
        Comparison::GreaterOrEqual => "bge",
        Comparison::LessUnsigned => "bltu",
        Comparison::GreaterOrEqualUnsigned => "bgeu",
    }
}

fn riscv_fence(fence: RiscFence) -> String {
    match fence {
        RiscFence::Between(before, after) => {
            format!("fence {},{}", before.letters(), after.letters())
        }
        RiscFence::Named(name) => name.spelling().to_owned(),
    }
}

fn aarch64_register(register: Option<Register>, size: Size) -> String {
    let letter = if size == Size::Quad { 'X' } else { 'W' };
    match register {
        Some(register) => format!("{letter}{}", register.0),
        None => format!("{letter}ZR"),
    }
}

fn aarch64_source(source: RiscSource, size: Size) -> String {
    match source {
        RiscSource::Register(register, Extension::Whole) => aarch64_register(Some(register), size),
        RiscSource::Register(register, extension) => {
            let name = aarch64_extension(extension);
            format!("{},{name}", aarch64_register(Some(register), Size::Long))
        }
        RiscSource::Shifted { register, extension, shift, count } => {
            let word = |name: &str| {
                format!("{},{name} #{count}", aarch64_register(Some(register), Size::Long))
            };
            match (shift, extension) {
                (Shift::Left, Extension::Whole) => {
                    format!("{},LSL #{count}", aarch64_register(Some(register), size))
                }
                (Shift::Left, extension) => word(aarch64_extension(extension)),
                (Shift::Right, _) => {
                    format!("{},LSR #{count}", aarch64_register(Some(register), size))
                }
                (Shift::RightSigned, _) => {
                    format!("{},ASR #{count}", aarch64_register(Some(register), size))
                }
                (Shift::Rotate, _) => {
                    format!("{},ROR #{count}", aarch64_register(Some(register), size))
                }
            }
        }
        RiscSource::Number(_) => aarch64_register(None, size),
    }
}

fn aarch64_extension(extension: Extension) -> &'static str {
    match extension {
        Extension::Whole => "UXTX",
        Extension::SignedWord => "SXTW",
        Extension::UnsignedWord => "UXTW",
        Extension::SignedHalf => "SXTH",
        Extension::UnsignedHalf => "UXTH",
        Extension::SignedByte => "SXTB",
        Extension::UnsignedByte => "UXTB",
    }
}

/// The last operand, which may be a number.
fn aarch64_last(source: RiscSource, size: Size) -> String {
    match source {
        RiscSource::Number(value) => format!("#{value}"),
        source => aarch64_source(source, size),
    }
}

fn aarch64_address(at: RiscAddress) -> String {
    let base = aarch64_source(at.base, Size::Quad);
    match at.offset {
        RiscSource::Number(0) => format!("[{base}]"),
        offset => format!("[{base},{}]", aarch64_last(offset, Size::Quad)),
    }
}

fn letters(order: Option<AccessOrder>) -> &'static str {
    match order {
        None => "",
        Some(AccessOrder::Acquire | AccessOrder::AcquirePc) => "A",
        Some(AccessOrder::Release) => "L",
        Some(AccessOrder::AcquireRelease | AccessOrder::Sequential) => "AL",
    }
}

fn aarch64_atomic(change: AtomicChange) -> &'static str {
    match change {
        AtomicChange::Swap => "SWP",
        AtomicChange::Compute(RiscOperator::Add) => "LDADD",
        AtomicChange::Compute(RiscOperator::Xor) => "LDEOR",
        AtomicChange::Compute(_) => "LDSET",
        AtomicChange::Clear => "LDCLR",
        AtomicChange::Maximum { signed: true } => "LDSMAX",
        AtomicChange::Maximum { signed: false } => "LDUMAX",
        AtomicChange::Minimum { signed: true } => "LDSMIN",
        AtomicChange::Minimum { signed: false } => "LDUMIN",
    }
}

fn aarch64_operator(operator: RiscOperator) -> &'static str {
    match operator {
        RiscOperator::Add => "ADD",
        RiscOperator::Subtract => "SUB",
        RiscOperator::And => "AND",
        RiscOperator::Or => "ORR",
        RiscOperator::Xor => "EOR",
        RiscOperator::ShiftLeft => "LSL",
        RiscOperator::ShiftRight => "LSR",
        RiscOperator::Multiply => "MUL",
        RiscOperator::AndNot => "BIC",
        RiscOperator::OrNot => "ORN",
        RiscOperator::XorNot => "EON",
        RiscOperator::RotateRight => "ROR",
        RiscOperator::Absolute => "ABS",
        RiscOperator::LeadingZeros => "CLZ",
        RiscOperator::LeadingSigns => "CLS",
        RiscOperator::ReverseBits => "RBIT",
        RiscOperator::ReverseBytes => "REV",
        RiscOperator::ReverseHalves => "REV16",
        RiscOperator::ReverseWords => "REV32",
        _ => "ASR",
    }
}

fn aarch64_flag(flag: Flag) -> &'static str {
    match flag {
        Flag::Equal => "EQ",
        Flag::NotEqual => "NE",
        Flag::Less => "LT",
        Flag::LessOrEqual => "LE",
        Flag::Greater => "GT",
        Flag::GreaterOrEqual => "GE",
        Flag::Below => "LO",
        Flag::BelowOrEqual => "LS",
        Flag::Above => "HI",
        Flag::AboveOrEqual => "HS",
        Flag::Sign => "MI",
        Flag::NoSign => "PL",
        Flag::Overflow => "VS",
        Flag::NoOverflow => "VC",
    }
}

fn aarch64_fence(name: FenceName) -> &'static str {
    match name {
        FenceName::DmbLd => "DMB LD",
        FenceName::DmbSt => "DMB ST",
        FenceName::DsbSy => "DSB SY",
        FenceName::DsbLd => "DSB LD",
        FenceName::DsbSt => "DSB ST",
        FenceName::Isb => "ISB",
        _ => "DMB SY",
    }
}
