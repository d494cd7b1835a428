//! The forms of conditions and of their parts.

use history::Kinds;

use super::Reader;
use super::paths::Step;
use crate::base::BaseRelation;
use crate::graph::{NodeId, Operation};

impl Reader<'_> {
    pub(super) fn operation(&self, node: NodeId) -> Operation {
        self.graph.node(node).operation
    }

    pub(super) fn is_base(&self, node: NodeId, relation: BaseRelation) -> bool {
        self.operation(node) == Operation::BaseRelation(relation)
    }

    /// The two operands of an intersection, in both orders.
    pub(super) fn intersected(&self, node: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> {
        let pair = match self.operation(node) {
            Operation::Intersection(a, b) => Some([(a, b), (b, a)]),
            _ => None,
        };
        pair.into_iter().flatten()
    }

    pub(super) fn is_external(&self, node: NodeId) -> bool {
        let inner = |inner| self.is_base(inner, BaseRelation::SameThread);
        matches!(self.operation(node), Operation::Complement(of) if inner(of))
    }

    /// Whether a relation is this one between threads.
    pub(super) fn is_between_threads(&self, node: NodeId, of: impl Fn(NodeId) -> bool) -> bool {
        self.intersected(node).any(|(a, b)| of(a) && self.is_external(b))
    }

    /// Whether a relation is this one within threads.
    pub(super) fn is_within_thread(&self, node: NodeId, of: impl Fn(NodeId) -> bool) -> bool {
        self.intersected(node).any(|(a, b)| of(a) && self.is_base(b, BaseRelation::SameThread))
    }

    pub(super) fn is_same_address(&self, node: NodeId) -> bool {
        self.intersected(node).any(|(a, b)| {
            self.is_base(a, BaseRelation::ProgramOrder)
                && self.is_base(b, BaseRelation::SameAddress)
        })
    }

    pub(super) fn is_reads_from(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::ReadsFrom)
    }

    pub(super) fn is_coherence(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::Coherence)
    }

    /// `rf^-1`
    pub(super) fn is_reads_from_back(&self, node: NodeId) -> bool {
        matches!(self.operation(node), Operation::Inverse(inner) if self.is_reads_from(inner))
    }

    /// `(rf^-1 ; co) \ id`, or without `\ id`.
    pub(super) fn is_from_read(&self, node: NodeId) -> bool {
        match self.operation(node) {
            Operation::Difference(inner, same) if self.is_base(same, BaseRelation::Same) => {
                self.is_from_read(inner)
            }
            Operation::Sequence(a, b) => self.is_reads_from_back(a) && self.is_coherence(b),
            _ => false,
        }
    }

    /// The members of a union, those of its transitive closure included, which has cycles where
    /// they have.
    pub(super) fn parts(&self, node: NodeId, parts: &mut Vec<NodeId>) {
        match self.operation(node) {
            Operation::Union(a, b) => {
                self.parts(a, parts);
                self.parts(b, parts);
            }
            Operation::Plus(inner) => self.parts(inner, parts),
            Operation::Empty(_) => {}
            _ if parts.contains(&node) => {}
            _ => parts.push(node),
        }
    }

    pub(super) fn has(&self, parts: &[NodeId], is: impl Fn(NodeId) -> bool) -> bool {
        parts.iter().any(|&part| is(part))
    }

    pub(super) fn is_amo(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::AtomicPair)
    }

    pub(super) fn orders_halves(&self, parts: &[NodeId]) -> bool {
        self.has(parts, |part| self.is_amo(part))
    }

    /// `po-loc | rf | co | fr`, perhaps with `rmw` or parts of it.
    pub(super) fn is_location(&self, parts: &[NodeId]) -> bool {
        let is_pair = |part| self.is_amo(part) || self.is_base(part, BaseRelation::ExclusivePair);
        let needed: [&dyn Fn(NodeId) -> bool; 4] = [
            &|part| self.is_same_address(part) || self.is_but_reads(part),
            &|part| self.is_reads_from(part),
            &|part| self.is_coherence(part),
            &|part| self.is_from_read(part),
        ];
        needed.iter().all(|is| self.has(parts, is))
            && parts.iter().all(|&part| is_pair(part) || needed.iter().any(|is| is(part)))
    }

    /// `po-loc` of atomics as a whole, without pairs of reads: `together(po-loc) \ (S * S)` with the
    /// reads that are no atomics' as S.
    pub(super) fn is_but_reads(&self, node: NodeId) -> bool {
        let Operation::Difference(from, taken) = self.operation(node) else { return false };
        let Operation::Product(first, second) = self.operation(taken) else { return false };
        let mut factors = Vec::new();
        self.factors(from, &mut factors);
        let is_of_locations = match factors[..] {
            [before, middle, after] => {
                self.is_swap(before) && self.is_same_address(middle) && self.is_swap(after)
            }
            _ => false,
        };
        is_of_locations && [first, second].into_iter().all(|set| self.is_plain_reads(set))
    }

    /// `together(addr | data | ctrl) | amo | rf`
    pub(super) fn is_thin_air(&self, parts: &[NodeId]) -> bool {
        let mut kinds = [false; 3];
        for &part in parts {
            if self.is_reads_from(part) || self.is_amo(part) {
                continue;
            }
            if !self.is_whole(part) {
                return false;
            }
            let Some(paths) = self.paths(part) else { return false };
            for path in paths {
                let is_step = |step: &Step| {
                    matches!(step, Step::Dependency(_) | Step::Atomic | Step::AtomicBack)
                };
                let tests = path.first.len()
                    + path.steps.iter().map(|(_, tests)| tests.len()).sum::<usize>();
                if tests > 0 || !path.steps.iter().all(|(step, _)| is_step(step)) {
                    return false;
                }
                for (step, _) in &path.steps {
                    if let Step::Dependency(kind) = step {
                        kinds[*kind as usize] = true;
                    }
                }
            }
        }
        self.has(parts, |part| self.is_reads_from(part))
            && self.orders_halves(parts)
            && kinds == [true; 3]
    }

    /// `(amo | amo^-1)?`: from an event to itself or to the other half of its atomic.
    pub(super) fn is_swap(&self, node: NodeId) -> bool {
        let Operation::Optional(inner) = self.operation(node) else { return false };
        let mut parts = Vec::new();
        self.parts(inner, &mut parts);
        let back = |part| matches!(self.operation(part), Operation::Inverse(of) if self.is_amo(of));
        self.orders_halves(&parts) && self.has(&parts, back)
    }

    /// `rmw & (fre ; coe)`, or `(rmw & (fr ; co)) \ (fri ; [W] ; coi)`: whether the condition exempts
    /// pairs between whose accesses the thread itself writes; `None` for another condition.
    ///
    /// In a coherent execution `fri ; [W] ; coi` leads over a write that stands between the two in
    /// program order, and `fr ; co` without such a write over one of another thread.
    pub(super) fn atomicity(&self, node: NodeId) -> Option<bool> {
        match self.operation(node) {
            Operation::Difference(from, exempt) if self.is_over_own_write(exempt) => {
                self.is_separated_pair(from, true).then_some(true)
            }
            _ => self.is_separated_pair(node, false).then_some(false),
        }
    }

    /// `rmw & (fre ; coe)`, or `rmw & (fr ; co)` where `of_own_thread`.
    fn is_separated_pair(&self, node: NodeId, of_own_thread: bool) -> bool {
        let is_pairs = |node| {
            let mut parts = Vec::new();
            self.parts(node, &mut parts);
            parts.len() == 2
                && self.orders_halves(&parts)
                && self.has(&parts, |part| self.is_base(part, BaseRelation::ExclusivePair))
        };
        let is_between = |node| match self.operation(node) {
            Operation::Sequence(a, b) => match of_own_thread {
                true => self.is_from_read(a) && self.is_coherence(b),
                false => {
                    self.is_between_threads(a, |inner| self.is_from_read(inner))
                        && self.is_between_threads(b, |inner| self.is_coherence(inner))
                }
            },
            _ => false,
        };
        self.intersected(node).any(|(a, b)| is_pairs(a) && is_between(b))
    }

    /// `fri ; [W] ; coi`
    fn is_over_own_write(&self, node: NodeId) -> bool {
        let chain = self.chain(node);
        let [first, second] = chain.steps[..] else { return false };
        let is_open = chain.stops.iter().zip([Kinds::READS, Kinds::WRITES, Kinds::WRITES]);
        self.is_within_thread(first, |inner| self.is_from_read(inner))
            && self.is_within_thread(second, |inner| self.is_coherence(inner))
            && is_open.into_iter().all(|(sets, kinds)| self.hold_all(sets, kinds))
    }
}
