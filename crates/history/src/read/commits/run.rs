//! What all harts did, from what the lines of a log say: each instruction with what it did to
//! memory, its address, size and values.
//!
//! Values are taken from where the log has them: a store from `mem`, a load from the register that
//! it wrote, without the extension of the sign. What a log leaves out is found out where that is
//! certain: addresses and stored values from registers whose value the log has recorded before, the
//! result of an AMO from what it read and its operand, and the other way round where its operation
//! can be undone. Else the line is refused, with what to do.

use riscv::{Access, AccessKind, Effect, Instruction, Register, Xlen, decode};
use rustc_hash::FxHashMap;

use super::CommitOptions;
use super::words::{CommitRecord, Plain};

/// An instruction that a hart committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commit {
    /// The number of its hart.
    pub(super) hart: u16,
    /// How many bytes it accessed.
    pub(super) size: u8,
    pub(super) action: Action,
    pub(super) line: u32,
    /// Its instruction, as a number in [`Run::code`]; [`Commit::NO_CODE`] if the log has none.
    pub(super) code: u32,
    pub(super) address: u64,
    /// What it read, and what it wrote.
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) pc: Option<u64>,
    pub(super) cycle: Option<u64>,
}

impl Commit {
    pub(super) const NO_CODE: u32 = u32::MAX;

    pub(super) fn reads(&self) -> bool {
        use Action::{Amo, Load, LoadReserved};
        matches!(self.action, Load | LoadReserved | Amo)
    }

    pub(super) fn writes(&self) -> bool {
        matches!(self.action, Action::Store | Action::StoreConditional | Action::Amo)
    }

    pub(super) fn accesses(&self) -> bool {
        self.reads() || self.writes() || self.action == Action::LoadOfUnknown
    }
}

/// What an instruction did to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Nothing; a store-conditional that failed, for example.
    Nothing,
    Load,
    /// A load whose value nobody saw, since it went to `x0`.
    LoadOfUnknown,
    Store,
    LoadReserved,
    /// One that succeeded.
    StoreConditional,
    Amo,
    Fence,
}

/// What all harts did.
#[derive(Default)]
pub(super) struct Run {
    pub(super) commits: Vec<Commit>,
    /// The instructions, each once.
    pub(super) code: Vec<Instruction>,
    known_words: FxHashMap<(u32, bool), u32>,
    /// What the log calls the harts.
    pub(super) harts: Vec<u64>,
    hart_numbers: FxHashMap<u64, u16>,
    registers: Vec<Registers>,
    /// Whether the log has all instructions, so that registers can be followed.
    pub(super) complete: bool,
    /// Whether the lines are in the order of commits, also between harts.
    pub(super) in_order: bool,
    /// What memory holds by the log so far, for AMOs whose result nobody saw.
    image: FxHashMap<u64, u8>,
}

/// What is known of the registers of a hart.
struct Registers([Option<u64>; Register::COUNT]);

impl Registers {
    fn value(&self, register: Register) -> Option<u64> {
        if register == Register::ZERO { Some(0) } else { self.0[register.index()] }
    }
}

/// The lowest bytes of a value.
pub(super) fn low(value: u64, size: u8) -> u64 {
    if size >= 8 { value } else { value & ((1 << (8 * u32::from(size))) - 1) }
}

impl Run {
    /// The number of a hart that the log calls so; `None` if there are too many.
    pub(super) fn hart(&mut self, label: u64) -> Option<u16> {
        if let Some(&number) = self.hart_numbers.get(&label) {
            return Some(number);
        }
        let number = u16::try_from(self.harts.len()).ok()?;
        self.harts.push(label);
        self.registers.push(Registers([None; Register::COUNT]));
        self.hart_numbers.insert(label, number);
        Some(number)
    }

    /// Takes in an instruction; an error is a sentence.
    pub(super) fn add(
        &mut self,
        said: &CommitRecord,
        hart: u64,
        line: u32,
        options: &CommitOptions,
    ) -> Result<(), String> {
        let hart = self.hart(hart).ok_or("more than 65536 harts in one log")?;
        let xlen = options.xlen.unwrap_or(match said.pc_digits {
            8 => Xlen::Rv32,
            _ => Xlen::Rv64,
        });
        if let Some(plain) = said.plain {
            return self.add_plain(plain, hart, line, said.cycle);
        }
        self.complete = said.complete;
        self.in_order |= self.commits.is_empty();
        let mut commit = Commit {
            hart,
            size: 0,
            action: Action::Nothing,
            line,
            code: self.code(said.word, xlen),
            address: 0,
            read: 0,
            written: 0,
            pc: said.pc,
            cycle: said.cycle,
        };
        if commit.code == Commit::NO_CODE {
            self.unknown(said, options)?;
        } else {
            let instruction = self.code[commit.code as usize];
            match instruction.effect {
                Effect::Access(access) => {
                    self.access(said, &instruction, access, xlen, &mut commit, options)?;
                }
                Effect::Fence(_) => commit.action = Action::Fence,
                _ if !said.memory.is_empty() => {
                    return Err(format!(
                        "`{}` accesses no memory, but the log has an address for it",
                        instruction.text(said.pc.unwrap_or(0))
                    ));
                }
                _ => {}
            }
        }
        self.remember(said, &commit, options);
        self.commits.push(commit);
        Ok(())
    }

    /// Takes in an access without an instruction.
    fn add_plain(
        &mut self,
        plain: Plain,
        hart: u16,
        line: u32,
        cycle: Option<u64>,
    ) -> Result<(), String> {
        let Plain { address, size, read, written } = plain;
        if address.checked_add(u64::from(size) - 1).is_none() {
            return Err(format!("{size} bytes at {address:#x} go past the last byte of memory"));
        }
        let action = match (read, written) {
            (Some(_), Some(_)) => Action::Amo,
            (None, Some(_)) => Action::Store,
            _ => Action::Load,
        };
        self.commits.push(Commit {
            hart,
            size,
            action,
            line,
            code: Commit::NO_CODE,
            address,
            read: low(read.unwrap_or(0), size),
            written: low(written.unwrap_or(0), size),
            pc: None,
            cycle,
        });
        Ok(())
    }

    /// The number of an instruction.
    fn code(&mut self, word: u32, xlen: Xlen) -> u32 {
        let key = (word, xlen == Xlen::Rv64);
        if let Some(&number) = self.known_words.get(&key) {
            return number;
        }
        let number = match decode(word, xlen) {
            Some(instruction) => {
                self.code.push(instruction);
                self.code.len() as u32 - 1
            }
            None => Commit::NO_CODE,
        };
        self.known_words.insert(key, number);
        number
    }

    /// An instruction that the decoder does not know.
    fn unknown(&self, said: &CommitRecord, options: &CommitOptions) -> Result<(), String> {
        let word = said.word;
        if !said.memory.is_empty() {
            return Err(format!("unknown instruction {word:#010x}, which accesses memory"));
        }
        if said.complete && !said.writes.is_empty() && !options.skip_unknown {
            return Err(format!(
                "unknown instruction {word:#010x}: later accesses may depend on its result \
                 (--skip-unknown assumes that they do not)"
            ));
        }
        Ok(())
    }

    fn access(
        &self,
        said: &CommitRecord,
        instruction: &Instruction,
        access: Access,
        xlen: Xlen,
        commit: &mut Commit,
        options: &CommitOptions,
    ) -> Result<(), String> {
        commit.size = access.size;
        let registers = &self.registers[usize::from(commit.hart)];
        let result = |register: Option<Register>| {
            let mut writes = said.writes.iter();
            writes.find(|(each, _)| Some(*each) == register).map(|&(_, value)| value)
        };
        let stored = said.memory.iter().find_map(|&(_, value)| value);
        let result = result(instruction.writes);
        let name = instruction.text(said.pc.unwrap_or(0));
        if access.kind == AccessKind::StoreConditional {
            let succeeded = match result.or(said.loaded) {
                Some(code) => code == 0,
                None if instruction.writes.is_none() => stored.is_some(),
                None => return Err(format!("the log does not say whether `{name}` succeeded")),
            };
            if !succeeded {
                return Ok(());
            }
        }
        let narrow = |address: u64| if xlen == Xlen::Rv32 { low(address, 4) } else { address };
        let computed =
            registers.value(access.base).map(|base| base.wrapping_add_signed(access.offset));
        let address = said.memory.first().map(|&(address, _)| address).or(computed.map(narrow));
        let Some(address) = address else {
            return Err(format!(
                "the log does not say the address of `{name}`, nor an earlier value of {}",
                access.base
            ));
        };
        commit.address = address;
        if address.checked_add(u64::from(access.size) - 1).is_none() {
            return Err(format!("`{name}` goes past the last byte of memory"));
        }
        let operand = said.operand.or_else(|| registers.value(access.data?));
        let read = result.or(said.loaded).map(|value| low(value, access.size));
        let written = stored.map(|value| low(value, access.size));
        commit.action = match access.kind {
            AccessKind::Load | AccessKind::LoadReserved => match read {
                Some(read) => {
                    commit.read = read;
                    let reserves = access.kind == AccessKind::LoadReserved;
                    if reserves { Action::LoadReserved } else { Action::Load }
                }
                None if access.kind == AccessKind::Load
                    && (instruction.writes.is_none() || !said.complete) =>
                {
                    Action::LoadOfUnknown
                }
                None => return Err(format!("the log does not say what `{name}` read")),
            },
            AccessKind::Store | AccessKind::StoreConditional => {
                let value = written.or(operand.map(|value| low(value, access.size)));
                let Some(value) = value else {
                    return Err(unknown_store(&name, access.data));
                };
                commit.written = value;
                let conditional = access.kind == AccessKind::StoreConditional;
                if conditional { Action::StoreConditional } else { Action::Store }
            }
            AccessKind::Amo => {
                let operation = amo_name(instruction.name);
                let operand = operand.map(|value| low(value, access.size));
                let read = read.or_else(|| undone(operation, written?, operand?, access.size));
                let written = written
                    .or_else(|| Some(combined(operation, read?, operand?, access.size)))
                    .or_else(|| operand.filter(|_| operation == "amoswap"));
                let Some(written) = written else { return Err(unknown_store(&name, access.data)) };
                commit.written = written;
                self.amo(&name, read, commit, options)?
            }
            AccessKind::AmoCompare => {
                let Some(read) = read else {
                    return Err(format!("the log does not say what `{name}` read"));
                };
                commit.read = read;
                match written {
                    Some(value) => {
                        commit.written = value;
                        Action::Amo
                    }
                    None => Action::Load,
                }
            }
        };
        Ok(())
    }

    /// An AMO that wrote what is in the commit, and read this if the log says it.
    fn amo(
        &self,
        name: &str,
        read: Option<u64>,
        commit: &mut Commit,
        options: &CommitOptions,
    ) -> Result<Action, String> {
        if let Some(read) = read {
            commit.read = read;
            return Ok(Action::Amo);
        }
        match options.discarded_amo {
            DiscardedAmo::Store => Ok(Action::Store),
            DiscardedAmo::Recorded => {
                commit.read = self.recorded(commit.address, commit.size).ok_or_else(|| {
                    format!(
                        "`{name}` read a value that no earlier line of the log has written or \
                             read"
                    )
                })?;
                Ok(Action::Amo)
            }
            DiscardedAmo::Refused => Err(format!(
                "the log has no value for what `{name}` read, since it wrote no register \
                 (--discarded-amo recorded uses the last value in the log, --discarded-amo store \
                 treats it as a store)"
            )),
        }
    }

    /// What memory holds by the log so far.
    fn recorded(&self, address: u64, size: u8) -> Option<u64> {
        let byte =
            |at: u8| Some(u64::from(*self.image.get(&(address + u64::from(at)))?) << (8 * at));
        (0..size).try_fold(0, |value, at| Some(value | byte(at)?))
    }

    /// What the registers and, if needed, memory hold after an instruction.
    fn remember(&mut self, said: &CommitRecord, commit: &Commit, options: &CommitOptions) {
        let registers = &mut self.registers[usize::from(commit.hart)].0;
        if said.forgets {
            registers.fill(None);
        }
        let written = self.code.get(commit.code as usize).and_then(|each| each.writes);
        if let Some(register) = written {
            registers[register.index()] = None;
        }
        for &(register, value) in &said.writes {
            registers[register.index()] = Some(value);
        }
        if options.discarded_amo == DiscardedAmo::Recorded && commit.accesses() {
            let value = if commit.writes() { commit.written } else { commit.read };
            for at in 0..commit.size {
                let byte = (value >> (8 * at)) as u8;
                self.image.insert(commit.address + u64::from(at), byte);
            }
        }
    }

    /// About how many bytes this takes.
    pub(super) fn bytes(&self) -> usize {
        self.commits.len() * 2 * size_of::<Commit>() + self.image.len() * 32
    }
}

/// What to do with an AMO whose result nobody saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiscardedAmo {
    /// It is bad input.
    #[default]
    Refused,
    /// It read what the log has last for its address.
    Recorded,
    /// It counts as a store.
    Store,
}

fn unknown_store(name: &str, data: Option<Register>) -> String {
    let data = data.map(|register| format!(", nor an earlier value of {register}"));
    format!("the log does not say what `{name}` stored{}", data.unwrap_or_default())
}

/// `amoadd` of `amoadd.w`.
fn amo_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// What an AMO writes.
fn combined(operation: &str, read: u64, operand: u64, size: u8) -> u64 {
    let signed = |value: u64| {
        let shift = 64 - 8 * u32::from(size);
        ((value << shift) as i64) >> shift
    };
    let value = match operation {
        "amoadd" => read.wrapping_add(operand),
        "amoxor" => read ^ operand,
        "amoand" => read & operand,
        "amoor" => read | operand,
        "amomin" => signed(read).min(signed(operand)) as u64,
        "amomax" => signed(read).max(signed(operand)) as u64,
        "amominu" => read.min(operand),
        "amomaxu" => read.max(operand),
        _ => operand,
    };
    low(value, size)
}

/// What an AMO read that wrote this, where its operation can be undone.
fn undone(operation: &str, written: u64, operand: u64, size: u8) -> Option<u64> {
    match operation {
        "amoadd" => Some(low(written.wrapping_sub(operand), size)),
        "amoxor" => Some(written ^ operand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amos_combine_what_they_read_with_their_operand() {
        let word = |operation| combined(operation, 0xffff_fffe, 5, 4);
        assert_eq!(word("amoadd"), 3);
        assert_eq!(word("amomin"), 0xffff_fffe);
        assert_eq!(word("amomax"), 5);
        assert_eq!(word("amominu"), 5);
        assert_eq!(word("amomaxu"), 0xffff_fffe);
        assert_eq!(word("amoand"), 4);
        assert_eq!(word("amoswap"), 5);
    }

    #[test]
    fn what_can_be_undone_is() {
        for operation in ["amoadd", "amoxor"] {
            let written = combined(operation, 0x80, 0xff, 1);
            assert_eq!(undone(operation, written, 0xff, 1), Some(0x80), "{operation}");
        }
        assert_eq!(undone("amoswap", 1, 1, 4), None);
    }
}
