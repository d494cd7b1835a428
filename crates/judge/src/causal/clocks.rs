//! Vector clocks over an acyclic relation: for every operation, how many writes of each thread come
//! before or are it.
//!
//! Most operations know of other threads just what the one before in their lane knows, and share
//! its row; a row is stored when there is news. What an operation knows of its own thread mostly
//! follows from its rank and is not stored. So the table has a row of `threads` numbers for each
//! time something was heard: O((n + edges) · threads) time at worst, and far less room.
//!
//! Every relation here keeps the writes of a thread that share an address in program order, and a
//! clock is only ever asked about those, so a count is enough to say which of them come before.

use super::kept::Kept;
use super::operations::{Op, Operations};
use super::relation::Relation;
use crate::{Budget, Reason};

/// The clocks of all operations.
#[derive(Debug)]
pub(super) struct Clocks {
    width: usize,
    /// The row of each operation.
    rows: Vec<u32>,
    table: Vec<u32>,
    /// Under ppo a read need not know the writes of its own thread before it.
    own_is_stored: bool,
    /// Which clocks the last update changed; empty if all are new.
    changed: Vec<bool>,
}

impl Clocks {
    /// The clocks of a relation, or the operations of a cycle in it, or a reason to stop. Calls
    /// `visit` with every operation in an order that extends the relation.
    pub(super) fn over(
        relation: &Relation<'_>,
        budget: &Budget,
        mut visit: impl FnMut(Op),
    ) -> Result<Result<Self, Vec<Op>>, Reason> {
        let ops = relation.ops;
        let width = ops.thread_count();
        let mut clocks = Clocks {
            width,
            rows: zeros(ops.len(), budget)?,
            table: Vec::new(),
            own_is_stored: relation.base.kept == Kept::Preserved,
            changed: Vec::new(),
        };
        let mut row = vec![0; width];
        clocks.store(&row, budget)?;
        let mut out_of_room = None;
        let swept = relation.sweep(|op| {
            visit(op);
            if out_of_room.is_none() {
                let near = relation.base.near(ops, op);
                let shared = if near.is_some() { clocks.rows[near.index()] } else { 0 };
                out_of_room = clocks.fill(relation, op, shared, &mut row, budget).err();
            }
        });
        match (out_of_room, swept) {
            (Some(reason), _) => Err(reason),
            (None, Err(cycle)) => Ok(Err(cycle)),
            (None, Ok(())) => Ok(Ok(clocks)),
        }
    }

    /// The clocks after edges to these targets were added to the relation: the same, where nothing
    /// leads there from them.
    pub(super) fn update(
        mut self,
        relation: &Relation<'_>,
        targets: impl Iterator<Item = Op>,
        budget: &Budget,
        mut visit: impl FnMut(Op),
    ) -> Result<Result<Self, Vec<Op>>, Reason> {
        let ops = relation.ops;
        let mut row = vec![0; self.width];
        let mut changed = std::mem::take(&mut self.changed);
        changed.clear();
        changed.resize(ops.len(), false);
        for target in targets {
            changed[target.index()] = true;
        }
        let mut out_of_room = None;
        let swept = relation.sweep(|op| {
            visit(op);
            let near = relation.base.near(ops, op);
            let is_touched = changed[op.index()]
                || (near.is_some() && changed[near.index()])
                || relation.across(op, |from| changed[from.index()]).is_some();
            if is_touched && out_of_room.is_none() {
                let before = self.rows[op.index()];
                let shared = if near.is_some() { self.rows[near.index()] } else { 0 };
                out_of_room = self.fill(relation, op, shared, &mut row, budget).err();
                let now = self.rows[op.index()];
                changed[op.index()] = before != now && self.stored(before) != self.stored(now);
            }
        });
        self.changed = changed;
        match (out_of_room, swept) {
            (Some(reason), _) => Err(reason),
            (None, Err(cycle)) => Ok(Err(cycle)),
            (None, Ok(())) => Ok(Ok(self)),
        }
    }

    /// Whether the last update changed the clock of an operation.
    pub(super) fn has_changed(&self, op: Op) -> bool {
        self.changed.get(op.index()).copied().unwrap_or(true)
    }

    fn fill(
        &mut self,
        relation: &Relation<'_>,
        op: Op,
        shared: u32,
        row: &mut [u32],
        budget: &Budget,
    ) -> Result<(), Reason> {
        let ops = relation.ops;
        self.rows[op.index()] = shared;
        let (own, own_count) = (ops.thread(op), self.own_count(ops, op));
        let mut is_new = false;
        relation.across(op, |from| {
            let thread = ops.thread(from);
            let is_known = if ops.is_write(from) {
                let known = match (is_new, own_count) {
                    (_, Some(count)) if thread == own => count,
                    (true, _) => row[thread],
                    (false, _) => self.table[shared as usize * self.width + thread],
                };
                known > ops.rank(from)
            } else {
                self.rows[from.index()] == shared && thread == own
            };
            if !is_known {
                if !is_new {
                    row.copy_from_slice(self.stored(shared));
                    is_new = true;
                }
                join(row, self.stored(self.rows[from.index()]));
                if let Some(count) = self.own_count(ops, from) {
                    row[thread] = row[thread].max(count);
                }
            }
            false
        });
        if is_new && row != self.stored(shared) {
            self.rows[op.index()] = self.store(row, budget)?;
        }
        Ok(())
    }

    fn store(&mut self, row: &[u32], budget: &Budget) -> Result<u32, Reason> {
        let number = self.table.len() / self.width.max(1);
        if self.table.len() + self.width > self.table.capacity() {
            let more = self.table.len().max(64 * self.width);
            let bytes = (self.table.len() + more).saturating_mul(size_of::<u32>());
            if !budget.allows(bytes) || self.table.try_reserve_exact(more).is_err() {
                return Err(Reason::Memory);
            }
        }
        self.table.extend_from_slice(row);
        u32::try_from(number).map_err(|_| Reason::Memory)
    }

    fn stored(&self, row: u32) -> &[u32] {
        &self.table[row as usize * self.width..][..self.width]
    }

    /// How many writes of its own thread an operation comes after or is, where its rank says so.
    fn own_count(&self, ops: &Operations, op: Op) -> Option<u32> {
        let is_write = ops.is_write(op);
        (is_write || !self.own_is_stored).then(|| ops.rank(op) + u32::from(is_write))
    }

    /// How many writes of a thread come before or are an operation.
    pub(super) fn count(&self, ops: &Operations, op: Op, thread: usize) -> u32 {
        match self.own_count(ops, op) {
            Some(count) if ops.thread(op) == thread => count,
            _ => self.table[self.rows[op.index()] as usize * self.width + thread],
        }
    }

    /// The counts of an operation.
    pub(super) fn view(&self, ops: &Operations, op: Op) -> View<'_> {
        let row = self.stored(self.rows[op.index()]);
        match self.own_count(ops, op) {
            Some(count) => View { row, thread: ops.thread(op), count },
            None => View { row, thread: usize::MAX, count: 0 },
        }
    }

    /// Whether a write comes before or is `op`.
    pub(super) fn has(&self, ops: &Operations, write: Op, op: Op) -> bool {
        self.count(ops, op, ops.thread(write)) > ops.rank(write)
    }

    /// Whether two operations of a lane know the same of other threads.
    pub(super) fn is_shared(&self, a: Op, b: Op) -> bool {
        self.rows[a.index()] == self.rows[b.index()]
    }
}

/// For each thread, how many of its writes come before or are one operation.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    row: &'a [u32],
    /// The thread whose count is not the one of the row.
    thread: usize,
    count: u32,
}

impl View<'_> {
    pub(super) fn count(self, thread: usize) -> u32 {
        if thread == self.thread { self.count } else { self.row[thread] }
    }
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
