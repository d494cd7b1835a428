//! What each edge of a cycle rests on: the trace itself, or facts that were proved or assumed.
//!
//! The edges of a proof say only "write order" or "from-read". Here they are looked up: an `order`
//! line, a `final` line, program order on one address, or a literal. Where an order of two writes
//! is known only through writes between them, the shortest such path is taken. Looking up an edge
//! is a few table look-ups; the path, needed rarely, is a breadth-first search over the writes of
//! one address and gives up beyond [`MOST_WRITES`].

use std::collections::{BTreeMap, VecDeque};

use evidence::{Because, Edge, Graph, Literal, Node, Reader};
use history::{AddressId, EventId, History, Source};

use super::argument::{Ground, Link, LinkKind, Ordered, Walk};
use super::explained_model::ExplainedModel;
use super::order_rule::{fence_between, keeps};
use super::refute::{readers_of, sources_of};
use crate::names::{address_of, source_node};

/// Addresses with more writes than this are not searched for paths.
const MOST_WRITES: usize = 512;

/// Looks up what the trace declares about write order.
pub(super) struct Grounds<'h> {
    history: &'h History,
    model: ExplainedModel<'h>,
    /// Where each write stands in each `order` line that names it: (line's index, place).
    places: BTreeMap<Node, Vec<(usize, usize)>>,
}

impl<'h> Grounds<'h> {
    pub(super) fn new(history: &'h History, model: ExplainedModel<'h>) -> Self {
        let mut places: BTreeMap<Node, Vec<(usize, usize)>> = BTreeMap::new();
        for (chain, order) in history.orders().iter().enumerate() {
            for (place, &write) in order.writes.iter().enumerate() {
                let node = source_node(write, order.address);
                places.entry(node).or_default().push((chain, place));
            }
        }
        Self { history, model, places }
    }

    /// The edges with their grounds. `holds` says which literals may be used.
    pub(super) fn walk(
        &self,
        graph: Graph,
        edges: &[Edge],
        labels: &[(String, evidence::Rule)],
        holds: &dyn Fn(Literal) -> bool,
    ) -> Walk {
        let link = |edge: &Edge| {
            let kind = self.kind(edge, labels, holds);
            Link { from: edge.from, to: edge.to, kind }
        };
        Walk { graph, links: edges.iter().map(link).collect() }
    }

    /// The walk with program-order links in a row made one, where the model keeps that too.
    pub(super) fn merged(&self, walk: Walk) -> Walk {
        let Walk { graph, links } = walk;
        let mut merged: Vec<Link> = Vec::with_capacity(links.len());
        for link in links {
            match merged.last_mut() {
                Some(last) if self.is_one_step(graph, last, &link) => last.to = link.to,
                _ => merged.push(link),
            }
        }
        Walk { graph, links: merged }
    }

    /// Whether two program-order links in a row say no more than one from end to end.
    fn is_one_step(&self, graph: Graph, first: &Link, second: &Link) -> bool {
        first.kind == LinkKind::ProgramOrder
            && second.kind == LinkKind::ProgramOrder
            && first.to == second.from
            && first.from != second.to
            && keeps(self.history, self.model, graph, first.from, second.to)
    }

    fn kind(
        &self,
        edge: &Edge,
        labels: &[(String, evidence::Rule)],
        holds: &dyn Fn(Literal) -> bool,
    ) -> LinkKind {
        match edge.because {
            Because::ProgramOrder => LinkKind::ProgramOrder,
            Because::Fence => LinkKind::Fence(fence_between(self.history, edge.from, edge.to)),
            Because::Dependency => LinkKind::Dependency,
            Because::Time => LinkKind::Time,
            Because::ReadsFrom => LinkKind::ReadsFrom(self.read(edge.from, edge.to, holds)),
            Because::WriteOrder => LinkKind::WriteOrder(self.order(edge.from, edge.to, holds)),
            Because::FromRead => self.overwritten(edge.from, edge.to, holds),
            Because::Derived(index) => match labels.get(index as usize) {
                Some((label, rule)) => LinkKind::Derived(label.clone(), *rule),
                None => LinkKind::Derived("?".to_owned(), evidence::Rule::StoreOrder),
            },
        }
    }

    /// Why `reader` read from `write`.
    fn read(&self, write: Node, reader: Node, holds: &dyn Fn(Literal) -> bool) -> Ground {
        let Some(read) = crate::names::event_of(reader) else { return Ground::Unknown };
        self.read_of(read, source_of(write), holds)
    }

    fn read_of(&self, read: EventId, source: Source, holds: &dyn Fn(Literal) -> bool) -> Ground {
        let readers = readers_of(self.history, read);
        let grounds = readers.into_iter().map(|reader| {
            let literal = Literal::reads(reader, source);
            match &sources_of(self.history, reader)[..] {
                [only] if *only == source => Ground::Given,
                _ if holds(literal) => Ground::Fact(literal),
                _ => Ground::Unknown,
            }
        });
        grounds
            .max_by_key(|ground| match ground {
                Ground::Given => 2,
                Ground::Unknown => 0,
                _ => 1,
            })
            .unwrap_or(Ground::Unknown)
    }

    /// What `reader` read, so that `write` overwrote it.
    fn overwritten(&self, reader: Node, write: Node, holds: &dyn Fn(Literal) -> bool) -> LinkKind {
        let unknown = LinkKind::FromRead { source: None, read: Ground::Unknown, order: Vec::new() };
        let (Some(read), Some(address)) =
            (crate::names::event_of(reader), address_of(self.history, write))
        else {
            return unknown;
        };
        for &source in self.history.sources(read) {
            let ground = self.read_of(read, source, holds);
            if ground != Ground::Unknown {
                let order = self.order(source_node(source, address), write, holds);
                return LinkKind::FromRead { source: Some(source), read: ground, order };
            }
        }
        unknown
    }

    /// Why `from` comes before `to` in the order of their address.
    fn order(&self, from: Node, to: Node, holds: &dyn Fn(Literal) -> bool) -> Vec<Ordered> {
        if let Some(ground) = self.direct(from, to, holds) {
            return vec![Ordered { from, to, ground }];
        }
        self.path(from, to, holds)
            .unwrap_or_else(|| vec![Ordered { from, to, ground: Ground::Unknown }])
    }

    /// One reason for the order of two writes of one address.
    fn direct(&self, from: Node, to: Node, holds: &dyn Fn(Literal) -> bool) -> Option<Ground> {
        let history = self.history;
        if matches!(from, Node::Initial(_)) {
            return Some(Ground::Initial);
        }
        if let (Node::Event(a), Node::Event(b)) = (from, to)
            && history.program_order(a, b)
        {
            return Some(Ground::SameThread);
        }
        if let Some(line) = self.order_line(from, to) {
            return Some(Ground::OrderLine(line));
        }
        if let Some(ground) = self.final_line(from, to, holds) {
            return Some(ground);
        }
        if let (Node::Event(a), Node::Event(b)) = (from, to)
            && holds(Literal::before(a, b))
        {
            return Some(Ground::Fact(Literal::before(a, b)));
        }
        None
    }

    fn order_line(&self, from: Node, to: Node) -> Option<u32> {
        let (from, to) = (self.places.get(&from)?, self.places.get(&to)?);
        from.iter()
            .find(|(chain, place)| to.iter().any(|(c, p)| c == chain && p > place))
            .map(|&(chain, _)| self.history.orders()[chain].line)
    }

    fn final_line(&self, from: Node, to: Node, holds: &dyn Fn(Literal) -> bool) -> Option<Ground> {
        let address = address_of(self.history, to)?;
        let last = self.history.finals().iter().find(|f| f.address == address)?;
        let source = source_of(to);
        let literal = Literal::reads(Reader::Final(address), source);
        match &last.sources[..] {
            _ if from == to => None,
            [only] if *only == source => Some(Ground::FinalLine(last.line)),
            several if several.contains(&source) && holds(literal) => Some(Ground::Fact(literal)),
            _ => None,
        }
    }

    fn path(&self, from: Node, to: Node, holds: &dyn Fn(Literal) -> bool) -> Option<Vec<Ordered>> {
        let address = address_of(self.history, to)?;
        let writes = self.writes(address)?;
        let mut reached: BTreeMap<Node, Ordered> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &next in &writes {
                if next == from || reached.contains_key(&next) {
                    continue;
                }
                if let Some(ground) = self.direct(node, next, holds) {
                    reached.insert(next, Ordered { from: node, to: next, ground });
                    queue.push_back(next);
                }
            }
            if reached.contains_key(&to) {
                return Some(unwind(reached, from, to));
            }
        }
        None
    }

    fn writes(&self, address: AddressId) -> Option<Vec<Node>> {
        let writes = &self.history.address(address).writes;
        (writes.len() <= MOST_WRITES).then(|| writes.iter().map(|&w| Node::Event(w)).collect())
    }
}

fn source_of(write: Node) -> Source {
    match write {
        Node::Initial(_) => Source::Initial,
        Node::Event(event) | Node::ReadOf(event) => Source::Write(event),
    }
}

fn unwind(mut reached: BTreeMap<Node, Ordered>, from: Node, to: Node) -> Vec<Ordered> {
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        let Some(step) = reached.remove(&at) else { break };
        at = step.from;
        path.push(step);
    }
    path.reverse();
    path
}
