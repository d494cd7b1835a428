//! The causal models by definition, given what every read read.
//!
//! Each model is a least fixpoint, computed in rounds: close the relation, see what its rules
//! derive from it, add that, until nothing is new or a cycle appears. Rules that speak of all
//! writes before a read add an edge from the latest of each thread only; the others follow by
//! program order. A round costs O(n · threads · log n).

use std::collections::BTreeSet;

use models::Model;

use super::operations::{From, Op, Operations};
use super::relation::{Closure, Hints, Order, Relation, program_order};
use crate::rejection::Fault;

/// Checks that the history satisfies the model.
pub(super) fn holds(operations: &Operations<'_>, model: Model) -> Result<(), Fault> {
    match model {
        Model::Cc => cc(operations),
        Model::Cm => cm(operations),
        Model::Ccv => ccv(operations),
        Model::Ccm => ccm(operations),
        Model::Wccm => wccm(operations),
        _ => Err(Fault::WrongEvidence { model }),
    }
}

type Edges = Vec<(Op, Op)>;

/// rf between threads.
fn external(operations: &Operations<'_>) -> Edges {
    let thread = |op: Op| operations.all[op].thread;
    let mut edges = operations.reads_from();
    edges.retain(|&(write, read)| thread(write) != thread(read));
    edges
}

/// The fault of a read of the initial value, in whose past its address was written.
fn overwritten(operations: &Operations<'_>, read: Op, by: Op) -> Fault {
    Fault::Overwritten { reader: operations.name(read), by: operations.name(by) }
}

/// For each of the reads, the writes of its address before it come before what it read.
fn before_what_was_read(
    operations: &Operations<'_>,
    closure: &Closure<'_>,
    reads: impl Fn(Op, From) -> bool,
) -> Result<Edges, Fault> {
    let (mut edges, mut hints) = (Vec::new(), Hints::new(operations));
    for (read, from) in operations.reads().filter(|&(read, from)| reads(read, from)) {
        for write in closure.latest_writes(read, &mut hints) {
            match from {
                From::Initial => return Err(overwritten(operations, read, write)),
                From::Write(source) if source == write => {}
                From::Write(source) => edges.push((write, source)),
            }
        }
    }
    Ok(edges)
}

fn cc(operations: &Operations<'_>) -> Result<(), Fault> {
    let causality =
        Relation::new(operations, Order::Program, "po ∪ rf").with(operations.reads_from());
    let causality = causality.close()?;
    let mut hints = Hints::new(operations);
    for (read, from) in operations.reads() {
        let stale = causality.latest_writes(read, &mut hints).find(|&write| match from {
            From::Initial => true,
            From::Write(source) => causality.precedes(source, write),
        });
        if let Some(by) = stale {
            return Err(overwritten(operations, read, by));
        }
    }
    Ok(())
}

/// What the threads observe over a program order and the visible part of rf: for the hb of each
/// thread, what its reads add to it. A cycle in one of them violates every model that asks.
fn observed(operations: &Operations<'_>, order: Order, visible: &Edges) -> Result<Edges, Fault> {
    let mut all = Vec::new();
    for thread in 0..operations.history.thread_count() {
        let mut happens_before = Relation::new(operations, order, "the happens-before of a thread")
            .with(visible.clone());
        loop {
            let closure = happens_before.close()?;
            let mut new = before_what_was_read(operations, &closure, |read, _| {
                operations.all[read].thread == thread
            })?;
            new.retain(|&(a, b)| !closure.precedes(a, b));
            if new.is_empty() {
                break;
            }
            happens_before.add(&new);
            all.extend(new);
        }
    }
    Ok(all)
}

fn cm(operations: &Operations<'_>) -> Result<(), Fault> {
    observed(operations, Order::Program, &operations.reads_from()).map(drop)
}

fn ccv(operations: &Operations<'_>) -> Result<(), Fault> {
    let reads_from = operations.reads_from();
    let causality = Relation::new(operations, Order::Program, "po ∪ rf").with(reads_from.clone());
    let conflicts = before_what_was_read(operations, &causality.close()?, |_, _| true)?;
    let whole = Relation::new(operations, Order::Program, "po ∪ rf ∪ cf")
        .with(reads_from)
        .with(conflicts)
        .with(operations.write_order.iter().copied());
    atomicity(operations, &mut [whole])
}

/// pww before closure: writes of one address ordered by happens-before, by conflicts, and by the
/// trace.
fn store_order(
    operations: &Operations<'_>,
    happens_before: &Closure<'_>,
    conflicts: Edges,
) -> Edges {
    let (mut edges, mut hints) = (conflicts, Hints::new(operations));
    edges.extend_from_slice(&operations.write_order);
    for (op, _) in operations.all.iter().enumerate().filter(|(_, o)| o.is_write()) {
        edges.extend(happens_before.latest_writes(op, &mut hints).map(|write| (write, op)));
    }
    edges
}

/// rw: a read comes before what overwrites, in the store order, what it read.
fn from_reads(operations: &Operations<'_>, store_order: &Closure<'_>) -> Edges {
    let mut edges = Vec::new();
    for (read, from) in operations.reads() {
        match from {
            From::Initial => {
                let first = operations.writers_at(read).iter().filter_map(|list| list.first());
                edges.extend(first.map(|&write| (read, write)));
            }
            From::Write(source) => {
                edges.extend(store_order.earliest_after(source).map(|write| (read, write)));
            }
        }
    }
    edges
}

fn ccm(operations: &Operations<'_>) -> Result<(), Fault> {
    let reads_from = operations.reads_from();
    let observed = observed(operations, Order::Program, &reads_from)?;
    let happens_before = Relation::new(operations, Order::Program, "happens-before")
        .with(reads_from.clone())
        .with(observed);
    let stores = {
        let closure = happens_before.close()?;
        let conflicts = before_what_was_read(operations, &closure, |_, _| true)?;
        store_order(operations, &closure, conflicts)
    };
    let store_order = Relation::new(operations, Order::Writes, "pww").with(stores.iter().copied());
    let from_reads = from_reads(operations, &store_order.close()?);
    let whole = Relation::new(operations, Order::Program, "po ∪ rf ∪ pww ∪ rw")
        .with(reads_from)
        .with(stores)
        .with(from_reads);
    atomicity(operations, &mut [whole])
}

fn wccm(operations: &Operations<'_>) -> Result<(), Fault> {
    let thread = |op: Op| operations.all[op].thread;
    let from_the_future = |&(write, read): &(Op, Op)| thread(write) == thread(read) && write > read;
    if operations.reads_from().iter().any(from_the_future) {
        return Err(Fault::Cyclic { relation: "po ∪ rf" });
    }
    let visible = external(operations);
    let is_external = |read: Op, from: From| match from {
        From::Initial => false,
        From::Write(write) => thread(write) != thread(read),
    };
    let mut together = Relation::new(operations, Order::Preserved, "happens-before")
        .with(program_order(operations, Order::Location))
        .with(visible.iter().copied());
    let mut conflicts = Vec::new();
    for order in [Order::Preserved, Order::Location] {
        let observed = observed(operations, order, &visible)?;
        together.add(&observed);
        let happens_before =
            Relation::new(operations, order, "happens-before").with(visible.clone()).with(observed);
        let closure = happens_before.close()?;
        conflicts.extend(before_what_was_read(operations, &closure, is_external)?);
    }
    let stores = store_order(operations, &together.close()?, conflicts);
    let store_order = Relation::new(operations, Order::Writes, "wpww").with(stores.iter().copied());
    let from_reads = from_reads(operations, &store_order.close()?);
    let whole = |order: Order, name: &'static str| {
        Relation::new(operations, order, name)
            .with(visible.iter().copied())
            .with(stores.iter().copied())
            .with(from_reads.iter().copied())
    };
    let preserved = whole(Order::Preserved, "ppo ∪ rfe ∪ wpww ∪ rw");
    let location = whole(Order::Location, "po-loc ∪ rfe ∪ wpww ∪ rw");
    atomicity(operations, &mut [preserved, location])
}

/// Closes the relations under atomicity: a write after what a read-modify-write read comes after
/// its write, and a write before it comes before what it read. What one relation derives holds in
/// all.
fn atomicity(operations: &Operations<'_>, relations: &mut [Relation<'_>]) -> Result<(), Fault> {
    let mut known = BTreeSet::new();
    loop {
        let mut new = Vec::new();
        for relation in &*relations {
            let closure = relation.close()?;
            for (atomic, from) in operations.atomics() {
                around(operations, &closure, atomic, from, &mut new)?;
            }
        }
        new.retain(|&edge| known.insert(edge));
        if new.is_empty() {
            return Ok(());
        }
        relations.iter_mut().for_each(|relation| relation.add(&new));
    }
}

/// What atomicity derives for one read-modify-write, given as its write and what it read.
fn around(
    operations: &Operations<'_>,
    closure: &Closure<'_>,
    atomic: Op,
    from: From,
    new: &mut Edges,
) -> Result<(), Fault> {
    let other = |&&write: &&Op| write != atomic && From::Write(write) != from;
    for list in operations.writers_at(atomic) {
        let after = match from {
            From::Initial => 0,
            From::Write(source) => list.partition_point(|&write| !closure.precedes(source, write)),
        };
        new.extend(list[after..].iter().find(other).map(|&write| (atomic, write)));
        let before = list.partition_point(|&write| closure.precedes(write, atomic));
        match (list[..before].iter().rfind(other), from) {
            (Some(&write), From::Initial) => return Err(overwritten(operations, atomic, write)),
            (Some(&write), From::Write(source)) => new.push((write, source)),
            (None, _) => {}
        }
    }
    Ok(())
}
