//! What a proof speaks of: the part of a history that should violate the model on its own.
//!
//! A proof names the events on its cycles and in its clauses. With them go the fences that its
//! edges lean on, the `final` lines of their addresses, and every write that a kept reader may have
//! read from. The proof then holds for the part as it does for the whole, so a long trace is
//! reduced to a few events by judging it once. Linear in the proof and the history.

use evidence::{Atom, Because, Edge, Node, Proof, Reader, Step, Why};
use history::{EventId, History, Kinds, Operation, Source};

use super::part::Part;

/// The part of the history that the proof speaks of.
pub(super) fn mentioned(history: &History, proof: &Proof) -> Part {
    let mut seed = Seed { history, part: Part::empty(history) };
    for step in &proof.steps {
        seed.step(step);
    }
    seed.add_finals();
    seed.part.add_sources(history);
    seed.part
}

/// All accesses of the addresses that the part speaks of, and all fences.
pub(super) fn widened(history: &History, part: &Part) -> Part {
    let mut addresses = vec![false; history.address_count()];
    for e in part.kept() {
        if let Some(address) = history.event(e).address() {
            addresses[address.index()] = true;
        }
    }
    let mut wider = Part::whole(history);
    for e in history.event_ids() {
        let address = history.event(e).address();
        wider.events[e.index()] = address.is_none_or(|a| addresses[a.index()]);
    }
    for (line, kept) in history.finals().iter().zip(&mut wider.finals) {
        *kept = addresses[line.address.index()];
    }
    wider
}

/// A reader, or a `final` line, whose value nobody wrote: a violation by itself. With a line goes an
/// event, of its address if there is one, because a trace has events.
pub(super) fn out_of_thin_air(history: &History) -> Option<Part> {
    let mut part = Part::empty(history);
    let read = |e: &EventId| history.reads_unwritten(*e);
    if let Some(e) = history.event_ids().find(read) {
        part.events[e.index()] = true;
        return Some(part);
    }
    let line = history.finals().iter().position(|line| line.sources.is_empty())?;
    part.finals[line] = true;
    let address = Some(history.finals()[line].address);
    let accesses = |e: &EventId| history.event(*e).address() == address;
    let witness = history.event_ids().find(accesses).or_else(|| history.event_ids().next())?;
    part.events[witness.index()] = true;
    part.add_sources(history);
    Some(part)
}

struct Seed<'a> {
    history: &'a History,
    part: Part,
}

impl Seed<'_> {
    fn step(&mut self, step: &Step) {
        for literal in &step.clause {
            match literal.atom {
                Atom::Before(a, b) => {
                    self.event(a);
                    self.event(b);
                }
                Atom::Reads(reader, source) => {
                    self.reader(reader);
                    self.source(source);
                }
            }
        }
        match &step.why {
            Why::Cycle(cycle) => self.edges(&cycle.edges),
            Why::Derivation { derived, cycle } => {
                for edge in derived {
                    let ends = [Some(edge.from), Some(edge.to), edge.scope, edge.via];
                    ends.into_iter().flatten().for_each(|node| self.node(node));
                    self.edges(&edge.path);
                }
                self.edges(&cycle.edges);
            }
            Why::Propagation => {}
        }
    }

    fn edges(&mut self, edges: &[Edge]) {
        for edge in edges {
            self.node(edge.from);
            self.node(edge.to);
            if edge.because == Because::Fence {
                self.fences_between(edge.from, edge.to);
            }
        }
    }

    fn node(&mut self, node: Node) {
        match node {
            Node::Event(e) | Node::ReadOf(e) => self.event(e),
            Node::Initial(_) => {}
        }
    }

    fn event(&mut self, e: EventId) {
        self.part.events[e.index()] = true;
    }

    fn reader(&mut self, reader: Reader) {
        match reader {
            Reader::Event(e) | Reader::Part(e, _) => self.event(e),
            Reader::Final(address) | Reader::FinalPart(address, _) => {
                let line = self.history.finals().iter().position(|line| line.address == address);
                if let Some(line) = line {
                    self.part.finals[line] = true;
                }
            }
        }
    }

    fn source(&mut self, source: Source) {
        if let Source::Write(e) = source {
            self.event(e);
        }
    }

    /// For each pair of roles that the two may play, the first fence between them that orders it.
    fn fences_between(&mut self, from: Node, to: Node) {
        let (Node::Event(a) | Node::ReadOf(a), Node::Event(b) | Node::ReadOf(b)) = (from, to)
        else {
            return;
        };
        for earlier in roles(self.history, a) {
            for later in roles(self.history, b) {
                let orders = |i: &usize| match self.history.event(EventId::new(*i)).operation {
                    Operation::Fence { before, after } => {
                        before.meets(earlier) && after.meets(later)
                    }
                    _ => false,
                };
                if let Some(fence) = (a.index()..b.index()).find(orders) {
                    self.part.events[fence] = true;
                }
            }
        }
    }

    /// The `final` lines of the addresses that are spoken of: they order writes.
    fn add_finals(&mut self) {
        let mut addresses = vec![false; self.history.address_count()];
        for e in self.part.kept() {
            if let Some(address) = self.history.event(e).address() {
                addresses[address.index()] = true;
            }
        }
        for (line, kept) in self.history.finals().iter().zip(&mut self.part.finals) {
            *kept |= addresses[line.address.index()];
        }
    }
}

fn roles(history: &History, e: EventId) -> impl Iterator<Item = Kinds> + use<> {
    let kinds = history.event(e).kinds();
    [Kinds::READS, Kinds::WRITES].into_iter().filter(move |role| role.meets(kinds))
}
