//! Lemmas of causal models: edges derived one after the other, and a cycle that they close.
//!
//! Each derived edge names its rule and, as its premise, a path. Which edges a path may have
//! depends on the relation it lives in:
//!
//! | relation | edges |
//! |---|---|
//! | co | po, rf |
//! | hb of an operation o | po, rf, *observed* by operations before o or o itself |
//! | hb | po, rf, *observed* |
//! | pww | *store-order*, *conflict*, *observed*, `order` and `final` lines |
//! | the whole | cc: po, rf, one *overwritten*; cm: po, rf, *observed* by one thread; ccv: po, rf, *conflict*, *atomic*, lines; ccm, wccm: po, rf, pww, *overwritten*, *atomic* |
//!
//! A violation of cc is one of ccv and cm, too. For `wccm` po is one of ppo with fences and
//! po-loc, as the graph of the rule or of the cycle says, or any of both in hb of both graphs
//! together; and rf is between threads, or from the thread's own future, which violates every
//! model. That all causes of o are in the scope of hb_o is not checked, because it follows: each
//! path ends in a read that o has seen, and what comes before that by co, o has seen as well.

use evidence::{Because, Cycle, Derived, Edge, Graph, Node, Reader, Rule};
use history::{AddressId, EventId, History, Kinds, Source};
use models::{CausalRules, Model};

use super::orders_writes;
use crate::facts::Facts;
use crate::names;
use crate::proof::is_walk;
use crate::rejection::Fault;

/// Checks that each derived edge follows from those before it, and that each edge of the cycle, a
/// closed walk, is one of the model's relation.
pub(crate) fn check(
    facts: &Facts<'_>,
    model: Model,
    rules: CausalRules,
    derived: &[Derived],
    cycle: &Cycle,
) -> Result<(), Fault> {
    let lemma = Lemma { history: facts.history, facts, model, rules, derived };
    for index in 0..derived.len() {
        lemma.derived(index)?;
    }
    lemma.cycle(cycle)
}

/// Where a path lives.
#[derive(Clone, Copy)]
enum Relation {
    Causality,
    /// Of one operation, or of all.
    HappensBefore(Option<Node>),
    StoreOrder,
    Whole,
    /// The whole relation of cc, for models that are stronger.
    WholeOfCc,
}

/// The relation and, for `wccm`, the graph of a path, both if `None`; and how many derived edges
/// it may use.
#[derive(Clone, Copy)]
struct Scope {
    relation: Relation,
    graph: Option<Graph>,
    known: usize,
}

struct Lemma<'a> {
    history: &'a History,
    facts: &'a Facts<'a>,
    model: Model,
    rules: CausalRules,
    derived: &'a [Derived],
}

/// Operations: what nodes are.
impl Lemma<'_> {
    fn event(&self, node: Node) -> Option<EventId> {
        match node {
            Node::Event(e) | Node::ReadOf(e) => Some(e),
            Node::Initial(_) => None,
        }
    }

    fn kinds(&self, node: Node) -> Kinds {
        match node {
            Node::Initial(_) => Kinds::WRITES,
            Node::Event(e) if self.history.event(e).is_write() => Kinds::WRITES,
            Node::Event(e) => self.history.event(e).kinds(),
            Node::ReadOf(e) if self.history.event(e).is_atomic() => Kinds::READS,
            Node::ReadOf(_) => Kinds::NONE,
        }
    }

    fn address(&self, node: Node) -> Option<AddressId> {
        match node {
            Node::Initial(address) => Some(address),
            Node::Event(e) | Node::ReadOf(e) => self.history.event(e).address(),
        }
    }

    fn writes_of_one_address(&self, a: Node, b: Node) -> bool {
        self.kinds(a).writes && self.kinds(b).writes && self.address(a) == self.address(b)
    }

    fn two_writes_of_one_address(&self, a: Node, b: Node) -> bool {
        a != b && self.writes_of_one_address(a, b)
    }

    fn source(&self, write: Node) -> Option<Source> {
        match write {
            Node::Initial(_) => Some(Source::Initial),
            Node::Event(e) => Some(Source::Write(e)),
            Node::ReadOf(_) => None,
        }
    }

    /// Whether an operation is known to have read what another wrote.
    fn reads(&self, read: Node, write: Node) -> bool {
        let (Some(e), Some(source)) = (self.event(read), self.source(write)) else { return false };
        self.kinds(read).reads
            && self.address(read) == self.address(write)
            && self.facts.reads(Reader::Event(e), source)
    }

    /// Program order between operations; initial writes come before everything else.
    fn program_order(&self, a: Node, b: Node) -> bool {
        let is_operation = |node| self.kinds(node) != Kinds::NONE;
        let half = |node| usize::from(matches!(node, Node::Event(_)));
        is_operation(a)
            && is_operation(b)
            && match (self.event(a), self.event(b)) {
                (None, b) => b.is_some(),
                (Some(_), None) => false,
                (Some(e), Some(f)) if e == f => half(a) < half(b),
                (Some(e), Some(f)) => self.history.program_order(e, f),
            }
    }

    /// Program order as far as the graph keeps it.
    fn kept_order(&self, a: Node, b: Node, graph: Option<Graph>) -> bool {
        if !self.rules.relaxed {
            return self.program_order(a, b);
        }
        let preserved = !(self.kinds(a).writes && self.kinds(b).reads);
        let at_one_address = self.address(a) == self.address(b);
        let kept = match graph {
            Some(Graph::Global) => preserved,
            Some(Graph::Location) => at_one_address,
            Some(Graph::ThinAir) => false,
            None => preserved || at_one_address,
        };
        kept && self.program_order(a, b)
    }

    fn fence(&self, a: Node, b: Node, graph: Option<Graph>) -> bool {
        let (Some(e), Some(f)) = (self.event(a), self.event(b)) else { return false };
        self.rules.relaxed
            && matches!(graph, None | Some(Graph::Global))
            && self.facts.fenced(e, f, self.kinds(a), self.kinds(b))
    }

    /// Whether `a` is `b` or comes before it in the program order of the graph.
    fn at_or_before(&self, a: Node, b: Node, graph: Option<Graph>) -> bool {
        a == b || self.kept_order(a, b, graph) || self.fence(a, b, graph)
    }

    /// Whether rf is visible between the two: always, or for `wccm` between threads and from a
    /// thread's own future.
    fn visible(&self, write: Node, read: Node) -> bool {
        !self.rules.relaxed || !self.program_order(write, read)
    }
}

/// Paths.
impl Lemma<'_> {
    fn has(&self, edge: &Edge, scope: Scope) -> bool {
        let Edge { from, to, because } = *edge;
        let causal = !matches!(scope.relation, Relation::StoreOrder);
        let lines = orders_writes(self.model)
            && matches!(scope.relation, Relation::StoreOrder | Relation::Whole);
        match because {
            Because::ProgramOrder => causal && self.kept_order(from, to, scope.graph),
            Because::Fence => causal && self.fence(from, to, scope.graph),
            Because::ReadsFrom => causal && self.reads(to, from) && self.visible(from, to),
            Because::WriteOrder => lines && self.write_order(from, to),
            Because::Derived(index) => {
                let known = &self.derived[..scope.known];
                known
                    .get(index as usize)
                    .is_some_and(|d| (d.from, d.to) == (from, to) && self.allows(d, scope))
            }
            Because::Dependency | Because::Time | Because::FromRead => false,
        }
    }

    fn write_order(&self, from: Node, to: Node) -> bool {
        let (Some(a), Some(b), Some(address)) =
            (self.source(from), self.source(to), self.address(from))
        else {
            return false;
        };
        self.two_writes_of_one_address(from, to) && self.facts.before(address, a, b)
    }

    /// Whether a derived edge is one of the relation.
    fn allows(&self, derived: &Derived, scope: Scope) -> bool {
        use Rule::{Atomic, Conflict, Observed, Overwritten, StoreOrder};
        match scope.relation {
            Relation::Causality => false,
            Relation::HappensBefore(operation) => {
                let graphs_agree =
                    !self.rules.relaxed || scope.graph.is_none_or(|graph| graph == derived.graph);
                let seen = match (derived.scope, operation) {
                    (_, None) => true,
                    (Some(earlier), Some(o)) => self.at_or_before(earlier, o, scope.graph),
                    (None, Some(_)) => false,
                };
                derived.rule == Observed && graphs_agree && seen
            }
            Relation::StoreOrder => matches!(derived.rule, StoreOrder | Conflict | Observed),
            Relation::WholeOfCc => derived.rule == Overwritten,
            Relation::Whole if self.rules.store_order => true,
            Relation::Whole if self.rules.convergent => {
                matches!(derived.rule, Conflict | Atomic)
            }
            Relation::Whole => self.rules.memory && derived.rule == Observed,
        }
    }

    fn path(&self, edges: &[Edge], scope: Scope) -> Result<(), Fault> {
        is_walk(self.history, edges)?;
        match edges.iter().find(|edge| !self.has(edge, scope)) {
            None => Ok(()),
            Some(&Edge { from, to, because }) => {
                let name = |node| names::node(self.history, node);
                Err(Fault::NoEdge { from: name(from), to: name(to), because })
            }
        }
    }
}

/// Rules.
impl Lemma<'_> {
    /// Whether the model has such a graph to derive in.
    fn graph(&self, graph: Graph) -> Result<Option<Graph>, Fault> {
        match graph {
            Graph::Global => Ok(Some(graph)),
            Graph::Location if self.rules.relaxed => Ok(Some(graph)),
            _ => Err(Fault::NoSuchGraph { model: self.model, graph }),
        }
    }

    fn derived(&self, index: usize) -> Result<(), Fault> {
        let derived = &self.derived[index];
        let graph = self.graph(derived.graph)?;
        let ordered = orders_writes(self.model);
        let ends = derived.path.first().map(|e| e.from).zip(derived.path.last().map(|e| e.to));
        let (follows, relation) = match derived.rule {
            Rule::Observed => {
                (self.observed(derived, ends), Relation::HappensBefore(derived.scope))
            }
            Rule::Conflict if self.rules.store_order => {
                (self.conflict(derived, ends), Relation::HappensBefore(None))
            }
            Rule::Conflict => {
                (self.rules.convergent && self.conflict(derived, ends), Relation::Causality)
            }
            Rule::StoreOrder => (self.store_order(derived, ends), Relation::HappensBefore(None)),
            Rule::Overwritten if self.rules.store_order => {
                (self.overwritten(derived, ends), Relation::StoreOrder)
            }
            Rule::Overwritten => (self.overwritten(derived, ends), Relation::Causality),
            Rule::Atomic => (ordered && self.atomic(derived, ends), Relation::Whole),
        };
        if !follows {
            let name = |node| names::node(self.history, node);
            return Err(Fault::NotDerived {
                index,
                from: name(derived.from),
                to: name(derived.to),
            });
        }
        // The store order of wccm is that of both graphs together.
        let graph = graph.filter(|_| derived.rule != Rule::StoreOrder);
        self.path(&derived.path, Scope { relation, graph, known: index })
    }

    /// From a write, along hb_o, to a read of the other that o has seen.
    fn observed(&self, derived: &Derived, ends: Option<(Node, Node)>) -> bool {
        let (Some(read), Some(operation)) = (derived.via, derived.scope) else { return false };
        (self.rules.memory || self.rules.store_order)
            && ends == Some((derived.from, read))
            && self.two_writes_of_one_address(derived.from, derived.to)
            && self.reads(read, derived.to)
            && self.at_or_before(read, operation, Some(derived.graph))
    }

    /// From a write to a read of the other.
    fn conflict(&self, derived: &Derived, ends: Option<(Node, Node)>) -> bool {
        let Some(read) = derived.via else { return false };
        ends == Some((derived.from, read))
            && self.two_writes_of_one_address(derived.from, derived.to)
            && self.reads(read, derived.to)
            && self.visible(derived.to, read)
    }

    /// From a write to another of its address, or to itself: then hb, and pww with it, is cyclic.
    fn store_order(&self, derived: &Derived, ends: Option<(Node, Node)>) -> bool {
        self.rules.store_order
            && ends == Some((derived.from, derived.to))
            && self.writes_of_one_address(derived.from, derived.to)
    }

    /// From what a read read to another write: the edge starts at the read.
    fn overwritten(&self, derived: &Derived, ends: Option<(Node, Node)>) -> bool {
        let Some(address) = self.address(derived.from) else { return false };
        let (source, end) = ends.unwrap_or((Node::Initial(address), derived.to));
        end == derived.to
            && self.reads(derived.from, source)
            && self.two_writes_of_one_address(source, derived.to)
    }

    /// u read w. From w ⇒ v: u → v. From v ⇒ u: v → w.
    fn atomic(&self, derived: &Derived, ends: Option<(Node, Node)>) -> bool {
        let Some(atomic @ Node::Event(u)) = derived.via else { return false };
        let Some(address) = self.address(atomic) else { return false };
        let (start, end) = ends.unwrap_or((Node::Initial(address), derived.to));
        let (read_from, other) = if derived.from == atomic && end == derived.to {
            (start, derived.to)
        } else if derived.from == start && end == atomic {
            (derived.to, derived.from)
        } else {
            return false;
        };
        self.reads(Node::ReadOf(u), read_from)
            && self.two_writes_of_one_address(read_from, other)
            && self.two_writes_of_one_address(atomic, other)
    }

    fn cycle(&self, cycle: &Cycle) -> Result<(), Fault> {
        let graph = self.graph(cycle.graph)?;
        let used = |rule: Rule| {
            let derived = cycle.edges.iter().filter_map(|edge| match edge.because {
                Because::Derived(index) => self.derived.get(index as usize),
                _ => None,
            });
            derived.filter(move |d| d.rule == rule)
        };
        let overwritten = used(Rule::Overwritten).count();
        let relation = match overwritten {
            _ if self.rules.store_order => Relation::Whole,
            0 => Relation::Whole,
            1 => Relation::WholeOfCc,
            _ => return Err(Fault::TwoOverwritten),
        };
        if !self.rules.store_order {
            let mut threads = used(Rule::Observed)
                .filter_map(|d| d.scope.and_then(|o| self.event(o)))
                .map(|e| self.history.event(e).thread);
            let first = threads.next();
            if threads.any(|thread| Some(thread) != first) {
                return Err(Fault::TwoThreads);
            }
        }
        self.path(&cycle.edges, Scope { relation, graph, known: self.derived.len() })
    }
}
