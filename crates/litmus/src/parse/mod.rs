//! From text to [`Litmus`]: the file as a whole.
//!
//! A test is a line with architecture and name, some lines about it, the initial state in braces, a
//! table with a column for each thread, and a condition. One pass over the tokens; the first thing
//! that is wrong is reported with its place and what was expected there.

mod aarch64;
mod aarch64_computing;
mod condition;
mod header;
mod initial;
mod instruction;
mod operand;
mod risc;
mod riscv;

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use crate::scan::{self, Kind, Token};
use crate::test::{
    Architecture, Array, Code, Constant, Litmus, Location, LocationId, Place, Register, Size,
    Thread, Type,
};
use crate::widths;

/// No more threads than this.
pub(crate) const MAX_THREADS: usize = 256;
/// No more locations than this.
pub(crate) const MAX_LOCATIONS: usize = 4096;
/// No more bytes than this.
const MAX_BYTES: usize = 16 << 20;

/// Reads a test.
pub fn parse(text: &str) -> Result<Litmus, Diagnostic> {
    if text.len() > MAX_BYTES {
        let message = "the file is too long for a litmus test: more than 16 MiB";
        return Err(Diagnostic::error(scan::point(0), message));
    }
    let header = header::read(text)?;
    let tokens = scan::tokens(text, header.end)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        test: Litmus {
            architecture: header.architecture,
            name: header.name,
            description: header.description,
            metadata: header.metadata,
            locations: Vec::new(),
            threads: Vec::new(),
            shown: Vec::new(),
            filter: None,
            condition: condition::nothing_asked(),
        },
        initial: Vec::new(),
        parts: Vec::new(),
        is_read: false,
    };
    parser.initial_state()?;
    parser.program()?;
    parser.initial_registers()?;
    parser.is_read = true;
    parser.shown()?;
    parser.condition()?;
    parser.whole_registers()?;
    Ok(parser.test)
}

/// The tokens and what has been made of them.
struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    test: Litmus,
    /// Registers of the initial state, kept until the number of threads is known.
    initial: Vec<initial::Register>,
    /// The registers that the condition speaks of, as wide as it calls them.
    parts: Vec<(Place, Size, Span)>,
    /// Whether the program has been read: no location is new behind it.
    is_read: bool,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.next]
    }

    /// The token after the next.
    fn peek_second(&self) -> Token<'a> {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.next += 1;
        }
        token
    }

    fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Sign | Kind::Word) && token.text == text
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str, whence: &str) -> Result<Token<'a>, Diagnostic> {
        if self.is(text) {
            return Ok(self.take());
        }
        Err(self.unexpected(&format!("`{text}` {whence}")))
    }

    fn word(&mut self, what: &str) -> Result<Token<'a>, Diagnostic> {
        if self.peek().kind == Kind::Word {
            return Ok(self.take());
        }
        Err(self.unexpected(what))
    }

    /// An error at the next token.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the test ends too early".to_owned(),
            _ => format!("unexpected `{}`", token.text),
        };
        Diagnostic::error(token.span, found).help(format!("expected {expected}"))
    }

    /// A number, perhaps with a sign.
    fn number(&mut self) -> Result<(i64, Span), Diagnostic> {
        let start = self.peek().span;
        let negative = self.accept("-");
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(self.unexpected("a number"));
        }
        self.take();
        let value = match token.text.strip_prefix("0x").or(token.text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => token.text.parse(),
        };
        let span = start.to(token.span);
        let Ok(value) = value else {
            let problem = Diagnostic::error(span, format!("`{}` is not a number", token.text));
            return Err(problem.help("numbers are decimal or begin with 0x, and fit in 64 bits"));
        };
        let signed = if negative { value.wrapping_neg() as i64 } else { value as i64 };
        if negative && value > 1 << 63 {
            return Err(Diagnostic::error(span, "this number does not fit in 64 bits"));
        }
        Ok((signed, span))
    }

    /// The location of a name, new or known.
    fn location(&mut self, name: Token<'_>) -> Result<LocationId, Diagnostic> {
        let is_named = |known: &Location| match &known.array {
            None => known.name == name.text,
            Some(array) => array.name == name.text,
        };
        let known = self.test.locations.iter().position(is_named);
        if let Some(known) = known {
            return Ok(LocationId(known as u32));
        }
        if self.is_read {
            let problem =
                Diagnostic::error(name.span, format!("the test has no location `{}`", name.text));
            let mut names: Vec<&str> = self
                .test
                .locations
                .iter()
                .map(|each| each.array.as_ref().map_or(&*each.name, |array| &*array.name))
                .collect();
            names.dedup();
            return Err(problem.help(match &*names {
                [] => "the program uses no location, and the initial state names none".to_owned(),
                names => format!("the locations of this test are {}", names.join(", ")),
            }));
        }
        if self.test.locations.len() >= MAX_LOCATIONS {
            let message = format!("more than {MAX_LOCATIONS} locations");
            return Err(Diagnostic::error(name.span, message));
        }
        let initial = Constant::Number(0);
        let name = name.text.to_owned();
        self.test.locations.push(Location { name, kind: None, initial, array: None });
        Ok(LocationId(self.test.locations.len() as u32 - 1))
    }

    /// A number, or the address of a location: `1`, `x`, `&x`.
    fn constant(&mut self) -> Result<Constant, Diagnostic> {
        let ampersand = self.accept("&");
        if self.peek().kind == Kind::Word {
            let name = self.take();
            return Ok(Constant::Address(self.location(name)?));
        }
        if ampersand {
            return Err(self.unexpected("the name of a location"));
        }
        let starts = self.is("-") || self.peek().kind == Kind::Number;
        if !starts {
            return Err(self.unexpected("a number or the name of a location"));
        }
        Ok(Constant::Number(self.number()?.0))
    }

    /// The number of a thread, if one and a colon come next: `0:` or `P0:`.
    fn thread_prefix(&mut self) -> Result<Option<(u32, Span)>, Diagnostic> {
        let token = self.peek();
        let colon = self.peek_second();
        if colon.kind != Kind::Sign || colon.text != ":" {
            return Ok(None);
        }
        let digits = match token.kind {
            Kind::Number => token.text,
            Kind::Word => token.text.strip_prefix('P').unwrap_or(""),
            _ => return Ok(None),
        };
        let Ok(thread) = digits.parse() else {
            return Err(Diagnostic::error(token.span, format!("`{}` is not a thread", token.text))
                .help("registers are named by thread, as in `0:rax`"));
        };
        self.next += 2;
        Ok(Some((thread, token.span)))
    }

    /// A register after `0:`, whatever part of it is named.
    fn register_name(&mut self) -> Result<(Register, Size, Span), Diagnostic> {
        self.accept("%");
        let token = self.word("a register, as in `0:rax`")?;
        self.known_register(token).map(|(register, size)| (register, size, token.span))
    }

    /// A state shows registers as their types say, whatever part of them is named, so a condition
    /// must not name less of a register than the program uses.
    fn whole_registers(&self) -> Result<(), Diagnostic> {
        let part = |&(place, size, span): &(Place, Size, Span)| {
            let Place::Register(thread, register) = place else { return None };
            let used = widths::used_of(&self.test, thread, register)?;
            (size < used).then_some((place, size, used, span))
        };
        let Some((place, size, used, span)) = self.parts.iter().find_map(part) else {
            return Ok(());
        };
        let (bits, used) = (size.bits(), used.bits());
        let message = format!(
            "the condition is about {bits} bits of a register that the thread uses as {used}"
        );
        let help =
            format!("a condition names the whole register: write `{}`", self.test.place(place));
        Err(Diagnostic::error(span, message).help(help))
    }

    /// `0:rax`, `x`, `[x]` or `*x`.
    fn place(&mut self) -> Result<Place, Diagnostic> {
        if self.accept("[") {
            let name = self.word("the name of a location")?;
            self.expect("]", "after the name of the location")?;
            return Ok(Place::Memory(self.location(name)?));
        }
        self.accept("*");
        if let Some((thread, span)) = self.thread_prefix()? {
            self.known_thread(thread, span)?;
            let (register, size, span) = self.register_name()?;
            let place = Place::Register(thread, register);
            self.parts.push((place, size, span));
            return Ok(place);
        }
        let name = self.word("a place, such as `0:rax` or `x`")?;
        let id = self.location(name)?;
        if self.is("[") {
            return Ok(Place::Memory(self.element(id, name)?));
        }
        match self.array(id) {
            None => Ok(Place::Memory(id)),
            Some(_) => {
                let problem = Diagnostic::error(name.span, format!("`{}` is an array", name.text));
                Err(problem.help(format!("write `{}[0]` for its first element", name.text)))
            }
        }
    }

    /// The array that begins with a location.
    fn array(&self, id: LocationId) -> Option<&Array> {
        self.test.locations[id.0 as usize].array.as_ref()
    }

    /// `[1]` behind the name of an array.
    fn element(&mut self, id: LocationId, name: Token<'_>) -> Result<LocationId, Diagnostic> {
        let opening = self.take();
        let (index, span) = self.number()?;
        self.expect("]", "after the number of the element")?;
        let Some(array) = self.array(id) else {
            let problem = Diagnostic::error(opening.span, format!("`{}` is no array", name.text));
            return Err(problem.help("the initial state declares arrays: `int x[2]`"));
        };
        match u32::try_from(index) {
            Ok(index) if index < array.count => Ok(LocationId(id.0 + index)),
            _ => {
                let message = format!("`{}` has {} elements", name.text, array.count);
                Err(Diagnostic::error(span, message).help("elements are counted from 0"))
            }
        }
    }

    /// The elements of an array, if its name comes next and no element of it.
    fn whole_array(&mut self) -> Option<impl ExactSizeIterator<Item = LocationId> + use<>> {
        let (name, is_bare) = (self.peek(), self.peek_second().text != "[");
        let locations = self.test.locations.iter();
        let mut arrays = locations.filter_map(|location| location.array.as_ref());
        let array = arrays.find(|array| is_bare && array.name == name.text)?;
        let elements = array.first.0..array.first.0 + array.count;
        self.take();
        Some((0..elements.len()).map(move |index| LocationId(elements.start + index as u32)))
    }

    /// `{1,2}`: the values of all elements of an array.
    fn element_values(
        &mut self,
        name: Token<'_>,
        count: usize,
    ) -> Result<Vec<Constant>, Diagnostic> {
        self.expect("{", "before the values of the elements")?;
        let mut values = vec![self.constant()?];
        while self.accept(",") {
            values.push(self.constant()?);
        }
        let closing = self.expect("}", "after the values of the elements")?;
        if values.len() == count {
            return Ok(values);
        }
        let message =
            format!("{} values for the {count} elements of `{}`", values.len(), name.text);
        Err(Diagnostic::error(closing.span, message))
    }

    fn known_thread(&self, thread: u32, span: Span) -> Result<(), Diagnostic> {
        let threads = self.test.threads.len();
        if (thread as usize) < threads {
            return Ok(());
        }
        let help = match threads {
            1 => "there is one, P0".to_owned(),
            _ => format!("there are {threads}, P0 to P{}", threads - 1),
        };
        Err(Diagnostic::error(span, format!("the test has no thread {thread}")).help(help))
    }

    /// The row of thread names and the rows of instructions.
    fn program(&mut self) -> Result<(), Diagnostic> {
        self.accept(";");
        let threads = self.thread_names()?;
        let code = match self.test.architecture.is_x86() {
            true => Code::X86(Vec::new()),
            false => Code::Risc(Vec::new()),
        };
        self.test.threads = vec![Thread { code, ..Thread::default() }; threads];
        let mut pending = vec![instruction::Pending::default(); threads];
        while !self.ends_program() {
            self.row(&mut pending)?;
        }
        for (thread, pending) in pending.into_iter().enumerate() {
            self.resolve_labels(thread, pending)?;
        }
        Ok(())
    }

    /// `P0 | P1 ;`
    fn thread_names(&mut self) -> Result<usize, Diagnostic> {
        let mut threads = 0;
        loop {
            let token = self.peek();
            if token.kind != Kind::Word || token.text != format!("P{threads}") {
                return Err(self.unexpected(&format!("`P{threads}`, the name of a thread")));
            }
            if threads >= MAX_THREADS {
                let message = format!("more than {MAX_THREADS} threads");
                return Err(Diagnostic::error(token.span, message));
            }
            self.take();
            threads += 1;
            if self.accept(";") {
                return Ok(threads);
            }
            self.expect("|", "or `;` after the name of a thread")?;
        }
    }

    /// Whether the table ends here and the question begins.
    fn ends_program(&self) -> bool {
        let token = self.peek();
        let negated = matches!(token.text, "~" | "not") && self.peek_second().text == "exists";
        let label = self.peek_second().text == ":";
        let begins = ["exists", "forall", "final", "locations", "filter", "("];
        token.kind == Kind::End || negated || !label && begins.contains(&token.text)
    }

    /// One row: a cell for each thread.
    fn row(&mut self, pending: &mut [instruction::Pending<'a>]) -> Result<(), Diagnostic> {
        let first = self.peek().span;
        let mut cells = 0;
        loop {
            if cells == pending.len() {
                let message = format!("this row has more cells than there are threads ({cells})");
                return Err(Diagnostic::error(self.peek().span, message));
            }
            self.cell(cells, &mut pending[cells])?;
            cells += 1;
            if self.accept(";") {
                break;
            }
            if !self.accept("|") {
                return Err(self.unexpected("`|` before the next thread, or `;` after the row"));
            }
        }
        if cells == pending.len() {
            return Ok(());
        }
        let message = format!("this row has {cells} of {} cells", pending.len());
        let problem = Diagnostic::error(first, message);
        Err(problem.help("a thread that does nothing in a row has an empty cell: `… | ;`"))
    }

    /// `locations [x; 0:rax;]` and `filter p`, where they are.
    fn shown(&mut self) -> Result<(), Diagnostic> {
        if self.accept("locations") {
            self.expect("[", "after `locations`")?;
            while !self.accept("]") {
                match self.whole_array() {
                    Some(elements) => self.test.shown.extend(elements.map(Place::Memory)),
                    None => {
                        let place = self.place()?;
                        self.test.shown.push(place);
                    }
                }
                if self.peek().kind == Kind::Word {
                    self.type_name()?;
                }
                self.accept("*");
                if !self.accept(";") && !self.is("]") {
                    return Err(self.unexpected("`;` or `]` after a place"));
                }
            }
        }
        if self.accept("filter") {
            self.test.filter = Some(self.proposition()?);
        }
        Ok(())
    }

    /// The name of a type.
    fn type_name(&mut self) -> Result<Type, Diagnostic> {
        let token = self.word("a type")?;
        if let Some((_, kind)) = Type::NAMED.iter().find(|(name, _)| *name == token.text) {
            return Ok(*kind);
        }
        let names: Vec<&str> = Type::NAMED.iter().map(|(name, _)| *name).collect();
        let problem = Diagnostic::error(token.span, format!("unknown type `{}`", token.text));
        Err(problem.help(format!("supported types: {}", names.join(", "))))
    }
}

/// Whether a line begins a litmus test of this architecture.
pub(crate) fn architecture(name: &str) -> Option<Architecture> {
    Architecture::ALL.into_iter().find(|known| known.name() == name)
}
