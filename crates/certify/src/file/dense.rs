//! A model evaluated on a small execution: sets and relations as bits, every operator as it is
//! defined.
//!
//! The execution may be unfinished. Then each relation has two bounds, the pairs that are certainly
//! in it and those that may be; of a finished one the two are the same. Each term is evaluated once,
//! `let rec` again and again until nothing grows. For n events a relation takes n² bits and a
//! composition n³/64 steps, so this is for up to [`MOST_EVENTS`] events.

use cat::syntax::Test;

use super::events::{BaseRelation, Events, Id};
use super::execution::Run;
use super::mixed_sizes::MixedSizeRules;
use super::terms::{AxiomTerm, Term, TermId, Terms};

/// Larger executions are not evaluated in this way.
pub(crate) const MOST_EVENTS: usize = 1_600;

/// What is known of an execution.
pub(super) trait Knowledge {
    fn events(&self) -> &Events<'_>;
    /// Whether two events are certainly related.
    fn must(&self, relation: BaseRelation, a: Id, b: Id) -> bool;
    /// Whether they may be.
    fn may(&self, relation: BaseRelation, a: Id, b: Id) -> bool;
}

impl Knowledge for Run<'_> {
    fn events(&self) -> &Events<'_> {
        self.events
    }
    fn must(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        self.has(relation, a, b)
    }
    fn may(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        self.has(relation, a, b)
    }
}

/// A relation: a row of bits for each event. A set is the diagonal of one.
#[derive(Clone, PartialEq, Eq)]
struct Bits {
    words: usize,
    rows: Vec<u64>,
}

impl Bits {
    fn empty(size: usize) -> Self {
        let words = size.div_ceil(64);
        Bits { words, rows: vec![0; words * size] }
    }

    fn size(&self) -> usize {
        self.rows.len().checked_div(self.words).unwrap_or(0)
    }

    fn of(size: usize, holds: impl Fn(Id, Id) -> bool) -> Self {
        let mut bits = Bits::empty(size);
        for a in 0..size {
            (0..size).filter(|&b| holds(a, b)).for_each(|b| bits.insert(a, b));
        }
        bits
    }

    fn has(&self, a: Id, b: Id) -> bool {
        self.rows[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    fn insert(&mut self, a: Id, b: Id) {
        self.rows[a * self.words + b / 64] |= 1 << (b % 64);
    }

    fn row(&self, a: Id) -> &[u64] {
        &self.rows[a * self.words..(a + 1) * self.words]
    }

    fn combined(&self, other: &Bits, combine: impl Fn(u64, u64) -> u64) -> Bits {
        let rows = self.rows.iter().zip(&other.rows).map(|(&a, &b)| combine(a, b)).collect();
        Bits { words: self.words, rows }
    }

    /// Adds a row of another relation to the row of an event.
    fn add_row(&mut self, a: Id, row: &[u64]) {
        let start = a * self.words;
        self.rows[start..start + self.words].iter_mut().zip(row).for_each(|(to, from)| *to |= from);
    }

    fn sequence(&self, other: &Bits) -> Bits {
        let mut result = Bits::empty(self.size());
        for a in 0..self.size() {
            (0..self.size())
                .filter(|&m| self.has(a, m))
                .for_each(|m| result.add_row(a, other.row(m)));
        }
        result
    }

    fn inverse(&self) -> Bits {
        Bits::of(self.size(), |a, b| self.has(b, a))
    }

    fn with_identity(mut self) -> Bits {
        (0..self.size()).for_each(|a| self.insert(a, a));
        self
    }

    /// One step or more, by Warshall's algorithm.
    fn closure(mut self) -> Bits {
        for m in 0..self.size() {
            let row = self.row(m).to_vec();
            for a in 0..self.size() {
                if self.has(a, m) {
                    self.add_row(a, &row);
                }
            }
        }
        self
    }

    fn is_empty(&self) -> bool {
        self.rows.iter().all(|&word| word == 0)
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.size()).all(|a| !self.has(a, a))
    }
}

/// The pairs that are in a relation, and those that may be.
#[derive(Clone, PartialEq, Eq)]
struct Bounds {
    must: Bits,
    may: Bits,
}

impl Bounds {
    fn both(&self, each: impl Fn(&Bits) -> Bits) -> Bounds {
        Bounds { must: each(&self.must), may: each(&self.may) }
    }

    fn with(&self, other: &Bounds, each: impl Fn(&Bits, &Bits) -> Bits) -> Bounds {
        Bounds { must: each(&self.must, &other.must), may: each(&self.may, &other.may) }
    }

    /// What is left if the other is taken away.
    fn without(&self, other: &Bounds) -> Bounds {
        let less = |a: &Bits, b: &Bits| a.combined(b, |a, b| a & !b);
        Bounds { must: less(&self.must, &other.may), may: less(&self.may, &other.must) }
    }
}

/// The numbers of the axioms that an execution breaks, however it is finished.
pub(super) fn broken(
    terms: &Terms,
    mixed_sizes: &MixedSizeRules,
    run: &impl Knowledge,
) -> Vec<usize> {
    let (known, growing) = (vec![None; terms.len()], vec![None; terms.recursions.len()]);
    let mut values = Values { terms, run, known, growing };
    let mut is_broken = |number: usize| {
        let glued = run.events().are_parts() && mixed_sizes.is_about_wholes(number);
        values.is_broken(&terms.axioms[number], glued.then_some(mixed_sizes))
    };
    (0..terms.axioms.len()).filter(|&number| is_broken(number)).collect()
}

struct Values<'a, K> {
    terms: &'a Terms,
    run: &'a K,
    known: Vec<Option<Bounds>>,
    /// The values of the names of a recursion while it is evaluated.
    growing: Vec<Option<Vec<Bounds>>>,
}

impl<K: Knowledge> Values<'_, K> {
    fn is_broken(&mut self, axiom: &AxiomTerm, glued: Option<&MixedSizeRules>) -> bool {
        let Bounds { must, may } = self.value(axiom.body);
        let events = self.run.events();
        let holds = |value: Bits| match (axiom.test, glued) {
            (Test::Empty, _) => value.is_empty(),
            (Test::Irreflexive, _) => value.is_irreflexive(),
            (Test::Acyclic, None) => value.closure().is_irreflexive(),
            (Test::Acyclic, Some(mixed_sizes)) => {
                reaching_wholes(&value, events, mixed_sizes).closure().is_irreflexive()
            }
        };
        // More pairs break an axiom, and mend one that is negated.
        if axiom.negated { holds(may) } else { !holds(must) }
    }

    fn size(&self) -> usize {
        self.run.events().len()
    }

    /// Sets are parts of the identity, so that union, intersection and difference are the same for
    /// both.
    fn value(&mut self, id: TermId) -> Bounds {
        if let Some(known) = &self.known[id] {
            return known.clone();
        }
        let value = self.evaluate(id);
        self.known[id] = Some(value.clone());
        value
    }

    fn evaluate(&mut self, id: TermId) -> Bounds {
        let (size, run) = (self.size(), self.run);
        match self.terms.get(id) {
            Term::Set(set) => self.set(|id| run.events().is_in(set, id)),
            Term::All => self.set(|_| true),
            Term::Empty => self.set(|_| false),
            Term::Relation(relation) => Bounds {
                must: Bits::of(size, |a, b| run.must(relation, a, b)),
                may: Bits::of(size, |a, b| run.may(relation, a, b)),
            },
            Term::Union(a, b) => {
                self.value(a).with(&self.value(b), |a, b| a.combined(b, |a, b| a | b))
            }
            Term::Intersection(a, b) => {
                self.value(a).with(&self.value(b), |a, b| a.combined(b, |a, b| a & b))
            }
            Term::Difference(a, b) => self.value(a).without(&self.value(b)),
            Term::Complement(inner) => {
                let everything = match self.terms.is_set(inner) {
                    true => self.set(|_| true),
                    false => {
                        let all = Bits::of(size, |_, _| true);
                        Bounds { must: all.clone(), may: all }
                    }
                };
                everything.without(&self.value(inner))
            }
            Term::Sequence(a, b) => self.value(a).with(&self.value(b), Bits::sequence),
            Term::Inverse(inner) => self.value(inner).both(Bits::inverse),
            Term::Plus(inner) => self.value(inner).both(|bits| bits.clone().closure()),
            Term::Optional(inner) => self.value(inner).both(|bits| bits.clone().with_identity()),
            Term::Identity(set) => self.value(set),
            Term::Product(from, to) => {
                let product =
                    |from: &Bits, to: &Bits| Bits::of(size, |a, b| from.has(a, a) && to.has(b, b));
                self.value(from).with(&self.value(to), product)
            }
            Term::Domain(inner) => self.value(inner).both(domain),
            Term::Range(inner) => self.value(inner).both(|bits| domain(&bits.inverse())),
            Term::Variable(recursion, name) => self.variable(recursion, name),
        }
    }

    fn set(&self, holds: impl Fn(Id) -> bool) -> Bounds {
        let bits = Bits::of(self.size(), |a, b| a == b && holds(a));
        Bounds { must: bits.clone(), may: bits }
    }

    /// The least fixpoint, from nothing; inside of it, what is there so far.
    fn variable(&mut self, recursion: usize, name: usize) -> Bounds {
        if let Some(values) = &self.growing[recursion] {
            return values[name].clone();
        }
        let bodies = self.terms.recursions[recursion].clone();
        let open = self.terms.depend_on(recursion);
        let mut values = vec![self.set(|_| false); bodies.len()];
        loop {
            let forgotten = self.known.iter_mut().zip(&open).filter(|(_, open)| **open);
            forgotten.for_each(|(known, _)| *known = None);
            self.growing[recursion] = Some(values.clone());
            let next: Vec<Bounds> = bodies.iter().map(|&body| self.value(body)).collect();
            if next == values {
                break;
            }
            values = next;
        }
        self.growing[recursion] = None;
        values.swap_remove(name)
    }
}

/// A relation between parts as one that reaches whole accesses: what comes before a part comes before
/// all parts of its access.
fn reaching_wholes(value: &Bits, events: &Events<'_>, mixed_sizes: &MixedSizeRules) -> Bits {
    let mut parts: Vec<Vec<Id>> = vec![Vec::new(); events.len()];
    events.ids().for_each(|id| parts[events.whole(id)].push(id));
    let mut reached = Bits::empty(value.size());
    for a in events.ids() {
        for b in events.ids().filter(|&b| value.has(a, b)) {
            if mixed_sizes.is_reached_alone(events, a, b) {
                reached.insert(a, b);
            } else if events.whole(a) != events.whole(b) {
                parts[events.whole(b)].iter().for_each(|&part| reached.insert(a, part));
            }
        }
    }
    reached
}

/// The events that are related to some other, as a set.
fn domain(bits: &Bits) -> Bits {
    let is_first = |a| bits.row(a).iter().any(|&word| word != 0);
    Bits::of(bits.size(), |a, b| a == b && is_first(a))
}
