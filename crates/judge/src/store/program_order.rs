//! The fixed edges: what a model keeps of program order, fences, dependencies, times, and
//! reads-from where it is known.
//!
//! Rules R1–R4 (A1–A4) of efficient-tso-verification, read from the row of the model instead of
//! being spelled out for TSO. The edges generate the kept order (their transitive closure is the
//! closure of the definition), and there are O(n) of them for every model: where earlier accesses
//! of a kind are kept in order among themselves the last one stands for all, and where they are
//! not, a gathering node does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evidence::Because;
use history::{EventId, History, Kinds, Operation, Source, ThreadId};
use models::{Keeps, StoreRules};

use super::graph::{EdgeSink, FixedEdges, Graph, NodeId, node};

const READS: usize = 0;
const WRITES: usize = 1;

/// What the global graph keeps. `coherence` has only the location graph, which keeps program
/// order per address and shows every read.
pub(crate) fn effective(rules: StoreRules) -> StoreRules {
    if rules.global {
        return rules;
    }
    StoreRules {
        read_read: Keeps::SameAddress,
        read_write: Keeps::SameAddress,
        write_read: Keeps::SameAddress,
        write_write: Keeps::SameAddress,
        ..rules
    }
}

/// `keeps[source kind][target kind]`
fn keeps_table(rules: &StoreRules) -> [[Keeps; 2]; 2] {
    [[rules.read_read, rules.read_write], [rules.write_read, rules.write_write]]
}

/// Whether two accesses of one thread to one address, of these kinds, are kept in order.
pub(crate) fn keeps(rules: &StoreRules, first: Kinds, second: Kinds) -> bool {
    let table = keeps_table(rules);
    roles(first).any(|a| roles(second).any(|b| table[a][b] != Keeps::Never))
}

/// What the events of a history mean to a model: their kinds, and what its fences order.
pub(crate) trait Meaning {
    /// What an event counts as.
    fn kinds(&self, event: EventId) -> Kinds;

    /// What a fence orders: pairs of what comes before it and what comes after it.
    fn fence(&self, event: EventId) -> FenceOrders<'_>;
}

/// What a fence orders, and whether its node may stand for all that comes before it.
pub(crate) struct FenceOrders<'a> {
    pub(crate) pairs: std::borrow::Cow<'a, [(Kinds, Kinds)]>,
    pub(crate) by_its_node: bool,
}

/// Events as the built-in models take them.
pub(crate) struct UnsplitEvents<'h>(pub(crate) &'h History);

impl Meaning for UnsplitEvents<'_> {
    #[inline]
    fn kinds(&self, event: EventId) -> Kinds {
        self.0.kinds_of(event)
    }

    fn fence(&self, event: EventId) -> FenceOrders<'_> {
        let pairs = match self.0.event(event).operation {
            Operation::Fence { before, after } => vec![(before, after)],
            _ => Vec::new(),
        };
        FenceOrders { pairs: pairs.into(), by_its_node: true }
    }
}

/// The graph of a history with its fixed edges. `sources` is what each event is known to have
/// read from.
pub(crate) fn fixed_graph(
    history: &History,
    rules: &StoreRules,
    sources: &[Option<Source>],
) -> Graph {
    let mut graph = FixedEdges::new(history);
    kept_program_order(&mut graph, history, rules, &UnsplitEvents(history));
    if rules.dependencies {
        for &(to, from) in history.dependencies() {
            if !history.event(to).is_fence() {
                graph.fix(node(from), node(to), Because::Dependency);
            }
        }
    }
    visible_reads(&mut graph, history, rules, sources);
    graph.seal()
}

/// Program order as far as a table of kinds says, times and fences.
pub(crate) fn kept_program_order(
    graph: &mut impl EdgeSink,
    history: &History,
    rules: &StoreRules,
    meaning: &impl Meaning,
) {
    let mut walk = Walk::new(history, rules, meaning);
    for thread in history.threads() {
        walk.thread(graph, thread);
    }
}

/// Reads-from as far as it is known and others can see it.
pub(crate) fn visible_reads(
    graph: &mut impl EdgeSink,
    history: &History,
    rules: &StoreRules,
    sources: &[Option<Source>],
) {
    for read in history.event_ids() {
        if let Some(Source::Write(write)) = sources[read.index()]
            && (rules.own_reads_visible || history.thread_of(write) != history.thread_of(read))
        {
            graph.fix(node(write), node(read), Because::ReadsFrom);
        }
    }
}

/// Everything of one kind seen so far in a thread, as one node when asked for.
#[derive(Clone, Default)]
pub(crate) struct Collector {
    /// The kind is kept in order among itself: the last one stands for all.
    chained: bool,
    latest: Option<NodeId>,
    pending: Vec<NodeId>,
}

impl Collector {
    pub(crate) fn add(&mut self, node: NodeId) {
        if self.chained {
            self.latest = None;
            self.pending.clear();
        }
        self.pending.push(node);
    }

    /// A node that comes after all of them.
    pub(crate) fn collect(
        &mut self,
        graph: &mut impl EdgeSink,
        because: Because,
    ) -> Option<NodeId> {
        match self.pending[..] {
            [] => {}
            [only] if self.latest.is_none() => self.latest = Some(only),
            _ => {
                let gathered = graph.gather(because);
                for from in self.latest.into_iter().chain(self.pending.iter().copied()) {
                    graph.fix(from, gathered, because);
                }
                self.latest = Some(gathered);
            }
        }
        self.pending.clear();
        self.latest
    }

    /// Forgets them.
    pub(crate) fn reset(&mut self) {
        self.latest = None;
        self.pending.clear();
    }
}

/// The state of a walk along threads in program order.
struct Walk<'a, M> {
    history: &'a History,
    meaning: &'a M,
    keeps: [[Keeps; 2]; 2],
    times: bool,
    fences: bool,
    /// Earlier accesses by kind, for program order and for fences.
    earlier: [Collector; 2],
    before_fence: [Collector; 2],
    /// Earlier accesses by address and kind; empty if no order is kept by address.
    earlier_at: Vec<[Collector; 2]>,
    /// Addresses of this thread, to be forgotten before the next.
    touched: Vec<usize>,
    /// What later accesses of a kind must follow, by fences.
    after_fence: [Option<NodeId>; 2],
}

impl<'a, M: Meaning> Walk<'a, M> {
    fn new(history: &'a History, rules: &StoreRules, meaning: &'a M) -> Self {
        let keeps = keeps_table(rules);
        let gatherer = |chained| Collector { chained, ..Collector::default() };
        let always = |k: usize| keeps[k][k] == Keeps::Always;
        let per_address = |k: usize| keeps[k][k] != Keeps::Never;
        let by_address = keeps.iter().flatten().any(|&k| k == Keeps::SameAddress);
        Self {
            history,
            meaning,
            keeps,
            times: rules.times && history.has_times(),
            // Where all of program order is kept, and per address, fences say nothing new.
            fences: rules.global && keeps.iter().flatten().any(|&k| k != Keeps::Always),
            earlier: [gatherer(always(READS)), gatherer(always(WRITES))],
            before_fence: [gatherer(always(READS)), gatherer(always(WRITES))],
            earlier_at: vec![
                [gatherer(per_address(READS)), gatherer(per_address(WRITES))];
                if by_address { history.address_count() } else { 0 }
            ],
            touched: Vec::new(),
            after_fence: [None; 2],
        }
    }

    fn thread(&mut self, graph: &mut impl EdgeSink, thread: ThreadId) {
        for event in self.history.thread_events(thread) {
            match self.history.address_of(event) {
                None if self.fences => self.fences(graph, event),
                None => {}
                Some(address) => self.access(graph, event, address.index()),
            }
        }
        for kind in [READS, WRITES] {
            self.earlier[kind].reset();
            self.before_fence[kind].reset();
        }
        for address in self.touched.drain(..) {
            self.earlier_at[address].iter_mut().for_each(Collector::reset);
        }
        self.after_fence = [None; 2];
        if self.times {
            time_edges(graph, self.history, self.meaning, thread);
        }
    }

    fn fences(&mut self, graph: &mut impl EdgeSink, fence: EventId) {
        let meaning = self.meaning;
        let orders = meaning.fence(fence);
        for &(before, after) in orders.pairs.iter() {
            let hub = if orders.by_its_node { node(fence) } else { graph.gather(Because::Fence) };
            self.fence(graph, hub, before, after);
        }
    }

    fn fence(&mut self, graph: &mut impl EdgeSink, hub: NodeId, before: Kinds, after: Kinds) {
        for kind in roles(before) {
            if let Some(earlier) = self.before_fence[kind].collect(graph, Because::Fence) {
                graph.fix(earlier, hub, Because::Fence);
            }
        }
        for kind in roles(after) {
            self.after_fence[kind] = Some(match self.after_fence[kind] {
                None => hub,
                Some(previous) => {
                    let both = graph.gather(Because::Fence);
                    graph.fix(previous, both, Because::Fence);
                    graph.fix(hub, both, Because::Fence);
                    both
                }
            });
        }
    }

    fn access(&mut self, graph: &mut impl EdgeSink, id: EventId, address: usize) {
        let kinds = self.meaning.kinds(id);
        let (mut known, mut count) = ([NodeId::MAX; 4], 0);
        for target in roles(kinds) {
            for source in [READS, WRITES] {
                let gatherer = match self.keeps[source][target] {
                    Keeps::Always => &mut self.earlier[source],
                    Keeps::SameAddress => &mut self.earlier_at[address][source],
                    Keeps::Never => continue,
                };
                if let Some(from) = gatherer.collect(graph, Because::ProgramOrder)
                    && !known.contains(&from)
                {
                    known[count] = from;
                    count += 1;
                    graph.fix(from, node(id), Because::ProgramOrder);
                }
            }
            if let Some(fence) = self.after_fence[target] {
                graph.fix(fence, node(id), Because::Fence);
                if self.keeps[target][target] == Keeps::Always {
                    // Later ones of this kind follow this one.
                    self.after_fence[target] = None;
                }
            }
        }
        for role in roles(kinds) {
            self.earlier[role].add(node(id));
            if self.fences {
                self.before_fence[role].add(node(id));
            }
        }
        if let Some(earlier) = self.earlier_at.get_mut(address) {
            self.touched.push(address);
            roles(kinds).for_each(|role| earlier[role].add(node(id)));
        }
    }
}

pub(crate) fn roles(kinds: Kinds) -> impl Iterator<Item = usize> {
    [(kinds.reads, READS), (kinds.writes, WRITES)].into_iter().filter(|r| r.0).map(|r| r.1)
}

/// An access comes before whatever began after it ended, in any thread: what has ended so far is
/// gathered in one node, so that there are O(n) edges.
pub(crate) fn real_time(graph: &mut impl EdgeSink, history: &History) {
    let (mut ends, mut begins) = (Vec::new(), Vec::new());
    for event in history.event_ids().filter(|&event| history.address_of(event).is_some()) {
        let times = history.times(event);
        ends.extend(times.end.map(|end| (end, event)));
        begins.extend(times.begin.map(|begin| (begin, event)));
    }
    ends.sort_unstable();
    begins.sort_unstable();
    let mut ended = Collector::default();
    let mut ends = ends.into_iter().peekable();
    for (begin, event) in begins {
        while let Some((_, earlier)) = ends.next_if(|&(end, _)| end < begin) {
            ended.add(node(earlier));
        }
        if let Some(earlier) = ended.collect(graph, Because::Time) {
            graph.fix(earlier, node(event), Because::Time);
        }
    }
}

/// An access with what times say about it: when it began, and when it ended if it is a read.
#[derive(Clone, Copy)]
struct Timed {
    node: NodeId,
    begin: Option<u64>,
    read_end: Option<u64>,
}

/// A read comes before whatever of its thread began after it ended.
fn time_edges(
    graph: &mut impl EdgeSink,
    history: &History,
    meaning: &impl Meaning,
    thread: ThreadId,
) {
    let timed: Vec<Timed> = history
        .thread_events(thread)
        .filter(|&e| !history.event(e).is_fence())
        .map(|e| {
            let times = history.times(e);
            let read_end = times.end.filter(|_| meaning.kinds(e).reads);
            Timed { node: node(e), begin: times.begin, read_end }
        })
        .filter(|t| t.begin.is_some() || t.read_end.is_some())
        .collect();
    if timed.iter().filter_map(|t| t.begin).is_sorted() {
        ascending_times(graph, &timed);
    } else {
        halves_by_time(graph, &timed);
    }
}

/// Begin times ascend along the thread: what has ended for one event has ended for all later
/// ones, so one growing group serves.
fn ascending_times(graph: &mut impl EdgeSink, timed: &[Timed]) {
    let mut running = BinaryHeap::new();
    let mut ended = Collector::default();
    for t in timed {
        if let Some(begin) = t.begin {
            while let Some(&Reverse((end, read))) = running.peek()
                && end < begin
            {
                running.pop();
                ended.add(read);
            }
            if let Some(ended) = ended.collect(graph, Because::Time) {
                graph.fix(ended, t.node, Because::Time);
            }
        }
        if let Some(end) = t.read_end {
            running.push(Reverse((end, t.node)));
        }
    }
}

/// Clocks that run backwards: compare the two halves of the thread, then each with itself.
/// O(n log n) edges, whatever the times are. The recursion is log n deep.
fn halves_by_time(graph: &mut impl EdgeSink, timed: &[Timed]) {
    if timed.len() < 2 {
        return;
    }
    let (left, right) = timed.split_at(timed.len() / 2);
    let mut reads: Vec<_> = left.iter().filter_map(|t| t.read_end.map(|e| (e, t.node))).collect();
    let mut began: Vec<_> = right.iter().filter_map(|t| t.begin.map(|b| (b, t.node))).collect();
    reads.sort_unstable();
    began.sort_unstable();
    let mut ended = Collector::default();
    let mut reads = reads.into_iter().peekable();
    for (begin, event) in began {
        while let Some((_, read)) = reads.next_if(|&(end, _)| end < begin) {
            ended.add(read);
        }
        if let Some(ended) = ended.collect(graph, Because::Time) {
            graph.fix(ended, event, Because::Time);
        }
    }
    halves_by_time(graph, left);
    halves_by_time(graph, right);
}
