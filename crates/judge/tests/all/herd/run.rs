//! What one thread may do, whatever memory returns to it.
//!
//! A thread is executed with a value given for each of its reads, in order; the values come from
//! the sets of values that each location may ever hold, and those are the least sets that hold the
//! initial values and all that is written in some run. Memory models play no part yet: that a
//! value can be read where and when it is, is for the judge to say.

use std::collections::{BTreeMap, BTreeSet};

use history::{AddressId, Operation, Value};

use super::instruction::{Instruction, Operand};
use super::litmus::Litmus;
use super::tokens::{Place, Register};

/// One way through a thread: its events, and its registers at the end.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) events: Vec<Operation>,
    pub(crate) registers: Registers,
}

pub(crate) type Registers = BTreeMap<Register, Value>;

/// The values that each location may hold, by address.
pub(crate) type Values = Vec<BTreeSet<Value>>;

/// More steps than any test takes: what goes on for longer is a loop.
const STEPS: usize = 1_000;

/// The runs of every thread, and the values they were made from.
pub(crate) fn all_runs(litmus: &Litmus) -> Result<(Vec<Vec<Run>>, Values), String> {
    let mut values: Values = litmus
        .locations
        .names()
        .iter()
        .map(|name| BTreeSet::from([litmus.initial(&Place::Memory(name.clone()))]))
        .collect();
    loop {
        let runs: Vec<Vec<Run>> = (0..litmus.threads.len())
            .map(|thread| thread_runs(litmus, thread, &values))
            .collect::<Result<_, String>>()?;
        let before: usize = values.iter().map(BTreeSet::len).sum();
        for event in runs.iter().flatten().flat_map(|run| &run.events) {
            if let (Some(address), Some(value)) = (event.address(), event.value_written()) {
                values[address.index()].insert(value);
            }
        }
        if values.iter().map(BTreeSet::len).sum::<usize>() == before {
            return Ok((runs, values));
        }
    }
}

fn thread_runs(litmus: &Litmus, thread: usize, values: &Values) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let mut pending = vec![Vec::new()];
    while let Some(returned) = pending.pop() {
        match Execution::new(litmus, thread, &returned).finish(&litmus.threads[thread]) {
            Ok(run) => runs.push(run),
            Err(Stop::NeedsValue(address)) => {
                for &value in &values[address.index()] {
                    let mut longer = returned.clone();
                    longer.push(value);
                    pending.push(longer);
                }
            }
            Err(Stop::Loops) => return Err(format!("thread {thread} loops")),
        }
    }
    Ok(runs)
}

/// Why an execution ended early.
enum Stop {
    /// There is a read of this address for which no value was given.
    NeedsValue(AddressId),
    Loops,
}

struct Execution<'a> {
    registers: Registers,
    equal: bool,
    events: Vec<Operation>,
    returned: std::slice::Iter<'a, Value>,
}

impl<'a> Execution<'a> {
    fn new(litmus: &Litmus, thread: usize, returned: &'a [Value]) -> Self {
        let registers = litmus
            .initial
            .iter()
            .filter_map(|(place, &value)| match place {
                Place::Register(of, register) if *of == thread => Some((*register, value)),
                _ => None,
            })
            .collect();
        Self { registers, equal: false, events: Vec::new(), returned: returned.iter() }
    }

    fn finish(mut self, program: &[Instruction]) -> Result<Run, Stop> {
        let mut next = 0;
        for _ in 0..STEPS {
            let Some(instruction) = program.get(next) else {
                return Ok(Run { events: self.events, registers: self.registers });
            };
            next = match *instruction {
                Instruction::Jump(target) => target,
                Instruction::JumpIfEqual(target) if self.equal => target,
                Instruction::Return => program.len(),
                _ => {
                    self.step(instruction)?;
                    next + 1
                }
            };
        }
        Err(Stop::Loops)
    }

    /// Executes an instruction that does not jump.
    fn step(&mut self, instruction: &Instruction) -> Result<(), Stop> {
        match *instruction {
            Instruction::Move { from, to } => {
                let value = self.load(from)?;
                match to {
                    Operand::Register(register) => self.set(register, value),
                    Operand::Memory(address) => {
                        self.events.push(Operation::Write { address, value });
                    }
                    Operand::Immediate(_) => {}
                }
            }
            Instruction::Exchange(address, register) => {
                let read = self.memory_returns(address)?;
                let write = self.get(register);
                self.events.push(Operation::ReadModifyWrite { address, read, write });
                self.set(register, read);
            }
            Instruction::CompareExchange(address, register) => {
                let read = self.memory_returns(address)?;
                self.equal = read == self.get(Register::A);
                // Where the comparison fails, the processor writes back what it read.
                let write = if self.equal { self.get(register) } else { read };
                self.events.push(Operation::ReadModifyWrite { address, read, write });
                self.set(Register::A, read);
            }
            Instruction::Compare(left, right) => {
                self.equal = self.load(left)? == self.load(right)?;
            }
            Instruction::Fence { before, after } => {
                self.events.push(Operation::Fence { before, after });
            }
            Instruction::Nothing
            | Instruction::Jump(_)
            | Instruction::JumpIfEqual(_)
            | Instruction::Return => {}
        }
        Ok(())
    }

    fn load(&mut self, operand: Operand) -> Result<Value, Stop> {
        match operand {
            Operand::Immediate(value) => Ok(value),
            Operand::Register(register) => Ok(self.get(register)),
            Operand::Memory(address) => {
                let value = self.memory_returns(address)?;
                self.events.push(Operation::Read { address, value });
                Ok(value)
            }
        }
    }

    fn memory_returns(&mut self, address: AddressId) -> Result<Value, Stop> {
        self.returned.next().copied().ok_or(Stop::NeedsValue(address))
    }

    fn get(&self, register: Register) -> Value {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    fn set(&mut self, register: Register, value: Value) {
        self.registers.insert(register, value);
    }
}
