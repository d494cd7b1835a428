//! The guess: a total order built greedily along what is known (§4.5 of
//! efficient-tso-verification), with every guess closed under the rules at once.
//!
//! A topological sort of the saturated graph that also runs the memory. Reads and fences go as
//! soon as they can, and so do writes that cannot do harm: those nobody reads, and those whose
//! readers can all follow at once. Whatever total order there is, these may go first in it. Only
//! when none is left does it guess a write, with the fewest readers held up, earliest by the clock
//! of the trace if it has one. From then on the pending readers of that write come before every
//! other write of the address: these edges are added and saturated, so that a wrong guess shows
//! almost always at once, as a contradiction, and its opposite is known to hold. Writes that are
//! far from the front get their edges only if they get there while readers are still pending.
//!
//! Everything emitted comes before everything else, so clocks change only near the front. What has
//! changed is logged; if both a guess and its opposite contradict what was guessed before, the
//! latest guess is taken back. Taking back is bounded by a multiple of the events. Success is a
//! witness; failure proves nothing.

use history::{AddressId, EventId, History};

use super::clocks::{Front, PrecedesItself, place};
use super::graph::{NodeId, Origin, node};
use super::nodes::NodeSet;
use super::saturate::Saturation;
use crate::Budget;

/// How many events may be taken back: a few, and as many as there are. Random valid traces take back
/// a handful, or one in hundreds where chains are thin, or half of them where annotations and
/// dependencies keep a little of program order; where that is not enough, search is better.
const LEAST_BACKTRACKS: usize = 64;

/// How many ready writes are compared before one is guessed.
const MOST_CANDIDATES: usize = 256;

/// How far from the front a write is near even if no reader has to be waited for.
const NEAR: u32 = 16;

/// How many changes of clocks are remembered, at 12 bytes each.
const MOST_CHANGES: usize = 1 << 20;

/// A total order of all accesses that the model's machine can perform, if the guess succeeds. The
/// source of every read must be known. The saturation is spent: its problem is left as it was, its
/// clocks are not.
pub(crate) fn guess(mut saturation: Saturation, budget: &Budget) -> Option<Vec<EventId>> {
    let inferred = saturation.problem.graph.inferred_count();
    let nodes = saturation.problem.graph.node_count();
    saturation.emitted = NodeSet::new(nodes);
    saturation.front = Front::new(&saturation.clocks.chains);
    saturation.log = Some(Vec::new());
    saturation.indegree = saturation.problem.graph.indegrees();
    let mut guess = Guess::new(&mut saturation);
    let found = guess.run(budget);
    let order = found.then(|| guess.accesses());
    saturation.problem.graph.take_back_to(inferred, |_| {});
    order
}

/// What had happened when a guess was made.
#[derive(Clone, Copy)]
struct Mark {
    journal: usize,
    log: usize,
    inferred: usize,
    locked: usize,
}

/// A guess that stands: this write before all others of its address that were left.
struct Level {
    before: Mark,
    write: EventId,
}

struct Guess<'s, 'p, 'h> {
    order: &'s mut Saturation<'p, 'h>,
    history: &'h History,
    /// Nodes that are not writes and wait for nothing.
    free: Vec<NodeId>,
    /// Writes that waited for nothing when they were listed.
    ready: Vec<EventId>,
    listed: NodeSet,
    /// What has been emitted, in order.
    journal: Vec<NodeId>,
    /// How many writes of each part of an address have been emitted.
    written: Vec<u32>,
    /// How many events of each thread have been emitted.
    progress: Vec<u32>,
    levels: Vec<Level>,
    /// The last write of each address that was guessed: it may have readers to come.
    lock: Vec<Option<EventId>>,
    /// What the locks were before, in order.
    locked: Vec<(AddressId, Option<EventId>)>,
    backtrack_limit: usize,
}

impl<'s, 'p, 'h> Guess<'s, 'p, 'h> {
    fn new(order: &'s mut Saturation<'p, 'h>) -> Self {
        let nodes = order.problem.graph.node_count();
        let history = order.problem.history;
        let mut guess = Self {
            history,
            free: Vec::new(),
            ready: Vec::new(),
            listed: NodeSet::new(nodes),
            journal: Vec::with_capacity(nodes),
            written: vec![0; order.clocks.chains.part_count()],
            progress: vec![0; history.thread_count()],
            levels: Vec::new(),
            lock: vec![None; history.address_count()],
            locked: Vec::new(),
            backtrack_limit: LEAST_BACKTRACKS + nodes,
            order,
        };
        for n in 0..nodes as NodeId {
            guess.list_if_ready(n);
        }
        guess
    }

    fn run(&mut self, budget: &Budget) -> bool {
        let nodes = self.order.problem.graph.node_count();
        let mut steps = 0u32;
        loop {
            self.emit_free();
            if self.journal.len() == nodes {
                return true;
            }
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(1024) && budget.is_spent() {
                return false;
            }
            let goes_on = match self.choose() {
                Ok(Some(Chosen::Harmless(write))) => {
                    self.emit(node(write));
                    true
                }
                Ok(Some(Chosen::Guess(write))) => self.try_first(write) || self.take_back(),
                Ok(None) | Err(PrecedesItself(_)) => self.take_back(),
            };
            if !goes_on {
                return false;
            }
        }
    }

    fn list_if_ready(&mut self, n: NodeId) {
        if self.order.indegree[n as usize] > 0 || self.order.emitted.contains(n) {
            return;
        }
        match self.order.problem.graph.event(n) {
            Some(event) if self.history.kinds_of(event).writes => {
                if !self.listed.contains(n) {
                    self.listed.insert(n);
                    self.ready.push(event);
                }
            }
            _ => self.free.push(n),
        }
    }

    fn emit_free(&mut self) {
        while let Some(n) = self.free.pop() {
            if self.order.indegree[n as usize] == 0 && !self.order.emitted.contains(n) {
                self.emit(n);
            }
        }
    }

    fn emit(&mut self, n: NodeId) {
        self.journal.push(n);
        self.order.emitted.insert(n);
        self.count(n, 1);
        let mut next = self.order.problem.graph.first(n);
        while let Some(edge) = next {
            let to = self.order.problem.graph.to(edge);
            self.order.indegree[to as usize] -= 1;
            self.list_if_ready(to);
            next = self.order.problem.graph.next(n, edge);
        }
    }

    /// Counts an event emitted or taken back.
    fn count(&mut self, n: NodeId, by: i32) {
        let Some(event) = self.order.problem.graph.event(n) else { return };
        let progress = &mut self.progress[self.history.thread_of(event).index()];
        *progress = progress.wrapping_add_signed(by);
        let kinds = self.history.kinds_of(event);
        let chains = &self.order.clocks.chains;
        let own = chains.own_chains(self.history, event, kinds);
        self.order.front.set(own, place(event) + by.max(0));
        if kinds.writes
            && let Some(part) = chains.part_of(self.history, event)
        {
            self.written[part] = self.written[part].wrapping_add_signed(by);
        }
    }

    /// A write that cannot do harm, or the most promising one. `None` if no write is ready. Fails
    /// if a write must go before readers that a guess has put before it.
    fn choose(&mut self) -> Result<Option<Chosen>, PrecedesItself> {
        let mut best: Option<((u32, u64, EventId), EventId)> = None;
        let mut i = 0;
        while let Some(&write) = self.ready.get(i) {
            let n = node(write);
            if self.order.indegree[n as usize] > 0 || self.order.emitted.contains(n) {
                self.listed.remove(n);
                self.ready.swap_remove(i);
                continue;
            }
            if self.wait_for_readers(write)? {
                continue;
            }
            if self.is_harmless(write) {
                return Ok(Some(Chosen::Harmless(write)));
            }
            let rank = (self.wait(write), self.hint(write), write);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, write));
            }
            i += 1;
            if i == MOST_CANDIDATES {
                break;
            }
        }
        Ok(best.map(|(_, write)| Chosen::Guess(write)))
    }

    /// Puts a write that has come to the front behind the pending readers of what it would
    /// overwrite. False if there are none.
    fn wait_for_readers(&mut self, write: EventId) -> Result<bool, PrecedesItself> {
        let lock = self.history.address_of(write).and_then(|a| self.lock[a.index()]);
        let Some(lock) = lock else { return Ok(false) };
        self.order.readers_before(lock, write)?;
        self.order.propagate()?;
        Ok(self.order.indegree[write.index()] > 0)
    }

    /// Whether every reader of a write can follow it at once. A read-modify-write that reads it
    /// has readers of its own.
    fn is_harmless(&self, write: EventId) -> bool {
        let problem = &*self.order.problem;
        problem.readers.of(write).iter().all(|&read| {
            let by_source = u32::from(problem.follows_source(read, write));
            self.order.emitted.contains(node(read))
                || (!self.history.kinds_of(read).writes
                    && self.order.indegree[read.index()] <= by_source)
        })
    }

    /// How long a write would have to wait for its readers: the most events that a reader's
    /// thread still has before it.
    fn wait(&self, write: EventId) -> u32 {
        let readers = self.order.problem.readers.of(write).iter();
        readers.map(|&read| self.distance(read)).max().unwrap_or(0)
    }

    /// How many events of its thread come before an event and have not been emitted, about.
    fn distance(&self, event: EventId) -> u32 {
        let thread = self.history.thread_of(event);
        let index = event.index() - self.history.thread_range(thread).start;
        (index as u32).saturating_sub(self.progress[thread.index()])
    }

    /// When a write probably happened: by the clock, or by how far its thread has come.
    fn hint(&self, write: EventId) -> u64 {
        self.history.times(write).begin.unwrap_or_else(|| {
            let range = self.history.thread_range(self.history.thread_of(write));
            (((write.index() - range.start) as u64) << 32) / range.len() as u64
        })
    }

    /// Emits a write and keeps others of its address behind its readers. If that contradicts what
    /// is known, another write goes first; false if that does too.
    fn try_first(&mut self, write: EventId) -> bool {
        let Some(address) = self.history.address_of(write) else { return true };
        let before = self.mark();
        let near = 2 * self.wait(write) + NEAR;
        self.emit(node(write));
        self.locked.push((address, self.lock[address.index()].replace(write)));
        match self.readers_first(write, address, near) {
            Ok(()) => {
                if self.order.problem.graph.inferred_count() > before.inferred {
                    self.levels.push(Level { before, write });
                    self.forget_if_long();
                }
                true
            }
            Err(culprit) => self.pay(before) && self.put_before(culprit, write, before),
        }
    }

    /// The pending readers of an emitted write come before the first write left of every chain,
    /// if it is near the front. Fails with the write for which that is impossible.
    fn readers_first(
        &mut self,
        write: EventId,
        address: AddressId,
        near: u32,
    ) -> Result<(), EventId> {
        for part in self.order.clocks.chains.parts_of(address) {
            let Some(next) = self.first_left(address, part) else { continue };
            if self.distance(next) > near {
                continue;
            }
            self.order
                .readers_before(write, next)
                .and_then(|()| self.order.propagate())
                .map_err(|PrecedesItself(_)| next)?;
        }
        Ok(())
    }

    /// The first write of a part of an address that has not been emitted.
    fn first_left(&self, address: AddressId, part: usize) -> Option<EventId> {
        let writes = self.order.clocks.chains.part(self.history, address, part).writes;
        writes.get(self.written[part] as usize).copied()
    }

    /// Returns to a mark and puts one write before another. False if that is impossible.
    fn put_before(&mut self, first: EventId, second: EventId, mark: Mark) -> bool {
        self.return_to(mark);
        let tried =
            self.order.add(first, second, Origin::Tried).and_then(|()| self.order.propagate());
        tried.is_ok()
    }

    /// Takes back the latest guess that can be made the other way round. False if there is none,
    /// or no backtrack_limit is left.
    fn take_back(&mut self) -> bool {
        while let Some(Level { before, write }) = self.levels.pop() {
            if !self.pay(before) {
                return false;
            }
            self.return_to(before);
            let Some(address) = self.history.address_of(write) else { continue };
            let chains = &self.order.clocks.chains;
            let mut others: Vec<EventId> = chains
                .parts_of(address)
                .filter_map(|part| self.first_left(address, part))
                .filter(|&w| {
                    w != write && !self.order.clocks.precedes(self.history, write, node(w))
                })
                .collect();
            others.sort_by_key(|&w| (self.wait(w), w));
            if others.into_iter().any(|first| self.put_before(first, write, before)) {
                return true;
            }
            self.return_to(before);
        }
        false
    }

    /// Lets the guesses made so far stand for good once their log has become long.
    fn forget_if_long(&mut self) {
        if let Some(log) = &mut self.order.log
            && log.len() > MOST_CHANGES
        {
            log.clear();
            self.locked.clear();
            self.levels.clear();
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            journal: self.journal.len(),
            log: self.order.log.as_ref().map_or(0, Vec::len),
            locked: self.locked.len(),
            inferred: self.order.problem.graph.inferred_count(),
        }
    }

    /// Pays for going back with backtrack_limit.
    fn pay(&mut self, mark: Mark) -> bool {
        let cost = self.journal.len() - mark.journal + 1;
        let left = self.backtrack_limit.checked_sub(cost);
        self.backtrack_limit = left.unwrap_or(0);
        left.is_some()
    }

    fn return_to(&mut self, mark: Mark) {
        self.order.drop_queue();
        for (address, lock) in self.locked.drain(mark.locked..).rev() {
            self.lock[address.index()] = lock;
        }
        let undone = self.journal.split_off(mark.journal);
        for &n in undone.iter().rev() {
            self.order.emitted.remove(n);
            self.count(n, -1);
            for to in self.order.problem.graph.successors(n) {
                self.order.indegree[to as usize] += 1;
            }
        }
        let mut released = undone;
        let indegree = &mut self.order.indegree;
        self.order.problem.graph.take_back_to(mark.inferred, |to| {
            indegree[to as usize] -= 1;
            released.push(to);
        });
        if let Some(log) = &mut self.order.log {
            self.order.clocks.restore(log, mark.log);
        }
        for n in released {
            self.list_if_ready(n);
        }
    }

    /// The accesses, in the order in which they were emitted.
    fn accesses(&self) -> Vec<EventId> {
        super::linearize::accesses(self.order.problem, &self.journal)
    }
}

/// What to emit next.
enum Chosen {
    Harmless(EventId),
    Guess(EventId),
}
