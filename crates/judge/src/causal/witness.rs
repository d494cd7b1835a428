//! Evidence that a history satisfies a causal model: what the check found, in events.
//!
//! `ccv` comes with an arbitration order, `cm` with a view for each thread; `ccm` and `wccm`, and `ccv`
//! with read-modify-writes, with orders that extend their relations; `cc`, and histories of `cm` whose
//! read-modify-writes cannot stand at one place, with the choices of reads-from.

use evidence::{Reader, Witness};
use history::{EventId, Source};

use super::check::{Established, Problem};
use super::choices::{ambiguous, sources};
use super::operations::{From, Op, Operations, ReadsFrom};

/// The witness for what a check established.
pub(super) fn witness(
    problem: &Problem<'_>,
    reads_from: &ReadsFrom,
    established: Established,
) -> Witness {
    let reads = chosen(problem, reads_from);
    let events = |order: Vec<Op>| order.into_iter().map(|op| problem.ops.event(op)).collect();
    if problem.rules.store_order {
        return extensions(problem, reads, established);
    }
    if problem.rules.memory {
        return match views(problem, reads_from, established.views) {
            Some(views) => Witness::Views { views, reads },
            None => Witness::Choices(reads),
        };
    }
    if !problem.rules.convergent {
        return Witness::Choices(reads);
    }
    // An arbitration has one place for a read-modify-write, whose two operations the model does not
    // ask to be neighbours in every order that extends its relation.
    if problem.ops.has_updates() {
        return extensions(problem, reads, established);
    }
    let order = established.orders.into_iter().next().map_or_else(Vec::new, events);
    Witness::Arbitration { order, reads }
}

/// The orders in events, where a read-modify-write stands twice.
fn extensions(
    problem: &Problem<'_>,
    reads: Vec<(Reader, Source)>,
    established: Established,
) -> Witness {
    let event = |op: Op| problem.ops.event(op);
    let orders = established.orders.into_iter();
    let orders = orders.map(|order| order.into_iter().map(event).collect()).collect();
    let atomicity = established.atomicity.into_iter().map(|(a, b)| (event(a), event(b))).collect();
    Witness::Extensions { orders, atomicity, reads }
}

/// What each ambiguous reader read; one that the model does not ask about, anything.
fn chosen(problem: &Problem<'_>, reads_from: &ReadsFrom) -> Vec<(Reader, Source)> {
    let history = problem.history;
    ambiguous(history)
        .map(|reader| {
            let from = match reader {
                Reader::Event(event) | Reader::Part(event, _) => {
                    reads_from.source(problem.ops.read_of(event))
                }
                Reader::Final(address) | Reader::FinalPart(address, _) => {
                    (history.finals().iter().zip(&reads_from.finals))
                        .find(|(line, _)| line.address == address)
                        .map_or(From::Open, |(_, &from)| from)
                }
            };
            let source = match from {
                From::Write(write) => Source::Write(problem.ops.event(write)),
                From::Initial => Source::Initial,
                From::Open => sources(history, reader)[0],
            };
            (reader, source)
        })
        .collect()
}

/// The views as events: all writes, and the reads of the thread itself. A read-modify-write of the
/// thread stands where it read or, failing that, where it wrote. `cm` does not ask for it to be
/// atomic, so it may be that neither will do; then there are no such views.
fn views(
    problem: &Problem<'_>,
    reads_from: &ReadsFrom,
    views: Vec<Vec<Op>>,
) -> Option<Vec<Vec<EventId>>> {
    let ops = &problem.ops;
    let mut memory = vec![Op::NONE; ops.address_count()];
    let mut all = Vec::with_capacity(views.len());
    for (thread, view) in views.into_iter().enumerate() {
        let is_own = |op: Op| ops.thread(op) == thread;
        let placed = [true, false].into_iter().find_map(|at_read| {
            let stands = |&op: &Op| match ops.is_half(op) && is_own(op) {
                true => ops.is_write(op) != at_read,
                false => ops.is_write(op) || is_own(op),
            };
            let order: Vec<Op> = view.iter().copied().filter(stands).collect();
            explains(ops, reads_from, thread, &order, &mut memory).then_some(order)
        })?;
        all.push(placed.into_iter().map(|op| ops.event(op)).collect());
    }
    Some(all)
}

/// Whether each read of the thread sees what it read, in this order. `memory` has the last write of
/// each address, and is as new before and after.
fn explains(
    ops: &Operations,
    reads_from: &ReadsFrom,
    thread: usize,
    view: &[Op],
    memory: &mut [Op],
) -> bool {
    let mut is_explained = true;
    for &op in view {
        let (mut read, mut write) = (Op::NONE, Op::NONE);
        if ops.is_write(op) {
            write = op;
        }
        if ops.thread(op) == thread {
            match ops.is_write(op) {
                true => read = ops.read_half_of(op).unwrap_or(Op::NONE),
                false => (read, write) = (op, ops.update_of(op).unwrap_or(Op::NONE)),
            }
        }
        let cell = &mut memory[ops.address(op).index()];
        // Nothing was read but the initial write if it was no other, for all is decided.
        is_explained &= !read.is_some() || reads_from.write(read) == *cell;
        if write.is_some() {
            *cell = write;
        }
    }
    for &op in view {
        memory[ops.address(op).index()] = Op::NONE;
    }
    is_explained
}
