//! What a run of a program read, and the history that makes.

use std::fmt;

use history::{AddressId, BuildError, Builder, History, Operation, ThinAir, Value};

use crate::program::{Action, Instruction, Program};

/// The values that the reads of a program returned in one run, and the final memory.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Outcome {
    /// One value for each of [`Program::readers`], in that order.
    pub reads: Vec<Value>,
    /// The final value of each place, if memory was read at the end.
    pub finals: Option<Vec<Value>>,
}

impl Program {
    /// The history of a run, thread by thread. A read of a value that was never written is a
    /// violation of every model, not bad input: the target has invented it.
    pub fn history(&self, outcome: &Outcome) -> Result<History, OutcomeError> {
        let of_thread = |(thread, instructions): (u32, &Vec<Instruction>)| {
            let accesses = instructions.iter().filter(|each| each.action.place().is_some());
            std::iter::repeat_n(thread, accesses.count())
        };
        self.recorded(outcome, (0..).zip(&self.threads).flat_map(of_thread))
    }

    /// The history of a run whose accesses were recorded in this order: the next one of the first
    /// thread named, then that of the second, and so on. A fence stands right before what follows it
    /// in its thread.
    pub fn recorded(
        &self,
        outcome: &Outcome,
        turns: impl IntoIterator<Item = u32>,
    ) -> Result<History, OutcomeError> {
        let places = outcome.finals.as_ref().map_or(self.places.len(), Vec::len);
        if outcome.reads.len() != self.readers().count() || places != self.places.len() {
            return Err(OutcomeError::Shape);
        }
        let mut builder = Builder::new();
        let places = self.places.iter();
        let addresses: Vec<_> = places.map(|place| builder.address(&place.label)).collect();
        let mut recorder = Recorder::new(self, outcome, &addresses);
        for thread in turns {
            recorder.next_access(&mut builder, thread as usize)?;
        }
        for thread in 0..self.threads.len() {
            while recorder.next_access(&mut builder, thread)? {}
        }
        for (place, &address) in self.places.iter().zip(&addresses) {
            if place.initial != 0 {
                builder.initial(address, place.initial, 0)?;
            }
        }
        for (&value, &address) in outcome.finals.iter().flatten().zip(&addresses) {
            builder.final_value(address, value, 0)?;
        }
        Ok(builder.finish(ThinAir::Violation)?)
    }
}

/// The events in recorded order: how far each thread has come.
struct Recorder<'r> {
    program: &'r Program,
    outcome: &'r Outcome,
    addresses: &'r [AddressId],
    /// For each thread its next instruction, and where the next value that it reads stands.
    next: Vec<(usize, usize)>,
    /// Which instructions of each thread others depend on.
    named: Vec<Vec<bool>>,
    line: u32,
}

impl<'r> Recorder<'r> {
    fn new(program: &'r Program, outcome: &'r Outcome, addresses: &'r [AddressId]) -> Self {
        let (mut next, mut named) = (Vec::new(), Vec::new());
        let mut reads = 0;
        for instructions in &program.threads {
            next.push((0, reads));
            reads += instructions.iter().filter(|each| each.action.reads()).count();
            let mut of_thread = vec![false; instructions.len()];
            for &on in instructions.iter().flat_map(|instruction| &instruction.depends_on) {
                of_thread[on as usize] = true;
            }
            named.push(of_thread);
        }
        Recorder { program, outcome, addresses, next, named, line: 0 }
    }

    /// The next access of a thread and the fences before it; false if the thread has ended.
    fn next_access(&mut self, builder: &mut Builder, thread: usize) -> Result<bool, BuildError> {
        while let Some(instruction) = self.program.threads[thread].get(self.next[thread].0) {
            self.instruction(builder, thread, instruction)?;
            if instruction.action.place().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn instruction(
        &mut self,
        builder: &mut Builder,
        thread: usize,
        instruction: &Instruction,
    ) -> Result<(), BuildError> {
        let (index, at) = self.next[thread];
        let action = instruction.action;
        let read = if action.reads() { self.outcome.reads[at] } else { 0 };
        self.line += 1;
        let operation = operation(action, read, |place| self.addresses[place as usize]);
        let draft = builder.event(thread as u64, operation, self.line)?;
        if self.named[thread][index] {
            builder.name(draft, &name(thread, index as u32))?;
        }
        for &on in &instruction.depends_on {
            builder.dependency(draft, &name(thread, on))?;
        }
        if let Some(order) = instruction.order {
            builder.annotate(draft, order)?;
        }
        self.next[thread] = (index + 1, at + usize::from(action.reads()));
        Ok(())
    }
}

/// The operation of an instruction that reads this value.
fn operation(action: Action, read: Value, address: impl Fn(u32) -> AddressId) -> Operation {
    match (action, action.written(read)) {
        (Action::Fence { before, after }, _) => Operation::Fence { before, after },
        (Action::Store { place, value }, _) => Operation::Write { address: address(place), value },
        (_, written) => {
            let place = action.place().expect("what is no fence accesses a place");
            match written {
                None => Operation::Read { address: address(place), value: read },
                Some(write) => Operation::ReadModifyWrite { address: address(place), read, write },
            }
        }
    }
}

/// The name of an event that others depend on.
fn name(thread: usize, index: u32) -> String {
    format!("t{thread}i{index}")
}

/// Why an outcome is not one of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutcomeError {
    /// It has not a value for each read, or not one for each place.
    Shape,
    /// It is no history.
    Build(BuildError),
}

impl From<BuildError> for OutcomeError {
    fn from(error: BuildError) -> Self {
        OutcomeError::Build(error)
    }
}

impl fmt::Display for OutcomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutcomeError::Shape => write!(f, "the outcome does not fit the program"),
            OutcomeError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OutcomeError {}
