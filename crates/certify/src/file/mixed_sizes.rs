//! Accesses of mixed sizes under a model file: which conditions are about whole accesses.
//!
//! An access is one event for each of its cells (its parts), and the relations of the file are
//! between parts. The condition of locations, `acyclic po-loc | rf | co | fr`, is about parts. Every
//! other `acyclic` is about whole accesses: what reaches a part of an access reaches all of it, so
//! that a cycle may enter it at one part and leave it at another, and nothing is said within an
//! access. In files for AArch64 a step of a thread to a part of a read reaches that part alone.
//!
//! Where no condition is recognised as that of locations, all are taken to be about whole accesses.
//! That asks for more, so a witness is one either way; a violation is only believed if the file does
//! not speak of locations at all.

use cat::CatModel;
use cat::syntax::Test;

use super::events::{BaseRelation, Events, Id};
use super::terms::{Term, TermId, Terms};

/// How the conditions of a model are about whole accesses.
pub(super) struct MixedSizeRules {
    location: Option<usize>,
    /// Whether steps of a thread to a part of a read reach that part alone.
    reads_in_parts: bool,
    /// Whether another reading of the file would ask for less.
    pub(super) is_doubtful: bool,
}

impl MixedSizeRules {
    pub(super) fn of(model: &CatModel, terms: &Terms) -> Self {
        let location = terms.axioms.iter().position(|axiom| {
            axiom.test == Test::Acyclic && !axiom.negated && is_location(terms, axiom.body)
        });
        let speaks_of_locations = || {
            let is_loc = |id| terms.get(id) == Term::Relation(BaseRelation::SameAddress);
            terms.axioms.iter().any(|axiom| terms.is_made_from(axiom.body, &is_loc))
        };
        MixedSizeRules {
            location,
            reads_in_parts: !model.own_steps_reach_reads(),
            is_doubtful: location.is_none() && speaks_of_locations(),
        }
    }

    /// Whether an axiom is about whole accesses.
    pub(super) fn is_about_wholes(&self, axiom: usize) -> bool {
        self.location != Some(axiom)
    }

    /// Whether a step to a part of an access reaches that part alone.
    pub(super) fn is_reached_alone(&self, events: &Events<'_>, from: Id, to: Id) -> bool {
        from == to
            || self.reads_in_parts
                && events.is_read(to)
                && events.whole(from) != events.whole(to)
                && events.fixed(BaseRelation::SameThread, from, to)
    }

    /// Whether a step from one event to another is a step at all, and then whether a walk that goes
    /// on at a third one continues it.
    pub(super) fn continues(&self, events: &Events<'_>, step: (Id, Id), next: Id) -> bool {
        let (from, to) = step;
        let is_step = from == to || events.whole(from) != events.whole(to);
        let same = events.whole(to) == events.whole(next);
        is_step && (to == next || same && !self.is_reached_alone(events, from, to))
    }
}

/// Whether a relation is `po-loc | rf | co | fr`, perhaps with `amo` and `lxsx`.
fn is_location(terms: &Terms, body: TermId) -> bool {
    let mut members = Vec::new();
    let mut open = vec![body];
    while let Some(term) = open.pop() {
        match terms.get(term) {
            Term::Union(a, b) => open.extend([a, b]),
            _ => members.push(term),
        }
    }
    let is = |term, relation| terms.get(term) == Term::Relation(relation);
    let is_po_loc = |term| match terms.get(term) {
        Term::Intersection(a, b) => {
            let pair = |a, b| is(a, BaseRelation::ProgramOrder) && is(b, BaseRelation::SameAddress);
            pair(a, b) || pair(b, a)
        }
        _ => false,
    };
    let is_rf = |term| is(term, BaseRelation::ReadsFrom);
    let is_co = |term| is(term, BaseRelation::Coherence);
    let is_fr = |term| terms.is_from_read(term);
    let is_pair =
        |term| is(term, BaseRelation::AtomicPair) || is(term, BaseRelation::ExclusivePair);
    let needed: [&dyn Fn(TermId) -> bool; 4] = [&is_po_loc, &is_rf, &is_co, &is_fr];
    needed.iter().all(|is| members.iter().any(|&term| is(term)))
        && members.iter().all(|&term| is_pair(term) || needed.iter().any(|is| is(term)))
}
