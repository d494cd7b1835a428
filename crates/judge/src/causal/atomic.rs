//! Atomicity: nothing comes between a read-modify-write and the write it read.
//!
//! Where u read w, the two are neighbours in every write order; u′ reading u makes it three, and so
//! on: a *block*. Seen from a write v outside the block, the rule "w before v makes u before v" and
//! its mirror image, applied along the block, say: once v comes after one of the block it comes
//! after the last, and once it comes before one of the block it comes before the first. So where
//! one of a block comes before one of another, the last of the one comes before the first of the
//! other.
//!
//! Which of the writes of an address come right before a write is asked in an order that extends the
//! relation: those that nothing seen so far comes after (`fronts`), or what they lead back to where
//! the write does not know them; the rest follows over the edges of those. Where memory is nearly
//! one for all a front is one write. When few writes learned something in a round, only those are
//! looked at in the next. A round costs one set of clocks and O(writes · threads · log n)
//! at worst, O(writes) as a rule; edges of a round rest on those of the rounds before it.

use super::clocks::Clocks;
use super::fronts::{Fronts, last_known};
use super::operations::{From, Op, Operations, ReadsFrom};

/// An edge that a block derives.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicEdge {
    pub(super) from: Op,
    pub(super) to: Op,
    pub(super) block: u32,
    /// The member of the block that a path to `to` leaves or a path of `from` reaches, in the
    /// relation of this side; none if the block reads the initial write.
    pub(super) member: Op,
    pub(super) side: u8,
    pub(super) round: u32,
}

/// No block: neither a read-modify-write nor read by one.
const SINGLE: u32 = u32::MAX;

/// The blocks of a choice of reads-from: rows of read-modify-writes, each reading the one before,
/// and ahead of them the write that the first read, unless that was the initial write.
#[derive(Debug)]
pub(super) struct Blocks {
    members: Vec<Op>,
    starts: Vec<u32>,
    /// The first so many blocks read the initial write.
    initial: u32,
    /// By the place of the write.
    block_of: Vec<u32>,
    ends: Vec<Ends>,
}

/// The first and the last write of a block, and where the last one counts in clocks.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Op,
    last: Op,
    thread: u32,
    rank: u32,
}

impl Ends {
    /// The ends of a block of one write.
    fn of(ops: &Operations, write: Op) -> Self {
        let (thread, rank) = (ops.thread(write) as u32, ops.rank(write));
        Ends { first: write, last: write, thread, rank }
    }
}

/// Two read-modify-writes that read the same write.
pub(super) struct Rivals(pub(super) Op, pub(super) Op);

impl Blocks {
    /// The blocks, of reads-from without cycles.
    pub(super) fn new(ops: &Operations, reads_from: &ReadsFrom) -> Result<Self, Rivals> {
        let (members, block_of, ends) = Default::default();
        let mut blocks = Blocks { members, starts: vec![0], initial: 0, block_of, ends };
        if !ops.has_updates() {
            return Ok(blocks);
        }
        // The read-modify-write that read a write, by the place of the write.
        let mut updated_by = vec![Op::NONE; ops.write_count()];
        let mut reading_initial: Vec<Op> = Vec::new();
        for update in ops.all() {
            let Some(read) = ops.read_half_of(update) else { continue };
            match reads_from.source(read) {
                From::Open => {}
                From::Initial => reading_initial.push(update),
                From::Write(write) => {
                    let known = std::mem::replace(&mut updated_by[ops.place_of(write)], update);
                    if known.is_some() {
                        return Err(Rivals(known, update));
                    }
                }
            }
        }
        reading_initial.sort_unstable_by_key(|&u| (ops.address(u), u));
        for pair in reading_initial.windows(2) {
            if ops.address(pair[0]) == ops.address(pair[1]) {
                return Err(Rivals(pair[0], pair[1]));
            }
        }
        blocks.block_of = vec![SINGLE; ops.write_count()];
        blocks.initial = reading_initial.len() as u32;
        for &update in &reading_initial {
            blocks.follow(ops, &updated_by, update);
        }
        for place in (0..ops.write_count()).filter(|&place| updated_by[place].is_some()) {
            let write = ops.write_at(place);
            let source = ops.read_half_of(write).map_or(From::Open, |read| reads_from.source(read));
            if source == From::Open {
                blocks.follow(ops, &updated_by, write);
            }
        }
        Ok(blocks)
    }

    fn follow(&mut self, ops: &Operations, updated_by: &[Op], first: Op) {
        let block = self.len() as u32;
        let (mut last, mut next) = (first, first);
        while next.is_some() {
            let place = ops.place_of(next);
            self.block_of[place] = block;
            self.members.push(next);
            last = next;
            next = updated_by[place];
        }
        self.ends.push(Ends { first, ..Ends::of(ops, last) });
        self.starts.push(self.members.len() as u32);
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The writes of a block, in order.
    pub(super) fn members(&self, block: u32) -> &[Op] {
        let block = block as usize;
        &self.members[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    /// The edges of the first round, which need no clocks: a block that reads the initial write
    /// comes before everything else.
    pub(super) fn initial_edges(&self, ops: &Operations) -> Vec<AtomicEdge> {
        let mut edges = Vec::new();
        for block in 0..self.initial {
            let Ends { first, last, .. } = self.ends[block as usize];
            for chain in ops.chains_of(ops.address(first)) {
                let mut places = ops.chain(chain).places();
                if let Some(place) = places.find(|&place| self.block_of[place] != block) {
                    let (to, member) = (ops.write_at(place), Op::NONE);
                    edges.push(AtomicEdge { from: last, to, block, member, side: 0, round: 0 });
                }
            }
        }
        edges
    }

    /// The edges that atomicity adds to relations with these clocks, of this round and the next,
    /// given an order that extends each.
    pub(super) fn edges(
        &self,
        ops: &Operations,
        clocks: &[Clocks],
        orders: &[Vec<Op>],
        round: u32,
    ) -> Vec<AtomicEdge> {
        let mut finder = Finder { blocks: self, ops, clocks, round, edges: Vec::new() };
        for (side, order) in orders.iter().enumerate() {
            match clocks[side].changed() {
                Some(few) if few.len().saturating_mul(ops.thread_count()) < ops.write_count() => {
                    finder.look_at(few, side);
                }
                _ => finder.look_at_all(order, side),
            }
        }
        finder.edges
    }
}

/// The search for the edges of a round.
struct Finder<'a> {
    blocks: &'a Blocks,
    ops: &'a Operations,
    clocks: &'a [Clocks],
    round: u32,
    edges: Vec<AtomicEdge>,
}

impl Finder<'_> {
    /// What follows from all that is known on a side.
    fn look_at_all(&mut self, order: &[Op], side: usize) {
        let mut fronts = Fronts::new(self.ops, &self.clocks[side]);
        for &write in order.iter().filter(|&&op| self.ops.is_write(op)) {
            let place = self.ops.place_of(write);
            fronts.advance(write, place);
            self.order(&fronts.nearest, (write, place), side as u8);
        }
    }

    /// What follows from what these writes know on a side.
    fn look_at(&mut self, writes: &[Op], side: usize) {
        let mut nearest = Vec::new();
        for &write in writes {
            let place = self.ops.place_of(write);
            let view = self.clocks[side].view(self.ops, write);
            last_known(self.ops, view, place, &mut nearest);
            self.order(&nearest, (write, place), side as u8);
        }
    }

    /// Whether a write comes before another on every side.
    fn is_known(&self, thread: u32, rank: u32, write: Op) -> bool {
        let count = |clocks: &Clocks| clocks.count(self.ops, write, thread as usize);
        self.clocks.iter().all(|clocks| count(clocks) > rank)
    }

    /// Some writes come before one on a side: then so do their blocks.
    fn order(&mut self, nearest: &[u32], (after, place): (Op, usize), side: u8) {
        let later = self.blocks.block_of[place];
        let first = match self.blocks.ends.get(later as usize) {
            Some(ends) if later >= self.blocks.initial => ends.first,
            _ => after,
        };
        for &before in nearest {
            let earlier = self.blocks.block_of[before as usize];
            if earlier == later {
                continue;
            }
            let before = self.ops.write_at(before as usize);
            let ends = self.blocks.ends.get(earlier as usize).copied();
            let Ends { last, thread, rank, .. } =
                ends.unwrap_or_else(|| Ends::of(self.ops, before));
            if last != before && !self.is_known(thread, rank, after) {
                self.add((last, after), (earlier, before, side), self.round);
            }
            if first != after && !self.is_known(thread, rank, first) {
                // Once the last of the earlier block comes before the write, it does on every side.
                let side = if last == before { side } else { 0 };
                self.add((last, first), (later, after, side), self.round + 1);
            }
        }
    }

    fn add(&mut self, (from, to): (Op, Op), (block, member, side): (u32, Op, u8), round: u32) {
        self.edges.push(AtomicEdge { from, to, block, member, side, round });
    }
}
