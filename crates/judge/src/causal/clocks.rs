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

use super::operations::{Op, Operations};
use super::program_order::ProgramOrderPart;
use super::relation::Relation;
use crate::{Budget, Reason};

/// The clocks of all operations.
#[derive(Debug)]
pub(super) struct Clocks {
    width: usize,
    /// The row of each operation.
    rows: Vec<u32>,
    table: Vec<u32>,
    /// The first operation of a lane to have each row.
    owners: Vec<Op>,
    /// Under ppo a read need not know the writes of its own thread before it.
    own_is_stored: bool,
    /// The writes whose clocks the last update changed; nothing if all are new.
    changed: Option<Vec<Op>>,
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
            owners: Vec::new(),
            own_is_stored: relation.base.kept == ProgramOrderPart::Preserved,
            changed: None,
        };
        let mut row = vec![0; width];
        clocks.store(Op::NONE, &row, budget)?;
        let mut out_of_room = None;
        let swept = relation.sweep(|op| {
            visit(op);
            if out_of_room.is_none() {
                let near = relation.base.near(ops, op);
                let shared = if near.is_some() { clocks.rows[near.index()] } else { 0 };
                clocks.rows[op.index()] = shared;
                if clocks.hear(relation, op, shared, &mut row) {
                    out_of_room = clocks.store(op, &row, budget).err();
                }
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
        targets: &[Op],
        budget: &Budget,
        mut visit: impl FnMut(Op),
    ) -> Result<Result<Self, Vec<Op>>, Reason> {
        let ops = relation.ops;
        let mut row = vec![0; self.width];
        let mut changed = vec![false; ops.len()];
        for &target in targets {
            changed[target.index()] = true;
        }
        let mut changed_writes = Vec::new();
        let mut out_of_room = None;
        let swept = relation.sweep(|op| {
            visit(op);
            let near = relation.base.near(ops, op);
            let is_touched = changed[op.index()]
                || (near.is_some() && changed[near.index()])
                || relation.across(op, |from| changed[from.index()]).is_some();
            if !is_touched || out_of_room.is_some() {
                return;
            }
            let shared = if near.is_some() { self.rows[near.index()] } else { 0 };
            changed[op.index()] = if self.hear(relation, op, shared, &mut row) {
                let result = self.replace(op, &row, budget);
                out_of_room = result.as_ref().err().cloned();
                result.unwrap_or(false)
            } else {
                self.rows[op.index()] = shared;
                near.is_some() && changed[near.index()]
            };
            if changed[op.index()] && ops.is_write(op) {
                changed_writes.push(op);
            }
        });
        self.changed = Some(changed_writes);
        match (out_of_room, swept) {
            (Some(reason), _) => Err(reason),
            (None, Err(cycle)) => Ok(Err(cycle)),
            (None, Ok(())) => Ok(Ok(self)),
        }
    }

    /// The writes whose clocks the last update changed; nothing if all are new.
    pub(super) fn changed(&self) -> Option<&[Op]> {
        self.changed.as_deref()
    }

    /// Joins into `row` what an operation hears from other lanes to what its own knows, the shared
    /// row. Whether there is news.
    fn hear(&self, relation: &Relation<'_>, op: Op, shared: u32, row: &mut [u32]) -> bool {
        let ops = relation.ops;
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
        is_new && row != self.stored(shared)
    }

    /// Gives an operation a row of its own.
    fn store(&mut self, op: Op, row: &[u32], budget: &Budget) -> Result<(), Reason> {
        let number = u32::try_from(self.owners.len()).map_err(|_| Reason::Memory)?;
        if self.table.len() + self.width > self.table.capacity() {
            let more = (self.table.len() / 2).max(64 * self.width);
            let bytes = (self.table.len() + more).saturating_mul(size_of::<u32>());
            if !budget.allows(bytes) || self.table.try_reserve_exact(more).is_err() {
                return Err(Reason::Memory);
            }
        }
        self.table.extend_from_slice(row);
        self.owners.push(op);
        if let Some(of) = self.rows.get_mut(op.index()) {
            *of = number;
        }
        Ok(())
    }

    /// Gives an operation another row, where its old one was if that is its own: who shares it comes
    /// later in the lane and changes with it. Whether they differ.
    fn replace(&mut self, op: Op, row: &[u32], budget: &Budget) -> Result<bool, Reason> {
        let old = self.rows[op.index()];
        if self.owners[old as usize] != op {
            return self.store(op, row, budget).map(|()| true);
        }
        let is_new = self.stored(old) != row;
        self.table[old as usize * self.width..][..self.width].copy_from_slice(row);
        Ok(is_new)
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
