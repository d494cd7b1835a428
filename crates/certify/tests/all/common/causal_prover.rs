//! Finds a proof for any violation of a causal model: for every choice of what was read, apply the
//! rules of the model until a cycle closes.

use std::collections::BTreeSet;

use evidence::{
    Because, Cycle, Derived, Edge, Graph, Literal, Node, Proof, Reader, Rule, Step, Why,
};
use history::{AddressId, EventId, History, Operation, Source};
use models::Model;

use super::search::{Supported, cycle, edges, path};
use super::store_prover::readers;

/// A proof that the history violates the model; `None` if it does not.
pub(crate) fn prove(history: &History, model: Model) -> Option<Proof> {
    let ambiguous =
        readers(history).into_iter().filter(|(_, sources)| sources.len() != 1).collect::<Vec<_>>();
    let mut steps = Vec::new();
    refute(history, model, &ambiguous, &mut Vec::new(), &mut steps).then_some(Proof { steps })
}

fn refute(
    history: &History,
    model: Model,
    ambiguous: &[(Reader, &[Source])],
    chosen: &mut Vec<Literal>,
    steps: &mut Vec<Step>,
) -> bool {
    let clause = |chosen: &[Literal]| chosen.iter().map(|literal| literal.negated()).collect();
    let Some(((reader, sources), rest)) = ambiguous.split_first() else {
        let Some(why) = Derivation::new(history, model, chosen).run() else { return false };
        steps.push(Step { clause: clause(chosen), why });
        return true;
    };
    for &source in *sources {
        chosen.push(Literal::reads(*reader, source));
        let refuted = refute(history, model, rest, chosen, steps);
        chosen.pop();
        if !refuted {
            return false;
        }
    }
    steps.push(Step { clause: clause(chosen), why: Why::Propagation });
    true
}

/// The edges of the model's whole relation before anything is derived, when these literals are
/// true.
pub(crate) fn edges_when(
    history: &History,
    model: Model,
    chosen: &[Literal],
    graph: Graph,
) -> BTreeSet<(Node, Node, Because)> {
    let derivation = Derivation::new(history, model, chosen);
    let mut edges = derivation.causality(graph);
    if matches!(model, Model::Ccv | Model::Ccm | Model::Wccm) {
        edges.extend(derivation.line_edges());
    }
    edges.into_iter().map(|s| (s.edge.from, s.edge.to, s.edge.because)).collect()
}

struct Derivation<'a> {
    history: &'a History,
    model: Model,
    nodes: Vec<Node>,
    /// Each read with what it read.
    reads: Vec<(Node, Node)>,
    /// What `order` and `final` lines say.
    lines: Vec<(Node, Node)>,
    derived: Vec<Derived>,
}

fn event(node: Node) -> Option<EventId> {
    match node {
        Node::Event(e) | Node::ReadOf(e) => Some(e),
        Node::Initial(_) => None,
    }
}

impl<'a> Derivation<'a> {
    fn new(history: &'a History, model: Model, chosen: &[Literal]) -> Self {
        let mut nodes: Vec<Node> = history.address_ids().map(Node::Initial).collect();
        for e in history.event_ids().filter(|&e| !history.event(e).is_fence()) {
            if history.event(e).is_atomic() {
                nodes.push(Node::ReadOf(e));
            }
            nodes.push(Node::Event(e));
        }
        let source = |reader: Reader, sources: &[Source]| {
            let chosen = |&&s: &&Source| chosen.contains(&Literal::reads(reader, s));
            if sources.len() == 1 { sources.first() } else { sources.iter().find(chosen) }.copied()
        };
        let write = |address: AddressId, source: Source| match source {
            Source::Initial => Node::Initial(address),
            Source::Write(e) => Node::Event(e),
        };
        let mut this =
            Self { history, model, nodes, reads: vec![], lines: vec![], derived: vec![] };
        for (reader, sources) in readers(history) {
            let Some(source) = source(reader, sources) else { continue };
            match reader {
                Reader::Event(e) | Reader::Part(e, _) => {
                    let event = history.event(e);
                    let read = if event.is_atomic() { Node::ReadOf(e) } else { Node::Event(e) };
                    let address = event.address().expect("readers have addresses");
                    this.reads.push((read, write(address, source)));
                }
                Reader::Final(address) | Reader::FinalPart(address, _) => {
                    let last = write(address, source);
                    let writes = this.writes(address).into_iter().filter(|&w| w != last);
                    this.lines.extend(writes.map(|w| (w, last)).collect::<Vec<_>>());
                }
            }
        }
        for line in history.orders() {
            for (i, &earlier) in line.writes.iter().enumerate() {
                let earlier = write(line.address, earlier);
                let later = line.writes[i + 1..].iter().map(|&w| write(line.address, w));
                this.lines.extend(later.map(|later| (earlier, later)));
            }
        }
        this
    }

    fn address(&self, node: Node) -> Option<AddressId> {
        match node {
            Node::Initial(address) => Some(address),
            Node::Event(e) | Node::ReadOf(e) => self.history.event(e).address(),
        }
    }

    fn is_write(&self, node: Node) -> bool {
        match node {
            Node::Initial(_) => true,
            Node::Event(e) => self.history.event(e).is_write(),
            Node::ReadOf(_) => false,
        }
    }

    fn writes(&self, address: AddressId) -> Vec<Node> {
        let here = |n: &Node| self.is_write(*n) && self.address(*n) == Some(address);
        self.nodes.iter().copied().filter(here).collect()
    }

    fn relaxed(&self) -> bool {
        self.model == Model::Wccm
    }

    fn graphs(&self) -> Vec<Graph> {
        if self.relaxed() { vec![Graph::Global, Graph::Location] } else { vec![Graph::Global] }
    }

    fn program_order(&self, a: Node, b: Node) -> bool {
        match (event(a), event(b)) {
            (None, b) => b.is_some(),
            (Some(_), None) => false,
            (Some(e), Some(f)) if e == f => matches!((a, b), (Node::ReadOf(_), Node::Event(_))),
            (Some(e), Some(f)) => self.history.program_order(e, f),
        }
    }

    fn fenced(&self, a: Node, b: Node) -> bool {
        let (Some(e), Some(f)) = (event(a), event(b)) else { return false };
        self.program_order(a, b)
            && self.history.events_in(e.index()..f.index()).any(|between| {
                matches!(between.operation, Operation::Fence { before, after }
                    if before.writes && after.reads)
            })
    }

    /// co: po as far as the graph keeps it, and rf.
    fn causality(&self, graph: Graph) -> Vec<Supported> {
        let mut all = Vec::new();
        for &a in &self.nodes {
            for &b in &self.nodes {
                let write_read = self.is_write(a) && !self.is_write(b);
                let kept = match graph {
                    _ if !self.relaxed() => true,
                    Graph::Location => self.address(a) == self.address(b),
                    _ => !write_read,
                };
                if kept && self.program_order(a, b) {
                    all.push(Supported::new(a, b, Because::ProgramOrder, vec![]));
                } else if self.relaxed()
                    && graph == Graph::Global
                    && write_read
                    && self.fenced(a, b)
                {
                    all.push(Supported::new(a, b, Because::Fence, vec![]));
                }
            }
        }
        for &(read, write) in &self.reads {
            if !self.relaxed() || !self.program_order(write, read) {
                all.push(Supported::new(write, read, Because::ReadsFrom, vec![]));
            }
        }
        all
    }

    fn derived_edges(&self, among: impl Fn(&Derived) -> bool) -> Vec<Supported> {
        let all = self.derived.iter().enumerate().filter(|(_, d)| among(d));
        all.map(|(i, d)| Supported::new(d.from, d.to, Because::Derived(i as u32), vec![])).collect()
    }

    fn line_edges(&self) -> Vec<Supported> {
        let edge = |&(a, b): &(Node, Node)| Supported::new(a, b, Because::WriteOrder, vec![]);
        self.lines.iter().map(edge).collect()
    }

    fn add(&mut self, derived: Derived) -> bool {
        let known = self.derived.iter().any(|d| {
            (d.from, d.to, d.rule, d.graph, d.scope)
                == (derived.from, derived.to, derived.rule, derived.graph, derived.scope)
        });
        if !known {
            self.derived.push(derived);
        }
        !known
    }

    fn run(mut self) -> Option<Why> {
        match self.model {
            Model::Cc => self.overwritten_in_causality(),
            Model::Cm => self.observe(),
            Model::Ccv => self.conflicts(),
            _ => {
                self.observe();
                self.conflicts();
                self.store_order();
                self.overwritten_in_store_order();
            }
        }
        loop {
            if let Some(cycle) = self.cycle() {
                return Some(Why::Derivation { derived: self.derived, cycle });
            }
            if !matches!(self.model, Model::Ccv | Model::Ccm | Model::Wccm) || !self.atomic() {
                return None;
            }
        }
    }

    /// The last operation whose happens-before a read is part of.
    fn scope(&self, graph: Graph, read: Node) -> Node {
        let thread = |n: Node| event(n).map(|e| self.history.event(e).thread);
        let sees = |&&n: &&Node| {
            thread(n) == thread(read)
                && (graph == Graph::Global || self.address(n) == self.address(read))
        };
        *self.nodes.iter().rfind(sees).expect("the read itself")
    }

    fn observe(&mut self) {
        while self.observe_once() {}
    }

    fn observe_once(&mut self) -> bool {
        let mut changed = false;
        for graph in self.graphs() {
            for (read, source) in self.reads.clone() {
                let scope = self.scope(graph, read);
                for write in self.other_writes(source) {
                    let mut hb = self.causality(graph);
                    hb.extend(self.derived_edges(|d| {
                        d.rule == Rule::Observed && d.graph == graph && d.scope == Some(scope)
                    }));
                    if let Some(path) = path(&hb, write, read) {
                        changed |= self.add(Derived {
                            from: write,
                            to: source,
                            rule: Rule::Observed,
                            graph,
                            scope: Some(scope),
                            via: Some(read),
                            path: edges(&path),
                        });
                    }
                }
            }
        }
        changed
    }

    fn other_writes(&self, write: Node) -> Vec<Node> {
        let address = self.address(write).expect("a write has an address");
        self.writes(address).into_iter().filter(|&w| w != write).collect()
    }

    fn happens_before(&self, graphs: &[Graph]) -> Vec<Supported> {
        let mut hb: Vec<Supported> = graphs.iter().flat_map(|&g| self.causality(g)).collect();
        hb.extend(self.derived_edges(|d| d.rule == Rule::Observed && graphs.contains(&d.graph)));
        hb
    }

    fn conflicts(&mut self) {
        for graph in self.graphs() {
            let hb = if self.model == Model::Ccv {
                self.causality(graph)
            } else {
                self.happens_before(&[graph])
            };
            for (read, source) in self.reads.clone() {
                if self.relaxed() && self.program_order(source, read) {
                    continue;
                }
                for write in self.other_writes(source) {
                    if let Some(path) = path(&hb, write, read) {
                        self.add(Derived {
                            from: write,
                            to: source,
                            rule: Rule::Conflict,
                            graph,
                            scope: None,
                            via: Some(read),
                            path: edges(&path),
                        });
                    }
                }
            }
        }
    }

    fn store_order(&mut self) {
        let hb = self.happens_before(&self.graphs());
        for a in self.nodes.clone().into_iter().filter(|&n| self.is_write(n)).collect::<Vec<_>>() {
            for b in self.other_writes(a).into_iter().chain([a]) {
                if let Some(path) = path(&hb, a, b) {
                    self.add(Derived {
                        from: a,
                        to: b,
                        rule: Rule::StoreOrder,
                        graph: Graph::Global,
                        scope: None,
                        via: None,
                        path: edges(&path),
                    });
                }
            }
        }
    }

    fn overwritten_in_causality(&mut self) {
        let co = self.causality(Graph::Global);
        self.overwritten(&co);
    }

    fn overwritten_in_store_order(&mut self) {
        let mut pww = self.derived_edges(|d| matches!(d.rule, Rule::StoreOrder | Rule::Conflict));
        pww.extend(self.line_edges());
        self.overwritten(&pww);
    }

    fn overwritten(&mut self, order: &[Supported]) {
        for (read, source) in self.reads.clone() {
            for write in self.other_writes(source) {
                let premise = match source {
                    Node::Initial(_) => Some(vec![]),
                    _ => path(order, source, write).map(|path| edges(&path)),
                };
                if let Some(path) = premise {
                    self.add(Derived {
                        from: read,
                        to: write,
                        rule: Rule::Overwritten,
                        graph: Graph::Global,
                        scope: None,
                        via: Some(read),
                        path,
                    });
                }
            }
        }
    }

    fn whole(&self, graph: Graph) -> Vec<Supported> {
        let mut all = self.causality(graph);
        all.extend(self.derived_edges(|d| d.rule != Rule::Observed));
        all.extend(self.line_edges());
        all
    }

    fn atomic(&mut self) -> bool {
        let mut changed = false;
        for graph in self.graphs() {
            for (read, source) in self.reads.clone() {
                let Node::ReadOf(e) = read else { continue };
                let atomic = Node::Event(e);
                for other in self.other_writes(source).into_iter().filter(|&w| w != atomic) {
                    let whole = self.whole(graph);
                    let mut derive = |from, to, path: Vec<Edge>| {
                        changed |= self.add(Derived {
                            from,
                            to,
                            rule: Rule::Atomic,
                            graph,
                            scope: None,
                            via: Some(atomic),
                            path,
                        });
                    };
                    match (path(&whole, source, other), source) {
                        (_, Node::Initial(_)) => derive(atomic, other, vec![]),
                        (Some(path), _) => derive(atomic, other, edges(&path)),
                        (None, _) => {}
                    }
                    if let Some(path) = path(&whole, other, atomic) {
                        derive(other, source, edges(&path));
                    }
                }
            }
        }
        changed
    }

    fn cycle(&self) -> Option<Cycle> {
        let closed = |graph, all: &[Supported]| {
            cycle(all).map(|cycle| Cycle { graph, edges: edges(&cycle) })
        };
        let causality = self.causality(Graph::Global);
        match self.model {
            Model::Cc => closed(Graph::Global, &causality).or_else(|| {
                let overwritten = self.derived_edges(|_| true);
                overwritten.into_iter().find_map(|edge| {
                    let all = [&causality[..], std::slice::from_ref(&edge)].concat();
                    closed(Graph::Global, &all)
                })
            }),
            Model::Cm => closed(Graph::Global, &causality).or_else(|| {
                self.derived.iter().find_map(|one| {
                    let mut all = causality.clone();
                    all.extend(self.derived_edges(|d| d.scope == one.scope));
                    closed(Graph::Global, &all)
                })
            }),
            _ => self.graphs().into_iter().find_map(|graph| closed(graph, &self.whole(graph))),
        }
    }
}
