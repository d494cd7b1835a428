//! The lines that traces are made of, recognised at a glance.
//!
//! Nearly every line of a trace is one event, written the common way: `12: M[200] := 123456`, an
//! atomic, a fence, perhaps with times. This scanner knows these and nothing else: it looks at
//! bytes that are all there already, reads numbers eight digits at a time, and gives up at the
//! first byte that it does not expect. What it gives up on is read again from the start of the line
//! by the scanner of the whole format, which also finds the words for what is wrong.
//!
//! An event may go on with `@`, `as`, `dep` or an annotation on the next line, so a line counts only if the byte
//! after it is there and starts a statement.

use std::io::Read;

use super::{InputError, Place, TextReader, Token, address_by_name, is_name_byte, starts_name};
use crate::builder::Builder;
use crate::event::{ByteRange, Kinds, Operation, Times};
use crate::lexicon;

impl<R: Read> TextReader<R> {
    /// Reads one line if it is a common one.
    pub(super) fn common_line(&mut self, builder: &mut Builder) -> Result<bool, InputError> {
        let Some(line) = CommonLine::scan(self.input.window.visible()) else { return Ok(false) };
        let operation = line.operation(self.input.options.axe_addresses, builder);
        let CommonLine { thread, thread_digits, times, times_at, times_length, length, .. } = line;
        let place = self.input.window.place();
        let event = builder.event(thread, operation, place.short_line()).map_err(|error| {
            self.input.senseless(Token { place, length: thread_digits }, error.kind)
        })?;
        if times_length > 0 {
            let place = Place { offset: place.offset + times_at as u64, ..place };
            let token = Token { place, length: times_length };
            self.say_times(builder, event, times.times(), token)?;
        }
        self.input.window.skip_line(length);
        Ok(true)
    }
}

/// How a line calls an address: by a number, or if that is not empty by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Label<'b> {
    number: u64,
    /// In bytes, at most 8; 0 if the line says none.
    size: u8,
    name: &'b [u8],
}

/// What a line says was done; a fence if it neither reads nor writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ParsedOperation<'b> {
    kinds: Kinds,
    label: Label<'b>,
    read: u64,
    written: u64,
    /// What a fence orders.
    fence: (Kinds, Kinds),
}

impl ParsedOperation<'_> {
    fn fence(before: Kinds, after: Kinds) -> Self {
        let label = Label { number: 0, size: 0, name: &[] };
        Self { kinds: Kinds::NONE, label, read: 0, written: 0, fence: (before, after) }
    }
}

/// What a line that is no fence orders.
const NO_FENCE: (Kinds, Kinds) = (Kinds::NONE, Kinds::NONE);

/// When a line says it happened; plain numbers, which compilers handle better than options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct LineTimes {
    begin: u64,
    end: u64,
    has_begin: bool,
    has_end: bool,
}

impl LineTimes {
    fn times(self) -> Times {
        Times { begin: self.has_begin.then_some(self.begin), end: self.has_end.then_some(self.end) }
    }
}

/// One event on one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CommonLine<'b> {
    pub(super) thread: u64,
    /// How many digits the thread number has.
    thread_digits: usize,
    parsed: ParsedOperation<'b>,
    times: LineTimes,
    /// Where `@ begin:end` is in the line, and how long.
    times_at: usize,
    times_length: usize,
    /// The length of the line with its end.
    pub(super) length: usize,
}

impl<'b> CommonLine<'b> {
    /// When it says that it happened.
    pub(super) fn times(&self) -> Times {
        self.times.times()
    }

    /// What it says was done.
    #[inline]
    pub(super) fn operation(&self, axe_addresses: bool, builder: &mut Builder) -> Operation {
        let ParsedOperation { kinds, label, read, written, fence: (before, after) } = self.parsed;
        if kinds == Kinds::NONE {
            return Operation::Fence { before, after };
        }
        let address = match (label.name, ByteRange::new(label.number, label.size)) {
            ([], None) => builder.address_numbered(label.number),
            ([], Some(range)) => builder.address_of_bytes(range),
            (name, _) => address_by_name(name, axe_addresses, builder),
        };
        match (kinds.reads, kinds.writes) {
            (true, true) => Operation::ReadModifyWrite { address, read, write: written },
            (true, false) => Operation::Read { address, value: read },
            _ => Operation::Write { address, value: written },
        }
    }

    /// The line at the beginning of these bytes, if it is a common one.
    #[inline]
    pub(super) fn scan(bytes: &'b [u8]) -> Option<Self> {
        let mut scan = Scan { bytes, at: 0 };
        let thread = scan.number()?;
        let thread_digits = scan.at;
        scan.expect(b':')?;
        scan.skip_spaces();
        let parsed = scan.parsed()?;
        scan.skip_spaces();
        let times_at = scan.at;
        let mut times = LineTimes::default();
        if scan.peek()? == b'@' {
            scan.times(&mut times)?;
        }
        let times_length = scan.at - times_at;
        scan.end_of_line()?;
        let length = scan.at;
        let starts_statement = match scan.peek()? {
            b'0'..=b'9' | b'i' | b'f' | b'o' => true,
            b'c' => *bytes.get(length + 1)? == b'h', // `check`, not `ctrl`
            _ => false,
        };
        starts_statement.then_some(Self {
            thread,
            thread_digits,
            parsed,
            times,
            times_at,
            times_length,
            length,
        })
    }
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Scan<'b> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    #[inline]
    fn expect_both(&mut self, two: &[u8; 2]) -> Option<()> {
        let next = self.bytes.get(self.at..self.at + 2)?;
        (next == two).then(|| self.at += 2)
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    #[inline]
    fn end_of_line(&mut self) -> Option<()> {
        while matches!(self.peek()?, b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
        self.expect(b'\n')
    }

    #[inline]
    fn parsed(&mut self) -> Option<ParsedOperation<'b>> {
        match self.peek()? {
            b'<' => return self.atomic(b'>'),
            b'{' => return self.atomic(b'}'),
            b's' if self.bytes[self.at..].starts_with(b"sync\n") => {
                self.at += 4;
                return Some(ParsedOperation::fence(Kinds::ALL, Kinds::ALL));
            }
            b'f' if self.bytes[self.at..].starts_with(b"fence ") => return self.fence(),
            _ => {}
        }
        let label = self.label()?;
        self.skip_spaces();
        let relation = self.peek()?;
        self.at += 1;
        self.expect(b'=')?;
        self.skip_spaces();
        let value = self.number()?;
        let kinds = Kinds { reads: relation == b'=', writes: relation == b':' };
        (kinds != Kinds::NONE).then_some(ParsedOperation {
            kinds,
            label,
            read: value,
            written: value,
            fence: NO_FENCE,
        })
    }

    /// `fence kinds,kinds`
    fn fence(&mut self) -> Option<ParsedOperation<'b>> {
        self.at += b"fence ".len();
        let before = self.kinds()?;
        self.expect(b',')?;
        let after = self.kinds()?;
        Some(ParsedOperation::fence(before, after))
    }

    fn kinds(&mut self) -> Option<Kinds> {
        let rest = self.bytes.get(self.at..)?;
        let letters = |&&byte: &&u8| matches!(byte, b'r' | b'w' | b'-');
        let length = rest.iter().take(3).take_while(letters).count();
        self.at += length;
        lexicon::kinds(&rest[..length])
    }

    /// `<label == value; label := value>`, or with braces
    fn atomic(&mut self, close: u8) -> Option<ParsedOperation<'b>> {
        self.at += 1;
        self.skip_spaces();
        let label = self.label()?;
        self.skip_spaces();
        self.expect_both(b"==")?;
        self.skip_spaces();
        let read = self.number()?;
        self.skip_spaces();
        self.expect(b';')?;
        self.skip_spaces();
        if self.label()? != label {
            return None;
        }
        self.skip_spaces();
        self.expect_both(b":=")?;
        self.skip_spaces();
        let written = self.number()?;
        self.skip_spaces();
        self.expect(close)?;
        Some(ParsedOperation { kinds: Kinds::ALL, label, read, written, fence: NO_FENCE })
    }

    /// `M[number]`, `M[name]` or a name
    #[inline]
    fn label(&mut self) -> Option<Label<'b>> {
        if self.expect_both(b"M[").is_none() {
            let name = self.name()?;
            let has_other_meaning = matches!(name, b"M" | b"sync" | b"fence");
            return (!has_other_meaning).then_some(Label { number: 0, size: 0, name });
        }
        let label = match self.peek()? {
            b'0'..=b'9' => {
                let number = self.number()?;
                let size = if self.expect(b':').is_some() { self.size(number)? } else { 0 };
                Label { number, size, name: &[] }
            }
            _ => Label { number: 0, size: 0, name: self.name()? },
        };
        self.expect(b']')?;
        Some(label)
    }

    /// A size that leaves the bytes from this number on below 2^64. Wide accesses have values that
    /// this scanner does not read.
    fn size(&mut self, number: u64) -> Option<u8> {
        let size = self.peek()?.wrapping_sub(b'0');
        self.at += 1;
        ((1..=8).contains(&size) && ByteRange::new(number, size).is_some()).then_some(size)
    }

    fn name(&mut self) -> Option<&'b [u8]> {
        const LIMIT: usize = 64;
        let rest = self.bytes.get(self.at..)?;
        let rest = &rest[..rest.len().min(LIMIT)];
        let length = rest.iter().position(|&byte| !is_name_byte(byte))?;
        let name = &rest[..length];
        self.at += length;
        starts_name(*name.first()?).then_some(name)
    }

    /// `@ [begin] : [end]`
    fn times(&mut self, times: &mut LineTimes) -> Option<()> {
        self.at += 1;
        self.skip_spaces();
        times.has_begin = self.peek()? != b':';
        if times.has_begin {
            times.begin = self.number()?;
            self.skip_spaces();
        }
        self.expect(b':')?;
        let after_colon = self.at;
        self.skip_spaces();
        times.has_end = self.peek()?.is_ascii_digit();
        if times.has_end {
            times.end = self.number()?;
        } else {
            self.at = after_colon;
        }
        Some(())
    }

    /// A decimal number of at most nineteen digits, or a hexadecimal one of at most sixteen.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let (value, digits) = self.up_to_eight_digits()?;
        self.at += digits;
        match digits {
            0 => None,
            1 if value == 0 && matches!(self.peek()?, b'x' | b'X') => self.hexadecimal(),
            8 => self.more_digits(value),
            _ => Some(value),
        }
    }

    /// The rest of a number whose first eight digits have this value.
    fn more_digits(&mut self, value: u64) -> Option<u64> {
        const TEN: u64 = 10;
        let (more, digits) = self.up_to_eight_digits()?;
        self.at += digits;
        let value = value * TEN.pow(digits as u32) + more;
        if digits < 8 {
            return Some(value);
        }
        let (more, digits) = self.up_to_eight_digits()?;
        self.at += digits;
        (digits <= 3).then(|| value * TEN.pow(digits as u32) + more)
    }

    fn hexadecimal(&mut self) -> Option<u64> {
        self.at += 1;
        let start = self.at;
        let mut value = 0;
        while let Some(digit) = char::from(self.peek()?).to_digit(16) {
            value = value << 4 | u64::from(digit);
            self.at += 1;
        }
        (1..=16).contains(&(self.at - start)).then_some(value)
    }

    /// The number that the next bytes spell and how many they are, 8 at most; eight bytes must be
    /// there.
    ///
    /// All bytes at once: the digits are those before the first byte that is none. They are moved to
    /// the end of the word, zeros before them, and then neighbours are joined: pairs, fours, eight.
    #[inline]
    fn up_to_eight_digits(&self) -> Option<(u64, usize)> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let bytes = self.bytes.get(self.at..)?.first_chunk::<8>()?;
        let digits = u64::from_le_bytes(*bytes) ^ (ONES * 0x30);
        let others = (digits.wrapping_add(ONES * 0x76) | digits) & (ONES * 0x80);
        let count = others.trailing_zeros() / 8;
        let digits = digits.checked_shl(64 - 8 * count).unwrap_or(0);
        let pairs = (digits.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
        let value = fours.wrapping_mul(1 + (10_000 << 32)) >> 32;
        Some((value, count as usize))
    }
}
