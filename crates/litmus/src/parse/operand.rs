//! Operands: `$1`, `%eax`, `(x)`, `[x]`, `8(%rax,%rbx,4)`.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use super::Parser;
use crate::scan::{Kind, Token};
use crate::test::{Architecture, Constant, Memory, Operand, Register, Size};

/// An operand, where it stands, and how wide it is if it is a register.
#[derive(Clone, Copy)]
pub(super) struct ParsedOperand {
    pub(super) operand: Operand,
    pub(super) size: Option<Size>,
    pub(super) span: Span,
}

impl Parser<'_> {
    /// One operand.
    pub(super) fn operand(&mut self) -> Result<ParsedOperand, Diagnostic> {
        let first = self.peek();
        let (operand, size) = if self.accept("$") {
            (Operand::Immediate(self.constant()?), None)
        } else if self.is("(") || self.is("[") {
            (Operand::Memory(self.memory(0)?), None)
        } else if self.is("%") || self.is_register() {
            self.accept("%");
            let name = self.word("the name of a register")?;
            let (register, size) = self.known_register(name)?;
            (Operand::Register(register), Some(size))
        } else if self.is("-") || first.kind == Kind::Number {
            let number = self.number()?.0;
            match self.is("(") || self.is("[") {
                true => (Operand::Memory(self.memory(number)?), None),
                false => (Operand::Immediate(Constant::Number(number)), None),
            }
        } else if first.kind == Kind::Word {
            (self.named_memory()?, None)
        } else {
            return Err(self.unexpected(match self.test.architecture {
                Architecture::X86 => "an operand, such as `EAX`, `[x]` or `$1`",
                _ => "an operand, such as `%eax`, `(x)` or `$1`",
            }));
        };
        let last = self.tokens[self.next - 1].span;
        Ok(ParsedOperand { operand, size, span: first.span.to(last) })
    }

    /// `x(%rip)`, which is how compilers name a location.
    fn named_memory(&mut self) -> Result<Operand, Diagnostic> {
        let name = self.take();
        let rest = &self.tokens[self.next..];
        let relative = rest.len() > 3
            && rest[0].text == "("
            && rest[1].text == "%"
            && rest[2].text.eq_ignore_ascii_case("rip")
            && rest[3].text == ")";
        if !relative {
            let problem =
                Diagnostic::error(name.span, format!("`{}` is not an operand", name.text));
            return Err(problem.help(match self.test.architecture {
                Architecture::X86 => format!("write `[{}]` for the location", name.text),
                _ => {
                    format!("write `({0})` for the location, `%{0}` for a register", name.text)
                }
            }));
        }
        self.next += 4;
        let location = Some(self.location(name)?);
        Ok(Operand::Memory(Memory { location, ..Memory::default() }))
    }

    /// Whether the next token names a register without a sign before it, as Intel does.
    fn is_register(&self) -> bool {
        let token = self.peek();
        token.kind == Kind::Word && Register::named(token.text).is_some()
    }

    /// The register of a name.
    pub(super) fn known_register(&self, token: Token<'_>) -> Result<(Register, Size), Diagnostic> {
        let architecture = self.test.architecture;
        let Some((register, size)) = architecture.register_named(token.text) else {
            let problem =
                Diagnostic::error(token.span, format!("unknown register `{}`", token.text));
            return Err(problem.help(match architecture {
                Architecture::X86 => "registers are EAX, EBX, ECX, EDX, ESI, EDI, EBP and ESP",
                Architecture::X86_64 => {
                    "registers are rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15, and their \
                     parts; symbolic registers are not supported"
                }
                Architecture::RiscV => {
                    "registers are x0 to x31, also by the names of the calling convention"
                }
                Architecture::AArch64 => "registers are X0 to X30, W0 to W30, XZR and WZR",
            }));
        };
        let narrow = architecture == Architecture::X86;
        if narrow && (size == Size::Quad || register.0 >= 8) {
            let message = format!("X86 has no register `{}`", token.text);
            return Err(Diagnostic::error(token.span, message).help("X86_64 has"));
        }
        Ok((register, size))
    }

    /// What is in parentheses or brackets, after a displacement.
    fn memory(&mut self, displacement: i64) -> Result<Memory, Diagnostic> {
        let opening = self.take();
        let closing = if opening.text == "(" { ")" } else { "]" };
        let mut memory = Memory { displacement, ..Memory::default() };
        if self.is("%") || self.is_register() {
            memory.base = Some(self.address_register()?);
        } else if self.peek().kind == Kind::Word {
            let name = self.take();
            memory.location = Some(self.location(name)?);
        } else if !self.is(",") {
            return Err(self.unexpected("the name of a location, or a register"));
        }
        if self.accept(",") {
            let register = self.address_register()?;
            let scale = if self.accept(",") { self.scale()? } else { 1 };
            memory.index = Some((register, scale));
        }
        self.expect(closing, "after the address")?;
        Ok(memory)
    }

    fn address_register(&mut self) -> Result<Register, Diagnostic> {
        self.accept("%");
        let name = self.word("the name of a register")?;
        let (register, size) = self.known_register(name)?;
        if size < Size::Long {
            let message = format!("`{}` is too narrow for an address", name.text);
            return Err(Diagnostic::error(name.span, message));
        }
        Ok(register)
    }

    fn scale(&mut self) -> Result<u8, Diagnostic> {
        let (number, span) = self.number()?;
        match number {
            1 | 2 | 4 | 8 => Ok(number as u8),
            _ => Err(Diagnostic::error(span, "a scale is 1, 2, 4 or 8")),
        }
    }
}
