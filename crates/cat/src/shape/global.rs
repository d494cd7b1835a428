//! The condition on one global order.

use history::{AccessOrder, Kinds};

use super::Reader;
use super::paths::{MOST_PATHS, Path, Step};
use super::sets::{EventSort, SetTest, access_sorts};
use crate::base::BaseRelation;
use crate::graph::{NodeId, Operation};

/// The global condition.
#[derive(Debug, Clone)]
pub struct Global {
    /// The number of the axiom.
    pub axiom: usize,
    /// What is kept of program order.
    pub kept: Vec<Path>,
    /// Whether a read of a write of its own thread counts (`rf` instead of `rfe`).
    pub own_reads: bool,
    /// Whether the halves of an atomic are ordered.
    pub(super) orders_halves: bool,
    /// Whether they are, and what is kept never distinguishes them.
    pub halves_are_one: bool,
    /// Whether it has `co` and `fr` within threads, too (`co` instead of `coe`).
    pub(super) own_orders: bool,
    /// What it says of two reads of a location and a write that comes after the second.
    pub(super) hazards: Hazards,
}

/// What a condition has of `[R] ; po-loc ; [R] ; fre ; [W]`. Where locations are coherent, that is
/// part of `fre`, so it is not among what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hazards {
    /// Nothing.
    None,
    /// A part.
    Some,
    /// All of it; and later writes to the address of an access stay behind it.
    All,
}

impl Global {
    /// Whether each location is coherent where the condition holds.
    pub(super) fn implies_locations(&self) -> bool {
        self.own_reads && self.own_orders && self.kept.iter().any(is_program_order_of_all)
    }
}

/// `po` or `po-loc` between any two accesses.
fn is_program_order_of_all(path: &Path) -> bool {
    path.first.is_empty()
        && !path.of_different_writes
        && matches!(&path.steps[..], [(Step::ProgramOrder | Step::SameAddress, tests)]
            if tests.is_empty())
}

impl Reader<'_> {
    pub(super) fn global(&self, axiom: usize, parts: &[NodeId]) -> Option<Global> {
        let own_reads = self.has(parts, |part| self.is_reads_from(part));
        let external = |part, of: fn(&Self, NodeId) -> bool| {
            self.is_between_threads(part, |inner| of(self, inner))
        };
        let needed: [fn(&Self, NodeId) -> bool; 3] =
            [Self::is_reads_from, Self::is_coherence, Self::is_from_read];
        let is = |part, of: fn(&Self, NodeId) -> bool| of(self, part) || external(part, of);
        if !needed.iter().all(|&of| self.has(parts, |part| is(part, of))) {
            return None;
        }
        let own_orders = [Self::is_coherence, Self::is_from_read]
            .iter()
            .all(|of| self.has(parts, |part| of(self, part)));
        let is_fixed = |part: NodeId| !needed.iter().any(|&of| is(part, of));
        let (hazards, fixed): (Vec<NodeId>, Vec<NodeId>) =
            parts.iter().copied().filter(|&p| is_fixed(p)).partition(|&part| self.is_hazard(part));
        let mut kept = Vec::new();
        for &part in &fixed {
            kept.extend(self.paths(part)?);
        }
        let orders_own_writes =
            self.orders_halves(&fixed) && kept.iter().any(|path| self.leads_to_own_writes(path));
        // Where locations are coherent, `coi` and `fri` are part of `po-loc ; [W]` and `amo`.
        if !own_orders && !orders_own_writes {
            return None;
        }
        let reads_wait = kept.iter().any(|path| self.orders_reads_of_own_atomics(path));
        let orders_halves = self.orders_halves(&fixed);
        let halves_are_one = orders_halves
            && fixed.iter().all(|&part| {
                self.is_amo(part) || self.is_whole(part) || reads_wait && self.is_read_twice(part)
            });
        let hazards = match hazards[..] {
            [] => Hazards::None,
            _ if orders_own_writes && self.has(&hazards, |part| self.is_hazard_of_all(part)) => {
                Hazards::All
            }
            _ => Hazards::Some,
        };
        (kept.len() <= MOST_PATHS).then_some(Global {
            axiom,
            kept,
            own_reads,
            orders_halves,
            halves_are_one,
            own_orders,
            hazards,
        })
    }

    /// Whether a path leads from every access to the later writes of its thread to its address.
    fn leads_to_own_writes(&self, path: &Path) -> bool {
        let [(Step::SameAddress | Step::ProgramOrder, last)] = &path.steps[..] else {
            return false;
        };
        let pass = |tests: &[SetTest], kinds| {
            access_sorts(kinds).all(|sort| tests.iter().all(|test| self.passes(test, &sort)))
        };
        !path.of_different_writes && pass(&path.first, Kinds::ALL) && pass(last, Kinds::WRITES)
    }

    /// Whether a relation never distinguishes the halves of an atomic: program order, or what is
    /// closed under stepping from one half to the other at both ends.
    pub(super) fn is_whole(&self, node: NodeId) -> bool {
        if self.is_base(node, BaseRelation::ProgramOrder) || self.is_same_address(node) {
            return true;
        }
        let mut factors = Vec::new();
        self.factors(node, &mut factors);
        // Both halves have the same times.
        let is_plain = |&factor: &NodeId| match self.operation(factor) {
            Operation::Identity(set) => !self.tells_halves_apart(set),
            _ => self.is_base(factor, BaseRelation::RealTime),
        };
        if factors.iter().all(is_plain) {
            return true;
        }
        factors.len() > 2
            && factors.first().is_some_and(|&first| self.is_swap(first))
            && factors.last().is_some_and(|&last| self.is_swap(last))
    }

    /// Rule 2 of RVWMO: reads of one address and of different writes, with no write between them. It
    /// starts at the read of an atomic, not at its write; but a later read returns that write, which is
    /// ordered where `orders_reads_of_own_atomics`, or one that overwrites it, and comes after it then.
    pub(super) fn is_read_twice(&self, part: NodeId) -> bool {
        let write = EventSort { writes: true, ..EventSort::default() };
        let ends_at_writes = |set: SetTest| {
            let is_in = |is_atomic| {
                let sort = EventSort { is_atomic, ..write };
                self.passes(&set, &sort)
            };
            is_in(false) && is_in(true)
        };
        let is_rule_two = |path: &Path| {
            path.of_different_writes
                && matches!(path.steps[..], [(Step::SameAddressWithout(set), _)] if ends_at_writes(set))
        };
        self.paths(part).is_some_and(|paths| paths.iter().all(is_rule_two))
    }

    /// Whether a path leads from the write of every atomic to the reads of it in its thread.
    pub(super) fn orders_reads_of_own_atomics(&self, path: &Path) -> bool {
        let [(Step::ReadsOwn, last)] = &path.steps[..] else { return false };
        let orders = || [None].into_iter().chain(AccessOrder::ALL.map(Some));
        let passes = |tests: &[SetTest], sort: EventSort| {
            orders().all(|order| {
                let sort = EventSort { order, ..sort };
                tests.iter().all(|test| self.passes(test, &sort))
            })
        };
        let write = EventSort { writes: true, is_atomic: true, ..EventSort::default() };
        let read = EventSort { reads: true, ..EventSort::default() };
        passes(&path.first, write)
            && [(false, false), (true, false), (false, true)].into_iter().all(
                |(is_atomic, is_exclusive)| {
                    passes(last, EventSort { is_atomic, is_exclusive, ..read })
                },
            )
    }
}
