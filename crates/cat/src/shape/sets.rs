//! Sets of events by what each event is: its kind, its annotation, the fence it is.

use history::{AccessOrder, FenceName, Kinds};

use super::Reader;
use super::paths::{Path, Step};
use crate::base::{BaseSet, FenceKind};
use crate::graph::{NodeId, Operation};

/// A set of events by what each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SetTest {
    node: Option<NodeId>,
    negated: bool,
}

/// What one event is: a read or a write (one half of an atomic), or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EventSort {
    /// Whether it is a read.
    pub reads: bool,
    /// Whether it is a write.
    pub writes: bool,
    /// Whether it is a half of an atomic.
    pub is_atomic: bool,
    /// Whether it is of a pair of load-reserved and store-conditional.
    pub is_exclusive: bool,
    /// Its annotation.
    pub order: Option<AccessOrder>,
    /// What it orders, if it is a fence.
    pub fence: Option<(Kinds, Kinds)>,
    /// The name of a fence.
    pub name: Option<FenceName>,
}

/// The test that everything passes.
pub(super) const ANY: SetTest = SetTest { node: None, negated: false };

impl Reader<'_> {
    /// Whether every one of these sets holds all accesses of a kind.
    pub(super) fn hold_all(&self, sets: &[NodeId], kinds: Kinds) -> bool {
        sets.iter().all(|&set| {
            self.test(set, false).is_some()
                && access_sorts(kinds).all(|sort| self.contains(set, &sort))
        })
    }

    /// A set that is known from the sort of an event alone.
    pub(super) fn test(&self, set: NodeId, negated: bool) -> Option<SetTest> {
        let mut waiting = vec![set];
        while let Some(node) = waiting.pop() {
            match self.operation(node) {
                Operation::BaseSet(_) | Operation::Universe | Operation::Empty(_) => {}
                Operation::Union(a, b)
                | Operation::Intersection(a, b)
                | Operation::Difference(a, b) => waiting.extend([a, b]),
                Operation::Complement(inner) => waiting.push(inner),
                Operation::Range(pairs) | Operation::Domain(pairs) => {
                    self.pairs(pairs, node)?;
                }
                _ => return None,
            }
        }
        Some(SetTest { node: Some(set), negated })
    }

    /// Whether an event of a sort is in a set. The sets of models are nested a few levels deep, and
    /// elaboration bounds them.
    pub(super) fn contains(&self, set: NodeId, sort: &EventSort) -> bool {
        match self.operation(set) {
            Operation::BaseSet(base) => is_of(base, sort),
            Operation::Universe => true,
            Operation::Union(a, b) => self.contains(a, sort) || self.contains(b, sort),
            Operation::Intersection(a, b) => self.contains(a, sort) && self.contains(b, sort),
            Operation::Difference(a, b) => self.contains(a, sort) && !self.contains(b, sort),
            Operation::Complement(inner) => !self.contains(inner, sort),
            Operation::Range(pairs) | Operation::Domain(pairs) => {
                let is_end = |path: &Path| self.is_end(path, set, sort);
                self.pairs(pairs, set).is_some_and(|paths| paths.iter().any(is_end))
            }
            _ => false,
        }
    }

    /// The paths of a relation from the read of an atomic to its write, or from the load of a pair
    /// to its store, if one end of it (`range` or `domain`) is known from the sort of that event.
    fn pairs(&self, relation: NodeId, end: NodeId) -> Option<Vec<Path>> {
        let paths = self.paths(relation)?;
        let of_range = matches!(self.operation(end), Operation::Range(_));
        let is_known = |path: &Path| match &path.steps[..] {
            [(Step::Atomic, _)] => true,
            // The sort of one access of a pair says nothing of how the other is annotated.
            [(Step::Exclusive, tests)] => match of_range {
                true => self.are_vacuous(&path.first, Kinds::READS),
                false => self.are_vacuous(tests, Kinds::WRITES),
            },
            _ => false,
        };
        paths.iter().all(is_known).then_some(paths)
    }

    fn are_vacuous(&self, tests: &[SetTest], kinds: Kinds) -> bool {
        tests.iter().all(|test| access_sorts(kinds).all(|sort| self.passes(test, &sort)))
    }

    /// Whether an event is in a set that a test asks for.
    pub(super) fn passes(&self, test: &SetTest, sort: &EventSort) -> bool {
        test.node.is_none_or(|node| self.contains(node, sort) != test.negated)
    }

    /// Whether an event is at the end of a pair that `pairs` has found.
    fn is_end(&self, path: &Path, end: NodeId, sort: &EventSort) -> bool {
        let [(step, tests)] = &path.steps[..] else { return false };
        let read = EventSort { reads: true, writes: false, ..*sort };
        let write = EventSort { reads: false, writes: true, ..*sort };
        let is_at_end = match self.operation(end) {
            Operation::Range(_) => sort.writes,
            _ => sort.reads,
        };
        let is_of_pair = match step {
            Step::Atomic => sort.is_atomic,
            _ => sort.is_exclusive,
        };
        is_at_end
            && is_of_pair
            && path.first.iter().all(|test| self.passes(test, &read))
            && tests.iter().all(|test| self.passes(test, &write))
    }

    /// Whether a set is that of all reads that are no atomics'.
    pub(super) fn is_plain_reads(&self, set: NodeId) -> bool {
        self.test(set, false).is_some()
            && access_sorts(Kinds::ALL)
                .all(|sort| self.contains(set, &sort) == (sort.reads && !sort.is_atomic))
    }

    /// Whether a set may hold one half of an atomic and not the other.
    pub(super) fn tells_halves_apart(&self, set: NodeId) -> bool {
        let differ = |read: EventSort| {
            let write = EventSort { reads: false, writes: true, ..read };
            self.contains(set, &read) != self.contains(set, &write)
        };
        self.test(set, false).is_none()
            || access_sorts(Kinds::READS).filter(|sort| sort.is_atomic).any(differ)
    }
}

/// All sorts of accesses of these kinds.
pub(super) fn access_sorts(kinds: Kinds) -> impl Iterator<Item = EventSort> {
    let both = [false, true];
    let orders = || AccessOrder::ALL.into_iter().map(Some).chain([None]);
    let halves =
        both.into_iter().filter(move |&reads| if reads { kinds.reads } else { kinds.writes });
    halves
        .flat_map(move |reads| both.map(|is_atomic| (reads, is_atomic)))
        .flat_map(move |(reads, is_atomic)| {
            both.map(|is_exclusive| (reads, is_atomic, is_exclusive))
        })
        .flat_map(move |(reads, is_atomic, is_exclusive)| {
            orders().map(move |order| EventSort {
                reads,
                writes: !reads,
                is_atomic,
                is_exclusive,
                order,
                ..EventSort::default()
            })
        })
}

fn is_of(base: BaseSet, sort: &EventSort) -> bool {
    match base {
        BaseSet::Reads => sort.reads,
        BaseSet::Writes => sort.writes,
        // Initial writes are of no thread, so that no path leads to one.
        BaseSet::InitialWrites => false,
        BaseSet::Atomic => sort.is_atomic,
        BaseSet::Fences => sort.fence.is_some(),
        BaseSet::Fence(kind) => {
            sort.fence.is_some_and(|(before, after)| FenceKind::new(before, after) == Some(kind))
        }
        BaseSet::Named(name) => sort.name == Some(name),
        BaseSet::Annotated(order) => sort.order == Some(order),
        BaseSet::Exclusive => sort.is_exclusive,
        // Every atomic of a trace says what it read.
        BaseSet::ReturnsNothing => false,
    }
}
