//! What an architecture has words for: sizes, registers and the types of C.

use std::fmt;

/// The assembly languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// 32 bits; the destination comes first: `MOV [x],$1`.
    X86,
    /// 64 bits; the source comes first: `movl $1,(x)`.
    X86_64,
    /// 64 bits: `sw x5,0(x6)`.
    RiscV,
    /// 64 bits: `STR W0,[X1]`.
    AArch64,
}

impl Architecture {
    /// What litmus tests begin with.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86 => "X86",
            Architecture::X86_64 => "X86_64",
            Architecture::RiscV => "RISCV",
            Architecture::AArch64 => "AArch64",
        }
    }

    /// All of them.
    pub const ALL: [Architecture; 4] =
        [Architecture::X86, Architecture::X86_64, Architecture::RiscV, Architecture::AArch64];

    /// Whether it is an x86.
    pub fn is_x86(self) -> bool {
        matches!(self, Architecture::X86 | Architecture::X86_64)
    }

    /// The widest size of a register.
    pub fn word(self) -> Size {
        match self {
            Architecture::X86 => Size::Long,
            Architecture::X86_64 | Architecture::RiscV | Architecture::AArch64 => Size::Quad,
        }
    }

    /// A register as it is listed in states.
    pub fn register(self, register: Register) -> String {
        match self {
            Architecture::X86 => register.name(Size::Long).to_ascii_uppercase(),
            Architecture::X86_64 => register.name(Size::Quad).to_owned(),
            Architecture::RiscV => format!("x{}", register.0),
            Architecture::AArch64 if Some(register) == self.zero() => "XZR".to_owned(),
            Architecture::AArch64 => format!("X{}", register.0),
        }
    }

    /// The register of a name in any case, and how much of it is meant. Registers that are always
    /// zero are [`Architecture::zero`].
    pub fn register_named(self, name: &str) -> Option<(Register, Size)> {
        match self {
            Architecture::X86 | Architecture::X86_64 => Register::named(name),
            Architecture::RiscV => {
                let name = name.to_ascii_lowercase();
                let named = RISCV_NAMES.iter().position(|known| *known == name);
                let numbered = || name.strip_prefix('x').and_then(number);
                let fp = (name == "fp").then_some(8);
                let found = named.map(|at| at as u8).or(fp).or_else(numbered)?;
                Some((Register(found), Size::Quad))
            }
            Architecture::AArch64 => {
                let name = name.to_ascii_lowercase();
                let size = match name.as_bytes().first() {
                    Some(b'x') => Size::Quad,
                    Some(b'w') => Size::Long,
                    _ => return None,
                };
                let found = match &name[1..] {
                    "zr" => 31,
                    digits => number(digits).filter(|&found| found < 31)?,
                };
                Some((Register(found), size))
            }
        }
    }

    /// The register that is always zero, if there is one.
    pub fn zero(self) -> Option<Register> {
        match self {
            Architecture::X86 | Architecture::X86_64 => None,
            Architecture::RiscV => Some(Register(0)),
            Architecture::AArch64 => Some(Register(31)),
        }
    }
}

/// The registers of RISC-V by what its calling convention uses them for.
const RISCV_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// The number of a register.
fn number(digits: &str) -> Option<u8> {
    let plain = digits == "0" || !digits.starts_with('0');
    let found: u8 = digits.parse().ok().filter(|_| plain && !digits.starts_with('+'))?;
    (found < 32).then_some(found)
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type of C, as far as it matters to a word of memory or a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// How wide it is.
    pub size: Size,
    /// Whether its values are shown with a sign.
    pub signed: bool,
    /// Whether it is a pointer.
    pub pointer: bool,
}

impl Type {
    /// `int`, which everything is that is not declared.
    pub const INT: Type = Type { size: Size::Long, signed: true, pointer: false };

    /// The types that can be declared.
    pub const NAMED: [(&'static str, Type); 15] = {
        const fn of(size: Size, signed: bool) -> Type {
            Type { size, signed, pointer: false }
        }
        [
            ("int", Type::INT),
            ("char", of(Size::Byte, true)),
            ("short", of(Size::Word, true)),
            ("long", of(Size::Quad, true)),
            ("unsigned", of(Size::Long, false)),
            ("int8_t", of(Size::Byte, true)),
            ("uint8_t", of(Size::Byte, false)),
            ("int16_t", of(Size::Word, true)),
            ("uint16_t", of(Size::Word, false)),
            ("int32_t", of(Size::Long, true)),
            ("uint32_t", of(Size::Long, false)),
            ("int64_t", of(Size::Quad, true)),
            ("uint64_t", of(Size::Quad, false)),
            ("intptr_t", of(Size::Quad, true)),
            ("uintptr_t", of(Size::Quad, false)),
        ]
    };

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        let plain = Type { pointer: false, ..self };
        Type::NAMED.iter().find(|row| row.1 == plain).map_or("int", |row| row.0)
    }

    /// A pointer, which is as wide as the machine's addresses.
    pub(crate) fn pointer(architecture: Architecture) -> Type {
        Type { size: architecture.word(), signed: true, pointer: true }
    }
}

/// How many bytes an instruction moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// 8 bits: `movb`, `%al`.
    Byte,
    /// 16 bits: `movw`, `%ax`.
    Word,
    /// 32 bits: `movl`, `%eax`.
    Long,
    /// 64 bits: `movq`, `%rax`.
    Quad,
}

impl Size {
    /// All of them.
    pub const ALL: [Size; 4] = [Size::Byte, Size::Word, Size::Long, Size::Quad];

    /// How many bits.
    pub fn bits(self) -> u32 {
        8 << (self as u32)
    }

    /// The low bits of a value, as many as fit.
    pub fn cut(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits()))
    }

    /// The low bits of a value as a signed number.
    pub fn signed(self, value: u64) -> i64 {
        let unused = 64 - self.bits();
        ((value << unused) as i64) >> unused
    }

    /// The letter that instructions of this size end in.
    pub fn suffix(self) -> char {
        ['b', 'w', 'l', 'q'][self as usize]
    }
}

/// A general-purpose register, whatever part of it is meant. Of an x86, 0 is `rax`, and they are
/// ordered as herd7 lists them; of the others, they have their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register(pub u8);

impl Register {
    /// How many an x86 has.
    pub const COUNT: usize = 16;
    /// `rax`, which `cmpxchg` compares with.
    pub const ACCUMULATOR: Register = Register(0);

    /// Their names, narrow to wide.
    const NAMES: [[&'static str; 4]; Self::COUNT] = [
        ["al", "ax", "eax", "rax"],
        ["bl", "bx", "ebx", "rbx"],
        ["cl", "cx", "ecx", "rcx"],
        ["dl", "dx", "edx", "rdx"],
        ["sil", "si", "esi", "rsi"],
        ["dil", "di", "edi", "rdi"],
        ["bpl", "bp", "ebp", "rbp"],
        ["spl", "sp", "esp", "rsp"],
        ["r8b", "r8w", "r8d", "r8"],
        ["r9b", "r9w", "r9d", "r9"],
        ["r10b", "r10w", "r10d", "r10"],
        ["r11b", "r11w", "r11d", "r11"],
        ["r12b", "r12w", "r12d", "r12"],
        ["r13b", "r13w", "r13d", "r13"],
        ["r14b", "r14w", "r14d", "r14"],
        ["r15b", "r15w", "r15d", "r15"],
    ];

    /// The register of an x86 of a name in any case, and how much of it is meant.
    pub fn named(name: &str) -> Option<(Register, Size)> {
        Register::NAMES.iter().enumerate().find_map(|(register, names)| {
            let size = names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
            Some((Register(register as u8), Size::ALL[size]))
        })
    }

    /// What this much of it is called, in lower case.
    pub fn name(self, size: Size) -> &'static str {
        Register::NAMES[self.0 as usize][size as usize]
    }
}
