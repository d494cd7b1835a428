//! Whether what a proof about a model file names is there at all.

use evidence::file::Link;
use evidence::{Atom, Literal, Node, Reader};
use history::{EventId, History, Source};

use crate::rejection::Fault;

pub(super) fn event(history: &History, event: EventId) -> bool {
    event.index() < history.len()
}

pub(super) fn source(history: &History, source: Source) -> bool {
    match source {
        Source::Initial => true,
        Source::Write(write) => event(history, write),
    }
}

pub(super) fn clause(history: &History, clause: &[Literal]) -> Result<(), Fault> {
    let there = |literal: &Literal| match literal.atom {
        Atom::Before(a, b) => event(history, a) && event(history, b),
        Atom::Reads(Reader::Event(read), from) => event(history, read) && source(history, from),
        Atom::Reads(Reader::Final(address), from) => {
            address.index() < history.address_count() && source(history, from)
        }
        // Only histories of mixed sizes have parts.
        Atom::Reads(Reader::Part(..) | Reader::FinalPart(..), _) => false,
    };
    if clause.iter().all(there) { Ok(()) } else { Err(Fault::NoSuchEvent) }
}

pub(super) fn links(history: &History, links: &[Link]) -> Result<(), Fault> {
    let there = |&node: &Node| match node {
        Node::Initial(address) => address.index() < history.address_count(),
        Node::Event(named) | Node::ReadOf(named) => event(history, named),
    };
    let all = |link: &Link| there(&link.from) && there(&link.to) && link.through.iter().all(there);
    if links.iter().all(all) { Ok(()) } else { Err(Fault::NoSuchEvent) }
}
