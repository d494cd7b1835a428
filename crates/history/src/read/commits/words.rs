//! A line of a log under a finger, and what a line says of an instruction.

use riscv::Register;

/// What a log says of one instruction that a hart committed.
#[derive(Default, Debug)]
pub(in crate::read) struct CommitRecord {
    /// The hart, if the line names it.
    pub(super) hart: Option<u64>,
    /// The program counter, if the log has it, and with how many hexadecimal digits.
    pub(super) pc: Option<u64>,
    pub(super) pc_digits: usize,
    /// The encoding of the instruction.
    pub(super) word: u32,
    /// When it was committed.
    pub(super) cycle: Option<u64>,
    /// The registers that it wrote.
    pub(super) writes: Vec<(Register, u64)>,
    /// The accesses: their addresses, and what was stored if the log says it.
    pub(super) memory: Vec<(u64, Option<u64>)>,
    /// What a load read from memory, where the log says it beside the register.
    pub(super) loaded: Option<u64>,
    /// What an AMO combined with what it read, where the log says that and not the result.
    pub(super) operand: Option<u64>,
    /// Whether the log has all instructions, so that registers can be followed.
    pub(super) complete: bool,
    /// Whether registers changed of which the log does not say which, or to what.
    pub(super) forgets: bool,
    /// An access without an instruction.
    pub(super) plain: Option<Plain>,
}

/// An access of which the log does not have the instruction.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct Plain {
    pub(super) address: u64,
    pub(super) size: u8,
    pub(super) read: Option<u64>,
    pub(super) written: Option<u64>,
}

impl CommitRecord {
    pub(super) fn clear(&mut self) {
        let CommitRecord { writes, memory, .. } = std::mem::take(self);
        *self = CommitRecord { writes, memory, ..CommitRecord::default() };
        self.writes.clear();
        self.memory.clear();
    }
}

/// What is wrong with a line: where, and what was expected there.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct LineError {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

/// A line under a finger.
pub(super) struct LineCursor<'l> {
    pub(super) line: &'l [u8],
    pub(super) at: usize,
}

impl<'l> LineCursor<'l> {
    pub(super) fn new(line: &'l [u8]) -> Self {
        LineCursor { line, at: 0 }
    }

    pub(super) fn rest(&self) -> &'l [u8] {
        &self.line[self.at..]
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn ended(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.line.len()
    }

    /// Steps over these bytes, if they come next.
    #[inline]
    pub(super) fn takes(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// What comes next up to a blank.
    #[inline]
    pub(super) fn word(&mut self) -> &'l [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.at += length;
        &rest[..length]
    }

    /// A decimal number.
    #[inline]
    pub(super) fn decimal(&mut self) -> Option<u64> {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || length > 20 {
            return None;
        }
        let mut number = 0_u64;
        for digit in &rest[..length] {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        }
        self.at += length;
        Some(number)
    }

    /// A hexadecimal number of up to 64 bits without `0x`, and its number of digits.
    #[inline]
    pub(super) fn bare_hexadecimal(&mut self) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut length = 0;
        for &byte in self.rest() {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b'A'..=b'F' => byte - b'A' + 10,
                _ => break,
            };
            if length == 16 {
                return None;
            }
            number = number << 4 | u64::from(digit);
            length += 1;
        }
        self.at += length;
        (length > 0).then_some((number, length))
    }

    /// The same with `0x`.
    #[inline]
    pub(super) fn hexadecimal(&mut self) -> Option<(u64, usize)> {
        let start = self.at;
        if !self.takes(b"0x") {
            return None;
        }
        let number = self.bare_hexadecimal();
        if number.is_none() {
            self.at = start;
        }
        number
    }

    /// A number, decimal or hexadecimal with `0x`.
    pub(super) fn number(&mut self) -> Option<u64> {
        match self.hexadecimal() {
            Some((number, _)) => Some(number),
            None => self.decimal(),
        }
    }

    /// That something else stands here.
    pub(super) fn expected(&self, expected: &'static str) -> LineError {
        LineError { at: self.at, expected }
    }
}
