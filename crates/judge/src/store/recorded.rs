//! The recorded order: the lines of a trace as the first guess at a witness.
//!
//! Recorders write events down while they happen, so the order of the lines often explains the
//! trace already. It is tried before anything is inferred:
//!
//! 1. Replay: every access takes effect where it stands. That is an interleaving, which satisfies
//!    every store model.
//! 2. Store buffers ([`buffers`]): loads and atomics take effect where they stand, stores later, by
//!    need. That explains traces of machines with store buffers, whose stores are recorded when they
//!    retire.
//!
//! Both only ever say "consistent", with a witness; where they fail, nothing is known. So a recorded
//! order that says nothing, or lies, costs a pass and changes no verdict.

mod buffers;
mod checkpoints;
mod schedule;

use history::{EventId, History, Operation, Source, Value};
use models::{Keeps, StoreRules};

use self::buffers::Buffers;
use self::schedule::Schedule;

/// A witness that follows the recorded order.
pub(crate) struct Recorded {
    pub(crate) order: Vec<EventId>,
    /// Stores that may still be in a buffer at the end: no other thread has read them, and nothing
    /// behind them in their thread waits for them. In program order within each thread; with a
    /// store, every later one of its thread that must not overtake it is among them. A witness
    /// without them is one of the history without them.
    pub(crate) pending: Vec<EventId>,
}

/// A witness that follows the recorded order, if one is found.
pub(crate) fn explain(history: &History, rules: &StoreRules) -> Option<Recorded> {
    // Clocks of threads order accesses of their own, and may contradict the lines.
    if rules.times && history.has_times() {
        return None;
    }
    let order = history.recorded_order();
    if replays(history, &order) {
        let order = respects_orders(history, accesses(history, &order))?;
        return Some(Recorded { order, pending: Vec::new() });
    }
    if rules.write_read == Keeps::Always && rules.global {
        return None;
    }
    let mut schedule = Schedule::new(history, rules, order)?;
    let order = Buffers::new(history, &mut schedule).run()?;
    let order = respects_orders(history, order)?;
    Some(Recorded { order, pending: schedule.pending(history) })
}

/// Whether every read finds its value in memory if all accesses take effect in this order.
fn replays(history: &History, order: &[EventId]) -> bool {
    let mut memory: Vec<Value> =
        history.address_ids().map(|address| history.address(address).initial).collect();
    for &event in order {
        let (address, read, written) = match history.operation_of(event) {
            Operation::Read { address, value } => (address, Some(value), None),
            Operation::Write { address, value } => (address, None, Some(value)),
            Operation::ReadModifyWrite { address, read, write } => {
                (address, Some(read), Some(write))
            }
            Operation::Fence { .. } => continue,
        };
        let memory = &mut memory[address.index()];
        if read.is_some_and(|read| read != *memory) {
            return false;
        }
        *memory = written.unwrap_or(*memory);
    }
    history.finals().iter().all(|f| memory[f.address.index()] == f.value)
}

fn accesses(history: &History, order: &[EventId]) -> Vec<EventId> {
    order.iter().copied().filter(|&event| history.address_of(event).is_some()).collect()
}

/// The order, if the writes of `order` lines stand in it as the lines say.
fn respects_orders(history: &History, order: Vec<EventId>) -> Option<Vec<EventId>> {
    if history.orders().is_empty() {
        return Some(order);
    }
    let mut position = vec![0u32; history.len()];
    for (at, event) in (0..).zip(&order) {
        position[event.index()] = at;
    }
    let in_order = |pair: &[Source]| match (pair[0], pair[1]) {
        (Source::Initial, _) => true,
        (Source::Write(_), Source::Initial) => false,
        (Source::Write(a), Source::Write(b)) => position[a.index()] < position[b.index()],
    };
    history.orders().iter().all(|chain| chain.writes.windows(2).all(in_order)).then_some(order)
}
