//! Vector clocks over chains: the one order structure.
//!
//! The clock of a node holds, for each chain, how far along it things come before the node: the id
//! of the last such event plus one. Every question the rules ask is about writes ("which writes of
//! x come before this?"), or whether a reader is known to come first. A cycle shows as an event
//! that precedes itself.
//!
//! Memory: 4 bytes × nodes × chains, laid out flat.

use std::ops::Range;

use history::{EventId, History, Kinds};

use super::chains::{AddressChain, Chains};
use super::graph::{NodeId, node};

/// An event that comes before itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrecedesItself(pub(crate) NodeId);

/// A clock for every node.
pub(crate) struct Clocks {
    pub(crate) chains: Chains,
    width: usize,
    /// Ids are below 2^31. Signed, because plain x86-64 compares only signed numbers four at a
    /// time.
    rows: Vec<i32>,
}

/// Which chains of a clock have changed, modulo the bits of a word.
pub(crate) type ChainSet = u32;

/// The bit of a chain in a set.
pub(crate) fn chain_bit(chain: usize) -> ChainSet {
    1 << (chain % ChainSet::BITS as usize)
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

    /// Clocks at zero.
    pub(crate) fn new(chains: Chains, nodes: usize) -> Self {
        let width = chains.count();
        Self { chains, width, rows: vec![0; nodes * width] }
    }

    fn row(&self, node: NodeId) -> &[i32] {
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

    /// Whether a write comes before a node.
    pub(crate) fn precedes(&self, history: &History, write: EventId, later: NodeId) -> bool {
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

    /// Lets `later` know what `earlier` knows. Returns the chains in which that was news, and logs
    /// the cells that changed.
    pub(crate) fn learn(
        &mut self,
        later: NodeId,
        earlier: NodeId,
        log: Option<&mut Vec<Changed>>,
    ) -> ChainSet {
        if earlier == later {
            return 0;
        }
        let width = self.width;
        let (from, to) = (earlier as usize * width, later as usize * width);
        // The two rows do not overlap; split so that the loops vectorise.
        let (source, target) = if from < to {
            let (left, right) = self.rows.split_at_mut(to);
            (&left[from..from + width], &mut right[..width])
        } else {
            let (left, right) = self.rows.split_at_mut(from);
            (&right[..width], &mut left[to..to + width])
        };
        let mut news = false;
        for (known, new) in target.iter().zip(source) {
            news |= new > known;
        }
        if !news {
            return 0;
        }
        let mut changed = 0;
        for (chain, (known, &new)) in target.iter().zip(source).enumerate() {
            changed |= ChainSet::from(new > *known) << (chain % ChainSet::BITS as usize);
        }
        if let Some(log) = log {
            for (chain, (known, &new)) in target.iter().zip(source).enumerate() {
                if new > *known {
                    log.push(Changed { node: later, chain: chain as u32, before: *known });
                }
            }
        }
        for (known, &new) in target.iter_mut().zip(source) {
            *known = if new > *known { new } else { *known };
        }
        changed
    }

    /// Lets `later` know that an event that stands in a chain comes before it.
    pub(crate) fn learn_event(
        &mut self,
        later: NodeId,
        chain: usize,
        event: EventId,
        log: Option<&mut Vec<Changed>>,
    ) -> ChainSet {
        let cell = &mut self.rows[later as usize * self.width + chain];
        let new = place(event) + 1;
        if new <= *cell {
            return 0;
        }
        if let Some(log) = log {
            log.push(Changed { node: later, chain: chain as u32, before: *cell });
        }
        *cell = new;
        chain_bit(chain)
    }

    /// Whether an event comes before itself.
    pub(crate) fn precedes_itself(&self, history: &History, event: EventId, kinds: Kinds) -> bool {
        let within = |chain: Option<usize>| {
            chain.is_some_and(|chain| self.reaches(node(event), chain, event))
        };
        (kinds.writes && within(self.chains.of_write(history, event)))
            || (kinds.reads && within(self.chains.of_read(history, event)))
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
        let mut counts: Vec<usize> = Vec::new();
        for address in history.address_ids() {
            let chains: Vec<AddressChain> = self.chains.of_address(history, address).collect();
            for own in &chains {
                // What precedes a write grows along its chain.
                counts.clear();
                counts.resize(chains.len(), 0);
                for &write in own.writes {
                    let row = self.row(node(write));
                    for (count, chain) in counts.iter_mut().zip(&chains) {
                        let reach = row[chain.chain];
                        while chain.writes.get(*count).is_some_and(|&w| place(w) < reach) {
                            *count += 1;
                        }
                        pairs += *count as u64;
                    }
                }
            }
        }
        pairs
    }
}

/// The place of an event in its chains.
pub(crate) fn place(event: EventId) -> i32 {
    event.index() as i32
}
