//! A proof about the parts of a history of mixed sizes as one about its accesses.
//!
//! An edge between two parts is one between their accesses, and an order of two parts one of their
//! accesses; so a cycle stays a closed walk when the parts of each access are taken together. It does
//! not vanish: steps within an access are program order, which closes no cycle by itself.

use evidence::{Atom, Literal, Proof, Reader, Step, Why};
use history::{AddressId, History, Mixed, Source};
use rustc_hash::FxHashMap;

use super::problem::contracted;

/// The same proof, of accesses.
pub(crate) fn of_accesses(history: &History, mixed: &Mixed, proof: Proof) -> Proof {
    let mut finals: FxHashMap<AddressId, Reader> = FxHashMap::default();
    for f in history.finals() {
        for (number, cell) in (0..).zip(mixed.cells_of(history, f.address)) {
            finals.entry(cell).or_insert(Reader::FinalPart(f.address, number));
        }
    }
    let literal = |literal: &Literal| {
        let access = |part| mixed.access_of(part);
        let atom = match literal.atom {
            Atom::Before(a, b) => Atom::Before(access(a), access(b)),
            Atom::Reads(reader, source) => {
                let reader = match reader {
                    Reader::Event(part) => Reader::Part(access(part), mixed.number_of(part)),
                    Reader::Final(cell) => finals.get(&cell).copied().unwrap_or(reader),
                    part => part,
                };
                let source = match source {
                    Source::Initial => Source::Initial,
                    Source::Write(part) => Source::Write(access(part)),
                };
                Atom::Reads(reader, source)
            }
        };
        Literal { atom, ..*literal }
    };
    let step = |step: Step| Step {
        clause: step.clause.iter().map(literal).collect(),
        why: match step.why {
            Why::Cycle(cycle) => Why::Cycle(contracted(history, mixed, cycle)),
            other => other,
        },
    };
    Proof { steps: proof.steps.into_iter().map(step).collect() }
}
