//! What a model file keeps of program order, as edges.
//!
//! A path of a model is a sequence of steps with a test at each stop. Most paths only ask for kinds
//! (`[R];po;[M]`, fences): those become the table of kinds and fences that the built-in models have,
//! and cost what they cost there. The others (annotations, dependencies, rules 2, 3 and 12 of RVWMO)
//! are walked one by one, thread by thread: what has come as far as each stop is gathered in one
//! node, so that a path of k steps through n events makes O(k·n) edges. Steps along reads-from count
//! where it is known who read what.

use cat::{CatModel, EventSort, Path, SetTest, Step};
use evidence::Because;
use history::{DependencyKind, EventId, History, Kinds, Source};
use models::{Keeps, StoreRules};
use rustc_hash::FxHashMap;

use super::graph::{FixedEdges, NodeId, node};
use super::program_order::{FenceOrders, Gatherer, Meaning};

/// Where the events of a history come from: which of them are halves of atomics, and what the trace
/// says of them.
pub(crate) trait Parts {
    /// The history that is judged.
    fn history(&self) -> &History;
    /// The history of the trace.
    fn trace(&self) -> &History;
    /// The event of the trace.
    fn origin(&self, event: EventId) -> EventId;
    /// The events that an event of the trace has become: the first, and how many.
    fn become_of(&self, origin: EventId) -> (EventId, usize);
    /// Whether atomics are two events.
    fn are_split(&self) -> bool;
    /// Whether an event is the writing half of an atomic.
    fn is_write_half(&self, event: EventId) -> bool;
}

/// The events of a history by what they are, and what is kept of program order between them.
pub(crate) struct Kept<'a> {
    model: &'a CatModel,
    /// The halves of each sort of events: one, or two for an atomic that is one event.
    sorts: Vec<Vec<EventSort>>,
    /// The sort of each event.
    of: Vec<u16>,
    /// What each sort of fences orders.
    fences: Vec<Vec<(Kinds, Kinds)>>,
    /// What is kept by kinds.
    pub(crate) table: StoreRules,
    walked: Vec<Walked>,
}

/// A path that is walked.
struct Walked {
    /// Which sorts pass each stop.
    stops: Vec<Vec<bool>>,
    steps: Vec<Step>,
    of_different_writes: bool,
    /// Which sorts end a walk along an address.
    ends: Vec<bool>,
}

/// The table that keeps nothing.
const NOTHING: StoreRules = StoreRules {
    read_read: Keeps::Never,
    read_write: Keeps::Never,
    write_read: Keeps::Never,
    write_write: Keeps::Never,
    times: false,
    dependencies: false,
    own_reads_visible: false,
    same_address_reads_swap: false,
    global: true,
};

impl<'a> Kept<'a> {
    /// What the paths of a model keep on a history; `None` if some path is of a form that cannot be
    /// walked.
    pub(crate) fn new(
        model: &'a CatModel,
        paths: &[Path],
        own_reads: bool,
        parts: &impl Parts,
    ) -> Option<Self> {
        let (sorts, of) = sorts(parts);
        let fences = vec![Vec::new(); sorts.len()];
        let table = StoreRules { own_reads_visible: own_reads, ..NOTHING };
        let mut kept = Kept { model, sorts, of, fences, table, walked: Vec::new() };
        let said = Said::new(parts);
        let stops: Vec<Vec<Vec<bool>>> = paths.iter().map(|path| kept.stops(path)).collect();
        let with_stops = || paths.iter().zip(&stops);
        if with_stops().any(|(path, stops)| kept.starts_at_fences(path, stops))
            && with_stops().any(|(path, stops)| kept.ends_at_some_fences(path, stops, &said))
        {
            return None;
        }
        for (path, stops) in paths.iter().zip(stops) {
            kept.keep(path, stops, &said)?;
        }
        Some(kept)
    }

    /// Which sorts pass each stop of a path.
    fn stops(&self, path: &Path) -> Vec<Vec<bool>> {
        let tests = std::iter::once(&path.first).chain(path.steps.iter().map(|(_, tests)| tests));
        tests.map(|tests| self.passing(tests)).collect()
    }

    /// Which sorts pass all of these tests.
    fn passing(&self, tests: &[SetTest]) -> Vec<bool> {
        let passes = |half: &EventSort| tests.iter().all(|&test| self.model.is_in(test, half));
        self.sorts.iter().map(|halves| halves.iter().any(passes)).collect()
    }

    fn is_fence(&self, sort: usize) -> bool {
        self.sorts[sort][0].fence.is_some()
    }

    fn admits_fences(&self, stop: &[bool]) -> bool {
        (0..stop.len()).any(|sort| stop[sort] && self.is_fence(sort))
    }

    /// Whether a path can start at a fence.
    fn starts_at_fences(&self, path: &Path, stops: &[Vec<bool>]) -> bool {
        let leaves = matches!(path.steps.first(), Some((Step::ProgramOrder | Step::InTime, _)));
        leaves && self.admits_fences(&stops[0])
    }

    /// Whether a path leads to fences and not to all that comes later. Then a path that starts at a
    /// fence goes on from there; else it says nothing new.
    fn ends_at_some_fences(&self, path: &Path, stops: &[Vec<bool>], said: &Said) -> bool {
        let (Some(last), Some(&(step, _))) = (stops.last(), path.steps.last()) else {
            return false;
        };
        let reaches_fences = match step {
            Step::ProgramOrder => !last.iter().all(|&passes| passes),
            Step::InTime => said.has_times,
            Step::Dependency(kind) => said
                .of_kind(kind)
                .iter()
                .any(|&(to, _)| self.is_fence(usize::from(self.of[to.index()]))),
            _ => false,
        };
        let exists = !path.steps.iter().any(|&(step, _)| said.is_empty(step));
        exists && reaches_fences && self.admits_fences(last)
    }

    /// The kinds that pass a stop, if that depends on nothing but kinds.
    fn kinds_at(&self, stop: &[bool]) -> Option<Kinds> {
        [Kinds::READS, Kinds::WRITES, Kinds::ALL].into_iter().find(|&kinds| {
            (0..stop.len()).all(|sort| stop[sort] == self.kinds_of_sort(sort).meets(kinds))
        })
    }

    fn kinds_of_sort(&self, sort: usize) -> Kinds {
        let of = |half: &EventSort| Kinds { reads: half.reads, writes: half.writes };
        self.sorts[sort].iter().map(of).fold(Kinds::NONE, Kinds::union)
    }

    fn keep(&mut self, path: &Path, mut stops: Vec<Vec<bool>>, said: &Said) -> Option<()> {
        let steps: Vec<Step> = path.steps.iter().map(|&(step, _)| step).collect();
        if steps.is_empty() {
            // Events related to themselves: a cycle each, which no model asks for.
            return None;
        }
        if steps.iter().any(|&step| said.is_empty(step)) {
            return Some(());
        }
        // Fences are no events of their own: what passes one is ordered by it.
        for end in [0, steps.len()] {
            for (sort, passes) in stops[end].iter_mut().enumerate() {
                *passes &= !self.is_fence(sort);
            }
        }
        if stops.iter().any(|stop| !stop.contains(&true)) {
            return Some(());
        }
        if steps.contains(&Step::AtomicBack) {
            return None;
        }
        let kinds = (self.kinds_at(&stops[0]), self.kinds_at(&stops[steps.len()]));
        if let ((Some(first), Some(last)), false) = (kinds, path.of_different_writes) {
            match steps[..] {
                [Step::ProgramOrder] => {
                    self.keep_kinds(first, last, Keeps::Always);
                    return Some(());
                }
                [Step::SameAddress] => {
                    self.keep_kinds(first, last, Keeps::SameAddress);
                    return Some(());
                }
                [Step::InTime] if first == Kinds::READS && last == Kinds::ALL => {
                    self.table.times = true;
                    return Some(());
                }
                [Step::ProgramOrder, Step::ProgramOrder] if self.are_fences(&stops[1]) => {
                    for sort in (0..stops[1].len()).filter(|&sort| stops[1][sort]) {
                        let orders = &mut self.fences[sort];
                        if !orders.contains(&(first, last)) {
                            orders.push((first, last));
                        }
                    }
                    return Some(());
                }
                _ => {}
            }
        }
        self.walk(steps, stops, path.of_different_writes, !said.atomics.is_empty())
    }

    fn are_fences(&self, stop: &[bool]) -> bool {
        (0..stop.len()).all(|sort| !stop[sort] || self.is_fence(sort))
    }

    fn keep_kinds(&mut self, first: Kinds, last: Kinds, keeps: Keeps) {
        let table = &mut self.table;
        let mut cell = |wanted: bool, cell: fn(&mut StoreRules) -> &mut Keeps| {
            let cell = cell(table);
            if wanted && *cell != Keeps::Always {
                *cell = keeps;
            }
        };
        cell(first.reads && last.reads, |t| &mut t.read_read);
        cell(first.reads && last.writes, |t| &mut t.read_write);
        cell(first.writes && last.reads, |t| &mut t.write_read);
        cell(first.writes && last.writes, |t| &mut t.write_write);
    }

    /// Keeps a path that has to be walked.
    fn walk(
        &mut self,
        steps: Vec<Step>,
        stops: Vec<Vec<bool>>,
        of_different_writes: bool,
        has_halves: bool,
    ) -> Option<()> {
        if steps.contains(&Step::InTime) {
            return None;
        }
        let mut ends = vec![false; self.sorts.len()];
        for step in &steps {
            if let &Step::SameAddressWithout(set) = step {
                let these = self.passing(&[set]);
                if ends.contains(&true) && ends != these {
                    return None;
                }
                ends = these;
            }
        }
        let is_rule_two = matches!(steps[..], [Step::SameAddress | Step::SameAddressWithout(_)])
            && stops[0] == stops[1]
            && self.kinds_at(&stops[0]) == Some(Kinds::READS);
        if of_different_writes && !is_rule_two {
            return None;
        }
        let is_without_writes = matches!(steps[..], [Step::SameAddressWithout(_)])
            && (0..ends.len()).all(|sort| ends[sort] == self.kinds_of_sort(sort).writes);
        if of_different_writes && is_without_writes && !has_halves {
            // The write that the second read returned overwrites what the first one returned, and is
            // of another thread: from-read and reads-from say it already. (The two may be the read
            // of an atomic and a read of its own write; then they do not.)
            return Some(());
        }
        self.walked.push(Walked { stops, steps, of_different_writes, ends });
        Some(())
    }

    /// Whether there are atomics or pairs.
    pub(crate) fn has_pairs(&self) -> bool {
        self.sorts.iter().flatten().any(|sort| sort.is_atomic || sort.is_exclusive)
    }

    /// Whether what is kept depends on who read what.
    pub(crate) fn depends_on_reads(&self) -> bool {
        self.walked
            .iter()
            .any(|path| path.of_different_writes || path.steps.contains(&Step::ReadsOwn))
    }

    /// Adds the edges of the paths that are walked.
    pub(crate) fn walk_paths(
        &self,
        graph: &mut FixedEdges,
        parts: &impl Parts,
        sources: &[Option<Source>],
    ) {
        let said = Said::new(parts);
        for path in &self.walked {
            if path.of_different_writes {
                self.different_writes(graph, parts, sources, path);
            } else {
                self.walk_path(graph, parts, sources, path, &said);
            }
        }
    }

    fn sort(&self, event: EventId) -> usize {
        usize::from(self.of[event.index()])
    }

    fn walk_path(
        &self,
        graph: &mut FixedEdges,
        parts: &impl Parts,
        sources: &[Option<Source>],
        path: &Walked,
        said: &Said,
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
    fn different_writes(
        &self,
        graph: &mut FixedEdges,
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
    earlier: Gatherer,
}

impl Group {
    fn add(&mut self, graph: &mut FixedEdges, read: EventId, source: Source) {
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

impl Meaning for (&Kept<'_>, &History) {
    fn kinds(&self, event: EventId) -> Kinds {
        self.0.kinds_of_sort(self.0.sort(event))
    }

    fn fence(&self, event: EventId) -> FenceOrders<'_> {
        let pairs = &self.0.fences[self.0.sort(event)];
        // The node of a fence that orders all kinds counts as following all accesses before it.
        let orders = self.0.sorts[self.0.sort(event)][0].fence;
        let before = orders.map_or(Kinds::NONE, |(before, _)| before);
        let by_its_node =
            matches!(pairs[..], [(first, _)] if first == Kinds::ALL || before != Kinds::ALL);
        FenceOrders { pairs: pairs.into(), by_its_node }
    }
}

/// The sorts of events, and the sort of each.
fn sorts(parts: &impl Parts) -> (Vec<Vec<EventSort>>, Vec<u16>) {
    let history = parts.history();
    let trace = parts.trace();
    let mut exclusive = vec![false; if trace.pairs().is_empty() { 0 } else { trace.len() }];
    for &(store, load) in trace.pairs() {
        exclusive[store.index()] = true;
        exclusive[load.index()] = true;
    }
    let mut known: FxHashMap<(EventSort, bool), u16> = FxHashMap::default();
    let mut sorts = Vec::new();
    let mut last: Option<((EventSort, bool), u16)> = None;
    let mut of = Vec::with_capacity(history.len());
    for event in history.event_ids() {
        let origin = parts.origin(event);
        let is_exclusive = exclusive.get(origin.index()).copied().unwrap_or(false);
        let key = sort_of(parts, event, origin, is_exclusive);
        if let Some((same, number)) = last
            && same == key
        {
            of.push(number);
            continue;
        }
        let number = *known.entry(key).or_insert_with(|| {
            sorts.push(halves_of(key));
            sorts.len() as u16 - 1
        });
        last = Some((key, number));
        of.push(number);
    }
    (sorts, of)
}

/// The sort of an event, and whether it is both halves of an atomic.
fn sort_of(
    parts: &impl Parts,
    event: EventId,
    origin: EventId,
    is_exclusive: bool,
) -> (EventSort, bool) {
    let trace = parts.trace();
    let kinds = trace.kinds_of(origin);
    let is_atomic = kinds == Kinds::ALL;
    let is_write_half = parts.is_write_half(event);
    let is_read_half = is_atomic && parts.are_split() && !is_write_half;
    let fence = match trace.address_of(origin) {
        Some(_) => None,
        None => match trace.event(origin).operation {
            history::Operation::Fence { before, after } => Some((before, after)),
            _ => None,
        },
    };
    let sort = EventSort {
        reads: kinds.reads && !is_write_half,
        writes: kinds.writes && !is_read_half,
        is_atomic,
        is_exclusive,
        order: trace.access_order(origin),
        fence,
        name: trace.fence_name(origin),
    };
    (sort, is_atomic && !parts.are_split())
}

fn halves_of((sort, is_both): (EventSort, bool)) -> Vec<EventSort> {
    match is_both {
        false => vec![sort],
        true => vec![EventSort { writes: false, ..sort }, EventSort { reads: false, ..sort }],
    }
}

/// What a trace says of pairs of events, in terms of the events that are judged.
struct Said {
    /// By kind of dependency, pairs (dependent, read), sorted.
    dependencies: [Vec<(EventId, EventId)>; 3],
    /// Pairs (store-conditional, load-reserved), sorted.
    pairs: Vec<(EventId, EventId)>,
    /// Pairs (writing half, reading half), sorted.
    atomics: Vec<(EventId, EventId)>,
    has_times: bool,
}

impl Said {
    fn new(parts: &impl Parts) -> Self {
        let trace = parts.trace();
        let mut dependencies = [const { Vec::new() }; 3];
        for (at, &(to, from)) in trace.dependencies().iter().enumerate() {
            let (first, count) = parts.become_of(to);
            for kind in trace.kinds_of_dependency(at).iter() {
                for half in 0..count {
                    let to = EventId::new(first.index() + half);
                    dependencies[kind as usize].push((to, parts.become_of(from).0));
                }
            }
        }
        dependencies.iter_mut().for_each(|list| list.sort_unstable());
        let first = |event| parts.become_of(event).0;
        let pairs = trace.pairs().iter().map(|&(to, from)| (first(to), first(from))).collect();
        let mut atomics = Vec::new();
        if parts.are_split() {
            let halves = parts.history().event_ids().filter(|&event| parts.is_write_half(event));
            atomics.extend(halves.map(|event| (event, EventId::new(event.index() - 1))));
        }
        Said { dependencies, pairs, atomics, has_times: trace.has_times() }
    }

    fn of_kind(&self, kind: DependencyKind) -> &[(EventId, EventId)] {
        &self.dependencies[kind as usize]
    }

    /// Whether no two events are related by a step.
    fn is_empty(&self, step: Step) -> bool {
        match step {
            Step::Dependency(kind) => self.of_kind(kind).is_empty(),
            Step::Exclusive => self.pairs.is_empty(),
            Step::Atomic | Step::AtomicBack => self.atomics.is_empty(),
            Step::InTime => !self.has_times,
            _ => false,
        }
    }

    /// The events from which a step that is no program order leads to this one.
    fn before(
        &self,
        step: Step,
        event: EventId,
        sources: &[Option<Source>],
        history: &History,
    ) -> Vec<EventId> {
        let list = match step {
            Step::Dependency(kind) => self.of_kind(kind),
            Step::Exclusive => &self.pairs,
            Step::Atomic => &self.atomics,
            Step::ReadsOwn => {
                // A read of a later write of its own thread breaks coherence anyway.
                return match sources[event.index()] {
                    Some(Source::Write(write)) if history.program_order(write, event) => {
                        vec![write]
                    }
                    _ => Vec::new(),
                };
            }
            _ => return Vec::new(),
        };
        let start = list.partition_point(|&(to, _)| to < event);
        let these = list[start..].iter().take_while(|&&(to, _)| to == event);
        these.map(|&(_, from)| from).collect()
    }
}

/// A walk along a path: for each stop, what has come so far.
struct Walk<'p> {
    path: &'p Walked,
    /// Before each step of program order: what is there to go on.
    pools: Vec<Gatherer>,
    /// The same by address.
    pools_at: Vec<Vec<Gatherer>>,
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
            vec![Gatherer::default(); if is { history.address_count() } else { 0 }]
        };
        Walk {
            path,
            pools: vec![Gatherer::default(); count],
            pools_at: path.steps.iter().map(by_address).collect(),
            touched: Vec::new(),
            there: vec![FxHashMap::default(); count],
            arrived: vec![None; count + 1],
        }
    }

    /// Finds by which nodes an event comes to each stop, and adds the edges to the last.
    fn arrive(
        &mut self,
        graph: &mut FixedEdges,
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
        self.pools.iter_mut().for_each(Gatherer::reset);
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
