//! Atomicity: nothing comes between a read-modify-write and the write it read.
//!
//! Where u read w, the two are neighbours in every write order; u′ reading u makes it three, and so
//! on: a *block*. Seen from a write v outside the block, the rule "w before v makes u before v" and
//! its mirror image, applied along the block, say: once v comes after the first of the block it
//! comes after the last, and once it comes before the last it comes before the first. So a block
//! asks one question a chain and end, and gives at most one edge for each answer. Each round costs
//! one set of clocks and O(blocks · threads · log n); edges of a round rest on those of the rounds
//! before it.

use super::clocks::Clocks;
use super::operations::{From, Op, Operations, ReadsFrom};

/// An edge that a block derives.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicEdge {
    pub(super) from: Op,
    pub(super) to: Op,
    pub(super) block: u32,
    pub(super) round: u32,
}

/// A row of read-modify-writes, each reading the one before.
#[derive(Debug)]
pub(super) struct Block {
    /// What the first of them read, unless that was the initial write; then they themselves.
    pub(super) members: Vec<Op>,
    pub(super) reads_initial: bool,
}

impl Block {
    fn last(&self) -> Op {
        self.members.last().copied().unwrap_or(Op::NONE)
    }
}

/// The blocks of a choice of reads-from.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    block_of: Vec<u32>,
}

/// Two read-modify-writes that read the same write.
pub(super) struct Rivals(pub(super) Op, pub(super) Op);

impl Blocks {
    /// The blocks, of reads-from without cycles.
    pub(super) fn new(ops: &Operations, reads_from: &ReadsFrom) -> Result<Self, Rivals> {
        // The read-modify-write that read a write.
        let mut updated_by = vec![Op::NONE; ops.len()];
        let mut reading_initial: Vec<Op> = Vec::new();
        for update in ops.all() {
            let Some(read) = ops.read_half_of(update) else { continue };
            match reads_from.source(read) {
                From::Open => {}
                From::Initial => reading_initial.push(update),
                From::Write(write) => {
                    let known = std::mem::replace(&mut updated_by[write.index()], update);
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
        let mut blocks = Blocks { blocks: Vec::new(), block_of: Vec::new() };
        if reading_initial.is_empty() && updated_by.iter().all(|u| !u.is_some()) {
            return Ok(blocks);
        }
        blocks.block_of = vec![u32::MAX; ops.len()];
        for &update in &reading_initial {
            blocks.follow(&updated_by, update, true);
        }
        for write in ops.all().filter(|w| updated_by[w.index()].is_some()) {
            let source = ops.read_half_of(write).map_or(From::Open, |read| reads_from.source(read));
            if source == From::Open {
                blocks.follow(&updated_by, write, false);
            }
        }
        Ok(blocks)
    }

    fn follow(&mut self, updated_by: &[Op], first: Op, reads_initial: bool) {
        let mut members = Vec::new();
        let mut next = first;
        while next.is_some() {
            self.block_of[next.index()] = self.blocks.len() as u32;
            members.push(next);
            next = updated_by[next.index()];
        }
        self.blocks.push(Block { members, reads_initial });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The edges that atomicity adds to relations with these clocks.
    pub(super) fn edges(&self, ops: &Operations, clocks: &[Clocks], round: u32) -> Vec<AtomicEdge> {
        let mut edges = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            let (Some(&first), last) = (block.members.first(), block.last()) else { continue };
            let mut add = |from: Op, to: Op| {
                if !clocks.iter().all(|c| c.has(ops, from, to)) {
                    edges.push(AtomicEdge { from, to, block: number as u32, round });
                }
            };
            for chain in ops.chains_of(ops.address(first)) {
                let after = if block.reads_initial {
                    ops.chain(chain).places().start
                } else {
                    clocks.iter().map(|c| first_after(ops, c, first, chain)).min().unwrap_or(0)
                };
                if let Some(later) = self.outside(ops, number, after..ops.chain(chain).places().end)
                {
                    add(last, later);
                }
                if block.reads_initial {
                    continue;
                }
                let known = clocks.iter().map(|c| c.row(last)[ops.chain(chain).thread]).max();
                let end = ops.end_of_prefix(chain, known.unwrap_or(0));
                let earlier = (ops.chain(chain).places().start..end).rev();
                if let Some(earlier) = self.outside(ops, number, earlier) {
                    add(earlier, first);
                }
            }
        }
        edges
    }

    /// The first write of these places that is not of the block.
    fn outside(
        &self,
        ops: &Operations,
        block: usize,
        mut places: impl Iterator<Item = usize>,
    ) -> Option<Op> {
        places
            .find(|&place| self.block_of[ops.write_at(place).index()] != block as u32)
            .map(|place| ops.write_at(place))
    }
}

/// The place of the first write of a chain that comes after `write`.
fn first_after(ops: &Operations, clocks: &Clocks, write: Op, chain: usize) -> usize {
    let (mut low, mut high) = (ops.chain(chain).places().start, ops.chain(chain).places().end);
    while low < high {
        let middle = low + (high - low) / 2;
        if clocks.has(ops, write, ops.write_at(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
