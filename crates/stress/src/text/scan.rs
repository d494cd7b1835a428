//! One line of a program under a finger that moves along it, and how to complain about it.

use history::lexicon::{
    self, ADDRESS_HELP, DIGIT_LIMIT, FENCE_HELP, NAME_HELP, NAME_LIMIT, is_name_byte, starts_name,
};
use history::{AddressLabel, InputError, InputErrorKind, Kinds, Value};

const VALUE_HELP: &str = "numbers go from 0 to 2^64 - 1, decimal or hexadecimal with 0x";

/// A piece of the line: where it begins and how long it is.
pub(super) type Span = (usize, usize);

/// A line being read.
pub(super) struct Scanner<'a> {
    pub(super) file: &'a str,
    pub(super) number: u64,
    pub(super) line: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Scanner<'a> {
    /// A line, read up to its comment.
    pub(super) fn new(file: &'a str, number: u64, line: &'a str) -> Self {
        let end = line.find('#').unwrap_or(line.len());
        Self { file, number, line, at: 0, end }
    }

    /// The next character that is not blank.
    pub(super) fn peek(&mut self) -> Option<char> {
        let rest = &self.line[self.at..self.end];
        let blank = rest.len() - rest.trim_start().len();
        self.at += blank;
        self.line[self.at..self.end].chars().next()
    }

    /// Whether what follows is this; then steps over it.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        self.peek();
        let found = self.line[self.at..self.end].starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Steps over this word if it is the next one.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        self.peek();
        let rest = &self.line.as_bytes()[self.at..self.end];
        let length = rest.iter().take_while(|&&byte| is_name_byte(byte)).count();
        let found = &rest[..length] == word.as_bytes();
        self.at += if found { length } else { 0 };
        found
    }

    pub(super) fn expect(&mut self, text: &str, help: &'static str) -> Result<(), InputError> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{text}`"), help)),
        }
    }

    /// The rest of the line, without blanks at its ends.
    pub(super) fn rest(&mut self) -> &'a str {
        let rest = self.line[self.at..self.end].trim();
        self.at = self.end;
        rest
    }

    /// Nothing but blanks may follow.
    pub(super) fn finish(&mut self, expected: &str, help: &'static str) -> Result<(), InputError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected(expected, help)),
        }
    }

    /// Where the next thing begins.
    pub(super) fn place(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// From a place up to here.
    pub(super) fn since(&self, place: usize) -> Span {
        (place, self.at - place)
    }

    pub(super) fn value(&mut self) -> Result<Value, InputError> {
        self.number("a value", VALUE_HELP)
    }

    /// A number, decimal or hexadecimal.
    pub(super) fn number(&mut self, expected: &str, help: &'static str) -> Result<u64, InputError> {
        let start = self.place();
        let rest = &self.line[self.at..self.end];
        let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let text = &rest[..word];
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unexpected(expected, help));
        }
        let (digits, base) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (text, 10),
        };
        let span = (start, word);
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
            return Err(self.unexpected(expected, help));
        }
        if digits.len() > DIGIT_LIMIT {
            return Err(self.error(span, InputErrorKind::NumberTooLong { limit: DIGIT_LIMIT }));
        }
        let Ok(number) = u64::from_str_radix(digits, base) else {
            return Err(self.error(span, InputErrorKind::NumberTooLarge));
        };
        self.at += word;
        Ok(number)
    }

    /// A name.
    pub(super) fn name(&mut self, expected: &str) -> Result<(&'a str, Span), InputError> {
        self.named(expected, NAME_HELP)
    }

    fn named(&mut self, expected: &str, help: &'static str) -> Result<(&'a str, Span), InputError> {
        let start = self.place();
        let rest = &self.line[start..self.end];
        let length = rest.bytes().take_while(|&byte| is_name_byte(byte)).count();
        if !rest.bytes().next().is_some_and(starts_name) {
            return Err(self.unexpected(expected, help));
        }
        let span = (start, length);
        if length > NAME_LIMIT {
            return Err(self.error(span, InputErrorKind::NameTooLong { limit: NAME_LIMIT }));
        }
        self.at += length;
        Ok((&rest[..length], span))
    }

    /// `M[0]`, `M[x]` or `x`.
    pub(super) fn address(&mut self) -> Result<(AddressLabel, Span), InputError> {
        let (name, span) = self.named("an address", ADDRESS_HELP)?;
        if name != "M" || !self.takes("[") {
            return Ok((AddressLabel::Name(name.into()), span));
        }
        let label = match self.peek() {
            Some(c) if c.is_ascii_digit() => {
                AddressLabel::Number(self.number("an address", ADDRESS_HELP)?)
            }
            _ => AddressLabel::Name(self.named("an address", ADDRESS_HELP)?.0.into()),
        };
        self.expect("]", ADDRESS_HELP)?;
        Ok((label, self.since(span.0)))
    }

    /// `r`, `w`, `rw` or `-`.
    pub(super) fn kinds(&mut self) -> Result<Kinds, InputError> {
        self.peek();
        let rest = &self.line.as_bytes()[self.at..self.end];
        let length = match rest.first() {
            Some(b'-') => 1,
            _ => rest.iter().take_while(|&&byte| is_name_byte(byte)).count(),
        };
        if let Some(kinds) = lexicon::kinds(&rest[..length]) {
            self.at += length;
            return Ok(kinds);
        }
        Err(self.unexpected("`r`, `w` or `rw`", FENCE_HELP))
    }

    pub(super) fn error(&self, span: Span, kind: InputErrorKind) -> InputError {
        InputError::in_line(self.file, self.number, self.line, span, kind)
    }

    /// A piece of the line is spelled right but makes no sense.
    pub(super) fn senseless(&self, span: Span, reason: impl Into<Box<str>>) -> InputError {
        self.error(span, InputErrorKind::Other { reason: reason.into() })
    }

    /// What comes next is not what was expected.
    pub(super) fn unexpected(&mut self, expected: &str, help: &'static str) -> InputError {
        let start = self.place();
        let rest = &self.line[start..self.end];
        let word = rest.bytes().take_while(|&byte| is_name_byte(byte)).count();
        let (found, length) = match rest.chars().next() {
            None => ("the end of the line".to_owned(), 1),
            Some(_) if word > 40 => (format!("`{}…`", &rest[..40]), word),
            Some(_) if word > 0 => (format!("`{}`", &rest[..word]), word),
            Some(c) if c.is_control() => ("a control character".to_owned(), c.len_utf8()),
            Some(c) => (format!("`{c}`"), c.len_utf8()),
        };
        let kind = InputErrorKind::Unexpected { expected: expected.into(), found: found.into() };
        self.error((start, length), kind).with_help(Some(help))
    }
}
