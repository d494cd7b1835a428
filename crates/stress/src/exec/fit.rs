//! Whether a trace is one of a program: what a target says it has run is what it was asked to run.

use history::{AddressLabel, EventId, History, Operation, ThreadId, Value};

use crate::program::{Action, Program};

/// The values that the reads of a program returned in a trace, if every thread of the trace has the
/// instructions of the program in order; else an error.
pub(super) fn fits(program: &Program, history: &History) -> Result<Vec<Value>, String> {
    let mut reads = Vec::new();
    let mut events: Vec<Option<ThreadId>> = vec![None; program.threads.len()];
    for thread in history.threads() {
        let label = history.thread_label(thread);
        let known = usize::try_from(label).ok().and_then(|label| events.get_mut(label));
        match known {
            Some(known) => *known = Some(thread),
            None => return Err(format!("the program has no thread {label}")),
        }
    }
    for (thread, (instructions, id)) in program.threads.iter().zip(events).enumerate() {
        let mut done = id.into_iter().flat_map(|id| history.thread_events(id));
        for (index, instruction) in instructions.iter().enumerate() {
            let Some(event) = done.next() else {
                return Err(format!(
                    "thread {thread} has only {index} events, fewer than the program has \
                     instructions"
                ));
            };
            if !is(program, instruction.action, history, event) {
                let line = history.event(event).line;
                return Err(format!("line {line} is not instruction {index} of thread {thread}"));
            }
            reads.extend(history.event(event).operation.value_read());
        }
        if let Some(event) = done.next() {
            let line = history.event(event).line;
            return Err(format!("line {line} is beyond the last instruction of thread {thread}"));
        }
    }
    let initial = |label: &AddressLabel| {
        let place = program.places.iter().find(|place| place.label == *label);
        place.map_or(0, |place| place.initial)
    };
    let wrong = history.address_ids().map(|id| history.address(id)).find(|address| {
        // Said or not said: a trace without `init` would have it begin at 0.
        address.initial != initial(&address.label)
    });
    match wrong {
        Some(address) => {
            let label = &address.label;
            Err(format!(
                "M[{label}] starts with {}: the trace needs an `init` line",
                initial(label)
            ))
        }
        None => Ok(reads),
    }
}

/// Whether an event is an instruction having been run.
fn is(program: &Program, action: Action, history: &History, event: EventId) -> bool {
    let operation = history.event(event).operation;
    let there = |place: u32, address| {
        program.places[place as usize].label == history.address(address).label
    };
    match (action, operation) {
        (Action::Fence { before, after }, Operation::Fence { before: b, after: a }) => {
            (before, after) == (b, a)
        }
        (Action::Store { place, value }, Operation::Write { address, value: written }) => {
            there(place, address) && value == written
        }
        (Action::Store { .. }, _) => false,
        (action, Operation::Read { address, value }) => {
            at(action, address, &there) && action.written(value).is_none()
        }
        (action, Operation::ReadModifyWrite { address, read, write }) => {
            at(action, address, &there) && wrote(action, read) == Some(write)
        }
        _ => false,
    }
}

fn at<A>(action: Action, address: A, there: &impl Fn(u32, A) -> bool) -> bool {
    action.place().is_some_and(|place| there(place, address))
}

/// The value that an atomic writes after reading this one; `None` for loads and stores.
fn wrote(action: Action, read: Value) -> Option<Value> {
    match action {
        Action::Store { .. } => None,
        action => action.written(read),
    }
}
