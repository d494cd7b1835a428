//! Registers, and how assembly calls them.

use std::fmt;
use std::str::FromStr;

/// An integer or floating-point register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Register {
    /// `x0` to `x31`.
    X(u8),
    /// `f0` to `f31`.
    F(u8),
}

const INTEGER: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

const FLOATING: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
    "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
    "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

impl Register {
    /// The register that is always 0.
    pub const ZERO: Register = Register::X(0);

    /// A number below [`Register::COUNT`], one for each register.
    pub const fn index(self) -> usize {
        match self {
            Register::X(number) => (number & 31) as usize,
            Register::F(number) => 32 + (number & 31) as usize,
        }
    }

    /// How many registers there are.
    pub const COUNT: usize = 64;
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Register::X(number) => f.write_str(INTEGER[usize::from(number & 31)]),
            Register::F(number) => f.write_str(FLOATING[usize::from(number & 31)]),
        }
    }
}

/// A name that no register has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownRegister;

impl FromStr for Register {
    type Err = UnknownRegister;

    /// By the name of the calling convention (`a0`, `fp`, `fs1`) or by number (`x10`, `f9`).
    fn from_str(name: &str) -> Result<Self, UnknownRegister> {
        let at = |names: &[&str; 32]| names.iter().position(|each| *each == name);
        let numbered = |letter: char| {
            let number = name.strip_prefix(letter)?;
            let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<u8>().ok().filter(|&number| is_plain && number < 32)
        };
        let found = match name {
            "fp" => Some(Register::X(8)),
            _ => None,
        };
        let integer = || at(&INTEGER).map(|number| number as u8).or_else(|| numbered('x'));
        let floating = || at(&FLOATING).map(|number| number as u8).or_else(|| numbered('f'));
        found
            .or_else(|| integer().map(Register::X))
            .or_else(|| floating().map(Register::F))
            .ok_or(UnknownRegister)
    }
}
