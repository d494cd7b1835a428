//! Cells of the table: labels and instructions, in either order of operands.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use super::Parser;
use super::operand::ParsedOperand;
use crate::scan::{Kind, Token};
use crate::test::{
    Architecture, Binary, Code, Constant, Fence, Flag, Instruction, Operand, Operation, Register,
    RiscInstruction, RiscOperation, Size, Unary,
};

/// Jumps of a thread whose targets are not known yet.
#[derive(Clone, Default)]
pub(super) struct Pending<'a> {
    jumps: Vec<(usize, Token<'a>)>,
}

/// What a mnemonic stands for, without the letter of its size.
#[derive(Clone, Copy)]
enum Meaning {
    Move,
    Binary(Binary),
    Unary(Unary),
    Compare(Binary),
    Exchange,
    ExchangeAdd,
    CompareExchange,
    Jump(Option<Flag>),
    Fence(Fence),
    Nothing,
    Return,
}

/// The mnemonics that may carry the letter of a size.
const SIZED: [(&str, Meaning); 21] = [
    ("mov", Meaning::Move),
    ("add", Meaning::Binary(Binary::Add)),
    ("sub", Meaning::Binary(Binary::Subtract)),
    ("and", Meaning::Binary(Binary::And)),
    ("or", Meaning::Binary(Binary::Or)),
    ("xor", Meaning::Binary(Binary::Xor)),
    ("shl", Meaning::Binary(Binary::ShiftLeft)),
    ("sal", Meaning::Binary(Binary::ShiftLeft)),
    ("shr", Meaning::Binary(Binary::ShiftRight)),
    ("sar", Meaning::Binary(Binary::ShiftRightSigned)),
    ("inc", Meaning::Unary(Unary::Increment)),
    ("dec", Meaning::Unary(Unary::Decrement)),
    ("neg", Meaning::Unary(Unary::Negate)),
    ("not", Meaning::Unary(Unary::Not)),
    ("cmp", Meaning::Compare(Binary::Subtract)),
    ("test", Meaning::Compare(Binary::And)),
    ("xchg", Meaning::Exchange),
    ("xadd", Meaning::ExchangeAdd),
    ("cmpxchg", Meaning::CompareExchange),
    ("nop", Meaning::Nothing),
    ("ret", Meaning::Return),
];

/// The mnemonics that have no size.
const UNSIZED: [(&str, Meaning); 36] = [
    ("mfence", Meaning::Fence(Fence::Full)),
    ("sfence", Meaning::Fence(Fence::Store)),
    ("lfence", Meaning::Fence(Fence::Load)),
    ("pause", Meaning::Nothing),
    ("endbr32", Meaning::Nothing),
    ("endbr64", Meaning::Nothing),
    ("jmp", Meaning::Jump(None)),
    ("je", Meaning::Jump(Some(Flag::Equal))),
    ("jz", Meaning::Jump(Some(Flag::Equal))),
    ("jne", Meaning::Jump(Some(Flag::NotEqual))),
    ("jnz", Meaning::Jump(Some(Flag::NotEqual))),
    ("jl", Meaning::Jump(Some(Flag::Less))),
    ("jlt", Meaning::Jump(Some(Flag::Less))),
    ("jnge", Meaning::Jump(Some(Flag::Less))),
    ("jle", Meaning::Jump(Some(Flag::LessOrEqual))),
    ("jng", Meaning::Jump(Some(Flag::LessOrEqual))),
    ("jg", Meaning::Jump(Some(Flag::Greater))),
    ("jgt", Meaning::Jump(Some(Flag::Greater))),
    ("jnle", Meaning::Jump(Some(Flag::Greater))),
    ("jge", Meaning::Jump(Some(Flag::GreaterOrEqual))),
    ("jnl", Meaning::Jump(Some(Flag::GreaterOrEqual))),
    ("jb", Meaning::Jump(Some(Flag::Below))),
    ("jc", Meaning::Jump(Some(Flag::Below))),
    ("jnae", Meaning::Jump(Some(Flag::Below))),
    ("jbe", Meaning::Jump(Some(Flag::BelowOrEqual))),
    ("jna", Meaning::Jump(Some(Flag::BelowOrEqual))),
    ("ja", Meaning::Jump(Some(Flag::Above))),
    ("jnbe", Meaning::Jump(Some(Flag::Above))),
    ("jae", Meaning::Jump(Some(Flag::AboveOrEqual))),
    ("jnb", Meaning::Jump(Some(Flag::AboveOrEqual))),
    ("jnc", Meaning::Jump(Some(Flag::AboveOrEqual))),
    ("js", Meaning::Jump(Some(Flag::Sign))),
    ("jns", Meaning::Jump(Some(Flag::NoSign))),
    ("jo", Meaning::Jump(Some(Flag::Overflow))),
    ("jno", Meaning::Jump(Some(Flag::NoOverflow))),
    ("movabs", Meaning::Move),
];

/// The meaning of a mnemonic, and its size if it says one.
fn meaning(mnemonic: &str) -> Option<(Meaning, Option<Size>)> {
    let lower = mnemonic.to_ascii_lowercase();
    let find = |name: &str| SIZED.iter().find(|row| row.0 == name).map(|row| row.1);
    if let Some(row) = UNSIZED.iter().find(|row| row.0 == lower) {
        return Some((row.1, None));
    }
    if let Some(meaning) = find(&lower) {
        return Some((meaning, None));
    }
    let size = Size::ALL.into_iter().find(|size| lower.ends_with(size.suffix()))?;
    Some((find(&lower[..lower.len() - 1])?, Some(size)))
}

impl<'a> Parser<'a> {
    /// Labels, and an instruction or nothing.
    pub(super) fn cell(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<(), Diagnostic> {
        while self.peek().kind == Kind::Word && self.peek_second().text == ":" {
            let label = self.take();
            self.take();
            let here = self.test.threads[thread].len() as u32;
            let labels = &mut self.test.threads[thread].labels;
            if labels.iter().any(|(known, _)| known == label.text) {
                let message = format!("thread {thread} has two labels `{}`", label.text);
                return Err(Diagnostic::error(label.span, message));
            }
            labels.push((label.text.to_owned(), here));
        }
        if self.is("|") || self.is(";") {
            return Ok(());
        }
        match self.test.architecture {
            Architecture::X86 | Architecture::X86_64 => {
                let instruction = self.instruction(thread, pending)?;
                if let Code::X86(code) = &mut self.test.threads[thread].code {
                    code.push(instruction);
                }
            }
            Architecture::RiscV => {
                let instruction = self.riscv_instruction(thread, pending)?;
                self.push_risc(thread, instruction);
            }
            Architecture::AArch64 => {
                for instruction in self.aarch64_instruction(thread, pending)? {
                    self.push_risc(thread, instruction);
                }
            }
        }
        Ok(())
    }

    fn push_risc(&mut self, thread: usize, instruction: RiscInstruction) {
        if let Code::Risc(code) = &mut self.test.threads[thread].code {
            code.push(instruction);
        }
    }

    /// The label that the instruction which comes next jumps to.
    pub(super) fn branch_target(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<(), Diagnostic> {
        let label = self.word("a label")?;
        pending.jumps.push((self.test.threads[thread].len(), label));
        Ok(())
    }

    fn instruction(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
    ) -> Result<Instruction, Diagnostic> {
        let first = self.word("an instruction")?;
        let locked = first.text.eq_ignore_ascii_case("lock");
        let mnemonic = if locked {
            self.accept(";");
            self.word("an instruction after `lock`")?
        } else {
            first
        };
        let Some((meaning, size)) = meaning(mnemonic.text) else {
            let message = format!("the instruction `{}` is not supported", mnemonic.text);
            return Err(Diagnostic::error(mnemonic.span, message).help(
                "supported: mov, xchg, xadd, cmpxchg, add, sub, and, or, xor, inc, dec, neg, not, \
                 shl, shr, sar, cmp, test, jumps, mfence, sfence, lfence, nop and ret",
            ));
        };
        let operation = self.operation(thread, pending, meaning, size, mnemonic)?;
        let (operation, size) = operation;
        let whole = mnemonic.span.to(self.tokens[self.next - 1].span);
        if locked && !may_be_locked(&operation) {
            let problem = Diagnostic::error(whole, "this instruction cannot be locked");
            return Err(problem.help("`lock` needs an instruction that reads and writes memory"));
        }
        Ok(Instruction { operation, locked, size })
    }

    /// The operation and its size.
    fn operation(
        &mut self,
        thread: usize,
        pending: &mut Pending<'a>,
        meaning: Meaning,
        size: Option<Size>,
        mnemonic: Token<'a>,
    ) -> Result<(Operation, Size), Diagnostic> {
        let no_size = Size::Long;
        Ok(match meaning {
            Meaning::Fence(fence) => (Operation::Fence(fence), no_size),
            Meaning::Return => (Operation::Return, no_size),
            Meaning::Nothing => {
                while !self.is("|") && !self.is(";") && self.peek().kind != Kind::End {
                    self.take();
                }
                (Operation::Nothing, no_size)
            }
            Meaning::Jump(when) => {
                self.branch_target(thread, pending)?;
                (Operation::Jump { when, target: 0 }, no_size)
            }
            Meaning::Unary(operator) => {
                let to = self.operand()?;
                let size = self.size(size, &[to], mnemonic)?;
                (Operation::Unary { operator, to: destination(to)? }, size)
            }
            Meaning::Move => {
                let (to, from) = self.two_operands()?;
                let size = self.size(size, &[to, from], mnemonic)?;
                (Operation::Move { to: destination(to)?, from: beside(to, from)? }, size)
            }
            Meaning::Binary(operator) => {
                let (to, from) = self.two_operands()?;
                let from = shift_count(operator, from)?;
                let size = self.size(size, &[to, from], mnemonic)?;
                let from = beside(to, from)?;
                (Operation::Binary { operator, to: destination(to)?, from }, size)
            }
            Meaning::Compare(operator) => {
                let (left, right) = self.two_operands()?;
                let size = self.size(size, &[left, right], mnemonic)?;
                let right = beside(left, right)?;
                (Operation::Compare { operator, left: left.operand, right }, size)
            }
            Meaning::Exchange => {
                let (register, with, size) = self.register_and(size, mnemonic)?;
                (Operation::Exchange { register, with }, size)
            }
            Meaning::ExchangeAdd => {
                let (register, to, size) = self.register_and(size, mnemonic)?;
                (Operation::ExchangeAdd { register, to }, size)
            }
            Meaning::CompareExchange => {
                let (register, to, size) = self.register_and(size, mnemonic)?;
                if !matches!(to, Operand::Memory(_)) {
                    let problem = Diagnostic::error(mnemonic.span, "`cmpxchg` of two registers");
                    return Err(problem.help("one of the operands must be memory"));
                }
                (Operation::CompareExchange { register, to }, size)
            }
        })
    }

    /// Two operands: destination, source, however they are ordered in the text.
    fn two_operands(&mut self) -> Result<(ParsedOperand, ParsedOperand), Diagnostic> {
        let first = self.operand()?;
        self.expect(",", "and a second operand")?;
        let second = self.operand()?;
        Ok(match self.test.architecture {
            Architecture::X86_64 => (second, first),
            _ => (first, second),
        })
    }

    /// A register and something else, in any order: herd7 writes `cmpxchg (x),%ebx` and the
    /// assembler `cmpxchg %ebx,(x)`.
    fn register_and(
        &mut self,
        size: Option<Size>,
        mnemonic: Token<'_>,
    ) -> Result<(Register, Operand, Size), Diagnostic> {
        let (to, from) = self.two_operands()?;
        let size = self.size(size, &[to, from], mnemonic)?;
        match (to.operand, from.operand) {
            (Operand::Immediate(_), _) => Err(no_destination(to.span)),
            (to, Operand::Register(register)) => Ok((register, to, size)),
            (Operand::Register(register), Operand::Memory(_)) => Ok((register, from.operand, size)),
            _ => {
                let message = format!("`{}` needs a register", mnemonic.text);
                Err(Diagnostic::error(from.span, message))
            }
        }
    }

    /// The size of an instruction: as it says, or that of its registers, or that of the location.
    fn size(
        &self,
        said: Option<Size>,
        operands: &[ParsedOperand],
        mnemonic: Token<'_>,
    ) -> Result<Size, Diagnostic> {
        if said == Some(Size::Quad) && self.test.architecture == Architecture::X86 {
            let message = format!("X86 has no `{}`", mnemonic.text);
            return Err(Diagnostic::error(mnemonic.span, message).help("X86_64 has"));
        }
        let mut size = said;
        for operand in operands {
            let (Some(size), Some(of_operand)) = (size, operand.size) else {
                size = size.or(operand.size);
                continue;
            };
            if size != of_operand {
                let message = format!(
                    "an operand of {} bits in an instruction of {} bits",
                    of_operand.bits(),
                    size.bits()
                );
                return Err(Diagnostic::error(operand.span, message));
            }
        }
        let declared = operands.iter().find_map(|operand| match operand.operand {
            Operand::Memory(memory) => {
                self.test.locations[memory.location?.0 as usize].kind.map(|kind| kind.size)
            }
            _ => None,
        });
        Ok(size.or(declared).unwrap_or(Size::Long))
    }

    /// Gives the jumps of a thread their targets.
    pub(super) fn resolve_labels(
        &mut self,
        thread: usize,
        pending: Pending<'a>,
    ) -> Result<(), Diagnostic> {
        let this = &mut self.test.threads[thread];
        for (index, label) in pending.jumps {
            let Some(&(_, found)) = this.labels.iter().find(|(name, _)| name == label.text) else {
                let message = format!("thread {thread} has no label `{}`", label.text);
                return Err(Diagnostic::error(label.span, message));
            };
            match &mut this.code {
                Code::X86(code) => {
                    if let Operation::Jump { target, .. } = &mut code[index].operation {
                        *target = found;
                    }
                }
                Code::Risc(code) => {
                    if let RiscOperation::Branch { target, .. } = &mut code[index].operation {
                        *target = found;
                    }
                }
            }
        }
        Ok(())
    }
}

/// An operand that can be written to.
fn destination(to: ParsedOperand) -> Result<Operand, Diagnostic> {
    match to.operand {
        Operand::Immediate(_) => Err(no_destination(to.span)),
        operand => Ok(operand),
    }
}

fn no_destination(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a constant cannot be the destination")
        .help("X86 names the destination first, X86_64 last")
}

/// A second operand, which must not be memory if the first is.
fn beside(to: ParsedOperand, from: ParsedOperand) -> Result<Operand, Diagnostic> {
    match (to.operand, from.operand) {
        (Operand::Memory(_), Operand::Memory(_)) => {
            let problem = Diagnostic::error(
                to.span.to(from.span),
                "an instruction cannot access memory twice",
            );
            Err(problem.help("use a register in between"))
        }
        (_, operand) => Ok(operand),
    }
}

/// The count of a shift: a number, without a size of its own.
fn shift_count(operator: Binary, from: ParsedOperand) -> Result<ParsedOperand, Diagnostic> {
    let shift =
        matches!(operator, Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned);
    match from.operand {
        _ if !shift => Ok(from),
        Operand::Immediate(Constant::Number(_)) => Ok(from),
        _ => Err(Diagnostic::error(from.span, "the shift count must be a number")),
    }
}

/// Whether an instruction reads and writes memory.
fn may_be_locked(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Binary { to: Operand::Memory(_), .. }
            | Operation::Unary { to: Operand::Memory(_), .. }
            | Operation::Exchange { with: Operand::Memory(_), .. }
            | Operation::ExchangeAdd { to: Operand::Memory(_), .. }
            | Operation::CompareExchange { .. }
    ) && !matches!(
        operation,
        Operation::Binary {
            operator: Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned,
            ..
        }
    )
}
