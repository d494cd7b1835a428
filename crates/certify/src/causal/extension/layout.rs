//! Where each operation stands in tables: the writes by address, thread and program order, and then
//! the reads. What is asked about an address is then close together.

use std::ops::Range;

use history::AddressId;

use crate::causal::operations::Operations;

/// The writes of one address by one thread, as a range of slots.
pub(super) struct Chain {
    pub(super) thread: usize,
    pub(super) slots: Range<usize>,
}

pub(super) struct Layout {
    /// The slot of each operation.
    slots: Vec<u32>,
    /// The write at each slot, and how many writes of its thread come before it.
    writes: Vec<u32>,
    ranks: Vec<u32>,
    chains: Vec<Chain>,
    /// The first chain of each address.
    addresses: Vec<u32>,
    pub(super) threads: usize,
}

impl Layout {
    pub(super) fn new(operations: &Operations<'_>) -> Self {
        let mut layout = Self {
            slots: vec![0; operations.all.len()],
            writes: Vec::new(),
            ranks: Vec::new(),
            chains: Vec::new(),
            addresses: vec![0],
            threads: operations.history.thread_count(),
        };
        for lists in &operations.writers {
            for list in lists {
                let start = layout.writes.len();
                for &write in list {
                    layout.slots[write] = layout.writes.len() as u32;
                    layout.writes.push(write as u32);
                }
                let thread = operations.all[list[0]].thread;
                layout.chains.push(Chain { thread, slots: start..layout.writes.len() });
            }
            layout.addresses.push(layout.chains.len() as u32);
        }
        layout.ranks = vec![0; layout.writes.len()];
        let mut count = vec![0; layout.threads];
        let mut next = layout.writes.len() as u32;
        for (op, o) in operations.all.iter().enumerate() {
            if o.is_write() {
                layout.ranks[layout.slots[op] as usize] = count[o.thread];
                count[o.thread] += 1;
            } else {
                layout.slots[op] = next;
                next += 1;
            }
        }
        layout
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn write_count(&self) -> usize {
        self.writes.len()
    }

    pub(super) fn slot(&self, op: u32) -> usize {
        self.slots[op as usize] as usize
    }

    pub(super) fn write_at(&self, slot: usize) -> u32 {
        self.writes[slot]
    }

    /// How many writes of its thread come before the write at a slot.
    pub(super) fn rank_at(&self, slot: usize) -> u32 {
        self.ranks[slot]
    }

    pub(super) fn rank(&self, write: u32) -> u32 {
        self.ranks[self.slot(write)]
    }

    /// The last write of a chain among so many writes of its thread, as a slot.
    pub(super) fn latest(&self, chain: &Chain, count: u32) -> Option<usize> {
        let ranks = &self.ranks[chain.slots.clone()];
        let among = ranks.partition_point(|&rank| rank < count);
        among.checked_sub(1).map(|last| chain.slots.start + last)
    }

    /// The chains of an address.
    pub(super) fn chains_of(&self, address: AddressId) -> &[Chain] {
        let chains = &self.addresses[address.index()..address.index() + 2];
        &self.chains[chains[0] as usize..chains[1] as usize]
    }
}

/// The thread of an operation.
pub(super) fn thread(operations: &Operations<'_>, op: u32) -> usize {
    operations.all[op as usize].thread
}
