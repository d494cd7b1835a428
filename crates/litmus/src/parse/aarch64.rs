//! Instructions of AArch64: `LDAR W0,[X1]`, `STR W2,[X3,W4,SXTW]`, `DMB SY`, `CBNZ W0,LC00`.

use diagnostics::diagnostic::Diagnostic;
use history::{AccessOrder, FenceName};

use super::Parser;
use super::instruction::Pending;
use super::risc::{Named, order, refused_access, unknown};
use crate::scan::Token;
use crate::test::{
    AtomicChange, BranchCondition, Comparison, Extension, Flag, RiscAddress, RiscFence,
    RiscInstruction, RiscOperation, RiscOperator, RiscSource, Size,
};

const KNOWN: &str = "LDR, LDAR, LDAPR, LDXR, LDAXR, STR, STLR, STXR, STLXR, SWP, CAS, LDADD, \
                     LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN and their forms with A, \
                     L and AL, STADD and its like, all of them with B and H, MOV, ADD, SUB, AND, ORR, EOR, LSL, LSR, ASR, \
                     CMP, CBZ, CBNZ, B, B.EQ and its like, DMB, DSB, ISB and NOP";

const OPERATORS: [(&str, RiscOperator); 8] = [
    ("ADD", RiscOperator::Add),
    ("SUB", RiscOperator::Subtract),
    ("AND", RiscOperator::And),
    ("ORR", RiscOperator::Or),
    ("EOR", RiscOperator::Xor),
    ("LSL", RiscOperator::ShiftLeft),
    ("LSR", RiscOperator::ShiftRight),
    ("ASR", RiscOperator::ShiftRightSigned),
];

const FLAGS: [(&str, Flag); 12] = [
    ("EQ", Flag::Equal),
    ("NE", Flag::NotEqual),
    ("LT", Flag::Less),
    ("LE", Flag::LessOrEqual),
    ("GT", Flag::Greater),
    ("GE", Flag::GreaterOrEqual),
    ("LO", Flag::Below),
    ("CC", Flag::Below),
    ("LS", Flag::BelowOrEqual),
    ("HI", Flag::Above),
    ("HS", Flag::AboveOrEqual),
    ("CS", Flag::AboveOrEqual),
];

/// What atomics write, by the middle of their names: `LDADDAL`, `STADDL`.
const ATOMICS: [(&str, AtomicChange); 8] = [
    ("ADD", AtomicChange::Compute(RiscOperator::Add)),
    ("CLR", AtomicChange::Clear),
    ("EOR", AtomicChange::Compute(RiscOperator::Xor)),
    ("SET", AtomicChange::Compute(RiscOperator::Or)),
    ("SMAX", AtomicChange::Maximum { signed: true }),
    ("SMIN", AtomicChange::Minimum { signed: true }),
    ("UMAX", AtomicChange::Maximum { signed: false }),
    ("UMIN", AtomicChange::Minimum { signed: false }),
];

/// An access by its mnemonic.
enum Access {
    Load { order: Option<AccessOrder>, exclusive: bool },
    Store { order: Option<AccessOrder> },
    StoreConditional { order: Option<AccessOrder> },
    Atomic { change: AtomicChange, order: Option<AccessOrder>, returns: bool },
    CompareAndSwap { order: Option<AccessOrder> },
}

/// What a mnemonic that accesses memory does.
fn access(text: &str) -> Option<Access> {
    let acquire = Some(AccessOrder::Acquire);
    let release = Some(AccessOrder::Release);
    Some(match text {
        "LDR" | "LDUR" => Access::Load { order: None, exclusive: false },
        "LDAR" => Access::Load { order: acquire, exclusive: false },
        "LDAPR" => Access::Load { order: Some(AccessOrder::AcquirePc), exclusive: false },
        "LDXR" => Access::Load { order: None, exclusive: true },
        "LDAXR" => Access::Load { order: acquire, exclusive: true },
        "STR" | "STUR" => Access::Store { order: None },
        "STLR" => Access::Store { order: release },
        "STXR" => Access::StoreConditional { order: None },
        "STLXR" => Access::StoreConditional { order: release },
        _ => return atomic(text),
    })
}

fn atomic(text: &str) -> Option<Access> {
    let ordered = |rest: &str| match rest {
        "" => Some(None),
        "A" => Some(order(true, false)),
        "L" => Some(order(false, true)),
        "AL" => Some(order(true, true)),
        _ => None,
    };
    if let Some(order) = text.strip_prefix("SWP").and_then(ordered) {
        return Some(Access::Atomic { change: AtomicChange::Swap, order, returns: true });
    }
    if let Some(order) = text.strip_prefix("CAS").and_then(ordered) {
        return Some(Access::CompareAndSwap { order });
    }
    let (rest, returns) = match text.strip_prefix("LD") {
        Some(rest) => (rest, true),
        None => (text.strip_prefix("ST")?, false),
    };
    let &(name, change) = ATOMICS
        .iter()
        .find(|row| rest.strip_prefix(row.0).is_some_and(|rest| ordered(rest).is_some()))?;
    let order = ordered(&rest[name.len()..])?;
    Some(Access::Atomic { change, order, returns })
}

/// What a mnemonic with `B` or `H` behind it does, and with how much of memory.
fn narrow_access(text: &str) -> Option<(Access, Size)> {
    let (stem, size) = match text.strip_suffix('B') {
        Some(stem) => (stem, Size::Byte),
        None => (text.strip_suffix('H')?, Size::Word),
    };
    Some((access(stem)?, size))
}

impl<'a> Parser<'a> {
    pub(super) fn aarch64_instruction(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<RiscInstruction, Diagnostic> {
        let mnemonic = self.word("an instruction")?;
        let text = mnemonic.text.to_ascii_uppercase();
        if let Some(access) = access(&text) {
            return self.aarch64_access(access, None);
        }
        if let Some((access, size)) = narrow_access(&text) {
            return self.aarch64_access(access, Some(size));
        }
        if matches!(text.as_str(), "LDRSB" | "LDRSH" | "LDRSW" | "LDP" | "STP" | "LDNP" | "STNP") {
            return Err(refused_access(mnemonic));
        }
        if let Some(fence) = self.aarch64_fence(&text)? {
            let operation = RiscOperation::Fence(RiscFence::Named(fence));
            return Ok(RiscInstruction { operation, size: Size::Quad });
        }
        if let Some(found) = self.aarch64_branch(&text, thread, pending)? {
            return Ok(found);
        }
        self.aarch64_computing(&text, mnemonic)
    }

    /// The operands of an access, of less than a register if `narrow` says so.
    fn aarch64_access(
        &mut self,
        access: Access,
        narrow: Option<Size>,
    ) -> Result<RiscInstruction, Diagnostic> {
        let status = match access {
            Access::StoreConditional { .. } => {
                let status = self.named_register()?.register;
                self.comma()?;
                status
            }
            _ => None,
        };
        let first = self.named_register()?;
        if narrow.is_some() && first.size != Size::Long {
            let message = "an access of a byte or a halfword takes a 32-bit register";
            return Err(Diagnostic::error(first.span, message).help("write `W`, not `X`"));
        }
        self.comma()?;
        let second = match access {
            Access::Atomic { returns: true, .. } | Access::CompareAndSwap { .. } => {
                let second = self.named_register()?;
                same_size(first, second)?;
                self.comma()?;
                Some(second)
            }
            _ => None,
        };
        let at = self.aarch64_address()?;
        let signed = false;
        let operation = match access {
            Access::Load { order, exclusive } => {
                RiscOperation::Load { to: first.register, at, order, exclusive, signed }
            }
            Access::Store { order } => RiscOperation::Store { from: first.source(), at, order },
            Access::StoreConditional { order } => {
                RiscOperation::StoreConditional { status, from: first.source(), at, order }
            }
            Access::Atomic { change, order, .. } => RiscOperation::Atomic {
                change,
                to: second.and_then(|second| second.register),
                from: first.source(),
                at,
                order,
                signed,
            },
            Access::CompareAndSwap { order } => RiscOperation::CompareAndSwap {
                expected: first.register,
                from: second.map_or(RiscSource::Number(0), Named::source),
                at,
                order,
            },
        };
        Ok(RiscInstruction { operation, size: narrow.unwrap_or(first.size) })
    }

    /// `[X1]`, `[X1,#8]`, `[X1,X2]`, `[X1,W2,SXTW]`.
    fn aarch64_address(&mut self) -> Result<RiscAddress, Diagnostic> {
        self.expect("[", "and the register of the address")?;
        let base = self.named_register()?;
        if base.size != Size::Quad {
            let problem = Diagnostic::error(base.span, "an address has 64 bits");
            return Err(problem.help("write `X`, not `W`"));
        }
        let offset = if !self.accept(",") {
            RiscSource::Number(0)
        } else if self.at_immediate() {
            RiscSource::Number(self.immediate()?)
        } else {
            self.aarch64_operand(Size::Quad)?
        };
        self.expect("]", "after the address")?;
        Ok(RiscAddress { base: base.source(), offset })
    }

    /// A register with how it is extended, as the last operand of an instruction of this size.
    fn aarch64_operand(&mut self, size: Size) -> Result<RiscSource, Diagnostic> {
        let named = self.named_register()?;
        let mut extension = None;
        if self.accept(",") {
            let word = self.word("`SXTW` or `UXTW`")?;
            extension = match word.text.to_ascii_uppercase().as_str() {
                "SXTW" => Some(Extension::SignedWord),
                "UXTW" => Some(Extension::UnsignedWord),
                _ => {
                    let message = format!("`{}` of an operand is not supported", word.text);
                    let problem = Diagnostic::error(word.span, message);
                    return Err(problem.help("`SXTW` and `UXTW` are"));
                }
            };
            if self.at_immediate() && self.immediate()? != 0 {
                let message = "shifts of an operand are not supported";
                return Err(Diagnostic::error(word.span, message));
            }
        }
        if extension.is_none() && named.size != size {
            let message = "a 32-bit register in a 64-bit instruction, or the other way round";
            return Err(Diagnostic::error(named.span, message).help("`SXTW` extends a register"));
        }
        Ok(match named.register {
            Some(register) => RiscSource::Register(register, extension.unwrap_or(Extension::Whole)),
            None => RiscSource::Number(0),
        })
    }

    /// `DMB SY`, `DMB ISHLD`, `DSB ST`, `ISB`. All domains of shareability are one.
    fn aarch64_fence(&mut self, text: &str) -> Result<Option<FenceName>, Diagnostic> {
        let (full, load, store) = match text {
            "ISB" => {
                let _ = self.accept("SY") || self.accept("sy");
                return Ok(Some(FenceName::Isb));
            }
            "DMB" => (FenceName::DmbSy, FenceName::DmbLd, FenceName::DmbSt),
            "DSB" => (FenceName::DsbSy, FenceName::DsbLd, FenceName::DsbSt),
            _ => return Ok(None),
        };
        let word = self.word("`SY`, `LD` or `ST`")?;
        match word.text.to_ascii_uppercase().as_str() {
            "SY" | "ISH" | "OSH" | "NSH" => Ok(Some(full)),
            "LD" | "ISHLD" | "OSHLD" | "NSHLD" => Ok(Some(load)),
            "ST" | "ISHST" | "OSHST" | "NSHST" => Ok(Some(store)),
            _ => {
                let message = format!("`{}` is not a kind of barrier", word.text);
                Err(Diagnostic::error(word.span, message).help("write `SY`, `LD` or `ST`"))
            }
        }
    }

    fn aarch64_branch(
        &mut self,
        text: &str,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<Option<RiscInstruction>, Diagnostic> {
        let mut size = Size::Quad;
        let flag = text.strip_prefix("B.").or_else(|| text.strip_prefix('B'));
        let flag = flag.and_then(|name| FLAGS.iter().find(|row| row.0 == name));
        let when = match text {
            "B" => BranchCondition::Always,
            "CBZ" | "CBNZ" => {
                let named = self.named_register()?;
                size = named.size;
                self.comma()?;
                let is = if text == "CBZ" { Comparison::Equal } else { Comparison::NotEqual };
                BranchCondition::Compare(is, named.source(), RiscSource::Number(0))
            }
            _ => match flag {
                Some(row) => BranchCondition::Flag(row.1),
                None => return Ok(None),
            },
        };
        self.branch_target(thread, pending)?;
        Ok(Some(RiscInstruction { operation: RiscOperation::Branch { when, target: 0 }, size }))
    }

    fn aarch64_computing(
        &mut self,
        text: &str,
        mnemonic: Token<'a>,
    ) -> Result<RiscInstruction, Diagnostic> {
        if text == "NOP" {
            return Ok(RiscInstruction { operation: RiscOperation::Nothing, size: Size::Quad });
        }
        let operator = OPERATORS.iter().find(|row| row.0 == text).map(|row| row.1);
        if operator.is_none() && text != "MOV" && text != "CMP" {
            return Err(unknown(mnemonic, KNOWN));
        }
        let first = self.named_register()?;
        self.comma()?;
        let (to, size) = (first.register, first.size);
        let operation = match operator {
            Some(operator) => {
                let left = self.named_register()?;
                same_size(first, left)?;
                self.comma()?;
                let right = self.aarch64_last(size)?;
                RiscOperation::Compute { operator, to, left: left.source(), right }
            }
            None if text == "CMP" => {
                let right = self.aarch64_last(size)?;
                RiscOperation::Compare { left: first.source(), right }
            }
            None if self.at_immediate() => {
                self.accept("#");
                RiscOperation::Constant { to, value: self.constant()? }
            }
            None => {
                let right = self.aarch64_last(size)?;
                let operator = RiscOperator::Or;
                RiscOperation::Compute { operator, to, left: RiscSource::Number(0), right }
            }
        };
        Ok(RiscInstruction { operation, size })
    }

    /// The last operand: a number, or a register with how it is extended.
    fn aarch64_last(&mut self, size: Size) -> Result<RiscSource, Diagnostic> {
        match self.at_immediate() {
            true => Ok(RiscSource::Number(self.immediate()?)),
            false => self.aarch64_operand(size),
        }
    }
}

fn same_size(one: Named, other: Named) -> Result<(), Diagnostic> {
    if one.size == other.size {
        return Ok(());
    }
    let message = "32-bit and 64-bit registers in one instruction";
    Err(Diagnostic::error(other.span, message).related(one.span, "this register has another size"))
}
