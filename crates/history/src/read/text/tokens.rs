//! Words, numbers and signs.

use std::io::Read;

use super::{InputError, InputErrorKind, Place, TextReader, Token};
use crate::lexicon::{DIGIT_LIMIT, NAME_LIMIT, is_name_byte, starts_name};

impl<R: Read> TextReader<R> {
    /// Letters and what may follow them in a name.
    pub(super) fn word(&mut self, expected: &str, help: &'static str) -> Result<Token, InputError> {
        let place = self.input.window.place();
        if !self.input.window.peek().is_some_and(starts_name) {
            return Err(self.input.unexpected(expected, help));
        }
        while self.input.window.peek().is_some_and(is_name_byte) {
            self.input.window.bump();
            if self.input.window.since(place) > NAME_LIMIT {
                let token = Token { place, length: NAME_LIMIT };
                let kind = InputErrorKind::NameTooLong { limit: NAME_LIMIT };
                return Err(self.input.error(token, kind));
            }
        }
        Ok(Token { place, length: self.input.window.since(place) })
    }

    /// These letters, whatever follows them.
    pub(super) fn keyword(
        &mut self,
        keyword: &'static str,
        expected: &str,
        help: &'static str,
    ) -> Result<(), InputError> {
        let place = self.input.window.place();
        for byte in keyword.bytes() {
            if self.input.window.peek() != Some(byte) {
                return Err(self.input.unexpected_at(place, expected, help));
            }
            self.input.window.bump();
        }
        Ok(())
    }

    pub(super) fn number(
        &mut self,
        expected: &str,
        help: &'static str,
    ) -> Result<(u64, Token), InputError> {
        let (number, token) = self.number_up_to(u64::MAX.into(), expected, help)?;
        Ok((number as u64, token))
    }

    pub(super) fn number_up_to(
        &mut self,
        most: u128,
        expected: &str,
        help: &'static str,
    ) -> Result<(u128, Token), InputError> {
        let place = self.input.window.place();
        let Some(first @ b'0'..=b'9') = self.input.window.peek() else {
            return Err(self.input.unexpected(expected, help));
        };
        self.input.window.bump();
        let mut value = u128::from(first - b'0');
        if first == b'0' && matches!(self.input.window.peek(), Some(b'x' | b'X')) {
            self.input.window.bump();
            if !self.input.window.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.input.unexpected("hexadecimal digits after `0x`", help));
            }
            value = self.digits::<16>(place, 0, most)?;
        } else if matches!(self.input.window.peek(), Some(b'0'..=b'9')) {
            value = self.digits::<10>(place, value, most)?;
        }
        Ok((value, Token { place, length: self.input.window.since(place) }))
    }

    pub(super) fn digits<const BASE: u32>(
        &mut self,
        place: Place,
        mut value: u128,
        most: u128,
    ) -> Result<u128, InputError> {
        while let Some(digit) =
            self.input.window.peek().and_then(|byte| char::from(byte).to_digit(BASE))
        {
            self.input.window.bump();
            let length = self.input.window.since(place);
            let next = value.checked_mul(BASE.into()).and_then(|v| v.checked_add(digit.into()));
            let kind = match next.filter(|&next| next <= most) {
                Some(next) if length <= DIGIT_LIMIT => {
                    value = next;
                    continue;
                }
                Some(_) => InputErrorKind::NumberTooLong { limit: DIGIT_LIMIT },
                None if most == u128::MAX => InputErrorKind::NumberTooWide,
                None => InputErrorKind::NumberTooLarge,
            };
            return Err(self.number_error(place, kind));
        }
        Ok(value)
    }

    #[cold]
    pub(super) fn number_error(&mut self, place: Place, kind: InputErrorKind) -> InputError {
        self.input.window.read_on(place);
        let rest = self.input.window.bytes(place, DIGIT_LIMIT);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        self.input.error(Token { place, length }, kind)
    }

    pub(super) fn expect(
        &mut self,
        byte: u8,
        expected: &str,
        help: &'static str,
    ) -> Result<(), InputError> {
        if self.input.window.peek() != Some(byte) {
            return Err(self.input.unexpected(expected, help));
        }
        self.input.window.bump();
        Ok(())
    }

    pub(super) fn expect_both(
        &mut self,
        bytes: &[u8; 2],
        expected: &str,
        help: &'static str,
    ) -> Result<(), InputError> {
        let place = self.input.window.place();
        for &byte in bytes {
            if self.input.window.peek() != Some(byte) {
                return Err(self.input.unexpected_at(place, expected, help));
            }
            self.input.window.bump();
        }
        Ok(())
    }
}
