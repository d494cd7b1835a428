//! What the cells of RISC-V and AArch64 have in common: registers, sources, and what is refused.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;
use history::AccessOrder;

use super::Parser;
use crate::scan::{Kind, Token};
use crate::test::{Extension, Register, RiscSource, Size};

/// A register as it is named: which, and how much of it. The one that is always zero is `None`.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) register: Option<Register>,
    pub(super) size: Size,
    pub(super) span: Span,
}

impl Named {
    /// Its value as an operand.
    pub(super) fn source(self) -> RiscSource {
        match self.register {
            Some(register) => RiscSource::Register(register, Extension::Whole),
            None => RiscSource::Number(0),
        }
    }
}

impl<'a> Parser<'a> {
    /// The name of a register.
    pub(super) fn named_register(&mut self) -> Result<Named, Diagnostic> {
        let token = self.word("the name of a register")?;
        let (register, size) = self.known_register(token)?;
        let zero = self.test.architecture.zero();
        let register = Some(register).filter(|_| Some(register) != zero);
        Ok(Named { register, size, span: token.span })
    }

    /// A comma between operands.
    pub(super) fn comma(&mut self) -> Result<(), Diagnostic> {
        self.expect(",", "and another operand").map(|_| ())
    }

    /// A number, with `#` before it or not.
    pub(super) fn immediate(&mut self) -> Result<i64, Diagnostic> {
        self.accept("#");
        Ok(self.number()?.0)
    }

    pub(super) fn at_immediate(&self) -> bool {
        self.is("#") || self.is("-") || self.peek().kind == Kind::Number
    }
}

/// An instruction that is not known.
pub(super) fn unknown(mnemonic: Token<'_>, known: &str) -> Diagnostic {
    let message = format!("the instruction `{}` is not supported", mnemonic.text);
    Diagnostic::error(mnemonic.span, message).help(format!("supported: {known}"))
}

/// The order of an access that may acquire, release or both.
pub(super) fn order(acquire: bool, release: bool) -> Option<AccessOrder> {
    match (acquire, release) {
        (false, false) => None,
        (true, false) => Some(AccessOrder::Acquire),
        (false, true) => Some(AccessOrder::Release),
        (true, true) => Some(AccessOrder::AcquireRelease),
    }
}
