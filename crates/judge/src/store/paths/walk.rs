//! Paths walked one by one, thread by thread: what has come as far as each stop is gathered in one
//! node, so that a path of k steps through n events makes O(k·n) edges.

use cat::Step;
use evidence::Because;
use history::{EventId, History, Kinds, Source};
use rustc_hash::FxHashMap;

use super::recorded_pairs::RecordedPairs;
use super::{Parts, PreservedOrder, Walked};
use crate::store::graph::{EdgeSink, NodeId, node};
use crate::store::program_order::Collector;

impl PreservedOrder<'_> {
    pub(super) fn walk_path(
        &self,
        graph: &mut impl EdgeSink,
        parts: &impl Parts,
        sources: &[Option<Source>],
        path: &Walked,
        said: &RecordedPairs,
    ) {
        let history = parts.history();
        let mut walk = Walk::new(history, path);
        let mut reading_half = None;
        for thread in history.threads() {
            for event in history.thread_events(thread) {
                let sort = self.sort(event);
                let before = |step, event| said.before(step, event, sources, history);
                let starts = |event| path.stops[0][self.sort(event)];
                walk.arrive(graph, history, event, sort, before, starts);
                let is_idle = walk.arrived.iter().all(Option::is_none) && !path.ends[sort];
                if is_idle && reading_half.is_none() {
                    continue;
                }
                walk.note(event);
                let halves_follow = history.kinds_of(event) == Kinds::READS
                    && parts.are_split()
                    && parts.trace().kinds_of(parts.origin(event)) == Kinds::ALL;
                if halves_follow {
                    // There is no program order between the halves of an atomic.
                    reading_half = Some((event, sort, walk.arrived.clone()));
                    continue;
                }
                let both =
                    reading_half.take().into_iter().chain([(event, sort, walk.arrived.clone())]);
                walk.go_on(history, &both.collect::<Vec<_>>());
            }
            walk.reset();
        }
    }

    /// Reads of one address with nothing of a set between them that read different writes: each
    /// group of reads of one write comes before the next group.
    pub(super) fn different_writes(
        &self,
        graph: &mut impl EdgeSink,
        parts: &impl Parts,
        sources: &[Option<Source>],
        path: &Walked,
    ) {
        let history = parts.history();
        let mut groups: Vec<Group> = vec![Group::default(); history.address_count()];
        let mut touched = Vec::new();
        for thread in history.threads() {
            for event in history.thread_events(thread) {
                let Some(address) = history.address_of(event).map(|a| a.index()) else { continue };
                let sort = self.sort(event);
                if let (true, Some(source)) = (path.stops[0][sort], sources[event.index()]) {
                    touched.push(address);
                    groups[address].add(graph, event, source);
                }
                if path.ends[sort] {
                    groups[address].clear();
                }
                if parts.is_write_half(event) {
                    // The reading half does not stand before it in program order.
                    let read = EventId::new(event.index() - 1);
                    if let (true, Some(source)) =
                        (path.stops[0][self.sort(read)], sources[read.index()])
                        && path.ends[sort]
                    {
                        groups[address].add(graph, read, source);
                    }
                }
            }
            for address in touched.drain(..) {
                groups[address].clear();
            }
        }
    }
}

/// Reads of one write, and all reads before them.
#[derive(Clone, Default)]
struct Group {
    source: Option<Source>,
    members: Vec<NodeId>,
    earlier: Collector,
}

impl Group {
    fn add(&mut self, graph: &mut impl EdgeSink, read: EventId, source: Source) {
        if self.source != Some(source) {
            self.source = Some(source);
            for member in self.members.drain(..) {
                self.earlier.add(member);
            }
        }
        if let Some(earlier) = self.earlier.collect(graph, Because::ProgramOrder) {
            graph.fix(earlier, node(read), Because::ProgramOrder);
        }
        self.members.push(node(read));
    }

    fn clear(&mut self) {
        self.source = None;
        self.members.clear();
        self.earlier.reset();
    }
}

/// A walk along a path: for each stop, what has come so far.
struct Walk<'p> {
    path: &'p Walked,
    /// Before each step of program order: what is there to go on.
    pools: Vec<Collector>,
    /// The same by address.
    pools_at: Vec<Vec<Collector>>,
    touched: Vec<usize>,
    /// At each stop after the first, before a step of another kind: who is there, and by which
    /// node.
    there: Vec<FxHashMap<EventId, NodeId>>,
    /// The nodes by which the event at hand came to each stop.
    arrived: Vec<Option<NodeId>>,
}

impl<'p> Walk<'p> {
    fn new(history: &History, path: &'p Walked) -> Self {
        let count = path.steps.len();
        let by_address = |step: &Step| {
            let is = matches!(step, Step::SameAddress | Step::SameAddressWithout(_));
            vec![Collector::default(); if is { history.address_count() } else { 0 }]
        };
        Walk {
            path,
            pools: vec![Collector::default(); count],
            pools_at: path.steps.iter().map(by_address).collect(),
            touched: Vec::new(),
            there: vec![FxHashMap::default(); count],
            arrived: vec![None; count + 1],
        }
    }

    /// Finds by which nodes an event comes to each stop, and adds the edges to the last.
    fn arrive(
        &mut self,
        graph: &mut impl EdgeSink,
        history: &History,
        event: EventId,
        sort: usize,
        before: impl Fn(Step, EventId) -> Vec<EventId>,
        starts: impl Fn(EventId) -> bool,
    ) {
        let address = history.address_of(event).map(|address| address.index());
        for (at, &step) in self.path.steps.iter().enumerate() {
            self.arrived[at + 1] = None;
            if !self.path.stops[at + 1][sort] {
                continue;
            }
            let because = because(step);
            let by: Vec<NodeId> = match step {
                Step::ProgramOrder => self.pools[at].collect(graph, because).into_iter().collect(),
                Step::SameAddress | Step::SameAddressWithout(_) => address
                    .and_then(|address| self.pools_at[at][address].collect(graph, because))
                    .into_iter()
                    .collect(),
                _ => before(step, event)
                    .into_iter()
                    .filter_map(|from| match at {
                        0 => starts(from).then(|| node(from)),
                        _ => self.there[at].get(&from).copied(),
                    })
                    .collect(),
            };
            if at + 1 == self.path.steps.len() {
                by.iter().for_each(|&from| graph.fix(from, node(event), because));
                continue;
            }
            self.arrived[at + 1] = match by[..] {
                [] => None,
                [only] => Some(only),
                _ => {
                    let all = graph.gather(because);
                    by.iter().for_each(|&from| graph.fix(from, all, because));
                    Some(all)
                }
            };
        }
        self.arrived[0] = self.path.stops[0][sort].then(|| node(event));
    }

    /// Remembers where an event stands for steps that are no program order.
    fn note(&mut self, event: EventId) {
        for (at, step) in self.path.steps.iter().enumerate().skip(1) {
            let is_program_order = matches!(
                step,
                Step::ProgramOrder | Step::SameAddress | Step::SameAddressWithout(_)
            );
            if let (Some(node), false) = (self.arrived[at], is_program_order) {
                self.there[at].insert(event, node);
            }
        }
    }

    /// Lets later events go on from where an event has come, or from where both halves of an atomic
    /// have.
    fn go_on(&mut self, history: &History, events: &[(EventId, usize, Vec<Option<NodeId>>)]) {
        let address = history.address_of(events[0].0).map(|address| address.index());
        for (at, step) in self.path.steps.iter().enumerate() {
            if let (Step::SameAddressWithout(_), Some(address)) = (step, address)
                && events.iter().any(|&(_, sort, _)| self.path.ends[sort])
            {
                self.pools_at[at][address].reset();
            }
            for node in events.iter().filter_map(|(_, _, arrived)| arrived[at]) {
                match (step, address) {
                    (Step::ProgramOrder, _) => self.pools[at].add(node),
                    (Step::SameAddress | Step::SameAddressWithout(_), Some(address)) => {
                        self.touched.push(address);
                        self.pools_at[at][address].add(node);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Forgets the thread.
    fn reset(&mut self) {
        self.pools.iter_mut().for_each(Collector::reset);
        for address in self.touched.drain(..) {
            for pools in self.pools_at.iter_mut().filter(|pools| !pools.is_empty()) {
                pools[address].reset();
            }
        }
        self.there.iter_mut().for_each(FxHashMap::clear);
    }
}

fn because(step: Step) -> Because {
    match step {
        Step::Dependency(_) => Because::Dependency,
        Step::ReadsOwn => Because::ReadsFrom,
        _ => Because::ProgramOrder,
    }
}
