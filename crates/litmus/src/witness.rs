//! One execution that has a given outcome, as a history and an order for the kernel to replay.

use evidence::Witness;
use history::{AddressId, Builder, EventId, History, Kinds, Operation, ThinAir};

use crate::lower;
use crate::test::{Fence, Litmus, LocationId};

/// What a machine does on its way to an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MachineStep {
    /// A read took its value.
    Read { thread: usize, at: LocationId, value: u64 },
    /// A write was made, and waits to reach memory.
    Wrote { thread: usize, at: LocationId, value: u64 },
    /// The oldest write of a thread that waits for this location has reached memory.
    Reached { thread: usize, at: LocationId },
    /// A read and a write at once.
    Modified { thread: usize, at: LocationId, read: u64, written: u64 },
    /// A fence.
    Fenced { thread: usize, fence: Fence },
}

/// An execution of a test.
#[derive(Debug)]
pub struct Execution {
    /// Its events, with the values that were read and the final values that the test looks at.
    pub history: History,
    /// The order in which the machine performed them.
    pub order: Vec<EventId>,
}

impl Execution {
    /// The order as evidence for a certificate.
    pub fn witness(&self) -> Witness {
        Witness::Order(self.order.clone())
    }
}

/// An event of a thread, and its place in the order of performing.
pub(crate) struct Event {
    operation: Operation,
    performed: Option<usize>,
}

/// Makes an execution of what happened.
pub(crate) fn execution(
    test: &Litmus,
    happened: &[MachineStep],
    finals: &[(LocationId, u64)],
) -> Option<Execution> {
    built(test, ordered(happened, test.threads.len())?, finals)
}

/// Makes an execution of what happened at each location on its own, given what each thread did in
/// program order: at which locations, with fences between.
pub(crate) fn merged(
    test: &Litmus,
    threads: &[Vec<Result<LocationId, Fence>>],
    happened: &[Vec<MachineStep>],
    finals: &[(LocationId, u64)],
) -> Option<Execution> {
    let mut time = 0;
    let mut at: Vec<Vec<std::vec::IntoIter<Event>>> = Vec::new();
    for happened in happened {
        let mut here: Vec<Vec<Event>> = threads.iter().map(|_| Vec::new()).collect();
        for &one in happened {
            let (thread, operation) = one.operation()?;
            here[thread].push(Event { operation, performed: Some(time) });
            time += 1;
        }
        at.push(here.into_iter().map(Vec::into_iter).collect());
    }
    let mut events = Vec::new();
    for (thread, places) in threads.iter().enumerate() {
        let mut own = Vec::new();
        for place in places {
            own.push(match *place {
                Ok(id) => at[id.0 as usize][thread].next()?,
                Err(fence) => Event { operation: fence_operation(fence), performed: None },
            });
        }
        events.push(own);
    }
    built(test, events, finals)
}

/// Makes an execution of the events of each thread.
fn built(
    test: &Litmus,
    threads: Vec<Vec<Event>>,
    finals: &[(LocationId, u64)],
) -> Option<Execution> {
    let mut builder = Builder::new();
    for (id, initial) in lower::initial_memory(test).into_iter().enumerate() {
        let address = builder.address_named(&test.trace_name(LocationId(id as u32)));
        builder.initial(address, initial, 0).ok()?;
    }
    let mut order = Vec::new();
    let mut line = 0;
    for (thread, events) in threads.iter().enumerate() {
        for event in events {
            line += 1;
            builder.event(thread as u64, event.operation, line).ok()?;
            if let Some(performed) = event.performed {
                order.push((performed, line));
            }
        }
    }
    for &(id, value) in finals {
        builder.final_value(address(id), value, 0).ok()?;
    }
    let history = builder.finish(ThinAir::Violation).ok()?;
    // Threads were added one after the other, so an event's number is its line.
    order.sort_unstable();
    let order = order.into_iter().map(|(_, line)| EventId::new(line as usize - 1)).collect();
    Some(Execution { history, order })
}

/// Addresses of histories are numbered as locations are.
fn address(id: LocationId) -> AddressId {
    AddressId::new(id.0 as usize)
}

fn fence_operation(fence: Fence) -> Operation {
    let (before, after) = match fence {
        Fence::Full => (Kinds::ALL, Kinds::ALL),
        Fence::Store => (Kinds::WRITES, Kinds::WRITES),
        Fence::Load => (Kinds::READS, Kinds::ALL),
    };
    Operation::Fence { before, after }
}

impl MachineStep {
    /// The event that this is, if it is one.
    fn operation(self) -> Option<(usize, Operation)> {
        Some(match self {
            MachineStep::Read { thread, at, value } => {
                (thread, Operation::Read { address: address(at), value })
            }
            MachineStep::Wrote { thread, at, value } => {
                (thread, Operation::Write { address: address(at), value })
            }
            MachineStep::Modified { thread, at, read, written } => {
                let address = address(at);
                (thread, Operation::ReadModifyWrite { address, read, write: written })
            }
            MachineStep::Fenced { thread, fence } => (thread, fence_operation(fence)),
            MachineStep::Reached { .. } => return None,
        })
    }
}

/// The events of each thread in program order.
fn ordered(happened: &[MachineStep], threads: usize) -> Option<Vec<Vec<Event>>> {
    let mut events: Vec<Vec<Event>> = (0..threads).map(|_| Vec::new()).collect();
    for (time, &one) in happened.iter().enumerate() {
        if let MachineStep::Reached { thread, at } = one {
            let mut waiting = events[thread].iter_mut().filter(|event| {
                event.performed.is_none()
                    && event.operation.kinds() == Kinds::WRITES
                    && event.operation.address() == Some(address(at))
            });
            waiting.next()?.performed = Some(time);
            continue;
        }
        let (thread, operation) = one.operation()?;
        let at_once = matches!(one, MachineStep::Read { .. } | MachineStep::Modified { .. });
        events[thread].push(Event { operation, performed: at_once.then_some(time) });
    }
    Some(events)
}
