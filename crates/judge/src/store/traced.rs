//! Proofs of the engines in terms of the conditions of a model file.
//!
//! The engines know events, of which an atomic may be one or two, and two graphs. A certificate
//! names a condition and pairs of its relation, with the stops of each composition. So each edge of
//! a cycle is looked up among the paths that the model keeps, or is `rf`, `co` or `fr`; where a cycle
//! passes an atomic, it goes from its read to its write. The engines also know that nothing comes
//! between what an atomic read and what it wrote, or between the accesses of a pair: where a cycle
//! uses that, it becomes a step of its own. What cannot be looked up has no certificate.

mod derive;
mod together;

use cat::{CatModel, HalvesOrder, Location, Shape};
use evidence::file::{FileProof, FileStep, FileWhy, Link};
use evidence::{Atom, Because, Cycle, Edge, Graph, Literal, Node, Proof, Reader, Step, Why};
use history::{EventId, History, Kinds, Mixed, Source};

use self::derive::Derive;
use super::paths::Parts;

/// An event in the terms of cat: of an atomic its read or its write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Part {
    event: EventId,
    /// Of an atomic, its write.
    is_write: bool,
}

/// Two writes, the first of which came before the second.
type Ordered = (EventId, EventId);

/// A way to read an edge of a cycle: a pair of a relation, and what has to be shown for it.
#[derive(Clone)]
struct Reading {
    from: Part,
    to: Part,
    /// None where an edge from one half of an atomic to the other is left out.
    link: Option<Link>,
    /// "This write came before that one", because an atomic or a pair read what it read.
    needs: Option<Ordered>,
}

/// The proof in terms of the model; `None` if some edge cannot be looked up. The events of the trace
/// may be parts of accesses.
pub(super) fn traced(
    (trace, mixed): (&History, Option<&Mixed>),
    model: &CatModel,
    shape: &Shape,
    parts: &impl Parts,
    proof: &Proof,
) -> Option<FileProof> {
    let derive = Derive::new((trace, mixed), model, shape);
    let mut tracer = Tracer { trace, shape, parts, derive, steps: Vec::new(), proved: Vec::new() };
    proof.steps.iter().try_for_each(|step| tracer.step(step))?;
    Some(FileProof { steps: tracer.steps })
}

struct Tracer<'a, P> {
    trace: &'a History,
    shape: &'a Shape,
    parts: &'a P,
    derive: Derive<'a>,
    steps: Vec<FileStep>,
    /// Who is proved to have read what.
    proved: Vec<(EventId, Source)>,
}

impl<P: Parts> Tracer<'_, P> {
    fn step(&mut self, step: &Step) -> Option<()> {
        let clause: Vec<Literal> = step.clause.iter().map(|&l| self.literal(l)).collect();
        let why = match &step.why {
            Why::Propagation => FileWhy::Propagation,
            Why::Cycle(cycle) => return self.cycle(clause, cycle),
            Why::Derivation { .. } => return None,
        };
        self.push(clause, why);
        Some(())
    }

    fn push(&mut self, clause: Vec<Literal>, why: FileWhy) {
        if let [Literal { atom: Atom::Reads(Reader::Event(read), source), positive: true }] =
            clause[..]
        {
            self.proved.push((read, source));
        }
        self.steps.push(FileStep { clause, why });
    }

    /// The event of the trace.
    fn origin(&self, event: EventId) -> EventId {
        self.parts.origin(event)
    }

    fn source(&self, source: Source) -> Source {
        match source {
            Source::Initial => Source::Initial,
            Source::Write(write) => Source::Write(self.origin(write)),
        }
    }

    /// Who reads where the engines see a reader: the load of a pair, if it is the store.
    fn reader(&self, event: EventId) -> EventId {
        let event = self.origin(event);
        match self.trace.event(event).is_read() {
            true => event,
            false => self.load_of(event).unwrap_or(event),
        }
    }

    fn load_of(&self, store: EventId) -> Option<EventId> {
        let pairs = self.trace.pairs();
        let at = pairs.binary_search_by_key(&store, |&(store, _)| store).ok()?;
        Some(pairs[at].1)
    }

    fn literal(&self, literal: Literal) -> Literal {
        let atom = match literal.atom {
            Atom::Before(a, b) => Atom::Before(self.origin(a), self.origin(b)),
            Atom::Reads(Reader::Event(read), source) => {
                Atom::Reads(Reader::Event(self.reader(read)), self.source(source))
            }
            Atom::Reads(last, source) => Atom::Reads(last, self.source(source)),
        };
        Literal { atom, ..literal }
    }

    /// What a reader is known to have read, if the clause is false.
    fn read(&self, reader: EventId, clause: &[Literal]) -> Option<Source> {
        let proved = || self.proved.iter().find(|&&(read, _)| read == reader).map(|each| each.1);
        let assumed = || {
            clause.iter().find_map(|literal| match literal.atom {
                Atom::Reads(Reader::Event(read), source) if read == reader && !literal.positive => {
                    Some(source)
                }
                _ => None,
            })
        };
        self.trace.only_source(reader).or_else(assumed).or_else(proved)
    }

    /// The graph in whose condition a cycle of a graph of the engines is looked up.
    fn graph(&self, graph: Graph) -> Graph {
        match (graph, self.shape.location) {
            (Graph::Location, Location::Global) => Graph::Global,
            _ => graph,
        }
    }

    fn global(&self) -> Option<usize> {
        self.shape.global.as_ref().map(|global| global.axiom)
    }

    /// The condition that a cycle of these links breaks.
    fn broken(&self, graph: Graph, links: Vec<Link>) -> Option<FileWhy> {
        let axiom = match (graph, self.shape.location) {
            (Graph::Location, Location::Axiom(number)) => Some(number),
            (Graph::Location, Location::Together(three)) => {
                return together::broken(self.trace, three, self.global()?, links);
            }
            (Graph::Location, Location::Global) | (Graph::Global, _) => self.global(),
            (Graph::ThinAir, _) => self.shape.thin_air,
        };
        Some(FileWhy::Axiom { axiom: axiom?, links })
    }

    /// Whether locations have conditions of their own.
    fn has_location(&self) -> bool {
        self.graph(Graph::Location) == Graph::Location
    }

    fn are_of_one_thread(&self, a: EventId, b: EventId) -> bool {
        self.trace.thread_of(self.origin(a)) == self.trace.thread_of(self.origin(b))
    }

    /// A cycle of the engines' global graph may go against the program order of a location by a step
    /// that the condition of the model need not have: that step and the way back are a cycle of the
    /// location.
    fn of_one_location(&self, cycle: &Cycle) -> Option<Cycle> {
        let goes_back = |edge: &&Edge| match (edge.from, edge.to) {
            (Node::Event(from), Node::Event(to)) => {
                let is_kept = matches!(
                    edge.because,
                    Because::WriteOrder | Because::FromRead | Because::ReadsFrom
                );
                is_kept && self.trace.program_order(self.origin(to), self.origin(from))
            }
            _ => false,
        };
        let back = *cycle.edges.iter().find(goes_back)?;
        let forth = Edge { from: back.to, to: back.from, because: Because::ProgramOrder };
        Some(Cycle { graph: Graph::Location, edges: vec![forth, back] })
    }

    fn cycle(&mut self, clause: Vec<Literal>, cycle: &Cycle) -> Option<()> {
        // The engines see the load of a pair and the read of its store as two readers, so a clause may
        // suppose that one load read two writes. It is true whatever the cycle.
        if supposes_two_sources(&clause) {
            self.push(clause, FileWhy::Propagation);
            return Some(());
        }
        let shorter = match cycle.graph {
            Graph::Global if self.has_location() => self.of_one_location(cycle),
            _ => None,
        };
        let cycle = shorter.as_ref().unwrap_or(cycle);
        let graph = self.graph(cycle.graph);
        let mut readings = Vec::new();
        for edge in &cycle.edges {
            let found = self.readings(edge, &clause, graph);
            if found.is_empty() {
                return None;
            }
            readings.push(found);
        }
        let (links, needed) = self.closed(&readings, &clause, graph)?;
        let mut whole = clause.clone();
        for &(first, second) in &needed {
            let lemma = Literal::before(first, second);
            let mut longer = clause.clone();
            longer.push(lemma);
            self.unseparated(longer, first, second, &clause)?;
            whole.push(lemma.negated());
        }
        let why = self.broken(graph, links)?;
        if clause.is_empty() || needed.is_empty() {
            self.push(clause, why);
        } else {
            self.push(whole, why);
            self.push(clause, FileWhy::Propagation);
        }
        Some(())
    }

    fn node(&self, part: Part) -> Node {
        let is_atomic = self.trace.kinds_of(part.event) == Kinds::ALL;
        match is_atomic && !part.is_write {
            true => Node::ReadOf(part.event),
            false => Node::Event(part.event),
        }
    }

    fn part_of_source(&self, source: Source, of: EventId) -> Option<Node> {
        Some(match source {
            Source::Initial => Node::Initial(self.trace.address_of(of)?),
            Source::Write(write) => Node::Event(write),
        })
    }

    fn write_part(&self, event: EventId) -> Part {
        Part { event, is_write: self.trace.kinds_of(event) == Kinds::ALL }
    }

    fn read_part(&self, event: EventId) -> Part {
        Part { event, is_write: false }
    }

    /// The parts that a node of the engines can be.
    fn parts_of(&self, event: EventId) -> Vec<Part> {
        let origin = self.origin(event);
        let is_atomic = self.trace.kinds_of(origin) == Kinds::ALL;
        match (is_atomic, self.parts.are_split()) {
            (false, _) => vec![Part { event: origin, is_write: false }],
            (true, true) => {
                vec![Part { event: origin, is_write: self.parts.is_write_half(event) }]
            }
            (true, false) => self.both_parts_of(origin),
        }
    }

    /// The halves of an atomic, or the one part of another event.
    fn both_parts_of(&self, event: EventId) -> Vec<Part> {
        match self.trace.kinds_of(event) == Kinds::ALL {
            true => [false, true].map(|is_write| Part { event, is_write }).to_vec(),
            false => vec![Part { event, is_write: false }],
        }
    }

    /// All ways to read an edge.
    fn readings(&self, edge: &Edge, clause: &[Literal], graph: Graph) -> Vec<Reading> {
        let (from, to) = match (edge.from, edge.to) {
            (Node::Event(from), Node::Event(to)) => (from, to),
            _ => return self.of_initial(edge),
        };
        let mut readings = Vec::new();
        let (a, b) = (self.origin(from), self.origin(to));
        let direct = |from: Part, to: Part, through: Vec<Node>, needs| {
            let link = Some(Link { from: self.node(from), through, to: self.node(to) });
            Reading { from, to, link, needs }
        };
        match edge.because {
            Because::WriteOrder => {
                readings.push(direct(self.write_part(a), self.write_part(b), vec![], None));
            }
            Because::FromRead => {
                let reader = self.reader(from);
                if let Some(source) =
                    self.read(reader, clause).and_then(|source| self.part_of_source(source, reader))
                {
                    let (from, to) = (self.read_part(reader), self.write_part(b));
                    readings.push(direct(from, to, vec![source], None));
                }
                if self.trace.event(a).is_write() {
                    let (from, to) = (self.write_part(a), self.write_part(b));
                    readings.push(direct(from, to, vec![], Some((a, b))));
                }
            }
            Because::ReadsFrom => {
                let reader = self.reader(to);
                if self.read(reader, clause) == Some(Source::Write(a)) {
                    let (from, to) = (self.write_part(a), self.read_part(reader));
                    readings.push(direct(from, to, vec![], None));
                    if self.trace.event(b).is_write() && a != b {
                        let to = self.write_part(b);
                        readings.push(direct(from, to, vec![], Some((a, b))));
                    }
                }
            }
            _ => {}
        }
        let mut kept = Vec::new();
        // What leads to the read of an atomic along its thread leads to its write as well.
        let is_by_either = graph == Graph::Location && self.shape.halves == HalvesOrder::Global;
        let parts_of = |event| match is_by_either {
            true => self.both_parts_of(self.origin(event)),
            false => self.parts_of(event),
        };
        if is_by_either && a == b && self.parts.is_write_half(to) && from != to {
            let nowhere = |part| Reading { from: part, to: part, link: None, needs: None };
            return self.both_parts_of(a).into_iter().map(nowhere).collect();
        }
        for first in parts_of(from) {
            for last in parts_of(to) {
                if let Some(stops) = self.fixed(first, last, clause, graph) {
                    kept.push(direct(first, last, stops, None));
                }
            }
        }
        // A condition that is not that of locations may have `rf`, `co` and `fr` between threads only.
        let may_lack_own = graph == Graph::Global && self.has_location();
        if may_lack_own && !kept.is_empty() && self.are_of_one_thread(from, to) {
            return kept;
        }
        readings.append(&mut kept);
        readings
    }

    /// The stops of a kept path between two parts, if there is one. An access of several cells is one
    /// access: what reaches a part of it reaches all, but nothing leads from its write back to its read.
    fn fixed(&self, from: Part, to: Part, clause: &[Literal], graph: Graph) -> Option<Vec<Node>> {
        if graph != Graph::Location && self.derive.are_of_one_access(from.event, to.event) {
            return match (from.is_write, to.is_write) {
                (true, false) => None,
                (false, true) => self.fixed(from, self.write_part(from.event), clause, graph),
                _ => Some(Vec::new()),
            };
        }
        let read = |reader| self.read(reader, clause);
        let stops = match graph {
            Graph::Location => self.derive.at_location(from, to).then(Vec::new),
            Graph::Global => self.derive.kept(from, to, &read),
            Graph::ThinAir => self.derive.depends(from, to).then(Vec::new),
        };
        Some(stops?.into_iter().map(|stop| self.node(stop)).collect())
    }

    /// Whether a part is that of an initial write, which no path leads to.
    fn is_initial(&self, part: Part) -> bool {
        part.event.index() >= self.trace.len()
    }

    /// Edges from and to an initial write.
    fn of_initial(&self, edge: &Edge) -> Vec<Reading> {
        let part = |node| match node {
            Node::Event(event) => self.write_part(self.origin(event)),
            _ => Part { event: EventId::new(self.trace.len()), is_write: true },
        };
        let node = |node| match node {
            Node::Event(event) => self.node(self.write_part(self.origin(event))),
            other => other,
        };
        let link = Some(Link { from: node(edge.from), through: vec![], to: node(edge.to) });
        let is_order = edge.because == Because::WriteOrder;
        let reading = Reading { from: part(edge.from), to: part(edge.to), link, needs: None };
        is_order.then_some(reading).into_iter().collect()
    }

    /// One reading of each edge, so that each begins where the one before it ends or a kept path
    /// leads on; those with the fewest needs.
    fn closed(
        &self,
        readings: &[Vec<Reading>],
        clause: &[Literal],
        graph: Graph,
    ) -> Option<(Vec<Link>, Vec<Ordered>)> {
        let joint = |end: Part, start: Part| -> Option<Option<Link>> {
            if end == start {
                return Some(None);
            }
            if self.is_initial(end) || self.is_initial(start) {
                return None;
            }
            let through = self.fixed(end, start, clause, graph)?;
            Some(Some(Link { from: self.node(end), through, to: self.node(start) }))
        };
        let mut best: Option<(usize, Vec<usize>)> = None;
        for first in 0..readings[0].len() {
            // For each reading of the edge at hand: the least needs so far, and the choices.
            let own = usize::from(readings[0][first].needs.is_some());
            let mut sofar = vec![None; readings[0].len()];
            sofar[first] = Some((own, vec![first]));
            for pair in readings.windows(2) {
                let mut next: Vec<Option<(usize, Vec<usize>)>> = vec![None; pair[1].len()];
                for (at, reading) in pair[1].iter().enumerate() {
                    for (before, chosen) in pair[0].iter().zip(&sofar) {
                        let Some((needs, chosen)) = chosen else { continue };
                        let needs = needs + usize::from(reading.needs.is_some());
                        if next[at].as_ref().is_some_and(|(least, _)| *least <= needs)
                            || joint(before.to, reading.from).is_none()
                        {
                            continue;
                        }
                        next[at] = Some((needs, [&chosen[..], &[at]].concat()));
                    }
                }
                sofar = next;
            }
            let last = &readings[readings.len() - 1];
            for (reading, chosen) in last.iter().zip(sofar) {
                let Some(chosen) = chosen else { continue };
                if best.as_ref().is_none_or(|(least, _)| chosen.0 < *least)
                    && joint(reading.to, readings[0][first].from).is_some()
                {
                    best = Some(chosen);
                }
            }
        }
        let (_, chosen) = best?;
        let chosen: Vec<&Reading> =
            chosen.iter().zip(readings).map(|(&at, options)| &options[at]).collect();
        let mut links = Vec::new();
        for (at, reading) in chosen.iter().enumerate() {
            links.extend(reading.link.clone());
            let next = chosen[(at + 1) % chosen.len()];
            links.extend(joint(reading.to, next.from)?);
        }
        Some((links, chosen.iter().filter_map(|reading| reading.needs).collect()))
    }

    /// Shows that one write comes before another, because an atomic or a pair is not separated: the
    /// first read what the second overwrote, or the second read the first.
    fn unseparated(
        &mut self,
        longer: Vec<Literal>,
        first: EventId,
        second: EventId,
        clause: &[Literal],
    ) -> Option<()> {
        let rmw = |write: EventId| {
            let reader = self.reader_of_write(write)?;
            Some((self.read_part(reader), self.write_part(write), self.read(reader, clause)?))
        };
        let graph = self.graph(Graph::Location);
        let node = |part| self.node(part);
        let link = |from, through, to| Link { from, through, to };
        let why = match (rmw(first), rmw(second)) {
            (_, Some((read, write, Source::Write(source)))) if source == first => {
                // Else: second co first rf the read of second, which comes before its write.
                let source = self.write_part(first);
                let co = link(node(write), vec![], node(source));
                let rf = link(node(source), vec![], node(read));
                let is_of_halves =
                    read.event == write.event && self.shape.halves == HalvesOrder::Global;
                if !is_of_halves {
                    let through = self.fixed(read, write, clause, graph)?;
                    self.broken(graph, vec![co, rf, link(node(read), through, node(write))])?
                } else if self.trace.thread_of(first) != self.trace.thread_of(second) {
                    let through = self.fixed(read, write, clause, Graph::Global)?;
                    let amo = link(node(read), through, node(write));
                    self.broken(Graph::Global, vec![co, rf, amo])?
                } else if first < second {
                    let through = self.fixed(source, write, clause, graph)?;
                    self.broken(graph, vec![co, link(node(source), through, node(write))])?
                } else {
                    let through = self.fixed(read, source, clause, graph)?;
                    self.broken(graph, vec![rf, link(node(read), through, node(source))])?
                }
            }
            (Some((read, write, source)), _) => {
                let source = self.part_of_source(source, read.event)?;
                let other = self.write_part(second);
                let same_thread = self.trace.thread_of(second) == self.trace.thread_of(first);
                if !same_thread {
                    let through = vec![source, node(other)];
                    let links = vec![link(node(read), through, node(write))];
                    let atomicity = self.shape.atomicity?;
                    let why = FileWhy::Axiom { axiom: atomicity.axiom, links };
                    if atomicity.exempts_own_writes {
                        let lemmas = self.own_writes_are_apart(read, write, source, clause)?;
                        let rests = lemmas.iter().map(|lemma| lemma.negated());
                        self.push(longer.iter().copied().chain(rests).collect(), why);
                        FileWhy::Propagation
                    } else {
                        why
                    }
                } else if second < first {
                    let through = self.fixed(other, read, clause, graph)?;
                    let links = vec![
                        link(node(other), through, node(read)),
                        link(node(read), vec![source], node(other)),
                    ];
                    self.broken(graph, links)?
                } else {
                    let through = self.fixed(write, other, clause, graph)?;
                    let links = vec![
                        link(node(write), through, node(other)),
                        link(node(other), vec![], node(write)),
                    ];
                    self.broken(graph, links)?
                }
            }
            _ => return None,
        };
        self.push(longer, why);
        Some(())
    }

    /// Shows of each other write of its thread that it does not come between what an atomic or a pair
    /// read and its write: it comes before the one or after the other in the order of writes. What was
    /// shown, for each.
    fn own_writes_are_apart(
        &mut self,
        read: Part,
        write: Part,
        source: Node,
        clause: &[Literal],
    ) -> Option<Vec<Literal>> {
        let address = self.trace.address_of(write.event)?;
        let thread = self.trace.thread_of(write.event);
        let graph = self.graph(Graph::Location);
        let is_other = |&other: &EventId| {
            other != write.event
                && self.trace.address_of(other) == Some(address)
                && self.trace.event(other).is_write()
                && Node::Event(other) != source
        };
        let others: Vec<EventId> = self.trace.thread_events(thread).filter(is_other).collect();
        let mut lemmas = Vec::new();
        for other in others {
            let at = Node::Event(other);
            let own = |from: Node, to: Node| Link { from, through: Vec::new(), to };
            let (first, second, links) = if other < read.event {
                let Node::Event(source_write) = source else { return None };
                let back = Link { from: self.node(read), through: vec![source], to: at };
                (other, source_write, vec![own(at, self.node(read)), back])
            } else {
                let (event, write) = (write.event, self.node(write));
                (event, other, vec![own(write, at), own(at, write)])
            };
            let lemma = Literal::before(first, second);
            let why = self.broken(graph, links)?;
            self.push(clause.iter().copied().chain([lemma]).collect(), why);
            lemmas.push(lemma);
        }
        Some(lemmas)
    }

    /// Who read for a write that is half of an atomic or of a pair.
    fn reader_of_write(&self, write: EventId) -> Option<EventId> {
        match self.trace.kinds_of(write) == Kinds::ALL {
            true => Some(write),
            false => self.load_of(write),
        }
    }
}

/// Whether a clause that is false has a reader read two writes.
fn supposes_two_sources(clause: &[Literal]) -> bool {
    let supposed = || {
        clause.iter().filter(|literal| !literal.positive).filter_map(|literal| match literal.atom {
            Atom::Reads(reader, source) => Some((reader, source)),
            Atom::Before(..) => None,
        })
    };
    supposed().any(|(reader, source)| supposed().any(|(r, s)| r == reader && s != source))
}
