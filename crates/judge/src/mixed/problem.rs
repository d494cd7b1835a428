//! A history of mixed sizes prepared for one store model.
//!
//! The nodes of the graph are accesses; reads-from, write order and from-read come from their parts
//! (`history::Mixed`), cell by cell, and every edge between parts is an edge between their accesses.
//! So "all at one point" needs no rule: it is what one node means. What each thread saw of each cell
//! orders writes, as for plain addresses. O(parts).

use evidence::{Because, Cycle, Edge, Graph as Which, Node, Proof, Step, Why};
use history::{AddressId, EventId, History, Mixed, Source};
use models::{Keeps, StoreRules};
use rustc_hash::FxHashSet;

use crate::store::coherence::{self, SeenOrder};
use crate::store::graph::{EdgeSink, FixedEdges, Graph, Origin, node};
use crate::store::problem::{Problem, Readers, by_cycle};
use crate::store::program_order::{UnsplitEvents, kept_program_order};

/// The problem of accesses, and what is known of their parts.
pub(crate) struct MixedSizeProblem<'h> {
    /// Its nodes are accesses. It knows no sources; those are of parts.
    pub(crate) problem: Problem<'h>,
    pub(crate) mixed: &'h Mixed,
    /// What each part read from, where only one source is possible.
    pub(crate) sources: Vec<Option<Source>>,
}

impl<'h> MixedSizeProblem<'h> {
    /// Prepares a history, or refutes it.
    pub(crate) fn new(
        history: &'h History,
        mixed: &'h Mixed,
        rules: StoreRules,
    ) -> Result<Self, Proof> {
        let parts = mixed.parts();
        let is_read = |&part: &EventId| parts.kinds_of(part).reads;
        if parts.event_ids().filter(is_read).any(|part| parts.sources(part).is_empty())
            || parts.finals().iter().any(|f| f.sources.is_empty())
        {
            // "It read from one of its candidates" is false when there is none.
            return Err(Proof { steps: vec![Step { clause: vec![], why: Why::Propagation }] });
        }
        let sources: Vec<Option<Source>> =
            parts.event_ids().map(|part| parts.only_source(part)).collect();
        if rules.dependencies {
            thin_air(history, mixed, &sources).map_err(by_cycle)?;
        }
        let graph = fixed_graph(history, mixed, &rules, &sources);
        let problem = Problem {
            history,
            rules,
            which: Which::Global,
            sources: Vec::new(),
            readers: Readers::default(),
            graph,
            thin: false,
        };
        let mut glued = Self { problem, mixed, sources };
        glued.given_orders().map_err(by_cycle)?;
        glued.seen_orders().map_err(by_cycle)?;
        glued.reads_of_initial();
        Ok(glued)
    }

    pub(crate) fn parts(&self) -> &'h History {
        self.mixed.parts()
    }

    pub(crate) fn access(&self, part: EventId) -> EventId {
        self.mixed.access_of(part)
    }

    fn infer(&mut self, before: EventId, after: EventId, origin: Origin) {
        self.problem.graph.infer(self.access(before), self.access(after), origin);
    }

    /// What `order` and `final` lines say about the order of writes.
    fn given_orders(&mut self) -> Result<(), Cycle> {
        let parts = self.parts();
        for chain in parts.orders() {
            for pair in chain.writes.windows(2) {
                match (pair[0], pair[1]) {
                    (Source::Initial, _) => {}
                    (Source::Write(a), Source::Write(b)) => self.infer(a, b, Origin::Given),
                    (Source::Write(write), Source::Initial) => {
                        return Err(before_initial(self.problem.history, self.access(write)));
                    }
                }
            }
        }
        for f in parts.finals() {
            let [last] = f.sources[..] else { continue };
            for own in by_thread(parts, f.address) {
                let latest = own.iter().rev().find(|&&write| Source::Write(write) != last);
                match (latest, last) {
                    (Some(&write), Source::Write(last)) => self.infer(write, last, Origin::Given),
                    (Some(&write), Source::Initial) => {
                        return Err(before_initial(self.problem.history, self.access(write)));
                    }
                    (None, _) => {}
                }
            }
        }
        Ok(())
    }

    /// What each thread saw of each cell.
    fn seen_orders(&mut self) -> Result<(), Cycle> {
        let mut orders = Vec::new();
        let mut known = FxHashSet::default();
        let rules = self.problem.rules;
        coherence::seen_orders(self.parts(), &rules, &self.sources, |order| {
            let order = of_accesses(self.mixed, &order);
            if known.insert((order.before, order.after)) {
                orders.push(order);
            }
        })
        .map_err(|cycle| contracted(self.problem.history, self.mixed, cycle))?;
        for SeenOrder { before, after, first, second } in orders {
            self.problem.graph.infer(before, after, Origin::Coherence { first, second });
        }
        Ok(())
    }

    /// Whoever read an initial value came before every write of the cell.
    fn reads_of_initial(&mut self) {
        let parts = self.parts();
        let mut known = FxHashSet::default();
        for read in parts.event_ids() {
            if self.sources[read.index()] != Some(Source::Initial) {
                continue;
            }
            let Some(cell) = parts.address_of(read) else { continue };
            for own in by_thread(parts, cell) {
                let first = own.iter().find(|&&write| write != read);
                if let Some(&write) = first
                    && known.insert((self.access(read), self.access(write)))
                {
                    self.infer(read, write, Origin::OverwritesInitial);
                }
            }
        }
    }
}

/// The writes of a cell, thread by thread.
pub(crate) fn by_thread(parts: &History, cell: AddressId) -> impl Iterator<Item = &[EventId]> {
    let writes = &parts.address(cell).writes;
    writes.chunk_by(|&a, &b| parts.thread_of(a) == parts.thread_of(b))
}

/// An order that a thread saw, between accesses.
pub(crate) fn of_accesses(mixed: &Mixed, order: &SeenOrder) -> SeenOrder {
    let SeenOrder { before, after, first, second } = *order;
    let [before, after, first, second] =
        [before, after, first, second].map(|part| mixed.access_of(part));
    SeenOrder { before, after, first, second }
}

/// A write that would have to come before the initial value.
pub(crate) fn before_initial(history: &History, write: EventId) -> Cycle {
    let address = history.address_of(write).expect("a write has an address");
    let (initial, write) = (Node::Initial(address), Node::Event(write));
    let edge = |from, to| Edge { from, to, because: Because::WriteOrder };
    Cycle { graph: Which::Location, edges: vec![edge(initial, write), edge(write, initial)] }
}

/// A cycle of parts as one of accesses: steps from one part of an access to another are none.
pub(crate) fn contracted(history: &History, mixed: &Mixed, cycle: Cycle) -> Cycle {
    let event = |n: Node| match n {
        Node::Event(part) | Node::ReadOf(part) => Some(mixed.access_of(part)),
        Node::Initial(_) => None,
    };
    let as_access = |n: Node, other: Node| match (event(n), event(other)) {
        (Some(access), _) => Node::Event(access),
        // The initial value of a cell is one of every address that has the cell.
        (None, Some(other)) => history.address_of(other).map_or(n, Node::Initial),
        (None, None) => n,
    };
    let edges = cycle.edges.iter().map(|&Edge { from, to, because }| {
        let (from, to) = (as_access(from, to), as_access(to, from));
        Edge { from, to, because }
    });
    let own = |edge: &Edge| edge.from == edge.to && edge.because == Because::ProgramOrder;
    Cycle { graph: cycle.graph, edges: edges.filter(|edge| !own(edge)).collect() }
}

/// dependencies ∪ rf must be acyclic, as far as rf is known.
pub(crate) fn thin_air(
    history: &History,
    mixed: &Mixed,
    sources: &[Option<Source>],
) -> Result<(), Cycle> {
    let mut edges = FixedEdges::new(history);
    for &(to, from) in history.dependencies() {
        edges.fix(node(from), node(to), Because::Dependency);
    }
    for (read, source) in mixed.parts().event_ids().zip(sources) {
        if let Some(Source::Write(write)) = *source {
            let [from, to] = [write, read].map(|part| node(mixed.access_of(part)));
            edges.fix(from, to, Because::ReadsFrom);
        }
    }
    let graph = edges.seal();
    match graph.topological_order() {
        Ok(_) => Ok(()),
        Err(cycle) => Err(Cycle { graph: Which::ThinAir, edges: graph.evidence(history, &cycle) }),
    }
}

/// What the model keeps of program order, and reads-from where it is known and others see it.
fn fixed_graph(
    history: &History,
    mixed: &Mixed,
    rules: &StoreRules,
    sources: &[Option<Source>],
) -> Graph {
    let mut edges = FixedEdges::new(history);
    kept_program_order(&mut edges, history, rules, &UnsplitEvents(history));
    if rules.dependencies {
        for &(to, from) in history.dependencies() {
            if !history.event(to).is_fence() {
                edges.fix(node(from), node(to), Because::Dependency);
            }
        }
    }
    if rules.read_read == Keeps::SameAddress {
        overlapping_reads(&mut edges, history, mixed);
    }
    let parts = mixed.parts();
    for read in history.event_ids() {
        let mut latest = None;
        for part in mixed.parts_of(read) {
            let Some(Source::Write(write)) = sources[part.index()] else { continue };
            let own = parts.thread_of(write) == parts.thread_of(part);
            let write = mixed.access_of(write);
            if (rules.own_reads_visible || !own) && write != read && latest != Some(write) {
                edges.fix(node(write), node(read), Because::ReadsFrom);
                latest = Some(write);
            }
        }
    }
    edges.seal()
}

/// Reads of a thread that have a cell in common stay in order: each cell gives a chain. Between
/// accesses of the same bytes, and from reads to writes that overlap them, the order is kept anyway.
fn overlapping_reads(edges: &mut FixedEdges, history: &History, mixed: &Mixed) {
    let parts = mixed.parts();
    let mut last: Vec<Option<EventId>> = vec![None; parts.address_count()];
    for thread in history.threads() {
        for access in history.thread_events(thread).filter(|&e| history.kinds_of(e).reads) {
            let mut fixed = None;
            for part in mixed.parts_of(access) {
                let Some(cell) = parts.address_of(part) else { continue };
                let before = last[cell.index()].replace(access);
                if let Some(before) = before.filter(|&before| fixed != Some(before)) {
                    edges.fix(node(before), node(access), Because::ProgramOrder);
                    fixed = Some(before);
                }
            }
        }
        last.fill(None);
    }
}
