//! Finds a proof for any violation of a store model, by trying everything: decide what an
//! ambiguous reader read and which of two writes came first, until a cycle closes; the cycle is a
//! lemma, and a decision with no way out is undone by a clause that propagation finds.

use std::collections::BTreeSet;

use evidence::{Because, Cycle, Graph, Literal, Node, Proof, Reader, Step, Why};
use history::{EventId, History, Source};
use models::{Keeps, StoreRules};

use super::search::{Supported, cycle, edges, rests_on};

/// A proof that the history violates the model; `None` if it does not.
pub(crate) fn prove(history: &History, rules: StoreRules) -> Option<Proof> {
    let mut decisions: Vec<Vec<Literal>> = Vec::new();
    for (reader, sources) in readers(history) {
        if sources.len() != 1 {
            decisions.push(sources.iter().map(|&s| Literal::reads(reader, s)).collect());
        }
    }
    for address in history.address_ids() {
        let writes = &history.address(address).writes;
        for (i, &a) in writes.iter().enumerate() {
            for &b in &writes[i + 1..] {
                decisions.push(vec![Literal::before(a, b), Literal::before(b, a)]);
            }
        }
    }
    let mut prover = Prover { history, rules, decisions, decided: Vec::new(), steps: Vec::new() };
    prover.refute(0).then_some(Proof { steps: prover.steps })
}

/// The edges of a graph of the model when these literals are true.
pub(crate) fn edges_when(
    history: &History,
    rules: StoreRules,
    decided: &[Literal],
    graph: Graph,
) -> BTreeSet<(Node, Node, Because)> {
    let (decisions, steps) = (Vec::new(), Vec::new());
    let prover = Prover { history, rules, decisions, decided: decided.to_vec(), steps };
    let edges = prover.graph(graph).into_iter().map(|supported| supported.edge);
    edges.map(|edge| (edge.from, edge.to, edge.because)).collect()
}

/// Every reader with its candidates.
pub(crate) fn readers(history: &History) -> Vec<(Reader, &[Source])> {
    let events = history.event_ids().filter(|&e| history.event(e).is_read());
    let events = events.map(|e| (Reader::Event(e), history.sources(e)));
    let finals = history.finals().iter().map(|f| (Reader::Final(f.address), &f.sources[..]));
    events.chain(finals).collect()
}

struct Prover<'a> {
    history: &'a History,
    rules: StoreRules,
    decisions: Vec<Vec<Literal>>,
    decided: Vec<Literal>,
    steps: Vec<Step>,
}

impl Prover<'_> {
    /// Whether the decisions so far lead nowhere; if so, the last step says it.
    fn refute(&mut self, depth: usize) -> bool {
        for graph in [Graph::Location, Graph::Global, Graph::ThinAir] {
            if let Some(found) = cycle(&self.graph(graph)) {
                let clause = rests_on(&found).into_iter().map(Literal::negated).collect();
                let why = Why::Cycle(Cycle { graph, edges: edges(&found) });
                self.steps.push(Step { clause, why });
                return true;
            }
        }
        let Some(options) = self.decisions.get(depth).cloned() else { return false };
        for option in options {
            self.decided.push(option);
            let refuted = self.refute(depth + 1);
            self.decided.pop();
            if !refuted {
                return false;
            }
        }
        let clause = self.decided.iter().map(|literal| literal.negated()).collect();
        self.steps.push(Step { clause, why: Why::Propagation });
        true
    }

    fn graph(&self, graph: Graph) -> Vec<Supported> {
        let mut edges = Vec::new();
        match graph {
            Graph::Global if !self.rules.global => return edges,
            Graph::ThinAir if !self.rules.dependencies => return edges,
            _ => {}
        }
        let events: Vec<EventId> =
            self.history.event_ids().filter(|&e| !self.history.event(e).is_fence()).collect();
        for &a in &events {
            for &b in &events {
                for because in self.program(graph, a, b) {
                    edges.push(Supported::new(Node::Event(a), Node::Event(b), because, vec![]));
                }
            }
        }
        self.communication(graph, &mut edges);
        edges
    }

    /// Why program order and the like put a before b.
    fn program(&self, graph: Graph, a: EventId, b: EventId) -> Vec<Because> {
        let history = self.history;
        if !history.program_order(a, b) {
            return vec![];
        }
        let (first, second) = (history.event(a), history.event(b));
        let (reads, writes) = (first.is_read(), first.is_write());
        let same = first.address() == second.address();
        let kept = |keeps: Keeps| keeps == Keeps::Always || (keeps == Keeps::SameAddress && same);
        let program = match graph {
            Graph::Location => {
                same && (!self.rules.same_address_reads_swap || writes || second.is_write())
            }
            Graph::Global => {
                (reads && second.is_read() && kept(self.rules.read_read))
                    || (reads && second.is_write() && kept(self.rules.read_write))
                    || (writes && second.is_read() && kept(self.rules.write_read))
                    || (writes && second.is_write() && kept(self.rules.write_write))
            }
            Graph::ThinAir => false,
        };
        let fence = history.events_in(a.index()..b.index()).any(|e| match e.operation {
            history::Operation::Fence { before, after } => {
                first.kinds().meets(before) && second.kinds().meets(after)
            }
            _ => false,
        });
        let times = history.times(a).end.zip(history.times(b).begin);
        let ended = reads && times.is_some_and(|(end, begin)| end < begin);
        let depends = history.dependencies_of(b).any(|read| read == a);
        let global = graph == Graph::Global;
        [
            (program, Because::ProgramOrder),
            (global && fence, Because::Fence),
            (global && self.rules.times && ended, Because::Time),
            (graph != Graph::Location && self.rules.dependencies && depends, Because::Dependency),
        ]
        .into_iter()
        .filter_map(|(holds, because)| holds.then_some(because))
        .collect()
    }

    fn communication(&self, graph: Graph, edges: &mut Vec<Supported>) {
        let history = self.history;
        for address in history.address_ids() {
            let node = |source: Source| match source {
                Source::Initial => Node::Initial(address),
                Source::Write(write) => Node::Event(write),
            };
            let mut order = Vec::new();
            let writes = history.address(address).writes.iter().map(|&w| Source::Write(w));
            let sources: Vec<Source> = [Source::Initial].into_iter().chain(writes).collect();
            for &a in &sources {
                for &b in sources.iter().filter(|&&b| b != a) {
                    if let Some(rests_on) = self.ordered(address, a, b) {
                        order.push((a, b, rests_on));
                    }
                }
            }
            if graph != Graph::ThinAir {
                for (a, b, rests_on) in &order {
                    let because = Because::WriteOrder;
                    edges.push(Supported::new(node(*a), node(*b), because, rests_on.clone()));
                }
            }
            for (reader, source, reads) in self.reads() {
                let Reader::Event(read) = reader else { continue };
                if history.event(read).address() != Some(address) {
                    continue;
                }
                let own = matches!(source, Source::Write(w)
                    if history.event(w).thread == history.event(read).thread);
                if graph != Graph::Global || self.rules.own_reads_visible || !own {
                    let because = Because::ReadsFrom;
                    let to = Node::Event(read);
                    edges.push(Supported::new(node(source), to, because, reads.clone()));
                }
                for (_, later, rests_on) in order.iter().filter(|(a, _, _)| *a == source) {
                    if graph != Graph::ThinAir && *later != Source::Write(read) {
                        let rests_on = [&reads[..], rests_on].concat();
                        let (from, because) = (Node::Event(read), Because::FromRead);
                        edges.push(Supported::new(from, node(*later), because, rests_on));
                    }
                }
            }
        }
    }

    /// Who is known to have read what, and by which decision.
    fn reads(&self) -> Vec<(Reader, Source, Vec<Literal>)> {
        let mut known = Vec::new();
        for (reader, sources) in readers(self.history) {
            for &source in sources {
                let literal = Literal::reads(reader, source);
                if sources.len() == 1 {
                    known.push((reader, source, vec![]));
                } else if self.decided.contains(&literal) {
                    known.push((reader, source, vec![literal]));
                }
            }
        }
        known
    }

    /// Whether a is known to come before b, and by which decision.
    fn ordered(&self, address: history::AddressId, a: Source, b: Source) -> Option<Vec<Literal>> {
        let by_line = self.history.orders().iter().filter(|o| o.address == address).any(|line| {
            let place = |s: Source| line.writes.iter().position(|&w| w == s);
            place(a).zip(place(b)).is_some_and(|(a, b)| a < b)
        });
        if a == Source::Initial || by_line {
            return Some(vec![]);
        }
        let last = self
            .reads()
            .into_iter()
            .find(|&(reader, source, _)| reader == Reader::Final(address) && source == b);
        if let Some((_, _, rests_on)) = last {
            return Some(rests_on);
        }
        match (a, b) {
            (Source::Write(a), Source::Write(b)) => {
                let literal = Literal::before(a, b);
                self.decided.contains(&literal).then_some(vec![literal])
            }
            _ => None,
        }
    }
}
