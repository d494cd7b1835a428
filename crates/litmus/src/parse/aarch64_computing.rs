//! Instructions of AArch64 on registers, and branches: `EOR W0,W1,W2`, `ADDS X0,X1,X2,LSL #3`,
//! `MOVK X0,#1,LSL #16`, `TBNZ X0,#3,LC00`.
//!
//! Some are several instructions here: `MOVK` clears some bits and then sets them.

use diagnostics::diagnostic::Diagnostic;

use super::Parser;
use super::aarch64::same_size;
use super::instruction::Pending;
use super::risc::{Named, unknown};
use crate::scan::Token;
use crate::test::{
    BranchCondition, Comparison, Constant, Extension, Flag, RiscInstruction, RiscOperation,
    RiscOperator, RiscSource, Shift, Size,
};

const KNOWN: &str = "LDR, LDAR, LDAPR, LDXR, LDAXR, STR, STLR, STXR, STLXR, SWP, CAS, LDADD, \
                     LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN and their forms with A, \
                     L and AL, STADD and its like, all of them with B and H, LDRSB, LDRSH, LDRSW, \
                     LDP, STP, MOV, MOVZ, MOVN, MOVK, MVN, NEG, ADD, SUB, AND, ORR, EOR, BIC, ORN, \
                     EON, MUL, LSL, LSR, ASR, ADDS, SUBS, ANDS, BICS, CMP, CMN, TST, SXTB, SXTH, \
                     SXTW, UXTB, UXTH, UXTW, UBFX, UBFM, SBFX, CBZ, CBNZ, TBZ, TBNZ, B, B.EQ and \
                     its like, DMB, DSB, ISB and NOP";

/// Operators of three operands, and whether they set the flags.
const OPERATORS: [(&str, RiscOperator, bool); 16] = [
    ("ADD", RiscOperator::Add, false),
    ("ADDS", RiscOperator::Add, true),
    ("SUB", RiscOperator::Subtract, false),
    ("SUBS", RiscOperator::Subtract, true),
    ("AND", RiscOperator::And, false),
    ("ANDS", RiscOperator::And, true),
    ("ORR", RiscOperator::Or, false),
    ("EOR", RiscOperator::Xor, false),
    ("BIC", RiscOperator::AndNot, false),
    ("BICS", RiscOperator::AndNot, true),
    ("ORN", RiscOperator::OrNot, false),
    ("EON", RiscOperator::XorNot, false),
    ("MUL", RiscOperator::Multiply, false),
    ("LSL", RiscOperator::ShiftLeft, false),
    ("LSR", RiscOperator::ShiftRight, false),
    ("ASR", RiscOperator::ShiftRightSigned, false),
];

/// What computes from one operand: an operator whose left side is 0.
const FROM_ZERO: [(&str, RiscOperator, bool); 3] = [
    ("NEG", RiscOperator::Subtract, false),
    ("NEGS", RiscOperator::Subtract, true),
    ("MVN", RiscOperator::OrNot, false),
];

/// What only sets the flags.
const TESTS: [(&str, RiscOperator); 2] = [("CMN", RiscOperator::Add), ("TST", RiscOperator::And)];

/// What extends the low bits of a register: how many, and whether by their sign.
const EXTENSIONS: [(&str, u32, bool); 6] = [
    ("SXTB", 8, true),
    ("SXTH", 16, true),
    ("SXTW", 32, true),
    ("UXTB", 8, false),
    ("UXTH", 16, false),
    ("UXTW", 32, false),
];

const FLAGS: [(&str, Flag); 16] = [
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
    ("MI", Flag::Sign),
    ("PL", Flag::NoSign),
    ("VS", Flag::Overflow),
    ("VC", Flag::NoOverflow),
];

/// One instruction that computes.
fn compute(
    operator: RiscOperator,
    to: Named,
    left: RiscSource,
    right: RiscSource,
) -> RiscInstruction {
    let to_register = to.register;
    let operation =
        RiscOperation::Compute { operator, to: to_register, left, right, sets_flags: false };
    RiscInstruction { operation, size: to.size }
}

/// A number with this many low bits set.
fn mask(bits: u32) -> i64 {
    if bits == 0 { 0 } else { (u64::MAX >> (64 - bits)) as i64 }
}

/// The bits of a register from one on, at the low end of another; `None` if it has no such bits.
fn field(
    to: Named,
    from: RiscSource,
    (first, count): (i64, i64),
    signed: bool,
) -> Option<Vec<RiscInstruction>> {
    let bits = i64::from(to.size.bits());
    let is_inside = (0..bits).contains(&first) && (1..=bits - first).contains(&count);
    is_inside.then(|| {
        let right = |number| RiscSource::Number(number);
        match signed {
            true => {
                let up = compute(RiscOperator::ShiftLeft, to, from, right(bits - first - count));
                let down = right(bits - count);
                vec![up, compute(RiscOperator::ShiftRightSigned, to, to.source(), down)]
            }
            false => {
                let down = compute(RiscOperator::ShiftRight, to, from, right(first));
                let kept = right(mask(count as u32));
                vec![down, compute(RiscOperator::And, to, to.source(), kept)]
            }
        }
    })
}

impl<'a> Parser<'a> {
    /// A register with how it is extended and shifted, as the last operand of an instruction of this
    /// size.
    pub(super) fn aarch64_operand(&mut self, size: Size) -> Result<RiscSource, Diagnostic> {
        let named = self.named_register()?;
        let (mut extension, mut shift) = (None, Shift::Left);
        let mut count = 0;
        if self.accept(",") {
            let word = self.word("`SXTW`, `UXTW`, `LSL`, `LSR` or `ASR`")?;
            let is_word = size == Size::Long;
            match word.text.to_ascii_uppercase().as_str() {
                "SXTW" => extension = Some(Extension::SignedWord),
                "UXTW" => extension = Some(Extension::UnsignedWord),
                "SXTX" | "UXTX" | "LSL" => {}
                // The bits that come in from above are those of 32 bits.
                "LSR" => {
                    extension = is_word.then_some(Extension::UnsignedWord);
                    shift = Shift::Right;
                }
                "ASR" => {
                    extension = is_word.then_some(Extension::SignedWord);
                    shift = Shift::RightSigned;
                }
                _ => {
                    let message = format!("`{}` of an operand is not supported", word.text);
                    let problem = Diagnostic::error(word.span, message);
                    return Err(problem.help("`SXTW`, `UXTW`, `LSL`, `LSR` and `ASR` are"));
                }
            }
            if self.at_immediate() {
                count = self.shift_count(size)?;
            }
        }
        if extension.is_none() && named.size != size {
            let message = "a 32-bit register in a 64-bit instruction, or the other way round";
            return Err(Diagnostic::error(named.span, message).help("`SXTW` extends a register"));
        }
        let extension = match shift {
            Shift::Right | Shift::RightSigned if count == 0 => Extension::Whole,
            _ => extension.unwrap_or(Extension::Whole),
        };
        Ok(match named.register {
            None => RiscSource::Number(0),
            Some(register) if count == 0 => RiscSource::Register(register, extension),
            Some(register) => RiscSource::Shifted { register, extension, shift, count },
        })
    }

    /// How far a value of this size is shifted.
    fn shift_count(&mut self, size: Size) -> Result<u8, Diagnostic> {
        self.accept("#");
        let (count, span) = self.number()?;
        let is_known = (0..i64::from(size.bits())).contains(&count);
        let message = format!("a shift is from 0 to {} bits", size.bits() - 1);
        is_known.then_some(count as u8).ok_or_else(|| Diagnostic::error(span, message))
    }

    pub(super) fn aarch64_branch(
        &mut self,
        text: &str,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<Option<RiscInstruction>, Diagnostic> {
        let mut size = Size::Quad;
        let flag = text.strip_prefix("B.").or_else(|| text.strip_prefix('B'));
        let flag = flag.and_then(|name| FLAGS.iter().find(|row| row.0 == name));
        let when = match text {
            "B" | "B.AL" => BranchCondition::Always,
            "CBZ" | "CBNZ" => {
                let named = self.named_register()?;
                size = named.size;
                self.comma()?;
                let is = if text == "CBZ" { Comparison::Equal } else { Comparison::NotEqual };
                BranchCondition::Compare(is, named.source(), RiscSource::Number(0))
            }
            "TBZ" | "TBNZ" => {
                let named = self.named_register()?;
                size = named.size;
                self.comma()?;
                let bit = self.shift_count(size)?;
                self.comma()?;
                BranchCondition::Bit { of: named.source(), bit, is_set: text == "TBNZ" }
            }
            _ => match flag {
                Some(row) => BranchCondition::Flag(row.1),
                None => return Ok(None),
            },
        };
        self.branch_target(thread, pending)?;
        Ok(Some(RiscInstruction { operation: RiscOperation::Branch { when, target: 0 }, size }))
    }

    pub(super) fn aarch64_computing(
        &mut self,
        text: &str,
        mnemonic: Token<'a>,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        if text == "NOP" {
            let operation = RiscOperation::Nothing;
            return Ok(vec![RiscInstruction { operation, size: Size::Quad }]);
        }
        if let Some(&(_, bits, signed)) = EXTENSIONS.iter().find(|row| row.0 == text) {
            return self.aarch64_extension(bits, signed);
        }
        if matches!(text, "UBFX" | "UBFM" | "SBFX") {
            return self.aarch64_field(text);
        }
        if matches!(text, "MOVZ" | "MOVN" | "MOVK") {
            return self.aarch64_move_wide(text);
        }
        let three = OPERATORS.iter().find(|row| row.0 == text);
        let two = FROM_ZERO.iter().find(|row| row.0 == text);
        let test = TESTS.iter().find(|row| row.0 == text);
        if three.is_none() && two.is_none() && test.is_none() && text != "MOV" && text != "CMP" {
            return Err(unknown(mnemonic, KNOWN));
        }
        let first = self.named_register()?;
        self.comma()?;
        let (to, size) = (first.register, first.size);
        let operation = if let Some(&(_, operator, sets_flags)) = three {
            let left = self.named_register()?;
            same_size(first, left)?;
            self.comma()?;
            let right = self.aarch64_last(size)?;
            RiscOperation::Compute { operator, to, left: left.source(), right, sets_flags }
        } else if let Some(&(_, operator, sets_flags)) = two {
            let (left, right) = (RiscSource::Number(0), self.aarch64_operand(size)?);
            RiscOperation::Compute { operator, to, left, right, sets_flags }
        } else if let Some(&(_, operator)) = test {
            let (left, right) = (first.source(), self.aarch64_last(size)?);
            RiscOperation::Compute { operator, to: None, left, right, sets_flags: true }
        } else if text == "CMP" {
            let right = self.aarch64_last(size)?;
            RiscOperation::Compare { left: first.source(), right }
        } else if self.at_immediate() {
            self.accept("#");
            RiscOperation::Constant { to, value: self.constant()? }
        } else {
            let right = self.aarch64_last(size)?;
            return Ok(vec![compute(RiscOperator::Or, first, RiscSource::Number(0), right)]);
        };
        Ok(vec![RiscInstruction { operation, size }])
    }

    /// The last operand: a number, perhaps shifted by 12 bits, or a register with how it is extended
    /// and shifted.
    fn aarch64_last(&mut self, size: Size) -> Result<RiscSource, Diagnostic> {
        if !self.at_immediate() {
            return self.aarch64_operand(size);
        }
        let number = self.immediate()?;
        Ok(RiscSource::Number(number << self.aarch64_left_shift(size)?))
    }

    /// `,LSL #16` behind a number, or nothing.
    fn aarch64_left_shift(&mut self, size: Size) -> Result<u8, Diagnostic> {
        if !self.accept(",") {
            return Ok(0);
        }
        let word = self.word("`LSL`")?;
        if !word.text.eq_ignore_ascii_case("LSL") {
            return Err(Diagnostic::error(word.span, "a number can only be shifted by `LSL`"));
        }
        self.shift_count(size)
    }

    /// `UXTB W0,W1`, `SXTW X0,W1`.
    fn aarch64_extension(
        &mut self,
        bits: u32,
        signed: bool,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let to = self.named_register()?;
        self.comma()?;
        let from = self.named_register()?;
        if bits == 32 {
            let extension = if signed { Extension::SignedWord } else { Extension::UnsignedWord };
            let right = match from.register {
                Some(register) => RiscSource::Register(register, extension),
                None => RiscSource::Number(0),
            };
            return Ok(vec![compute(RiscOperator::Or, to, RiscSource::Number(0), right)]);
        }
        let found = field(to, from.source(), (0, i64::from(bits)), signed);
        Ok(found.expect("registers have 16 bits"))
    }

    /// `UBFX X0,X1,#8,#4`, `SBFX …`, `UBFM X0,X1,#8,#11`.
    fn aarch64_field(&mut self, text: &str) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let to = self.named_register()?;
        self.comma()?;
        let from = self.named_register()?;
        same_size(to, from)?;
        self.comma()?;
        self.accept("#");
        let (first, start) = self.number()?;
        self.comma()?;
        self.accept("#");
        let (second, end) = self.number()?;
        let bits = i64::from(to.size.bits());
        let found = if text != "UBFM" {
            field(to, from.source(), (first, second), text == "SBFX")
        } else if second >= first {
            field(to, from.source(), (first, second.saturating_sub(first) + 1), false)
        } else {
            // The low bits, moved up.
            let is_inside = (0..bits).contains(&first) && (0..bits).contains(&second);
            is_inside.then(|| {
                let kept = RiscSource::Number(mask(second as u32 + 1));
                let low = compute(RiscOperator::And, to, from.source(), kept);
                let up = RiscSource::Number(bits - first);
                vec![low, compute(RiscOperator::ShiftLeft, to, to.source(), up)]
            })
        };
        let message = format!("a register of {bits} bits has no such field");
        found.ok_or_else(|| Diagnostic::error(start.to(end), message))
    }

    /// `MOVZ X0,#1,LSL #16`, `MOVN …`, `MOVK …`.
    fn aarch64_move_wide(&mut self, text: &str) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let to = self.named_register()?;
        self.comma()?;
        self.accept("#");
        let (number, span) = self.number()?;
        if !(0..1 << 16).contains(&number) {
            return Err(Diagnostic::error(span, format!("`{text}` takes a number of 16 bits")));
        }
        let shift = self.aarch64_left_shift(to.size)?;
        let number = number << shift;
        let constant = |number| {
            let value = Constant::Number(to.size.signed(number as u64));
            let operation = RiscOperation::Constant { to: to.register, value };
            vec![RiscInstruction { operation, size: to.size }]
        };
        Ok(match text {
            "MOVZ" => constant(number),
            "MOVN" => constant(!number),
            _ => {
                let hole = RiscSource::Number(!(0xffff << shift));
                let rest = compute(RiscOperator::And, to, to.source(), hole);
                let number = RiscSource::Number(number);
                vec![rest, compute(RiscOperator::Or, to, to.source(), number)]
            }
        })
    }
}
