//! Saturation: everything that rules R6 and R7 of efficient-tso-verification (§4.2, §4.4) infer.
//!
//! * R6: a write before a read of another write of its address comes before that one.
//! * R7: a read of a write comes before every later write of its address.
//!
//! Read-modify-writes need no rule of their own: they are one node, and both rules apply to it.
//! The least fixpoint is computed along a topological order of what is known, going back only to
//! nodes whose clock has changed, and there only to the chains in which it has. For a read that
//! means asking, per chain, for the last write of its address before it (R6); for a write, for the
//! last other write of its address before it, whose readers must come first (R7). Only the last
//! ones matter: earlier writes of a chain come before them. An edge is inferred only if the clocks
//! do not know it, so there are few. A violation shows as an event that comes before itself.
//!
//! Sound for every store model, complete for none (Fig. 5 of the paper, mirrored). The guess goes
//! on from the fixpoint with edges it tries; what it tries can be taken back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use history::{AddressId, EventId, History, Source};

use super::chains::{Chains, OwnChains};
use super::clocks::{ChainSet, Changed, Clocks, Front, PrecedesItself, place};
use super::graph::{EdgeId, NodeId, Origin, node};
use super::nodes::NodeSet;
use super::problem::Problem;
use crate::Budget;

/// Why saturation gave no clocks.
pub(crate) enum Stopped {
    /// A cycle: the history is a violation.
    Cycle(Vec<EdgeId>),
    /// Time is up.
    Time,
    /// The clocks would not fit.
    Memory,
}

/// Clocks of this size are not worth having only to say how much they leave open.
const COSTLY_BYTES: usize = 1 << 24;

/// Whether saturation takes its time, so that it is better left out if nothing depends on it.
pub(crate) fn is_costly(problem: &Problem) -> bool {
    Clocks::bytes(&Chains::new(problem), problem.graph.node_count()) > COSTLY_BYTES
}

/// Infers all it can into the graph of the problem. `order` is an order of all nodes that every
/// edge follows.
pub(crate) fn saturate<'p, 'h>(
    problem: &'p mut Problem<'h>,
    order: &[NodeId],
    budget: &Budget,
) -> Result<Saturation<'p, 'h>, Stopped> {
    let chains = Chains::new(problem);
    if !budget.allows(Clocks::bytes(&chains, problem.graph.node_count())) {
        return Err(Stopped::Memory);
    }
    let mut saturation = Saturation::new(problem, chains, order);
    saturation.run(order, budget)?;
    Ok(saturation)
}

/// A problem with its clocks: closed under the rules whenever the queue is empty.
pub(crate) struct Saturation<'p, 'h> {
    pub(crate) problem: &'p mut Problem<'h>,
    pub(crate) clocks: Clocks,
    /// In which chains the clock of a node has changed since the rules were applied to it.
    dirty: Vec<ChainSet>,
    /// The place of each node in the order of the scan.
    rank: Vec<u32>,
    /// Dirty nodes to go back to, by their rank.
    queue: BinaryHeap<Reverse<(u32, NodeId)>>,
    /// Nodes of this rank and beyond have not been reached by the scan yet.
    reached: u32,
    /// Where the last search among the writes of each part of an address ended.
    cursors: Vec<Cursor>,
    /// Room for what a rule finds at one node.
    found: Vec<EventId>,
    /// What a guess has put in order already.
    pub(crate) emitted: NodeSet,
    pub(crate) front: Front,
    /// What has changed since a guess began, if one did.
    pub(crate) log: Option<Vec<Changed>>,
    /// How many edges from nodes not emitted lead to each node, kept for a guess.
    pub(crate) indegree: Vec<u32>,
}

impl<'p, 'h> Saturation<'p, 'h> {
    fn new(problem: &'p mut Problem<'h>, chains: Chains, order: &[NodeId]) -> Self {
        let nodes = order.len();
        let mut rank = vec![0u32; nodes];
        for (i, &n) in order.iter().enumerate() {
            rank[n as usize] = i as u32;
        }
        Self {
            cursors: cursors(problem.history, &chains),
            found: Vec::new(),
            clocks: Clocks::new(chains, nodes),
            dirty: vec![ChainSet::MAX; nodes],
            rank,
            queue: BinaryHeap::new(),
            reached: 0,
            emitted: NodeSet::none(),
            front: Front::default(),
            log: None,
            indegree: Vec::new(),
            problem,
        }
    }

    /// Scans all nodes in order, going back where something has changed.
    fn run(&mut self, order: &[NodeId], budget: &Budget) -> Result<(), Stopped> {
        for (i, &n) in order.iter().enumerate() {
            self.reached = i as u32 + 1;
            let visited = self.visit(n).and_then(|()| self.propagate());
            if let Err(PrecedesItself(event)) = visited {
                return Err(Stopped::Cycle(self.cycle_through(event)));
            }
            if i.is_multiple_of(4096) && budget.is_spent() {
                return Err(Stopped::Time);
            }
        }
        Ok(())
    }

    fn cycle_through(&self, event: NodeId) -> Vec<EdgeId> {
        let graph = &self.problem.graph;
        graph
            .shortest_path(event, event, graph.edge_count())
            .expect("a clock only knows what a path leads from")
    }

    /// Applies the rules to everything that has changed.
    pub(crate) fn propagate(&mut self) -> Result<(), PrecedesItself> {
        while let Some(Reverse((_, n))) = self.queue.pop() {
            self.visit(n)?;
        }
        Ok(())
    }

    /// Forgets what has changed: the clocks are about to be restored.
    pub(crate) fn drop_queue(&mut self) {
        for Reverse((_, n)) in self.queue.drain() {
            self.dirty[n as usize] = 0;
        }
    }

    /// Applies the rules to a node whose clock has changed, then propagates the change to its successors.
    fn visit(&mut self, n: NodeId) -> Result<(), PrecedesItself> {
        let changed = std::mem::take(&mut self.dirty[n as usize]);
        let Some(event) = self.problem.graph.event(n) else {
            self.propagate_to_successors(n, OwnChains::NONE, changed);
            return Ok(());
        };
        let history = self.problem.history;
        let kinds = history.kinds_of(event);
        let own = self.clocks.chains.own_chains(history, event, kinds);
        if self.clocks.precedes_itself(event, own) {
            return Err(PrecedesItself(n));
        }
        let mut changed = changed;
        if let Some(address) = history.address_of(event) {
            if self.clocks.chains.are_thin() {
                changed |= self.know_writes(event, address, changed);
                if self.clocks.precedes_itself(event, own) {
                    return Err(PrecedesItself(n));
                }
            }
            match self.problem.sources[event.index()] {
                Some(Source::Write(source)) => {
                    self.seen_before_read(event, source, address, changed)?;
                    if kinds.writes && changed == ChainSet::MAX {
                        // All writes before it now come before its source, and so do their readers.
                        // The other readers of its source come before it, once and for all.
                        self.readers_before(source, event)?;
                    }
                }
                _ if kinds.writes => self.overwritten_by(event, address, changed)?,
                _ => {}
            }
        }
        // The rules may have added more to it, which its successors need not wait for.
        self.propagate_to_successors(n, own, changed | self.dirty[n as usize]);
        Ok(())
    }

    /// Propagates what has changed to the successors of a node.
    fn propagate_to_successors(&mut self, n: NodeId, own: OwnChains, changed: ChainSet) {
        let mut next = self.problem.graph.first(n);
        while let Some(edge) = next {
            self.propagate_to(n, own, self.problem.graph.to(edge), changed);
            next = self.problem.graph.next(n, edge);
        }
    }

    /// From which chain on the clocks of two nodes say the same: local chains say something else at
    /// another address.
    fn first_shared(&self, n: NodeId, to: NodeId) -> usize {
        let local = self.clocks.chains.local();
        if local == 0 {
            return 0;
        }
        let address = |n| {
            self.problem.graph.event(n).and_then(|event| self.problem.history.address_of(event))
        };
        let address_of_n = address(n);
        if address_of_n.is_some() && address_of_n == address(to) { 0 } else { local }
    }

    /// Lets `to` know what `n` knows of some chains, and `n` itself.
    fn propagate_to(&mut self, n: NodeId, own: OwnChains, to: NodeId, chains: ChainSet) {
        let rank = self.rank[to as usize];
        let from = self.first_shared(n, to);
        if rank >= self.reached {
            // The scan will look at all of it.
            self.clocks.learn_all(to, n, own, from);
            return;
        }
        let news = (own, chains, from);
        let changed = self.clocks.learn(to, n, news, &self.front, self.log.as_mut());
        if changed != 0 {
            let dirty = &mut self.dirty[to as usize];
            if *dirty == 0 {
                self.queue.push(Reverse((rank, to)));
            }
            *dirty |= changed;
        }
    }

    /// R6 for one read: the writes of its address before it come before what it read.
    fn seen_before_read(
        &mut self,
        read: EventId,
        source: EventId,
        address: AddressId,
        changed: ChainSet,
    ) -> Result<(), PrecedesItself> {
        // What the source knows needs no edge, and the source itself needs none.
        let mut found = self.last_before(read, source, address, changed);
        let mut added = Ok(());
        for write in found.drain(..).filter(|&write| write != source) {
            added = self.add(write, source, Origin::SeenBefore { read });
            if added.is_err() {
                break;
            }
        }
        self.found = found;
        added
    }

    /// Whether an edge was inferred not long ago.
    fn has_edge(&self, from: EventId, to: EventId) -> bool {
        let successors = self.problem.graph.inferred_successors(node(from));
        successors.take(RECENT_EDGES).any(|n| n == node(to))
    }

    /// Where chains are thin, what the other chains imply about the writes of an address goes into the
    /// local ones. Returns the chains in which that was news.
    fn know_writes(&mut self, event: EventId, address: AddressId, changed: ChainSet) -> ChainSet {
        let mut implied = std::mem::take(&mut self.found);
        let Self { clocks, cursors, problem, .. } = self;
        let row = clocks.row(node(event));
        let chains = clocks.chains.reader_chains_of(address);
        for (at, cursor) in chains.clone().zip(&mut cursors[chains]) {
            let chain = cursor.chain as usize;
            let reach = row[chain];
            if reach == 0 || changed & clocks.bits.of(chain) == 0 || reach <= cursor.first {
                continue;
            }
            if !cursor.holds(reach) {
                cursor.seek(clocks.chains.reader_chain(problem.history, address, at).1, reach);
            }
            if cursor.last >= 0 {
                implied.extend(reached_by(problem, EventId::new(cursor.last as usize)));
            }
        }
        let mut news = 0;
        for write in implied.drain(..) {
            let chain = self.problem.history.thread_of(write).index();
            if self.clocks.learn_of(node(event), chain, write, self.log.as_mut()) {
                news |= self.clocks.bits.of(chain);
            }
        }
        self.found = implied;
        news
    }

    /// R7 for one write: whoever read an earlier write of the address came before this one.
    fn overwritten_by(
        &mut self,
        write: EventId,
        address: AddressId,
        changed: ChainSet,
    ) -> Result<(), PrecedesItself> {
        let mut found = self.last_before(write, write, address, changed);
        found.retain(|&source| source != write);
        self.drop_overwritten(&mut found);
        let added = found.drain(..).try_for_each(|source| self.readers_before(source, write));
        self.found = found;
        added
    }

    /// Of writes of one address, drops those that come before the one that the scan reached last:
    /// their readers come before that one.
    fn drop_overwritten(&self, found: &mut Vec<EventId>) {
        let Some(&last) = found.iter().max_by_key(|w| self.rank[w.index()]) else { return };
        let known = self.clocks.row(node(last));
        let chains = &self.clocks.chains;
        found.retain(|&w| {
            let chain = chains.of_write(self.problem.history, w);
            chain.is_none_or(|chain| known[chain] <= place(w))
        });
        if chains.are_thin() && found.len() > 1 {
            // There an edge costs more than a look.
            let all = found.clone();
            found.retain(|&w| {
                !all.iter().any(|&other| {
                    other != w && self.clocks.precedes(self.problem.history, w, node(other))
                })
            });
        }
    }

    /// For each chain that has changed, the last write of an address that comes before `later`,
    /// unless it comes before `earlier` too or has been emitted. If `earlier` is `later`, all of
    /// them.
    fn last_before(
        &mut self,
        later: EventId,
        earlier: EventId,
        address: AddressId,
        changed: ChainSet,
    ) -> Vec<EventId> {
        let mut found = std::mem::take(&mut self.found);
        let Self { clocks, cursors, problem, front, .. } = self;
        let row = clocks.row(node(later));
        let known = clocks.row(node(earlier));
        let known =
            |chain: usize| front.of(chain).max(if earlier == later { 0 } else { known[chain] });
        if clocks.chains.are_thin() {
            // All in a local chain are writes of the address.
            for chain in clocks.bits.chains(changed).take_while(|&c| c < clocks.chains.local()) {
                if row[chain] > known(chain) {
                    found.push(EventId::new(row[chain] as usize - 1));
                }
            }
            return found;
        }
        let parts = clocks.chains.parts_of(address);
        let mut look = |part: usize, cursor: &mut Cursor| {
            let chain = cursor.chain as usize;
            let (reach, known) = (row[chain], known(chain));
            if reach <= known || changed & clocks.bits.of(chain) == 0 {
                return;
            }
            if !cursor.holds(reach) {
                cursor.seek(clocks.chains.part(problem.history, address, part).writes, reach);
            }
            if cursor.last >= known {
                found.push(EventId::new(cursor.last as usize));
            }
        };
        if changed.count_ones() > FEW_CHAINS {
            for (i, cursor) in cursors[parts.clone()].iter_mut().enumerate() {
                look(parts.start + i, cursor);
            }
            return found;
        }
        for chain in clocks.bits.chains(changed) {
            let cursors = &mut cursors[parts.clone()];
            if let Some(i) = find(cursors, chain as u32) {
                look(parts.start + i, &mut cursors[i]);
            }
        }
        found
    }

    /// Puts the readers of a write before a later write of its address.
    pub(crate) fn readers_before(
        &mut self,
        source: EventId,
        write: EventId,
    ) -> Result<(), PrecedesItself> {
        for i in 0..self.problem.readers.of(source).len() {
            let read = self.problem.readers.of(source)[i];
            if read != write
                && !self.read_is_before(read, write)
                && !(self.clocks.chains.are_thin() && self.has_edge(read, write))
            {
                self.add(read, write, Origin::Overwrites { source })?;
            }
        }
        Ok(())
    }

    /// Whether the clocks know that a read comes before a write.
    pub(crate) fn read_is_before(&self, read: EventId, write: EventId) -> bool {
        let chain = self.clocks.chains.of_read(self.problem.history, read);
        chain.is_some_and(|chain| self.clocks.reaches(node(write), chain, read))
    }

    /// Adds an inferred edge. In a guess, what has been emitted comes before everything else.
    pub(crate) fn add(
        &mut self,
        from: EventId,
        to: EventId,
        origin: Origin,
    ) -> Result<(), PrecedesItself> {
        if self.emitted.contains(node(from)) {
            return Ok(());
        }
        if self.emitted.contains(node(to)) {
            return Err(PrecedesItself(node(to)));
        }
        self.problem.graph.infer(from, to, origin);
        if let Some(indegree) = self.indegree.get_mut(to.index()) {
            *indegree += 1;
        }
        let kinds = self.problem.history.kinds_of(from);
        let own = self.clocks.chains.own_chains(self.problem.history, from, kinds);
        self.propagate_to(node(from), own, node(to), ChainSet::MAX);
        Ok(())
    }
}

/// The write that a reader stands for: itself, if it is one, or what it read.
fn reached_by(problem: &Problem, read: EventId) -> Option<EventId> {
    if problem.history.kinds_of(read).writes {
        return Some(read);
    }
    match problem.sources[read.index()] {
        Some(Source::Write(write)) => Some(write),
        _ => None,
    }
}

/// How many edges of a node are looked at to avoid adding one again where chains are thin.
const RECENT_EDGES: usize = 4;

/// So many changed chains are looked up one by one.
const FEW_CHAINS: u32 = 8;

/// The cursor of a chain among those of an address, which are in the order of their chains.
fn find(cursors: &[Cursor], chain: u32) -> Option<usize> {
    // Mostly all threads write an address.
    let first = cursors.first()?.chain;
    let straight = chain.checked_sub(first)? as usize;
    match cursors.get(straight) {
        Some(cursor) if cursor.chain == chain => Some(straight),
        _ => cursors.binary_search_by_key(&chain, |c| c.chain).ok(),
    }
}

/// A cursor for every reader_chain of every address.
fn cursors(history: &History, chains: &Chains) -> Vec<Cursor> {
    let mut cursors = Vec::new();
    for address in history.address_ids() {
        for reader_chain in chains.reader_chains_of(address) {
            let (chain, accesses) = chains.reader_chain(history, address, reader_chain);
            cursors.push(Cursor::new(chain, accesses));
        }
    }
    cursors
}

/// Where the last search among the writes of one chain to one address ended. Searches follow the
/// order of events more or less, so the next one mostly ends there too.
struct Cursor {
    chain: u32,
    /// The first write.
    first: i32,
    /// How many writes lie below the last reach.
    count: u32,
    /// The last of them, or -1.
    last: i32,
    /// The first that does not, or the largest number.
    next: i32,
}

impl Cursor {
    fn new(chain: usize, writes: &[EventId]) -> Self {
        let first = place(writes[0]);
        Self { chain: chain as u32, first, count: 0, last: -1, next: first }
    }

    /// Whether the writes below this reach are those of the last search.
    fn holds(&self, reach: i32) -> bool {
        self.last < reach && reach <= self.next
    }

    /// Searches outwards from where it is.
    fn seek(&mut self, writes: &[EventId], reach: i32) {
        let count = gallop(writes, self.count as usize, reach);
        self.count = count as u32;
        self.last = if count > 0 { place(writes[count - 1]) } else { -1 };
        self.next = writes.get(count).map_or(i32::MAX, |&w| place(w));
    }
}

/// How many of these ascending writes lie below `reach`, searching outwards from a first guess.
fn gallop(writes: &[EventId], guess: usize, reach: i32) -> usize {
    let below = |i: usize| place(writes[i]) < reach;
    let guess = guess.min(writes.len());
    let (mut low, mut high) = (guess, guess);
    let mut step = 1;
    if guess < writes.len() && below(guess) {
        // All up to `low` lie below.
        while high < writes.len() && below(high) {
            low = high + 1;
            high = (high + step).min(writes.len());
            step *= 2;
        }
    } else {
        // None from `high` on does.
        while low > 0 && !below(low - 1) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + writes[low..high].partition_point(|&w| place(w) < reach)
}
