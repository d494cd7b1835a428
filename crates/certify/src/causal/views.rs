//! `cm` from one sequence for each thread.
//!
//! The view of a thread holds, once each, all writes in the causal past of its last operation and
//! its own reads, in an order that extends causality; executed one after the other, each of its
//! own reads sees what it read. A read-modify-write of the thread itself is read and written at
//! its place, one of another thread is only written. Such an order contains the hb of the thread,
//! which is therefore acyclic; that every thread has one gives cc.
//! O(length of the views · threads).

use history::{EventId, Source, ThreadId};

use super::operations::{From, Operations};
use super::relation::{Closure, Order, Relation};
use crate::names;
use crate::rejection::Fault;

/// Checks that each thread's view explains its reads.
pub(super) fn hold(operations: &Operations<'_>, views: &[Vec<EventId>]) -> Result<(), Fault> {
    let history = operations.history;
    if views.len() != history.thread_count() {
        return Err(Fault::ViewCount { threads: history.thread_count(), views: views.len() });
    }
    let causality =
        Relation::new(operations, Order::Program, "po ∪ rf").with(operations.reads_from());
    let causality = causality.close()?;
    let mut memory = vec![From::Initial; history.address_count()];
    for (thread, view) in history.threads().zip(views) {
        extends_causality(operations, &causality, thread, view)?;
        explains_reads(operations, thread, view, &mut memory)?;
    }
    Ok(())
}

/// The last operation of each event that the view of a thread must hold, by thread.
fn expected(
    operations: &Operations<'_>,
    causality: &Closure<'_>,
    thread: ThreadId,
) -> Vec<Vec<usize>> {
    let mut expected = vec![Vec::new(); operations.history.thread_count()];
    let Some(last) = operations.all.iter().rposition(|o| o.thread == thread.index()) else {
        return expected;
    };
    for (op, o) in operations.all.iter().enumerate() {
        let own_read = o.thread == thread.index() && !operations.history.event(o.event).is_write();
        let known = op == last || causality.precedes(op, last);
        if own_read || (o.is_write() && known) {
            expected[o.thread].push(op);
        }
    }
    expected
}

fn extends_causality(
    operations: &Operations<'_>,
    causality: &Closure<'_>,
    thread: ThreadId,
    view: &[EventId],
) -> Result<(), Fault> {
    let label = operations.history.thread_label(thread);
    let expected = expected(operations, causality, thread);
    // How much of each thread's part the view has held so far, and the place of what comes next in the
    // chain of the thread, which is no part of the past of anything before it.
    let mut held = vec![0; expected.len()];
    let place = |op: Option<&usize>| op.map_or(u32::MAX, |&op| causality.place(op));
    let mut next: Vec<u32> = expected.iter().map(|ops| place(ops.first())).collect();
    for &e in view {
        let owner = operations.history.event(e).thread.index();
        let op = match expected[owner].get(held[owner]) {
            Some(&op) if operations.all[op].event == e => op,
            _ => {
                let event = names::event(operations.history, e);
                return Err(Fault::NotInView { thread: label, event });
            }
        };
        held[owner] += 1;
        next[owner] = place(expected[owner].get(held[owner]));
        let mut past = causality.past(op).iter().zip(&next);
        if let Some(thread) = past.position(|(&past, &next)| past > next) {
            let cause = expected[thread][held[thread]];
            let (earlier, later) = (operations.name(cause), operations.name(op));
            return Err(Fault::ViewAgainstCausality { thread: label, earlier, later });
        }
    }
    let missing = expected.iter().zip(&held).find_map(|(ops, &held)| ops.get(held));
    missing.map_or(Ok(()), |&op| {
        Err(Fault::ViewTooShort { thread: label, event: operations.name(op) })
    })
}

fn explains_reads(
    operations: &Operations<'_>,
    thread: ThreadId,
    view: &[EventId],
    memory: &mut [From],
) -> Result<(), Fault> {
    let history = operations.history;
    for &e in view {
        let event = history.event(e);
        let Some(address) = event.address() else { continue };
        let own_read = event.is_read() && event.thread == thread;
        if own_read && operations.source(e) != Some(memory[address.index()]) {
            let label = history.thread_label(thread);
            return Err(Fault::ViewWrongValue { thread: label, event: names::event(history, e) });
        }
        if event.is_write() {
            memory[address.index()] = operations.from(Source::Write(e));
        }
    }
    for &e in view {
        if let Some(address) = history.event(e).address() {
            memory[address.index()] = From::Initial;
        }
    }
    Ok(())
}
