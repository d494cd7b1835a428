//! `ccv` from one order of all operations: later wins.
//!
//! If the order extends po and rf, agrees with the `order` and `final` lines, and every read takes
//! the latest write of its address, in this order, among those in its causal past, then the order
//! extends po ∪ rf ∪ cf, which is acyclic; and any order that extends it is such an order. With
//! read-modify-writes the definition asks for less than an order in which they are atomic, so those
//! histories come with choices instead. O(n · threads · log n).

use history::EventId;

use super::operations::{From, Operations};
use super::relation::{Hints, Order, Relation};
use crate::machine::{follows_order_lines, positions};
use crate::rejection::Fault;

/// Checks that the order is an arbitration of the history.
pub(super) fn holds(operations: &Operations<'_>, order: &[EventId]) -> Result<(), Fault> {
    if operations.atomics().next().is_some() {
        return Err(Fault::Atomics);
    }
    let position = positions(operations.history, order)?;
    let place = |op: usize| position[operations.all[op].event.index()];
    let before = |a: usize, b: usize, why: &'static str| {
        let fault =
            || Fault::OutOfOrder { earlier: operations.name(a), later: operations.name(b), why };
        if place(a) < place(b) { Ok(()) } else { Err(fault()) }
    };
    for op in 1..operations.all.len() {
        if operations.all[op - 1].thread == operations.all[op].thread {
            before(op - 1, op, "program order")?;
        }
    }
    for (read, from) in operations.reads() {
        if let From::Write(write) = from {
            before(write, read, "what it read")?;
        }
    }
    follows_order_lines(operations.history, &position)?;
    for &(a, b) in &operations.write_order {
        before(a, b, "an `order` or `final` line")?;
    }
    latest_of_the_past(operations, place)
}

fn latest_of_the_past(
    operations: &Operations<'_>,
    place: impl Fn(usize) -> u32,
) -> Result<(), Fault> {
    let causality =
        Relation::new(operations, Order::Program, "po ∪ rf").with(operations.reads_from());
    let causality = causality.close()?;
    let mut hints = Hints::new(operations);
    for (read, from) in operations.reads() {
        let later = causality.latest_writes(read, &mut hints).find(|&write| match from {
            From::Initial => true,
            From::Write(source) => place(write) > place(source),
        });
        if let Some(by) = later {
            let reader = operations.name(read);
            return Err(Fault::Overwritten { reader, by: operations.name(by) });
        }
    }
    Ok(())
}
