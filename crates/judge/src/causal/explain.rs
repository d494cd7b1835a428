//! Why a choice of reads-from violates a causal model: the cycle, and the derivation of every
//! derived edge on it, on the paths those rest on, and so on.
//!
//! Only edges that are needed are told, each once, each after what it rests on. Paths are searched
//! for when they are needed, over the edges that were there when the edge was derived; the logs of
//! the scopes are computed again rather than kept.

use evidence::{Because, Cycle, Derived, Edge, Graph, Literal, Node, Reader, Rule};
use history::{AddressId, Source};
use rustc_hash::{FxHashMap, FxHashSet};

use super::atomic::AtomicEdge;
use super::check::{Check, Problem, Side};
use super::kept::Kept;
use super::observe::{Observed, Observer};
use super::operations::{From, Op};
use super::paths::{Hop, Paths, cheap_cycle, path};
use super::relation::{Predecessors, Tag};
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
    /// `cm`: hb_o has a cycle.
    View { scope: u32, cycle: Vec<Op> },
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

/// An edge that needs a derivation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fact {
    /// Rule (2) of happens-before, by an entry in the log of a scope.
    Observed { side: u8, scope: u32, entry: u32 },
    /// The same, by causality alone: the write comes before the read.
    Seen { read: Op, write: Op },
    /// cf.
    Conflict { side: u8, read: Op, write: Op },
    /// A pair of writes in hb.
    StoreOrder { from: Op, to: Op },
    /// rw.
    Overwritten { read: Op, write: Op },
    /// Atomicity, by a step of the explainer.
    Atomic { step: u32 },
}

/// Why one node comes before another.
#[derive(Clone, Copy, Debug)]
enum Link {
    Program,
    Fence,
    Reads(Op),
    Declared { final_line: Option<u32> },
    Fact(Fact),
}

/// An edge of the evidence, before its facts have numbers.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: Node,
    to: Node,
    link: Link,
}

/// One application of the rule of atomicity.
#[derive(Clone, Copy, Debug)]
struct AtomicStep {
    from: Op,
    to: Op,
    /// The read-modify-write.
    update: Op,
    side: usize,
    premise: Premise,
}

/// What an application of the rule of atomicity rests on.
#[derive(Clone, Copy, Debug)]
enum Premise {
    /// A path, over atomic edges of earlier rounds.
    Path { from: Op, to: Op, round: u32 },
    /// The write comes after the initial write.
    Initial(Op),
    /// The step before.
    Step(u32),
}

/// The evidence for what is broken.
pub(super) fn explain(check: &Check<'_>, broken: Broken) -> Result<Lemma, Reason> {
    let mut explainer = Explainer {
        check,
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

struct Explainer<'c> {
    check: &'c Check<'c>,
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
            Kept::Location => Graph::Location,
            Kept::Program | Kept::Preserved => Graph::Global,
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
            Broken::Causality { side, cycle } => (side, self.closed(&check.causal(side), &cycle)),
            Broken::Stale { side, read, write } => (side, self.stale(side, read, write)),
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
            Broken::View { scope, cycle } => {
                let observer = self.scope(0, scope)?;
                let hops = cheap_cycle(&Observed { observer, until: u32::MAX }, &cycle);
                (0, self.lines(&named(hops, 0, scope)))
            }
            Broken::HappensBefore { side, cycle } => {
                (side, self.closed(&check.happens_before_on(side), &cycle))
            }
            Broken::Together { cycle } => {
                (0, self.closed(&check.happens_before_together(), &cycle))
            }
            Broken::DeclaredBeforeInitial { write, final_line } => {
                (0, self.before_initial(write, Link::Declared { final_line }))
            }
            Broken::StoreOrder { cycle } => match check.store_pairs() {
                Some(pairs) => (0, self.closed(&pairs, &cycle)),
                None => (0, Vec::new()),
            },
            Broken::Whole { side, cycle } => (side, self.closed(&check.whole(side), &cycle)),
            Broken::Rivals(a, b) => {
                let there = self.rival(a, b);
                (0, vec![there, self.rival(b, a)])
            }
        })
    }

    fn closed(&mut self, relation: &impl Predecessors, cycle: &[Op]) -> Vec<Line> {
        let hops = cheap_cycle(relation, cycle);
        self.lines(&hops)
    }

    /// A read saw a value that `write`, in its past, had overwritten; each model has its own words
    /// for it.
    fn stale(&mut self, side: usize, read: Op, write: Op) -> Vec<Line> {
        let rules = self.check.problem.rules;
        let causal = self.check.causal(side);
        if rules.store_order || !(rules.convergent || rules.memory) {
            let fact = Fact::Overwritten { read, write };
            let mut lines = vec![self.line(read, write, Link::Fact(fact))];
            lines.extend(self.lines(&path(write, read, &causal, |_| true)));
            return lines;
        }
        let fact = if rules.memory {
            Fact::Seen { read, write }
        } else {
            Fact::Conflict { side: side as u8, read, write }
        };
        let From::Write(source) = self.check.reads_from.source(read) else {
            return self.before_initial(write, Link::Fact(fact));
        };
        let mut lines = vec![self.line(write, source, Link::Fact(fact))];
        lines.extend(self.lines(&path(source, write, &causal, |_| true)));
        lines
    }

    /// Two read-modify-writes read one write: each must come before the other.
    fn rival(&mut self, first: Op, second: Op) -> Line {
        let premise = match self.source_of_update(first) {
            From::Write(source) => Premise::Path { from: source, to: second, round: 0 },
            From::Initial | From::Open => Premise::Initial(second),
        };
        let step =
            self.step(AtomicStep { from: first, to: second, update: first, side: 0, premise });
        self.line(first, second, Link::Fact(Fact::Atomic { step }))
    }

    fn source_of_update(&self, update: Op) -> From {
        let read = self.check.problem.ops.read_half_of(update);
        read.map_or(From::Open, |read| self.check.reads_from.source(read))
    }

    fn step(&mut self, step: AtomicStep) -> u32 {
        self.steps.push(step);
        self.steps.len() as u32 - 1
    }

    /// The observer of a scope, with its log.
    fn scope(&mut self, side: usize, scope: u32) -> Result<&Observer<'c>, Reason> {
        let check = self.check;
        let Side { base, scopes } = &check.problem.sides[side];
        let reads = scopes.reads(scope as usize);
        let mut known = self.observer.take();
        if known.as_ref().is_none_or(|k| k.0 != side) {
            let addresses = check.problem.history.address_count();
            let observer = Observer::new(&check.problem.ops, addresses, base, check.reads_from);
            known = Some((side, u32::MAX, observer));
        }
        let entry = self.observer.insert(known.ok_or(Reason::Memory)?);
        if entry.1 != scope {
            entry.2.run(reads, check.budget)?;
            entry.1 = scope;
        }
        Ok(&entry.2)
    }

    /// A path as lines: runs of program order become one, pairs of pww are spelled out.
    fn lines(&mut self, hops: &[Hop]) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::with_capacity(hops.len());
        for Hop { from, to, tag } in joined(hops) {
            let link = match tag {
                Tag::Program => Link::Program,
                Tag::Fence => Link::Fence,
                Tag::Reads => Link::Reads(to),
                Tag::Observed { side, scope, entry } => {
                    Link::Fact(Fact::Observed { side, scope, entry })
                }
                Tag::Conflict { side, read } => {
                    Link::Fact(Fact::Conflict { side, read, write: from })
                }
                Tag::Declared { final_line } => Link::Declared { final_line },
                Tag::HappensBefore => Link::Fact(Fact::StoreOrder { from, to }),
                Tag::StoreOrder => {
                    lines.extend(self.store_path(from, to));
                    continue;
                }
                Tag::Overwritten => Link::Fact(Fact::Overwritten { read: from, write: to }),
                Tag::Atomic { edge } => Link::Fact(Fact::Atomic { step: self.atomic_step(edge) }),
            };
            lines.push(self.line(from, to, link));
        }
        merge(lines, |node| self.is_write(node))
    }

    fn is_write(&self, node: Node) -> bool {
        match node {
            Node::Initial(_) => true,
            Node::ReadOf(_) => false,
            Node::Event(event) => self.check.problem.history.event(event).is_write(),
        }
    }

    /// A path in pww.
    fn store_path(&mut self, from: Op, to: Op) -> Vec<Line> {
        let direct = self.line(from, to, Link::Fact(Fact::StoreOrder { from, to }));
        // Before pww is built, what it is asked for is causality.
        let (Some(pairs), Some(_)) = (self.check.store_pairs(), &self.check.store_order) else {
            return vec![direct];
        };
        let hops = path(from, to, &pairs, |_| true);
        self.lines(&hops)
    }

    /// The last of the steps that an edge of a block stands for.
    fn atomic_step(&mut self, edge: u32) -> u32 {
        if let Some(&step) = self.steps_of_edges.get(&edge) {
            return step;
        }
        let atomic = self.check.atomic_edges[edge as usize];
        let block = self.check.blocks.as_ref().map(|b| &b.blocks[atomic.block as usize]);
        let members = block.map_or(&[][..], |b| &b.members);
        let step = if members.last() == Some(&atomic.from) {
            self.steps_after(atomic, members)
        } else {
            self.steps_before(atomic, members)
        };
        self.steps_of_edges.insert(edge, step);
        step
    }

    fn earlier_than(&self, round: u32) -> impl Fn(Tag) -> bool + use<'c> {
        let edges = &self.check.atomic_edges;
        move |tag| match tag {
            Tag::Atomic { edge } => edges[edge as usize].round < round,
            _ => true,
        }
    }

    /// A write after some member comes after the next, and so on to the last.
    fn steps_after(&mut self, edge: AtomicEdge, members: &[Op]) -> u32 {
        let mut start = (0, 0, Premise::Initial(edge.to));
        for side in 0..self.check.problem.sides.len() {
            let allowed = self.earlier_than(edge.round);
            let paths = Paths::to(edge.to, &self.check.whole(side), allowed, |_| false);
            let reached = (0..members.len() - 1).rev().find(|&i| paths.reaches_from(members[i]));
            if let Some(i) = reached
                && i + 1 > start.0
            {
                let premise = Premise::Path { from: members[i], to: edge.to, round: edge.round };
                start = (i + 1, side, premise);
            }
        }
        let (first, side, mut premise) = start;
        for &update in &members[first..] {
            let step = AtomicStep { from: update, to: edge.to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    /// A write before some member comes before the one it read, and so on to the first.
    fn steps_before(&mut self, edge: AtomicEdge, members: &[Op]) -> u32 {
        let Some(&last) = members.last() else { return 0 };
        let mut start = (members.len(), 0, Premise::Initial(edge.from));
        for side in 0..self.check.problem.sides.len() {
            let hops =
                path(edge.from, last, &self.check.whole(side), self.earlier_than(edge.round));
            let met = hops.iter().find_map(|hop| members.iter().skip(1).position(|&m| m == hop.to));
            let met = met.map(|i| i + 1);
            if let Some(i) = met
                && i < start.0
            {
                let to = members[i];
                start = (i, side, Premise::Path { from: edge.from, to, round: edge.round });
            }
        }
        let (first, side, mut premise) = start;
        for i in (1..=first.min(members.len() - 1)).rev() {
            let (update, to) = (members[i], members[i - 1]);
            let step = AtomicStep { from: edge.from, to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    /// What a fact rests on.
    fn premise(&mut self, fact: Fact) -> Result<Vec<Line>, Reason> {
        let check = self.check;
        Ok(match fact {
            Fact::Observed { side, scope, entry } => {
                let observer = self.scope(side as usize, scope)?;
                let (write, _, read) = observer.entry(entry);
                let hops = path(write, read, &Observed { observer, until: entry }, |_| true);
                self.lines(&named(hops, side, scope))
            }
            Fact::Seen { read, write } => {
                let hops = path(write, read, &check.causal(0), |_| true);
                self.lines(&hops)
            }
            Fact::Conflict { side, read, write } => {
                let hops = path(write, read, &check.happens_before_on(side as usize), |_| true);
                self.lines(&hops)
            }
            Fact::StoreOrder { from, to } => {
                let hops = path(from, to, &check.happens_before_together(), |_| true);
                self.lines(&hops)
            }
            Fact::Overwritten { read, write } => match check.reads_from.source(read) {
                From::Write(source) if check.problem.rules.store_order => {
                    self.store_path(source, write)
                }
                From::Write(source) => {
                    let hops = path(source, write, &check.causal(0), |_| true);
                    self.lines(&hops)
                }
                From::Initial | From::Open => Vec::new(),
            },
            Fact::Atomic { step } => self.premise_of_step(step),
        })
    }

    fn premise_of_step(&mut self, step: u32) -> Vec<Line> {
        let AtomicStep { side, premise, .. } = self.steps[step as usize];
        match premise {
            Premise::Path { from, to, round } => {
                let allowed = self.earlier_than(round);
                let hops = path(from, to, &self.check.whole(side), allowed);
                self.lines(&hops)
            }
            Premise::Initial(write) => {
                let from = Node::Initial(self.address(write));
                vec![Line { from, to: self.node(write), link: Link::Program }]
            }
            Premise::Step(before) => {
                let AtomicStep { from, to, .. } = self.steps[before as usize];
                vec![self.line(from, to, Link::Fact(Fact::Atomic { step: before }))]
            }
        }
    }

    /// Derives every fact that the lines rest on, each after what it rests on itself.
    fn derive(&mut self, lines: &[Line]) -> Result<(), Reason> {
        let mut open: Vec<(Fact, Vec<Line>)> = Vec::new();
        for fact in facts(lines) {
            let mut wanted = Some(fact);
            loop {
                if let Some(fact) = wanted
                    && !self.numbers.contains_key(&fact)
                {
                    let premise = self.premise(fact)?;
                    open.push((fact, premise));
                }
                let Some((_, premise)) = open.last() else { break };
                wanted = facts(premise).find(|fact| !self.numbers.contains_key(fact));
                if wanted.is_none()
                    && let Some((fact, premise)) = open.pop()
                {
                    let derived = self.derived(fact, &premise)?;
                    self.numbers.insert(fact, self.derived.len() as u32);
                    self.derived.push(derived);
                }
            }
        }
        Ok(())
    }

    fn derived(&mut self, fact: Fact, premise: &[Line]) -> Result<Derived, Reason> {
        let ops = &self.check.problem.ops;
        let path = premise.iter().map(|line| self.edge(line)).collect();
        let global = Graph::Global;
        Ok(match fact {
            Fact::Observed { side, scope, entry } => {
                let (write, _, read) = self.scope(side as usize, scope)?.entry(entry);
                let scopes = &self.check.problem.sides[side as usize].scopes;
                let last = scopes.reads(scope as usize).last().map(|&read| self.node(read));
                let graph = self.graph(side as usize);
                self.towards_source(Rule::Observed, graph, last, read, write, path)
            }
            Fact::Seen { read, write } => {
                let scope = Some(self.node(read));
                self.towards_source(Rule::Observed, global, scope, read, write, path)
            }
            Fact::Conflict { side, read, write } => {
                let graph = self.graph(side as usize);
                self.towards_source(Rule::Conflict, graph, None, read, write, path)
            }
            Fact::StoreOrder { from, to } => Derived {
                from: ops.node(from),
                to: ops.node(to),
                rule: Rule::StoreOrder,
                graph: global,
                scope: None,
                via: None,
                path,
            },
            Fact::Overwritten { read, write } => {
                self.readers.insert(Reader::Event(ops.event(read)));
                Derived {
                    from: ops.node(read),
                    to: ops.node(write),
                    rule: Rule::Overwritten,
                    graph: global,
                    scope: None,
                    via: Some(ops.node(read)),
                    path,
                }
            }
            Fact::Atomic { step } => {
                let AtomicStep { from, to, update, side, .. } = self.steps[step as usize];
                self.readers.insert(Reader::Event(ops.event(update)));
                Derived {
                    from: ops.node(from),
                    to: ops.node(to),
                    rule: Rule::Atomic,
                    graph: self.graph(side),
                    scope: None,
                    via: Some(ops.node(update)),
                    path,
                }
            }
        })
    }

    /// The edge from a write to the source of a read it comes before.
    fn towards_source(
        &mut self,
        rule: Rule,
        graph: Graph,
        scope: Option<Node>,
        read: Op,
        write: Op,
        path: Vec<Edge>,
    ) -> Derived {
        self.readers.insert(Reader::Event(self.check.problem.ops.event(read)));
        let (from, to) = (self.node(write), self.source(read));
        Derived { from, to, rule, graph, scope, via: Some(self.node(read)), path }
    }

    fn edge(&mut self, line: &Line) -> Edge {
        let because = match line.link {
            Link::Program => Because::ProgramOrder,
            Link::Fence => Because::Fence,
            Link::Reads(read) => {
                self.readers.insert(Reader::Event(self.check.problem.ops.event(read)));
                Because::ReadsFrom
            }
            Link::Declared { final_line } => {
                if let Some(number) = final_line {
                    let line = &self.check.problem.history.finals()[number as usize];
                    self.readers.insert(Reader::Final(line.address));
                }
                Because::WriteOrder
            }
            Link::Fact(fact) => {
                Because::Derived(self.numbers.get(&fact).copied().unwrap_or(u32::MAX))
            }
        };
        Edge { from: line.from, to: line.to, because }
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
                    Reader::Event(event) => {
                        (history.sources(event), reads_from.source(ops.read_of(event)))
                    }
                    Reader::Final(address) => {
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

fn facts(lines: &[Line]) -> impl Iterator<Item = Fact> + '_ {
    lines.iter().filter_map(|line| match line.link {
        Link::Fact(fact) => Some(fact),
        _ => None,
    })
}

/// Observed edges of a scope, with its name.
fn named(mut hops: Vec<Hop>, side: u8, scope: u32) -> Vec<Hop> {
    for hop in &mut hops {
        if let Tag::Observed { entry, .. } = hop.tag {
            hop.tag = Tag::Observed { side, scope, entry };
        }
    }
    hops
}

/// Pairs of happens-before that follow each other are one.
fn joined(hops: &[Hop]) -> Vec<Hop> {
    let mut joined: Vec<Hop> = Vec::with_capacity(hops.len());
    for &hop in hops {
        match joined.last_mut() {
            Some(last) if (last.tag, hop.tag) == (Tag::HappensBefore, Tag::HappensBefore) => {
                last.to = hop.to;
            }
            _ => joined.push(hop),
        }
    }
    joined
}

/// Joins runs of program order, and program order to a fence it leads to or from.
fn merge(lines: Vec<Line>, is_write: impl Fn(Node) -> bool) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines {
        let joined = match (merged.last().map(|last| last.link), line.link) {
            (Some(Link::Program), Link::Program) => Some(Link::Program),
            (Some(Link::Program), Link::Fence) => {
                let leads = merged.last().is_some_and(|last| is_write(last.from));
                leads.then_some(Link::Fence)
            }
            (Some(Link::Fence), Link::Program) => (!is_write(line.to)).then_some(Link::Fence),
            _ => None,
        };
        match (joined, merged.last_mut()) {
            (Some(link), Some(last)) => (last.to, last.link) = (line.to, link),
            _ => merged.push(line),
        }
    }
    merged
}
