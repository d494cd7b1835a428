//! The initial state: `{ int x=5; y=1; 0:rax=7; 1:rbx=x; }`.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use super::{MAX_LOCATIONS, Parser};
use crate::scan::{Kind, Token};
use crate::test::{self, Array, Constant, InitialRegister, Location, LocationId, Type};

/// A register of the initial state.
pub(super) struct Register {
    thread: u32,
    span: Span,
    initial: InitialRegister,
    /// Whether it has a value, and not only a type.
    has_value: bool,
}

enum Target {
    Register(u32, Span, test::Register),
    Memory(LocationId, Span),
}

impl Parser<'_> {
    pub(super) fn initial_state(&mut self) -> Result<(), Diagnostic> {
        self.expect("{", "before the initial state")?;
        self.declare_arrays()?;
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
        let name = self.peek();
        if let Some(elements) = self.whole_array_declared() {
            return self.initial_elements(name, elements);
        }
        let target = self.target()?;
        let value = if self.accept("=") { Some(self.constant()?) } else { None };
        match target {
            Target::Register(thread, span, register) => {
                let has_value = value.is_some();
                let value = value.unwrap_or(Constant::Number(0));
                let initial = InitialRegister { register, kind, value };
                self.initial.push(Register { thread, span, initial, has_value });
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
        let index = self.tokens.get(self.next + 2);
        if typed && second.text == "[" && index.is_some_and(|token| token.kind == Kind::Number) {
            let problem = Diagnostic::error(second.span, "an array needs the type of its elements");
            return Err(problem.help("write `int x[2]={1,2}`"));
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
        }
        Ok(Target::Memory(self.location(name)?, name.span))
    }

    /// Declares the arrays of the initial state, before anything else in it names them.
    fn declare_arrays(&mut self) -> Result<(), Diagnostic> {
        let begin = self.next;
        while !matches!(self.peek().kind, Kind::End) && !self.is("P0") {
            let ahead: Vec<_> = self.tokens[self.next..].iter().take(5).copied().collect();
            let [first, name, open, count, close] = ahead[..] else { break };
            let is_declaration = matches!(first.kind, Kind::Word)
                && name.kind == Kind::Word
                && (open.text, close.text) == ("[", "]")
                && count.kind == Kind::Number;
            if !is_declaration {
                self.take();
                continue;
            }
            let kind = self.type_name()?;
            self.take();
            self.take();
            let (count, span) = self.number()?;
            let known = self.test.locations.len();
            let most = MAX_LOCATIONS.saturating_sub(known);
            let count =
                u32::try_from(count).ok().filter(|&count| 0 < count && count as usize <= most);
            let Some(count) = count else {
                let message = format!("an array has 1 to {most} elements here");
                return Err(Diagnostic::error(span, message));
            };
            let first = LocationId(known as u32);
            let array = Array { name: name.text.to_owned(), first, count, size: kind.size };
            let element = |index: u32| Location {
                name: format!("{}[{index}]", name.text),
                kind: Some(kind),
                initial: Constant::Number(0),
                array: Some(array.clone()),
            };
            let mut arrays = self.test.locations.iter().filter_map(|known| known.array.as_ref());
            if arrays.any(|known| known.name == array.name) {
                return Err(Diagnostic::error(name.span, "this array is declared twice"));
            }
            self.test.locations.extend((0..count).map(element));
        }
        self.next = begin;
        Ok(())
    }

    /// The elements of the array `x[2]` that stands here.
    fn whole_array_declared(&mut self) -> Option<Vec<LocationId>> {
        let (name, open) = (self.peek(), self.peek_second());
        let locations = self.test.locations.iter();
        let mut arrays = locations.filter_map(|location| location.array.as_ref());
        let array = arrays.find(|array| array.name == name.text && open.text == "[")?;
        let [count, close] = self.tokens.get(self.next + 2..self.next + 4)? else { return None };
        if count.kind != Kind::Number || close.text != "]" {
            return None;
        }
        let elements = (array.first.0..array.first.0 + array.count).map(LocationId).collect();
        // The name, and `[2]`.
        self.next += 4;
        Some(elements)
    }

    /// `={1,2}` or nothing.
    fn initial_elements(
        &mut self,
        name: Token<'_>,
        elements: Vec<LocationId>,
    ) -> Result<(), Diagnostic> {
        if !self.accept("=") {
            return Ok(());
        }
        let values = self.element_values(name, elements.len())?;
        for (id, value) in elements.into_iter().zip(values) {
            self.test.locations[id.0 as usize].initial = value;
        }
        Ok(())
    }

    fn initial_memory(
        &mut self,
        id: LocationId,
        span: Span,
        kind: Option<Type>,
        value: Option<Constant>,
    ) -> Result<(), Diagnostic> {
        let location = &mut self.test.locations[id.0 as usize];
        if let Some(array) = &location.array {
            let problem = Diagnostic::error(span, format!("`{}` is an array", array.name));
            return Err(problem.help("its values stand behind its declaration: `int x[2]={1,2}`"));
        }
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
        let mut all = std::mem::take(&mut self.initial);
        // A type may stand apart from the value: `0:X1=1; uint64_t 0:X1;`.
        all.sort_by_key(|each| !each.has_value);
        for Register { thread, span, initial, has_value } in all {
            self.known_thread(thread, span)?;
            let registers = &mut self.test.threads[thread as usize].registers;
            match registers.iter_mut().find(|known| known.register == initial.register) {
                None => registers.push(initial),
                Some(known) if known.value == initial.value || !has_value => {
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
