//! Happens-before of one scope: the least fixpoint hb_o of causal memory (Gradual Consistency
//! Checking, section 3.1), for the last read o of a thread.
//!
//! Rule (2) orders a write w1 before w2 once w1 comes before a read of w2 by the thread, both of
//! one address. It only asks what comes before the *thread's own reads*, which are totally ordered,
//! so the whole fixpoint is one number an operation: the first of these reads that it comes before
//! (`first`). That number only sinks. When it sinks for an operation, it sinks for what precedes
//! it; when it sinks for a write w1, the first read of the address from there on is the one whose
//! source w1 now precedes (`attach`), and when it sinks for that source, it sinks for w1.
//!
//! One attachment a write is enough: reads of the address with the same source in a row form a
//! group, and the source of a group precedes that of the next, because its own read does. Only
//! under ppo, where a thread's read of its own write orders nothing, are there two rows of groups:
//! the sources from elsewhere in the one, the thread's own writes, ordered by ppo, in the other.
//! This takes for granted that no read takes a value that its own thread had overwritten.
//!
//! A scope costs O(causal past) as long as each number sinks a few times, O(causal past · reads) at
//! worst. Attachments are logged, each justified by what was logged before it: the log is the
//! derivation.

use super::kept::{Base, Kept};
use super::operations::{From, Op, Operations, ReadsFrom};
use super::relation::{Predecessors, Tag, base_before, topological_order};
use crate::{Budget, Reason};

const NEVER: u32 = u32::MAX;

/// Reads of one address that follow each other in the scope and have one source.
#[derive(Debug)]
struct Group {
    source: From,
    /// The position in the scope of the last of them.
    last: u32,
    read: Op,
    /// The latest entry that attached a write to this group.
    entries: u32,
    /// Another group with the same source; its presence alone makes a cycle.
    again: u32,
}

/// A write that precedes the source of a group, because it precedes the group's last read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) write: Op,
    group: u32,
    /// The entry before it in the same group.
    next: u32,
}

/// Rows of groups: sources that precede their reads, and a thread's own writes under ppo.
const ROWS: usize = 2;

/// The fixpoint of one scope at a time; tables are kept from scope to scope.
pub(super) struct Observer<'a> {
    ops: &'a Operations,
    base: &'a Base,
    reads_from: &'a ReadsFrom,
    /// The first read of the scope that an operation comes before or is.
    first: Vec<u32>,
    /// The latest entry of a write in each row.
    attached: [Vec<u32>; ROWS],
    /// The first group whose source a write is.
    group_of: Vec<u32>,
    touched: Vec<Op>,
    groups: Vec<Group>,
    /// The groups of each address, in each row.
    ranges: [Vec<(u32, u32)>; ROWS],
    log: Vec<Entry>,
    /// How many entries at the start of the log put the source of a group before the next.
    fixed: u32,
    stack: Vec<Op>,
    sinking: Vec<u32>,
    steps: u32,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        ops: &'a Operations,
        addresses: usize,
        base: &'a Base,
        reads_from: &'a ReadsFrom,
    ) -> Self {
        let rows = if base.kept == Kept::Preserved { ROWS } else { 1 };
        let table = |row: usize, size: usize| vec![NEVER; if row < rows { size } else { 0 }];
        let ranges = |row: usize| vec![(0, 0); if row < rows { addresses } else { 0 }];
        Observer {
            ops,
            base,
            reads_from,
            first: table(0, ops.len()),
            attached: [table(0, ops.len()), table(1, ops.len())],
            group_of: table(0, ops.len()),
            touched: Vec::new(),
            groups: Vec::new(),
            ranges: [ranges(0), ranges(1)],
            log: Vec::new(),
            fixed: 0,
            stack: Vec::new(),
            sinking: Vec::new(),
            steps: 0,
        }
    }

    /// Computes the fixpoint for these reads of one thread, in program order.
    pub(super) fn run(&mut self, reads: &[Op], budget: &Budget) -> Result<(), Reason> {
        self.clear();
        self.form_groups(reads);
        self.fixed = self.log.len() as u32;
        for (position, &read) in reads.iter().enumerate() {
            self.sink(read, position as u32);
            while let Some(entry) = self.sinking.pop() {
                let Entry { write, group, .. } = self.log[entry as usize];
                if let From::Write(source) = self.groups[group as usize].source {
                    self.sink(write, self.first[source.index()]);
                }
                self.steps += 1;
                if self.steps.is_multiple_of(4096) && budget.is_spent() {
                    return Err(Reason::Time);
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        for op in self.touched.drain(..) {
            self.first[op.index()] = NEVER;
            for row in &mut self.attached {
                if let Some(entry) = row.get_mut(op.index()) {
                    *entry = NEVER;
                }
            }
        }
        for group in self.groups.drain(..) {
            let address = self.ops.address(group.read).index();
            self.ranges.iter_mut().filter_map(|row| row.get_mut(address)).for_each(|r| *r = (0, 0));
            if let From::Write(source) = group.source {
                self.group_of[source.index()] = NEVER;
            }
        }
        self.log.clear();
    }

    fn row(&self, read: Op) -> usize {
        match self.reads_from.source(read) {
            From::Write(source)
                if self.base.kept == Kept::Preserved && !self.base.sees(self.ops, source, read) =>
            {
                1
            }
            _ => 0,
        }
    }

    fn form_groups(&mut self, reads: &[Op]) {
        let mut sorted: Vec<(usize, usize, u32)> = (reads.iter().enumerate())
            .filter(|&(_, &read)| self.reads_from.source(read) != From::Open)
            .map(|(at, &read)| (self.row(read), self.ops.address(read).index(), at as u32))
            .collect();
        sorted.sort_unstable();
        let mut previous = (usize::MAX, 0);
        for (row, address, position) in sorted {
            let read = reads[position as usize];
            let source = self.reads_from.source(read);
            let joins = previous == (row, address);
            previous = (row, address);
            if joins && self.groups.last().is_some_and(|group| group.source == source) {
                if let Some(group) = self.groups.last_mut() {
                    (group.last, group.read) = (position, read);
                }
                continue;
            }
            self.open_group(
                row,
                address,
                Group { source, last: position, read, entries: NEVER, again: NEVER },
            );
            let group = self.groups.len() as u32 - 1;
            // Its own read puts the source of the group before this one ahead of this read.
            if joins
                && row == 0
                && let From::Write(before) = self.groups[group as usize - 1].source
            {
                self.attach(before, group);
            }
        }
    }

    fn open_group(&mut self, row: usize, address: usize, mut group: Group) {
        let number = self.groups.len() as u32;
        if let From::Write(source) = group.source {
            group.again = std::mem::replace(&mut self.group_of[source.index()], number);
        }
        self.groups.push(group);
        let range = &mut self.ranges[row][address];
        let start = if range.0 == range.1 { number } else { range.0 };
        *range = (start, number + 1);
    }

    fn attach(&mut self, write: Op, group: u32) -> u32 {
        let number = self.log.len() as u32;
        let entries = &mut self.groups[group as usize].entries;
        self.log.push(Entry { write, group, next: *entries });
        *entries = number;
        number
    }

    /// Lowers the number of an operation and of all that precedes it.
    fn sink(&mut self, op: Op, position: u32) {
        self.stack.push(op);
        while let Some(op) = self.stack.pop() {
            let first = self.first[op.index()];
            if first <= position {
                continue;
            }
            if first == NEVER {
                self.touched.push(op);
            }
            self.first[op.index()] = position;
            let (first, stack) = (&self.first, &mut self.stack);
            base_before((self.ops, self.base, self.reads_from), op, |from, _| {
                if first[from.index()] > position {
                    stack.push(from);
                }
            });
            if self.ops.is_write(op) {
                self.pull_attached(op);
                self.attach_anew(op, position);
            }
        }
    }

    fn pull_attached(&mut self, source: Op) {
        let mut group = self.group_of[source.index()];
        while let Some(g) = self.groups.get(group as usize) {
            let mut entry = g.entries;
            while let Some(e) = self.log.get(entry as usize) {
                self.stack.push(e.write);
                entry = e.next;
            }
            group = g.again;
        }
    }

    /// Attaches a write to the first group whose reads it now comes before.
    fn attach_anew(&mut self, write: Op, position: u32) {
        let address = self.ops.address(write).index();
        for row in 0..ROWS {
            let Some(&(start, end)) = self.ranges[row].get(address) else { continue };
            let groups = &self.groups[start as usize..end as usize];
            let group = start + groups.partition_point(|g| g.last < position) as u32;
            if group == end {
                continue;
            }
            let source = self.groups[group as usize].source;
            let latest = self.attached[row][write.index()];
            let is_known = self.log.get(latest as usize).is_some_and(|e| e.group == group);
            if source == From::Write(write) || is_known {
                continue;
            }
            let entry = self.attach(write, group);
            self.attached[row][write.index()] = entry;
            if let From::Write(source) = source
                && self.first[source.index()] < position
            {
                self.sinking.push(entry);
            }
        }
    }

    /// The derived edges, as entries of the log, without those that later ones and program order
    /// imply.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, Op, Op)> + '_ {
        (0..self.log.len() as u32).filter_map(|number| {
            let entry = self.log[number as usize];
            let latest = |row: &Vec<u32>| row.get(entry.write.index()) == Some(&number);
            if number >= self.fixed && !self.attached.iter().any(latest) {
                return None;
            }
            let group = &self.groups[entry.group as usize];
            let From::Write(source) = group.source else { return None };
            let next_too = (self.ops.next_in_chain(entry.write))
                .is_some_and(|next| self.first[next.index()] <= group.last);
            (!next_too).then_some((number, entry.write, source))
        })
    }

    /// An entry that puts a write before an initial write.
    pub(super) fn before_initial(&self) -> Option<u32> {
        let initial = |e: &Entry| self.groups[e.group as usize].source == From::Initial;
        self.log.iter().position(initial).map(|number| number as u32)
    }

    /// All that comes before the reads, in an order that extends happens-before, layer by layer:
    /// what the first read comes after, the first read, what else the second comes after, …
    pub(super) fn order(&self, reads: &[Op]) -> Result<Vec<Op>, Vec<Op>> {
        let relation = Observed { observer: self, until: NEVER };
        topological_order(&relation, self.ops.len(), reads.iter().copied())
    }

    /// What an entry says: the write that comes first, what it comes before, and through which
    /// read.
    pub(super) fn entry(&self, number: u32) -> (Op, From, Op) {
        let entry = self.log[number as usize];
        let group = &self.groups[entry.group as usize];
        (entry.write, group.source, group.read)
    }
}

/// Happens-before of a scope as it was when the log had so many entries.
pub(super) struct Observed<'o, 'a> {
    pub(super) observer: &'o Observer<'a>,
    pub(super) until: u32,
}

impl Predecessors for Observed<'_, '_> {
    fn before(&self, op: Op, mut visit: impl FnMut(Op, Tag)) {
        let o = self.observer;
        base_before((o.ops, o.base, o.reads_from), op, &mut visit);
        let mut group = o.group_of[op.index()];
        while let Some(g) = o.groups.get(group as usize) {
            let mut number = g.entries;
            while let Some(entry) = o.log.get(number as usize) {
                if number < self.until {
                    // The caller knows which side and scope it looks at.
                    visit(entry.write, Tag::Observed { side: 0, scope: 0, entry: number });
                }
                number = entry.next;
            }
            group = g.again;
        }
    }
}

#[cfg(test)]
mod tests {
    use history::parse_text;

    use super::*;
    use crate::causal::kept::Scopes;

    /// What the last thread with reads observes: pairs of values written.
    fn observed(trace: &str) -> (Vec<(u64, u64)>, bool) {
        let history = parse_text(trace).expect("the trace is well-formed");
        let ops = Operations::new(&history);
        let base = Base::new(&history, &ops, Kept::Program);
        let reads_from = ReadsFrom::certain(&history, &ops);
        let scopes = Scopes::new(&ops, Kept::Program);
        let mut observer = Observer::new(&ops, history.address_count(), &base, &reads_from);
        let reads = scopes.reads(scopes.len() - 1);
        observer.run(reads, &Budget::unlimited()).expect("time is unlimited");
        let value = |op| history.event(ops.event(op)).operation.value_written().unwrap_or(0);
        let mut pairs: Vec<(u64, u64)> =
            observer.edges().map(|(_, from, to)| (value(from), value(to))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        (pairs, observer.order(reads).is_ok() && observer.before_initial().is_none())
    }

    #[test]
    fn a_write_heard_of_precedes_what_is_read() {
        let (pairs, acyclic) = observed(
            "0: x := 1
             0: y := 1
             1: x := 2
             1: y == 1
             1: x == 2",
        );
        assert_eq!((pairs, acyclic), (vec![(1, 2)], true));
    }

    #[test]
    fn what_is_observed_later_reaches_back_to_earlier_reads() {
        // x = 2 puts x := 1, and z := 1 with it, before x := 2, and so before the read of z = 0.
        let (pairs, acyclic) = observed(
            "0: z := 1
             0: x := 1
             0: y := 1
             1: x := 2
             1: z == 0
             1: y == 1
             1: x == 2",
        );
        assert_eq!((pairs, acyclic), (vec![(1, 2)], false));
    }

    #[test]
    fn reads_that_go_back_and_forth_are_a_cycle() {
        let (pairs, acyclic) = observed(
            "0: x := 1
             1: x := 2
             2: x == 1
             2: x == 2
             2: x == 1",
        );
        assert_eq!((pairs, acyclic), (vec![(1, 2), (2, 1)], false));
    }
}
