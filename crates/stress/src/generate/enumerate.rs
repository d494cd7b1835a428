//! Every cycle of edges up to a size, each once.
//!
//! A cycle is the same from wherever it is begun: of its rotations only the least is produced.
//! Two edges that say no more than a shorter cycle would are not put next to each other: two of
//! program order, and communications of other threads that make one (`Rfe Fre` is a `Coe`, `Coe
//! Coe` a `Coe`, `Fre Coe` a `Fre`). The number of cycles grows exponentially with the size.

use super::cycle::Cycle;
use super::edge::{Communication, Edge, Relation};

/// The largest size: there are millions of cycles of ten of the basic edges.
pub const MAX_CYCLE_SIZE: usize = 12;

/// All cycles of at most `size` of these edges, from the smallest to the largest.
///
/// ```
/// use tribunal_stress::{Edge, cycles};
///
/// let names: Vec<String> = cycles(&Edge::BASIC, 4).map(|cycle| cycle.name()).collect();
/// assert_eq!(names, ["MP", "LB", "S", "SB", "R", "2+2W"]);
/// ```
pub fn cycles(edges: &[Edge], size: usize) -> Cycles {
    let mut edges = edges.to_vec();
    edges.sort_unstable();
    edges.dedup();
    let limit = size.min(MAX_CYCLE_SIZE);
    Cycles { edges, limit, size: 2, chosen: Vec::new(), next: 0 }
}

/// An iterator over cycles: an odometer whose digits are edges.
#[derive(Clone, Debug)]
pub struct Cycles {
    edges: Vec<Edge>,
    limit: usize,
    size: usize,
    /// Edges chosen so far, as indices.
    chosen: Vec<usize>,
    /// The edge to try next.
    next: usize,
}

impl Iterator for Cycles {
    type Item = Cycle;

    fn next(&mut self) -> Option<Cycle> {
        while self.size <= self.limit {
            if self.next == self.edges.len() {
                match self.chosen.pop() {
                    Some(edge) => self.next = edge + 1,
                    None => {
                        self.size += 1;
                        self.next = 0;
                    }
                }
                continue;
            }
            let edge = self.next;
            self.next += 1;
            if !self.may_choose(edge) {
                continue;
            }
            self.chosen.push(edge);
            if self.chosen.len() < self.size {
                // The first edge of the least rotation is the least of all.
                self.next = self.chosen[0];
                continue;
            }
            let cycle = self.chosen_cycle();
            self.chosen.pop();
            if cycle.is_some() {
                return cycle;
            }
        }
        None
    }
}

impl Cycles {
    fn may_choose(&self, edge: usize) -> bool {
        self.chosen.last().is_none_or(|&last| meets(self.edges[last], self.edges[edge]))
    }

    /// The chosen edges, if they form a cycle and are its least rotation.
    fn chosen_cycle(&self) -> Option<Cycle> {
        let size = self.chosen.len();
        let rotated = |by: usize| (0..size).map(move |at| self.chosen[(at + by) % size]);
        if (1..size).any(|by| rotated(by).lt(rotated(0))) {
            return None;
        }
        let (first, last) = (self.chosen.first()?, self.chosen.last()?);
        if !meets(self.edges[*last], self.edges[*first]) {
            return None;
        }
        Cycle::new(self.chosen.iter().map(|&edge| self.edges[edge]).collect()).ok()
    }
}

/// Whether the second edge may follow the first.
fn meets(first: Edge, second: Edge) -> bool {
    use Communication::{Coherence, FromRead, ReadsFrom};
    let shorter = match (first.relation, second.relation) {
        (Relation::Program { .. }, Relation::Program { .. }) => true,
        (
            Relation::Communicates { how: first, external: true },
            Relation::Communicates { how: second, external: true },
        ) => matches!(
            (first, second),
            (ReadsFrom, FromRead) | (Coherence, Coherence) | (FromRead, Coherence)
        ),
        _ => false,
    };
    first.to() == second.from() && first.marks[1] == second.marks[0] && !shorter
}
