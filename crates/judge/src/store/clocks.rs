//! Vector clocks over chains of writes: the one order structure.
//!
//! A *chain* is a set of writes that the model keeps in order: the writes of a thread, or of a
//! thread to one address where the model keeps no more. The clock of a node holds, for each
//! chain, how many of its writes come before the node. Every question the rules ask is about
//! writes ("which writes of x come before this?"), so chains of reads are not needed, and every
//! cycle passes a write, so it shows as a write that precedes itself.
//!
//! Memory: 4 bytes × nodes × chains, laid out flat.

use std::ops::Range;

use history::{AddressId, EventId, History};
use models::Keeps;

use super::graph::{NodeId, node};
use super::problem::Problem;

const NO_CHAIN: u32 = u32::MAX;

/// Which writes form chains, and where each write stands.
pub(crate) struct Chains {
    count: usize,
    chain_of: Vec<u32>,
    position_of: Vec<u32>,
    /// For each address, the chains that write it.
    by_address: Vec<Vec<AddressChain>>,
}

/// The writes of one chain to one address.
pub(crate) struct AddressChain {
    /// The chain.
    pub(crate) chain: usize,
    /// Its writes to the address, in order.
    pub(crate) writes: Vec<EventId>,
}

impl Chains {
    /// The chains of a problem.
    pub(crate) fn new(problem: &Problem) -> Self {
        let history = problem.history;
        let per_thread = problem.rules.global && problem.rules.write_write == Keeps::Always;
        let mut chains = Self {
            count: 0,
            chain_of: vec![NO_CHAIN; history.len()],
            position_of: vec![0; history.len()],
            by_address: (0..history.address_count()).map(|_| Vec::new()).collect(),
        };
        if per_thread {
            chains.by_thread(history);
        } else {
            chains.by_thread_and_address(history);
        }
        chains
    }

    fn by_thread(&mut self, history: &History) {
        for thread in history.threads() {
            let mut position = 0;
            for id in history.thread_events(thread) {
                if history.event(id).is_write() {
                    self.chain_of[id.index()] = self.count as u32;
                    self.position_of[id.index()] = position;
                    position += 1;
                }
            }
            self.count += usize::from(position > 0);
        }
        for address in history.address_ids() {
            let writes = &history.address(address).writes;
            for own in writes.chunk_by(|a, b| self.chain_of[a.index()] == self.chain_of[b.index()])
            {
                let chain = self.chain_of[own[0].index()] as usize;
                self.by_address[address.index()].push(AddressChain { chain, writes: own.to_vec() });
            }
        }
    }

    fn by_thread_and_address(&mut self, history: &History) {
        for address in history.address_ids() {
            let writes = &history.address(address).writes;
            for own in writes.chunk_by(|a, b| history.event(*a).thread == history.event(*b).thread)
            {
                for (position, id) in own.iter().enumerate() {
                    self.chain_of[id.index()] = self.count as u32;
                    self.position_of[id.index()] = position as u32;
                }
                let chain = AddressChain { chain: self.count, writes: own.to_vec() };
                self.by_address[address.index()].push(chain);
                self.count += 1;
            }
        }
    }

    /// The chains that write an address.
    pub(crate) fn of_address(&self, address: AddressId) -> &[AddressChain] {
        &self.by_address[address.index()]
    }

    fn place(&self, event: EventId) -> Option<(usize, u32)> {
        let chain = self.chain_of[event.index()];
        (chain != NO_CHAIN).then(|| (chain as usize, self.position_of[event.index()]))
    }
}

/// A write that comes before itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrecedesItself(pub(crate) NodeId);

/// A clock for every node.
pub(crate) struct Clocks {
    pub(crate) chains: Chains,
    counts: Vec<u32>,
}

impl Clocks {
    /// The bytes that clocks for so many nodes take.
    pub(crate) fn bytes(chains: &Chains, nodes: usize) -> usize {
        nodes.saturating_mul(chains.count).saturating_mul(size_of::<u32>())
    }

    /// Clocks at zero.
    pub(crate) fn new(chains: Chains, nodes: usize) -> Self {
        let counts = vec![0; nodes * chains.count];
        Self { chains, counts }
    }

    fn of(&self, node: NodeId) -> &[u32] {
        let start = node as usize * self.chains.count;
        &self.counts[start..start + self.chains.count]
    }

    /// How many writes of a chain come before a node.
    pub(crate) fn count(&self, node: NodeId, chain: usize) -> u32 {
        self.counts[node as usize * self.chains.count + chain]
    }

    /// Whether a write comes before a node.
    pub(crate) fn precedes(&self, write: EventId, later: NodeId) -> bool {
        self.chains
            .place(write)
            .is_some_and(|(chain, position)| self.count(later, chain) > position)
    }

    /// The last write of an address in one of its chains that comes before a node, as its place
    /// among the writes of that chain to the address, plus one; 0 if there is none.
    pub(crate) fn last_before(&self, later: NodeId, writes: &AddressChain) -> usize {
        let count = self.count(later, writes.chain);
        writes.writes.partition_point(|w| self.chains.position_of[w.index()] < count)
    }

    /// The writes of one chain of its address that a write is neither before nor after, itself
    /// aside, as places among the writes of that chain to the address.
    pub(crate) fn open_with(&self, write: EventId, writes: &AddressChain) -> Range<usize> {
        let before = self.last_before(node(write), writes);
        let after =
            writes.writes.partition_point(|&w| w == write || !self.precedes(write, node(w)));
        let own = writes.writes.get(before) == Some(&write);
        before + usize::from(own)..after
    }

    /// Lets `later` know what `earlier` knows, and `earlier` itself if it is a write. True if that
    /// was news.
    pub(crate) fn learn(
        &mut self,
        later: NodeId,
        earlier: NodeId,
        earlier_event: Option<EventId>,
        later_event: Option<EventId>,
    ) -> Result<bool, PrecedesItself> {
        let width = self.chains.count;
        let (from, to) = (earlier as usize * width, later as usize * width);
        let mut news = false;
        if earlier != later {
            // The two rows do not overlap; split so that the loop vectorises.
            let (source, target) = if from < to {
                let (left, right) = self.counts.split_at_mut(to);
                (&left[from..from + width], &mut right[..width])
            } else {
                let (left, right) = self.counts.split_at_mut(from);
                (&right[..width], &mut left[to..to + width])
            };
            for (known, &new) in target.iter_mut().zip(source) {
                news |= new > *known;
                *known = new.max(*known);
            }
        }
        if let Some((chain, position)) = earlier_event.and_then(|e| self.chains.place(e)) {
            let known = &mut self.counts[to + chain];
            news |= position + 1 > *known;
            *known = (position + 1).max(*known);
        }
        if news
            && let Some((chain, position)) = later_event.and_then(|e| self.chains.place(e))
            && self.of(later)[chain] > position
        {
            return Err(PrecedesItself(later));
        }
        Ok(news)
    }

    /// How many pairs of writes of one address are ordered.
    pub(crate) fn ordered_pairs(&self, history: &History) -> u64 {
        let mut pairs = 0;
        for address in history.address_ids() {
            let chains = self.chains.of_address(address);
            for write in chains.iter().flat_map(|c| &c.writes) {
                for chain in chains {
                    pairs += self.last_before(node(*write), chain) as u64;
                }
            }
        }
        pairs
    }
}
