//! How two events of a thread are related by a path that a model keeps: the events at its stops.
//!
//! Each path of the shape is walked from the first event, step by step, over the events up to the
//! second; what was reached once is not walked from again. O(length · events in between).

use cat::{CatModel, EventSort, HalvesOrder, Path, SetTest, Shape, Step};
use history::{DependencyKind, EventId, History, Kinds, Mixed, Operation, Source};
use rustc_hash::FxHashSet;

use super::Part;

pub(super) struct Derive<'a> {
    trace: &'a History,
    /// What the events are parts of.
    mixed: Option<&'a Mixed>,
    model: &'a CatModel,
    kept: &'a [Path],
    orders_halves: bool,
    swaps_reads: bool,
    /// The accesses of pairs, sorted.
    exclusive: Vec<EventId>,
}

impl<'a> Derive<'a> {
    pub(super) fn new(
        (trace, mixed): (&'a History, Option<&'a Mixed>),
        model: &'a CatModel,
        shape: &'a Shape,
    ) -> Self {
        let kept = shape.global.as_ref().map_or(&[][..], |global| &global.kept[..]);
        let pairs = trace.pairs().iter();
        let mut exclusive: Vec<EventId> = pairs.flat_map(|&(store, load)| [store, load]).collect();
        exclusive.sort_unstable();
        let Shape { halves, location_swaps_reads, .. } = *shape;
        Derive {
            trace,
            mixed,
            model,
            kept,
            orders_halves: halves == HalvesOrder::Location,
            swaps_reads: location_swaps_reads,
            exclusive,
        }
    }

    /// Whether two events are different parts of one access, which have no order in a thread.
    pub(super) fn are_of_one_access(&self, a: EventId, b: EventId) -> bool {
        a != b && self.mixed.is_some_and(|mixed| mixed.access_of(a) == mixed.access_of(b))
    }

    /// Whether a part depends on another, in any way; or is the write of its atomic.
    pub(super) fn depends(&self, from: Part, to: Part) -> bool {
        let steps = DependencyKind::ALL.map(Step::Dependency).into_iter().chain([Step::Atomic]);
        steps.into_iter().any(|step| self.is_step(step, from, to, &|_| None))
    }

    /// Whether the condition on locations relates two parts: `po-loc`, or the halves of an atomic.
    pub(super) fn at_location(&self, from: Part, to: Part) -> bool {
        let is_plain_read = |part: Part| self.trace.kinds_of(part.event) == Kinds::READS;
        let may_swap = self.swaps_reads && is_plain_read(from) && is_plain_read(to);
        !may_swap && self.is_step(Step::SameAddress, from, to, &|_| None)
            || self.orders_halves && self.is_step(Step::Atomic, from, to, &|_| None)
    }

    /// The stops of a path that the model keeps between two parts.
    pub(super) fn kept(
        &self,
        from: Part,
        to: Part,
        read: &dyn Fn(EventId) -> Option<Source>,
    ) -> Option<Vec<Part>> {
        let leads_on = self.trace.thread_of(from.event) == self.trace.thread_of(to.event)
            && from.event <= to.event;
        // Only time leads to other threads.
        let in_time = |path: &Path| matches!(path.steps[..], [(Step::RealTime, _)]);
        let possible = self.kept.iter().filter(|path| leads_on || in_time(path));
        possible.into_iter().find_map(|path| self.walk(path, from, to, read))
    }

    fn walk(
        &self,
        path: &Path,
        from: Part,
        to: Part,
        read: &dyn Fn(EventId) -> Option<Source>,
    ) -> Option<Vec<Part>> {
        let passes = |tests: &[SetTest], part| {
            let sort = self.sort(part);
            tests.iter().all(|&test| self.model.is_in(test, &sort))
        };
        if !passes(&path.first, from) {
            return None;
        }
        if path.of_different_writes {
            let (first, second) = (read(from.event)?, read(to.event)?);
            let are_reads = self.sort(from).reads && self.sort(to).reads;
            if !are_reads || first == second {
                return None;
            }
        }
        let mut reached: FxHashSet<(usize, Part)> = FxHashSet::default();
        // Where the walk is: how many steps it has taken, and the stops.
        let mut waiting = vec![vec![from]];
        while let Some(stops) = waiting.pop() {
            let (&here, taken) = (stops.last()?, stops.len() - 1);
            let Some((step, tests)) = path.steps.get(taken) else { continue };
            let is_last = taken + 1 == path.steps.len();
            if is_last {
                if self.is_step(*step, here, to, read) && passes(tests, to) {
                    return Some(stops[1..].to_vec());
                }
                continue;
            }
            for next in self.parts_between(here, to) {
                if passes(tests, next)
                    && self.is_step(*step, here, next, read)
                    && reached.insert((taken, next))
                {
                    waiting.push([&stops[..], &[next]].concat());
                }
            }
        }
        None
    }

    /// The parts of the events from one to another.
    fn parts_between(&self, from: Part, to: Part) -> impl Iterator<Item = Part> + '_ {
        (from.event.index()..=to.event.index()).flat_map(|at| {
            let event = EventId::new(at);
            let is_atomic = self.trace.kinds_of(event) == Kinds::ALL;
            let parts = if is_atomic { &[false, true][..] } else { &[false][..] };
            parts.iter().map(move |&is_write| Part { event, is_write })
        })
    }

    fn is_step(
        &self,
        step: Step,
        a: Part,
        b: Part,
        read: &dyn Fn(EventId) -> Option<Source>,
    ) -> bool {
        let trace = self.trace;
        let in_order =
            trace.program_order(a.event, b.event) && !self.are_of_one_access(a.event, b.event);
        let address = trace.address_of(a.event);
        let at_one = || address.is_some() && address == trace.address_of(b.event);
        let depends = |kind: DependencyKind| {
            let found = trace.dependencies().binary_search(&(b.event, a.event));
            found.is_ok_and(|at| trace.kinds_of_dependency(at).contains(kind)) && !a.is_write
        };
        match step {
            Step::ProgramOrder => in_order,
            Step::SameAddress => in_order && at_one(),
            Step::SameAddressWithout(set) => {
                let ends = |part: Part| {
                    let (first, last) = (a.event, b.event);
                    part.event != first
                        && part.event != last
                        && trace.address_of(part.event) == address
                        && self.model.is_in(set, &self.sort(part))
                };
                in_order && at_one() && !self.parts_between(a, b).any(ends)
            }
            Step::RealTime => {
                let (ended, began) = (trace.times(a.event).end, trace.times(b.event).begin);
                ended.zip(began).is_some_and(|(ended, began)| ended < began)
            }
            Step::InTime => {
                let (ended, began) = (trace.times(a.event).end, trace.times(b.event).begin);
                in_order && ended.zip(began).is_some_and(|(ended, began)| ended < began)
            }
            Step::Dependency(kind) => depends(kind),
            Step::Atomic => a.event == b.event && !a.is_write && b.is_write,
            Step::AtomicBack => a.event == b.event && a.is_write && !b.is_write,
            Step::Exclusive => trace.pairs().binary_search(&(b.event, a.event)).is_ok(),
            Step::ReadsOwn => {
                let wrote = self.sort(a).writes && self.sort(b).reads;
                wrote && in_order && read(b.event) == Some(Source::Write(a.event))
            }
        }
    }

    /// What a part is, to the model.
    fn sort(&self, part: Part) -> EventSort {
        let trace = self.trace;
        let kinds = trace.kinds_of(part.event);
        let is_atomic = kinds == Kinds::ALL;
        let fence = match trace.address_of(part.event) {
            Some(_) => None,
            None => match trace.event(part.event).operation {
                Operation::Fence { before, after } => Some((before, after)),
                _ => None,
            },
        };
        EventSort {
            reads: kinds.reads && !part.is_write,
            writes: kinds.writes && (part.is_write || !is_atomic),
            is_atomic,
            is_exclusive: self.exclusive.binary_search(&part.event).is_ok(),
            order: trace.access_order(part.event),
            fence,
            name: trace.fence_name(part.event),
        }
    }
}
