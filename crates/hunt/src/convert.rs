//! Litmus tests as test programs: each thread is followed once, with what its registers hold.
//!
//! A program is straight-line code over named places, so a register must hold a number, the address of
//! a location, or what an instruction read; computing on what was read is allowed only to make a
//! dependency. A branch to the next instruction makes a control dependency, any other branch is refused.
//! Programs do not say of which kind a dependency is, and cannot express `fence.tso`, `isb`, `fence.i`
//! and exclusive pairs: these are refused with the thread and the instruction. O(instructions).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use history::{AccessOrder, Kinds, Operation as Event, Value};
use litmus::{
    AtomicChange, BranchCondition, Constant, Extension, Instruction as X86, Litmus, LocationId,
    Memory, Node, Operand, Operation, Place, Quantifier, Register, RiscAddress, RiscFence,
    RiscInstruction, RiscOperation, RiscOperator, RiscSource,
};
use stress::{Action, Condition, Instruction, Program, Test};

/// A litmus test that is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAProgram {
    /// The thread and the instruction, from 0, if one of them is the reason.
    pub at: Option<(usize, usize)>,
    /// The problem.
    pub why: &'static str,
}

impl fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((thread, index)) => {
                write!(f, "thread {thread}, instruction {}: {}", index + 1, self.why)
            }
            None => f.write_str(self.why),
        }
    }
}

impl std::error::Error for NotAProgram {}

/// A test program made from a litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// The program.
    pub test: Test,
    /// The part of the test that the program lacks, as a sentence.
    pub note: Option<&'static str>,
}

/// The litmus test as a test program.
pub fn program_of(test: &Litmus) -> Result<Converted, NotAProgram> {
    let whole = |why| NotAProgram { at: None, why };
    let mut program = Program { name: test.name.clone(), ..Program::default() };
    for (line, location) in (0..).zip(&test.locations) {
        let initial = number(location.initial)
            .ok_or_else(|| whole("a location holds an address or a negative number at first"))?;
        program
            .places
            .push(stress::Place { initial, ..stress::Place::named(&location.name, line) });
    }
    let mut threads = Vec::new();
    for (number, thread) in test.threads.iter().enumerate() {
        let mut follower = Thread::default();
        for initial in &thread.registers {
            follower.set(initial.register, RegisterContent::constant(initial.value));
        }
        let at = |index| move |why| NotAProgram { at: Some((number, index)), why };
        for (index, instruction) in thread.x86().iter().enumerate() {
            follower.x86(instruction).map_err(at(index))?;
        }
        for (index, instruction) in thread.risc().iter().enumerate() {
            follower.risc(instruction, index).map_err(at(index))?;
        }
        program.threads.push(std::mem::take(&mut follower.code));
        threads.push(follower);
    }
    program.check().map_err(|_| whole("the result is not a valid test program"))?;
    let (condition, note) = match condition(test, &threads) {
        Ok(condition) => (Some(condition), None),
        Err(why) => (None, Some(why)),
    };
    Ok(Converted { test: Test { program, condition }, note })
}

/// The content of a register.
#[derive(Clone, Default, Debug)]
struct RegisterContent {
    known: Option<KnownValue>,
    /// The instruction that read it, if it is just that.
    read: Option<u32>,
    /// The reads that it depends on.
    reads: BTreeSet<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KnownValue {
    Number(i64),
    Address(LocationId),
}

impl RegisterContent {
    fn constant(constant: Constant) -> RegisterContent {
        let known = match constant {
            Constant::Number(number) => KnownValue::Number(number),
            Constant::Address(location) => KnownValue::Address(location),
        };
        RegisterContent { known: Some(known), ..RegisterContent::default() }
    }

    /// The result of reading, by the instruction with this number.
    fn read(index: u32) -> RegisterContent {
        RegisterContent { known: None, read: Some(index), reads: BTreeSet::from([index]) }
    }

    fn number(&self) -> Result<Value, &'static str> {
        match self.known {
            Some(KnownValue::Number(number)) => {
                u64::try_from(number).map_err(|_| "it writes a negative number")
            }
            _ => Err("it writes a value that depends on what was read"),
        }
    }
}

fn number(constant: Constant) -> Option<Value> {
    match constant {
        Constant::Number(number) => u64::try_from(number).ok(),
        Constant::Address(_) => None,
    }
}

/// A thread that is followed.
#[derive(Default)]
struct Thread {
    code: Vec<Instruction>,
    registers: BTreeMap<Register, RegisterContent>,
    /// The reads that branches depend on so far, and those of the last comparison.
    control: BTreeSet<u32>,
    flags: BTreeSet<u32>,
    ended: bool,
}

/// Why an instruction is refused.
type Step = Result<(), &'static str>;

const COMPUTES: &str = "test programs cannot compute with registers";
const BRANCHES: &str = "test programs have no branches";

impl Thread {
    fn get(&self, register: Register) -> RegisterContent {
        let zero = || RegisterContent::constant(Constant::Number(0));
        self.registers.get(&register).cloned().unwrap_or_else(zero)
    }

    fn set(&mut self, register: Register, held: RegisterContent) {
        self.registers.insert(register, held);
    }

    /// Adds an instruction that depends on these reads. Returns the number of its read.
    fn push(
        &mut self,
        action: Action,
        order: Option<AccessOrder>,
        reads: BTreeSet<u32>,
    ) -> RegisterContent {
        let index = self.code.len() as u32;
        self.code.push(Instruction { action, depends_on: reads.into_iter().collect(), order });
        RegisterContent::read(index)
    }

    /// A store or an atomic depends on branches before it, a load does not.
    fn with_control(&self, mut reads: BTreeSet<u32>) -> BTreeSet<u32> {
        reads.extend(&self.control);
        reads
    }

    fn x86(&mut self, instruction: &X86) -> Step {
        if self.ended {
            return Err("it comes after `ret`");
        }
        match instruction.operation {
            Operation::Move { to: Operand::Register(to), from } => {
                let held = match from {
                    Operand::Immediate(constant) => RegisterContent::constant(constant),
                    Operand::Register(from) => self.get(from),
                    Operand::Memory(memory) => {
                        let (place, reads) = self.location(memory)?;
                        self.push(Action::Load { place }, None, reads)
                    }
                };
                self.set(to, held);
            }
            Operation::Move { to: Operand::Memory(memory), from } => {
                let held = match from {
                    Operand::Immediate(constant) => RegisterContent::constant(constant),
                    Operand::Register(from) => self.get(from),
                    Operand::Memory(_) => return Err(COMPUTES),
                };
                let (place, mut reads) = self.location(memory)?;
                let value = held.number()?;
                reads.extend(held.reads);
                self.push(Action::Store { place, value }, None, reads);
            }
            Operation::Exchange { register, with: Operand::Memory(memory) } => {
                let (place, reads) = self.location(memory)?;
                let value = self.get(register).number()?;
                let held = self.push(Action::Swap { place, value }, None, reads);
                self.set(register, held);
            }
            Operation::ExchangeAdd { register, to: Operand::Memory(memory) }
                if instruction.locked =>
            {
                let (place, reads) = self.location(memory)?;
                let amount = self.get(register).number()?;
                let held = self.push(Action::FetchAdd { place, amount }, None, reads);
                self.set(register, held);
            }
            Operation::CompareExchange { register, to: Operand::Memory(memory) }
                if instruction.locked =>
            {
                let (place, reads) = self.location(memory)?;
                let expected = self.get(Register::ACCUMULATOR).number()?;
                let new = self.get(register).number()?;
                let action = Action::CompareAndSwap { place, expected, new };
                let held = self.push(action, None, reads);
                self.set(Register::ACCUMULATOR, held);
            }
            Operation::Fence(fence) => {
                let (before, after) = match fence {
                    litmus::Fence::Full => (Kinds::ALL, Kinds::ALL),
                    litmus::Fence::Store => (Kinds::WRITES, Kinds::WRITES),
                    litmus::Fence::Load => (Kinds::READS, Kinds::ALL),
                };
                self.push(Action::Fence { before, after }, None, BTreeSet::new());
            }
            Operation::Nothing => {}
            Operation::Return => self.ended = true,
            Operation::Jump { .. } => return Err(BRANCHES),
            _ => return Err(COMPUTES),
        }
        Ok(())
    }

    /// The place that an x86 accesses, and the reads that its address depends on.
    fn location(&self, memory: Memory) -> Result<(u32, BTreeSet<u32>), &'static str> {
        if memory.index.is_some() || memory.displacement != 0 {
            return Err("test programs cannot compute addresses");
        }
        match (memory.location, memory.base) {
            (Some(location), None) => Ok((location.0, BTreeSet::new())),
            (None, Some(base)) => address(&self.get(base)),
            _ => Err("test programs cannot compute addresses"),
        }
    }

    fn risc(&mut self, instruction: &RiscInstruction, index: usize) -> Step {
        match instruction.operation {
            RiscOperation::Load { exclusive: true, .. }
            | RiscOperation::StoreConditional { .. } => {
                return Err("test programs have no exclusive pairs");
            }
            RiscOperation::Load { to, at, order, .. } => {
                let (place, reads) = self.at(at)?;
                let held = self.push(Action::Load { place }, order, reads);
                self.set_some(to, held);
            }
            RiscOperation::Store { from, at, order } => {
                let (place, mut reads) = self.at(at)?;
                let held = self.source(from);
                let value = held.number()?;
                reads.extend(held.reads);
                let reads = self.with_control(reads);
                self.push(Action::Store { place, value }, order, reads);
            }
            RiscOperation::Atomic { change, to, from, at, order, .. } => {
                let (place, mut reads) = self.at(at)?;
                let held = self.source(from);
                let operand = held.number()?;
                reads.extend(held.reads);
                let action = match change {
                    AtomicChange::Swap => Action::Swap { place, value: operand },
                    AtomicChange::Compute(RiscOperator::Add) => {
                        Action::FetchAdd { place, amount: operand }
                    }
                    _ => return Err("test programs do not have this atomic"),
                };
                self.atomic(action, order, reads, to)?;
            }
            RiscOperation::CompareAndSwap { expected, from, at, order } => {
                let (place, mut reads) = self.at(at)?;
                let register = expected.ok_or("it discards what it reads")?;
                let (expected, new) = (self.get(register), self.source(from));
                let action = Action::CompareAndSwap {
                    place,
                    expected: expected.number()?,
                    new: new.number()?,
                };
                reads.extend(expected.reads.into_iter().chain(new.reads));
                self.atomic(action, order, reads, Some(register))?;
            }
            RiscOperation::Constant { to, value } => {
                self.set_some(to, RegisterContent::constant(value))
            }
            RiscOperation::Compute { operator, to, left, right, sets_flags } => {
                let held = self.computed(operator, left, right);
                if sets_flags {
                    self.flags = held.reads.clone();
                }
                self.set_some(to, held);
            }
            RiscOperation::MultiplyAdd { to, left, right, addend, .. } => {
                let product = self.computed(RiscOperator::Multiply, left, right);
                let mut reads = product.reads;
                reads.extend(self.source(addend).reads);
                self.set_some(to, RegisterContent { reads, ..product });
            }
            RiscOperation::Select { .. } => {
                return Err("test programs have no conditional selects");
            }
            RiscOperation::Compare { left, right } => {
                self.flags = &self.source(left).reads | &self.source(right).reads;
            }
            RiscOperation::Branch { when, target } if target as usize == index + 1 => {
                let reads = match when {
                    BranchCondition::Always => BTreeSet::new(),
                    BranchCondition::Flag(_) => self.flags.clone(),
                    BranchCondition::Bit { of, .. } => self.source(of).reads,
                    BranchCondition::Compare(_, left, right) => {
                        &self.source(left).reads | &self.source(right).reads
                    }
                };
                self.control.extend(reads);
            }
            RiscOperation::Branch { .. } => return Err(BRANCHES),
            RiscOperation::Fence(fence) => self.fence(fence)?,
            RiscOperation::Nothing => {}
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        action: Action,
        order: Option<AccessOrder>,
        reads: BTreeSet<u32>,
        to: Option<Register>,
    ) -> Step {
        if !self.control.is_empty() {
            return Err(
                "test programs cannot express that only the write of an atomic depends on a branch",
            );
        }
        let held = self.push(action, order, reads);
        self.set_some(to, held);
        Ok(())
    }

    fn fence(&mut self, fence: RiscFence) -> Step {
        let (before, after) = match fence {
            RiscFence::Between(before, after) => (before, after),
            RiscFence::Named(name) => match name.operation() {
                Event::Fence { before, after }
                    if before != Kinds::NONE && name != history::FenceName::Tso =>
                {
                    (before, after)
                }
                _ => return Err("test programs have no fence.tso, isb or fence.i"),
            },
        };
        self.push(Action::Fence { before, after }, None, BTreeSet::new());
        Ok(())
    }

    fn set_some(&mut self, register: Option<Register>, held: RegisterContent) {
        if let Some(register) = register {
            self.set(register, held);
        }
    }

    fn source(&self, source: RiscSource) -> RegisterContent {
        match source {
            RiscSource::Number(number) => RegisterContent::constant(Constant::Number(number)),
            RiscSource::Register(register, extension) => {
                let held = self.get(register);
                // A small number is the same however it is extended.
                let is_same = match held.known {
                    Some(KnownValue::Number(number)) => (0..0x80).contains(&number),
                    Some(KnownValue::Address(_)) | None => false,
                };
                match extension == Extension::Whole || is_same {
                    true => held,
                    false => RegisterContent { known: None, read: None, ..held },
                }
            }
            RiscSource::Shifted { register, .. } => {
                RegisterContent { known: None, read: None, reads: self.get(register).reads }
            }
        }
    }

    fn at(&self, at: RiscAddress) -> Result<(u32, BTreeSet<u32>), &'static str> {
        address(&self.sum(&self.source(at.base), &self.source(at.offset)))
    }

    fn sum(&self, left: &RegisterContent, right: &RegisterContent) -> RegisterContent {
        let known = match (left.known, right.known) {
            (Some(KnownValue::Number(a)), Some(KnownValue::Number(b))) => {
                a.checked_add(b).map(KnownValue::Number)
            }
            (address @ Some(KnownValue::Address(_)), Some(KnownValue::Number(0)))
            | (Some(KnownValue::Number(0)), address @ Some(KnownValue::Address(_))) => address,
            _ => None,
        };
        RegisterContent { known, read: None, reads: &left.reads | &right.reads }
    }

    fn computed(
        &self,
        operator: RiscOperator,
        left: RiscSource,
        right: RiscSource,
    ) -> RegisterContent {
        let (a, b) = (self.source(left), self.source(right));
        let is_same = left == right && !matches!(left, RiscSource::Number(_));
        let reads = &a.reads | &b.reads;
        let known = match (operator, a.known, b.known) {
            (RiscOperator::Xor | RiscOperator::Subtract, _, _) if is_same => {
                Some(KnownValue::Number(0))
            }
            (RiscOperator::Add, _, _) => return self.sum(&a, &b),
            (RiscOperator::Or, Some(KnownValue::Number(a)), Some(KnownValue::Number(b))) => {
                Some(KnownValue::Number(a | b))
            }
            (RiscOperator::Xor, Some(KnownValue::Number(a)), Some(KnownValue::Number(b))) => {
                Some(KnownValue::Number(a ^ b))
            }
            (RiscOperator::And, Some(KnownValue::Number(a)), Some(KnownValue::Number(b))) => {
                Some(KnownValue::Number(a & b))
            }
            (RiscOperator::And, Some(KnownValue::Number(0)), _)
            | (RiscOperator::And, _, Some(KnownValue::Number(0))) => Some(KnownValue::Number(0)),
            _ => None,
        };
        RegisterContent { known, read: None, reads }
    }
}

/// The place at an address, and the reads that it depends on.
fn address(held: &RegisterContent) -> Result<(u32, BTreeSet<u32>), &'static str> {
    match held.known {
        Some(KnownValue::Address(location)) => Ok((location.0, held.reads.clone())),
        _ => Err("it accesses an address that is computed or read"),
    }
}

/// The condition, if it is a conjunction of values; else why there is none.
fn condition(test: &Litmus, threads: &[Thread]) -> Result<Condition, &'static str> {
    if test.condition.quantifier == Quantifier::ForAll {
        return Err("the condition is left out: it begins with `forall`");
    }
    let (mut reads, mut finals) = (BTreeMap::new(), BTreeMap::new());
    for node in test.condition.proposition.nodes() {
        match *node {
            Node::And(..) | Node::Constant(true) => {}
            Node::Equals(place, constant) => {
                let value = number(constant)
                    .ok_or("the condition is left out: it has an address or a negative number")?;
                match place {
                    Place::Memory(location) => drop(finals.insert(location.0, value)),
                    Place::Register(thread, register) => {
                        let held = threads[thread as usize].get(register);
                        let index = held.read.ok_or(
                            "the condition is left out: it is about a register that was not read",
                        )?;
                        reads.insert((thread, index), value);
                    }
                }
            }
            _ => return Err("the condition is left out: it is not a conjunction of values"),
        }
    }
    Ok(Condition {
        reads: reads.into_iter().map(|((thread, index), value)| (thread, index, value)).collect(),
        finals: finals.into_iter().collect(),
    })
}
