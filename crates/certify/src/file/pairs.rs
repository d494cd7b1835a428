//! Relations of few pairs, listed; and whether two given events are related.
//!
//! The trace lists dependencies, atomics and exclusive pairs; each read has one source. What is made
//! from those has a list of pairs, too. For each pair of such a list it can be asked whether another
//! relation holds: `rmw & (fre ; coe)` asks for a write between two others in the order of an
//! address.

use super::events::{BaseRelation, BaseSet, Id};
use super::execution::NONE;
use super::flow::Flow;
use super::terms::{Term, TermId};

/// Writes of an address: a range of places in its order, and whether their thread counts.
struct Writes {
    address: usize,
    from: usize,
    to: usize,
    /// The thread, and whether it is wanted or unwanted.
    thread: Option<(Option<usize>, bool)>,
}

impl Flow<'_> {
    /// The pairs of a term, if it is made from lists.
    pub(super) fn pairs(&self, term: TermId) -> Option<Vec<(Id, Id)>> {
        match self.terms.get(term) {
            Term::Empty => Some(Vec::new()),
            Term::Relation(BaseRelation::ReadsFrom) => {
                let reads = self.run.source.iter().enumerate();
                let read = reads.filter(|&(_, &write)| write != NONE);
                Some(read.map(|(read, &write)| (write as usize, read)).collect())
            }
            Term::Relation(relation) => self.run.events.listed(relation),
            Term::Inverse(inner) => {
                Some(self.pairs(inner)?.into_iter().map(|(a, b)| (b, a)).collect())
            }
            Term::Union(a, b) => Some([self.pairs(a)?, self.pairs(b)?].concat()),
            Term::Intersection(a, b) => match self.pairs(a) {
                Some(pairs) => self.filtered(pairs, b, true),
                None => self.filtered(self.pairs(b)?, a, true),
            },
            Term::Difference(a, b) => self.filtered(self.pairs(a)?, b, false),
            Term::Sequence(a, b) => match (self.terms.get(a), self.terms.get(b)) {
                (Term::Identity(set), _) => {
                    let (mut pairs, members) = (self.pairs(b)?, self.members(set)?);
                    pairs.retain(|&(a, _)| members[a]);
                    Some(pairs)
                }
                (_, Term::Identity(set)) => {
                    let (mut pairs, members) = (self.pairs(a)?, self.members(set)?);
                    pairs.retain(|&(_, b)| members[b]);
                    Some(pairs)
                }
                _ => {
                    let (left, right) = (self.some_pairs(a)?, self.some_pairs(b)?);
                    composed_pairs(left, right, 8 * self.run.events.len() + 64)
                }
            },
            _ => None,
        }
    }

    /// The pairs of a term, and whether it is `?` of them.
    fn some_pairs(&self, term: TermId) -> Option<(Vec<(Id, Id)>, bool)> {
        match self.terms.get(term) {
            Term::Optional(inner) => Some((self.pairs(inner)?, true)),
            _ => Some((self.pairs(term)?, false)),
        }
    }

    /// Whether a relation made from lists has no cycle: what nothing comes before is taken away,
    /// until nothing is left.
    pub(super) fn is_acyclic(&self, term: TermId) -> Option<bool> {
        let mut pairs = self.pairs(term)?;
        pairs.sort_unstable();
        let mut waits = vec![0u32; self.run.events.len()];
        pairs.iter().for_each(|&(_, b)| waits[b] += 1);
        let mut free: Vec<Id> = self.run.events.ids().filter(|&id| waits[id] == 0).collect();
        let mut taken = 0;
        while let Some(id) = free.pop() {
            taken += 1;
            let first = pairs.partition_point(|&(a, _)| a < id);
            for &(_, b) in pairs[first..].iter().take_while(|&&(a, _)| a == id) {
                waits[b] -= 1;
                if waits[b] == 0 {
                    free.push(b);
                }
            }
        }
        Some(taken == self.run.events.len())
    }

    /// The pairs that are in a relation, or those that are not.
    pub(super) fn filtered(
        &self,
        pairs: Vec<(Id, Id)>,
        term: TermId,
        wanted: bool,
    ) -> Option<Vec<(Id, Id)>> {
        let mut kept = Vec::new();
        for (a, b) in pairs {
            if self.holds(term, a, b)? == wanted {
                kept.push((a, b));
            }
        }
        Some(kept)
    }

    /// Whether two events are related; `None` if that takes a search.
    fn holds(&self, term: TermId, a: Id, b: Id) -> Option<bool> {
        Some(match self.terms.get(term) {
            Term::Empty => false,
            Term::Relation(relation) => self.run.has(relation, a, b),
            Term::Union(x, y) => self.holds(x, a, b)? || self.holds(y, a, b)?,
            Term::Intersection(x, y) => self.holds(x, a, b)? && self.holds(y, a, b)?,
            Term::Difference(x, y) => self.holds(x, a, b)? && !self.holds(y, a, b)?,
            Term::Complement(inner) => !self.holds(inner, a, b)?,
            Term::Inverse(inner) => self.holds(inner, b, a)?,
            Term::Optional(inner) => a == b || self.holds(inner, a, b)?,
            Term::Identity(set) => a == b && self.is_member(set, a)?,
            Term::Product(x, y) => self.is_member(x, a)? && self.is_member(y, b)?,
            Term::Sequence(x, y) => return self.composed(x, y, a, b),
            _ => return None,
        })
    }

    fn is_member(&self, set: TermId, id: Id) -> Option<bool> {
        Some(match self.terms.get(set) {
            Term::Set(base) => self.run.events.is_in(base, id),
            Term::All => true,
            Term::Empty => false,
            Term::Union(a, b) => self.is_member(a, id)? || self.is_member(b, id)?,
            Term::Intersection(a, b) => self.is_member(a, id)? && self.is_member(b, id)?,
            Term::Difference(a, b) => self.is_member(a, id)? && !self.is_member(b, id)?,
            Term::Complement(inner) => !self.is_member(inner, id)?,
            _ => return None,
        })
    }

    fn composed(&self, x: TermId, y: TermId, a: Id, b: Id) -> Option<bool> {
        if let Term::Identity(set) = self.terms.get(x) {
            return Some(self.is_member(set, a)? && self.holds(y, a, b)?);
        }
        if let Term::Identity(set) = self.terms.get(y) {
            return Some(self.is_member(set, b)? && self.holds(x, a, b)?);
        }
        if let Term::Inverse(inner) = self.terms.get(x)
            && self.terms.get(inner) == Term::Relation(BaseRelation::ReadsFrom)
        {
            return match self.run.source[a] {
                NONE => Some(false),
                write => self.holds(y, write as usize, b),
            };
        }
        let (Some(later), Some(earlier)) = (self.later_writes(x, a)?, self.earlier_writes(y, b)?)
        else {
            return Some(false);
        };
        Some(later.address == earlier.address && self.is_any(&later, &earlier))
    }

    /// Whether some write is in both ranges.
    fn is_any(&self, a: &Writes, b: &Writes) -> bool {
        let order = &self.run.orders[a.address];
        let next = &self.next_thread[a.address];
        let (mut at, to) = (a.from.max(b.from), a.to.min(b.to));
        while at < to {
            let thread = self.thread(order[at]);
            let fits = |writes: &Writes| {
                writes.thread.is_none_or(|(wanted, is_wanted)| (thread == wanted) == is_wanted)
            };
            if fits(a) && fits(b) {
                return true;
            }
            // What follows of the same thread does not fit either.
            at = next[at] as usize;
        }
        false
    }

    /// The writes that an event is related to by `co` or `rf^-1 ; co`, within its thread or to
    /// others; `None` inside if there are none, outside if the term is of another form.
    fn later_writes(&self, term: TermId, a: Id) -> Option<Option<Writes>> {
        match self.terms.get(term) {
            Term::Relation(BaseRelation::Coherence) => {
                if !self.run.events.is_write(a) {
                    return Some(None);
                }
                let address = self.run.events.address(a)?.index();
                let (from, to) = (self.run.place[a] as usize + 1, self.run.orders[address].len());
                Some(Some(Writes { address, from, to, thread: None }))
            }
            Term::Sequence(x, y) => match (self.terms.get(x), self.terms.get(y)) {
                (Term::Inverse(inner), Term::Relation(BaseRelation::Coherence))
                    if self.terms.get(inner) == Term::Relation(BaseRelation::ReadsFrom) =>
                {
                    match self.run.source[a] {
                        NONE => Some(None),
                        write => self.later_writes(y, write as usize),
                    }
                }
                (_, Term::Identity(set)) if self.terms.get(set) == Term::Set(BaseSet::Writes) => {
                    self.later_writes(x, a)
                }
                _ => None,
            },
            // Neither `co` nor `fr` relates an event to itself.
            Term::Difference(inner, same)
                if self.terms.get(same) == Term::Relation(BaseRelation::Same) =>
            {
                self.later_writes(inner, a)
            }
            Term::Intersection(inner, thread) => {
                let within = self.is_about_threads(thread)?;
                let writes = self.later_writes(inner, a)?;
                self.of_thread(writes, a, within)
            }
            _ => None,
        }
    }

    fn earlier_writes(&self, term: TermId, b: Id) -> Option<Option<Writes>> {
        match self.terms.get(term) {
            Term::Relation(BaseRelation::Coherence) => {
                if !self.run.events.is_write(b) {
                    return Some(None);
                }
                let address = self.run.events.address(b)?.index();
                Some(Some(Writes {
                    address,
                    from: 0,
                    to: self.run.place[b] as usize,
                    thread: None,
                }))
            }
            Term::Intersection(inner, thread) => {
                let within = self.is_about_threads(thread)?;
                let writes = self.earlier_writes(inner, b)?;
                self.of_thread(writes, b, within)
            }
            _ => None,
        }
    }

    /// Whether a term is `int`, or else `ext`.
    fn is_about_threads(&self, term: TermId) -> Option<bool> {
        let is_int = |term| self.terms.get(term) == Term::Relation(BaseRelation::SameThread);
        match self.terms.get(term) {
            Term::Complement(inner) if is_int(inner) => Some(false),
            _ if is_int(term) => Some(true),
            _ => None,
        }
    }

    fn of_thread(&self, writes: Option<Writes>, of: Id, within: bool) -> Option<Option<Writes>> {
        match writes {
            None => Some(None),
            // An initial write is of no thread, so within its thread there is nothing.
            Some(_) if self.thread(of).is_none() && within => Some(None),
            Some(writes) if self.thread(of).is_none() => Some(Some(writes)),
            Some(Writes { thread: Some(_), .. }) => None,
            Some(writes) => {
                Some(Some(Writes { thread: Some((self.thread(of), within)), ..writes }))
            }
        }
    }
}

/// The composition of two lists, each perhaps with the identity; `None` if it is too long.
fn composed_pairs(
    (left, left_may_stay): (Vec<(Id, Id)>, bool),
    (mut right, right_may_stay): (Vec<(Id, Id)>, bool),
    longest: usize,
) -> Option<Vec<(Id, Id)>> {
    if left_may_stay && right_may_stay {
        return None;
    }
    right.sort_unstable();
    let mut pairs = if left_may_stay { right.clone() } else { Vec::new() };
    for &(a, stop) in &left {
        let first = right.partition_point(|&(from, _)| from < stop);
        let on = right[first..].iter().take_while(|&&(from, _)| from == stop);
        pairs.extend(on.map(|&(_, b)| (a, b)));
        if pairs.len() > longest {
            return None;
        }
    }
    if right_may_stay {
        pairs.extend(left);
    }
    Some(pairs)
}
