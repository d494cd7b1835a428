//! Atomicity: nothing comes between a read-modify-write and the write it read.
//!
//! Where u read w, the two are neighbours in every write order; u′ reading u makes it three, and so
//! on: a *block*. Seen from a write v outside the block, the rule "w before v makes u before v" and
//! its mirror image, applied along the block, say: once v comes after one of the block it comes
//! after the last, and once it comes before one of the block it comes before the first. So where
//! one of a block comes before one of another, the last of the one comes before the first of the
//! other.
//!
//! Along a chain it is enough to look at what a write knows and the one before it did not, and of
//! that at the last write of each other chain; the rest follows over the edges of those. A round
//! costs one set of clocks and O(writes · threads); edges of a round rest on those of the rounds
//! before it.

use std::ops::Range;

use history::AddressId;

use super::clocks::Clocks;
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
}

/// Two read-modify-writes that read the same write.
pub(super) struct Rivals(pub(super) Op, pub(super) Op);

impl Blocks {
    /// The blocks, of reads-from without cycles.
    pub(super) fn new(ops: &Operations, reads_from: &ReadsFrom) -> Result<Self, Rivals> {
        let mut blocks =
            Blocks { members: Vec::new(), starts: vec![0], initial: 0, block_of: Vec::new() };
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
        let mut next = first;
        while next.is_some() {
            let place = ops.place_of(next);
            self.block_of[place] = block;
            self.members.push(next);
            next = updated_by[place];
        }
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

    /// The edges that atomicity adds to relations with these clocks, of this round and the next:
    /// what follows from the clocks of writes that changed.
    pub(super) fn edges(&self, ops: &Operations, clocks: &[Clocks], round: u32) -> Vec<AtomicEdge> {
        let mut finder = Finder {
            blocks: self,
            ops,
            clocks,
            round,
            latest: vec![Op::NONE; self.len()],
            ends: Vec::new(),
            news: Vec::new(),
            edges: Vec::new(),
        };
        for block in 0..self.initial {
            finder.after_initial(block);
        }
        for address in (0..ops.address_count()).map(AddressId::new) {
            if self.block_of[ops.places_of(address)].iter().any(|&block| block != SINGLE) {
                for chain in ops.chains_of(address) {
                    finder.along(chain, ops.chains_of(address));
                }
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
    /// The last of the block that was put before a block most recently.
    latest: Vec<Op>,
    /// For each chain of the address, the place after the last known write, and the rank there.
    ends: Vec<(u32, u32)>,
    /// The places of the last writes that are news to a write.
    news: Vec<u32>,
    edges: Vec<AtomicEdge>,
}

impl Finder<'_> {
    /// A block that reads the initial write comes before everything else.
    fn after_initial(&mut self, block: u32) {
        let members = self.blocks.members(block);
        let (Some(&first), Some(&last)) = (members.first(), members.last()) else { return };
        for chain in self.ops.chains_of(self.ops.address(first)) {
            let mut places = self.ops.chain(chain).places();
            if let Some(place) = places.find(|&place| self.blocks.block_of[place] != block) {
                self.add((last, self.ops.write_at(place)), (block, Op::NONE, 0), self.round);
            }
        }
    }

    /// What each write of a chain knows of the others that the one before it did not.
    fn along(&mut self, chain: usize, others: Range<usize>) {
        let ops = self.ops;
        let start = |other: usize| ops.chain(other).places().start;
        self.ends.clear();
        self.ends.extend(others.clone().map(|o| (start(o) as u32, ops.rank_at(start(o)))));
        let places = ops.chain(chain).places();
        // The first place whose write the ends do not take in.
        let mut seen = places.start;
        for place in places.clone() {
            let write = ops.write_at(place);
            if !self.clocks.iter().any(|clocks| clocks.has_changed(write)) {
                continue;
            }
            if seen < place {
                self.advance(chain, others.clone(), ops.write_at(place - 1));
            }
            seen = place + 1;
            if place > places.start {
                self.order(place - 1, place);
            }
            self.advance(chain, others.clone(), write);
            for i in 0..self.news.len() {
                self.order(self.news[i] as usize, place);
            }
        }
    }

    /// Lets the ends take in what a write knows, and notes where they moved.
    fn advance(&mut self, chain: usize, others: Range<usize>, write: Op) {
        let ops = self.ops;
        self.news.clear();
        let first = self.clocks[0].view(ops, write);
        let second = self.clocks.get(1).map(|clocks| clocks.view(ops, write));
        for (other, (end, next_rank)) in others.zip(&mut self.ends) {
            let thread = ops.chain(other).thread;
            let known = first.count(thread).max(second.map_or(0, |view| view.count(thread)));
            if *next_rank >= known || other == chain {
                continue;
            }
            let last = ops.chain(other).places().end as u32;
            while *next_rank < known {
                *end += 1;
                *next_rank = if *end < last { ops.rank_at(*end as usize) } else { u32::MAX };
            }
            self.news.push(*end - 1);
        }
    }

    /// The write at one place comes before the one at another: then so do their blocks.
    fn order(&mut self, before: usize, after: usize) {
        let (earlier, later) = (self.blocks.block_of[before], self.blocks.block_of[after]);
        if earlier == later {
            return;
        }
        let (before, after) = (self.ops.write_at(before), self.ops.write_at(after));
        let mut last = before;
        if earlier != SINGLE
            && let Some(&member) = self.blocks.members(earlier).last()
            && member != before
        {
            last = member;
            let side = self.side_of(before, after);
            self.add((last, after), (earlier, before, side), self.round);
        }
        if later != SINGLE && later >= self.blocks.initial {
            let first = self.blocks.members(later)[0];
            let latest = std::mem::replace(&mut self.latest[later as usize], last);
            if first != after && latest != last {
                // Once the last of the earlier block comes before the write, it does on every side.
                let side = if last == before { self.side_of(before, after) } else { 0 };
                self.add((last, first), (later, after, side), self.round + 1);
            }
        }
    }

    /// The first side on which one write comes before another.
    fn side_of(&self, before: Op, after: Op) -> u8 {
        let side = self.clocks.iter().position(|clocks| clocks.has(self.ops, before, after));
        side.unwrap_or(0) as u8
    }

    fn add(&mut self, (from, to): (Op, Op), (block, member, side): (u32, Op, u8), round: u32) {
        if !self.clocks.iter().all(|clocks| clocks.has(self.ops, from, to)) {
            self.edges.push(AtomicEdge { from, to, block, member, side, round });
        }
    }
}
