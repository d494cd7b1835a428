//! A litmus test as data: what was declared, what each thread does, and what is asked.
//!
//! Both assembly languages become the same instructions here: the destination is named, not implied
//! by the order of operands, so that whatever enumerates, prints or assembles a test need not know
//! how it was spelled. Names are ids: a location is an index into [`Litmus::locations`], a jump's
//! target an index into the instructions of its thread.

use std::fmt;

use crate::condition::{Condition, Proposition};

/// A litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Litmus {
    /// Which assembly language it is written in.
    pub architecture: Architecture,
    /// What it is called.
    pub name: String,
    /// The quoted line below the name.
    pub description: Option<String>,
    /// Lines of the form `Key=value` above the initial state.
    pub metadata: Vec<(String, String)>,
    /// The memory it works on, in the order in which the file names it.
    pub locations: Vec<Location>,
    /// What each thread does.
    pub threads: Vec<Thread>,
    /// What `locations [...]` asks to be shown.
    pub shown: Vec<Place>,
    /// Final states that do not satisfy this are left out.
    pub filter: Option<Proposition>,
    /// What is asked about the final states.
    pub condition: Condition,
}

/// The assembly languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// 32 bits; the destination comes first: `MOV [x],$1`.
    X86,
    /// 64 bits; the source comes first: `movl $1,(x)`.
    X86_64,
}

/// Which location: an index into [`Litmus::locations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// A word of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// What it is called.
    pub name: String,
    /// Its type, where the test declares one.
    pub kind: Option<Type>,
    /// What it holds at first.
    pub initial: Constant,
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

/// A value that is written down in a test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// A number. Numbers above the signed range are the negative ones of the same bits.
    Number(i64),
    /// The address of a location.
    Address(LocationId),
}

/// One thread: its registers at first, and its code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// Registers that the initial state names. The others hold 0.
    pub registers: Vec<InitialRegister>,
    /// Its instructions. It ends after the last.
    pub code: Vec<Instruction>,
    /// Labels, each with the index of the instruction it stands before.
    pub labels: Vec<(String, u32)>,
}

/// What a register holds at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InitialRegister {
    /// Which register.
    pub register: Register,
    /// Its type, where the test declares one.
    pub kind: Option<Type>,
    /// Its value.
    pub value: Constant,
}

/// A general-purpose register, whatever part of it is meant: 0 is `rax`. They are ordered as
/// herd7 lists them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register(pub u8);

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// Whether it has the `lock` prefix.
    pub locked: bool,
    /// How many bytes it moves; of no meaning for jumps and fences.
    pub size: Size,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `mov`
    Move {
        /// Register or memory.
        to: Operand,
        /// Not memory if `to` is.
        from: Operand,
    },
    /// `add` and its like: reads and writes `to`, and sets the flags.
    Binary {
        /// What is computed.
        operator: Binary,
        /// Register or memory.
        to: Operand,
        /// Not memory if `to` is.
        from: Operand,
    },
    /// `inc` and its like.
    Unary {
        /// What is computed.
        operator: Unary,
        /// Register or memory.
        to: Operand,
    },
    /// `cmp` and `test`: sets the flags and nothing else.
    Compare {
        /// `Binary::Subtract` for `cmp`, `Binary::And` for `test`.
        operator: Binary,
        /// The left side: `cmp` computes `left - right`.
        left: Operand,
        /// The right side.
        right: Operand,
    },
    /// `xchg`, which is atomic with or without `lock` if `with` is memory.
    Exchange {
        /// The register.
        register: Register,
        /// Register or memory.
        with: Operand,
    },
    /// `xadd`
    ExchangeAdd {
        /// Gets what `to` held.
        register: Register,
        /// Register or memory; gets the sum.
        to: Operand,
    },
    /// `cmpxchg`: if `to` holds what `rax` holds it gets `register`, else `rax` gets what it holds.
    CompareExchange {
        /// What is written.
        register: Register,
        /// Memory.
        to: Operand,
    },
    /// `jmp`, `je` and its like.
    Jump {
        /// When it is taken; `None` is always.
        when: Option<Flag>,
        /// The index of an instruction, or one past the last.
        target: u32,
    },
    /// `mfence`, `sfence`, `lfence`
    Fence(Fence),
    /// `nop`, `endbr64` and its like.
    Nothing,
    /// `ret`: the thread ends.
    Return,
}

/// What an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A value in the code.
    Immediate(Constant),
    /// A register.
    Register(Register),
    /// Memory.
    Memory(Memory),
}

/// A place in memory: the sum of its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The address of this location.
    pub location: Option<LocationId>,
    /// What this register holds.
    pub base: Option<Register>,
    /// What this register holds, times this.
    pub index: Option<(Register, u8)>,
    /// A number.
    pub displacement: i64,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Unary {
    Increment,
    Decrement,
    Negate,
    Not,
}

/// What a conditional jump asks of the flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Flag {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Below,
    BelowOrEqual,
    Above,
    AboveOrEqual,
    Sign,
    NoSign,
    Overflow,
    NoOverflow,
}

/// Fences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// `mfence`: everything before it comes before everything after it.
    Full,
    /// `sfence`: writes before it come before writes after it.
    Store,
    /// `lfence`: reads before it come before everything after it.
    Load,
}

/// Something with a value at the end, in the order in which herd7 lists them: registers by thread,
/// then memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A register of a thread.
    Register(u32, Register),
    /// Memory.
    Memory(LocationId),
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
        let size = match architecture {
            Architecture::X86 => Size::Long,
            Architecture::X86_64 => Size::Quad,
        };
        Type { size, signed: true, pointer: true }
    }
}

impl Register {
    /// How many there are.
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

    /// The register of a name in any case, and how much of it is meant.
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

impl Architecture {
    /// What litmus tests begin with.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86 => "X86",
            Architecture::X86_64 => "X86_64",
        }
    }

    /// The widest size of a register.
    pub fn word(self) -> Size {
        match self {
            Architecture::X86 => Size::Long,
            Architecture::X86_64 => Size::Quad,
        }
    }

    /// A register as it is listed in states.
    pub fn register(self, register: Register) -> String {
        match self {
            Architecture::X86 => register.name(Size::Long).to_ascii_uppercase(),
            Architecture::X86_64 => register.name(Size::Quad).to_owned(),
        }
    }
}

impl Operation {
    /// Its operands that may be registers or memory, but for registers that it must have.
    pub(crate) fn operands(&self) -> [Option<Operand>; 2] {
        match *self {
            Operation::Move { to, from } | Operation::Binary { to, from, .. } => {
                [Some(to), Some(from)]
            }
            Operation::Compare { left, right, .. } => [Some(left), Some(right)],
            Operation::Unary { to, .. }
            | Operation::ExchangeAdd { to, .. }
            | Operation::CompareExchange { to, .. } => [Some(to), None],
            Operation::Exchange { with, .. } => [Some(with), None],
            Operation::Jump { .. }
            | Operation::Fence(_)
            | Operation::Nothing
            | Operation::Return => [None, None],
        }
    }
}

impl Instruction {
    /// Where it accesses memory.
    pub fn memory(&self) -> impl Iterator<Item = Memory> + use<> {
        self.operation.operands().into_iter().flatten().filter_map(|operand| match operand {
            Operand::Memory(memory) => Some(memory),
            Operand::Immediate(_) | Operand::Register(_) => None,
        })
    }

    /// The registers that it has to do with, some perhaps more than once.
    pub fn registers(&self) -> impl Iterator<Item = Register> + use<> {
        let operands = self.operation.operands().into_iter().flatten();
        let named = operands.flat_map(|operand| match operand {
            Operand::Immediate(_) => [None, None],
            Operand::Register(register) => [Some(register), None],
            Operand::Memory(memory) => [memory.base, memory.index.map(|(index, _)| index)],
        });
        named.chain(self.written()).flatten()
    }

    /// The registers that it may change.
    pub fn written(&self) -> [Option<Register>; 2] {
        let register = |operand: Operand| match operand {
            Operand::Register(register) => Some(register),
            Operand::Immediate(_) | Operand::Memory(_) => None,
        };
        match self.operation {
            Operation::Move { to, .. }
            | Operation::Binary { to, .. }
            | Operation::Unary { to, .. } => [register(to), None],
            Operation::Exchange { register: one, with: to }
            | Operation::ExchangeAdd { register: one, to } => [Some(one), register(to)],
            Operation::CompareExchange { register: one, .. } => {
                [Some(Register::ACCUMULATOR), Some(one)]
            }
            Operation::Compare { .. }
            | Operation::Jump { .. }
            | Operation::Fence(_)
            | Operation::Nothing
            | Operation::Return => [None, None],
        }
    }
}

impl Constant {
    /// Its bits. The address of a location is a number that stands for it, the same in every
    /// test, model and machine.
    pub fn bits(self) -> u64 {
        crate::lower::word(self)
    }
}

impl Litmus {
    /// The name of a location.
    pub fn location(&self, id: LocationId) -> &str {
        &self.locations[id.0 as usize].name
    }

    /// A place as it is listed in states: `0:rax`, `[x]`.
    pub fn place(&self, place: Place) -> String {
        match place {
            Place::Register(thread, register) => {
                format!("{thread}:{}", self.architecture.register(register))
            }
            Place::Memory(id) => format!("[{}]", self.location(id)),
        }
    }

    /// What a final state shows: what the test lists and what its condition and filter speak of,
    /// in the order in which herd7 lists it.
    pub fn observed(&self) -> Vec<Place> {
        let mut places = self.shown.clone();
        places.extend(self.condition.proposition.places());
        places.extend(self.filter.iter().flat_map(Proposition::places));
        let key = |place: &Place| match *place {
            Place::Register(thread, register) => (0, thread, register.0, String::new()),
            Place::Memory(id) => (1, 0, 0, self.location(id).to_owned()),
        };
        places.sort_by_cached_key(key);
        places.dedup();
        places
    }

    /// A constant as it is written: `-1`, `x`.
    pub(crate) fn constant(&self, constant: Constant) -> String {
        match constant {
            Constant::Number(number) => number.to_string(),
            Constant::Address(id) => self.location(id).to_owned(),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
