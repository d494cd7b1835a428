//! Cycles of store models: what each edge has to be in each of the three graphs.
//!
//! * location: po-loc ∪ rf ∪ ww ∪ fr;
//! * global: kept program order ∪ fences ∪ times ∪ dependencies ∪ visible rf ∪ ww ∪ fr;
//! * thin air (`rmo`): dependencies ∪ rf.
//!
//! A read-modify-write is one node. From-read leaves it out of its own successors; with that, a
//! write between it and what it read closes a cycle, and atomicity needs no rule of its own.

use evidence::{Because, Cycle, Edge, Graph, Node, Reader};
use history::{AddressId, EventId, History, Source};
use models::{Keeps, Model, StoreRules};

use crate::facts::Facts;
use crate::machine::{roles, table};
use crate::names;
use crate::rejection::Fault;

/// Checks that each edge of a closed walk is one of the graph.
pub(crate) fn cycle(
    facts: &Facts<'_>,
    model: Model,
    rules: StoreRules,
    cycle: &Cycle,
) -> Result<(), Fault> {
    let exists = match cycle.graph {
        Graph::Location => true,
        Graph::Global => rules.global,
        Graph::ThinAir => rules.dependencies,
    };
    if !exists {
        return Err(Fault::NoSuchGraph { model, graph: cycle.graph });
    }
    let edges = Edges { history: facts.history, facts, rules, graph: cycle.graph };
    match cycle.edges.iter().find(|edge| !edges.has(edge)) {
        None => Ok(()),
        Some(&Edge { from, to, because }) => {
            let name = |node| names::node(facts.history, node);
            Err(Fault::NoEdge { from: name(from), to: name(to), because })
        }
    }
}

struct Edges<'a> {
    history: &'a History,
    facts: &'a Facts<'a>,
    rules: StoreRules,
    graph: Graph,
}

impl Edges<'_> {
    fn has(&self, edge: &Edge) -> bool {
        let events = match (edge.from, edge.to) {
            (Node::Event(a), Node::Event(b)) => Some((a, b)),
            _ => None,
        };
        match edge.because {
            Because::ProgramOrder => events.is_some_and(|(a, b)| self.program_order(a, b)),
            Because::Fence => events.is_some_and(|(a, b)| self.fence(a, b)),
            Because::Time => events.is_some_and(|(a, b)| self.time(a, b)),
            Because::Dependency => events.is_some_and(|(a, b)| self.dependency(a, b)),
            Because::ReadsFrom => self.reads_from(edge.from, edge.to),
            Because::WriteOrder => self.write_order(edge.from, edge.to),
            Because::FromRead => events.is_some_and(|(a, b)| self.overwritten(a, b)),
            Because::Derived(_) => false,
        }
    }

    fn same_address(&self, a: EventId, b: EventId) -> bool {
        let address = self.history.event(a).address();
        address.is_some() && address == self.history.event(b).address()
    }

    fn program_order(&self, a: EventId, b: EventId) -> bool {
        let kept = match self.graph {
            Graph::Location => self.location_order(a, b),
            Graph::Global => self.global_order(a, b),
            Graph::ThinAir => false,
        };
        kept && self.history.program_order(a, b)
    }

    fn location_order(&self, a: EventId, b: EventId) -> bool {
        let writes = |e: EventId| self.history.event(e).is_write();
        let swaps = self.rules.same_address_reads_swap && !writes(a) && !writes(b);
        self.same_address(a, b) && !swaps
    }

    fn global_order(&self, a: EventId, b: EventId) -> bool {
        let kinds = |e| self.history.kinds_of(e);
        roles(kinds(a)).any(|earlier| {
            roles(kinds(b)).any(|later| match table(&self.rules, earlier, later) {
                Keeps::Always => true,
                Keeps::SameAddress => self.same_address(a, b),
                Keeps::Never => false,
            })
        })
    }

    fn fence(&self, a: EventId, b: EventId) -> bool {
        let kinds = |e| self.history.event(e).kinds();
        self.graph == Graph::Global && self.facts.fenced(a, b, kinds(a), kinds(b))
    }

    fn time(&self, a: EventId, b: EventId) -> bool {
        let ended = self.history.times(a).end;
        let began = self.history.times(b).begin;
        self.graph == Graph::Global
            && self.rules.times
            && self.history.program_order(a, b)
            && self.history.event(a).is_read()
            && !self.history.event(b).is_fence()
            && ended.zip(began).is_some_and(|(ended, began)| ended < began)
    }

    fn dependency(&self, a: EventId, b: EventId) -> bool {
        self.graph != Graph::Location
            && self.rules.dependencies
            && !self.history.event(b).is_fence()
            && self.history.dependencies().binary_search(&(b, a)).is_ok()
    }

    fn reads_from(&self, from: Node, to: Node) -> bool {
        let Node::Event(read) = to else { return false };
        let source = match from {
            Node::Event(write) => Source::Write(write),
            Node::Initial(a) if self.history.event(read).address() == Some(a) => Source::Initial,
            _ => return false,
        };
        let internal =
            |write: EventId| self.history.event(write).thread == self.history.event(read).thread;
        let visible = match source {
            Source::Write(write) if self.graph == Graph::Global => {
                self.rules.own_reads_visible || !internal(write)
            }
            _ => true,
        };
        visible && self.facts.reads(Reader::Event(read), source)
    }

    /// The write that a node is, and its address.
    fn write(&self, node: Node) -> Option<(AddressId, Source)> {
        match node {
            Node::Initial(address) => Some((address, Source::Initial)),
            Node::Event(e) if self.history.event(e).is_write() => {
                self.history.event(e).address().map(|address| (address, Source::Write(e)))
            }
            _ => None,
        }
    }

    fn write_order(&self, from: Node, to: Node) -> bool {
        let (Some((address, a)), Some((other, b))) = (self.write(from), self.write(to)) else {
            return false;
        };
        self.graph != Graph::ThinAir && address == other && self.facts.before(address, a, b)
    }

    /// fr: the read read what the write overwrites.
    fn overwritten(&self, read: EventId, write: EventId) -> bool {
        let Some((address, later)) = self.write(Node::Event(write)) else { return false };
        self.graph != Graph::ThinAir
            && read != write
            && self.same_address(read, write)
            && self
                .facts
                .sources(Reader::Event(read))
                .any(|source| self.facts.before(address, source, later))
    }
}
