//! From the ids of a history to the labels of its trace, and back. Labels may be of nothing, so the
//! way back can fail; ids come from the history itself.

use std::cell::OnceCell;

use history::{AddressId, AddressLabel, ByteRange, EventId, History, Source, ThreadId};
use serde::{Serialize, Serializer};

use super::shape::{self, Shape};
use super::{CertificateError, error};
use crate::{Atom, Cycle, Derived, Edge, Literal, Node, Proof, Reader, Step, Why, Witness};

/// What a trace calls the things of its history, in both directions.
pub(super) struct Labels<'a> {
    history: &'a History,
    /// Threads by their labels, sorted.
    threads: OnceCell<Vec<(u64, ThreadId)>>,
    /// Addresses, sorted by their labels.
    addresses: OnceCell<Vec<AddressId>>,
}

/// Events to be written, each given its label when its turn comes.
pub(super) struct Events<'a>(&'a Labels<'a>, &'a [EventId]);

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|&event| self.0.event(event)))
    }
}

/// Steps to be written, likewise.
pub(super) struct Steps<'a>(&'a Labels<'a>, &'a [Step]);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|step| self.0.step(step)))
    }
}

/// A line to be written.
pub(super) type Written<'a> = Shape<Events<'a>, Steps<'a>>;

/// From ids to labels.
impl<'a> Labels<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        Self { history, threads: OnceCell::new(), addresses: OnceCell::new() }
    }

    pub(super) fn event(&self, event: EventId) -> shape::Event {
        let thread = self.history.thread_of(event);
        let index = event.index() - self.history.thread_range(thread).start;
        [self.history.thread_label(thread), index as u64]
    }

    fn address(&self, address: AddressId) -> shape::Address {
        match &self.history.address(address).label {
            AddressLabel::Number(number) => shape::Address::Number(*number),
            AddressLabel::Name(name) => shape::Address::Name(name.clone()),
            AddressLabel::Bytes(range) => shape::Address::Name(range.to_string().into()),
        }
    }

    pub(super) fn source(&self, source: Source) -> shape::Source {
        match source {
            Source::Initial => shape::Source::Initial(shape::InitialWord::Initial),
            Source::Write(write) => shape::Source::Write(self.event(write)),
        }
    }

    fn reader(&self, reader: Reader) -> shape::Reader {
        match reader {
            Reader::Event(read) => shape::Reader::Event(self.event(read)),
            Reader::Final(address) => {
                shape::Reader::Final(shape::FinalOf { of: self.address(address), cell: None })
            }
            Reader::Part(read, cell) => {
                shape::Reader::Part(shape::PartOf { of: self.event(read), cell })
            }
            Reader::FinalPart(address, cell) => {
                let of = self.address(address);
                shape::Reader::Final(shape::FinalOf { of, cell: Some(cell) })
            }
        }
    }

    pub(super) fn node(&self, node: Node) -> shape::Node {
        match node {
            Node::Event(event) => shape::Node::Event(self.event(event)),
            Node::Initial(address) => {
                shape::Node::Other(shape::OtherNode::Initial(self.address(address)))
            }
            Node::ReadOf(event) => shape::Node::Other(shape::OtherNode::ReadOf(self.event(event))),
        }
    }

    pub(super) fn literal(&self, literal: Literal) -> shape::Literal {
        match (literal.atom, literal.positive) {
            (Atom::Before(a, b), true) | (Atom::Before(b, a), false) => {
                shape::Literal::Before(self.event(a), self.event(b))
            }
            (Atom::Reads(reader, source), true) => {
                shape::Literal::Reads(self.reader(reader), self.source(source))
            }
            (Atom::Reads(reader, source), false) => {
                shape::Literal::NotReads(self.reader(reader), self.source(source))
            }
        }
    }

    pub(super) fn events<'s>(&'s self, events: &'s [EventId]) -> Events<'s> {
        Events(self, events)
    }

    fn edge(&self, edge: &Edge) -> shape::Edge {
        shape::Edge(self.node(edge.from), self.node(edge.to), edge.because)
    }

    fn edges(&self, edges: &[Edge]) -> Vec<shape::Edge> {
        edges.iter().map(|e| self.edge(e)).collect()
    }

    fn cycle(&self, cycle: &Cycle) -> shape::Cycle {
        shape::Cycle { graph: cycle.graph, edges: self.edges(&cycle.edges) }
    }

    fn derived(&self, derived: &Derived) -> shape::Derived {
        shape::Derived {
            from: self.node(derived.from),
            to: self.node(derived.to),
            rule: derived.rule,
            graph: derived.graph,
            scope: derived.scope.map(|n| self.node(n)),
            via: derived.via.map(|n| self.node(n)),
            path: self.edges(&derived.path),
        }
    }

    fn step(&self, step: &Step) -> shape::Step {
        let clause = step.clause.iter().map(|&l| self.literal(l)).collect();
        let (derived, cycle, propagation) = match &step.why {
            Why::Cycle(cycle) => (None, Some(self.cycle(cycle)), None),
            Why::Derivation { derived, cycle } => {
                let derived = derived.iter().map(|d| self.derived(d)).collect();
                (Some(derived), Some(self.cycle(cycle)), None)
            }
            Why::Propagation => (None, None, Some(true)),
        };
        shape::Step { clause, derived, cycle, propagation }
    }

    pub(super) fn write_witness<'s>(&'s self, witness: &'s Witness, line: &mut Written<'s>) {
        let choices = |reads: &[(Reader, Source)]| {
            Some(reads.iter().map(|&(r, s)| (self.reader(r), self.source(s))).collect())
        };
        match witness {
            Witness::Order(order) => line.witness = Some(Events(self, order)),
            Witness::Arbitration { order, reads } => {
                line.kind = Some(shape::Kind::Arbitration);
                line.witness = Some(Events(self, order));
                line.reads = choices(reads);
            }
            Witness::Views { views, reads } => {
                line.kind = Some(shape::Kind::Views);
                line.views = Some(views.iter().map(|view| Events(self, view)).collect());
                line.reads = choices(reads);
            }
            Witness::Extensions { orders, atomicity, reads } => {
                let pair = |&(a, b): &(EventId, EventId)| (self.event(a), self.event(b));
                line.kind = Some(shape::Kind::Extensions);
                line.orders = Some(orders.iter().map(|order| Events(self, order)).collect());
                line.atomicity = Some(atomicity.iter().map(pair).collect());
                line.reads = choices(reads);
            }
            Witness::Choices(reads) => {
                line.kind = Some(shape::Kind::Choices);
                line.reads = choices(reads);
            }
        }
    }

    pub(super) fn write_proof<'s>(&'s self, proof: &'s Proof, line: &mut Written<'s>) {
        line.proof = Some(Steps(self, &proof.steps));
    }
}

/// From labels to ids, where they may be of nothing.
impl Labels<'_> {
    /// The thread of a label. Labels are 0, 1, 2, … in nearly every trace, so that is where to look
    /// first.
    fn thread(&self, label: u64) -> Option<ThreadId> {
        let threads = self.threads.get_or_init(|| {
            let label = |thread| (self.history.thread_label(thread), thread);
            let mut threads: Vec<_> = self.history.threads().map(label).collect();
            threads.sort_unstable();
            threads
        });
        let guess = usize::try_from(label).ok().and_then(|index| threads.get(index));
        if let Some(&(_, thread)) = guess.filter(|&&(known, _)| known == label) {
            return Some(thread);
        }
        let at = threads.binary_search_by_key(&label, |&(known, _)| known).ok()?;
        Some(threads[at].1)
    }

    /// The event that a trace calls so, if it has it.
    pub(super) fn event_called(&self, [thread, index]: shape::Event) -> Option<EventId> {
        self.history.event_at(self.thread(thread)?, usize::try_from(index).ok()?)
    }

    pub(super) fn read_event(&self, event: shape::Event) -> Result<EventId, CertificateError> {
        let [label, index] = event;
        self.event_called(event)
            .map_or_else(|| error(format!("the trace has no event [{label},{index}]")), Ok)
    }

    pub(super) fn read_events(
        &self,
        events: &[shape::Event],
    ) -> Result<Vec<EventId>, CertificateError> {
        events.iter().map(|&e| self.read_event(e)).collect()
    }

    fn read_address(&self, address: shape::Address) -> Result<AddressId, CertificateError> {
        let label_of = |address: AddressId| &self.history.address(address).label;
        let addresses = self.addresses.get_or_init(|| {
            let mut addresses: Vec<_> = self.history.address_ids().collect();
            addresses.sort_unstable_by_key(|&address| label_of(address));
            addresses
        });
        let label = match address {
            shape::Address::Number(number) => AddressLabel::Number(number),
            shape::Address::Name(name) => match ByteRange::from_text(&name) {
                Some(range) => AddressLabel::Bytes(range),
                None => AddressLabel::Name(name),
            },
        };
        match addresses.binary_search_by_key(&&label, |&address| label_of(address)) {
            Ok(at) => Ok(addresses[at]),
            Err(_) => error(format!("the trace has no address M[{label}]")),
        }
    }

    pub(super) fn read_source(&self, source: shape::Source) -> Result<Source, CertificateError> {
        match source {
            shape::Source::Initial(_) => Ok(Source::Initial),
            shape::Source::Write(write) => self.read_event(write).map(Source::Write),
        }
    }

    fn read_reader(&self, reader: shape::Reader) -> Result<Reader, CertificateError> {
        match reader {
            shape::Reader::Event(read) => self.read_event(read).map(Reader::Event),
            shape::Reader::Part(part) => Ok(Reader::Part(self.read_event(part.of)?, part.cell)),
            shape::Reader::Final(f) => {
                let address = self.read_address(f.of)?;
                Ok(f.cell.map_or(Reader::Final(address), |cell| Reader::FinalPart(address, cell)))
            }
        }
    }

    pub(super) fn read_node(&self, node: shape::Node) -> Result<Node, CertificateError> {
        match node {
            shape::Node::Event(event) => self.read_event(event).map(Node::Event),
            shape::Node::Other(shape::OtherNode::Initial(address)) => {
                self.read_address(address).map(Node::Initial)
            }
            shape::Node::Other(shape::OtherNode::ReadOf(event)) => {
                self.read_event(event).map(Node::ReadOf)
            }
        }
    }

    pub(super) fn read_literal(
        &self,
        literal: shape::Literal,
    ) -> Result<Literal, CertificateError> {
        Ok(match literal {
            shape::Literal::Before(a, b) => {
                Literal::before(self.read_event(a)?, self.read_event(b)?)
            }
            shape::Literal::Reads(reader, source) => {
                Literal::reads(self.read_reader(reader)?, self.read_source(source)?)
            }
            shape::Literal::NotReads(reader, source) => {
                Literal::reads(self.read_reader(reader)?, self.read_source(source)?).negated()
            }
        })
    }

    fn read_edges(&self, edges: Vec<shape::Edge>) -> Result<Vec<Edge>, CertificateError> {
        let read = |shape::Edge(from, to, because)| {
            Ok(Edge { from: self.read_node(from)?, to: self.read_node(to)?, because })
        };
        edges.into_iter().map(read).collect()
    }

    fn read_cycle(&self, cycle: shape::Cycle) -> Result<Cycle, CertificateError> {
        Ok(Cycle { graph: cycle.graph, edges: self.read_edges(cycle.edges)? })
    }

    fn read_derived(&self, derived: shape::Derived) -> Result<Derived, CertificateError> {
        Ok(Derived {
            from: self.read_node(derived.from)?,
            to: self.read_node(derived.to)?,
            rule: derived.rule,
            graph: derived.graph,
            scope: derived.scope.map(|n| self.read_node(n)).transpose()?,
            via: derived.via.map(|n| self.read_node(n)).transpose()?,
            path: self.read_edges(derived.path)?,
        })
    }

    fn read_step(&self, step: shape::Step) -> Result<Step, CertificateError> {
        let clause: Result<_, _> = step.clause.into_iter().map(|l| self.read_literal(l)).collect();
        let why = match (step.derived, step.cycle, step.propagation) {
            (None, Some(cycle), None) => Why::Cycle(self.read_cycle(cycle)?),
            (Some(derived), Some(cycle), None) => {
                let derived: Result<_, _> =
                    derived.into_iter().map(|d| self.read_derived(d)).collect();
                Why::Derivation { derived: derived?, cycle: self.read_cycle(cycle)? }
            }
            (None, None, Some(true)) => Why::Propagation,
            _ => {
                return error(
                    "each step of a proof has either a `cycle`, with `derived` edges before it \
                     or not, or `\"propagation\":true`",
                );
            }
        };
        Ok(Step { clause: clause?, why })
    }

    pub(super) fn read_proof(&self, shape: Shape) -> Result<Proof, CertificateError> {
        match shape {
            Shape {
                kind: None,
                witness: None,
                views: None,
                orders: None,
                atomicity: None,
                reads: None,
                proof: Some(steps),
                ..
            } => {
                let steps: Result<_, _> = steps.into_iter().map(|s| self.read_step(s)).collect();
                Ok(Proof { steps: steps? })
            }
            _ => error("a violation has a `proof` and no other evidence"),
        }
    }

    fn read_choices(
        &self,
        reads: Vec<(shape::Reader, shape::Source)>,
    ) -> Result<Vec<(Reader, Source)>, CertificateError> {
        reads
            .into_iter()
            .map(|(reader, source)| Ok((self.read_reader(reader)?, self.read_source(source)?)))
            .collect()
    }

    pub(super) fn read_witness(&self, shape: Shape) -> Result<Witness, CertificateError> {
        let Shape { kind, witness, views, orders, atomicity, reads, proof: None, .. } = shape
        else {
            return error("a consistent verdict has no `proof`");
        };
        let kind = kind.unwrap_or(shape::Kind::Order);
        let extensions = match (orders, atomicity) {
            (Some(orders), Some(pairs)) if matches!(kind, shape::Kind::Extensions) => {
                Some((orders, pairs))
            }
            (None, None) => None,
            _ => return error("`orders` and `atomicity` are the fields of extensions"),
        };
        match (kind, witness, views, reads) {
            (shape::Kind::Extensions, None, None, Some(reads)) if extensions.is_some() => {
                let (orders, pairs) = extensions.unwrap_or_default();
                let orders: Result<_, _> = orders.iter().map(|o| self.read_events(o)).collect();
                let mut atomicity = Vec::with_capacity(pairs.len());
                for (a, b) in pairs {
                    atomicity.push((self.read_event(a)?, self.read_event(b)?));
                }
                let reads = self.read_choices(reads)?;
                Ok(Witness::Extensions { orders: orders?, atomicity, reads })
            }
            (shape::Kind::Order, Some(order), None, None) => {
                Ok(Witness::Order(self.read_events(&order)?))
            }
            (shape::Kind::Arbitration, Some(order), None, Some(reads)) => {
                let order = self.read_events(&order)?;
                Ok(Witness::Arbitration { order, reads: self.read_choices(reads)? })
            }
            (shape::Kind::Views, None, Some(views), Some(reads)) => {
                let views: Result<_, _> = views.iter().map(|v| self.read_events(v)).collect();
                Ok(Witness::Views { views: views?, reads: self.read_choices(reads)? })
            }
            (shape::Kind::Choices, None, None, Some(reads)) => {
                Ok(Witness::Choices(self.read_choices(reads)?))
            }
            _ => error(
                "the fields of the evidence do not fit its kind: an order has a `witness`, an \
                 arbitration a `witness` and `reads`, views have `views` and `reads`, extensions \
                 `orders`, `atomicity` and `reads`, choices only `reads`",
            ),
        }
    }
}
