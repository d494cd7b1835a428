//! Relations within threads as paths: steps from event to event with a test at each stop.

use history::DependencyKind;

use super::Reader;
use super::sets::{ANY, SetTest};
use crate::base::BaseRelation;
use crate::graph::{NodeId, Operation};

/// A step from one event to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// `po`
    ProgramOrder,
    /// `po-loc`
    SameAddress,
    /// `po-loc` with no event of this set at the address in between.
    SameAddressWithout(SetTest),
    /// `po & rt`: to an event that began after this one had ended.
    InTime,
    /// `rt`: to an event of any thread that began after this one had ended.
    RealTime,
    /// `addr`, `data`, `ctrl`
    Dependency(DependencyKind),
    /// `amo`: from the read of an atomic to its write.
    Atomic,
    /// `amo^-1`
    AtomicBack,
    /// `lxsx`
    Exclusive,
    /// `rfi`
    ReadsOwn,
}

/// Pairs of events: from the first through all steps, with a test at each stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    /// What is asked of the first event: to be in all of these.
    pub first: Vec<SetTest>,
    /// The steps, and what is asked of the event that each leads to.
    pub steps: Vec<(Step, Vec<SetTest>)>,
    /// Only between reads of different writes.
    pub of_different_writes: bool,
}

/// Relations one after the other.
pub(super) struct Chain {
    pub(super) steps: Vec<NodeId>,
    /// The sets that the events before the first step, between steps and after the last must be in.
    pub(super) stops: Vec<Vec<NodeId>>,
}

/// So many paths may be kept; `together` and unions within sequences multiply them.
pub(super) const MOST_PATHS: usize = 512;

impl Reader<'_> {
    pub(super) fn factors(&self, node: NodeId, factors: &mut Vec<NodeId>) {
        match self.operation(node) {
            Operation::Sequence(a, b) => {
                self.factors(a, factors);
                self.factors(b, factors);
            }
            _ => factors.push(node),
        }
    }

    /// A relation as a sequence of relations with sets at each stop.
    pub(super) fn chain(&self, node: NodeId) -> Chain {
        let mut factors = Vec::new();
        self.factors(node, &mut factors);
        let mut chain = Chain { steps: Vec::new(), stops: vec![Vec::new()] };
        for factor in factors {
            match (self.operation(factor), chain.stops.last_mut()) {
                (Operation::Identity(set), Some(stop)) => stop.push(set),
                _ => {
                    chain.steps.push(factor);
                    chain.stops.push(Vec::new());
                }
            }
        }
        chain
    }

    /// A relation as paths; `None` if it is made of something else.
    pub(super) fn paths(&self, node: NodeId) -> Option<Vec<Path>> {
        let step = |step| Some(vec![Path { steps: vec![(step, vec![])], ..Path::default() }]);
        match self.operation(node) {
            Operation::Empty(_) => Some(Vec::new()),
            Operation::BaseRelation(relation) => match relation {
                BaseRelation::ProgramOrder => step(Step::ProgramOrder),
                BaseRelation::Dependency(kind) => step(Step::Dependency(kind)),
                BaseRelation::AtomicPair => step(Step::Atomic),
                BaseRelation::ExclusivePair => step(Step::Exclusive),
                BaseRelation::RealTime => step(Step::RealTime),
                BaseRelation::Same => Some(vec![Path::default()]),
                _ => None,
            },
            Operation::Inverse(inner) if self.is_amo(inner) => step(Step::AtomicBack),
            Operation::Identity(set) => {
                Some(vec![Path { first: vec![self.test(set, false)?], ..Path::default() }])
            }
            Operation::Optional(inner) => {
                let mut paths = self.paths(inner)?;
                paths.push(Path::default());
                Some(paths)
            }
            Operation::Union(a, b) => {
                let mut paths = self.paths(a)?;
                paths.extend(self.paths(b)?);
                (paths.len() <= MOST_PATHS).then_some(paths)
            }
            Operation::Sequence(a, b) => joined(&self.paths(a)?, &self.paths(b)?),
            Operation::Intersection(..) => self.intersection(node),
            Operation::Difference(from, taken) => self.difference(from, taken),
            _ => None,
        }
    }

    /// Program order or another relation, restricted to one address, to times, to kinds of events.
    pub(super) fn intersection(&self, node: NodeId) -> Option<Vec<Path>> {
        let mut paths = Vec::new();
        for conjuncts in self.conjunctions(node)? {
            paths.extend(self.conjunction(&conjuncts)?);
        }
        (paths.len() <= MOST_PATHS).then_some(paths)
    }

    /// A relation as a union of intersections.
    pub(super) fn conjunctions(&self, node: NodeId) -> Option<Vec<Vec<NodeId>>> {
        let all = match self.operation(node) {
            Operation::Union(a, b) => {
                let mut all = self.conjunctions(a)?;
                all.extend(self.conjunctions(b)?);
                all
            }
            Operation::Intersection(a, b) => {
                let (first, second) = (self.conjunctions(a)?, self.conjunctions(b)?);
                let joined =
                    |a: &Vec<NodeId>, b: &Vec<NodeId>| a.iter().chain(b).copied().collect();
                first.iter().flat_map(|a| second.iter().map(move |b| joined(a, b))).collect()
            }
            _ => vec![vec![node]],
        };
        (all.len() <= MOST_PATHS).then_some(all)
    }

    pub(super) fn conjunction(&self, conjuncts: &[NodeId]) -> Option<Vec<Path>> {
        let is_among = |relation| conjuncts.iter().any(|&each| self.is_base(each, relation));
        let (mut tests, mut others) = (Vec::new(), Vec::new());
        for &each in conjuncts {
            match self.operation(each) {
                Operation::Product(from, to) => {
                    tests.push((self.test(from, false)?, self.test(to, false)?));
                }
                Operation::BaseRelation(
                    BaseRelation::ProgramOrder
                    | BaseRelation::SameAddress
                    | BaseRelation::SameThread
                    | BaseRelation::RealTime,
                ) => {}
                _ => others.push(each),
            }
        }
        let at_one_address = is_among(BaseRelation::SameAddress);
        let in_time = is_among(BaseRelation::RealTime);
        let step = |step| vec![Path { steps: vec![(step, vec![])], ..Path::default() }];
        let paths = match others[..] {
            [] if is_among(BaseRelation::ProgramOrder) => match (at_one_address, in_time) {
                (false, false) => step(Step::ProgramOrder),
                (true, false) => step(Step::SameAddress),
                (false, true) => step(Step::InTime),
                (true, true) => return None,
            },
            [only] if self.is_reads_from(only) && !in_time => {
                // Within a thread; a read of a later write breaks coherence.
                let is_own =
                    is_among(BaseRelation::SameThread) || is_among(BaseRelation::ProgramOrder);
                is_own.then(|| step(Step::ReadsOwn))?
            }
            [only] if !at_one_address && !in_time => {
                // What is left leads to later events of the same thread.
                let paths = self.paths(only)?;
                paths.iter().all(Path::leads_on).then_some(paths)?
            }
            _ => return None,
        };
        let restricted =
            |path: Path| tests.iter().fold(path, |path, &(from, to)| path.between(from, to));
        Some(paths.into_iter().map(restricted).collect())
    }

    pub(super) fn difference(&self, from: NodeId, taken: NodeId) -> Option<Vec<Path>> {
        let paths = || self.paths(from);
        if !self.is_same_address(from) {
            return self.without(paths()?, taken);
        }
        match self.operation(taken) {
            Operation::Sequence(a, b) if !(self.is_reads_from_back(a) && self.is_reads_from(b)) => {
                let mut factors = Vec::new();
                self.factors(taken, &mut factors);
                let [before, between, after] = factors[..] else { return None };
                let Operation::Identity(set) = self.operation(between) else { return None };
                let step = Step::SameAddressWithout(self.test(set, false)?);
                let path = Path { steps: vec![(step, vec![])], ..Path::default() };
                // With `po-loc?`, an end that is in the set itself is taken away, too.
                let outside = self.test(set, true)?;
                let first = if self.same_address_or_none(before)? { outside } else { ANY };
                let last = if self.same_address_or_none(after)? { outside } else { ANY };
                Some(vec![path.between(first, last)])
            }
            _ => self.without(paths()?, taken),
        }
    }

    /// Whether a relation is `po-loc?`, if it is that or `po-loc`.
    fn same_address_or_none(&self, node: NodeId) -> Option<bool> {
        match self.operation(node) {
            Operation::Optional(inner) if self.is_same_address(inner) => Some(true),
            _ => self.is_same_address(node).then_some(false),
        }
    }

    /// Paths without the pairs of a relation.
    pub(super) fn without(&self, paths: Vec<Path>, taken: NodeId) -> Option<Vec<Path>> {
        match self.operation(taken) {
            Operation::Empty(_) => Some(paths),
            Operation::Union(a, b) => self.without(self.without(paths, a)?, b),
            // Nothing of program order is a pair of one event with itself.
            Operation::BaseRelation(BaseRelation::Same) => {
                paths.iter().all(Path::leads_on).then_some(paths)
            }
            Operation::Product(first, last) => {
                let (first, last) = (self.test(first, true)?, self.test(last, true)?);
                let mut left = Vec::new();
                for path in paths {
                    left.push(path.clone().between(first, ANY));
                    left.push(path.between(ANY, last));
                }
                (left.len() <= MOST_PATHS).then_some(left)
            }
            Operation::Sequence(a, b) if self.is_reads_from_back(a) && self.is_reads_from(b) => {
                let different = |path| Path { of_different_writes: true, ..path };
                paths.iter().all(Path::leads_on).then(|| paths.into_iter().map(different).collect())
            }
            _ => None,
        }
    }
}

impl Path {
    pub(super) fn between(mut self, from: SetTest, to: SetTest) -> Path {
        if from != ANY {
            self.first.push(from);
        }
        if to != ANY {
            self.last_tests().push(to);
        }
        self
    }

    pub(super) fn last_tests(&mut self) -> &mut Vec<SetTest> {
        match self.steps.last_mut() {
            Some((_, tests)) => tests,
            None => &mut self.first,
        }
    }

    /// Whether it leads from an event to a later one of its thread.
    pub(super) fn leads_on(&self) -> bool {
        !self.steps.is_empty()
            && self
                .steps
                .iter()
                .all(|(step, _)| !matches!(step, Step::Atomic | Step::AtomicBack | Step::RealTime))
    }
}

/// Each of the first paths followed by each of the second.
fn joined(first: &[Path], second: &[Path]) -> Option<Vec<Path>> {
    if first.len() * second.len() > MOST_PATHS {
        return None;
    }
    let mut paths = Vec::new();
    for a in first {
        for b in second {
            let trivial = |path: &Path| path.steps.is_empty();
            if a.of_different_writes && !trivial(b) || b.of_different_writes && !trivial(a) {
                return None;
            }
            let mut path = a.clone();
            path.of_different_writes |= b.of_different_writes;
            path.last_tests().extend(b.first.iter().copied());
            path.steps.extend(b.steps.iter().cloned());
            paths.push(path);
        }
    }
    Some(paths)
}
