//! The shape of a model: whether its conditions are those that the engines for long traces know.
//!
//! Most hardware models ask for three things: each location on its own is coherent, nothing comes
//! between the halves of an atomic, and one global order has no cycle, which is what the model keeps
//! of program order together with `rf` or `rfe`, `co` and `fr`. A [`Shape`] says so, with what is
//! kept as a list of [`Path`]s: steps from event to event with a test at each stop. What is kept may
//! depend on who read what (rules 2, 3 and 12 of RVWMO), but not on the order of writes. Where a
//! condition is of another form, [`CatModel::shape`] says which.

use history::{AccessOrder, DependencyKind, FenceName, Kinds};

use crate::base::{BaseRelation, BaseSet, FenceKind};
use crate::graph::{Graph, NodeId, Operation};
use crate::load::CatModel;
use crate::syntax::Test;

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

/// The global condition.
#[derive(Debug, Clone)]
pub struct Global {
    /// The number of the axiom.
    pub axiom: usize,
    /// What is kept of program order.
    pub kept: Vec<Path>,
    /// Whether a read of a write of its own thread counts (`rf` instead of `rfe`).
    pub own_reads: bool,
    /// Whether the halves of an atomic are ordered, and what is kept never tells them apart.
    pub halves_are_one: bool,
}

/// A model that the engines for long traces know.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The axiom that asks for coherence of each location; none if the global one implies it.
    pub location: Option<usize>,
    /// Whether the condition of locations orders the halves of an atomic.
    pub location_orders_halves: bool,
    /// Whether two reads of a location may swap, those of atomics aside.
    pub location_swaps_reads: bool,
    /// The axiom that no value depends on itself: dependencies of all kinds, and `rf`.
    pub thin_air: Option<usize>,
    /// The axiom that nothing comes between the halves of an atomic and between the accesses of a
    /// pair.
    pub atomicity: Option<usize>,
    /// The global condition, if there is one.
    pub global: Option<Global>,
}

/// So many paths may be kept; `together` and unions within sequences multiply them.
const MOST_PATHS: usize = 512;

impl CatModel {
    /// The axiom that asks for coherence of each location, if one has that form.
    pub fn location_axiom(&self) -> Option<usize> {
        let reader = Reader { graph: &self.graph };
        self.graph.axioms.iter().position(|axiom| {
            let mut parts = Vec::new();
            reader.parts(axiom.node, &mut parts);
            axiom.test == Test::Acyclic && !axiom.negated && reader.is_location(&parts)
        })
    }

    /// The shape of the model, or the number of an axiom that is of another form.
    pub fn shape(&self) -> Result<Shape, usize> {
        let reader = Reader { graph: &self.graph };
        let mut shape = Shape {
            location: None,
            location_orders_halves: false,
            location_swaps_reads: false,
            thin_air: None,
            atomicity: None,
            global: None,
        };
        let mut globals: Vec<(usize, Vec<NodeId>)> = Vec::new();
        for (number, axiom) in self.graph.axioms.iter().enumerate() {
            if axiom.negated {
                return Err(number);
            }
            match axiom.test {
                Test::Acyclic => {
                    let mut parts = Vec::new();
                    reader.parts(axiom.node, &mut parts);
                    if reader.is_location(&parts) {
                        let swaps_reads = reader.has(&parts, |part| reader.is_but_reads(part));
                        if shape.location.is_some() && swaps_reads != shape.location_swaps_reads {
                            return Err(number);
                        }
                        shape.location = Some(number);
                        shape.location_swaps_reads = swaps_reads;
                        shape.location_orders_halves |= reader.orders_halves(&parts);
                    } else if reader.is_thin_air(&parts) {
                        shape.thin_air = Some(number);
                    } else {
                        globals.push((number, parts));
                    }
                }
                Test::Empty if reader.is_atomicity(axiom.node) => shape.atomicity = Some(number),
                Test::Empty | Test::Irreflexive => return Err(number),
            }
        }
        // An axiom whose parts are all among those of another follows from it.
        let largest = globals.iter().max_by_key(|(_, parts)| parts.len()).cloned();
        if let Some((number, parts)) = largest {
            let is_part = |part: &NodeId| parts.contains(part);
            let other = globals.iter().find(|(_, other)| !other.iter().all(is_part));
            if let Some(&(number, _)) = other {
                return Err(number);
            }
            let global = reader.global(number, &parts).ok_or(number)?;
            let keeps_locations =
                global.own_reads && global.kept.iter().any(is_program_order_of_all);
            if shape.location.is_none() {
                if !keeps_locations {
                    return Err(number);
                }
                shape.location_orders_halves = global.halves_are_one;
            }
            shape.global = Some(global);
        }
        if shape.location.is_none() && shape.global.is_none() {
            return Err(0);
        }
        Ok(shape)
    }

    /// Whether an event of a sort is in a set.
    pub fn is_in(&self, test: SetTest, sort: &EventSort) -> bool {
        let reader = Reader { graph: &self.graph };
        test.node.is_none_or(|node| reader.contains(node, sort) != test.negated)
    }
}

/// `po` or `po-loc` between any two accesses.
fn is_program_order_of_all(path: &Path) -> bool {
    path.first.is_empty()
        && !path.of_different_writes
        && matches!(&path.steps[..], [(Step::ProgramOrder | Step::SameAddress, tests)]
            if tests.is_empty())
}

struct Reader<'a> {
    graph: &'a Graph,
}

impl Reader<'_> {
    fn operation(&self, node: NodeId) -> Operation {
        self.graph.node(node).operation
    }

    fn is_base(&self, node: NodeId, relation: BaseRelation) -> bool {
        self.operation(node) == Operation::BaseRelation(relation)
    }

    /// The two operands of an intersection, in both orders.
    fn intersected(&self, node: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> {
        let pair = match self.operation(node) {
            Operation::Intersection(a, b) => Some([(a, b), (b, a)]),
            _ => None,
        };
        pair.into_iter().flatten()
    }

    fn is_external(&self, node: NodeId) -> bool {
        let inner = |inner| self.is_base(inner, BaseRelation::SameThread);
        matches!(self.operation(node), Operation::Complement(of) if inner(of))
    }

    /// Whether a relation is this one between threads.
    fn is_between_threads(&self, node: NodeId, of: impl Fn(NodeId) -> bool) -> bool {
        self.intersected(node).any(|(a, b)| of(a) && self.is_external(b))
    }

    fn is_same_address(&self, node: NodeId) -> bool {
        self.intersected(node).any(|(a, b)| {
            self.is_base(a, BaseRelation::ProgramOrder)
                && self.is_base(b, BaseRelation::SameAddress)
        })
    }

    fn is_reads_from(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::ReadsFrom)
    }

    fn is_coherence(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::Coherence)
    }

    /// `rf^-1`
    fn is_reads_from_back(&self, node: NodeId) -> bool {
        matches!(self.operation(node), Operation::Inverse(inner) if self.is_reads_from(inner))
    }

    /// `(rf^-1 ; co) \ id`, or without `\ id`.
    fn is_from_read(&self, node: NodeId) -> bool {
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
    fn parts(&self, node: NodeId, parts: &mut Vec<NodeId>) {
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

    fn has(&self, parts: &[NodeId], is: impl Fn(NodeId) -> bool) -> bool {
        parts.iter().any(|&part| is(part))
    }

    fn is_amo(&self, node: NodeId) -> bool {
        self.is_base(node, BaseRelation::AtomicPair)
    }

    fn orders_halves(&self, parts: &[NodeId]) -> bool {
        self.has(parts, |part| self.is_amo(part))
    }

    /// `po-loc | rf | co | fr`, perhaps with `rmw` or parts of it.
    fn is_location(&self, parts: &[NodeId]) -> bool {
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
    fn is_but_reads(&self, node: NodeId) -> bool {
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

    /// Whether a set is that of all reads that are no atomics'.
    fn is_plain_reads(&self, set: NodeId) -> bool {
        if self.test(set, false).is_none() {
            return false;
        }
        let both = [false, true];
        let mut orders = AccessOrder::ALL.into_iter().map(Some).chain([None]);
        orders.all(|order| {
            let mut sorts = both.into_iter().flat_map(|reads| {
                let of = move |(is_atomic, is_exclusive)| EventSort {
                    reads,
                    writes: !reads,
                    is_atomic,
                    is_exclusive,
                    order,
                    ..EventSort::default()
                };
                both.into_iter().flat_map(move |atomic| both.map(|pair| (atomic, pair))).map(of)
            });
            sorts.all(|sort| self.contains(set, &sort) == (sort.reads && !sort.is_atomic))
        })
    }

    /// `together(addr | data | ctrl) | amo | rf`
    fn is_thin_air(&self, parts: &[NodeId]) -> bool {
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
    fn is_swap(&self, node: NodeId) -> bool {
        let Operation::Optional(inner) = self.operation(node) else { return false };
        let mut parts = Vec::new();
        self.parts(inner, &mut parts);
        let back = |part| matches!(self.operation(part), Operation::Inverse(of) if self.is_amo(of));
        self.orders_halves(&parts) && self.has(&parts, back)
    }

    /// `rmw & (fre ; coe)`
    fn is_atomicity(&self, node: NodeId) -> bool {
        let is_pairs = |node| {
            let mut parts = Vec::new();
            self.parts(node, &mut parts);
            parts.len() == 2
                && self.orders_halves(&parts)
                && self.has(&parts, |part| self.is_base(part, BaseRelation::ExclusivePair))
        };
        let is_between = |node| match self.operation(node) {
            Operation::Sequence(a, b) => {
                self.is_between_threads(a, |inner| self.is_from_read(inner))
                    && self.is_between_threads(b, |inner| self.is_coherence(inner))
            }
            _ => false,
        };
        self.intersected(node).any(|(a, b)| is_pairs(a) && is_between(b))
    }

    fn global(&self, axiom: usize, parts: &[NodeId]) -> Option<Global> {
        let own_reads = self.has(parts, |part| self.is_reads_from(part));
        let is_external_read =
            |part| self.is_between_threads(part, |inner| self.is_reads_from(inner));
        let needed: [&dyn Fn(NodeId) -> bool; 3] = [
            &|part| self.is_reads_from(part) || is_external_read(part),
            &|part| self.is_coherence(part),
            &|part| self.is_from_read(part),
        ];
        if !needed.iter().all(|is| self.has(parts, is)) {
            return None;
        }
        let fixed: Vec<NodeId> =
            parts.iter().copied().filter(|&part| !needed.iter().any(|is| is(part))).collect();
        let mut kept = Vec::new();
        for &part in &fixed {
            kept.extend(self.paths(part)?);
        }
        let reads_wait = kept.iter().any(|path| self.orders_reads_of_own_atomics(path));
        let halves_are_one = self.orders_halves(&fixed)
            && fixed.iter().all(|&part| {
                self.is_amo(part) || self.is_whole(part) || reads_wait && self.is_read_twice(part)
            });
        (kept.len() <= MOST_PATHS).then_some(Global { axiom, kept, own_reads, halves_are_one })
    }

    /// Whether a relation never tells the halves of an atomic apart: program order, or what is
    /// closed under stepping from one half to the other at both ends.
    fn is_whole(&self, node: NodeId) -> bool {
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

    /// Whether a set may hold one half of an atomic and not the other.
    fn tells_halves_apart(&self, set: NodeId) -> bool {
        if self.test(set, false).is_none() {
            return true;
        }
        let mut orders = AccessOrder::ALL.into_iter().map(Some).chain([None]);
        orders.any(|order| {
            let half = EventSort { is_atomic: true, order, ..EventSort::default() };
            let read = self.contains(set, &EventSort { reads: true, ..half });
            read != self.contains(set, &EventSort { writes: true, ..half })
        })
    }

    /// Rule 2 of RVWMO: reads of one address and of different writes, with no write between them. It
    /// starts at the read of an atomic, not at its write; but a later read returns that write, which is
    /// ordered where `orders_reads_of_own_atomics`, or one that overwrites it, and comes after it then.
    fn is_read_twice(&self, part: NodeId) -> bool {
        let write = EventSort { writes: true, ..EventSort::default() };
        let ends_at_writes = |set: SetTest| {
            let is_in = |is_atomic| {
                let sort = EventSort { is_atomic, ..write };
                set.node.is_none_or(|node| self.contains(node, &sort) != set.negated)
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
    fn orders_reads_of_own_atomics(&self, path: &Path) -> bool {
        let [(Step::ReadsOwn, last)] = &path.steps[..] else { return false };
        let orders = || [None].into_iter().chain(AccessOrder::ALL.map(Some));
        let passes = |tests: &[SetTest], sort: EventSort| {
            orders().all(|order| {
                let sort = EventSort { order, ..sort };
                tests.iter().all(|test| {
                    test.node.is_none_or(|node| self.contains(node, &sort) != test.negated)
                })
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

    fn factors(&self, node: NodeId, factors: &mut Vec<NodeId>) {
        match self.operation(node) {
            Operation::Sequence(a, b) => {
                self.factors(a, factors);
                self.factors(b, factors);
            }
            _ => factors.push(node),
        }
    }

    /// A relation as paths; `None` if it is made of something else.
    fn paths(&self, node: NodeId) -> Option<Vec<Path>> {
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
    fn intersection(&self, node: NodeId) -> Option<Vec<Path>> {
        let mut paths = Vec::new();
        for conjuncts in self.conjunctions(node)? {
            paths.extend(self.conjunction(&conjuncts)?);
        }
        (paths.len() <= MOST_PATHS).then_some(paths)
    }

    /// A relation as a union of intersections.
    fn conjunctions(&self, node: NodeId) -> Option<Vec<Vec<NodeId>>> {
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

    fn conjunction(&self, conjuncts: &[NodeId]) -> Option<Vec<Path>> {
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

    fn difference(&self, from: NodeId, taken: NodeId) -> Option<Vec<Path>> {
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
                if !self.is_same_address(before) || !self.is_same_address(after) {
                    return None;
                }
                let step = Step::SameAddressWithout(self.test(set, false)?);
                Some(vec![Path { steps: vec![(step, vec![])], ..Path::default() }])
            }
            _ => self.without(paths()?, taken),
        }
    }

    /// Paths without the pairs of a relation.
    fn without(&self, paths: Vec<Path>, taken: NodeId) -> Option<Vec<Path>> {
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

    /// A set that is known from the sort of an event alone.
    fn test(&self, set: NodeId, negated: bool) -> Option<SetTest> {
        let mut waiting = vec![set];
        while let Some(node) = waiting.pop() {
            match self.operation(node) {
                Operation::BaseSet(_) | Operation::Universe | Operation::Empty(_) => {}
                Operation::Union(a, b)
                | Operation::Intersection(a, b)
                | Operation::Difference(a, b) => waiting.extend([a, b]),
                Operation::Complement(inner) => waiting.push(inner),
                _ => return None,
            }
        }
        Some(SetTest { node: Some(set), negated })
    }

    /// Whether an event of a sort is in a set. The sets of models are nested a few levels deep, and
    /// elaboration bounds them.
    fn contains(&self, set: NodeId, sort: &EventSort) -> bool {
        match self.operation(set) {
            Operation::BaseSet(base) => is_of(base, sort),
            Operation::Universe => true,
            Operation::Union(a, b) => self.contains(a, sort) || self.contains(b, sort),
            Operation::Intersection(a, b) => self.contains(a, sort) && self.contains(b, sort),
            Operation::Difference(a, b) => self.contains(a, sort) && !self.contains(b, sort),
            Operation::Complement(inner) => !self.contains(inner, sort),
            _ => false,
        }
    }
}

/// The test that everything passes.
const ANY: SetTest = SetTest { node: None, negated: false };

impl Path {
    fn between(mut self, from: SetTest, to: SetTest) -> Path {
        if from != ANY {
            self.first.push(from);
        }
        if to != ANY {
            self.last_tests().push(to);
        }
        self
    }

    fn last_tests(&mut self) -> &mut Vec<SetTest> {
        match self.steps.last_mut() {
            Some((_, tests)) => tests,
            None => &mut self.first,
        }
    }

    /// Whether it leads from an event to a later one of its thread.
    fn leads_on(&self) -> bool {
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
