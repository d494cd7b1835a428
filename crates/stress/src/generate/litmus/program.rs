//! Test programs as litmus tests of an architecture, in herdtools' format.
//!
//! Each instruction becomes one or two of the architecture, with the registers of its thread handed out
//! in order. A dependency, whose kind a program does not say, becomes an address dependency of a load
//! and a data dependency of a store. What the architecture has no instruction for is an error that
//! names the instruction of the program. O(instructions).

use std::fmt;

use history::{AccessOrder, AddressLabel, Kinds, Value};

use super::{Assembly, DependencyRegisters, Writer};
use crate::condition::Test;
use crate::generate::edge::Link;
use crate::generate::mark::Mark;
use crate::program::{Action, Instruction, Program};

/// An instruction of a program that a litmus test cannot have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotInLitmus {
    /// The thread.
    pub thread: usize,
    /// The instruction of the thread, from 0.
    pub index: usize,
    /// The architecture.
    pub assembly: Assembly,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for NotInLitmus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotInLitmus { thread, index, assembly, why } = self;
        write!(f, "thread {thread}, instruction {}: {} {why}", index + 1, assembly.header())
    }
}

impl std::error::Error for NotInLitmus {}

impl Test {
    /// The program as a litmus test for an architecture, as text.
    ///
    /// ```
    /// use tribunal_stress::{Assembly, parse_programs};
    ///
    /// let text = "program SB\n0: x := 1\n0: y ? as a\n1: y := 1\n1: x ? as b\nexists a == 0, b == 0\nend";
    /// let tests = parse_programs("sb.program", text).unwrap();
    /// let litmus = tests[0].litmus(Assembly::X86).unwrap();
    /// assert!(litmus.contains("movl $1,(x)") && litmus.ends_with("exists (0:rcx=0 /\\ 1:rcx=0)\n"));
    /// ```
    pub fn litmus(&self, assembly: Assembly) -> Result<String, NotInLitmus> {
        let program = &self.program;
        let mut writer = Writer::new(assembly);
        writer.names = names(program);
        for (thread, instructions) in program.threads.iter().enumerate() {
            let mut registers = Vec::with_capacity(instructions.len());
            for (index, instruction) in instructions.iter().enumerate() {
                let expected = self.expected(thread, index);
                let written = writer.instruction(instruction, &registers, expected);
                let written = written.and_then(|register| match writer.next_register {
                    next if next > registers_of(assembly) => {
                        Err("has too few registers for this thread")
                    }
                    _ => Ok(register),
                });
                let refused = |why| NotInLitmus { thread, index, assembly, why };
                registers.push(written.map_err(refused)?);
            }
            writer.end_thread();
        }
        for &(place, value) in self.condition.iter().flat_map(|condition| &condition.finals) {
            let name = &writer.names[place as usize];
            let condition = match assembly {
                Assembly::X86 => format!("[{name}]={value}"),
                _ => format!("{name}={value}"),
            };
            writer.conditions.push(condition);
        }
        let initial = program.places.iter().zip(&writer.names);
        let initial = initial.filter(|(place, _)| place.initial != 0);
        let initial = initial.map(|(place, name)| format!("{name}={};\n", place.initial)).collect();
        Ok(writer.finish_program(&program.name, initial))
    }

    /// What the condition says that an instruction reads.
    fn expected(&self, thread: usize, index: usize) -> Option<Value> {
        let reads = self.condition.iter().flat_map(|condition| &condition.reads);
        let mut here = reads.filter(|(t, i, _)| (*t as usize, *i as usize) == (thread, index));
        here.next().map(|&(_, _, value)| value)
    }
}

/// The registers that a thread may use.
fn registers_of(assembly: Assembly) -> u32 {
    match assembly {
        Assembly::X86 => super::X86_VALUES.len() as u32,
        Assembly::RiscV => 27,
        Assembly::AArch64 => 31,
    }
}

/// What the places of a program are called in a litmus test.
fn names(program: &Program) -> Vec<String> {
    let name = |(index, label): (usize, &AddressLabel)| match label {
        AddressLabel::Name(name) if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            name.to_string()
        }
        _ => format!("place{index}"),
    };
    program.places.iter().map(|place| &place.label).enumerate().map(name).collect()
}

impl Writer {
    /// Writes an instruction of a program. Returns the register with what it read.
    fn instruction(
        &mut self,
        instruction: &Instruction,
        registers: &[Option<u32>],
        expected: Option<Value>,
    ) -> Result<Option<u32>, &'static str> {
        let reads: Vec<u32> = instruction
            .depends_on
            .iter()
            .filter_map(|&on| registers.get(on as usize).copied().flatten())
            .collect();
        if !instruction.depends_on.is_empty() && self.assembly == Assembly::X86 {
            return Err("tests have no dependencies");
        }
        let is_load = matches!(instruction.action, Action::Load { .. });
        let means = self.zero_of(&reads, is_load);
        let before = self.conditions.len();
        self.last_read = None;
        let (value, mark) =
            (expected.unwrap_or(0), self.assembly.native_mark(Mark(instruction.order)));
        let written = match instruction.action {
            Action::Load { place } => self.load(place, value, mark, &means),
            Action::Store { place, value } => {
                small(value)?;
                self.store(place, value, mark, &means)
            }
            Action::Swap { place, value: new } => {
                small(new)?;
                self.swap(place, [value, new], of_atomic(instruction.order), &means)
            }
            Action::FetchAdd { place, amount } => {
                small(amount)?;
                self.fetch_add(place, [value, amount], of_atomic(instruction.order), &means)
            }
            Action::CompareAndSwap { place, expected, new } => {
                small(expected)?;
                small(new)?;
                let values = [value, expected, new];
                self.compare_and_swap(place, values, of_atomic(instruction.order), &means)
            }
            Action::Fence { before, after } => {
                let is_empty = before == Kinds::NONE || after == Kinds::NONE;
                if let (false, Some(fence)) =
                    (is_empty, self.assembly.native(Link::fence_between(before, after)))
                {
                    self.behind(fence);
                }
                Some(())
            }
        };
        written.ok_or("has no instruction for it")?;
        if expected.is_none() {
            self.conditions.truncate(before);
        }
        Ok(self.last_read)
    }

    /// Writes what makes an access depend on these reads: their sum that is always zero.
    fn zero_of(&mut self, reads: &[u32], is_load: bool) -> DependencyRegisters {
        let mut sum: Option<u32> = None;
        for &read in reads {
            self.last_read = Some(read);
            let link = if is_load { Link::Address } else { Link::Data };
            let means = self.dependency(link);
            let zero = means.address.or(means.data);
            if let (Some(sum), Some(zero)) = (sum, zero) {
                let (sum, zero) = (self.value(sum), self.value(zero));
                let or = if self.assembly == Assembly::RiscV { "or" } else { "ORR" };
                self.code.push(format!("{or} {sum},{sum},{zero}"));
            }
            sum = sum.or(zero);
        }
        match is_load {
            true => DependencyRegisters { address: sum, data: None },
            false => DependencyRegisters { address: None, data: sum },
        }
    }
}

/// Whether a value fits an immediate operand.
fn small(value: Value) -> Result<(), &'static str> {
    match value {
        0..=0x7ff => Ok(()),
        _ => Err("tests take values up to 2047 here; use smaller values"),
    }
}

/// The annotations of the read and of the write of an atomic.
fn of_atomic(order: Option<AccessOrder>) -> [Mark; 2] {
    let plain = Mark::PLAIN;
    let (acquire, release) = (Mark(Some(AccessOrder::Acquire)), Mark(Some(AccessOrder::Release)));
    match order {
        None => [plain, plain],
        Some(AccessOrder::Acquire | AccessOrder::AcquirePc) => [acquire, plain],
        Some(AccessOrder::Release) => [plain, release],
        Some(AccessOrder::AcquireRelease | AccessOrder::Sequential) => [acquire, release],
    }
}
