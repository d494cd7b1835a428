//! Coherence of locations by conditions on one thread at a time and the global one.
//!
//! An execution is coherent, `acyclic po-loc | amo | rf | co | fr`, if no access comes before one that
//! precedes it in its thread at its address: `irreflexive (po-loc | amo) ; (co | fr | rf | co;rf | fr;rf)`
//! (accesses of one thread to one address are totally ordered by `po-loc | amo`, so that a longer cycle
//! has a shorter one in it). Today's model of Arm asks for it in pieces. For a before b in a thread:
//!
//! - two writes, b co a: `irreflexive po-loc ; coi`.
//! - a write and a read, b fr a: `irreflexive po-loc ; fri`.
//! - a read and a write, b rf a: `irreflexive (po-loc | amo) ; rfi`.
//! - a read and a write, b co w rf a: if w is of another thread, `a -> b -> w -> a` is a cycle of
//!   `po-loc ; [W]` or `amo`, `coe` and `rfe` in the global condition. If w is of this thread, it comes
//!   before a (third case), so before b, and b co w is the first case.
//! - two reads, b fr w rf a: if w is of another thread, `a -> w -> a` is a cycle of
//!   `[R] ; po-loc ; [R] ; fre ; [W]` and `rfe` in the global condition. If w is of this thread, it comes
//!   before a (third case), so before b, and b fr w is the second case.
//!
//! And all of these conditions are part of coherence, the last two together with `fre` and `coe`.

use history::Kinds;

use super::Reader;
use crate::base::BaseRelation;
use crate::graph::NodeId;

/// A condition on the accesses of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithinThread {
    /// `irreflexive [R] ; (po-loc | rmw) ; [W] ; rfi ; [R]`
    ReadThenWrite,
    /// `irreflexive [W] ; po-loc ; [W] ; coi ; [W]`
    WriteThenWrite,
    /// `irreflexive [W] ; po-loc ; [R] ; fri ; [W]`
    WriteThenRead,
}

impl Reader<'_> {
    /// Which condition on the accesses of one thread it is that a relation is irreflexive.
    pub(super) fn form_within_threads(&self, node: NodeId) -> Option<WithinThread> {
        let chain = self.chain(node);
        let [own, back] = chain.steps[..] else { return None };
        let is_back =
            |of: fn(&Self, NodeId) -> bool| self.is_within_thread(back, |inner| of(self, inner));
        let (reads, writes) = (Kinds::READS, Kinds::WRITES);
        let (form, stops) = if is_back(Self::is_reads_from) {
            (WithinThread::ReadThenWrite, [reads, writes, reads])
        } else if is_back(Self::is_coherence) {
            (WithinThread::WriteThenWrite, [writes, writes, writes])
        } else if is_back(Self::is_from_read) {
            (WithinThread::WriteThenRead, [writes, reads, writes])
        } else {
            return None;
        };
        let mut parts = Vec::new();
        self.parts(own, &mut parts);
        let is_pair = |part| self.is_amo(part) || self.is_base(part, BaseRelation::ExclusivePair);
        let is_own = self.has(&parts, |part| self.is_same_address(part))
            && (form != WithinThread::ReadThenWrite || self.orders_halves(&parts))
            && parts.iter().all(|&part| self.is_same_address(part) || is_pair(part));
        let is_of_all =
            chain.stops.iter().zip(stops).all(|(sets, kinds)| self.hold_all(sets, kinds));
        (is_own && is_of_all).then_some(form)
    }

    /// `po-loc ; fre`, with or without sets at the stops.
    pub(super) fn is_hazard(&self, node: NodeId) -> bool {
        let steps = self.chain(node).steps;
        let is_from_read = |step| self.is_between_threads(step, |inner| self.is_from_read(inner));
        matches!(steps[..], [own, back] if self.is_same_address(own) && is_from_read(back))
    }

    /// Whether a part that is a hazard is that of all reads.
    pub(super) fn is_hazard_of_all(&self, node: NodeId) -> bool {
        let kinds = [Kinds::READS, Kinds::READS, Kinds::WRITES];
        self.chain(node).stops.iter().zip(kinds).all(|(sets, kinds)| self.hold_all(sets, kinds))
    }
}
