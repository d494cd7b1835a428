//! Whether a pair is in a relation of the model, given the stops of the composition it comes from,
//! where not all of the execution is known.
//!
//! What counts is what holds in every execution that agrees with the facts of a step: who read what
//! and which write came first are known only where the trace, an earlier step or an assumption says
//! so. A walk through stops is matched with a term as a text is with a regular expression: a
//! composition splits it, a base relation takes one step of it. Where something is taken away, it
//! must be certain that the pair is not in it.

use evidence::{Literal, Reader};
use history::{EventId, Source};
use rustc_hash::FxHashMap;

use super::events::{BaseRelation, Events, Id};
use super::terms::{Term, TermId, Terms};
use crate::facts::Facts;

/// A walk has at most so many stops, its ends included.
const LONGEST: usize = 24;
/// In traces of so many events every event is tried as a stop where something is taken away.
const FEW: usize = 600;

/// A model, a trace, and what is known.
pub(super) struct ProofContext<'a> {
    pub(super) terms: &'a Terms,
    pub(super) events: &'a Events<'a>,
    pub(super) facts: &'a Facts<'a>,
}

/// A walk that is matched.
struct Walk<'a> {
    known: &'a ProofContext<'a>,
    stops: &'a [Id],
    /// By term, the part of the walk, and whether it is walked backwards.
    matched: FxHashMap<(TermId, usize, usize, bool), bool>,
}

impl ProofContext<'_> {
    /// Whether a walk shows that its ends are related.
    pub(super) fn relates(&self, term: TermId, walk: &[Id]) -> bool {
        if walk.is_empty() || walk.len() > LONGEST {
            return false;
        }
        Walk { known: self, stops: walk, matched: FxHashMap::default() }.matches(
            term,
            0,
            walk.len() - 1,
            false,
        )
    }

    /// The members of unions by which a walk is related, from the outside in: the union, and which
    /// of its two operands.
    pub(super) fn reasons(&self, term: TermId, walk: &[Id]) -> Vec<(TermId, usize)> {
        let mut reasons = Vec::new();
        if self.relates(term, walk) {
            let mut matcher = Walk { known: self, stops: walk, matched: FxHashMap::default() };
            matcher.reasons(term, 0, walk.len() - 1, false, &mut reasons);
        }
        reasons
    }

    /// Whether two events are related, with no stops in between.
    fn directly(&self, term: TermId, a: Id, b: Id) -> bool {
        match a == b {
            true => self.relates(term, &[a]) || self.relates(term, &[a, b]),
            false => self.relates(term, &[a, b]),
        }
    }

    fn base(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        let events = self.events;
        match relation {
            BaseRelation::ReadsFrom => events.origin(b).is_some_and(|read| {
                events.is_write(a)
                    && events.is_read(b)
                    && events.address(a) == events.address(b)
                    && self.facts.reads(Reader::Event(read), events.source(a))
            }),
            BaseRelation::Coherence => self.writes_of_one(a, b).is_some_and(|address| {
                self.facts.before(address, events.source(a), events.source(b))
            }),
            _ => events.fixed(relation, a, b),
        }
    }

    /// The address of two different writes, if they are.
    fn writes_of_one(&self, a: Id, b: Id) -> Option<history::AddressId> {
        let events = self.events;
        let address = events.address(a)?;
        let are = a != b && events.is_write(a) && events.is_write(b);
        (are && events.address(b) == Some(address)).then_some(address)
    }

    /// Whether it is certain that two events are not related.
    fn never(&self, term: TermId, a: Id, b: Id) -> bool {
        match self.terms.get(term) {
            Term::Empty => true,
            Term::Relation(BaseRelation::ReadsFrom) => self.never_reads(a, b),
            Term::Relation(BaseRelation::Coherence) => match self.writes_of_one(a, b) {
                None => true,
                Some(_) => self.base(BaseRelation::Coherence, b, a),
            },
            Term::Relation(relation) => !self.events.fixed(relation, a, b),
            Term::Union(x, y) => self.never(x, a, b) && self.never(y, a, b),
            Term::Intersection(x, y) => self.never(x, a, b) || self.never(y, a, b),
            Term::Difference(x, y) => self.never(x, a, b) || self.directly(y, a, b),
            Term::Complement(inner) => self.directly(inner, a, b),
            Term::Inverse(inner) => self.never(inner, b, a),
            Term::Optional(inner) => a != b && self.never(inner, a, b),
            Term::Identity(set) => a != b || self.member(set, a) == Some(false),
            Term::Product(x, y) => {
                self.member(x, a) == Some(false) || self.member(y, b) == Some(false)
            }
            Term::Sequence(x, y) => {
                let cannot = |stop: Id| self.never(x, a, stop) || self.never(y, stop, b);
                self.between(x, y, a, b).is_some_and(|stops| stops.into_iter().all(cannot))
            }
            _ => false,
        }
    }

    fn never_reads(&self, write: Id, read: Id) -> bool {
        let events = self.events;
        let Some(reader) = events.origin(read).filter(|_| events.is_read(read)) else {
            return true;
        };
        if !events.is_write(write) || events.address(write) != events.address(read) {
            return true;
        }
        let (reader, source) = (Reader::Event(reader), events.source(write));
        !self.facts.is_candidate(reader, source)
            || self.facts.holds(Literal::reads(reader, source).negated())
            || self.facts.sources(reader).any(|known| known != source)
    }

    /// All events that can be the stop of a composition; `None` if they may be too many.
    fn between(&self, x: TermId, y: TermId, a: Id, b: Id) -> Option<Vec<Id>> {
        let events = self.events;
        if let Term::Identity(_) = self.terms.get(x) {
            return Some(vec![a]);
        }
        if let Term::Identity(_) = self.terms.get(y) {
            return Some(vec![b]);
        }
        if let Term::Inverse(inner) = self.terms.get(x)
            && self.terms.get(inner) == Term::Relation(BaseRelation::ReadsFrom)
        {
            let read = events.origin(a).filter(|_| events.is_read(a));
            let sources: &[Source] = read.map_or(&[], |read| events.history.sources(read));
            let address = events.address(a)?;
            return Some(sources.iter().map(|&source| events.write(source, address)).collect());
        }
        if self.leads_on(x) && self.leads_on(y) {
            let (Some(first), Some(last)) = (events.origin(a), events.origin(b)) else {
                return Some(Vec::new());
            };
            if events.history.thread_of(first) != events.history.thread_of(last) || last < first {
                return Some(Vec::new());
            }
            return Some((events.parts(first).start..events.parts(last).end).collect());
        }
        if self.terms.stays_in_thread(x) && self.terms.stays_at_address(x) {
            let Some(first) = events.origin(a) else { return Some(vec![a]) };
            let is_there = |&id: &Id| events.address(id) == events.address(a);
            let own = events.history.thread_events(events.history.thread_of(first));
            return Some(own.flat_map(|event| events.parts(event)).filter(is_there).collect());
        }
        (events.len() <= FEW).then(|| events.ids().collect())
    }

    /// Whether a term relates events of a thread to themselves and later ones only.
    fn leads_on(&self, term: TermId) -> bool {
        match self.terms.get(term) {
            Term::Relation(relation) => matches!(
                relation,
                BaseRelation::Same
                    | BaseRelation::ProgramOrder
                    | BaseRelation::Dependency(_)
                    | BaseRelation::AtomicPair
                    | BaseRelation::ExclusivePair
            ),
            Term::Identity(_) | Term::Empty => true,
            Term::Optional(inner) | Term::Plus(inner) => self.leads_on(inner),
            Term::Sequence(a, b) | Term::Union(a, b) => self.leads_on(a) && self.leads_on(b),
            Term::Intersection(a, b) => self.leads_on(a) || self.leads_on(b),
            Term::Difference(a, _) => self.leads_on(a),
            _ => false,
        }
    }

    /// Whether an event is in a set; `None` if that is not known.
    fn member(&self, set: TermId, id: Id) -> Option<bool> {
        match self.terms.get(set) {
            Term::Set(base) => Some(self.events.is_in(base, id)),
            Term::All => Some(true),
            Term::Empty => Some(false),
            Term::Union(a, b) => match (self.member(a, id), self.member(b, id)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Term::Intersection(a, b) => match (self.member(a, id), self.member(b, id)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Term::Difference(a, b) => match (self.member(a, id), self.member(b, id)) {
                (Some(false), _) | (_, Some(true)) => Some(false),
                (Some(true), Some(false)) => Some(true),
                _ => None,
            },
            Term::Complement(inner) => self.member(inner, id).map(|is_in| !is_in),
            Term::Domain(inner) => self.is_end(inner, id, true),
            Term::Range(inner) => self.is_end(inner, id, false),
            _ => None,
        }
    }

    /// Whether an event is related to some other, or some other to it.
    fn is_end(&self, term: TermId, id: Id, is_first: bool) -> Option<bool> {
        let others = match (self.is_of_pairs(term), self.events.len() <= FEW) {
            (true, _) => self.partners(id),
            (false, true) => self.events.ids().collect(),
            (false, false) => return None,
        };
        let ends = |other| if is_first { (id, other) } else { (other, id) };
        let related = |&other: &Id| {
            let (a, b) = ends(other);
            self.directly(term, a, b)
        };
        if others.iter().any(related) {
            return Some(true);
        }
        let unrelated = |&other: &Id| {
            let (a, b) = ends(other);
            self.never(term, a, b)
        };
        others.iter().all(unrelated).then_some(false)
    }

    /// Whether a term relates the two accesses of atomics and pairs only.
    fn is_of_pairs(&self, term: TermId) -> bool {
        match self.terms.get(term) {
            Term::Relation(BaseRelation::AtomicPair | BaseRelation::ExclusivePair) => true,
            Term::Union(a, b) => self.is_of_pairs(a) && self.is_of_pairs(b),
            Term::Intersection(a, b) => self.is_of_pairs(a) || self.is_of_pairs(b),
            Term::Difference(a, _) | Term::Inverse(a) => self.is_of_pairs(a),
            Term::Sequence(a, b) => {
                let is_test = |term| self.terms.is_test(term);
                is_test(a) && self.is_of_pairs(b) || self.is_of_pairs(a) && is_test(b)
            }
            _ => false,
        }
    }

    /// The other access of an atomic or a pair.
    fn partners(&self, id: Id) -> Vec<Id> {
        let events = self.events;
        let Some(event) = events.origin(id) else { return Vec::new() };
        let mut partners: Vec<Id> = events.parts(event).collect();
        let of = |&&(store, load): &&(EventId, EventId)| store == event || load == event;
        for &(store, load) in events.history.pairs().iter().filter(of) {
            partners.extend([events.parts(load).start, events.parts(store).start]);
        }
        partners
    }
}

impl Walk<'_> {
    /// Whether the stops from one place to another are a walk along a term; `back` if along its
    /// inverse.
    fn matches(&mut self, term: TermId, from: usize, to: usize, back: bool) -> bool {
        let key = (term, from, to, back);
        if let Some(&known) = self.matched.get(&key) {
            return known;
        }
        // What is asked of itself on the way is not shown by it.
        self.matched.insert(key, false);
        let matches = self.is_match(term, from, to, back);
        self.matched.insert(key, matches);
        matches
    }

    fn ends(&self, from: usize, to: usize, back: bool) -> (Id, Id) {
        let (first, last) = (self.stops[from], self.stops[to]);
        if back { (last, first) } else { (first, last) }
    }

    fn is_match(&mut self, term: TermId, from: usize, to: usize, back: bool) -> bool {
        let known = self.known;
        let (a, b) = self.ends(from, to, back);
        let is_step = to == from + 1;
        let is_pair = is_step || from == to;
        match known.terms.get(term) {
            Term::Relation(BaseRelation::Same) => from == to || is_step && a == b,
            Term::Relation(relation) => is_pair && known.base(relation, a, b),
            Term::Inverse(inner) => self.matches(inner, from, to, !back),
            Term::Union(x, y) => self.matches(x, from, to, back) || self.matches(y, from, to, back),
            Term::Sequence(x, y) => self.split(x, y, from, to, back).is_some(),
            Term::Optional(inner) => {
                from == to || is_step && a == b || self.matches(inner, from, to, back)
            }
            Term::Plus(inner) => {
                self.matches(inner, from, to, back)
                    || (from + 1..to).any(|stop| {
                        self.matches(inner, from, stop, back) && self.matches(term, stop, to, back)
                    })
            }
            Term::Identity(set) => from == to && known.member(set, a) == Some(true),
            Term::Product(x, y) => {
                is_pair && known.member(x, a) == Some(true) && known.member(y, b) == Some(true)
            }
            Term::Intersection(x, y) => {
                self.part(x, from, to, back) && self.part(y, from, to, back)
            }
            Term::Difference(x, y) => self.matches(x, from, to, back) && known.never(y, a, b),
            Term::Complement(inner) => is_pair && known.never(inner, a, b),
            _ => false,
        }
    }

    /// One of several relations that must hold at once: along the stops, or without them.
    fn part(&mut self, term: TermId, from: usize, to: usize, back: bool) -> bool {
        let (a, b) = self.ends(from, to, back);
        self.matches(term, from, to, back) || self.known.directly(term, a, b)
    }

    /// Where a walk goes from the first part of a composition to the second.
    fn split(&mut self, x: TermId, y: TermId, from: usize, to: usize, back: bool) -> Option<usize> {
        let (first, second) = if back { (y, x) } else { (x, y) };
        (from..=to).find(|&stop| {
            self.matches(first, from, stop, back) && self.matches(second, stop, to, back)
        })
    }

    fn reasons(
        &mut self,
        term: TermId,
        from: usize,
        to: usize,
        back: bool,
        reasons: &mut Vec<(TermId, usize)>,
    ) {
        match self.known.terms.get(term) {
            Term::Union(x, y) => {
                let side = usize::from(!self.matches(x, from, to, back));
                reasons.push((term, side));
                self.reasons([x, y][side], from, to, back, reasons);
            }
            Term::Sequence(x, y) => {
                if let Some(stop) = self.split(x, y, from, to, back) {
                    let (first, second) = if back { (y, x) } else { (x, y) };
                    self.reasons(first, from, stop, back, reasons);
                    self.reasons(second, stop, to, back, reasons);
                }
            }
            Term::Inverse(inner) => self.reasons(inner, from, to, !back, reasons),
            Term::Plus(inner) | Term::Optional(inner) | Term::Difference(inner, _)
                if self.matches(inner, from, to, back) =>
            {
                self.reasons(inner, from, to, back, reasons);
            }
            Term::Intersection(x, y) => {
                for part in [x, y] {
                    if self.matches(part, from, to, back) {
                        self.reasons(part, from, to, back, reasons);
                    }
                }
            }
            _ => {}
        }
    }
}
