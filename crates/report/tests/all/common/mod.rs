//! Proofs in a few words, and comparison with expected files.

pub(crate) mod sketches;

use std::path::PathBuf;

use evidence::{
    Because, Cycle, Derived, Edge, Graph, Literal, Node, Proof, Reader, Rule, Step, Why,
};
use history::{AddressLabel, EventId, History, ReadOptions, Source, ThinAir, TraceReader};

/// A history and a proof about it, written by hand.
///
/// Events are `thread.index`, initial writes `init.x`, the read half of an atomic `r:thread.index`.
/// A walk is `0.0 po 0.1 fr 1.0 …`; `d0` is the first derived edge. A clause is literals such as
/// `0.0<1.0`, `1.1=0.0` (read from) or `1.1!=init` (did not), separated by spaces.
pub(crate) struct Sketch {
    pub(crate) history: History,
    pub(crate) proof: Proof,
    derived: Vec<Derived>,
}

impl Sketch {
    pub(crate) fn new(trace: &str) -> Self {
        let options = ReadOptions { thin_air: ThinAir::Violation, ..Default::default() };
        let mut reader = TraceReader::new(trace.as_bytes(), "trace", options);
        let history = reader.next_trace().expect("the trace is well-formed").expect("a trace");
        Self { history, proof: Proof::default(), derived: Vec::new() }
    }

    /// Adds a clause that a cycle shows.
    pub(crate) fn lemma(mut self, clause: &str, graph: Graph, walk: &str) -> Self {
        let cycle = Cycle { graph, edges: self.walk(walk) };
        let derived = std::mem::take(&mut self.derived);
        let why = match derived.is_empty() {
            true => Why::Cycle(cycle),
            false => Why::Derivation { derived, cycle },
        };
        let clause = self.clause(clause);
        self.proof.steps.push(Step { clause, why });
        self
    }

    /// Adds a derived edge to the next lemma.
    pub(crate) fn derive(mut self, edge: (&str, Rule, &str), via: &str, path: &str) -> Self {
        let (from, rule, to) = edge;
        let node = |name: &str| (!name.is_empty()).then(|| self.node(name));
        let derived = Derived {
            from: self.node(from),
            to: self.node(to),
            rule,
            graph: Graph::Global,
            scope: None,
            via: node(via),
            path: self.walk(path),
        };
        self.derived.push(derived);
        self
    }

    /// Says in whose eyes the last derived edge holds.
    pub(crate) fn in_the_eyes_of(mut self, scope: &str) -> Self {
        let scope = self.node(scope);
        self.derived.last_mut().expect("a derived edge").scope = Some(scope);
        self
    }

    /// Adds a clause that follows by unit propagation.
    pub(crate) fn propagation(mut self, clause: &str) -> Self {
        let clause = self.clause(clause);
        self.proof.steps.push(Step { clause, why: Why::Propagation });
        self
    }

    fn event(&self, name: &str) -> EventId {
        let (thread, index) = name.split_once('.').expect("an event is thread.index");
        let thread =
            self.history.thread_by_label(thread.parse().expect("a number")).expect("the thread");
        self.history.event_at(thread, index.parse().expect("a number")).expect("the event")
    }

    fn node(&self, name: &str) -> Node {
        if let Some(address) = name.strip_prefix("init.") {
            let label = AddressLabel::Name(address.into());
            return Node::Initial(self.history.address_by_label(&label).expect("the address"));
        }
        match name.strip_prefix("r:") {
            Some(name) => Node::ReadOf(self.event(name)),
            None => Node::Event(self.event(name)),
        }
    }

    fn walk(&self, walk: &str) -> Vec<Edge> {
        let words: Vec<&str> = walk.split_whitespace().collect();
        let edge = |at: usize| {
            let because = match words[at + 1] {
                "po" => Because::ProgramOrder,
                "fence" => Because::Fence,
                "dep" => Because::Dependency,
                "time" => Because::Time,
                "rf" => Because::ReadsFrom,
                "ww" => Because::WriteOrder,
                "fr" => Because::FromRead,
                derived => Because::Derived(derived[1..].parse().expect("a number")),
            };
            Edge { from: self.node(words[at]), to: self.node(words[at + 2]), because }
        };
        (0..words.len().saturating_sub(2)).step_by(2).map(edge).collect()
    }

    fn clause(&self, clause: &str) -> Vec<Literal> {
        clause.split_whitespace().map(|literal| self.literal(literal)).collect()
    }

    fn literal(&self, literal: &str) -> Literal {
        if let Some((a, b)) = literal.split_once('<') {
            return Literal::before(self.event(a), self.event(b));
        }
        let (reader, source) = literal.split_once('=').expect("a < or =");
        let source = match source {
            "init" => Source::Initial,
            write => Source::Write(self.event(write)),
        };
        let reads = |reader: &str| Literal::reads(Reader::Event(self.event(reader)), source);
        match reader.strip_suffix('!') {
            Some(reader) => reads(reader).negated(),
            None => reads(reader),
        }
    }
}

/// Compares with a file of `tests/expected`.
#[track_caller]
pub(crate) fn expect(name: &str, actual: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "expected", name].iter().collect();
    snapshot::expect(&path, actual);
}
