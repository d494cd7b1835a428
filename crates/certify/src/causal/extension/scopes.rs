//! What each thread observes: rule (2) of happens-before, along an order that extends it.

use std::ops::Range;

use history::AddressId;

use super::clocks::Rows;
use super::layout::Layout;
use super::side::Side;
use super::{NONE, out_of_order};
use crate::causal::operations::{From, Operations};
use crate::rejection::Fault;

/// Reads of one thread and address that follow each other and have one source.
struct Group {
    /// The last of them.
    last: u32,
    /// The write that they read, or [`NONE`].
    source: u32,
    /// The next group with that source.
    next: u32,
}

/// The groups of one thread and address, as a range.
struct Row {
    thread: usize,
    groups: Range<usize>,
}

/// Who reads what: rows of groups by address. Where reads of a thread's own writes are no edges, they are in
/// a row of their own, so that along each row the sources come one after the other.
pub(super) struct Readers {
    groups: Vec<Group>,
    rows: Vec<Row>,
    /// The first row of each address.
    addresses: Vec<usize>,
    /// The first group that reads each write, by slot.
    first: Vec<u32>,
}

impl Readers {
    pub(super) fn new(operations: &Operations<'_>, layout: &Layout, splits: bool) -> Self {
        let addresses = operations.history.address_count();
        let mut starts = vec![0usize; addresses + 1];
        for (read, _) in operations.reads() {
            starts[operations.all[read].address.index() + 1] += 1;
        }
        for address in 0..addresses {
            starts[address + 1] += starts[address];
        }
        let mut by_address = vec![NONE; starts[addresses]];
        let mut next = starts.clone();
        for (read, _) in operations.reads() {
            let next = &mut next[operations.all[read].address.index()];
            by_address[*next] = read as u32;
            *next += 1;
        }
        let mut readers =
            Self { groups: Vec::new(), rows: Vec::new(), addresses: vec![0], first: Vec::new() };
        let thread = |read: &u32| operations.all[*read as usize].thread;
        for address in 0..addresses {
            let reads = &by_address[starts[address]..starts[address + 1]];
            for of_thread in reads.chunk_by(|a, b| thread(a) == thread(b)) {
                let is_own = |read: &u32| match operations.all[*read as usize].read {
                    Some(From::Write(write)) => operations.all[write].thread == thread(read),
                    Some(From::Initial) | None => false,
                };
                let others = of_thread.iter().filter(|&read| !splits || !is_own(read));
                readers.add_row(operations, thread(&of_thread[0]), others);
                if splits {
                    let own = of_thread.iter().filter(|&read| is_own(read));
                    readers.add_row(operations, thread(&of_thread[0]), own);
                }
            }
            readers.addresses.push(readers.rows.len());
        }
        readers.link(layout);
        readers
    }

    fn add_row<'r>(
        &mut self,
        operations: &Operations<'_>,
        thread: usize,
        reads: impl Iterator<Item = &'r u32>,
    ) {
        let start = self.groups.len();
        for &read in reads {
            let source = match operations.all[read as usize].read {
                Some(From::Write(write)) => write as u32,
                Some(From::Initial) | None => NONE,
            };
            match self.groups[start..].last_mut() {
                Some(group) if group.source == source => group.last = read,
                _ => self.groups.push(Group { last: read, source, next: NONE }),
            }
        }
        if self.groups.len() > start {
            self.rows.push(Row { thread, groups: start..self.groups.len() });
        }
    }

    /// Lists the groups that read each write.
    fn link(&mut self, layout: &Layout) {
        self.first = vec![NONE; layout.write_count()];
        for (at, group) in self.groups.iter_mut().enumerate() {
            if group.source != NONE {
                let first = &mut self.first[layout.slot(group.source)];
                group.next = std::mem::replace(first, at as u32);
            }
        }
    }

    /// The groups that read the write at a slot.
    pub(super) fn of(&self, slot: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = self.first[slot];
        std::iter::from_fn(move || {
            let group = self.groups.get(next as usize)?;
            Some(std::mem::replace(&mut next, group.next) as usize)
        })
    }

    fn rows_of(&self, address: AddressId) -> Range<usize> {
        self.addresses[address.index()]..self.addresses[address.index() + 1]
    }
}

/// For each operation and thread, the first read of the thread that the operation comes before, in the
/// happens-before of that thread.
pub(super) fn first_reads(
    operations: &Operations<'_>,
    layout: &Layout,
    side: &Side,
    readers: &Readers,
) -> Result<Rows, Fault> {
    let mut first = Rows::filled(layout.threads, layout.len(), NONE);
    let mut row = vec![NONE; layout.threads];
    for &op in side.sequence.iter().rev() {
        let slot = layout.slot(op);
        row.copy_from_slice(first.row(slot));
        let operation = &operations.all[op as usize];
        if operation.is_write() {
            for &Row { thread, ref groups } in &readers.rows[readers.rows_of(operation.address)] {
                if row[thread] == NONE {
                    continue;
                }
                let groups = &readers.groups[groups.clone()];
                let later = groups.partition_point(|group| group.last < row[thread]);
                let later = groups[later..].iter().find(|group| group.source != op);
                if let Some(group) = later.filter(|group| group.source != NONE) {
                    row[thread] = row[thread].min(first.row(layout.slot(group.source))[thread]);
                }
            }
            first.row_mut(slot).copy_from_slice(&row);
        } else {
            row[operation.thread] = row[operation.thread].min(op);
            first.row_mut(slot).copy_from_slice(&row);
        }
        for before in side.before(op) {
            for (known, &new) in first.row_mut(layout.slot(before)).iter_mut().zip(&row) {
                *known = (*known).min(new);
            }
        }
    }
    Ok(first)
}

/// The writes that rule (2) puts before what a group read.
pub(super) struct Observed {
    before: Vec<u32>,
    /// Where those of each group end.
    ends: Vec<usize>,
}

impl Observed {
    pub(super) fn before(&self, group: usize) -> impl Iterator<Item = u32> + '_ {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.before[start..self.ends[group]].iter().copied()
    }
}

/// Pairs whose closure, with program order, is what rule (2) derives; and the check that nothing else
/// is derived. A write that a thread wrote and read itself may not come before its reads in ppo: those
/// that follow each other in a row are then ordered by program order, or by po-loc against it.
pub(super) fn observed(
    operations: &Operations<'_>,
    layout: &Layout,
    readers: &Readers,
    first: &Rows,
) -> Result<Observed, Fault> {
    let mut observed =
        Observed { before: Vec::new(), ends: Vec::with_capacity(readers.groups.len()) };
    let mut known = Vec::new();
    for address in operations.history.address_ids() {
        let chains = layout.chains_of(address);
        for row in &readers.rows[readers.rows_of(address)] {
            let reads_at = |slot: usize| first.row(slot)[row.thread];
            // How far each chain is known to come before the reads so far, as a slot.
            known.clear();
            known.extend(chains.iter().map(|chain| chain.slots.start));
            // The source of the group before.
            let mut previous = NONE;
            for group in &readers.groups[row.groups.clone()] {
                for (chain, known) in chains.iter().zip(&mut known) {
                    let start = *known;
                    while *known < chain.slots.end && reads_at(*known) <= group.last {
                        *known += 1;
                    }
                    let Some(latest) = known.checked_sub(1).filter(|&at| at >= chain.slots.start)
                    else {
                        continue;
                    };
                    let write = layout.write_at(latest);
                    if group.source == NONE {
                        let reader = operations.name(group.last as usize);
                        let by = operations.name(write as usize);
                        return Err(Fault::Overwritten { reader, by });
                    }
                    if write == group.source {
                        continue;
                    }
                    let why = "what a thread observed";
                    if reads_at(latest) > reads_at(layout.slot(group.source)) {
                        return Err(out_of_order(operations, write, group.source, why));
                    }
                    // What came before the source of the group before comes before that; and that comes
                    // before this source, as its own chain says here.
                    let has_previous =
                        previous != NONE && chain.slots.contains(&layout.slot(previous));
                    if *known > start || has_previous {
                        observed.before.push(write);
                    }
                }
                previous = group.source;
                observed.ends.push(observed.before.len());
            }
        }
    }
    Ok(observed)
}
