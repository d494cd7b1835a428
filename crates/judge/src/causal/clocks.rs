//! Vector clocks over an acyclic relation: for every operation, how many writes of each thread come
//! before or are it. One row of `threads` numbers an operation, in one flat table, filled along an
//! order that extends the relation: O((n + edges) · threads).
//!
//! Every relation here keeps the writes of a thread that share an address in program order, and a
//! clock is only ever asked about those, so a count is enough to say which of them come before.

use super::operations::{From, Op, Operations, ReadsFrom};
use super::relation::Predecessors;
use crate::{Budget, Reason};

/// The clocks of all operations.
#[derive(Debug)]
pub(super) struct Clocks {
    width: usize,
    table: Vec<u32>,
}

impl Clocks {
    /// The clocks of a relation, given an order that extends it.
    pub(super) fn over(
        ops: &Operations,
        relation: &impl Predecessors,
        order: &[Op],
        budget: &Budget,
    ) -> Result<Self, Reason> {
        let width = ops.thread_count();
        let mut table = zeros(ops.len().saturating_mul(width), budget)?;
        let mut row = vec![0; width];
        for &op in order {
            row.fill(0);
            relation.before(op, |from, _| join(&mut row, row_of(&table, width, from)));
            if ops.is_write(op) {
                let own = &mut row[ops.thread(op)];
                *own = (*own).max(ops.rank(op) + 1);
            }
            table[op.index() * width..][..width].copy_from_slice(&row);
        }
        Ok(Clocks { width, table })
    }

    /// For each thread, how many of its writes come before or are `op`.
    pub(super) fn row(&self, op: Op) -> &[u32] {
        row_of(&self.table, self.width, op)
    }

    /// Whether a write comes before or is `op`.
    pub(super) fn has(&self, ops: &Operations, write: Op, op: Op) -> bool {
        self.row(op)[ops.thread(write)] > ops.rank(write)
    }
}

fn row_of(table: &[u32], width: usize, op: Op) -> &[u32] {
    &table[op.index() * width..][..width]
}

fn join(into: &mut [u32], from: &[u32]) {
    for (a, &b) in into.iter_mut().zip(from) {
        *a = (*a).max(b);
    }
}

/// A table of zeros, if the budget and the machine have room for it.
pub(super) fn zeros(length: usize, budget: &Budget) -> Result<Vec<u32>, Reason> {
    let bytes = length.checked_mul(size_of::<u32>()).ok_or(Reason::Memory)?;
    let mut table = Vec::new();
    if !budget.allows(bytes) || table.try_reserve_exact(length).is_err() {
        return Err(Reason::Memory);
    }
    table.resize(length, 0);
    Ok(table)
}

/// Calls `visit(read, write)` for every read whose source is decided and the last write of each
/// chain of its address that comes before it, until `visit` returns something. Clocks grow along a
/// thread, so each chain is walked once a thread: O(threads · n) in all.
pub(super) fn latest_writes<T>(
    ops: &Operations,
    reads_from: &ReadsFrom,
    clocks: &Clocks,
    mut visit: impl FnMut(Op, Op) -> Option<T>,
) -> Option<T> {
    let mut ends = vec![0; ops.chain_count()];
    for thread in 0..ops.thread_count() {
        for (chain, end) in ends.iter_mut().enumerate() {
            *end = ops.chain(chain).places().start;
        }
        for read in ops.of_thread(thread) {
            if reads_from.source(read) == From::Open {
                continue;
            }
            let row = clocks.row(read);
            for chain in ops.chains_of(ops.address(read)) {
                let places = ops.chain(chain).places();
                let known = row[ops.chain(chain).thread];
                let end = &mut ends[chain];
                while *end < places.end && ops.rank_at(*end) < known {
                    *end += 1;
                }
                if *end > places.start
                    && let Some(found) = visit(read, ops.write_at(*end - 1))
                {
                    return Some(found);
                }
            }
        }
    }
    None
}
