//! The end of a check: is the whole relation acyclic, with what atomicity adds?
//!
//! Without read-modify-writes that is one sweep. With them, edges are added round by round until
//! there is nothing to add; [`Blocks`] says which. The clocks of the last round are kept and brought
//! up to date.

use super::atomic::{AtomicEdge, Blocks, Rivals};
use super::check::{Check, Stop};
use super::clocks::Clocks;
use super::explain::Broken;
use super::operations::Op;
use super::pairs::WritePairs;
use super::relation::Tag;

/// Up to this many entries of clocks, the pairs that `ccv` orders are counted.
const PAIRS_ARE_CHEAP: usize = 1 << 22;

/// All operations in an order that extends the whole relation, on each side, and, where that is cheap to
/// know and no partial store order says so, how many pairs of writes the relation orders.
pub(super) type Closed = (Vec<Vec<Op>>, Option<WritePairs>);

impl Check<'_> {
    /// Closes the whole relation, which must be acyclic.
    pub(super) fn close_with_atomicity(&mut self) -> Result<Closed, Stop> {
        let ops = &self.problem.ops;
        let entries = ops.len().saturating_mul(ops.thread_count());
        let counts_pairs = !self.problem.rules.store_order && entries <= PAIRS_ARE_CHEAP;
        if !ops.has_updates() && !counts_pairs {
            let broken = |side: usize| move |cycle| Broken::Whole { side, cycle };
            let mut orders = Vec::with_capacity(self.problem.sides.len());
            for side in (0..self.problem.sides.len()).rev() {
                orders.push(self.order_of(&self.whole(side), broken(side))?);
            }
            orders.reverse();
            return Ok((orders, None));
        }
        match Blocks::new(ops, self.reads_from) {
            Ok(blocks) => self.blocks = Some(blocks),
            Err(Rivals(a, b)) => return Err(self.broken(Broken::Rivals(a, b))),
        }
        let (orders, clocks) = self.close_under_blocks()?;
        Ok((orders, counts_pairs.then(|| WritePairs::ordered_by(ops, &clocks[0]))))
    }

    /// Adds the edges of blocks until there are none to add.
    fn close_under_blocks(&mut self) -> Result<(Vec<Vec<Op>>, Vec<Clocks>), Stop> {
        let ops = &self.problem.ops;
        let mut edges = self.blocks.as_ref().map_or(Vec::new(), |b| b.initial_edges(ops));
        let mut clocks: Vec<Clocks> = Vec::new();
        let mut round = 1;
        loop {
            let targets: Vec<Op> = edges.iter().map(|edge| edge.to).collect();
            self.add_atomic(edges);
            let orders;
            (orders, clocks) = self.clocks_after(clocks, &targets)?;
            edges = match &self.blocks {
                Some(blocks) if !blocks.is_empty() => blocks.edges(ops, &clocks, &orders, round),
                _ => Vec::new(),
            };
            if edges.is_empty() {
                return Ok((orders, clocks));
            }
            round += 2;
        }
    }

    fn add_atomic(&mut self, edges: Vec<AtomicEdge>) {
        for edge in edges {
            let tag = Tag::Atomic { edge: self.atomic_edges.len() as u32 };
            self.atomic_edges.push(edge);
            self.atomic.add(&self.problem.ops, edge.from, edge.to, tag);
        }
    }

    /// The clocks of each side after edges to these targets were added, and orders that extend the
    /// relations.
    fn clocks_after(
        &self,
        outdated: Vec<Clocks>,
        targets: &[Op],
    ) -> Result<(Vec<Vec<Op>>, Vec<Clocks>), Stop> {
        let mut orders = Vec::with_capacity(self.problem.sides.len());
        let mut clocks = Vec::with_capacity(self.problem.sides.len());
        let mut outdated = outdated.into_iter();
        for side in 0..self.problem.sides.len() {
            self.spend()?;
            let relation = self.whole(side);
            let mut order = Vec::with_capacity(self.problem.ops.len());
            let visit = |op| order.push(op);
            let updated = match outdated.next() {
                Some(outdated) => outdated.update(&relation, targets, self.budget, visit)?,
                None => Clocks::over(&relation, self.budget, visit)?,
            };
            clocks.push(updated.map_err(|cycle| self.broken(Broken::Whole { side, cycle }))?);
            orders.push(order);
        }
        Ok((orders, clocks))
    }
}
