//! A binary relation on at most 32 nodes, as a matrix of bits: row `a` holds every `b` with
//! (a, b) in the relation.

/// The most nodes a relation has room for; a history of the oracle's size stays well below.
pub(crate) const MAX_NODES: usize = 32;

/// A set of ordered pairs of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    size: usize,
    rows: [u32; MAX_NODES],
}

impl Relation {
    /// No pairs, over `size` nodes.
    pub(crate) fn empty(size: usize) -> Self {
        assert!(size <= MAX_NODES, "the oracle takes at most {MAX_NODES} operations, not {size}");
        Self { size, rows: [0; MAX_NODES] }
    }

    /// The pairs that satisfy a predicate.
    pub(crate) fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut relation = Self::empty(size);
        for a in 0..size {
            for b in 0..size {
                if holds(a, b) {
                    relation.add(a, b);
                }
            }
        }
        relation
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    /// Whether a pair is in the relation.
    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    /// The pairs of either relation.
    pub(crate) fn or(&self, other: &Relation) -> Relation {
        let mut union = *self;
        for a in 0..self.size {
            union.rows[a] |= other.rows[a];
        }
        union
    }

    /// The pairs that satisfy a predicate too.
    pub(crate) fn only(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Self::of(self.size, |a, b| self.has(a, b) && holds(a, b))
    }

    /// The smallest transitive relation with these pairs (Warshall).
    pub(crate) fn closure(&self) -> Relation {
        let mut closed = *self;
        for middle in 0..self.size {
            for a in 0..self.size {
                if closed.has(a, middle) {
                    closed.rows[a] |= closed.rows[middle];
                }
            }
        }
        closed
    }

    /// Whether no node reaches itself.
    pub(crate) fn is_acyclic(&self) -> bool {
        let closed = self.closure();
        (0..self.size).all(|a| !closed.has(a, a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closure_of_a_path_relates_its_ends() {
        let path = Relation::of(4, |a, b| b == a + 1);
        assert!(path.closure() == Relation::of(4, |a, b| a < b));
        assert!(path.is_acyclic());
    }

    #[test]
    fn a_node_before_itself_is_a_cycle() {
        assert!(!Relation::of(1, |_, _| true).is_acyclic());
        assert!(!Relation::of(3, |a, b| b == (a + 1) % 3).is_acyclic());
    }
}
