//! Sets of nodes, a bit each.

use super::graph::NodeId;

/// A set of nodes.
pub(crate) struct NodeSet {
    bits: Vec<u64>,
}

impl NodeSet {
    /// The empty set, of no nodes.
    pub(crate) fn none() -> Self {
        Self { bits: Vec::new() }
    }

    /// The empty set, of so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { bits: vec![0; nodes.div_ceil(64)] }
    }

    /// Whether a node is in the set.
    pub(crate) fn contains(&self, n: NodeId) -> bool {
        self.bits.get(n as usize / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    /// Puts a node in.
    pub(crate) fn insert(&mut self, n: NodeId) {
        self.bits[n as usize / 64] |= 1 << (n % 64);
    }

    /// Takes a node out.
    pub(crate) fn remove(&mut self, n: NodeId) {
        self.bits[n as usize / 64] &= !(1 << (n % 64));
    }
}
