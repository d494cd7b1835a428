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
    RiscOperator, RiscSource, SelectChange, Shift, Size,
};

const KNOWN: &str = "LDR, LDAR, LDAPR, LDXR, LDAXR, STR, STLR, STXR, STLXR, SWP, CAS, LDADD, \
                     LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN and their forms with A, \
                     L and AL, STADD and its like, all of them with B and H, LDRSB, LDRSH, LDRSW, \
                     LDP, LDPSW, STP, MOV, MOVZ, MOVN, MOVK, MVN, NEG, ADD, SUB, AND, ORR, EOR, \
                     BIC, ORN, EON, MUL, MNEG, MADD, MSUB, SMULL, SMADDL and its like, LSL, LSR, ASR, \
                     ROR, ADDS, SUBS, ANDS, BICS, CMP, CMN, TST, CSEL, CSINC, CSINV, CSNEG, CSET, \
                     CSETM, CINC, CINV, CNEG, ABS, CLS, CLZ, RBIT, REV, REV16, REV32, REV64, SXTB, \
                     SXTH, SXTW, UXTB, UXTH, UXTW, UBFX, UBFIZ, UBFM, SBFX, SBFIZ, SBFM, CBZ, CBNZ, \
                     TBZ, TBNZ, B, B.EQ and its like, DMB, DSB, ISB and NOP";

/// Operators of three operands, and whether they set the flags.
const OPERATORS: [(&str, RiscOperator, bool); 17] = [
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
    ("ROR", RiscOperator::RotateRight, false),
];

/// What computes from one operand: an operator whose left side is 0.
const FROM_ZERO: [(&str, RiscOperator, bool); 11] = [
    ("NEG", RiscOperator::Subtract, false),
    ("NEGS", RiscOperator::Subtract, true),
    ("MVN", RiscOperator::OrNot, false),
    ("ABS", RiscOperator::Absolute, false),
    ("CLS", RiscOperator::LeadingSigns, false),
    ("CLZ", RiscOperator::LeadingZeros, false),
    ("RBIT", RiscOperator::ReverseBits, false),
    ("REV", RiscOperator::ReverseBytes, false),
    ("REV16", RiscOperator::ReverseHalves, false),
    ("REV32", RiscOperator::ReverseWords, false),
    ("REV64", RiscOperator::ReverseBytes, false),
];

/// Products: how their factors are extended to 64 bits, whether there is a value that they are added to,
/// and whether they are subtracted instead.
const PRODUCTS: [(&str, Extension, bool, bool); 11] = [
    ("MADD", Extension::Whole, true, false),
    ("MSUB", Extension::Whole, true, true),
    ("MNEG", Extension::Whole, false, true),
    ("SMULL", Extension::SignedWord, false, false),
    ("UMULL", Extension::UnsignedWord, false, false),
    ("SMNEGL", Extension::SignedWord, false, true),
    ("UMNEGL", Extension::UnsignedWord, false, true),
    ("SMADDL", Extension::SignedWord, true, false),
    ("UMADDL", Extension::UnsignedWord, true, false),
    ("SMSUBL", Extension::SignedWord, true, true),
    ("UMSUBL", Extension::UnsignedWord, true, true),
];

/// Conditional selects by what is made of the last operand, and how many registers they select from. With
/// fewer than two, the change is made if the condition holds.
const SELECTS: [(&str, SelectChange, usize); 9] = [
    ("CSEL", SelectChange::None, 2),
    ("CSINC", SelectChange::Increment, 2),
    ("CSINV", SelectChange::Invert, 2),
    ("CSNEG", SelectChange::Negate, 2),
    ("CINC", SelectChange::Increment, 1),
    ("CINV", SelectChange::Invert, 1),
    ("CNEG", SelectChange::Negate, 1),
    ("CSET", SelectChange::Increment, 0),
    ("CSETM", SelectChange::Invert, 0),
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

/// So many low bits of a register, moved up in another.
fn moved_up(
    to: Named,
    from: RiscSource,
    count: i64,
    by: i64,
    signed: bool,
) -> Vec<RiscInstruction> {
    let unused = i64::from(to.size.bits()) - count;
    let number = |number| RiscSource::Number(number);
    match signed {
        true => {
            let up = compute(RiscOperator::ShiftLeft, to, from, number(unused));
            let down = number(unused - by);
            vec![up, compute(RiscOperator::ShiftRightSigned, to, to.source(), down)]
        }
        false => {
            let low = compute(RiscOperator::And, to, from, number(mask(count as u32)));
            vec![low, compute(RiscOperator::ShiftLeft, to, to.source(), number(by))]
        }
    }
}

impl<'a> Parser<'a> {
    /// A register with how it is extended and shifted, as the last operand of an instruction of this
    /// size.
    pub(super) fn aarch64_operand(&mut self, size: Size) -> Result<RiscSource, Diagnostic> {
        let named = self.named_register()?;
        let (mut extension, mut shift) = (None, Shift::Left);
        let mut count = 0;
        if self.accept(",") {
            let word = self.word("`SXTW`, `UXTW`, `LSL`, `LSR`, `ASR` or `ROR`")?;
            let is_word = size == Size::Long;
            match word.text.to_ascii_uppercase().as_str() {
                "SXTW" => extension = Some(Extension::SignedWord),
                "UXTW" => extension = Some(Extension::UnsignedWord),
                "SXTH" => extension = Some(Extension::SignedHalf),
                "UXTH" => extension = Some(Extension::UnsignedHalf),
                "SXTB" => extension = Some(Extension::SignedByte),
                "UXTB" => extension = Some(Extension::UnsignedByte),
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
                "ROR" => {
                    extension = is_word.then_some(Extension::UnsignedWord);
                    shift = Shift::Rotate;
                }
                _ => {
                    let message = format!("`{}` of an operand is not supported", word.text);
                    let problem = Diagnostic::error(word.span, message);
                    let known = "`SXTW` and its like, `LSL`, `LSR`, `ASR` and `ROR` are";
                    return Err(problem.help(known));
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
            Shift::Right | Shift::RightSigned | Shift::Rotate if count == 0 => Extension::Whole,
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
        if matches!(&text[1..], "BFX" | "BFIZ" | "BFM") && matches!(text.as_bytes()[0], b'S' | b'U')
        {
            return self.aarch64_field(text);
        }
        if let Some(&(_, extension, adds, subtracts)) = PRODUCTS.iter().find(|row| row.0 == text) {
            return self.aarch64_product(extension, adds, subtracts);
        }
        if let Some(&(_, change, registers)) = SELECTS.iter().find(|row| row.0 == text) {
            return self.aarch64_select(change, registers);
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
            let last = self.peek().span;
            let right = self.aarch64_last(size)?;
            let adds = matches!(operator, RiscOperator::Add | RiscOperator::Subtract);
            if adds && matches!(right, RiscSource::Shifted { shift: Shift::Rotate, .. }) {
                let message = "`ROR` of an operand is not supported in sums and differences";
                return Err(Diagnostic::error(last, message));
            }
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

    /// `MADD X0,X1,X2,X3`, `SMULL X0,W1,W2`.
    fn aarch64_product(
        &mut self,
        extension: Extension,
        adds: bool,
        subtracts: bool,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let to = self.named_register()?;
        let mut factor = || {
            self.comma()?;
            let factor = self.named_register()?;
            let is_long = extension != Extension::Whole;
            let wanted = if is_long { Size::Long } else { to.size };
            if factor.size != wanted || is_long && to.size != Size::Quad {
                let message = "a product of 32-bit registers has 64 bits, or those of its factors";
                return Err(Diagnostic::error(factor.span, message));
            }
            Ok(match factor.register {
                Some(register) => RiscSource::Register(register, extension),
                None => RiscSource::Number(0),
            })
        };
        let (left, right) = (factor()?, factor()?);
        let addend = if adds {
            self.comma()?;
            let addend = self.named_register()?;
            same_size(to, addend)?;
            addend.source()
        } else {
            RiscSource::Number(0)
        };
        let to_register = to.register;
        let operation =
            RiscOperation::MultiplyAdd { to: to_register, left, right, addend, subtracts };
        Ok(vec![RiscInstruction { operation, size: to.size }])
    }

    /// `CSEL X0,X1,X2,EQ`, `CINC X0,X1,EQ`, `CSET X0,EQ`.
    fn aarch64_select(
        &mut self,
        change: SelectChange,
        registers: usize,
    ) -> Result<Vec<RiscInstruction>, Diagnostic> {
        let to = self.named_register()?;
        let mut from = [RiscSource::Number(0); 2];
        for each in from.iter_mut().take(registers) {
            self.comma()?;
            let named = self.named_register()?;
            same_size(to, named)?;
            *each = named.source();
        }
        self.comma()?;
        let condition = self.word("a condition, such as `EQ`")?;
        let name = condition.text.to_ascii_uppercase();
        let Some(&(_, when)) = FLAGS.iter().find(|row| row.0 == name) else {
            let message = format!("`{}` is not a condition", condition.text);
            return Err(Diagnostic::error(condition.span, message).help("write `EQ` or its like"));
        };
        let [left, right] = from;
        let (when, right) = match registers {
            2 => (when, right),
            _ => (when.negated(), left),
        };
        let operation = RiscOperation::Select { to: to.register, when, left, right, change };
        Ok(vec![RiscInstruction { operation, size: to.size }])
    }

    /// `UBFX X0,X1,#8,#4`, `UBFIZ X0,X1,#8,#4`, `UBFM X0,X1,#8,#11`, and the same with `S`.
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
        let (from, signed) = (from.source(), text.starts_with('S'));
        let is_inside = (0..bits).contains(&first) && (0..=bits).contains(&second);
        let found = match &text[1..] {
            _ if !is_inside => None,
            "BFX" => field(to, from, (first, second), signed),
            "BFIZ" => ((1..=bits - first).contains(&second))
                .then(|| moved_up(to, from, second, first, signed)),
            _ if second >= first => field(to, from, (first, second - first + 1), signed),
            _ => Some(moved_up(to, from, second + 1, bits - first, signed)),
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
