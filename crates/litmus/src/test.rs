//! A litmus test as data: what was declared, what each thread does, and what is asked.
//!
//! Both assembly languages of the x86 become the same instructions here, and so do RISC-V and AArch64: the destination is named, not implied
//! by the order of operands, so that whatever enumerates, prints or assembles a test need not know
//! how it was spelled (`test/instruction.rs`, `test/risc.rs`, `test/word.rs`). Names are ids: a location is an index
//! into [`Litmus::locations`], a jump's target an index into the instructions of its thread.

mod instruction;
mod risc;
mod word;

use crate::condition::{Condition, Proposition};

pub use instruction::{Binary, Fence, Flag, Instruction, Memory, Operand, Operation, Unary};
pub use risc::{
    AtomicChange, BranchCondition, Comparison, Extension, RiscAddress, RiscFence, RiscInstruction,
    RiscOperation, RiscOperator, RiscSource, SelectChange, Shift,
};
pub use word::{Architecture, Register, Size, Type};

/// A litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Litmus {
    /// Which assembly language it is written in.
    pub architecture: Architecture,
    /// The name.
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
    /// The condition on final states.
    pub condition: Condition,
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
            Place::Memory(id) => match &self.locations[id.0 as usize].array {
                Some(_) => self.location(id).to_owned(),
                None => format!("[{}]", self.location(id)),
            },
        }
    }

    /// The name of the address of a location: that of an array for its first element, and with the
    /// bytes between them for the others.
    pub(crate) fn address_name(&self, id: LocationId, offset: u64) -> String {
        let location = &self.locations[id.0 as usize];
        let (name, offset) = match &location.array {
            None => (&location.name, offset),
            Some(array) => (&array.name, offset + array.offset(id)),
        };
        match offset {
            0 => name.clone(),
            offset => format!("{name}+{offset}"),
        }
    }

    /// The places of a final state: those that the test lists, and those in its condition and
    /// filter, in the order of herd7.
    pub fn observed(&self) -> Vec<Place> {
        let mut places = self.shown.clone();
        places.extend(self.condition.proposition.places());
        places.extend(self.filter.iter().flat_map(Proposition::places));
        let key = |place: &Place| match *place {
            Place::Register(thread, register) => (0, thread, register.0, String::new(), 0),
            // Elements are in the order of their array.
            Place::Memory(id) => match &self.locations[id.0 as usize].array {
                None => (1, 0, 0, self.location(id).to_owned(), 0),
                Some(array) => (1, 0, 0, array.name.clone(), id.0),
            },
        };
        places.sort_by_cached_key(key);
        places.dedup();
        places
    }

    /// What a location is called in a trace, where names have no brackets.
    pub(crate) fn trace_name(&self, id: LocationId) -> String {
        let location = &self.locations[id.0 as usize];
        match location.array {
            None => location.name.clone(),
            Some(_) => format!("{:#x}", crate::lower::address(id)),
        }
    }

    /// A constant as it is written: `-1`, `x`.
    pub(crate) fn constant(&self, constant: Constant) -> String {
        match constant {
            Constant::Number(number) => number.to_string(),
            Constant::Address(id) => self.address_name(id, 0),
        }
    }
}

/// Which location: an index into [`Litmus::locations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// A word of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The name.
    pub name: String,
    /// Its type, where the test declares one.
    pub kind: Option<Type>,
    /// The initial value.
    pub initial: Constant,
    /// The array that it is an element of.
    pub array: Option<Array>,
}

/// An array. Its elements are locations that follow each other, with addresses that do so, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// The name.
    pub name: String,
    /// Its first element.
    pub first: LocationId,
    /// How many elements it has.
    pub count: u32,
    /// How wide each is.
    pub size: Size,
}

impl Array {
    /// How many bytes an element is behind the first.
    pub(crate) fn offset(&self, id: LocationId) -> u64 {
        u64::from(id.0 - self.first.0) * u64::from(self.size.bits() / 8)
    }
}

/// A value that is written down in a test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// A number. Numbers above the signed range are the negative ones with the same bits.
    Number(i64),
    /// The address of a location.
    Address(LocationId),
}

impl Constant {
    /// The bits of the value. The address of a location is a fixed number, the same in every test,
    /// model and machine.
    pub fn bits(self) -> u64 {
        crate::lower::word(self)
    }
}

/// One thread: its registers at first, and its code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// Registers that the initial state names. The others hold 0.
    pub registers: Vec<InitialRegister>,
    /// Its instructions. It ends after the last.
    pub code: Code,
    /// Labels, each with the index of the instruction it stands before.
    pub labels: Vec<(String, u32)>,
}

impl Thread {
    /// Its instructions, where they are those of an x86; none otherwise.
    pub fn x86(&self) -> &[Instruction] {
        match &self.code {
            Code::X86(code) => code,
            Code::Risc(_) => &[],
        }
    }

    /// Its instructions, where they are those of RISC-V or AArch64; none otherwise.
    pub fn risc(&self) -> &[RiscInstruction] {
        match &self.code {
            Code::X86(_) => &[],
            Code::Risc(code) => code,
        }
    }

    /// The number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.x86().len() + self.risc().len()
    }
}

/// The instructions of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// Of an x86.
    X86(Vec<Instruction>),
    /// Of RISC-V or AArch64.
    Risc(Vec<RiscInstruction>),
}

impl Default for Code {
    fn default() -> Self {
        Code::X86(Vec::new())
    }
}

/// The initial value of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InitialRegister {
    /// Which register.
    pub register: Register,
    /// Its type, where the test declares one.
    pub kind: Option<Type>,
    /// Its value.
    pub value: Constant,
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
