//! Clocks along an order: how many writes of each thread come before or are an operation.
//!
//! Every relation here keeps the writes of a thread that share an address in program order, and clocks
//! are only compared with those, so a count says which come before.

use super::layout::{Layout, thread};
use super::out_of_order;
use super::scopes::{Observed, Readers};
use super::side::Side;
use crate::causal::operations::{From, Operations};
use crate::rejection::Fault;

/// A table with a row of one number for each thread.
pub(super) struct Rows {
    width: usize,
    table: Vec<u32>,
}

impl Rows {
    pub(super) fn new(width: usize, rows: usize) -> Self {
        Self::filled(width, rows, 0)
    }

    pub(super) fn filled(width: usize, rows: usize, value: u32) -> Self {
        Self { width, table: vec![value; width * rows] }
    }

    pub(super) fn row(&self, slot: usize) -> &[u32] {
        &self.table[slot * self.width..][..self.width]
    }

    pub(super) fn row_mut(&mut self, slot: usize) -> &mut [u32] {
        &mut self.table[slot * self.width..][..self.width]
    }

    /// The larger of what a row has and other numbers.
    pub(super) fn raise(&mut self, slot: usize, other: &[u32]) {
        join(self.row_mut(slot), other);
    }
}

pub(super) fn join(into: &mut [u32], from: &[u32]) {
    for (a, &b) in into.iter_mut().zip(from) {
        *a = (*a).max(b);
    }
}

/// The clocks of the closure of a side's program order and reads-from, with what was observed.
pub(super) fn of(
    operations: &Operations<'_>,
    layout: &Layout,
    side: &Side,
    readers: &Readers,
    observed: &[Observed],
) -> Result<Rows, Fault> {
    let mut clocks = Rows::new(layout.threads, layout.len());
    let mut row = vec![0; layout.threads];
    for &op in &side.sequence {
        row.fill(0);
        for before in side.before(op) {
            join(&mut row, clocks.row(layout.slot(before)));
        }
        if operations.all[op as usize].is_write() {
            let groups = readers.of(layout.slot(op)).filter(|_| !observed.is_empty());
            for group in groups {
                for before in observed.iter().flat_map(|observed| observed.before(group)) {
                    if side.place(before) > side.place(op) {
                        let why = "what a thread observed";
                        return Err(out_of_order(operations, before, op, why));
                    }
                    if row[thread(operations, before)] <= layout.rank(before) {
                        join(&mut row, clocks.row(layout.slot(before)));
                    }
                }
            }
            let own = &mut row[thread(operations, op)];
            *own = (*own).max(layout.rank(op) + 1);
        }
        clocks.row_mut(layout.slot(op)).copy_from_slice(&row);
    }
    Ok(clocks)
}

/// Adds to what is known of each write what its visible readers know.
pub(super) fn add_conflicts(
    operations: &Operations<'_>,
    layout: &Layout,
    side: &Side,
    clocks: &Rows,
    known: &mut Rows,
) -> Result<(), Fault> {
    for (read, from) in operations.reads() {
        let row = clocks.row(layout.slot(read as u32));
        match (from, side.source(read as u32)) {
            (_, Some(source)) => known.raise(layout.slot(source), row),
            (From::Write(_), None) => {}
            (From::Initial, None) => {
                let overwrites = layout
                    .chains_of(operations.all[read].address)
                    .iter()
                    .find(|c| layout.rank_at(c.slots.start) < row[c.thread]);
                if let Some(chain) = overwrites {
                    let by = operations.name(layout.write_at(chain.slots.start) as usize);
                    return Err(Fault::Overwritten { reader: operations.name(read), by });
                }
            }
        }
    }
    Ok(())
}

/// Adds to what is known of each write what the clocks say.
pub(super) fn add_writes(clocks: &Rows, known: &mut Rows) {
    join(&mut known.table, &clocks.table);
}
