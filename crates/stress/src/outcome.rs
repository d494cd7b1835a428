//! What a run of a program read, and the history that makes.

use std::fmt;

use history::{BuildError, Builder, History, Operation, ThinAir, Value};

use crate::program::{Action, Program};

/// What the reads of a program returned in one run, and what was in memory at the end.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Outcome {
    /// One value for each of [`Program::readers`], in that order.
    pub reads: Vec<Value>,
    /// One value for each place, if that was looked at.
    pub finals: Option<Vec<Value>>,
}

impl Program {
    /// The history of a run. A read of a value nobody wrote is a violation of every model, not bad
    /// input: here it is the target that made it up.
    pub fn history(&self, outcome: &Outcome) -> Result<History, OutcomeError> {
        let places = outcome.finals.as_ref().map_or(self.places.len(), Vec::len);
        if outcome.reads.len() != self.readers().count() || places != self.places.len() {
            return Err(OutcomeError::Shape);
        }
        let mut builder = Builder::new();
        let places = self.places.iter();
        let addresses: Vec<_> = places.map(|place| builder.address(&place.label)).collect();
        let mut reads = outcome.reads.iter().copied();
        let mut line = 0;
        for (thread, instructions) in self.threads.iter().enumerate() {
            let mut named = vec![false; instructions.len()];
            for &on in instructions.iter().flat_map(|instruction| &instruction.depends_on) {
                named[on as usize] = true;
            }
            for (index, instruction) in instructions.iter().enumerate() {
                let action = instruction.action;
                let read = if action.reads() { reads.next() } else { None }.unwrap_or_default();
                line += 1;
                let operation = operation(action, read, |place| addresses[place as usize]);
                let draft = builder.event(thread as u64, operation, line)?;
                if named[index] {
                    builder.name(draft, &name(thread, index as u32))?;
                }
                for &on in &instruction.depends_on {
                    builder.dependency(draft, &name(thread, on))?;
                }
            }
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

/// What an instruction did if it read this.
fn operation(
    action: Action,
    read: Value,
    address: impl Fn(u32) -> history::AddressId,
) -> Operation {
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
