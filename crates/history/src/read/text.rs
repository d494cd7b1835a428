//! The trace text format, a superset of what Axe's parser reads and of what its manual promises.
//!
//! Line ends are blanks like any other, `#` starts a comment, and a trace is a sequence of
//! statements that ends with `check`:
//!
//! ```text
//! statement = thread ":" operation suffix*  |  "init" address "==" value
//!           | "final" address "==" value  |  "order" address ":" write ("<" write)*
//! operation = address ":=" value  |  address "==" value  |  "sync"  |  "fence" kinds "," kinds
//!           | "fence.tso" | "dmb.ld" | "isb" | …  (every FenceName)
//!           | "<" address "==" value ";" address ":=" value ">"     (or with braces)
//! suffix    = "@" [begin] ":" [end]  |  "as" name  |  kind name ("," name)*  |  "pair" name
//!           | "acq" | "acqpc" | "rel" | "acqrel" | "sc"
//! kind      = "dep" | "addr" | "data" | "ctrl"
//! address   = "M" "[" (number [":" size] | name) "]"  |  name
//! write     = value | name                 kinds = "r" | "w" | "rw" | "-"
//! number    = decimal or 0x…, 64 bits      name = [A-Za-z_][A-Za-z0-9_.$']*
//! ```
//!
//! Common lines are recognised at a glance (`text/common_line.rs`). In all others one byte is looked at
//! at a time and one pass is made; nothing is allocated for a token. The last letter of `check` ends the trace, without a look at what follows: the producer may be
//! waiting for the verdict before it sends more.

mod apart;
mod common_line;
mod suffixes;
mod tokens;

use std::io::Read;

use self::apart::Ahead;
use super::error::{InputError, InputErrorKind};
use super::window::Place;
use super::{Input, Piece, Token};
use crate::annotation::FenceName;
use crate::build_error::{BuildError, BuildErrorKind};
use crate::builder::{Builder, WriteName};
use crate::event::{AddressId, ByteRange, Kinds, MAX_ACCESS_SIZE, Operation, Value};
use crate::history::History;
use crate::lexicon::{self, ADDRESS_HELP, FENCE_HELP, is_name_byte, starts_name};

const STATEMENT: &str = "a thread number, `init`, `final`, `order` or `check`";
const STATEMENT_HELP: &str = "a trace is made of lines like `0: M[x] := 1` and ends with `check`";
const OPERATION_HELP: &str = "an operation is a write `M[x] := 1`, a read `M[x] == 1`, an atomic \
                              `<M[x] == 0; M[x] := 1>`, `sync` or `fence w,r`";
const ACCESS_HELP: &str = "`M[x] == 1` is a read that returned 1, `M[x] := 1` is a write";
const ATOMIC_HELP: &str = "a read-modify-write is `<M[x] == 0; M[x] := 1>` or the same in braces";
const VALUE_HELP: &str = "values are numbers from 0 to 2^64 - 1, decimal or hexadecimal with 0x";
const SIZE_HELP: &str = "`M[0x1000:4]` is 4 bytes starting at 0x1000; sizes are from 1 to 16 bytes";
const WIDE_VALUE_HELP: &str =
    "values of 9 to 16 bytes are numbers below 2^128, decimal or hexadecimal with 0x";
const ORDER_HELP: &str =
    "`order M[x]: 1 < 2 < a` says in which order values, or writes named with `as`, reached M[x]";

/// What an event is.
enum LineEvent {
    Operation(Operation),
    Fence(FenceName),
}

/// The bytes of a size, or why there are none.
pub(super) fn byte_range(start: u64, size: u64) -> Result<ByteRange, BuildErrorKind> {
    let known = u8::try_from(size).ok().filter(|size| (1..=MAX_ACCESS_SIZE).contains(size));
    let size = known.ok_or(BuildErrorKind::NoSuchSize { size })?;
    ByteRange::new(start, size).ok_or(BuildErrorKind::PastLastByte { start, size })
}

/// The number that Axe means by `v0`.
pub(super) fn axe_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('v')?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Reads traces in the text format.
pub(super) struct TextReader<R> {
    input: Input<R>,
    /// Whether a `check` has been seen; then a blank rest is no trace.
    checked: bool,
    /// A number that looked like an end time but turned out to start the next event.
    early_thread: Option<(u64, Token)>,
    /// What the operation just read says of the bytes beyond the eighth: what they held when read,
    /// and what was written to them.
    upper: [Value; 2],
    /// Whether the end of the trace under way has been seen.
    ended: bool,
    /// Whether an event ends with its line, and is not continued on the next.
    by_lines: bool,
    /// What was read ahead of a large trace.
    ahead: Ahead,
}

impl<R: Read> TextReader<R> {
    pub(super) fn new(input: Input<R>) -> Self {
        Self {
            input,
            checked: false,
            early_thread: None,
            upper: [0; 2],
            ended: false,
            by_lines: false,
            ahead: Ahead::default(),
        }
    }

    pub(super) fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    pub(super) fn next_trace(&mut self) -> Result<Option<History>, InputError> {
        let mut builder = self.input.builder();
        self.ahead = Ahead::default();
        match self.statements(&mut builder)? {
            Piece::None => Ok(None),
            Piece::Some | Piece::Last => self.input.finish(builder).map(Some),
        }
    }

    pub(super) fn next_piece(&mut self, builder: &mut Builder) -> Result<Piece, InputError> {
        self.by_lines = true;
        self.statements(builder)
    }

    /// Reads to the end of the trace, or as far as a piece goes.
    fn statements(&mut self, builder: &mut Builder) -> Result<Piece, InputError> {
        let mut empty = builder.is_empty();
        self.ended = false;
        self.input.window.skip_byte_order_mark();
        loop {
            if self.by_lines && builder.has_events() && self.input.window.lacks_line() {
                return Ok(Piece::Some);
            }
            self.input.window.skip_blanks();
            match self.input.window.peek() {
                Some(b'0'..=b'9') if self.early_thread.is_none() => {
                    let mut common = self.lines_read_ahead(builder);
                    while self.ahead.is_not_here(&self.input.window) && self.common_line(builder)? {
                        common = true;
                    }
                    if !common {
                        self.event(builder)?;
                    }
                }
                Some(b'0'..=b'9' | b':') => self.event(builder)?,
                Some(b'c') => {
                    self.keyword("check", STATEMENT, STATEMENT_HELP)?;
                    (self.checked, self.ended) = (true, true);
                    return Ok(Piece::Last);
                }
                Some(b'i') => self.initial(builder)?,
                Some(b'f') => self.final_value(builder)?,
                Some(b'o') => self.order(builder)?,
                Some(_) => return Err(self.input.unexpected(STATEMENT, STATEMENT_HELP)),
                None => break,
            }
            empty = false;
        }
        if let Some(failure) = self.input.failure() {
            return Err(failure);
        }
        if empty && self.checked {
            return Ok(Piece::None);
        }
        (self.checked, self.ended) = (true, true);
        Ok(Piece::Last)
    }

    /// Skips to behind the next line that begins with `check`.
    pub(super) fn skip_trace(&mut self) -> bool {
        self.early_thread = None;
        self.checked = true;
        let window = &mut self.input.window;
        while !self.ended && window.peek().is_some() {
            if window.is_at_line_start() {
                window.skip_spaces();
                self.ended = window.starts_with(b"check");
            }
            match self.ended {
                true => (0..b"check".len()).for_each(|_| window.bump()),
                false => window.skip_rest_of_line(),
            }
        }
        self.ended
    }

    /// `thread: operation suffixes`
    fn event(&mut self, builder: &mut Builder) -> Result<(), InputError> {
        let (thread, token) = match self.early_thread.take() {
            Some(early) => early,
            None => self.number(STATEMENT, STATEMENT_HELP)?,
        };
        self.input.window.skip_blanks();
        self.expect(b':', "`:` after the thread number", STATEMENT_HELP)?;
        self.input.window.skip_blanks();
        let line = token.place.short_line();
        let event = match self.operation(builder)? {
            LineEvent::Operation(operation) => builder.event(thread, operation, line),
            LineEvent::Fence(name) => builder.fence(thread, name, line),
        };
        let event = event.map_err(|error| self.input.senseless(token, error.kind))?;
        let [read, written] = std::mem::take(&mut self.upper);
        let said = builder.upper_bytes(event, read, written);
        said.map_err(|error| self.input.senseless(token, error.kind))?;
        self.suffixes(builder, event)
    }

    fn operation(&mut self, builder: &mut Builder) -> Result<LineEvent, InputError> {
        let operation = match self.input.window.peek() {
            Some(b'<') => self.atomic(builder, b'>', "`>`"),
            Some(b'{') => self.atomic(builder, b'}', "`}`"),
            Some(byte) if starts_name(byte) => {
                let word = self.word("an operation", OPERATION_HELP)?;
                let bytes = self.input.window.bytes_since(word.place);
                let fence = FenceName::from_spelling(name_text(bytes));
                match bytes {
                    b"sync" => Ok(Operation::SYNC),
                    b"fence" => self.fence(),
                    _ => {
                        if let Some(name) = fence.filter(|_| !self.is_address_of_access()) {
                            return Ok(LineEvent::Fence(name));
                        }
                        let address = self.address_after(word, builder)?;
                        self.access(address, builder)
                    }
                }
            }
            _ => Err(self.input.unexpected("an operation", OPERATION_HELP)),
        };
        operation.map(LineEvent::Operation)
    }

    /// Whether a word just read that names a fence is an address here: `isb := 1` writes to `isb`.
    fn is_address_of_access(&mut self) -> bool {
        self.input.window.skip_blanks();
        self.input.window.starts_with(b":=") || self.input.window.starts_with(b"==")
    }

    /// `== value` or `:= value`
    fn access(&mut self, address: AddressId, builder: &Builder) -> Result<Operation, InputError> {
        self.input.window.skip_blanks();
        let place = self.input.window.place();
        let first = self.input.window.peek();
        if matches!(first, Some(b'=' | b':')) {
            self.input.window.bump();
            if self.input.window.peek() == Some(b'=') {
                self.input.window.bump();
                self.input.window.skip_blanks();
                let writes = first == Some(b':');
                let value = self.value(address, builder, usize::from(writes))?;
                return Ok(match writes {
                    true => Operation::Write { address, value },
                    false => Operation::Read { address, value },
                });
            }
        }
        Err(self.input.unexpected_at(place, "`==` or `:=`", ACCESS_HELP))
    }

    /// `<address == value; address := value>`, or with braces
    fn atomic(
        &mut self,
        builder: &mut Builder,
        close: u8,
        close_text: &str,
    ) -> Result<Operation, InputError> {
        self.input.window.bump();
        self.input.window.skip_blanks();
        let address = self.address(builder)?;
        let read = self.compared_value(address, builder, ATOMIC_HELP)?;
        self.input.window.skip_blanks();
        self.expect(b';', "`;`", ATOMIC_HELP)?;
        self.input.window.skip_blanks();
        let place = self.input.window.place();
        let written = self.address(builder)?;
        if written != address {
            let token = Token { place, length: self.input.window.since(place) };
            return Err(self.input.senseless(token, BuildErrorKind::AtomicAddressesDiffer));
        }
        self.input.window.skip_blanks();
        self.expect_both(b":=", "`:=`", ATOMIC_HELP)?;
        self.input.window.skip_blanks();
        let write = self.value(address, builder, 1)?;
        self.input.window.skip_blanks();
        self.expect(close, close_text, ATOMIC_HELP)?;
        Ok(Operation::ReadModifyWrite { address, read, write })
    }

    /// `kinds , kinds`
    fn fence(&mut self) -> Result<Operation, InputError> {
        let before = self.kinds()?;
        self.input.window.skip_blanks();
        self.expect(b',', "`,` between what comes before the fence and what after", FENCE_HELP)?;
        let after = self.kinds()?;
        Ok(Operation::Fence { before, after })
    }

    fn kinds(&mut self) -> Result<Kinds, InputError> {
        self.input.window.skip_blanks();
        let place = self.input.window.place();
        while self.input.window.since(place) < 3
            && matches!(self.input.window.peek(), Some(b'r' | b'w' | b'-'))
        {
            self.input.window.bump();
        }
        match lexicon::kinds(self.input.window.bytes_since(place)) {
            Some(kinds) => Ok(kinds),
            None => Err(self.input.unexpected_at(place, "`r`, `w` or `rw`", FENCE_HELP)),
        }
    }

    /// `init address == value`
    fn initial(&mut self, builder: &mut Builder) -> Result<(), InputError> {
        self.valued_address("init", builder, Builder::initial)
    }

    /// `final address == value`
    fn final_value(&mut self, builder: &mut Builder) -> Result<(), InputError> {
        self.valued_address("final", builder, Builder::final_value)
    }

    fn valued_address(
        &mut self,
        keyword: &'static str,
        builder: &mut Builder,
        say: impl FnOnce(&mut Builder, AddressId, Value, u32) -> Result<(), BuildError>,
    ) -> Result<(), InputError> {
        let place = self.input.window.place();
        self.keyword(keyword, STATEMENT, STATEMENT_HELP)?;
        self.input.window.skip_blanks();
        let address = self.address(builder)?;
        let value = self.compared_value(address, builder, "`init M[x] == 1`, `final M[x] == 1`")?;
        let token = Token { place, length: self.input.window.since(place) };
        say(builder, address, value, place.short_line())
            .map_err(|error| self.input.senseless(token, error.kind))
    }

    /// `order address : write < write < …`
    fn order(&mut self, builder: &mut Builder) -> Result<(), InputError> {
        let place = self.input.window.place();
        self.keyword("order", STATEMENT, STATEMENT_HELP)?;
        self.input.window.skip_blanks();
        let address = self.address(builder)?;
        self.input.window.skip_blanks();
        self.expect(b':', "`:` after the address", ORDER_HELP)?;
        let mut writes = Vec::new();
        loop {
            self.input.window.skip_blanks();
            let (write, token) = self.write_name()?;
            builder
                .charge_write_name(&write, place.short_line())
                .map_err(|error| self.input.senseless(token, error.kind))?;
            writes.push(write);
            self.input.window.skip_blanks();
            if self.input.window.peek() != Some(b'<') {
                break;
            }
            self.input.window.bump();
        }
        builder.order(address, writes, place.short_line());
        Ok(())
    }

    fn write_name(&mut self) -> Result<(WriteName, Token), InputError> {
        const WRITE: &str = "a value or the name of a write";
        match self.input.window.peek() {
            Some(byte) if starts_name(byte) => {
                let token = self.word(WRITE, ORDER_HELP)?;
                let name = name_text(self.input.window.bytes_since(token.place));
                Ok((WriteName::Name(name.into()), token))
            }
            _ => {
                let (value, token) = self.number(WRITE, ORDER_HELP)?;
                Ok((WriteName::Value(value), token))
            }
        }
    }

    fn address(&mut self, builder: &mut Builder) -> Result<AddressId, InputError> {
        let word = self.word("an address", ADDRESS_HELP)?;
        self.address_after(word, builder)
    }

    /// The address that starts with a word just read: the word itself, or what is in the brackets
    /// that follow the word `M`.
    fn address_after(
        &mut self,
        word: Token,
        builder: &mut Builder,
    ) -> Result<AddressId, InputError> {
        if self.input.window.bytes(word.place, word.length) != b"M" {
            return Ok(self.named_address(word, builder));
        }
        self.input.window.skip_blanks();
        if self.input.window.peek() != Some(b'[') {
            return Ok(builder.address_named("M"));
        }
        self.input.window.bump();
        self.input.window.skip_blanks();
        let address = match self.input.window.peek() {
            Some(byte) if starts_name(byte) => {
                let name = self.word("an address", ADDRESS_HELP)?;
                self.named_address(name, builder)
            }
            _ => {
                let (number, token) = self.number("an address", ADDRESS_HELP)?;
                self.input.window.skip_blanks();
                match self.input.window.peek() {
                    Some(b':') => self.bytes(number, token.place, builder)?,
                    _ => builder.address_numbered(number),
                }
            }
        };
        self.input.window.skip_blanks();
        self.expect(b']', "`]`", ADDRESS_HELP)?;
        Ok(address)
    }

    /// `: size`, after the number of the lowest byte
    fn bytes(
        &mut self,
        start: u64,
        place: Place,
        builder: &mut Builder,
    ) -> Result<AddressId, InputError> {
        self.input.window.bump();
        self.input.window.skip_blanks();
        let (size, _) = self.number("a size in bytes", SIZE_HELP)?;
        let token = Token { place, length: self.input.window.since(place) };
        let range = byte_range(start, size).map_err(|kind| self.input.senseless(token, kind))?;
        Ok(builder.address_of_bytes(range))
    }

    fn named_address(&self, word: Token, builder: &mut Builder) -> AddressId {
        let name = self.input.window.bytes(word.place, word.length);
        address_by_name(name, self.input.options.axe_addresses, builder)
    }

    /// `== value`
    fn compared_value(
        &mut self,
        address: AddressId,
        builder: &Builder,
        help: &'static str,
    ) -> Result<Value, InputError> {
        self.input.window.skip_blanks();
        self.expect_both(b"==", "`==`", help)?;
        self.input.window.skip_blanks();
        self.value(address, builder, 0)
    }

    /// A value of an address. What a wide one has beyond eight bytes goes to an entry of `upper`.
    fn value(
        &mut self,
        address: AddressId,
        builder: &Builder,
        upper: usize,
    ) -> Result<Value, InputError> {
        if !builder.is_wide(address) {
            return Ok(self.number("a value", VALUE_HELP)?.0);
        }
        let (value, _) = self.number_up_to(u128::MAX, "a value", WIDE_VALUE_HELP)?;
        self.upper[upper] = (value >> 64) as Value;
        Ok(value as Value)
    }

    /// A name, handed on to the builder.
    fn named(
        &mut self,
        help: &'static str,
        say: impl FnOnce(&str) -> Result<(), BuildError>,
    ) -> Result<(), InputError> {
        let token = self.word("a name", help)?;
        say(name_text(self.input.window.bytes_since(token.place)))
            .map_err(|error| self.input.senseless(token, error.kind))
    }
}

/// The address of a name, new or known.
#[inline]
fn address_by_name(name: &[u8], axe_addresses: bool, builder: &mut Builder) -> AddressId {
    match builder.address_known(name) {
        Some(address) if !axe_addresses => address,
        _ => address_spelled(name_text(name), axe_addresses, builder),
    }
}

fn address_spelled(name: &str, axe_addresses: bool, builder: &mut Builder) -> AddressId {
    let number = if axe_addresses { axe_number(name) } else { None };
    match number {
        Some(number) => builder.address_numbered(number),
        None => builder.address_named(name),
    }
}

/// The text of a name, whose bytes are all ASCII.
fn name_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}
