//! A model evaluated on a long execution, in time near-linear in its events.
//!
//! That a relation has no cycle is shown by numbers that grow along it. So the question is, for each
//! event b, what the largest number among the events before it is: the *image* of the numbers under
//! the relation. Images need no pairs. That of `r | s` is the larger of two images, that of `r ; s`
//! is an image of an image, `po` is a running maximum along each thread, `co` along each address. A
//! restriction to different threads or different sources keeps the two best numbers of different
//! threads or sources instead of one. Where a term is of none of these forms there is no answer, and
//! the certificate is not confirmed.

use std::cell::RefCell;
use std::rc::Rc;

use history::{EventId, History};
use rustc_hash::FxHashMap;

use super::chains::{along_threads, along_times, earlier_in_time};
use super::events::{BaseRelation, Id};
use super::execution::{NONE, Run};
use super::terms::{Term, TermId, Terms};

/// Numbers of which the largest is wanted.
pub(super) trait Join: Copy {
    /// No number.
    const NONE: Self;
    fn join(&mut self, other: Self);
    fn is_none(&self) -> bool;
    /// The image under the part of a term that relates events with different keys.
    fn apart(
        flow: &Flow<'_>,
        term: TermId,
        key: Key,
        numbers: &[Self],
        back: bool,
    ) -> Option<Vec<Self>>;
}

/// What two events are compared by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Event,
    Thread,
    Address,
    Source,
}

impl Join for u64 {
    const NONE: u64 = 0;
    fn join(&mut self, other: u64) {
        *self = (*self).max(other);
    }
    fn is_none(&self) -> bool {
        *self == 0
    }
    fn apart(
        flow: &Flow<'_>,
        term: TermId,
        key: Key,
        numbers: &[u64],
        back: bool,
    ) -> Option<Vec<u64>> {
        let keys = flow.keys(key);
        let tagged = numbers.iter().zip(&keys);
        let tagged: Vec<Two> =
            tagged.map(|(&number, &key)| Two { best: (number, key), other: (0, 0) }).collect();
        let image = flow.image(term, &tagged, back)?;
        let unlike = |(two, &key): (&Two, &u32)| match two.best.1 == key {
            true => two.other.0,
            false => two.best.0,
        };
        Some(image.iter().zip(&keys).map(unlike).collect())
    }
}

/// The largest number, and the largest of another key.
#[derive(Clone, Copy)]
pub(super) struct Two {
    best: (u64, u32),
    other: (u64, u32),
}

impl Two {
    fn put(&mut self, (number, key): (u64, u32)) {
        if number == 0 {
        } else if key == self.best.1 && self.best.0 > 0 {
            self.best.0 = self.best.0.max(number);
        } else if number > self.best.0 {
            self.other = self.best;
            self.best = (number, key);
        } else if number > self.other.0 {
            self.other = (number, key);
        }
    }
}

impl Join for Two {
    const NONE: Two = Two { best: (0, 0), other: (0, 0) };
    fn join(&mut self, other: Two) {
        self.put(other.best);
        self.put(other.other);
    }
    fn is_none(&self) -> bool {
        self.best.0 == 0
    }
    fn apart(_: &Flow<'_>, _: TermId, _: Key, _: &[Two], _: bool) -> Option<Vec<Two>> {
        None
    }
}

/// A model and an execution.
pub(super) struct Flow<'a> {
    pub(super) terms: &'a Terms,
    pub(super) run: &'a Run<'a>,
    /// For each place in the order of an address, the next write of another thread.
    pub(super) next_thread: Vec<Vec<u32>>,
    /// The members of the sets that were asked for.
    known_members: RefCell<FxHashMap<TermId, Rc<[bool]>>>,
}

/// What else is asked of the pairs of a relation.
#[derive(Default)]
struct Restrictions {
    /// The sets that the first and the second event are in.
    ends: Vec<(TermId, TermId)>,
    same_thread: bool,
    same_address: bool,
    apart: Option<Key>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(terms: &'a Terms, run: &'a Run<'a>) -> Self {
        let mut flow =
            Flow { terms, run, next_thread: Vec::new(), known_members: RefCell::default() };
        for order in &run.orders {
            let mut next = vec![order.len() as u32; order.len()];
            for at in (1..order.len()).rev() {
                let same = flow.thread(order[at - 1]) == flow.thread(order[at]);
                next[at - 1] = if same { next[at] } else { at as u32 };
            }
            flow.next_thread.push(next);
        }
        flow
    }

    pub(super) fn history(&self) -> &'a History {
        self.run.events.history
    }

    pub(super) fn thread(&self, id: Id) -> Option<usize> {
        self.run.events.origin(id).map(|event| self.history().thread_of(event).index())
    }

    fn keys(&self, key: Key) -> Vec<u32> {
        let events = self.run.events;
        // What has no key is unlike everything: it gets one of its own.
        let own = |id: Id| u32::MAX - 1 - id as u32;
        let key = |id: Id| match key {
            Key::Event => id as u32,
            Key::Thread => self.thread(id).map_or(own(id), |thread| thread as u32),
            Key::Address => events.address(id).map_or(own(id), |address| address.index() as u32),
            Key::Source => match self.run.source[id] {
                NONE => own(id),
                source => source,
            },
        };
        events.ids().map(key).collect()
    }

    /// For each event, the largest number of those that are related to it; or that it is related to,
    /// if `back`. `None` if the term is of another form.
    pub(super) fn image<L: Join>(&self, term: TermId, f: &[L], back: bool) -> Option<Vec<L>> {
        let nothing = || vec![L::NONE; f.len()];
        if f.iter().all(Join::is_none) {
            return Some(nothing());
        }
        match self.terms.get(term) {
            Term::Empty => Some(nothing()),
            Term::Relation(relation) => self.base(relation, f, back),
            Term::Inverse(inner) => self.image(inner, f, !back),
            Term::Union(a, b) => Some(joined(self.image(a, f, back)?, &self.image(b, f, back)?)),
            Term::Optional(inner) => Some(joined(self.image(inner, f, back)?, f)),
            Term::Sequence(a, b) => {
                let (first, second) = if back { (b, a) } else { (a, b) };
                self.image(second, &self.image(first, f, back)?, back)
            }
            Term::Identity(set) => Some(masked(f, &self.members(set)?)),
            Term::Product(a, b) => {
                let (from, to) = if back { (b, a) } else { (a, b) };
                let (from, to) = (self.members(from)?, self.members(to)?);
                let mut all = L::NONE;
                masked(f, &from).into_iter().for_each(|number| all.join(number));
                Some(masked(&vec![all; f.len()], &to))
            }
            Term::Intersection(..) => {
                let mut image = nothing();
                for conjuncts in self.conjunctions(term)? {
                    image = joined(image, &self.conjunction(&conjuncts, f, back)?);
                }
                Some(image)
            }
            Term::Difference(from, taken) => {
                let mut all = Vec::new();
                self.members_of_union(taken, &mut all);
                self.difference(term, from, &all, f, back)
            }
            _ => None,
        }
    }

    fn base<L: Join>(&self, relation: BaseRelation, f: &[L], back: bool) -> Option<Vec<L>> {
        let mut image = vec![L::NONE; f.len()];
        match relation {
            BaseRelation::Same => image.copy_from_slice(f),
            BaseRelation::ProgramOrder => along_threads(self, f, back, false, None, &mut image),
            BaseRelation::ReadsFrom => {
                for (read, &write) in self.run.source.iter().enumerate() {
                    match (write, back) {
                        (NONE, _) => {}
                        (write, false) => image[read] = f[write as usize],
                        (write, true) => image[write as usize].join(f[read]),
                    }
                }
            }
            BaseRelation::Coherence => {
                for order in &self.run.orders {
                    let mut sofar = L::NONE;
                    each(order, back, |write| {
                        image[write] = sofar;
                        sofar.join(f[write]);
                    });
                }
            }
            BaseRelation::SameAddress | BaseRelation::SameThread => {
                let is_address = relation == BaseRelation::SameAddress;
                let keys = self.keys(if is_address { Key::Address } else { Key::Thread });
                let mut all: FxHashMap<u32, L> = FxHashMap::default();
                for (&key, &number) in keys.iter().zip(f) {
                    all.entry(key).or_insert(L::NONE).join(number);
                }
                for (id, key) in keys.iter().enumerate() {
                    let has_none = is_address && self.run.events.address(id).is_none();
                    image[id] = if has_none { L::NONE } else { all[key] };
                }
            }
            BaseRelation::RealTime => along_times(self, f, back, &mut image),
            BaseRelation::Dependency(_)
            | BaseRelation::AtomicPair
            | BaseRelation::ExclusivePair => {
                return Some(by_pairs(&self.run.events.listed(relation)?, f, back));
            }
        }
        Some(image)
    }

    /// The members of a union, nested or not.
    pub(super) fn members_of_union(&self, term: TermId, all: &mut Vec<TermId>) {
        match self.terms.get(term) {
            Term::Union(a, b) => {
                self.members_of_union(a, all);
                self.members_of_union(b, all);
            }
            _ => all.push(term),
        }
    }

    /// A relation as a union of intersections.
    fn conjunctions(&self, term: TermId) -> Option<Vec<Vec<TermId>>> {
        const MOST: usize = 64;
        let all = match self.terms.get(term) {
            Term::Intersection(a, b) => {
                let (first, second) = (self.conjunctions(a)?, self.conjunctions(b)?);
                let both = |a: &Vec<TermId>, b: &Vec<TermId>| [&a[..], &b[..]].concat();
                first.iter().flat_map(|a| second.iter().map(move |b| both(a, b))).collect()
            }
            Term::Union(a, b) => [self.conjunctions(a)?, self.conjunctions(b)?].concat(),
            _ => vec![vec![term]],
        };
        (all.len() <= MOST).then_some(all)
    }

    fn conjunction<L: Join>(&self, conjuncts: &[TermId], f: &[L], back: bool) -> Option<Vec<L>> {
        let mut asked = Restrictions::default();
        let mut carriers = Vec::new();
        for &each in conjuncts {
            match self.terms.get(each) {
                Term::Product(a, b) => asked.ends.push((a, b)),
                Term::Relation(BaseRelation::SameThread) => asked.same_thread = true,
                Term::Relation(BaseRelation::SameAddress) => asked.same_address = true,
                Term::Complement(inner) if self.key(inner).is_some() && asked.apart.is_none() => {
                    asked.apart = self.key(inner);
                }
                _ => carriers.push(each),
            }
        }
        if let Some(&listed) = carriers.iter().find(|&&each| self.pairs(each).is_some()) {
            let mut pairs = self.pairs(listed)?;
            for &each in conjuncts.iter().filter(|&&each| each != listed) {
                pairs = self.filtered(pairs, each, true)?;
            }
            return Some(by_pairs(&pairs, f, back));
        }
        let mut numbers = f.to_vec();
        for &(a, b) in &asked.ends {
            numbers = masked(&numbers, &self.members(if back { b } else { a })?);
        }
        let mut image = self.restricted(&carriers, &asked, &numbers, back)?;
        for &(a, b) in &asked.ends {
            image = masked(&image, &self.members(if back { a } else { b })?);
        }
        Some(image)
    }

    /// The image under relations of which all must hold, restricted.
    fn restricted<L: Join>(
        &self,
        carriers: &[TermId],
        asked: &Restrictions,
        f: &[L],
        back: bool,
    ) -> Option<Vec<L>> {
        use BaseRelation::{Coherence, ProgramOrder, RealTime};
        let is = |relation| carriers.iter().any(|&c| self.terms.get(c) == Term::Relation(relation));
        let mut image = vec![L::NONE; f.len()];
        match (carriers, asked.apart) {
            (&[_], None) if is(ProgramOrder) => {
                along_threads(self, f, back, asked.same_address, None, &mut image);
                Some(image)
            }
            (&[_, _], None) if is(ProgramOrder) && is(RealTime) && !asked.same_address => {
                earlier_in_time(self, f, back, &mut image);
                Some(image)
            }
            (&[_], None) if is(Coherence) && asked.same_thread => {
                for order in &self.run.orders {
                    let mut sofar: FxHashMap<Option<usize>, L> = FxHashMap::default();
                    each(order, back, |write| {
                        let own = sofar.entry(self.thread(write)).or_insert(L::NONE);
                        image[write] = *own;
                        own.join(f[write]);
                    });
                }
                Some(image)
            }
            (&[only], None) if asked.same_thread && self.terms.is_from_read(only) => {
                self.own_overwrites(f, back, &mut image);
                Some(image)
            }
            (&[only], None) if !asked.same_thread && self.terms.stays_at_address(only) => {
                self.image(only, f, back)
            }
            (&[only], None) if !asked.same_thread && !asked.same_address => {
                self.image(only, f, back)
            }
            (&[only], Some(key)) if !asked.same_thread => {
                let at_one = !asked.same_address || self.terms.stays_at_address(only);
                at_one.then(|| L::apart(self, only, key, f, back))?
            }
            _ => None,
        }
    }

    /// The image under `fri`: along the writes of each address, thread by thread. A read stands behind
    /// the write that it read.
    fn own_overwrites<L: Join>(&self, f: &[L], back: bool, image: &mut [L]) {
        let mut readers: Vec<(u32, Id)> = Vec::new();
        for (read, &write) in self.run.source.iter().enumerate().filter(|(_, w)| **w != NONE) {
            readers.push((write, read));
        }
        readers.sort_unstable();
        for order in &self.run.orders {
            let mut sofar: FxHashMap<usize, L> = FxHashMap::default();
            each(order, back, |write| {
                // An initial write is of no thread.
                let own = self.thread(write);
                let first = readers.partition_point(|&(source, _)| (source as usize) < write);
                let reads = readers[first..].iter().take_while(|each| each.0 as usize == write);
                if let (Some(own), false) = (own, back) {
                    image[write] = sofar.get(&own).copied().unwrap_or(L::NONE);
                }
                for &(_, read) in reads {
                    let Some(thread) = self.thread(read) else { continue };
                    let seen = sofar.entry(thread).or_insert(L::NONE);
                    match back {
                        false => seen.join(f[read]),
                        true => image[read] = *seen,
                    }
                }
                if let (Some(own), true) = (own, back) {
                    sofar.entry(own).or_insert(L::NONE).join(f[write]);
                }
            });
        }
    }

    /// The relation "of the same …" that a term is.
    fn key(&self, term: TermId) -> Option<Key> {
        match self.terms.get(term) {
            Term::Relation(BaseRelation::Same) => Some(Key::Event),
            Term::Relation(BaseRelation::SameThread) => Some(Key::Thread),
            Term::Relation(BaseRelation::SameAddress) => Some(Key::Address),
            Term::Sequence(a, b) => {
                let is_rf = |term| self.terms.get(term) == Term::Relation(BaseRelation::ReadsFrom);
                let is_back = matches!(self.terms.get(a), Term::Inverse(inner) if is_rf(inner));
                (is_back && is_rf(b)).then_some(Key::Source)
            }
            _ => None,
        }
    }

    fn difference<L: Join>(
        &self,
        whole: TermId,
        from: TermId,
        taken: &[TermId],
        f: &[L],
        back: bool,
    ) -> Option<Vec<L>> {
        if let Some(pairs) = self.pairs(whole) {
            return Some(by_pairs(&pairs, f, back));
        }
        let is_product = |&&each: &&TermId| matches!(self.terms.get(each), Term::Product(..));
        if let Some(&product) = taken.iter().find(is_product) {
            let Term::Product(a, b) = self.terms.get(product) else { return None };
            let (first, last) = if back { (b, a) } else { (a, b) };
            let outside = |set| {
                let members = self.members(set)?;
                Some(members.iter().map(|&is_in| !is_in).collect::<Vec<bool>>())
            };
            let rest: Vec<TermId> = taken.iter().copied().filter(|&each| each != product).collect();
            // From outside of the first set, or to outside of the second.
            let numbers = masked(f, &outside(first)?);
            let image = self.difference(whole, from, &rest, &numbers, back)?;
            let to = self.difference(whole, from, &rest, f, back)?;
            return Some(joined(image, &masked(&to, &outside(last)?)));
        }
        match *taken {
            [] => self.image(from, f, back),
            [only] if self.key(only) == Some(Key::Event) && self.terms.is_from_read(from) => {
                self.image(from, f, back)
            }
            [only] => match self.key(only) {
                Some(key) => L::apart(self, from, key, f, back),
                None => self.without_between(from, only, f, back),
            },
            _ => None,
        }
    }

    /// `r \ (r ; [S] ; r)` where r is program order, perhaps of one address.
    fn without_between<L: Join>(
        &self,
        from: TermId,
        taken: TermId,
        f: &[L],
        back: bool,
    ) -> Option<Vec<L>> {
        let Term::Sequence(first, last) = self.terms.get(taken) else { return None };
        let (before, set, after) = match (self.terms.get(first), self.terms.get(last)) {
            (Term::Sequence(before, set), _) => (before, set, last),
            (_, Term::Sequence(set, after)) => (first, set, after),
            _ => return None,
        };
        let Term::Identity(set) = self.terms.get(set) else { return None };
        let at_one_address = self.is_program_order(from)?;
        if !self.terms.same(before, from) || !self.terms.same(after, from) {
            return None;
        }
        let mut image = vec![L::NONE; f.len()];
        along_threads(self, f, back, at_one_address, Some(&self.members(set)?), &mut image);
        Some(image)
    }

    /// Whether a term is `po-loc`, or else `po`; `None` if it is neither.
    fn is_program_order(&self, term: TermId) -> Option<bool> {
        let is = |term, relation| self.terms.get(term) == Term::Relation(relation);
        match self.terms.get(term) {
            Term::Relation(BaseRelation::ProgramOrder) => Some(false),
            Term::Intersection(a, b) => {
                let pair =
                    |a, b| is(a, BaseRelation::ProgramOrder) && is(b, BaseRelation::SameAddress);
                (pair(a, b) || pair(b, a)).then_some(true)
            }
            _ => None,
        }
    }

    /// Which events are in a set; `None` if that cannot be distinguished from lists of pairs.
    pub(super) fn members(&self, set: TermId) -> Option<Rc<[bool]>> {
        if let Some(known) = self.known_members.borrow().get(&set) {
            return Some(Rc::clone(known));
        }
        let members: Rc<[bool]> = self.evaluate_set(set)?.into();
        self.known_members.borrow_mut().insert(set, Rc::clone(&members));
        Some(members)
    }

    fn evaluate_set(&self, set: TermId) -> Option<Vec<bool>> {
        let events = self.run.events;
        let both = |a, b, combine: fn(bool, bool) -> bool| {
            let (a, b) = (self.members(a)?, self.members(b)?);
            Some(a.iter().zip(&*b).map(|(&a, &b)| combine(a, b)).collect())
        };
        match self.terms.get(set) {
            Term::Set(base) => Some(events.ids().map(|id| events.is_in(base, id)).collect()),
            Term::All => Some(vec![true; events.len()]),
            Term::Empty => Some(vec![false; events.len()]),
            Term::Union(a, b) => both(a, b, |a, b| a | b),
            Term::Intersection(a, b) => both(a, b, |a, b| a & b),
            Term::Difference(a, b) => both(a, b, |a, b| a & !b),
            Term::Complement(inner) => {
                let members = self.members(inner)?;
                Some(members.iter().map(|&is_in| !is_in).collect())
            }
            Term::Domain(inner) | Term::Range(inner) => {
                let is_domain = matches!(self.terms.get(set), Term::Domain(_));
                let mut members = vec![false; events.len()];
                for (a, b) in self.pairs(inner)? {
                    members[if is_domain { a } else { b }] = true;
                }
                Some(members)
            }
            _ => None,
        }
    }
}

pub(super) fn joined<L: Join>(mut left: Vec<L>, right: &[L]) -> Vec<L> {
    left.iter_mut().zip(right).for_each(|(a, &b)| a.join(b));
    left
}

fn masked<L: Join>(f: &[L], members: &[bool]) -> Vec<L> {
    f.iter().zip(members).map(|(&number, &is_in)| if is_in { number } else { L::NONE }).collect()
}

fn by_pairs<L: Join>(pairs: &[(Id, Id)], f: &[L], back: bool) -> Vec<L> {
    let mut image = vec![L::NONE; f.len()];
    for &(a, b) in pairs {
        let (from, to) = if back { (b, a) } else { (a, b) };
        image[to].join(f[from]);
    }
    image
}

/// Each of a list, forwards or backwards.
fn each(list: &[Id], back: bool, mut act: impl FnMut(Id)) {
    match back {
        false => list.iter().for_each(|&id| act(id)),
        true => list.iter().rev().for_each(|&id| act(id)),
    }
}

/// The events of a thread, forwards or backwards.
pub(super) fn thread_events(
    history: &History,
    thread: history::ThreadId,
    back: bool,
) -> impl Iterator<Item = EventId> {
    let range = history.thread_range(thread);
    let (start, length) = (range.start, range.len());
    (0..length).map(move |at| EventId::new(start + if back { length - 1 - at } else { at }))
}
