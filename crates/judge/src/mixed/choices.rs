//! What saturation leaves open of a history of mixed sizes, as choices: which of two overlapping
//! writes came first, and from where a part read whose value was written to its cell more than once.
//!
//! An assignment activates edges between accesses; cycles become clauses with the proof steps that
//! justify them. As `store/choices.rs`, with two differences: one order of two writes serves all cells
//! that they share, and readers are parts.

use std::collections::BTreeSet;

use evidence::{Because, Cycle, Edge, Literal, Node, Proof, Reader, Step, Why};
use history::{AddressId, EventId, Source};
use rustc_hash::FxHashMap;

use super::problem::{
    MixedSizeProblem, before_initial, by_thread, contracted, of_accesses, thin_air,
};
use super::saturate::Reach;
use crate::store::choices::{ChoiceId, Chosen, Conflict, Ground, Hop, Made};
use crate::store::coherence::{self, SeenOrder};
use crate::store::graph::{EdgeId, NodeId, node};
use crate::store::refute;

/// Someone with several candidates: a part, or what a `final` line says of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PartReader {
    Part(EventId),
    Final(AddressId),
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    /// `false`: the first access comes before the second. `true`: the other way round.
    Order { first: EventId, second: EventId },
    /// `true`: the reader read from there, a part.
    Reads { reader: PartReader, source: Source },
}

/// The open choices of a saturated problem.
pub(crate) struct Choices<'p, 'h> {
    pub(crate) glued: &'p MixedSizeProblem<'h>,
    reach: &'p Reach,
    choices: Vec<Choice>,
    /// The readers with several candidates: the choice of the first of each, and how many.
    ambiguous: Vec<(PartReader, ChoiceId, usize)>,
    first_choice: FxHashMap<EventId, ChoiceId>,
    /// The parts known to have read each access.
    readers: FxHashMap<EventId, Vec<EventId>>,
    /// The `final` line that speaks of a cell, and the number of the cell in it.
    finals: FxHashMap<AddressId, (AddressId, u8)>,
    used: BTreeSet<EdgeId>,
    used_orders: BTreeSet<(EventId, EventId)>,
}

/// The most pairs of writes that get a choice each.
const MOST_PAIRS: usize = 400_000;

impl<'p, 'h> Choices<'p, 'h> {
    /// All choices; `None` if there are too many.
    pub(crate) fn new(glued: &'p MixedSizeProblem<'h>, reach: &'p Reach) -> Option<Self> {
        let parts = glued.parts();
        let mut choices = Self {
            glued,
            reach,
            choices: Vec::new(),
            ambiguous: Vec::new(),
            first_choice: FxHashMap::default(),
            readers: FxHashMap::default(),
            finals: FxHashMap::default(),
            used: BTreeSet::new(),
            used_orders: BTreeSet::new(),
        };
        for part in parts.event_ids() {
            choices.add_reader(PartReader::Part(part), parts.sources(part));
            if let Some(Source::Write(write)) = glued.sources[part.index()] {
                choices.readers.entry(glued.access(write)).or_default().push(part);
            }
        }
        for f in parts.finals() {
            choices.add_reader(PartReader::Final(f.address), &f.sources);
        }
        let history = glued.problem.history;
        for f in history.finals() {
            for (number, cell) in (0..).zip(glued.mixed.cells_of(history, f.address)) {
                choices.finals.entry(cell).or_insert((f.address, number));
            }
        }
        choices.add_orders()?;
        Some(choices)
    }

    fn add_reader(&mut self, reader: PartReader, sources: &[Source]) {
        if sources.len() < 2 {
            return;
        }
        self.ambiguous.push((reader, self.choices.len(), sources.len()));
        if let PartReader::Part(part) = reader {
            self.first_choice.insert(part, self.choices.len());
        }
        self.choices.extend(sources.iter().map(|&source| Choice::Reads { reader, source }));
    }

    /// A choice for every two writes that overlap and are not in order.
    fn add_orders(&mut self) -> Option<()> {
        let parts = self.glued.parts();
        let line = |w: EventId| self.glued.problem.history.event(w).line;
        let mut pairs = Vec::new();
        for cell in parts.address_ids() {
            let writes = &parts.address(cell).writes;
            for (at, &a) in writes.iter().enumerate() {
                let a = self.glued.access(a);
                for &b in &writes[at + 1..] {
                    let b = self.glued.access(b);
                    if !self.reach.precedes(a, b) && !self.reach.precedes(b, a) {
                        pairs.push(if line(b) < line(a) { (b, a) } else { (a, b) });
                    }
                }
            }
            if pairs.len() > MOST_PAIRS {
                return None;
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let orders = pairs.into_iter().map(|(first, second)| Choice::Order { first, second });
        self.choices.extend(orders);
        Some(())
    }

    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }

    /// For each ambiguous reader: "it read from one of these".
    pub(crate) fn readers(&self) -> impl Iterator<Item = Vec<Made>> + '_ {
        self.ambiguous.iter().map(|&(_, first, count)| {
            (first..first + count).map(|choice| Made { choice, value: true }).collect()
        })
    }

    /// A choice made, as a literal of a proof.
    pub(crate) fn literal(&self, made: Made) -> Literal {
        match self.choices[made.choice] {
            Choice::Order { first, second } if made.value => Literal::before(second, first),
            Choice::Order { first, second } => Literal::before(first, second),
            Choice::Reads { reader, source } => {
                let reader = match reader {
                    PartReader::Part(part) => {
                        Reader::Part(self.glued.access(part), self.glued.mixed.number_of(part))
                    }
                    PartReader::Final(cell) => {
                        let (address, number) = self.finals[&cell];
                        Reader::FinalPart(address, number)
                    }
                };
                let literal = Literal::reads(reader, self.of_access(source));
                if made.value { literal } else { literal.negated() }
            }
        }
    }

    fn of_access(&self, source: Source) -> Source {
        match source {
            Source::Initial => Source::Initial,
            Source::Write(part) => Source::Write(self.glued.access(part)),
        }
    }

    /// What every part read from, under an assignment.
    fn sources(&self, value: &dyn Fn(ChoiceId) -> bool) -> Vec<Option<Source>> {
        let mut sources = self.glued.sources.clone();
        for &(reader, first, count) in &self.ambiguous {
            if let PartReader::Part(part) = reader {
                let chosen = (first..first + count).find(|&c| value(c));
                sources[part.index()] = chosen.and_then(|c| match self.choices[c] {
                    Choice::Reads { source, .. } => Some(source),
                    Choice::Order { .. } => None,
                });
            }
        }
        sources
    }

    /// The edges that an assignment activates, or a conflict that shows without them.
    pub(crate) fn chosen(&self, value: &dyn Fn(ChoiceId) -> bool) -> Result<Vec<Chosen>, Conflict> {
        let sources = self.sources(value);
        let mut edges = Vec::new();
        self.seen(&sources, &mut edges)?;
        self.thin_air(&sources)?;
        let mut chosen_readers: FxHashMap<EventId, Vec<EventId>> = FxHashMap::default();
        for &part in self.first_choice.keys() {
            if let Some(Source::Write(write)) = sources[part.index()] {
                chosen_readers.entry(self.glued.access(write)).or_default().push(part);
            }
        }
        for choice in 0..self.choices.len() {
            let made = Made { choice, value: value(choice) };
            match self.choices[choice] {
                Choice::Order { first, second } => {
                    let (a, b) = if made.value { (second, first) } else { (first, second) };
                    self.order_edges(a, b, made, &chosen_readers, &mut edges);
                }
                Choice::Reads { reader, source } if made.value => {
                    self.read_edges(reader, source, made, &mut edges)?;
                }
                Choice::Reads { .. } => {}
            }
        }
        Ok(edges)
    }

    fn order_edges(
        &self,
        a: EventId,
        b: EventId,
        made: Made,
        chosen_readers: &FxHashMap<EventId, Vec<EventId>>,
        edges: &mut Vec<Chosen>,
    ) {
        let order = Chosen {
            from: node(a),
            to: node(b),
            because: Because::WriteOrder,
            made: [Some(made), None],
            ground: Ground::Choice,
        };
        edges.push(order);
        let all = |readers: &'_ FxHashMap<EventId, Vec<EventId>>| {
            readers.get(&a).map_or(&[][..], Vec::as_slice).to_vec()
        };
        let (known, chosen) = (all(&self.readers), all(chosen_readers));
        for part in known.into_iter().chain(chosen) {
            let read = self.glued.access(part);
            if read == b || !self.writes_cell_of(b, part) {
                continue;
            }
            let source = self.part_in_cell_of(a, part).map(Source::Write);
            let reads = source.and_then(|source| self.reads_made(part, source));
            let made = [Some(made), reads];
            edges.push(Chosen { from: node(read), because: Because::FromRead, made, ..order });
        }
    }

    /// The part of an access in the cell of another part.
    fn part_in_cell_of(&self, access: EventId, part: EventId) -> Option<EventId> {
        let parts = self.glued.parts();
        let cell = parts.address_of(part);
        self.glued.mixed.parts_of(access).find(|&other| parts.address_of(other) == cell)
    }

    fn writes_cell_of(&self, write: EventId, part: EventId) -> bool {
        self.part_in_cell_of(write, part).is_some()
    }

    fn reads_made(&self, part: EventId, source: Source) -> Option<Made> {
        let first = self.first_choice.get(&part)?;
        let sources = self.glued.parts().sources(part);
        let place = sources.iter().position(|&other| other == source)?;
        Some(Made { choice: first + place, value: true })
    }

    fn read_edges(
        &self,
        reader: PartReader,
        source: Source,
        made: Made,
        edges: &mut Vec<Chosen>,
    ) -> Result<(), Conflict> {
        let parts = self.glued.parts();
        let made = [Some(made), None];
        let mut push = |from: EventId, to: EventId, because, ground| {
            if from != to {
                edges.push(Chosen { from: node(from), to: node(to), because, made, ground });
            }
        };
        match (reader, source) {
            (PartReader::Part(part), Source::Write(write)) => {
                let own = parts.thread_of(part) == parts.thread_of(write);
                let (read, write) = (self.glued.access(part), self.glued.access(write));
                if self.glued.problem.rules.own_reads_visible || !own {
                    push(write, read, Because::ReadsFrom, Ground::Choice);
                }
                let Some(cell) = parts.address_of(part) else { return Ok(()) };
                for chain in by_thread(parts, cell) {
                    let mut others = chain.iter().map(|&w| self.glued.access(w));
                    let later = others.find(|&w| w != read && self.reach.precedes(write, w));
                    if let Some(later) = later {
                        push(read, later, Because::FromRead, Ground::Ordered(write, later));
                    }
                }
            }
            (PartReader::Part(part), Source::Initial) => {
                let Some(cell) = parts.address_of(part) else { return Ok(()) };
                for chain in by_thread(parts, cell) {
                    if let Some(&first) = chain.iter().find(|&&w| w != part) {
                        let (read, first) = (self.glued.access(part), self.glued.access(first));
                        push(read, first, Because::FromRead, Ground::Choice);
                    }
                }
            }
            (PartReader::Final(cell), Source::Write(last)) => {
                for chain in by_thread(parts, cell) {
                    if let Some(&write) = chain.iter().rev().find(|&&w| w != last) {
                        let (write, last) = (self.glued.access(write), self.glued.access(last));
                        push(write, last, Because::WriteOrder, Ground::Choice);
                    }
                }
            }
            (PartReader::Final(cell), Source::Initial) => {
                if let Some(&write) = parts.address(cell).writes.first() {
                    let write = self.glued.access(write);
                    let cycle = before_initial(self.glued.problem.history, write);
                    return Err(self.conflict(made.into_iter().flatten().collect(), cycle));
                }
            }
        }
        Ok(())
    }

    /// What the threads saw of each cell under an assignment.
    fn seen(&self, sources: &[Option<Source>], edges: &mut Vec<Chosen>) -> Result<(), Conflict> {
        if self.first_choice.is_empty() {
            return Ok(());
        }
        let rules = &self.glued.problem.rules;
        coherence::seen_orders(self.glued.parts(), rules, sources, |order| {
            let accesses = of_accesses(self.glued.mixed, &order);
            if !self.reach.precedes(accesses.before, accesses.after) {
                edges.push(Chosen {
                    from: node(accesses.before),
                    to: node(accesses.after),
                    because: Because::WriteOrder,
                    made: self.seen_by(&order, sources),
                    ground: Ground::Seen(accesses),
                });
            }
        })
        .map_err(|cycle| {
            let made = self.reads_on(&cycle, sources);
            self.conflict(made, contracted(self.glued.problem.history, self.glued.mixed, cycle))
        })
    }

    /// The ambiguous parts that an order seen by a thread rests on.
    fn seen_by(&self, order: &SeenOrder, sources: &[Option<Source>]) -> [Option<Made>; 2] {
        let saw = |by: EventId, version: EventId| {
            (by != version && sources[by.index()] == Some(Source::Write(version)))
                .then(|| self.reads_made(by, Source::Write(version)))
                .flatten()
        };
        [saw(order.first, order.before), saw(order.second, order.after)]
    }

    /// The ambiguous parts whose source the edges of a cycle of parts speak of.
    fn reads_on(&self, cycle: &Cycle, sources: &[Option<Source>]) -> Vec<Made> {
        let reader = |edge: &Edge| match (edge.because, edge.from, edge.to) {
            (Because::ReadsFrom, _, Node::Event(read)) => Some(read),
            (Because::FromRead, Node::Event(read), _) => Some(read),
            _ => None,
        };
        let reads = cycle.edges.iter().filter_map(reader);
        reads.filter_map(|r| self.reads_made(r, sources[r.index()]?)).collect()
    }

    /// dependencies ∪ rf must be acyclic under an assignment.
    fn thin_air(&self, sources: &[Option<Source>]) -> Result<(), Conflict> {
        if !self.glued.problem.rules.dependencies || self.first_choice.is_empty() {
            return Ok(());
        }
        let Err(cycle) = thin_air(self.glued.problem.history, self.glued.mixed, sources) else {
            return Ok(());
        };
        let mut made = Vec::new();
        for edge in cycle.edges.iter().filter(|edge| edge.because == Because::ReadsFrom) {
            let (Node::Event(write), Node::Event(read)) = (edge.from, edge.to) else { continue };
            // One part that reads from there is enough; best one that needs no choice.
            let from = |part: &EventId| match sources[part.index()] {
                Some(Source::Write(w)) => self.glued.access(w) == write,
                _ => false,
            };
            let choices: Vec<Option<Made>> = self
                .glued
                .mixed
                .parts_of(read)
                .filter(from)
                .map(|part| self.reads_made(part, sources[part.index()]?))
                .collect();
            if choices.iter().all(Option::is_some) {
                made.extend(choices.into_iter().flatten().next());
            }
        }
        Err(self.conflict(made, cycle))
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
            let chosen = match *hop {
                Hop::Fixed(edge) => {
                    if self.glued.problem.graph.origin(edge).is_some() {
                        self.used.insert(edge);
                    }
                    continue;
                }
                Hop::Chosen(chosen) => chosen,
            };
            let own: Vec<Made> = chosen.made.into_iter().flatten().collect();
            made.extend(&own);
            let negated = own.iter().map(|m| self.literal(m.negated()));
            match chosen.ground {
                Ground::Seen(order) => {
                    let mut clause: Vec<Literal> = negated.collect();
                    clause.push(Literal::before(order.before, order.after));
                    lemma.push(Literal::before(order.after, order.before));
                    steps.push(Step { clause, why: Why::Cycle(coherence::refutation(&order)) });
                    continue;
                }
                Ground::Ordered(a, b) => {
                    lemma.extend(negated);
                    self.used_orders.insert((a, b));
                }
                Ground::Choice | Ground::Proposed(..) => lemma.extend(negated),
            }
        }
        made.sort_unstable();
        made.dedup();
        lemma.sort_unstable();
        lemma.dedup();
        let clause: Vec<Made> = made.into_iter().map(Made::negated).collect();
        let cycle = self.glued.problem.cycle(self.evidence(cycle));
        let rests_on_seen = !steps.is_empty();
        steps.push(Step { clause: lemma, why: Why::Cycle(cycle) });
        if rests_on_seen {
            let literals = clause.iter().map(|&m| self.literal(m)).collect();
            steps.push(Step { clause: literals, why: Why::Propagation });
        }
        Conflict { clause, steps }
    }

    fn evidence(&self, cycle: &[Hop]) -> Vec<Edge> {
        let problem = &self.glued.problem;
        let mut edges = Vec::with_capacity(cycle.len());
        let mut fixed: Vec<EdgeId> = Vec::new();
        // Chosen edges join accesses, so the stretches between them do too.
        let start = cycle.iter().position(|h| matches!(h, Hop::Chosen(_))).unwrap_or(0);
        for hop in cycle[start..].iter().chain(&cycle[..start]) {
            match hop {
                Hop::Fixed(edge) => fixed.push(*edge),
                Hop::Chosen(chosen) => {
                    edges.extend(problem.graph.evidence(problem.history, &fixed));
                    fixed.clear();
                    let event = |n: NodeId| EventId::new(n as usize);
                    let (from, to) = (event(chosen.from), event(chosen.to));
                    edges.push(refute::step_edge(from, to, chosen.because));
                }
            }
        }
        edges.extend(problem.graph.evidence(problem.history, &fixed));
        edges
    }

    /// The whole proof: what the conflicts used of saturation, the log of the search, and the empty
    /// clause.
    pub(crate) fn proof(self, log: Vec<Step>) -> Proof {
        let mut steps = refute::orders_and_lemmas(
            &self.glued.problem,
            self.used.iter().copied(),
            self.used_orders.iter().copied(),
        );
        steps.extend(log);
        steps.push(Step { clause: vec![], why: Why::Propagation });
        Proof { steps }
    }
}
