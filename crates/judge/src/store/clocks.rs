//! Vector clocks over chains: the one order structure.
//!
//! The clock of a node holds, for each chain, how far along it things come before the node: the id
//! of the last such event plus one. Every question the rules ask is about writes ("which writes of
//! x come before this?"), or whether a reader is known to come first. A cycle shows as an event
//! that precedes itself.
//!
//! Memory: 4 bytes × nodes × chains, laid out flat.

use std::ops::Range;

use history::{EventId, History, ThreadId};

use super::chains::{AddressChain, Chains, OwnChains};
use super::graph::{NodeId, node};

/// An event that comes before itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrecedesItself(pub(crate) NodeId);

/// How far along each chain everything has been emitted by a guess. What has been emitted comes
/// before everything else, so clocks need not say so.
#[derive(Default)]
pub(crate) struct Front {
    reach: Vec<i32>,
    /// Local chains have no front: writes of other addresses may still have to go.
    local: usize,
}

impl Front {
    /// The front before the first event.
    pub(crate) fn new(chains: &Chains) -> Self {
        Self { reach: vec![0; chains.count()], local: chains.local() }
    }

    /// How far along a chain everything has been emitted.
    pub(crate) fn of(&self, chain: usize) -> i32 {
        self.reach.get(chain).copied().unwrap_or(0)
    }

    /// Everything below this has been emitted in these chains.
    pub(crate) fn set(&mut self, own: OwnChains, below: i32) {
        for chain in own.iter().filter(|&chain| chain >= self.local) {
            self.reach[chain] = below;
        }
    }
}

/// Rows are compared so many chains at a time.
const STRETCH: usize = 8;

/// A clock for every node.
pub(crate) struct Clocks {
    pub(crate) chains: Chains,
    width: usize,
    /// Which chains share a bit in a set.
    pub(crate) bits: ChainBits,
    /// Ids are below 2^31. Signed, because plain x86-64 compares only signed numbers four at a
    /// time.
    rows: Vec<i32>,
}

/// A set of chains as a word. If there are more chains than bits, neighbours share a bit.
pub(crate) type ChainSet = u32;

/// Which chains share a bit.
#[derive(Clone, Copy)]
pub(crate) struct ChainBits {
    count: usize,
    shift: u32,
}

impl ChainBits {
    fn new(count: usize) -> Self {
        let groups = count.div_ceil(ChainSet::BITS as usize).max(1);
        Self { count, shift: groups.next_power_of_two().ilog2() }
    }

    /// The bit of a chain.
    pub(crate) fn of(self, chain: usize) -> ChainSet {
        1 << (chain >> self.shift)
    }

    /// The chains of a set.
    pub(crate) fn chains(self, mut set: ChainSet) -> impl Iterator<Item = usize> {
        let ones = std::iter::from_fn(move || {
            let bit = set.trailing_zeros();
            set &= set.wrapping_sub(1);
            (bit < ChainSet::BITS).then_some(bit as usize)
        });
        let group = move |bit: usize| bit << self.shift..((bit + 1) << self.shift).min(self.count);
        ones.flat_map(group)
    }
}

/// A cell of a clock and what it held before it changed.
#[derive(Clone, Copy)]
pub(crate) struct Changed {
    node: NodeId,
    chain: u32,
    before: i32,
}

impl Clocks {
    /// The bytes that clocks for so many nodes take.
    pub(crate) fn bytes(chains: &Chains, nodes: usize) -> usize {
        nodes.saturating_mul(chains.count()).saturating_mul(size_of::<i32>())
    }

    /// The same chains, and nothing that is known of any node.
    pub(crate) fn forgotten(self) -> Self {
        Self { rows: Vec::new(), ..self }
    }

    /// Clocks at zero.
    pub(crate) fn new(chains: Chains, nodes: usize) -> Self {
        let width = chains.count();
        Self { chains, width, bits: ChainBits::new(width), rows: vec![0; nodes * width] }
    }

    /// The clock of a node, by chain.
    pub(crate) fn row(&self, node: NodeId) -> &[i32] {
        let start = node as usize * self.width;
        &self.rows[start..start + self.width]
    }

    /// How far along a chain things come before a node.
    pub(crate) fn reach(&self, node: NodeId, chain: usize) -> i32 {
        self.rows[node as usize * self.width + chain]
    }

    /// Whether an event that stands in a chain comes before a node.
    pub(crate) fn reaches(&self, node: NodeId, chain: usize, event: EventId) -> bool {
        self.reach(node, chain) > place(event)
    }

    /// Whether a write is known to come before a node; where chains are thin, before an access of its
    /// address.
    pub(crate) fn precedes(&self, history: &History, write: EventId, later: NodeId) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let chain = self.chains.of_write(history, write);
        chain.is_some_and(|chain| self.reaches(later, chain, write))
    }

    /// How many writes of an address in one of its chains come before a node.
    pub(crate) fn count_before(&self, later: NodeId, writes: AddressChain) -> usize {
        let reach = self.reach(later, writes.chain);
        writes.writes.partition_point(|&w| place(w) < reach)
    }

    /// The writes of one chain of its address that a write is neither before nor after, itself
    /// aside, as places among the writes of that chain to the address.
    pub(crate) fn open_with(
        &self,
        history: &History,
        write: EventId,
        writes: AddressChain,
    ) -> Range<usize> {
        let before = self.count_before(node(write), writes);
        let not_after = |&w: &EventId| w == write || !self.precedes(history, write, node(w));
        let after = writes.writes.partition_point(not_after);
        let own = writes.writes.get(before) == Some(&write);
        before + usize::from(own)..after
    }

    /// Two different rows, the second to be changed.
    fn two_rows(&mut self, source: NodeId, target: NodeId) -> (&[i32], &mut [i32]) {
        let width = self.width;
        let (from, to) = (source as usize * width, target as usize * width);
        if from < to {
            let (left, right) = self.rows.split_at_mut(to);
            (&left[from..from + width], &mut right[..width])
        } else {
            let (left, right) = self.rows.split_at_mut(from);
            (&right[..width], &mut left[to..to + width])
        }
    }

    /// Lets `later` know what `earlier` knows and that `earlier` itself, which stands in these
    /// chains, comes before it; without asking what is news. Of chains from this one on.
    pub(crate) fn learn_all(
        &mut self,
        later: NodeId,
        earlier: NodeId,
        own: OwnChains,
        from: usize,
    ) {
        if earlier != later {
            let (source, target) = self.two_rows(earlier, later);
            let (source, target) = (&source[from..], &mut target[from..]);
            for (known, &new) in target.iter_mut().zip(source) {
                *known = if new > *known { new } else { *known };
            }
        }
        for chain in own.iter().filter(|&chain| chain >= from) {
            let known = &mut self.rows[later as usize * self.width + chain];
            *known = (*known).max(earlier as i32 + 1);
        }
    }

    /// Lets a node know that an event of a chain comes before it; whether that was news.
    pub(crate) fn learn_of(
        &mut self,
        later: NodeId,
        chain: usize,
        event: EventId,
        log: Option<&mut Vec<Changed>>,
    ) -> bool {
        let known = &mut self.rows[later as usize * self.width + chain];
        let is_news = *known <= place(event);
        if is_news {
            if let Some(log) = log {
                log.push(Changed { node: later, chain: chain as u32, before: *known });
            }
            *known = place(event) + 1;
        }
        is_news
    }

    /// The same as [`Clocks::learn_all`] for some chains only and beyond the front only, but returns
    /// the chains in which that was news, and logs the cells that changed.
    pub(crate) fn learn(
        &mut self,
        later: NodeId,
        earlier: NodeId,
        (own, chains, from): (OwnChains, ChainSet, usize),
        front: &Front,
        mut log: Option<&mut Vec<Changed>>,
    ) -> ChainSet {
        let bits = self.bits;
        let mut changed = 0;
        let mut change = |chain: usize, known: &mut i32, new: i32| {
            changed |= bits.of(chain);
            if let Some(log) = &mut log {
                log.push(Changed { node: later, chain: chain as u32, before: *known });
            }
            *known = new;
        };
        if earlier != later {
            let (source, target) = self.two_rows(earlier, later);
            if chains == ChainSet::MAX {
                let (source, target) = (&source[from..], &mut target[from..]);
                let stretches = target.chunks_mut(STRETCH).zip(source.chunks(STRETCH));
                for (stretch, (target, source)) in stretches.enumerate() {
                    let mut news = false;
                    for (known, new) in target.iter().zip(source) {
                        news |= new > known;
                    }
                    if !news {
                        continue;
                    }
                    for (i, (known, &new)) in target.iter_mut().zip(source).enumerate() {
                        let chain = from + stretch * STRETCH + i;
                        if new > *known && new > front.of(chain) {
                            change(chain, known, new);
                        }
                    }
                }
            } else {
                for chain in bits.chains(chains).filter(|&chain| chain >= from) {
                    if source[chain] > target[chain] && source[chain] > front.of(chain) {
                        change(chain, &mut target[chain], source[chain]);
                    }
                }
            }
        }
        for chain in own.iter().filter(|&chain| chain >= from) {
            let known = &mut self.rows[later as usize * self.width + chain];
            if *known <= earlier as i32 {
                change(chain, known, earlier as i32 + 1);
            }
        }
        changed
    }

    /// Whether an event, which stands in these chains, comes before itself.
    pub(crate) fn precedes_itself(&self, event: EventId, own: OwnChains) -> bool {
        own.iter().any(|chain| self.reaches(node(event), chain, event))
    }

    /// Restores cells, latest change first, until this many changes are left.
    pub(crate) fn restore(&mut self, log: &mut Vec<Changed>, length: usize) {
        while log.len() > length
            && let Some(Changed { node, chain, before }) = log.pop()
        {
            self.rows[node as usize * self.width + chain as usize] = before;
        }
    }

    /// How many pairs of writes of one address are ordered.
    pub(crate) fn ordered_pairs(&self, history: &History) -> u64 {
        let mut pairs = 0;
        if self.chains.are_thin() {
            return pairs;
        }
        let parts = self.chains.all_parts(history).map(|part| part.writes);
        let mut walks: Vec<Walk> = parts.map(Walk::new).collect();
        for thread in history.threads() {
            for event in history.thread_events(thread) {
                let Some(address) = history.address_of(event) else { continue };
                if !history.kinds_of(event).writes {
                    continue;
                }
                let row = self.row(node(event));
                let parts = self.chains.parts_of(address);
                for (part, walk) in parts.clone().zip(&mut walks[parts]) {
                    // What precedes a write grows along its thread.
                    walk.enter(thread);
                    pairs += walk.count_below(row[self.chains.chain_of_part(part)]);
                }
            }
        }
        pairs
    }
}

/// A walk along the writes of one chain to one address, anew for each thread.
struct Walk<'h> {
    writes: &'h [EventId],
    thread: Option<ThreadId>,
    count: u32,
    next: i32,
}

impl<'h> Walk<'h> {
    fn new(writes: &'h [EventId]) -> Self {
        Self { writes, thread: None, count: 0, next: 0 }
    }

    fn enter(&mut self, thread: ThreadId) {
        if self.thread != Some(thread) {
            *self = Self { thread: Some(thread), count: 0, next: place(self.writes[0]), ..*self };
        }
    }

    /// How many writes lie below a reach that never shrinks.
    fn count_below(&mut self, reach: i32) -> u64 {
        while self.next < reach {
            self.count += 1;
            self.next = self.writes.get(self.count as usize).map_or(i32::MAX, |&w| place(w));
        }
        u64::from(self.count)
    }
}

/// The place of an event in its chains.
pub(crate) fn place(event: EventId) -> i32 {
    event.index() as i32
}
