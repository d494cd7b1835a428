//! What a thread has heard of each address, as its reads go on: for every chain of the address, the
//! last write that comes before the read.
//!
//! Clocks grow along a thread, so each chain is walked once a thread. Of the last writes only those
//! are recorded that the source of the read does not come after: every rule asks about those, and where
//! memory is nearly one for all there are few. O(threads · n) in all.

use super::clocks::Clocks;
use super::operations::{From, Op, Operations, ReadsFrom};

/// The writes of a chain that are known so far.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The place after the last of them, and the rank of the write there.
    end: u32,
    next_rank: u32,
    /// How many writes of the thread there are up to the last of them.
    count: u32,
}

/// When the reads of an address began, and what the last of them read.
#[derive(Clone, Copy, Debug)]
struct Latest {
    walk: u32,
    source: From,
}

/// The last writes known, along one thread at a time.
pub(super) struct Frontier<'a> {
    ops: &'a Operations,
    reads_from: &'a ReadsFrom,
    chains: Vec<Known>,
    latest: Vec<Latest>,
    walk: u32,
}

impl<'a> Frontier<'a> {
    pub(super) fn new(ops: &'a Operations, reads_from: &'a ReadsFrom) -> Self {
        let known = Known { end: 0, next_rank: 0, count: 0 };
        let latest = Latest { walk: 0, source: From::Open };
        Frontier {
            ops,
            reads_from,
            chains: vec![known; ops.chain_count()],
            latest: vec![latest; ops.address_count()],
            walk: 0,
        }
    }

    /// Begins with another thread: nothing is known.
    pub(super) fn restart(&mut self) {
        self.walk += 1;
    }

    /// Goes on to a read. Calls `visit` with the last write known of every chain of its address, if
    /// what was read does not come after it and it was not recorded at the read before.
    pub(super) fn advance(&mut self, clocks: &Clocks, read: Op, mut visit: impl FnMut(Op)) {
        let ops = self.ops;
        let source = self.reads_from.source(read);
        if source == From::Open {
            return;
        }
        let chains = ops.chains_of(ops.address(read));
        let latest = &mut self.latest[ops.address(read).index()];
        let is_first = std::mem::replace(&mut latest.walk, self.walk) != self.walk;
        let is_same = std::mem::replace(&mut latest.source, source) == source && !is_first;
        let seen = clocks.view(ops, read);
        let before_source = match source {
            From::Write(write) => Some(clocks.view(ops, write)),
            From::Initial | From::Open => None,
        };
        for (chain, known) in chains.clone().zip(&mut self.chains[chains]) {
            let thread = ops.chain(chain).thread;
            if is_first {
                let start = ops.chain(chain).places().start;
                *known = Known { end: start as u32, next_rank: ops.rank_at(start), count: 0 };
            }
            let count = seen.count(thread);
            let has_moved = known.next_rank < count;
            if has_moved {
                known.move_to(ops, chain, count);
            }
            let before_source = before_source.map_or(0, |view| view.count(thread));
            if known.count > before_source && (has_moved || !is_same) {
                visit(ops.write_at(known.end as usize - 1));
            }
        }
    }
}

impl Known {
    fn move_to(&mut self, ops: &Operations, chain: usize, count: u32) {
        let places = ops.chain(chain).places();
        while self.next_rank < count {
            self.count = self.next_rank + 1;
            self.end += 1;
            let end = self.end as usize;
            self.next_rank = if end < places.end { ops.rank_at(end) } else { u32::MAX };
        }
    }
}
