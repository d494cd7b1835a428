//! Happens-before of one scope: the least fixpoint hb_o of causal memory (Gradual Consistency
//! Checking, section 3.1), for the last read o of a thread.
//!
//! Rule (2) orders a write w1 before w2 once w1 comes before a read of w2 by the thread, both of
//! one address. It only asks what comes before the *thread's own reads*, which are totally ordered,
//! so the whole fixpoint is one number a write: the first of these reads that it comes before
//! (`first`). Causality alone gives the numbers at the start, straight from the clocks of the
//! reads; along each thread they only grow. Where the frontier of a read has a write that its
//! source does not come after, that write is *attached* to the read: its number must not be larger
//! than that of the source. When a number sinks, so do those of all that comes before the write (an
//! end of each thread, by its clock), of the writes attached to it, and it is attached anew, to the
//! first read of its address from there on.
//!
//! Reads of the address with the same source in a row form a group, and the source of a group
//! precedes that of the next, because its own read does; so one attachment a write is enough. Only
//! under ppo, where a thread's read of its own write orders nothing, are there two rows of groups:
//! the sources from elsewhere in the one, the thread's own writes, ordered by ppo, in the other.
//! This takes for granted that no read takes a value that its own thread had overwritten.
//!
//! A scope costs O(writes + reads of the scope · threads), and O(threads) for each time a number
//! sinks. Attachments are logged, each justified by what was logged before it: the log is the
//! derivation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::AddressId;

use super::clocks::Clocks;
use super::frontier::Frontier;
use super::operations::{From, Op, Operations, ReadsFrom};
use super::program_order::{Base, ProgramOrderPart};
use super::relation::{Predecessors, Tag, base_before, topological_order};
use super::strands::Strands;
use crate::{Budget, Reason};

/// No read, no group, no entry.
pub(super) const NEVER: u32 = u32::MAX;

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
    /// Whether the group before has the same address and row.
    follows: bool,
}

/// A write that precedes the source of a group, because it precedes the group's last read.
#[derive(Clone, Copy, Debug)]
struct Entry {
    write: Op,
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
    causality: &'a Clocks,
    frontier: Frontier<'a>,
    pub(super) strands: Strands<'a>,
    /// The first read of the scope that a write comes before, by slot.
    pub(super) first: Vec<u32>,
    /// The first group whose source a write is, by slot.
    group_of: Vec<u32>,
    groups: Vec<Group>,
    /// The group of each read of the scope.
    group_at: Vec<u32>,
    /// The groups of each address, in each row.
    ranges: [Vec<(u32, u32)>; ROWS],
    log: Vec<Entry>,
    /// Entries whose write has a larger number than the source, the smallest source first.
    sinking: BinaryHeap<Reverse<(u32, u32)>>,
    stack: Vec<Op>,
    lowered: Vec<(usize, u32)>,
    steps: u32,
    /// Whether a write of the thread itself came before a read that comes before it.
    is_cyclic: bool,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        ops: &'a Operations,
        base: &'a Base,
        reads_from: &'a ReadsFrom,
        causality: &'a Clocks,
    ) -> Self {
        let rows = if base.kept == ProgramOrderPart::Preserved { ROWS } else { 1 };
        let ranges = |row: usize| vec![(0, 0); if row < rows { ops.address_count() } else { 0 }];
        Observer {
            ops,
            base,
            reads_from,
            causality,
            frontier: Frontier::new(ops, reads_from),
            strands: Strands::new(ops, base.kept),
            first: vec![NEVER; ops.write_count()],
            group_of: vec![NEVER; ops.write_count()],
            groups: Vec::new(),
            group_at: Vec::new(),
            ranges: [ranges(0), ranges(1)],
            log: Vec::new(),
            sinking: BinaryHeap::new(),
            stack: Vec::new(),
            lowered: Vec::new(),
            steps: 0,
            is_cyclic: false,
        }
    }

    /// Computes the fixpoint for these reads of one thread, in program order. Stops early where
    /// that shows a cycle.
    pub(super) fn run(&mut self, reads: &[Op], budget: &Budget) -> Result<(), Reason> {
        self.clear();
        let Some(&read) = reads.first() else { return Ok(()) };
        self.strands.look_at(self.ops.address(read));
        self.fill(reads);
        self.form_groups(reads);
        self.attach_frontier(reads);
        while let Some(Reverse((_, entry))) = self.sinking.pop() {
            let Entry { write, group, .. } = self.log[entry as usize];
            if let From::Write(source) = self.groups[group as usize].source {
                self.sink(reads, write, self.first[self.strands.slot(source)]);
            }
            if self.is_cyclic {
                break;
            }
            self.steps += 1;
            if self.steps.is_multiple_of(4096) && budget.is_spent() {
                return Err(Reason::Time);
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        for group in self.groups.drain(..) {
            let address = self.ops.address(group.read).index();
            self.ranges.iter_mut().filter_map(|row| row.get_mut(address)).for_each(|r| *r = (0, 0));
            if let From::Write(source) = group.source {
                self.group_of[self.strands.slot(source)] = NEVER;
            }
        }
        self.log.clear();
        self.sinking.clear();
        self.is_cyclic = false;
    }

    /// The numbers that causality gives.
    fn fill(&mut self, reads: &[Op]) {
        let strands = self.strands.all();
        let mut ends: Vec<usize> = strands.clone().map(|s| self.strands.slots(s).start).collect();
        let mut previous = Op::NONE;
        for (position, &read) in reads.iter().enumerate() {
            let is_news = !previous.is_some()
                || !self.causality.is_shared(previous, read)
                || self.ops.rank(previous) != self.ops.rank(read);
            previous = read;
            if !is_news {
                continue;
            }
            let view = self.causality.view(self.ops, read);
            for (strand, start) in strands.clone().zip(&mut ends) {
                let count = view.count(self.strands.thread(strand));
                let end = self.strands.end(strand, count, *start);
                self.first[*start..end].fill(position as u32);
                *start = end;
            }
        }
        for (strand, &start) in strands.zip(&ends) {
            self.first[start..self.strands.slots(strand).end].fill(NEVER);
        }
    }

    fn row(&self, read: Op) -> usize {
        let source = self.reads_from.write(read);
        let is_own = self.base.kept == ProgramOrderPart::Preserved
            && source.is_some()
            && !self.base.sees(self.ops, source, read);
        usize::from(is_own)
    }

    fn form_groups(&mut self, reads: &[Op]) {
        let mut sorted: Vec<(u32, AddressId, u32)> = (reads.iter().enumerate())
            .filter(|&(_, &read)| self.reads_from.source(read) != From::Open)
            .map(|(at, &read)| (self.row(read) as u32, self.ops.address(read), at as u32))
            .collect();
        sorted.sort_unstable();
        self.group_at.clear();
        self.group_at.resize(reads.len(), NEVER);
        let mut previous = None;
        for (row, address, position) in sorted {
            let read = reads[position as usize];
            let source = self.reads_from.source(read);
            let follows = previous == Some((row, address));
            previous = Some((row, address));
            match self.groups.last_mut() {
                Some(group) if follows && group.source == source => {
                    (group.last, group.read) = (position, read);
                }
                _ => {
                    let (last, entries, again) = (position, NEVER, NEVER);
                    let group = Group { source, last, read, entries, again, follows };
                    self.open_group(row as usize, address, group);
                }
            }
            self.group_at[position as usize] = self.groups.len() as u32 - 1;
        }
    }

    fn open_group(&mut self, row: usize, address: AddressId, mut group: Group) {
        let number = self.groups.len() as u32;
        if let From::Write(source) = group.source {
            let known = &mut self.group_of[self.strands.slot(source)];
            group.again = std::mem::replace(known, number);
        }
        self.groups.push(group);
        let range = &mut self.ranges[row][address.index()];
        let start = if range.0 == range.1 { number } else { range.0 };
        *range = (start, number + 1);
    }

    /// What causality alone attaches.
    fn attach_frontier(&mut self, reads: &[Op]) {
        let mut found = std::mem::take(&mut self.stack);
        self.frontier.restart();
        for (position, &read) in reads.iter().enumerate() {
            self.frontier.advance(self.causality, read, |write| found.push(write));
            for write in found.drain(..) {
                self.attach(write, self.group_at[position]);
            }
        }
        self.stack = found;
    }

    /// Puts a write before the source of a group.
    fn attach(&mut self, write: Op, group: u32) {
        let number = self.log.len() as u32;
        let Group { source, entries, .. } = &mut self.groups[group as usize];
        self.log.push(Entry { write, group, next: *entries });
        *entries = number;
        if let From::Write(source) = *source {
            let position = self.first[self.strands.slot(source)];
            if position < self.first[self.strands.slot(write)] {
                self.sinking.push(Reverse((position, number)));
            }
        }
    }

    /// Lowers the number of a write and of all that precedes it.
    fn sink(&mut self, reads: &[Op], write: Op, position: u32) {
        self.stack.push(write);
        while let Some(write) = self.stack.pop() {
            if self.first[self.strands.slot(write)] <= position {
                continue;
            }
            self.lower_past(reads, write, position);
            if self.is_cyclic {
                self.stack.clear();
            }
            while let Some((slot, before)) = self.lowered.pop() {
                self.pull_attached(slot, position);
                self.attach_anew(slot, before, position);
            }
        }
    }

    /// Lowers the numbers of a write and of its causal past.
    fn lower_past(&mut self, reads: &[Op], write: Op, position: u32) {
        let view = self.causality.view(self.ops, write);
        let own = reads.first().map(|&read| self.ops.thread(read));
        for strand in self.strands.all() {
            let start = self.strands.slots(strand).start;
            let end = self.strands.end(strand, view.count(self.strands.thread(strand)), start);
            if Some(self.strands.thread(strand)) == own
                && end > start
                && self.first[end - 1] > position
            {
                let write = self.strands.write(end - 1);
                let passed = reads.partition_point(|&read| read < write) as u32;
                self.is_cyclic |= position < passed;
            }
            for slot in (start..end).rev() {
                let first = &mut self.first[slot];
                if *first <= position {
                    break;
                }
                self.lowered.push((slot, std::mem::replace(first, position)));
            }
        }
    }

    fn pull_attached(&mut self, source: usize, position: u32) {
        let mut group = self.group_of[source];
        while let Some(g) = self.groups.get(group as usize) {
            let mut entry = g.entries;
            while let Some(e) = self.log.get(entry as usize) {
                if self.first[self.strands.slot(e.write)] > position {
                    self.stack.push(e.write);
                }
                entry = e.next;
            }
            group = g.again;
        }
    }

    /// Attaches a write to the first group whose reads it now comes before.
    fn attach_anew(&mut self, slot: usize, before: u32, position: u32) {
        let write = self.strands.write(slot);
        let address = self.ops.address(write).index();
        for row in 0..ROWS {
            let Some(&(start, end)) = self.ranges[row].get(address) else { continue };
            let groups = &self.groups[start as usize..end as usize];
            let from = |position: u32| start + groups.partition_point(|g| g.last < position) as u32;
            let group = from(position);
            let is_known = group == from(before)
                || match self.groups[group as usize].source {
                    From::Write(source) => self.causality.has(self.ops, write, source),
                    From::Initial | From::Open => false,
                };
            if !is_known {
                self.attach(write, group);
            }
        }
    }

    /// The derived edges, as entries of the log, without those that later ones and program order
    /// imply.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, Op, Op)> + '_ {
        (0..self.log.len() as u32).filter_map(|number| {
            let entry = self.log[number as usize];
            let group = &self.groups[entry.group as usize];
            let From::Write(source) = group.source else { return None };
            let first = |write: Op| self.first[self.strands.slot(write)];
            // A source is put before that of the next group by such an entry alone.
            let is_superseded = group.follows && {
                let previous = &self.groups[entry.group as usize - 1];
                first(entry.write) <= previous.last && previous.source != From::Write(entry.write)
            };
            let is_implied = || {
                let next = self.ops.next_in_chain(entry.write);
                next.is_some_and(|next| first(next) <= group.last)
            };
            (!is_superseded && !is_implied()).then_some((number, entry.write, source))
        })
    }

    /// Whether the fixpoint was left early, because happens-before has a cycle.
    pub(super) fn is_cyclic(&self) -> bool {
        self.is_cyclic
    }

    /// How many attachments there are.
    pub(super) fn len(&self) -> usize {
        self.log.len()
    }

    /// An entry that puts a write before an initial write.
    pub(super) fn before_initial(&self) -> Option<u32> {
        let initial = |e: &Entry| self.groups[e.group as usize].source == From::Initial;
        self.log.iter().position(initial).map(|number| number as u32)
    }

    /// Calls `visit` with every write that is attached to a read of this one.
    pub(super) fn attached_to(&self, source: Op, mut visit: impl FnMut(Op, u32)) {
        let mut group = self.group_of[self.strands.slot(source)];
        while let Some(g) = self.groups.get(group as usize) {
            let mut number = g.entries;
            while let Some(entry) = self.log.get(number as usize) {
                visit(entry.write, number);
                number = entry.next;
            }
            group = g.again;
        }
    }

    /// What an entry says: the write that comes first, what it comes before, and through which
    /// read.
    pub(super) fn entry(&self, number: u32) -> (Op, From, Op) {
        let entry = self.log[number as usize];
        let group = &self.groups[entry.group as usize];
        (entry.write, group.source, group.read)
    }

    /// A cycle of happens-before among what comes before the reads, if there is one.
    pub(super) fn cycle(&self, reads: &[Op]) -> Option<Vec<Op>> {
        let relation = Observed { observer: self, until: NEVER };
        topological_order(&relation, self.ops.len(), reads.iter().copied()).err()
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
        if o.ops.is_write(op) {
            o.attached_to(op, |write, number| {
                if number < self.until {
                    // The caller knows which side and scope it looks at.
                    visit(write, Tag::Observed { side: 0, scope: 0, entry: number });
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use history::parse_text;

    use super::*;
    use crate::causal::program_order::Scopes;
    use crate::causal::relation::Relation;

    /// What the last thread with reads observes: pairs of values written.
    fn observed(trace: &str) -> (Vec<(u64, u64)>, bool) {
        let history = parse_text(trace).expect("the trace is well-formed");
        let ops = Operations::new(&history);
        let base = Base::new(&history, &ops, ProgramOrderPart::Program);
        let reads_from = ReadsFrom::certain(&history, &ops);
        let scopes = Scopes::new(&ops, ProgramOrderPart::Program);
        let layers = Vec::new();
        let relation = Relation { ops: &ops, base: &base, reads_from: &reads_from, layers };
        let causality = Clocks::over(&relation, &Budget::unlimited(), |_| ())
            .expect("there is room")
            .expect("causality is acyclic");
        let mut observer = Observer::new(&ops, &base, &reads_from, &causality);
        let reads = scopes.reads(scopes.len() - 1);
        observer.run(reads, &Budget::unlimited()).expect("time is unlimited");
        let value = |op| history.event(ops.event(op)).operation.value_written().unwrap_or(0);
        let mut pairs: Vec<(u64, u64)> =
            observer.edges().map(|(_, from, to)| (value(from), value(to))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        (pairs, observer.cycle(reads).is_none() && observer.before_initial().is_none())
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
