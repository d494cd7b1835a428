//! What an instruction does, as data: made from its row of the table and the fields of its word.
//!
//! Syntactic dependencies are read off here: an access has the register of its address and, if it
//! writes, the register of its data; everything else carries what its sources depend on to what it
//! writes. That is the definition of the chapter on RVWMO of the unprivileged manual.

use crate::compressed::expand;
use crate::register::Register;
use crate::table::{Form, Row, TABLE};

/// How wide integer registers are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Xlen {
    /// 32 bits.
    Rv32,
    /// 64 bits.
    Rv64,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its name, without `.aq` and `.rl`.
    pub name: &'static str,
    /// What it does beside computing.
    pub effect: Effect,
    /// The register that it writes; never `x0`, which stays 0.
    pub writes: Option<Register>,
    /// How many bytes it takes: 2 or 4.
    pub length: u8,
    pub(crate) form: Form,
    pub(crate) fields: Fields,
}

/// What an instruction does beside computing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: its result depends on its sources.
    Compute,
    /// It accesses memory.
    Access(Access),
    /// It orders accesses.
    Fence(Fence),
    /// `fence.i`: it orders instruction fetches.
    FenceInstructions,
    /// It goes on here or there, by its sources.
    Branch,
    /// It goes on elsewhere: where its source says, if it has one.
    Jump,
    /// It exchanges a control and status register with its source.
    Csr {
        /// Which one.
        number: u16,
    },
    /// It is about privilege, interrupts or translations.
    System,
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// What kind of access it is.
    pub kind: AccessKind,
    /// The register with the address …
    pub base: Register,
    /// … to which this is added.
    pub offset: i64,
    /// Its bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// The register with what is written, or what an AMO combines with what it read.
    pub data: Option<Register>,
    /// It has acquire semantics.
    pub acquire: bool,
    /// It has release semantics.
    pub release: bool,
}

/// A kind of access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// `lr`
    LoadReserved,
    /// `sc`
    StoreConditional,
    /// An atomic read-modify-write. Its register gets what it read.
    Amo,
    /// `amocas`: an AMO that writes only if it read what its register held.
    AmoCompare,
}

/// What a fence orders: accesses before it, and accesses after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fence {
    /// Earlier reads.
    pub before_reads: bool,
    /// Earlier writes.
    pub before_writes: bool,
    /// Later reads.
    pub after_reads: bool,
    /// Later writes.
    pub after_writes: bool,
    /// `fence.tso`: earlier writes only before later writes.
    pub tso: bool,
}

/// The fields of a word of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fields(pub(crate) u32);

impl Fields {
    pub(crate) fn bits(self, from: u32, count: u32) -> u32 {
        (self.0 >> from) & ((1 << count) - 1)
    }

    fn signed(self, value: u32, count: u32) -> i64 {
        let shift = 64 - count;
        ((u64::from(value) << shift) as i64) >> shift
    }

    pub(crate) fn rd(self) -> u8 {
        self.bits(7, 5) as u8
    }

    pub(crate) fn rs1(self) -> u8 {
        self.bits(15, 5) as u8
    }

    pub(crate) fn rs2(self) -> u8 {
        self.bits(20, 5) as u8
    }

    pub(crate) fn rs3(self) -> u8 {
        self.bits(27, 5) as u8
    }

    pub(crate) fn immediate(self) -> i64 {
        self.signed(self.bits(20, 12), 12)
    }

    pub(crate) fn store_offset(self) -> i64 {
        self.signed(self.bits(25, 7) << 5 | self.bits(7, 5), 12)
    }

    pub(crate) fn branch_offset(self) -> i64 {
        let bits = self.bits(31, 1) << 12
            | self.bits(7, 1) << 11
            | self.bits(25, 6) << 5
            | self.bits(8, 4) << 1;
        self.signed(bits, 13)
    }

    pub(crate) fn jump_offset(self) -> i64 {
        let bits = self.bits(31, 1) << 20
            | self.bits(12, 8) << 12
            | self.bits(20, 1) << 11
            | self.bits(21, 10) << 1;
        self.signed(bits, 21)
    }
}

/// The instruction of a word; of a compressed one, the lower 16 bits count. `None` if the table
/// does not have it.
pub fn decode(word: u32, xlen: Xlen) -> Option<Instruction> {
    let length = if word & 3 == 3 { 4 } else { 2 };
    let word = if length == 2 { expand(word as u16, xlen)? } else { word };
    let fits = |row: &&Row| word & row.mask == row.bits && (!row.wide || xlen == Xlen::Rv64);
    let row = TABLE.iter().find(fits)?;
    let fields = Fields(word);
    let writes = writes(row.form, fields).filter(|&register| register != Register::ZERO);
    Some(Instruction {
        name: row.name,
        effect: effect(row.form, fields),
        writes,
        length,
        form: row.form,
        fields,
    })
}

fn writes(form: Form, fields: Fields) -> Option<Register> {
    match form {
        Form::Register
        | Form::Immediate
        | Form::Shift
        | Form::Upper
        | Form::Jal
        | Form::Jalr
        | Form::Load(..)
        | Form::Csr
        | Form::CsrImmediate
        | Form::LoadReserved
        | Form::StoreConditional
        | Form::Amo
        | Form::AmoCompare
        | Form::FloatCompare
        | Form::FloatToInteger
        | Form::FloatMove => Some(Register::X(fields.rd())),
        Form::LoadFloat(_)
        | Form::FloatFused
        | Form::FloatRounded
        | Form::Float
        | Form::FloatUnary
        | Form::IntegerToFloat
        | Form::IntegerMove => Some(Register::F(fields.rd())),
        Form::Branch
        | Form::Store(_)
        | Form::StoreFloat(_)
        | Form::Fence
        | Form::FenceTso
        | Form::FenceInstructions
        | Form::System
        | Form::FenceOfTranslations => None,
    }
}

fn effect(form: Form, fields: Fields) -> Effect {
    let plain = |kind, offset, size, data| {
        let base = Register::X(fields.rs1());
        Effect::Access(Access { kind, base, offset, size, data, acquire: false, release: false })
    };
    let atomic = |kind, data| {
        Effect::Access(Access {
            kind,
            base: Register::X(fields.rs1()),
            offset: 0,
            size: 1 << fields.bits(12, 2),
            data,
            acquire: fields.bits(26, 1) == 1,
            release: fields.bits(25, 1) == 1,
        })
    };
    let integer = Some(Register::X(fields.rs2()));
    let float = Some(Register::F(fields.rs2()));
    match form {
        Form::Load(size, _) | Form::LoadFloat(size) => {
            plain(AccessKind::Load, fields.immediate(), size, None)
        }
        Form::Store(size) => plain(AccessKind::Store, fields.store_offset(), size, integer),
        Form::StoreFloat(size) => plain(AccessKind::Store, fields.store_offset(), size, float),
        Form::LoadReserved => atomic(AccessKind::LoadReserved, None),
        Form::StoreConditional => atomic(AccessKind::StoreConditional, integer),
        Form::Amo => atomic(AccessKind::Amo, integer),
        Form::AmoCompare => atomic(AccessKind::AmoCompare, integer),
        Form::Fence => Effect::Fence(Fence {
            before_reads: fields.bits(25, 1) == 1,
            before_writes: fields.bits(24, 1) == 1,
            after_reads: fields.bits(21, 1) == 1,
            after_writes: fields.bits(20, 1) == 1,
            tso: false,
        }),
        Form::FenceTso => Effect::Fence(Fence {
            before_reads: true,
            before_writes: true,
            after_reads: true,
            after_writes: true,
            tso: true,
        }),
        Form::FenceInstructions => Effect::FenceInstructions,
        Form::Branch => Effect::Branch,
        Form::Jal | Form::Jalr => Effect::Jump,
        Form::Csr | Form::CsrImmediate => Effect::Csr { number: fields.bits(20, 12) as u16 },
        Form::System | Form::FenceOfTranslations => Effect::System,
        _ => Effect::Compute,
    }
}

impl Instruction {
    /// The registers that it reads, `x0` among them where the encoding names it.
    pub fn reads(&self) -> impl Iterator<Item = Register> + use<> {
        let x = Register::X;
        let f = Register::F;
        let (rs1, rs2, rs3) = (self.fields.rs1(), self.fields.rs2(), self.fields.rs3());
        let sources = match self.form {
            Form::Register
            | Form::Branch
            | Form::Store(_)
            | Form::StoreConditional
            | Form::Amo
            | Form::FenceOfTranslations => [Some(x(rs1)), Some(x(rs2)), None],
            Form::AmoCompare => [Some(x(rs1)), Some(x(rs2)), Some(x(self.fields.rd()))],
            Form::StoreFloat(_) => [Some(x(rs1)), Some(f(rs2)), None],
            Form::Immediate
            | Form::Shift
            | Form::Jalr
            | Form::Load(..)
            | Form::LoadFloat(_)
            | Form::Csr
            | Form::LoadReserved
            | Form::IntegerToFloat
            | Form::IntegerMove => [Some(x(rs1)), None, None],
            Form::FloatFused => [Some(f(rs1)), Some(f(rs2)), Some(f(rs3))],
            Form::FloatRounded | Form::Float | Form::FloatCompare => {
                [Some(f(rs1)), Some(f(rs2)), None]
            }
            Form::FloatUnary | Form::FloatToInteger | Form::FloatMove => [Some(f(rs1)), None, None],
            Form::Upper
            | Form::Jal
            | Form::Fence
            | Form::FenceTso
            | Form::FenceInstructions
            | Form::CsrImmediate
            | Form::System => [None; 3],
        };
        sources.into_iter().flatten()
    }

    /// Whether it may raise floating-point flags, which add up in `fflags`.
    pub fn raises_float_flags(&self) -> bool {
        match self.form {
            Form::FloatFused
            | Form::FloatRounded
            | Form::FloatUnary
            | Form::FloatCompare
            | Form::FloatToInteger
            | Form::IntegerToFloat => true,
            Form::Float => !self.name.starts_with("fsgnj"),
            _ => false,
        }
    }

    /// Whether it rounds as the register `frm` says.
    pub fn rounds_dynamically(&self) -> bool {
        let rounded = matches!(
            self.form,
            Form::FloatFused
                | Form::FloatRounded
                | Form::FloatUnary
                | Form::FloatToInteger
                | Form::IntegerToFloat
        );
        rounded && self.fields.bits(12, 3) == 7
    }

    /// Whether a load extends what it read by its sign; loads of floating-point registers fill with
    /// ones.
    pub fn extends_sign(&self) -> bool {
        match self.form {
            Form::Load(_, signed) => signed,
            Form::LoadReserved | Form::Amo | Form::AmoCompare => true,
            _ => false,
        }
    }
}
