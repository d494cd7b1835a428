//! Instructions of RISC-V: `lw x5,0(x6)`, `amoadd.w.aq x5,x7,(x6)`, `fence rw,w`, `bne x5,x0,LC00`.

use diagnostics::diagnostic::Diagnostic;
use history::{AccessOrder, FenceName, Kinds};

use super::Parser;
use super::instruction::Pending;
use super::risc::{order, unknown};
use crate::test::{
    AtomicChange, BranchCondition, Comparison, Constant, RiscAddress, RiscFence, RiscInstruction,
    RiscOperation, RiscOperator, RiscSource, Size,
};

const KNOWN: &str = "lb, lh, lw, ld, lbu, lhu, lwu, sb, sh, sw, sd, lr, sc (each with .aq, .rl), amoswap, amoadd, amoand, amoor, \
                     amoxor, amomax, amomin, amomaxu, amominu, fence, fence.tso, fence.i, li, mv, \
                     add, sub, and, or, xor, sll, srl, sra, slt, sltu, mul, andn, orn, xnor and \
                     their forms with numbers and on words, lui, neg, not, seqz, snez, sltz, sgtz, \
                     sext.w, beq, bne, blt, bge, bltu, bgeu, bgt, ble, bgtu, bleu, beqz, bnez and \
                     their like, j and nop";

/// Operators, which have a form with a number: `add`, `addi`.
const OPERATORS: [(&str, &str, RiscOperator); 14] = [
    ("add", "addi", RiscOperator::Add),
    ("sub", "", RiscOperator::Subtract),
    ("and", "andi", RiscOperator::And),
    ("or", "ori", RiscOperator::Or),
    ("xor", "xori", RiscOperator::Xor),
    ("sll", "slli", RiscOperator::ShiftLeft),
    ("srl", "srli", RiscOperator::ShiftRight),
    ("sra", "srai", RiscOperator::ShiftRightSigned),
    ("slt", "slti", RiscOperator::SetLess),
    ("sltu", "sltiu", RiscOperator::SetLessUnsigned),
    ("mul", "", RiscOperator::Multiply),
    ("andn", "", RiscOperator::AndNot),
    ("orn", "", RiscOperator::OrNot),
    ("xnor", "", RiscOperator::XorNot),
];

/// Operators that also have a form on words, which extends the sign of its result: `addw`, `addiw`.
const ON_WORDS: [RiscOperator; 6] = [
    RiscOperator::Add,
    RiscOperator::Subtract,
    RiscOperator::Multiply,
    RiscOperator::ShiftLeft,
    RiscOperator::ShiftRight,
    RiscOperator::ShiftRightSigned,
];

/// Instructions of one operand: an operator, with a number as its other side.
const UNARY: [(&str, RiscOperator, OtherSide, Size); 9] = [
    ("mv", RiscOperator::Add, OtherSide::Right(0), Size::Quad),
    ("sext.w", RiscOperator::Add, OtherSide::Right(0), Size::Long),
    ("not", RiscOperator::Xor, OtherSide::Right(-1), Size::Quad),
    ("seqz", RiscOperator::SetLessUnsigned, OtherSide::Right(1), Size::Quad),
    ("sltz", RiscOperator::SetLess, OtherSide::Right(0), Size::Quad),
    ("neg", RiscOperator::Subtract, OtherSide::LeftZero, Size::Quad),
    ("negw", RiscOperator::Subtract, OtherSide::LeftZero, Size::Long),
    ("snez", RiscOperator::SetLessUnsigned, OtherSide::LeftZero, Size::Quad),
    ("sgtz", RiscOperator::SetLess, OtherSide::LeftZero, Size::Quad),
];

/// The side of an operator that an instruction of one operand does not name.
#[derive(Clone, Copy)]
enum OtherSide {
    Right(i64),
    LeftZero,
}

const BRANCHES: [(&str, &str, Comparison); 6] = [
    ("beq", "beqz", Comparison::Equal),
    ("bne", "bnez", Comparison::NotEqual),
    ("blt", "bltz", Comparison::Less),
    ("bge", "bgez", Comparison::GreaterOrEqual),
    ("bltu", "", Comparison::LessUnsigned),
    ("bgeu", "", Comparison::GreaterOrEqualUnsigned),
];

/// Branches whose operands change places: `bgt a,b` is `blt b,a`, `bgtz a` is `blt x0,a`.
const SWAPPED_BRANCHES: [(&str, &str, Comparison); 4] = [
    ("bgt", "bgtz", Comparison::Less),
    ("ble", "blez", Comparison::GreaterOrEqual),
    ("bgtu", "", Comparison::LessUnsigned),
    ("bleu", "", Comparison::GreaterOrEqualUnsigned),
];

const ATOMICS: [(&str, AtomicChange); 9] = [
    ("amoswap", AtomicChange::Swap),
    ("amoadd", AtomicChange::Compute(RiscOperator::Add)),
    ("amoand", AtomicChange::Compute(RiscOperator::And)),
    ("amoor", AtomicChange::Compute(RiscOperator::Or)),
    ("amoxor", AtomicChange::Compute(RiscOperator::Xor)),
    ("amomax", AtomicChange::Maximum { signed: true }),
    ("amomin", AtomicChange::Minimum { signed: true }),
    ("amomaxu", AtomicChange::Maximum { signed: false }),
    ("amominu", AtomicChange::Minimum { signed: false }),
];

/// Loads with their size and whether they extend the sign, and stores with their size.
const LOADS: [(&str, Size, bool); 7] = [
    ("lb", Size::Byte, true),
    ("lbu", Size::Byte, false),
    ("lh", Size::Word, true),
    ("lhu", Size::Word, false),
    ("lw", Size::Long, true),
    ("lwu", Size::Long, false),
    ("ld", Size::Quad, false),
];
const STORES: [(&str, Size, bool); 4] = [
    ("sb", Size::Byte, false),
    ("sh", Size::Word, false),
    ("sw", Size::Long, false),
    ("sd", Size::Quad, false),
];

/// The row of a mnemonic.
fn row<'t>(
    table: &'t [(&'static str, Size, bool)],
    stem: &str,
) -> Option<&'t (&'static str, Size, bool)> {
    table.iter().find(|row| row.0 == stem)
}

/// A mnemonic taken apart: `amoadd.w.aq` is `amoadd`, 32 bits, acquire.
struct Mnemonic<'t> {
    stem: &'t str,
    size: Option<Size>,
    order: Option<AccessOrder>,
}

impl<'t> Mnemonic<'t> {
    /// `None` if a part behind a dot is not known.
    fn of(text: &'t str) -> Option<Self> {
        let mut parts = text.split('.');
        let stem = parts.next()?;
        let (mut size, mut acquire, mut release) = (None, false, false);
        for part in parts {
            match part {
                "w" if size.is_none() => size = Some(Size::Long),
                "d" if size.is_none() => size = Some(Size::Quad),
                "aq" => acquire = true,
                "rl" => release = true,
                "aqrl" => (acquire, release) = (true, true),
                _ => return None,
            }
        }
        Some(Mnemonic { stem, size, order: order(acquire, release) })
    }
}

impl<'a> Parser<'a> {
    pub(super) fn riscv_instruction(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<RiscInstruction, Diagnostic> {
        let mnemonic = self.word("an instruction")?;
        let text = mnemonic.text.to_ascii_lowercase();
        if let Some(fence) = self.riscv_fence(&text)? {
            return Ok(whole(RiscOperation::Fence(fence)));
        }
        if let Some(found) = self.riscv_computing(&text)? {
            return Ok(found);
        }
        let Some(parts) = Mnemonic::of(&text) else { return Err(unknown(mnemonic, KNOWN)) };
        if let Some(found) = self.riscv_access(&parts)? {
            return Ok(found);
        }
        if parts.size.is_some() || parts.order.is_some() {
            return Err(unknown(mnemonic, KNOWN));
        }
        match self.riscv_branch(&text, thread, pending)? {
            Some(operation) => Ok(whole(operation)),
            None => Err(unknown(mnemonic, KNOWN)),
        }
    }

    fn riscv_fence(&mut self, text: &str) -> Result<Option<RiscFence>, Diagnostic> {
        Ok(match text {
            "fence.tso" => Some(RiscFence::Named(FenceName::Tso)),
            "fence.i" => Some(RiscFence::Named(FenceName::Instructions)),
            "fence" => {
                if self.is("|") || self.is(";") {
                    return Ok(Some(RiscFence::Between(Kinds::ALL, Kinds::ALL)));
                }
                let before = self.riscv_kinds()?;
                self.comma()?;
                Some(RiscFence::Between(before, self.riscv_kinds()?))
            }
            _ => None,
        })
    }

    /// `r`, `w`, `rw`; the letters for devices mean nothing here.
    fn riscv_kinds(&mut self) -> Result<Kinds, Diagnostic> {
        let token = self.word("`r`, `w` or `rw`")?;
        let letters = token.text.to_ascii_lowercase();
        if !letters.chars().all(|letter| "iorw".contains(letter)) {
            let message = format!("`{}` is not what a fence orders", token.text);
            return Err(Diagnostic::error(token.span, message).help("write `r`, `w` or `rw`"));
        }
        Ok(Kinds { reads: letters.contains('r'), writes: letters.contains('w') })
    }

    fn riscv_access(
        &mut self,
        parts: &Mnemonic<'_>,
    ) -> Result<Option<RiscInstruction>, Diagnostic> {
        let order = parts.order;
        let (operation, size) = match (parts.stem, parts.size) {
            (stem, None) if let Some(&(_, size, signed)) = row(&LOADS, stem) => {
                let to = self.named_register()?.register;
                self.comma()?;
                let at = self.riscv_address()?;
                (RiscOperation::Load { to, at, order, exclusive: false, signed }, size)
            }
            (stem, None) if let Some(&(_, size, _)) = row(&STORES, stem) => {
                let from = self.named_register()?.source();
                self.comma()?;
                let at = self.riscv_address()?;
                (RiscOperation::Store { from, at, order }, size)
            }
            ("lr", Some(size)) => {
                let to = self.named_register()?.register;
                self.comma()?;
                let at = self.riscv_address()?;
                (RiscOperation::Load { to, at, order, exclusive: true, signed: true }, size)
            }
            ("sc", Some(size)) => {
                let status = self.named_register()?.register;
                self.comma()?;
                let from = self.named_register()?.source();
                self.comma()?;
                let at = self.riscv_address()?;
                (RiscOperation::StoreConditional { status, from, at, order }, size)
            }
            (stem, Some(size)) => {
                let Some(&(_, change)) = ATOMICS.iter().find(|row| row.0 == stem) else {
                    return Ok(None);
                };
                let to = self.named_register()?.register;
                self.comma()?;
                let from = self.named_register()?.source();
                self.comma()?;
                let at = self.riscv_address()?;
                (RiscOperation::Atomic { change, to, from, at, order, signed: true }, size)
            }
            _ => return Ok(None),
        };
        Ok(Some(RiscInstruction { operation, size }))
    }

    /// `0(x6)` or `(x6)`.
    fn riscv_address(&mut self) -> Result<RiscAddress, Diagnostic> {
        let offset = if self.is("(") { 0 } else { self.number()?.0 };
        self.expect("(", "and the register of the address")?;
        let base = self.named_register()?.source();
        self.expect(")", "after the address")?;
        Ok(RiscAddress { base, offset: RiscSource::Number(offset) })
    }

    fn riscv_branch(
        &mut self,
        text: &str,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<Option<RiscOperation>, Diagnostic> {
        let with_zero = |row: &&(&str, &str, Comparison)| !row.1.is_empty() && row.1 == text;
        let zero = RiscSource::Number(0);
        let when = if text == "j" {
            BranchCondition::Always
        } else if let Some(row) = BRANCHES.iter().find(|row| row.0 == text) {
            let left = self.named_register()?.source();
            self.comma()?;
            let right = self.named_register()?.source();
            self.comma()?;
            BranchCondition::Compare(row.2, left, right)
        } else if let Some(row) = BRANCHES.iter().find(with_zero) {
            let left = self.named_register()?.source();
            self.comma()?;
            BranchCondition::Compare(row.2, left, zero)
        } else if let Some(row) = SWAPPED_BRANCHES.iter().find(|row| row.0 == text) {
            let right = self.named_register()?.source();
            self.comma()?;
            let left = self.named_register()?.source();
            self.comma()?;
            BranchCondition::Compare(row.2, left, right)
        } else if let Some(row) = SWAPPED_BRANCHES.iter().find(with_zero) {
            let right = self.named_register()?.source();
            self.comma()?;
            BranchCondition::Compare(row.2, zero, right)
        } else {
            return Ok(None);
        };
        self.branch_target(thread, pending)?;
        Ok(Some(RiscOperation::Branch { when, target: 0 }))
    }

    fn riscv_computing(&mut self, text: &str) -> Result<Option<RiscInstruction>, Diagnostic> {
        if text == "nop" {
            return Ok(Some(whole(RiscOperation::Nothing)));
        }
        if text == "li" || text == "la" {
            let to = self.named_register()?.register;
            self.comma()?;
            let value = self.constant()?;
            return Ok(Some(whole(RiscOperation::Constant { to, value })));
        }
        if text == "lui" {
            let to = self.named_register()?.register;
            self.comma()?;
            let (number, span) = self.number()?;
            if !(0..1 << 20).contains(&number) {
                return Err(Diagnostic::error(span, "`lui` takes a number of 20 bits"));
            }
            let value = Constant::Number(Size::Long.signed((number << 12) as u64));
            return Ok(Some(whole(RiscOperation::Constant { to, value })));
        }
        if let Some(&(_, operator, other, size)) = UNARY.iter().find(|row| row.0 == text) {
            let to = self.named_register()?.register;
            self.comma()?;
            let named = self.named_register()?.source();
            let (left, right) = match other {
                OtherSide::Right(number) => (named, RiscSource::Number(number)),
                OtherSide::LeftZero => (RiscSource::Number(0), named),
            };
            let operation = RiscOperation::Compute { operator, to, left, right, sets_flags: false };
            return Ok(Some(RiscInstruction { operation, size }));
        }
        let is = |row: &&(&str, &str, RiscOperator), text: &str| {
            row.0 == text || !row.1.is_empty() && row.1 == text
        };
        let on_words = text.strip_suffix('w').and_then(|stem| {
            let row = OPERATORS.iter().find(|row| is(row, stem) && ON_WORDS.contains(&row.2))?;
            Some((row, stem, Size::Long))
        });
        let on_registers = || {
            let row = OPERATORS.iter().find(|row| is(row, text))?;
            Some((row, text, Size::Quad))
        };
        let Some((&(plain, _, operator), text, size)) = on_words.or_else(on_registers) else {
            return Ok(None);
        };
        let to = self.named_register()?.register;
        self.comma()?;
        let left = self.named_register()?.source();
        self.comma()?;
        let right = match plain == text && !self.at_immediate() {
            true => self.named_register()?.source(),
            false => RiscSource::Number(self.immediate()?),
        };
        // `ori x5,x0,1` is how tests write a number.
        let operation = if let (RiscSource::Number(0), RiscSource::Number(value)) = (left, right)
            && matches!(operator, RiscOperator::Add | RiscOperator::Or | RiscOperator::Xor)
        {
            RiscOperation::Constant { to, value: Constant::Number(value) }
        } else {
            RiscOperation::Compute { operator, to, left, right, sets_flags: false }
        };
        Ok(Some(RiscInstruction { operation, size }))
    }
}

/// An instruction of 64 bits, or of no size.
fn whole(operation: RiscOperation) -> RiscInstruction {
    RiscInstruction { operation, size: Size::Quad }
}
