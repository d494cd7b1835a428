//! What the sentences of a rejection call things, and whether the things named exist at all.

use evidence::{Atom, Cycle, Edge, Evidence, Node, Proof, Reader, Why, Witness};
use history::{AddressId, EventId, History, Source};

use crate::rejection::{Fault, Name};

pub(crate) fn event(history: &History, event: EventId) -> Name {
    let e = history.event(event);
    format!("[{},{}] (line {})", history.thread_label(e.thread), e.index, e.line).into()
}

pub(crate) fn source(history: &History, source: Source) -> Name {
    match source {
        Source::Initial => "the initial write".into(),
        Source::Write(write) => event(history, write),
    }
}

pub(crate) fn reader(history: &History, reader: Reader) -> Name {
    match reader {
        Reader::Event(read) | Reader::Part(read, _) => event(history, read),
        Reader::Final(a) | Reader::FinalPart(a, _) => {
            format!("the `final` line of M[{}]", history.address(a).label).into()
        }
    }
}

pub(crate) fn node(history: &History, node: Node) -> Name {
    match node {
        Node::Event(e) => event(history, e),
        Node::Initial(a) => format!("the initial M[{}]", history.address(a).label).into(),
        Node::ReadOf(e) => format!("the read of {}", event(history, e)).into(),
    }
}

/// Whether every event and address that the evidence names is one of the history, so that the
/// rest of the kernel may look them up.
pub(crate) fn all_exist(history: &History, evidence: &Evidence) -> Result<(), Fault> {
    let exist = Exist { events: history.len(), addresses: history.address_count() };
    let all = match evidence {
        Evidence::Consistent(witness) => exist.witness(witness),
        Evidence::Violation(proof) => exist.proof(proof),
    };
    if all { Ok(()) } else { Err(Fault::NoSuchEvent) }
}

struct Exist {
    events: usize,
    addresses: usize,
}

impl Exist {
    fn event(&self, event: EventId) -> bool {
        event.index() < self.events
    }

    fn address(&self, address: AddressId) -> bool {
        address.index() < self.addresses
    }

    fn source(&self, source: Source) -> bool {
        match source {
            Source::Initial => true,
            Source::Write(write) => self.event(write),
        }
    }

    fn reader(&self, reader: Reader) -> bool {
        match reader {
            Reader::Event(read) | Reader::Part(read, _) => self.event(read),
            Reader::Final(address) | Reader::FinalPart(address, _) => self.address(address),
        }
    }

    fn node(&self, node: Node) -> bool {
        match node {
            Node::Event(event) | Node::ReadOf(event) => self.event(event),
            Node::Initial(address) => self.address(address),
        }
    }

    fn edges(&self, edges: &[Edge]) -> bool {
        edges.iter().all(|e| self.node(e.from) && self.node(e.to))
    }

    fn witness(&self, witness: &Witness) -> bool {
        if let Witness::Extensions { atomicity, .. } = witness
            && !atomicity.iter().all(|&(a, b)| self.event(a) && self.event(b))
        {
            return false;
        }
        let (orders, reads) = match witness {
            Witness::Order(order) => (std::slice::from_ref(order), &[][..]),
            Witness::Arbitration { order, reads } => (std::slice::from_ref(order), &reads[..]),
            Witness::Views { views, reads } => (&views[..], &reads[..]),
            Witness::Extensions { orders, reads, .. } => (&orders[..], &reads[..]),
            Witness::Choices(reads) => (&[][..], &reads[..]),
        };
        orders.iter().flatten().all(|&e| self.event(e))
            && reads.iter().all(|&(r, s)| self.reader(r) && self.source(s))
    }

    fn proof(&self, proof: &Proof) -> bool {
        proof.steps.iter().all(|step| {
            let clause = step.clause.iter().all(|literal| match literal.atom {
                Atom::Before(a, b) => self.event(a) && self.event(b),
                Atom::Reads(reader, source) => self.reader(reader) && self.source(source),
            });
            clause && self.why(&step.why)
        })
    }

    fn why(&self, why: &Why) -> bool {
        let cycle = |cycle: &Cycle| self.edges(&cycle.edges);
        match why {
            Why::Propagation => true,
            Why::Cycle(c) => cycle(c),
            Why::Derivation { derived, cycle: c } => {
                cycle(c)
                    && derived.iter().all(|d| {
                        let named = [Some(d.from), Some(d.to), d.scope, d.via];
                        named.into_iter().flatten().all(|n| self.node(n)) && self.edges(&d.path)
                    })
            }
        }
    }
}
