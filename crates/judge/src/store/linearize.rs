//! The guess: a total order built greedily along what is known (§4.5 of
//! efficient-tso-verification, with rule A7 applied while sorting).
//!
//! A topological sort that also runs the memory: a write may be emitted only when every reader of
//! the value it overwrites has been. Reads and fences go as soon as they can. Among writes, those
//! that cannot do harm go first: a write nobody reads, and a write whose readers can all follow at
//! once. Only when neither is left does it guess: fewest readers held up, earliest by the clock of
//! the trace if it has one, else by place in the thread. BlockedPairs, it takes back the latest guess that
//! holds up a write of the same address, lets that write go first, and goes on; taking back is
//! bounded by a multiple of the events. Success is a witness. Failure proves nothing, and shows
//! which pairs of writes it got stuck on.

use history::{EventId, Source};
use rustc_hash::FxHashMap;

use super::graph::{Graph, NodeId, node};
use super::problem::{Problem, Readers};

/// How much may be taken back in all.
#[derive(Clone, Copy)]
pub(crate) enum BacktrackLimit {
    /// Several times the length of the history: this guess is the last resort but search.
    Long,
    /// A fraction of it: a search will ask again, knowing more.
    Short,
}

impl BacktrackLimit {
    fn of(self, nodes: usize) -> usize {
        match self {
            BacktrackLimit::Long => 8 * nodes,
            BacktrackLimit::Short => nodes / 8,
        }
    }
}

/// Pairs (current write, write it held up) at which the guess got stuck.
pub(crate) type BlockedPairs = Vec<(EventId, EventId)>;

/// Additional edges to follow, from a search.
pub(crate) trait Follow {
    /// Calls `f` with the target of each edge from a node.
    fn successors(&self, node: NodeId, f: impl FnMut(NodeId));

    /// How many edges lead to each node.
    fn indegrees(&self) -> Vec<u32>;
}

impl Follow for Graph {
    fn successors(&self, node: NodeId, f: impl FnMut(NodeId)) {
        Graph::successors(self, node).for_each(f);
    }

    fn indegrees(&self) -> Vec<u32> {
        Graph::indegrees(self)
    }
}

/// A total order of all accesses that the model's machine can perform, if the guess succeeds.
/// `sources` must be complete.
pub(crate) fn linearize(
    problem: &Problem,
    edges: &impl Follow,
    sources: &[Option<Source>],
    backtrack_limit: BacktrackLimit,
) -> Result<Vec<EventId>, BlockedPairs> {
    let mut run = Run::new(problem, edges, sources, backtrack_limit);
    while run.emit_what_cannot_harm() || run.emit_a_guess() || run.take_back() {}
    // BacktrackLimit is gone: run into the wall, so that what holds up what is plain.
    run.after.clear();
    while run.emit_what_cannot_harm() || run.emit_a_guess() {}
    if run.journal.len() == problem.graph.node_count() { Ok(run.order()) } else { Err(run.stuck()) }
}

struct Run<'p, 'h, E> {
    problem: &'p Problem<'h>,
    edges: &'p E,
    sources: &'p [Option<Source>],
    readers: Readers,
    indegree: Vec<u32>,
    /// Readers of each write not yet emitted.
    unread: Vec<u32>,
    /// Readers of each write that could not follow it at once.
    held_up: Vec<u32>,
    current: Vec<Option<EventId>>,
    /// Readers of each initial value not yet emitted.
    unread_initial: Vec<u32>,
    /// Ready writes of each address.
    waiting: Vec<Vec<EventId>>,
    /// Ready nodes that are not writes.
    free: Vec<NodeId>,
    /// Ready writes to look at (again).
    fresh: Vec<EventId>,
    /// How many events of each thread have been emitted.
    progress: Vec<u32>,
    /// What has been emitted, in order.
    journal: Vec<NodeId>,
    is_emitted: Vec<bool>,
    /// What each emitted write overwrote, in order.
    overwritten: Vec<Option<EventId>>,
    /// The guesses still standing: what had been emitted before, and the write.
    guesses: Vec<(usize, EventId)>,
    /// Writes that a taken-back guess shall let go first.
    after: FxHashMap<EventId, Vec<EventId>>,
    /// How much may still be taken back.
    backtrack_limit: usize,
}

impl<'p, 'h, E: Follow> Run<'p, 'h, E> {
    fn new(
        problem: &'p Problem<'h>,
        edges: &'p E,
        sources: &'p [Option<Source>],
        backtrack_limit: BacktrackLimit,
    ) -> Self {
        let history = problem.history;
        let nodes = problem.graph.node_count();
        let indegree = edges.indegrees();
        let mut unread = vec![0; history.len()];
        let mut held_up = vec![0; history.len()];
        let mut unread_initial = vec![0; history.address_count()];
        for read in history.event_ids() {
            match sources[read.index()] {
                Some(Source::Write(write)) => {
                    unread[write.index()] += 1;
                    let waits = indegree[read.index()] > waits_for_source(problem, read, write);
                    held_up[write.index()] += u32::from(waits);
                }
                Some(Source::Initial) => {
                    let address = history.event(read).address().expect("reads have addresses");
                    unread_initial[address.index()] += 1;
                }
                None => {}
            }
        }
        let mut run = Self {
            problem,
            edges,
            sources,
            readers: Readers::new(history, &problem.rules, sources),
            indegree,
            unread,
            held_up,
            current: vec![None; history.address_count()],
            unread_initial,
            waiting: vec![Vec::new(); history.address_count()],
            free: Vec::new(),
            fresh: Vec::new(),
            progress: vec![0; history.thread_count()],
            journal: Vec::with_capacity(nodes),
            is_emitted: vec![false; nodes],
            overwritten: Vec::new(),
            guesses: Vec::new(),
            after: FxHashMap::default(),
            backtrack_limit: backtrack_limit.of(nodes),
        };
        for n in 0..nodes as NodeId {
            if run.indegree[n as usize] == 0 {
                run.ready(n);
            }
        }
        run
    }

    fn write_at(&self, n: NodeId) -> Option<(EventId, usize)> {
        let id = self.problem.graph.event(n)?;
        let event = self.problem.history.event(id);
        event.address().filter(|_| event.is_write()).map(|a| (id, a.index()))
    }

    fn address(&self, write: EventId) -> usize {
        self.problem.history.event(write).address().map_or(0, |a| a.index())
    }

    fn ready(&mut self, n: NodeId) {
        match self.write_at(n) {
            Some((write, address)) => {
                self.waiting[address].push(write);
                self.fresh.push(write);
            }
            None => self.free.push(n),
        }
    }

    /// Emits reads, fences, and writes that cannot do harm. False if there were none.
    fn emit_what_cannot_harm(&mut self) -> bool {
        let before = self.journal.len();
        loop {
            while let Some(n) = self.free.pop() {
                self.emit(n);
            }
            let Some(write) = self.fresh.pop() else { break };
            if self.waiting[self.address(write)].contains(&write)
                && self.may_overwrite(write)
                && self.held_up[write.index()] == 0
            {
                self.emit(node(write));
            }
        }
        self.journal.len() > before
    }

    /// Whether every reader of the value this would overwrite has been emitted, itself aside.
    fn may_overwrite(&self, write: EventId) -> bool {
        let address = self.address(write);
        let (source, unread) = match self.current[address] {
            Some(current) => (Source::Write(current), self.unread[current.index()]),
            None => (Source::Initial, self.unread_initial[address]),
        };
        unread == u32::from(self.sources[write.index()] == Some(source))
    }

    /// Emits the most promising of the writes that may go. False if there is none.
    fn emit_a_guess(&mut self) -> bool {
        let best = self
            .waiting
            .iter()
            .flatten()
            .copied()
            .filter(|&w| self.may_overwrite(w) && self.lets_others_go_first(w))
            .min_by_key(|&w| (self.wait(w), self.hint(w), w));
        if let Some(write) = best {
            self.guesses.push((self.journal.len(), write));
            self.emit(node(write));
        }
        best.is_some()
    }

    fn lets_others_go_first(&self, write: EventId) -> bool {
        let gone = |w: &EventId| self.is_emitted[w.index()];
        self.after.get(&write).is_none_or(|others| others.iter().all(gone))
    }

    /// Takes back the latest guess that holds up a write of its address, to let that one go
    /// first. If there is none but writes wait for each other because of guesses taken back
    /// before, one of them goes first after all, and before the latest guess that still holds
    /// things up. False if nothing helps, or no backtrack_limit is left.
    fn take_back(&mut self) -> bool {
        let sooner = |run: &Self, w: &EventId| (run.wait(*w), *w);
        let mut holds_up = None;
        for i in (0..self.guesses.len()).rev() {
            let (_, guess) = self.guesses[i];
            let address = self.address(guess);
            if self.current[address] != Some(guess) || self.unread[guess.index()] == 0 {
                continue;
            }
            holds_up = holds_up.or(Some(i));
            let waiting = &self.waiting[address];
            if let Some(&first) = waiting.iter().min_by_key(|w| sooner(self, w)) {
                return self.let_go_first(i, first);
            }
        }
        let waits = self.waiting.iter().flatten().filter(|w| self.may_overwrite(**w));
        let Some(&first) = waits.min_by_key(|w| sooner(self, w)) else { return false };
        self.after.remove(&first);
        match holds_up {
            Some(guess) => self.let_go_first(guess, first),
            None => self.backtrack_limit.checked_sub(1).is_some_and(|left| {
                self.backtrack_limit = left;
                true
            }),
        }
    }

    /// Takes back a guess; it may only be made again after this write.
    fn let_go_first(&mut self, guess: usize, first: EventId) -> bool {
        let (before, write) = self.guesses[guess];
        let Some(backtrack_limit) = self.backtrack_limit.checked_sub(self.journal.len() - before)
        else {
            return false;
        };
        self.backtrack_limit = backtrack_limit;
        self.guesses.truncate(guess);
        self.after.entry(write).or_default().push(first);
        self.undo_to(before);
        true
    }

    fn undo_to(&mut self, length: usize) {
        let undone = self.journal.split_off(length);
        for &n in undone.iter().rev() {
            self.undo(n);
        }
        for &n in &undone {
            if let Some((write, address)) = self.write_at(n)
                && self.indegree[n as usize] == 0
            {
                self.waiting[address].push(write);
            }
        }
    }

    fn undo(&mut self, n: NodeId) {
        self.is_emitted[n as usize] = false;
        let edges = self.edges;
        edges.successors(n, |to| {
            if self.indegree[to as usize] == 0
                && let Some((write, address)) = self.write_at(to)
            {
                self.waiting[address].retain(|&w| w != write);
            }
            if let Some(source) = self.waits_only_for_source(to) {
                self.held_up[source.index()] += 1;
            }
            self.indegree[to as usize] += 1;
        });
        let Some(id) = self.problem.graph.event(n) else { return };
        let event = self.problem.history.event(id);
        self.progress[event.thread.index()] -= 1;
        let Some(address) = event.address().map(|a| a.index()) else { return };
        if event.is_write() {
            self.current[address] = self.overwritten.pop().flatten();
        }
        match self.sources[id.index()] {
            Some(Source::Write(source)) => self.unread[source.index()] += 1,
            Some(Source::Initial) => self.unread_initial[address] += 1,
            None => {}
        }
    }

    /// How long a write would have to wait for its readers: the most events that a reader's
    /// thread still has before it.
    fn wait(&self, write: EventId) -> u32 {
        let history = self.problem.history;
        let wait = |&read: &EventId| {
            let event = history.event(read);
            event.index.saturating_sub(self.progress[event.thread.index()])
        };
        self.readers.of(write).iter().map(wait).max().unwrap_or(0)
    }

    /// When a write probably happened: by the clock, or by how far its thread has come.
    fn hint(&self, write: EventId) -> u64 {
        let history = self.problem.history;
        history.times(write).begin.unwrap_or_else(|| {
            let event = history.event(write);
            let length = history.thread_range(event.thread).len() as u64;
            (u64::from(event.index) << 32) / length
        })
    }

    fn emit(&mut self, n: NodeId) {
        self.journal.push(n);
        self.is_emitted[n as usize] = true;
        if let Some(id) = self.problem.graph.event(n) {
            self.progress[self.problem.history.event(id).thread.index()] += 1;
            self.perform(id);
        }
        let edges = self.edges;
        edges.successors(n, |to| {
            self.indegree[to as usize] -= 1;
            self.reconsider_source(to);
            if self.indegree[to as usize] == 0 {
                self.ready(to);
            }
        });
    }

    /// A reader waits for less than before: its write may have become harmless.
    fn reconsider_source(&mut self, n: NodeId) {
        if let Some(source) = self.waits_only_for_source(n) {
            self.held_up[source.index()] -= 1;
            if self.held_up[source.index()] == 0 && self.indegree[source.index()] == 0 {
                self.fresh.push(source);
            }
        }
    }

    /// The source of a reader that waits for nothing else (any more).
    fn waits_only_for_source(&self, n: NodeId) -> Option<EventId> {
        let read = self.problem.graph.event(n)?;
        let Some(Source::Write(source)) = self.sources[read.index()] else { return None };
        let waits = waits_for_source(self.problem, read, source);
        (self.indegree[read.index()] == waits).then_some(source)
    }

    fn perform(&mut self, id: EventId) {
        let event = self.problem.history.event(id);
        let Some(address) = event.address().map(|a| a.index()) else { return };
        match self.sources[id.index()] {
            Some(Source::Write(source)) => {
                self.unread[source.index()] -= 1;
                self.offer(address);
            }
            Some(Source::Initial) => {
                self.unread_initial[address] -= 1;
                self.offer(address);
            }
            None => {}
        }
        if event.is_write() {
            self.overwritten.push(self.current[address].replace(id));
            self.waiting[address].retain(|&w| w != id);
            self.offer(address);
        }
    }

    /// The writes of an address may have become possible.
    fn offer(&mut self, address: usize) {
        let unread = match self.current[address] {
            Some(current) => self.unread[current.index()],
            None => self.unread_initial[address],
        };
        if unread <= 1 {
            self.fresh.extend_from_slice(&self.waiting[address]);
        }
    }

    /// The accesses, in the order in which they were emitted.
    fn order(&self) -> Vec<EventId> {
        accesses(self.problem, &self.journal)
    }

    /// Which current writes hold up which ready ones.
    fn stuck(&self) -> BlockedPairs {
        let mut pairs = Vec::new();
        for (address, waiting) in self.waiting.iter().enumerate() {
            if let Some(current) = self.current[address] {
                pairs.extend(waiting.iter().map(|&w| (current, w)));
            }
        }
        pairs
    }
}

/// How many edges lead to a read from its source alone.
fn waits_for_source(problem: &Problem, read: EventId, source: EventId) -> u32 {
    let own = problem.history.event(read).thread == problem.history.event(source).thread;
    u32::from(!own || problem.rules.own_reads_visible)
}

/// The accesses among nodes, in order.
pub(crate) fn accesses(problem: &Problem, nodes: &[NodeId]) -> Vec<EventId> {
    nodes
        .iter()
        .filter_map(|&n| problem.graph.event(n))
        .filter(|&e| !problem.history.event(e).is_fence())
        .collect()
}
