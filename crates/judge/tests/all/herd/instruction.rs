//! The instructions that the tests are made of, in both spellings.

use std::collections::BTreeMap;

use history::{AddressId, Kinds, Value};

use super::tokens::{Dialect, Register};

/// The locations of a test, numbered as the addresses of its histories will be.
#[derive(Default, Debug)]
pub(crate) struct Locations(Vec<String>);

impl Locations {
    /// The address of a name, new or known.
    pub(crate) fn address(&mut self, name: &str) -> AddressId {
        let known = self.0.iter().position(|n| n == name);
        AddressId::new(known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        }))
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Immediate(Value),
    Register(Register),
    Memory(AddressId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Instruction {
    Move {
        from: Operand,
        to: Operand,
    },
    Exchange(AddressId, Register),
    /// Stores the register if memory holds what is in the accumulator; loads the accumulator.
    CompareExchange(AddressId, Register),
    Compare(Operand, Operand),
    /// Goes to the instruction of this number if the last comparison found two equal values.
    JumpIfEqual(usize),
    Jump(usize),
    Fence {
        before: Kinds,
        after: Kinds,
    },
    Nothing,
    Return,
}

/// Splits `L0: mov (x),%eax` into the label, if there is one, and the instruction.
pub(crate) fn split_label(cell: &str) -> (Option<&str>, &str) {
    match cell.split_once(':') {
        Some((label, rest)) if !label.contains(|c: char| !c.is_ascii_alphanumeric()) => {
            (Some(label), rest.trim())
        }
        _ => (None, cell),
    }
}

/// Reads instructions of one thread.
pub(crate) struct Assembler<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) labels: &'a BTreeMap<&'a str, usize>,
    pub(crate) locations: &'a mut Locations,
}

impl Assembler<'_> {
    pub(crate) fn instruction(&mut self, text: &str) -> Result<Instruction, String> {
        let lowercase = text.to_ascii_lowercase();
        let text = if lowercase.starts_with("lock ") { text[5..].trim_start() } else { text };
        let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mnemonic = mnemonic.to_ascii_lowercase();
        let locked = text.len() < lowercase.len();
        match (locked, mnemonic.as_str()) {
            (false, "mov" | "movl") => self.moved(operands),
            (_, "xchg" | "xchgl") => {
                let (address, register) = self.memory_and_register(operands)?;
                Ok(Instruction::Exchange(address, register))
            }
            (true, "cmpxchgl") => {
                let (address, register) = self.memory_and_register(operands)?;
                Ok(Instruction::CompareExchange(address, register))
            }
            (false, "cmp") => {
                let (left, right) = self.two(operands)?;
                Ok(Instruction::Compare(left, right))
            }
            (false, "je") => Ok(Instruction::JumpIfEqual(self.target(operands)?)),
            (false, "jmp") => Ok(Instruction::Jump(self.target(operands)?)),
            (false, "mfence") => Ok(fence(Kinds::ALL, Kinds::ALL)),
            (false, "sfence") => Ok(fence(Kinds::WRITES, Kinds::WRITES)),
            (false, "lfence") => Ok(fence(Kinds::READS, Kinds::ALL)),
            (false, "nopl" | "nopw" | "endbr64") => Ok(Instruction::Nothing),
            (false, "ret") => Ok(Instruction::Return),
            _ => Err(format!("no meaning for the instruction `{text}`")),
        }
    }

    fn moved(&mut self, operands: &str) -> Result<Instruction, String> {
        let (first, second) = self.two(operands)?;
        let (from, to) = match self.dialect {
            Dialect::X86 => (second, first),
            Dialect::X86_64 => (first, second),
        };
        match (from, to) {
            (_, Operand::Immediate(_)) | (Operand::Memory(_), Operand::Memory(_)) => {
                Err(format!("cannot move `{operands}`"))
            }
            _ => Ok(Instruction::Move { from, to }),
        }
    }

    fn two(&mut self, operands: &str) -> Result<(Operand, Operand), String> {
        let (first, second) =
            operands.split_once(',').ok_or_else(|| format!("`{operands}` is not two operands"))?;
        Ok((self.operand(first.trim())?, self.operand(second.trim())?))
    }

    fn memory_and_register(&mut self, operands: &str) -> Result<(AddressId, Register), String> {
        match self.two(operands)? {
            (Operand::Memory(address), Operand::Register(register))
            | (Operand::Register(register), Operand::Memory(address)) => Ok((address, register)),
            _ => Err(format!("`{operands}` is not a location and a register")),
        }
    }

    fn operand(&mut self, text: &str) -> Result<Operand, String> {
        let inside = |open, close| text.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        if let Some(value) = text.strip_prefix('$') {
            return value
                .parse()
                .map(Operand::Immediate)
                .map_err(|_| format!("`{text}` is no value"));
        }
        if let Some(name) = inside('(', ')').or_else(|| inside('[', ']')) {
            return Ok(Operand::Memory(self.locations.address(name)));
        }
        Register::named(text.strip_prefix('%').unwrap_or(text))
            .map(Operand::Register)
            .ok_or_else(|| format!("no meaning for the operand `{text}`"))
    }

    fn target(&self, label: &str) -> Result<usize, String> {
        let label = label.trim();
        self.labels.get(label).copied().ok_or_else(|| format!("no label `{label}`"))
    }
}

fn fence(before: Kinds, after: Kinds) -> Instruction {
    Instruction::Fence { before, after }
}
