//! Why a choice of reads-from violates a causal model: the cycle, and the derivation of every
//! derived edge on it, on the paths those rest on, and so on.
//!
//! Only edges that are needed are shown, each once, each after what it rests on. Paths are searched
//! for when they are needed, over the edges that were there when the edge was derived; the logs of
//! the scopes are computed again rather than kept.

mod atomic;
mod facts;
mod lines;
mod paths;

use std::cell::OnceCell;

use evidence::{Because, Cycle, Derived, Edge, Graph, Literal, Node, Reader};
use history::{AddressId, Source};
use rustc_hash::{FxHashMap, FxHashSet};

use self::atomic::AtomicStep;
use self::facts::Fact;
use self::lines::{Line, Link, named};
use self::paths::{cheap_cycle, path};
use super::check::{Check, Problem};
use super::clocks::Clocks;
use super::observe::{Observed, Observer};
use super::operations::{From, Op};
use super::program_order::ProgramOrderPart;
use super::relation::Predecessors;
use crate::Reason;

/// What was found wrong. Cycles are operations, each before the next.
#[derive(Clone, Debug)]
pub(super) enum Broken {
    /// co has a cycle.
    Causality { side: usize, cycle: Vec<Op> },
    /// The causal past of a read has a write that overwrote what it read.
    Stale { side: usize, read: Op, write: Op },
    /// A read took its value from a later write of its thread.
    FromTheFuture { read: Op, write: Op },
    /// `cm`: hb_o puts a write before the initial write.
    BeforeInitial { scope: u32, entry: u32 },
    /// hb_o has a cycle.
    View { side: usize, scope: u32, cycle: Vec<Op> },
    /// hb has a cycle.
    HappensBefore { side: usize, cycle: Vec<Op> },
    /// hb of both sides together has a cycle.
    Together { cycle: Vec<Op> },
    /// An `order` or `final` line puts a write before the initial write.
    DeclaredBeforeInitial { write: Op, final_line: Option<u32> },
    /// pww has a cycle.
    StoreOrder { cycle: Vec<Op> },
    /// The whole relation has a cycle.
    Whole { side: usize, cycle: Vec<Op> },
    /// Two read-modify-writes read one write.
    Rivals(Op, Op),
}

/// A clause that follows from the model, and why: with its literals false, the cycle closes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lemma {
    pub(super) clause: Vec<Literal>,
    pub(super) derived: Vec<Derived>,
    pub(super) cycle: Cycle,
}

/// The evidence for what is broken.
pub(super) fn explain(check: &Check<'_>, broken: Broken) -> Result<Lemma, Reason> {
    let causality: Vec<OnceCell<Clocks>> =
        check.problem.sides.iter().map(|_| OnceCell::new()).collect();
    let happens_before = OnceCell::new();
    let mut explainer = Explainer {
        check,
        causality: &causality,
        happens_before: &happens_before,
        observer: None,
        steps: Vec::new(),
        steps_of_edges: FxHashMap::default(),
        numbers: FxHashMap::default(),
        derived: Vec::new(),
        readers: FxHashSet::default(),
    };
    let (side, lines) = explainer.cycle(broken)?;
    explainer.derive(&lines)?;
    let edges = lines.iter().map(|line| explainer.edge(line)).collect();
    let cycle = Cycle { graph: explainer.graph(side), edges };
    Ok(Lemma { clause: explainer.clause(), derived: explainer.derived, cycle })
}

/// Why a read cannot have read a later write of its own thread.
pub(super) fn from_the_future(
    problem: &Problem<'_>,
    read: Op,
    write: Op,
    literal: Literal,
) -> Lemma {
    let (read, write) = (problem.ops.node(read), problem.ops.node(write));
    let graph = if problem.rules.relaxed { Graph::Location } else { Graph::Global };
    let edges = vec![
        Edge { from: read, to: write, because: Because::ProgramOrder },
        Edge { from: write, to: read, because: Because::ReadsFrom },
    ];
    Lemma { clause: vec![literal], derived: Vec::new(), cycle: Cycle { graph, edges } }
}

/// Evidence in the making.
struct Explainer<'c> {
    check: &'c Check<'c>,
    /// The clocks of co on each side, once they are needed.
    causality: &'c [OnceCell<Clocks>],
    /// The clocks of happens-before, likewise.
    happens_before: &'c OnceCell<Clocks>,
    /// The log of the scope looked at last.
    observer: Option<(usize, u32, Observer<'c>)>,
    steps: Vec<AtomicStep>,
    steps_of_edges: FxHashMap<u32, u32>,
    numbers: FxHashMap<Fact, u32>,
    derived: Vec<Derived>,
    readers: FxHashSet<Reader>,
}

impl<'c> Explainer<'c> {
    fn graph(&self, side: usize) -> Graph {
        match self.check.base(side).kept {
            ProgramOrderPart::Location => Graph::Location,
            ProgramOrderPart::Program | ProgramOrderPart::Preserved => Graph::Global,
        }
    }

    fn node(&self, op: Op) -> Node {
        self.check.problem.ops.node(op)
    }

    fn address(&self, op: Op) -> AddressId {
        self.check.problem.ops.address(op)
    }

    /// What a read read.
    fn source(&self, read: Op) -> Node {
        match self.check.reads_from.source(read) {
            From::Write(write) => self.node(write),
            From::Initial | From::Open => Node::Initial(self.address(read)),
        }
    }

    fn line(&self, from: Op, to: Op, link: Link) -> Line {
        Line { from: self.node(from), to: self.node(to), link }
    }

    /// A write before the initial write of its address, which closes a cycle at once.
    fn before_initial(&self, write: Op, link: Link) -> Vec<Line> {
        let initial = Node::Initial(self.address(write));
        vec![
            Line { from: self.node(write), to: initial, link },
            Line { from: initial, to: self.node(write), link: Link::Program },
        ]
    }

    /// The cycle that something broken closes, and the side it lives on.
    fn cycle(&mut self, broken: Broken) -> Result<(usize, Vec<Line>), Reason> {
        let check = self.check;
        Ok(match broken {
            Broken::Causality { side, cycle } => (side, self.closed(&check.causal(side), &cycle)?),
            Broken::Stale { side, read, write } => (side, self.stale(side, read, write)?),
            Broken::FromTheFuture { read, write } => {
                let side = check.problem.sides.len() - 1;
                let there = self.line(read, write, Link::Program);
                (side, vec![there, self.line(write, read, Link::Reads(read))])
            }
            Broken::BeforeInitial { scope, entry } => {
                let (write, ..) = self.scope(0, scope)?.entry(entry);
                let fact = Fact::Observed { side: 0, scope, entry };
                (0, self.before_initial(write, Link::Fact(fact)))
            }
            Broken::View { side, scope, cycle } => {
                let observer = self.scope(side, scope)?;
                let hops = cheap_cycle(&Observed { observer, until: u32::MAX }, &cycle);
                (side, self.lines(&named(hops, side as u8, scope))?)
            }
            Broken::HappensBefore { side, cycle } => {
                (side, self.closed(&check.happens_before_on(side), &cycle)?)
            }
            Broken::Together { cycle } => {
                (0, self.closed(&check.happens_before_together(), &cycle)?)
            }
            Broken::DeclaredBeforeInitial { write, final_line } => {
                (0, self.before_initial(write, Link::Declared { final_line }))
            }
            Broken::StoreOrder { cycle } => {
                let pairs = check.store_pairs(self.happens_before()?);
                (0, self.closed(&pairs, &cycle)?)
            }
            Broken::Whole { side, cycle } => (side, self.closed(&check.whole(side), &cycle)?),
            Broken::Rivals(a, b) => {
                let there = self.rival(a, b);
                (0, vec![there, self.rival(b, a)])
            }
        })
    }

    fn closed(&mut self, relation: &impl Predecessors, cycle: &[Op]) -> Result<Vec<Line>, Reason> {
        let hops = cheap_cycle(relation, cycle);
        self.lines(&hops)
    }

    /// A read saw a value that `write`, in its past, had overwritten; each model has its own words
    /// for it.
    fn stale(&mut self, side: usize, read: Op, write: Op) -> Result<Vec<Line>, Reason> {
        let rules = self.check.problem.rules;
        let causal = self.check.causal(side);
        if rules.store_order || !(rules.convergent || rules.memory) {
            let fact = Fact::Overwritten { read, write };
            let mut lines = vec![self.line(read, write, Link::Fact(fact))];
            lines.extend(self.lines(&path(write, read, &causal, |_| true))?);
            return Ok(lines);
        }
        let fact = if rules.memory {
            Fact::Seen { read, write }
        } else {
            Fact::Conflict { side: side as u8, read, write }
        };
        let From::Write(source) = self.check.reads_from.source(read) else {
            return Ok(self.before_initial(write, Link::Fact(fact)));
        };
        let mut lines = vec![self.line(write, source, Link::Fact(fact))];
        lines.extend(self.lines(&path(source, write, &causal, |_| true))?);
        Ok(lines)
    }

    /// "Not all of the choices that were used."
    fn clause(&self) -> Vec<Literal> {
        let history = self.check.problem.history;
        let ops = &self.check.problem.ops;
        let reads_from = self.check.reads_from;
        let as_source = |from: From| match from {
            From::Write(write) => Source::Write(ops.event(write)),
            From::Initial | From::Open => Source::Initial,
        };
        let mut clause: Vec<Literal> = (self.readers.iter())
            .filter_map(|&reader| {
                let (candidates, source) = match reader {
                    Reader::Event(event) | Reader::Part(event, _) => {
                        (history.sources(event), reads_from.source(ops.read_of(event)))
                    }
                    Reader::Final(address) | Reader::FinalPart(address, _) => {
                        let number = history.finals().iter().position(|f| f.address == address)?;
                        (&history.finals()[number].sources[..], reads_from.finals[number])
                    }
                };
                let literal = Literal::reads(reader, as_source(source)).negated();
                (candidates.len() > 1).then_some(literal)
            })
            .collect();
        clause.sort_unstable();
        clause
    }
}
