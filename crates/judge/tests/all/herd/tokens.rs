//! The words and signs that initial states, lists of locations and conditions are made of, and the
//! places they speak of.

use std::fmt;

use history::Value;

/// A register of x86, in the order in which herd7 lists them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Register {
    A,
    B,
    C,
    D,
    Source,
    Destination,
}

impl Register {
    const NAMES: [(Register, &'static str); 6] = [
        (Register::A, "ax"),
        (Register::B, "bx"),
        (Register::C, "cx"),
        (Register::D, "dx"),
        (Register::Source, "si"),
        (Register::Destination, "di"),
    ];

    /// The register of a name such as `eax`, `RAX`. The litmus tests hold small values, so 32 and
    /// 64 bits are the same.
    pub(crate) fn named(name: &str) -> Option<Register> {
        let name = name.to_ascii_lowercase();
        let stem = name.strip_prefix(['e', 'r'])?;
        Register::NAMES.iter().find(|row| row.1 == stem).map(|row| row.0)
    }

    fn stem(self) -> &'static str {
        Register::NAMES[self as usize].1
    }
}

/// The two assembly languages: they differ in spelling and in the order of operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    /// `X86`: the destination comes first, registers are called `EAX`.
    X86,
    /// `X86_64`: the source comes first, registers are called `rax`.
    X86_64,
}

/// Something with a value at the end. The order is that of herd7's states: registers by thread,
/// then memory by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    Register(usize, Register),
    Memory(String),
}

impl Place {
    /// How herd7 writes it.
    pub(crate) fn spelled(&self, dialect: Dialect) -> String {
        match (self, dialect) {
            (Place::Memory(name), _) => format!("[{name}]"),
            (Place::Register(thread, register), Dialect::X86_64) => {
                format!("{thread}:r{}", register.stem())
            }
            (Place::Register(thread, register), Dialect::X86) => {
                format!("{thread}:E{}", register.stem().to_ascii_uppercase())
            }
        }
    }
}

/// A text cut into tokens, read from left to right.
pub(crate) struct Tokens<'a> {
    tokens: Vec<&'a str>,
    next: usize,
}

/// The signs of more than one character, which go before their parts.
const LONG_SIGNS: [&str; 3] = ["/\\", "\\/", "=>"];

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = if in_word(first) {
                rest.find(|c| !in_word(c)).unwrap_or(rest.len())
            } else if LONG_SIGNS.iter().any(|sign| rest.starts_with(sign)) {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Self { tokens, next: 0 }
    }

    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).copied()
    }

    pub(crate) fn word(&mut self) -> Result<&'a str, String> {
        let word = self.peek().ok_or("the text ends too early")?;
        self.next += 1;
        Ok(word)
    }

    /// Takes the next token if it is this one.
    pub(crate) fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) { Ok(()) } else { Err(format!("expected `{token}`, found {self}")) }
    }

    pub(crate) fn value(&mut self) -> Result<Value, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no value"))
    }

    /// `0:rax`, `x` or `[x]`.
    pub(crate) fn place(&mut self) -> Result<Place, String> {
        if self.accept("[") {
            let name = self.word()?.to_owned();
            self.expect("]")?;
            return Ok(Place::Memory(name));
        }
        let word = self.word()?;
        if !self.accept(":") {
            return Ok(Place::Memory(word.to_owned()));
        }
        let thread = word.parse().map_err(|_| format!("`{word}` is no thread"))?;
        let name = self.word()?;
        let register = Register::named(name).ok_or_else(|| format!("`{name}` is no register"))?;
        Ok(Place::Register(thread, register))
    }

    pub(crate) fn end(&self) -> Result<(), String> {
        if self.peek().is_none() { Ok(()) } else { Err(format!("expected the end, found {self}")) }
    }
}

/// What is left to read.
impl fmt::Display for Tokens<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.tokens[self.next..].join(" "))
    }
}
