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
    let mixed = facts.history.mixed();
    let exists = match cycle.graph {
        Graph::Location => true,
        Graph::Global => rules.global || mixed.is_some(),
        Graph::ThinAir => rules.dependencies,
    };
    if !exists {
        return Err(Fault::NoSuchGraph { model, graph: cycle.graph });
    }
    let rules = if mixed.is_some() { rules.of_mixed_sizes() } else { rules };
    let anywhere = Edges { history: facts.history, facts, rules, graph: cycle.graph, cell: None };
    let missing = |edges: &Edges| cycle.edges.iter().find(|edge| !edges.has(edge)).copied();
    // The location graph of mixed sizes is that of one cell, any of those of the first access.
    let in_one_cell = || {
        let first = cycle.edges.first().map_or_else(Vec::new, |edge| anywhere.cells(edge.from));
        first.into_iter().any(|cell| missing(&Edges { cell: Some(cell), ..anywhere }).is_none())
    };
    let fault = match missing(&anywhere) {
        None if cycle.graph == Graph::Location && mixed.is_some() && !in_one_cell() => {
            cycle.edges.first().copied()
        }
        missing => missing,
    };
    match fault {
        None => Ok(()),
        Some(Edge { from, to, because }) => {
            let name = |node| names::node(facts.history, node);
            Err(Fault::NoEdge { from: name(from), to: name(to), because })
        }
    }
}

#[derive(Clone, Copy)]
struct Edges<'a> {
    history: &'a History,
    facts: &'a Facts<'a>,
    rules: StoreRules,
    graph: Graph,
    /// Of mixed sizes: the only cell that counts, if it is not any.
    cell: Option<AddressId>,
}

impl Edges<'_> {
    /// The addresses of a node that count: one, or the cells of an access of mixed sizes.
    fn cells(&self, node: Node) -> Vec<AddressId> {
        let address = match node {
            Node::Initial(address) => Some(address),
            Node::Event(e) => self.history.address_of(e),
            Node::ReadOf(_) => None,
        };
        let Some(address) = address else { return Vec::new() };
        match self.history.mixed() {
            None => vec![address],
            Some(mixed) => mixed
                .cells_of(self.history, address)
                .filter(|cell| self.cell.is_none_or(|only| only == *cell))
                .collect(),
        }
    }

    /// The readers that an event is, each with its address or cell: one, or a part for each cell.
    fn readers(&self, read: EventId) -> impl Iterator<Item = (Reader, AddressId)> {
        let mixed = self.history.mixed().is_some();
        let all = self.history.address_of(read).into_iter().flat_map(move |address| {
            match self.history.mixed() {
                None => vec![address],
                Some(mixed) => mixed.cells_of(self.history, address).collect(),
            }
        });
        let reader =
            move |number| if mixed { Reader::Part(read, number) } else { Reader::Event(read) };
        let readers = (0..).zip(all).map(move |(number, cell)| (reader(number), cell));
        readers.filter(|&(_, cell)| self.cell.is_none_or(|only| only == cell))
    }

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

    /// Whether two events have an address in common, or a cell.
    fn same_address(&self, a: EventId, b: EventId) -> bool {
        let other = self.cells(Node::Event(b));
        self.cells(Node::Event(a)).iter().any(|cell| other.contains(cell))
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
        self.graph == Graph::Global
            && self.rules.global
            && self.facts.fenced(a, b, kinds(a), kinds(b))
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
            Node::Initial(_) => Source::Initial,
            Node::ReadOf(_) => return false,
        };
        let internal =
            |write: EventId| self.history.thread_of(write) == self.history.thread_of(read);
        let visible = match source {
            Source::Write(write) if self.graph == Graph::Global => {
                self.rules.own_reads_visible || !internal(write)
            }
            _ => true,
        };
        let written = self.cells(from);
        visible
            && self
                .readers(read)
                .any(|(reader, cell)| written.contains(&cell) && self.facts.reads(reader, source))
    }

    /// The write that a node is.
    fn write(&self, node: Node) -> Option<Source> {
        match node {
            Node::Initial(_) => Some(Source::Initial),
            Node::Event(e) if self.history.event(e).is_write() => Some(Source::Write(e)),
            _ => None,
        }
    }

    fn write_order(&self, from: Node, to: Node) -> bool {
        let (Some(a), Some(b)) = (self.write(from), self.write(to)) else { return false };
        let other = self.cells(to);
        let mut common = self.cells(from).into_iter().filter(|cell| other.contains(cell));
        self.graph != Graph::ThinAir && common.any(|cell| self.facts.before(cell, a, b))
    }

    /// fr: the read read what the write overwrites.
    fn overwritten(&self, read: EventId, write: EventId) -> bool {
        let Some(later) = self.write(Node::Event(write)) else { return false };
        let written = self.cells(Node::Event(write));
        let overwrites = |(reader, cell): (Reader, AddressId)| {
            written.contains(&cell)
                && self.facts.sources(reader).any(|source| self.facts.before(cell, source, later))
        };
        self.graph != Graph::ThinAir && read != write && self.readers(read).any(overwrites)
    }
}
