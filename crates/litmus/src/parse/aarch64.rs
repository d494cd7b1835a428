//! Instructions of AArch64 that access memory, and barriers: `LDAR W0,[X1]`, `STP X2,X3,[X4],#16`,
//! `DMB SY`.
//!
//! Some are several instructions here, as the manual describes them: a pair is two accesses, and one
//! that changes the register of its address is an access and an addition.

use diagnostics::diagnostic::Diagnostic;
use history::{AccessOrder, FenceName};

use super::Parser;
use super::instruction::Pending;
use super::risc::{Named, order};
use crate::test::{
    AtomicChange, RiscAddress, RiscFence, RiscInstruction, RiscOperation, RiscOperator, RiscSource,
    Size,
};

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
        "LDAPR" | "LDAPUR" => {
            Access::Load { order: Some(AccessOrder::AcquirePc), exclusive: false }
        }
        "LDXR" => Access::Load { order: None, exclusive: true },
        "LDAXR" => Access::Load { order: acquire, exclusive: true },
        "STR" | "STUR" => Access::Store { order: None },
        "STLR" | "STLUR" => Access::Store { order: release },
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

/// A load that extends a sign, by its mnemonic: how much it reads.
fn signed_load(text: &str) -> Option<Size> {
    Some(match text {
        "LDRSB" | "LDURSB" => Size::Byte,
        "LDRSH" | "LDURSH" => Size::Word,
        "LDRSW" | "LDURSW" => Size::Long,
        _ => return None,
    })
}

/// An address, and what happens to its register.
#[derive(Clone, Copy)]
struct Addressed {
    at: RiscAddress,
    change: Option<BaseChange>,
}

/// By how much the register of an address is changed, and whether before the access.
#[derive(Clone, Copy)]
struct BaseChange {
    base: Named,
    by: i64,
    is_before: bool,
}

impl BaseChange {
    fn instruction(self) -> RiscInstruction {
        let operation = RiscOperation::Compute {
            operator: RiscOperator::Add,
            to: self.base.register,
            left: self.base.source(),
            right: RiscSource::Number(self.by),
            sets_flags: false,
        };
        RiscInstruction { operation, size: Size::Quad }
    }
}

impl<'a> Parser<'a> {
    /// One instruction, and what it is made of.
    pub(super) fn aarch64_instruction(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let mnemonic = self.word("an instruction")?;
        let text = mnemonic.text.to_ascii_uppercase();
        if let Some(access) = access(&text) {
            return self.aarch64_access(access, None);
        }
        if let Some(size) = signed_load(&text) {
            return self.aarch64_signed_load(size);
        }
        if matches!(text.as_str(), "LDP" | "STP" | "LDNP" | "STNP" | "LDPSW") {
            return self.aarch64_pair(text.starts_with('L'), text == "LDPSW");
        }
        if let Some((access, size)) = narrow_access(&text) {
            return self.aarch64_access(access, Some(size));
        }
        if let Some(fence) = self.aarch64_fence(&text)? {
            let operation = RiscOperation::Fence(RiscFence::Named(fence));
            return Ok(vec![RiscInstruction { operation, size: Size::Quad }]);
        }
        if let Some(found) = self.aarch64_branch(&text, thread, pending)? {
            return Ok(vec![found]);
        }
        self.aarch64_computing(&text, mnemonic)
    }

    /// `LDRSB X0,[X1]`, `LDRSH W0,[X1]`, `LDRSW X0,[X1]`.
    fn aarch64_signed_load(&mut self, size: Size) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let first = self.named_register()?;
        if size == Size::Long && first.size != Size::Quad {
            let message = "`LDRSW` takes a 64-bit register";
            return Err(Diagnostic::error(first.span, message).help("write `X`, not `W`"));
        }
        self.comma()?;
        let address = self.aarch64_changing_address()?;
        let (to, at) = (first.register, address.at);
        let operation = RiscOperation::Load { to, at, order: None, exclusive: false, signed: true };
        let mut all = around(address, &[first], vec![RiscInstruction { operation, size }])?;
        if first.size == Size::Long {
            // The sign goes up to bit 31.
            let (left, right) = (RiscSource::Number(0), first.source());
            let operator = RiscOperator::Or;
            let operation = RiscOperation::Compute { operator, to, left, right, sets_flags: false };
            all.push(RiscInstruction { operation, size: Size::Long });
        }
        Ok(all)
    }

    /// `LDP X0,X1,[X2,#16]`, `STP W0,W1,[X2],#8`, `LDPSW X0,X1,[X2]`: two accesses.
    fn aarch64_pair(
        &mut self,
        loads: bool,
        signed: bool,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let first = self.named_register()?;
        self.comma()?;
        let second = self.named_register()?;
        same_size(first, second)?;
        if signed && first.size != Size::Quad {
            let message = "`LDPSW` takes 64-bit registers";
            return Err(Diagnostic::error(first.span, message).help("write `X`, not `W`"));
        }
        self.comma()?;
        let address = self.aarch64_changing_address()?;
        let size = if signed { Size::Long } else { first.size };
        let RiscSource::Number(offset) = address.at.offset else {
            let message = "a pair has a number as its offset";
            return Err(Diagnostic::error(second.span, message).help("write `[X1,#16]`"));
        };
        let each = |named: Named, further: i64| {
            let offset = RiscSource::Number(offset.wrapping_add(further));
            let (at, order) = (RiscAddress { offset, ..address.at }, None);
            let operation = match loads {
                true => {
                    RiscOperation::Load { to: named.register, at, order, exclusive: false, signed }
                }
                false => RiscOperation::Store { from: named.source(), at, order },
            };
            RiscInstruction { operation, size }
        };
        let mut both = vec![each(first, 0), each(second, i64::from(size.bits() / 8))];
        // The address is known before either is loaded.
        if loads && first.source() == address.at.base {
            both.reverse();
        }
        around(address, &[first, second], both)
    }

    /// The operands of an access, of less than a register if `narrow` says so.
    fn aarch64_access(
        &mut self,
        access: Access,
        narrow: Option<Size>,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
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
        let address = match access {
            Access::Load { order: None, exclusive: false } | Access::Store { order: None } => {
                self.aarch64_changing_address()?
            }
            _ => Addressed { at: self.aarch64_address()?, change: None },
        };
        let (at, signed) = (address.at, false);
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
        let size = narrow.unwrap_or(first.size);
        around(address, &[first], vec![RiscInstruction { operation, size }])
    }

    /// An address, also `[X1],#8` and `[X1,#8]!`, which change its register.
    fn aarch64_changing_address(&mut self) -> Result<Addressed, Diagnostic> {
        let base = self.tokens.get(self.next + 1).copied().unwrap_or_else(|| self.peek());
        let at = self.aarch64_address()?;
        let change = |parser: &Self, by: i64, is_before: bool| {
            let (register, size) = parser.known_register(base)?;
            let base = Named { register: Some(register), size, span: base.span };
            Ok(Some(BaseChange { base, by, is_before }))
        };
        if self.accept("!") {
            let RiscSource::Number(by) = at.offset else {
                let message = "an address that changes its register has a number as its offset";
                return Err(Diagnostic::error(base.span, message));
            };
            let at = RiscAddress { offset: RiscSource::Number(0), ..at };
            return Ok(Addressed { at, change: change(self, by, true)? });
        }
        if self.is(",") && at.offset == RiscSource::Number(0) {
            self.take();
            let by = self.immediate()?;
            return Ok(Addressed { at, change: change(self, by, false)? });
        }
        Ok(Addressed { at, change: None })
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
}

/// The accesses at an address, with the change of its register before or behind them.
fn around(
    address: Addressed,
    named: &[Named],
    mut accesses: Vec<RiscInstruction>,
) -> Result<Vec<RiscInstruction>, Diagnostic> {
    let Some(change) = address.change else { return Ok(accesses) };
    if let Some(both) = named.iter().find(|named| named.register == change.base.register) {
        let message = "the register of an address that the instruction changes is accessed, too";
        return Err(Diagnostic::error(both.span, message).help("the manual leaves this open"));
    }
    let at = if change.is_before { 0 } else { accesses.len() };
    accesses.insert(at, change.instruction());
    Ok(accesses)
}

pub(super) fn same_size(one: Named, other: Named) -> Result<(), Diagnostic> {
    if one.size == other.size {
        return Ok(());
    }
    let message = "32-bit and 64-bit registers in one instruction";
    Err(Diagnostic::error(other.span, message).related(one.span, "this register has another size"))
}
