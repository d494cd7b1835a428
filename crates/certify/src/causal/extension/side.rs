//! One of the orders of the certificate, and the program order and reads-from that it must extend.

use history::EventId;

use super::layout::thread;
use super::{NONE, out_of_order};
use crate::causal::operations::{From, Operations};
use crate::causal::relation::{Order, program_order};
use crate::rejection::Fault;

pub(super) struct Side {
    /// All operations in the order, and the place of each in it.
    pub(super) sequence: Vec<u32>,
    pub(super) place: Vec<u32>,
    /// The operations right before each in the part of program order that is kept, or [`NONE`].
    before: Vec<[u32; 2]>,
    /// For each read, the write that it read, if the model sees that; else [`NONE`].
    source: Vec<u32>,
}

impl Side {
    /// The order of these events, if it has each operation once, a read-modify-write first for its read
    /// and then for its write, and extends program order and reads-from.
    pub(super) fn new(
        operations: &Operations<'_>,
        kept: Order,
        order: &[EventId],
    ) -> Result<Self, Fault> {
        let (sequence, place) = sequence(operations, order)?;
        let mut before = vec![[NONE; 2]; operations.all.len()];
        for (earlier, later) in program_order(operations, kept) {
            if place[earlier] >= place[later] {
                return Err(out_of_order(
                    operations,
                    earlier as u32,
                    later as u32,
                    "program order",
                ));
            }
            let [near, far] = &mut before[later];
            let free = if *near == NONE { near } else { far };
            debug_assert_eq!(*free, NONE, "at most two come right before an operation");
            *free = earlier as u32;
        }
        let mut source = vec![NONE; operations.all.len()];
        for (read, from) in operations.reads() {
            let From::Write(write) = from else { continue };
            let (read_op, write_op) = (read as u32, write as u32);
            let is_own = thread(operations, read_op) == thread(operations, write_op);
            if is_own && write > read {
                return Err(Fault::Cyclic { relation: "po ∪ rf" });
            }
            if kept == Order::Program || !is_own {
                source[read] = write_op;
                if place[write] >= place[read] {
                    return Err(out_of_order(operations, write_op, read_op, "what it read"));
                }
            }
        }
        Ok(Self { sequence, place, before, source })
    }

    /// What comes right before an operation by program order and reads-from.
    pub(super) fn before(&self, op: u32) -> impl Iterator<Item = u32> + use<> {
        let [near, far] = self.before[op as usize];
        [near, far, self.source[op as usize]].into_iter().filter(|&op| op != NONE)
    }

    /// The write that a read read, if the model sees that.
    pub(super) fn source(&self, read: u32) -> Option<u32> {
        let source = self.source[read as usize];
        (source != NONE).then_some(source)
    }

    pub(super) fn place(&self, op: u32) -> u32 {
        self.place[op as usize]
    }
}

/// The operations in the order of their events, and the place of each.
fn sequence(operations: &Operations<'_>, order: &[EventId]) -> Result<(Vec<u32>, Vec<u32>), Fault> {
    let history = operations.history;
    let name = |e| crate::names::event(history, e);
    // The operation of each event that comes next, and how many are still to come.
    let mut next = vec![(NONE, 0u8); history.len()];
    for (op, o) in operations.all.iter().enumerate().rev() {
        let (first, left) = &mut next[o.event.index()];
        (*first, *left) = (op as u32, *left + 1);
    }
    let mut sequence = Vec::with_capacity(operations.all.len());
    let mut place = vec![NONE; operations.all.len()];
    for &e in order {
        let (op, left) = &mut next[e.index()];
        if *left == 0 {
            let is_fence = history.address_of(e).is_none();
            return Err(match is_fence {
                true => Fault::Fence { event: name(e) },
                false => Fault::Twice { event: name(e) },
            });
        }
        place[*op as usize] = sequence.len() as u32;
        sequence.push(*op);
        *op += 1;
        *left -= 1;
    }
    match place.iter().position(|&place| place == NONE) {
        Some(missing) => Err(Fault::Missing { event: operations.name(missing) }),
        None => Ok((sequence, place)),
    }
}
