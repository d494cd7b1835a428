//! What saturation leaves open, as choices: which of two writes came first, and from which write
//! an ambiguous reader read.
//!
//! A choice, once made, activates edges: the order of two writes, the from-reads that follow from
//! it, a reads-from. An engine that searches makes choices, asks for the edges they activate, and
//! gets a *conflict* when these close a cycle: a clause over the choices, with the proof steps
//! that justify it. Choices are created on demand; a million open pairs cost nothing until
//! somebody looks at them.

use std::collections::BTreeSet;

use evidence::{Because, Cycle, Edge, Graph as Which, Literal, Node, Proof, Reader, Step, Why};
use history::{EventId, Source};
use rustc_hash::FxHashMap;

use super::clocks::Clocks;
use super::coherence::{self, SeenOrder};
use super::graph::{EdgeId, Graph, NodeId, node};
use super::linearize::Follow;
use super::problem::Problem;
use super::refute;
use crate::Budget;

/// About what a candidate of an ambiguous reader takes, here and in the solver.
pub(crate) const BYTES_A_CANDIDATE: usize = 200;

/// About what a clause of so many literals takes, in the solver and as a step of the proof.
pub(crate) fn bytes_of_clause(literals: usize) -> usize {
    const EACH: usize = 160;
    EACH + literals * (2 * size_of::<u32>() + size_of::<Literal>())
}

/// A choice, by index.
pub(crate) type ChoiceId = usize;

/// What a choice is about. Its guess is what `false` stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// `false`: the first write comes before the second. `true`: the other way round.
    Order { first: EventId, second: EventId },
    /// `true`: the reader read from there.
    Reads { reader: Reader, source: Source },
}

/// A choice made: `true` or `false`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Made {
    pub(crate) choice: ChoiceId,
    pub(crate) value: bool,
}

impl Made {
    /// The opposite.
    pub(crate) fn negated(self) -> Self {
        Self { value: !self.value, ..self }
    }
}

/// An edge that choices activate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) because: Because,
    /// The choices it rests on, one or two.
    pub(crate) made: [Option<Made>; 2],
    pub(crate) ground: Ground,
}

/// What else a chosen edge rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ground {
    /// Nothing: its choices say it.
    Choice,
    /// A from-read: saturation has ordered these two writes.
    Ordered(EventId, EventId),
    /// A write order: an ambiguous read and its neighbour in the thread saw these two.
    Seen(SeenOrder),
    /// That the first write comes before the second, which is proposed and not chosen.
    Proposed(EventId, EventId),
}

/// A set of choices that cannot all be made.
pub(crate) struct Conflict {
    /// At least one of these holds.
    pub(crate) clause: Vec<Made>,
    /// Proof steps; the last one's clause is the clause above.
    pub(crate) steps: Vec<Step>,
}

impl Conflict {
    /// About what it takes, in the solver and in a log.
    pub(crate) fn bytes(&self) -> usize {
        let step = |step: &Step| {
            let edges = if let Why::Cycle(cycle) = &step.why { cycle.edges.len() } else { 0 };
            bytes_of_clause(step.clause.len()) + edges * size_of::<Edge>()
        };
        bytes_of_clause(self.clause.len()) + self.steps.iter().map(step).sum::<usize>()
    }
}

/// The open choices of a saturated problem.
pub(crate) struct Choices<'p, 'h> {
    pub(crate) problem: &'p Problem<'h>,
    pub(crate) clocks: &'p Clocks,
    choices: Vec<Choice>,
    orders: FxHashMap<(EventId, EventId), ChoiceId>,
    /// The readers with several candidates, and the choice of the first of each.
    ambiguous: Vec<(Reader, ChoiceId, usize)>,
    /// The choice of the first candidate of each ambiguous read; the others follow in order.
    first_choice: FxHashMap<EventId, ChoiceId>,
    /// Inferred edges of the graph that some conflict used.
    used: BTreeSet<EdgeId>,
    /// Orders of writes known to the clocks that some conflict used.
    used_orders: BTreeSet<(EventId, EventId)>,
}

impl<'p, 'h> Choices<'p, 'h> {
    /// The choices that are there from the start: what ambiguous readers read. `None` if there are
    /// too many for the budget.
    pub(crate) fn new(
        problem: &'p Problem<'h>,
        clocks: &'p Clocks,
        budget: &Budget,
    ) -> Option<Self> {
        let history = problem.history;
        let candidates = history.event_ids().map(|e| history.sources(e).len());
        let several: usize = candidates.filter(|&count| count > 1).sum();
        if !budget.allows(several.saturating_mul(BYTES_A_CANDIDATE)) {
            return None;
        }
        let mut choices = Self {
            problem,
            clocks,
            choices: Vec::new(),
            orders: FxHashMap::default(),
            ambiguous: Vec::new(),
            first_choice: FxHashMap::default(),
            used: BTreeSet::new(),
            used_orders: BTreeSet::new(),
        };
        for event in history.event_ids() {
            choices.add_reader(Reader::Event(event), history.sources(event));
        }
        for f in history.finals() {
            choices.add_reader(Reader::Final(f.address), &f.sources);
        }
        Some(choices)
    }

    fn add_reader(&mut self, reader: Reader, sources: &[Source]) {
        if sources.len() < 2 {
            return;
        }
        self.ambiguous.push((reader, self.choices.len(), sources.len()));
        if let Reader::Event(read) = reader {
            self.first_choice.insert(read, self.choices.len());
        }
        self.choices.extend(sources.iter().map(|&source| Choice::Reads { reader, source }));
    }

    /// How many choices there are.
    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }

    /// For each ambiguous reader: "it read from one of these".
    pub(crate) fn readers(&self) -> impl Iterator<Item = Vec<Made>> + '_ {
        self.ambiguous.iter().map(|&(_, first, count)| {
            (first..first + count).map(|choice| Made { choice, value: true }).collect()
        })
    }

    /// The choice between two writes of one address, new if need be, with `first` before `second`
    /// as the guess. `None` if their order is known already.
    pub(crate) fn order(&mut self, first: EventId, second: EventId) -> Option<(ChoiceId, bool)> {
        if self.precedes(first, second) || self.precedes(second, first) {
            return None;
        }
        let key = (first.min(second), first.max(second));
        let new = self.choices.len();
        let choice = *self.orders.entry(key).or_insert(new);
        if choice == new {
            self.choices.push(Choice::Order { first, second });
        }
        Some((choice, choice == new))
    }

    fn precedes(&self, first: EventId, second: EventId) -> bool {
        self.clocks.precedes(self.problem.history, first, node(second))
    }

    /// A choice made, as a literal of a proof.
    pub(crate) fn literal(&self, made: Made) -> Literal {
        match self.choices[made.choice] {
            Choice::Order { first, second } if made.value => Literal::before(second, first),
            Choice::Order { first, second } => Literal::before(first, second),
            Choice::Reads { reader, source } => {
                let literal = Literal::reads(reader, source);
                if made.value { literal } else { literal.negated() }
            }
        }
    }

    /// What every event read from, under an assignment.
    pub(crate) fn sources(&self, value: &dyn Fn(ChoiceId) -> Option<bool>) -> Vec<Option<Source>> {
        let mut sources = self.problem.sources.clone();
        for &(reader, first, count) in &self.ambiguous {
            if let Reader::Event(read) = reader {
                let chosen = (first..first + count).find(|&c| value(c) == Some(true));
                sources[read.index()] = chosen.and_then(|c| match self.choices[c] {
                    Choice::Reads { source, .. } => Some(source),
                    Choice::Order { .. } => None,
                });
            }
        }
        sources
    }

    /// The edges that an assignment activates, or a conflict that shows without them.
    pub(crate) fn chosen(
        &mut self,
        value: &dyn Fn(ChoiceId) -> Option<bool>,
        sources: &[Option<Source>],
    ) -> Result<Vec<Chosen>, Conflict> {
        let mut edges = Vec::new();
        if !self.ambiguous.is_empty() {
            self.seen(sources, &mut edges)?;
            self.thin_air(sources)?;
        }
        let readers = self.ambiguous_readers(sources);
        for choice in 0..self.choices.len() {
            let Some(value) = value(choice) else { continue };
            let made = Made { choice, value };
            match self.choices[choice] {
                Choice::Order { first, second } => {
                    let (a, b) = if value { (second, first) } else { (first, second) };
                    self.order_edges(a, b, made, &readers, &mut edges);
                }
                Choice::Reads { reader, source } if value => {
                    self.read_edges(reader, source, made, &mut edges)?;
                }
                Choice::Reads { .. } => {}
            }
        }
        Ok(edges)
    }

    /// The ambiguous readers of each write, under an assignment.
    fn ambiguous_readers(&self, sources: &[Option<Source>]) -> FxHashMap<EventId, Vec<EventId>> {
        let mut readers: FxHashMap<EventId, Vec<EventId>> = FxHashMap::default();
        for &(reader, ..) in &self.ambiguous {
            if let Reader::Event(read) = reader
                && let Some(Source::Write(write)) = sources[read.index()]
            {
                readers.entry(write).or_default().push(read);
            }
        }
        readers
    }

    /// Makes choices of what is proposed on a cycle, so that it is one of chosen edges.
    pub(crate) fn choose_proposed(&mut self, cycle: &mut [Hop]) {
        for hop in cycle {
            let Hop::Chosen(edge) = hop else { continue };
            let Ground::Proposed(first, second) = edge.ground else { continue };
            edge.ground = match self.order(first, second) {
                Some((choice, _)) => {
                    let guess = Choice::Order { first, second };
                    let value = self.choices[choice] != guess;
                    edge.made[0] = Some(Made { choice, value });
                    Ground::Choice
                }
                None => Ground::Ordered(first, second),
            };
        }
    }

    fn order_edges(
        &self,
        a: EventId,
        b: EventId,
        made: Made,
        ambiguous: &FxHashMap<EventId, Vec<EventId>>,
        edges: &mut Vec<Chosen>,
    ) {
        let ground = Ground::Choice;
        let order = Chosen {
            from: node(a),
            to: node(b),
            because: Because::WriteOrder,
            made: [Some(made), None],
            ground,
        };
        edges.push(order);
        let because = Because::FromRead;
        for &read in self.problem.readers.of(a) {
            if read != b {
                edges.push(Chosen { from: node(read), because, ..order });
            }
        }
        for &read in ambiguous.get(&a).map_or(&[][..], Vec::as_slice) {
            if read != b {
                let reads = self.reads_made(read, Source::Write(a));
                edges.push(Chosen {
                    from: node(read),
                    because,
                    made: [Some(made), reads],
                    ..order
                });
            }
        }
    }

    pub(super) fn reads_made(&self, read: EventId, source: Source) -> Option<Made> {
        let first = self.first_choice.get(&read)?;
        let place = self.problem.history.sources(read).binary_search(&source).ok()?;
        Some(Made { choice: first + place, value: true })
    }

    fn read_edges(
        &self,
        reader: Reader,
        source: Source,
        made: Made,
        edges: &mut Vec<Chosen>,
    ) -> Result<(), Conflict> {
        let history = self.problem.history;
        let made = [Some(made), None];
        let mut push = |from: EventId, to: EventId, because, ground| {
            edges.push(Chosen { from: node(from), to: node(to), because, made, ground });
        };
        match (reader, source) {
            (Reader::Event(read), Source::Write(write)) => {
                let own = history.event(read).thread == history.event(write).thread;
                if self.problem.rules.own_reads_visible || !own {
                    push(write, read, Because::ReadsFrom, Ground::Choice);
                }
                let Some(address) = history.event(write).address() else { return Ok(()) };
                for chain in self.clocks.chains.of_address(history, address) {
                    let next = chain.writes.partition_point(|&w| !self.precedes(write, w));
                    // A read-modify-write does not come before itself, but before the next.
                    let later = chain.writes[next..].iter().find(|&&w| w != read);
                    if let Some(&later) = later {
                        push(read, later, Because::FromRead, Ground::Ordered(write, later));
                    }
                }
            }
            (Reader::Event(read), Source::Initial) => {
                let Some(address) = history.event(read).address() else { return Ok(()) };
                for chain in self.clocks.chains.of_address(history, address) {
                    if let Some(&first) = chain.writes.iter().find(|&&w| w != read) {
                        push(read, first, Because::FromRead, Ground::Choice);
                    }
                }
            }
            (Reader::Final(address), Source::Write(last)) => {
                for chain in self.clocks.chains.of_address(history, address) {
                    if let Some(&write) = chain.writes.iter().rev().find(|&&w| w != last) {
                        push(write, last, Because::WriteOrder, Ground::Choice);
                    }
                }
            }
            // The readers of plain addresses are whole.
            (Reader::Part(..) | Reader::FinalPart(..), _) => {}
            (Reader::Final(address), Source::Initial) => {
                if let Some(&write) = history.address(address).writes.first() {
                    let (initial, write) = (Node::Initial(address), Node::Event(write));
                    let edge = |from, to| Edge { from, to, because: Because::WriteOrder };
                    let edges = vec![edge(initial, write), edge(write, initial)];
                    let cycle = Cycle { graph: Which::Location, edges };
                    return Err(self.conflict(made.into_iter().flatten().collect(), cycle));
                }
            }
        }
        Ok(())
    }

    /// What the threads saw of each address under an assignment of the ambiguous readers.
    fn seen(&self, sources: &[Option<Source>], edges: &mut Vec<Chosen>) -> Result<(), Conflict> {
        let rules = &self.problem.rules;
        coherence::seen_orders(self.problem.history, rules, sources, |order| {
            if !self.precedes(order.before, order.after) {
                edges.push(Chosen {
                    from: node(order.before),
                    to: node(order.after),
                    because: Because::WriteOrder,
                    made: self.seen_by(&order, sources),
                    ground: Ground::Seen(order),
                });
            }
        })
        .map_err(|cycle| self.conflict(self.reads_on(&cycle, sources), cycle))
    }

    /// The ambiguous reads that an order seen by a thread rests on.
    fn seen_by(&self, order: &SeenOrder, sources: &[Option<Source>]) -> [Option<Made>; 2] {
        let saw = |by: EventId, version: EventId| {
            (by != version && sources[by.index()] == Some(Source::Write(version)))
                .then(|| self.reads_made(by, Source::Write(version)))
                .flatten()
        };
        let first = saw(order.first, order.before);
        let second = saw(order.second, order.after);
        [first, second]
    }

    /// dependencies ∪ rf must be acyclic under an assignment.
    fn thin_air(&self, sources: &[Option<Source>]) -> Result<(), Conflict> {
        if !self.problem.rules.dependencies {
            return Ok(());
        }
        super::problem::thin_air(self.problem.history, sources)
            .map_err(|cycle| self.conflict(self.reads_on(&cycle, sources), cycle))
    }

    /// The ambiguous reads whose source the edges of a cycle speak of.
    fn reads_on(&self, cycle: &Cycle, sources: &[Option<Source>]) -> Vec<Made> {
        let reader = |edge: &Edge| match (edge.because, edge.from, edge.to) {
            (Because::ReadsFrom, _, Node::Event(read)) => Some(read),
            (Because::FromRead, Node::Event(read), _) => Some(read),
            _ => None,
        };
        let reads = cycle.edges.iter().filter_map(reader);
        reads.filter_map(|r| self.reads_made(r, sources[r.index()]?)).collect()
    }

    /// A conflict of choices made, shown by a cycle alone.
    fn conflict(&self, mut made: Vec<Made>, cycle: Cycle) -> Conflict {
        made.sort_unstable();
        made.dedup();
        let clause: Vec<Made> = made.into_iter().map(Made::negated).collect();
        let literals = clause.iter().map(|&m| self.literal(m)).collect();
        Conflict { clause, steps: vec![Step { clause: literals, why: Why::Cycle(cycle) }] }
    }

    /// The conflict that a cycle of graph edges and chosen edges shows.
    pub(crate) fn conflict_of(&mut self, cycle: &[Hop]) -> Conflict {
        let mut lemma: Vec<Literal> = Vec::new();
        let mut steps = Vec::new();
        let mut made: Vec<Made> = Vec::new();
        for hop in cycle {
            match *hop {
                Hop::Fixed(edge) => {
                    if self.problem.graph.origin(edge).is_some() {
                        self.used.insert(edge);
                    }
                }
                Hop::Chosen(chosen) => {
                    made.extend(chosen.made.into_iter().flatten());
                    match chosen.ground {
                        Ground::Seen(order) => {
                            lemma.push(Literal::before(order.after, order.before));
                            steps.push(self.seen_lemma(&chosen, &order));
                            continue;
                        }
                        Ground::Ordered(a, b) => {
                            self.used_orders.insert((a, b));
                        }
                        Ground::Choice | Ground::Proposed(..) => {}
                    }
                    let literals =
                        chosen.made.into_iter().flatten().map(|m| self.literal(m.negated()));
                    lemma.extend(literals);
                }
            }
        }
        made.sort_unstable();
        made.dedup();
        lemma.sort_unstable();
        lemma.dedup();
        let clause: Vec<Made> = made.into_iter().map(Made::negated).collect();
        let cycle = self.problem.cycle(self.evidence(cycle));
        let rests_on_seen = !steps.is_empty();
        steps.push(Step { clause: lemma, why: Why::Cycle(cycle) });
        if rests_on_seen {
            let literals = clause.iter().map(|&m| self.literal(m)).collect();
            steps.push(Step { clause: literals, why: Why::Propagation });
        }
        Conflict { clause, steps }
    }

    /// "If these were read, this write came before that one."
    fn seen_lemma(&self, chosen: &Chosen, order: &SeenOrder) -> Step {
        let mut clause: Vec<Literal> =
            chosen.made.into_iter().flatten().map(|m| self.literal(m.negated())).collect();
        clause.push(Literal::before(order.before, order.after));
        Step { clause, why: Why::Cycle(coherence::refutation(order)) }
    }

    fn evidence(&self, cycle: &[Hop]) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(cycle.len());
        let mut fixed: Vec<EdgeId> = Vec::new();
        // Chosen edges join accesses, so the stretches between them do too.
        let start = cycle.iter().position(|h| matches!(h, Hop::Chosen(_))).unwrap_or(0);
        for hop in cycle[start..].iter().chain(&cycle[..start]) {
            match hop {
                Hop::Fixed(edge) => fixed.push(*edge),
                Hop::Chosen(chosen) => {
                    edges.extend(self.problem.graph.evidence(self.problem.history, &fixed));
                    fixed.clear();
                    let event = |n: NodeId| EventId::new(n as usize);
                    edges.push(refute::step_edge(
                        event(chosen.from),
                        event(chosen.to),
                        chosen.because,
                    ));
                }
            }
        }
        edges.extend(self.problem.graph.evidence(self.problem.history, &fixed));
        edges
    }

    /// The whole proof: what the conflicts used of saturation, the log of the search, and the
    /// empty clause.
    pub(crate) fn proof(self, log: Vec<Step>) -> Proof {
        let mut steps = refute::orders_and_lemmas(
            self.problem,
            self.used.iter().copied(),
            self.used_orders.iter().copied(),
        );
        steps.extend(log);
        steps.push(Step { clause: vec![], why: Why::Propagation });
        Proof { steps }
    }
}

/// One step of a cycle through both kinds of edges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hop {
    /// An edge of the saturated graph.
    Fixed(EdgeId),
    /// A chosen edge.
    Chosen(Chosen),
}

/// The saturated graph with chosen edges on top.
pub(crate) struct Combined<'g> {
    pub(crate) graph: &'g Graph,
    /// Sorted by source.
    pub(crate) chosen: Vec<Chosen>,
    starts: Vec<u32>,
}

impl<'g> Combined<'g> {
    pub(crate) fn new(graph: &'g Graph, mut chosen: Vec<Chosen>) -> Self {
        chosen.sort_by_key(|c| (c.from, c.to));
        let mut starts = vec![0u32; graph.node_count() + 1];
        for edge in &chosen {
            starts[edge.from as usize + 1] += 1;
        }
        for n in 0..graph.node_count() {
            starts[n + 1] += starts[n];
        }
        Self { graph, chosen, starts }
    }

    pub(crate) fn chosen_from(&self, n: NodeId) -> &[Chosen] {
        &self.chosen[self.starts[n as usize] as usize..self.starts[n as usize + 1] as usize]
    }
}

impl Follow for Combined<'_> {
    fn successors(&self, n: NodeId, f: impl FnMut(NodeId)) {
        let chosen = self.chosen_from(n).iter().map(|edge| edge.to);
        self.graph.successors(n).chain(chosen).for_each(f);
    }

    fn indegrees(&self) -> Vec<u32> {
        let mut indegree = self.graph.indegrees();
        for edge in &self.chosen {
            indegree[edge.to as usize] += 1;
        }
        indegree
    }
}
