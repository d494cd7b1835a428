//! The initial state: `{ int x=5; y=1; 0:rax=7; 1:rbx=x; }`.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use super::{Parser, arrays};
use crate::scan::Kind;
use crate::test::{self, Constant, InitialRegister, LocationId, Type};

/// A register of the initial state.
pub(super) struct Register {
    thread: u32,
    span: Span,
    initial: InitialRegister,
}

enum Target {
    Register(u32, Span, test::Register),
    Memory(LocationId, Span),
}

impl Parser<'_> {
    pub(super) fn initial_state(&mut self) -> Result<(), Diagnostic> {
        self.expect("{", "before the initial state")?;
        while !self.accept("}") {
            if self.accept(";") {
                continue;
            }
            self.entry()?;
            if !self.accept(";") && !self.is("}") {
                return Err(self.unexpected("`;` or `}` after an initial value"));
            }
        }
        Ok(())
    }

    /// One entry: a type or none, a place, a value or none.
    fn entry(&mut self) -> Result<(), Diagnostic> {
        let kind = self.declared_type()?;
        let target = self.target()?;
        let value = if self.accept("=") { Some(self.constant()?) } else { None };
        match target {
            Target::Register(thread, span, register) => {
                let value = value.unwrap_or(Constant::Number(0));
                let initial = InitialRegister { register, kind, value };
                self.initial.push(Register { thread, span, initial });
            }
            Target::Memory(id, span) => self.initial_memory(id, span, kind, value)?,
        }
        Ok(())
    }

    /// A type, if one stands before the place: `int x`, `int *x`, `*x`.
    fn declared_type(&mut self) -> Result<Option<Type>, Diagnostic> {
        let second = self.peek_second();
        let typed = self.peek().kind == Kind::Word
            && (matches!(second.kind, Kind::Word | Kind::Number)
                || matches!(second.text, "*" | "["));
        if typed
            && second.text == "["
            && self.tokens.get(self.next + 2).is_some_and(|token| token.kind == Kind::Number)
        {
            return Err(arrays(second.span));
        }
        let kind = if typed { Some(self.type_name()?) } else { None };
        if self.accept("*") {
            return Ok(Some(Type::pointer(self.test.architecture)));
        }
        Ok(kind)
    }

    fn target(&mut self) -> Result<Target, Diagnostic> {
        if let Some((thread, span)) = self.thread_prefix()? {
            return Ok(Target::Register(thread, span, self.register_name()?.0));
        }
        let bracket = self.accept("[");
        let name = self.word("a location or a register, such as `x` or `0:rax`")?;
        if bracket {
            self.expect("]", "after the name of the location")?;
        } else if self.is("[") {
            return Err(arrays(self.peek().span));
        }
        Ok(Target::Memory(self.location(name)?, name.span))
    }

    fn initial_memory(
        &mut self,
        id: LocationId,
        span: Span,
        kind: Option<Type>,
        value: Option<Constant>,
    ) -> Result<(), Diagnostic> {
        let location = &mut self.test.locations[id.0 as usize];
        if kind.is_some() {
            location.kind = kind;
        }
        let Some(value) = value else { return Ok(()) };
        if location.initial != Constant::Number(0) && location.initial != value {
            let message = format!("`{}` has two initial values", location.name);
            return Err(Diagnostic::error(span, message));
        }
        location.initial = value;
        Ok(())
    }

    /// Gives the threads, which are known by now, their registers.
    pub(super) fn initial_registers(&mut self) -> Result<(), Diagnostic> {
        for Register { thread, span, initial } in std::mem::take(&mut self.initial) {
            self.known_thread(thread, span)?;
            let registers = &mut self.test.threads[thread as usize].registers;
            match registers.iter_mut().find(|known| known.register == initial.register) {
                None => registers.push(initial),
                Some(known) if known.value == initial.value => {
                    known.kind = initial.kind.or(known.kind);
                }
                Some(_) => {
                    return Err(Diagnostic::error(span, "this register has two initial values"));
                }
            }
        }
        Ok(())
    }
}
