//! A thread of a program as straight-line machine code.
//!
//! The code is a function of three pointers (see [`Code`]): `rdi` is the memory of the run, `rsi`
//! the base that all its values count from, `rdx` where results go. The first results stay in
//! registers until the thread is done, so that collecting them does not disturb the race; a thread
//! with more reads than registers stores the others as it goes.

// The macro converts every register it is given to its number.
#![allow(clippy::useless_conversion)]

use dynasmrt::{DynasmApi, dynasm, x64};
use history::Value;
use stress::{Action, Instruction};

use super::code::Code;

/// Registers that keep results: `r8` to `r15`, `rbx`, `rbp`.
const KEEPERS: [u8; 10] = [8, 9, 10, 11, 12, 13, 14, 15, 3, 5];

/// `rax`, `rcx` and `rdi` by number.
const ACCUMULATOR: u8 = 0;
const DEPENDENT: u8 = 1;
const MEMORY: u8 = 7;

/// The code of one thread. `offset` says where in the instance each place is.
pub(crate) fn assemble(
    instructions: &[Instruction],
    offset: &dyn Fn(u32) -> usize,
) -> Result<Code, String> {
    let mut assembler = Assembler::new()?;
    for instruction in instructions {
        let memory = assembler.depend(&instruction.depends_on);
        let place = instruction.action.place().map(|place| offset(place) as i32);
        let result = assembler.action(instruction.action, memory, place.unwrap_or_default());
        assembler.results.push(result);
    }
    let reach = instructions.iter().filter_map(|instruction| instruction.action.place());
    let reach = reach.map(|place| offset(place) + 8).max().unwrap_or_default();
    assembler.finish(reach)
}

struct Assembler {
    ops: x64::Assembler,
    /// For each instruction so far, which result it returned.
    results: Vec<Option<usize>>,
    /// The number of results.
    count: usize,
}

impl Assembler {
    fn new() -> Result<Self, String> {
        let ops = x64::Assembler::new();
        let mut ops =
            ops.map_err(|error| format!("cannot allocate memory for machine code: {error}"))?;
        dynasm!(ops
            ; .arch x64
            ; push rbx
            ; push rbp
            ; push r12
            ; push r13
            ; push r14
            ; push r15
        );
        Ok(Assembler { ops, results: Vec::new(), count: 0 })
    }

    /// The register that holds the memory of the run: where an instruction depends on others, one
    /// that is only known when their results are.
    fn depend(&mut self, on: &[u32]) -> u8 {
        if on.is_empty() {
            return MEMORY;
        }
        let ops = &mut self.ops;
        dynasm!(ops; .arch x64; xor ecx, ecx);
        for &instruction in on {
            match self.results[instruction as usize] {
                None => {}
                Some(result) if result < KEEPERS.len() => {
                    dynasm!(ops; .arch x64; or rcx, Rq(KEEPERS[result]));
                }
                Some(result) => dynasm!(ops; .arch x64; or rcx, [rdx + 8 * result as i32]),
            }
        }
        dynasm!(ops; .arch x64; and rcx, 0; add rcx, rdi);
        DEPENDENT
    }

    /// One instruction. Returns the number of its result, if it has one.
    fn action(&mut self, action: Action, memory: u8, offset: i32) -> Option<usize> {
        match action {
            Action::Load { .. } => {
                dynasm!(self.ops; .arch x64; mov rax, [Rq(memory) + offset]);
            }
            Action::Store { value, .. } => {
                self.value(ACCUMULATOR, value);
                dynasm!(self.ops; .arch x64; mov [Rq(memory) + offset], rax);
                return None;
            }
            Action::Swap { value, .. } => {
                self.value(ACCUMULATOR, value);
                dynasm!(self.ops; .arch x64; xchg [Rq(memory) + offset], rax);
            }
            Action::FetchAdd { amount, .. } => {
                dynasm!(self.ops
                    ; .arch x64
                    ; mov rax, QWORD amount as i64
                    ; lock xadd [Rq(memory) + offset], rax
                );
            }
            Action::CompareAndSwap { expected, new, .. } => {
                dynasm!(self.ops; .arch x64; lea rcx, [Rq(memory) + offset]; push rdi);
                self.value(ACCUMULATOR, expected);
                self.value(MEMORY, new);
                dynasm!(self.ops; .arch x64; lock cmpxchg [rcx], rdi; pop rdi);
            }
            // Only a write and a later read can change places here.
            Action::Fence { before, after } => {
                if before.writes && after.reads {
                    dynasm!(self.ops; .arch x64; mfence);
                }
                return None;
            }
        }
        let result = self.count;
        self.count += 1;
        match KEEPERS.get(result) {
            Some(&keeper) => dynasm!(self.ops; .arch x64; mov Rq(keeper), rax),
            None => dynasm!(self.ops; .arch x64; mov [rdx + 8 * result as i32], rax),
        }
        Some(result)
    }

    /// Puts base + value into a register.
    fn value(&mut self, register: u8, value: Value) {
        match i32::try_from(value) {
            Ok(value) => dynasm!(self.ops; .arch x64; lea Rq(register), [rsi + value]),
            Err(_) => dynasm!(self.ops
                ; .arch x64
                ; mov Rq(register), QWORD value as i64
                ; add Rq(register), rsi
            ),
        }
    }

    fn finish(mut self, reach: usize) -> Result<Code, String> {
        for (result, &keeper) in KEEPERS.iter().enumerate().take(self.count) {
            dynasm!(self.ops; .arch x64; mov [rdx + 8 * result as i32], Rq(keeper));
        }
        dynasm!(self.ops
            ; .arch x64
            ; pop r15
            ; pop r14
            ; pop r13
            ; pop r12
            ; pop rbp
            ; pop rbx
            ; ret
        );
        let buffer = self.ops.finalize();
        let buffer = buffer.map_err(|_| "the machine code could not be finished".to_owned())?;
        Ok(Code::new(buffer, self.count, reach))
    }
}
