//! Unit propagation over the clauses proved so far.
//!
//! A clause follows by *reverse unit propagation* if assuming all its literals false, and then
//! everything that some clause forces (all its literals but one are false), ends in a
//! contradiction. That every reader read from exactly one of its candidates is known from the
//! start. What one clause forces on its own, with nothing assumed, stays.
//!
//! Two literals of each clause are watched: a clause is looked at only when one of them becomes
//! false, so a step costs what it forces, not what has been proved.

use std::ops::Range;

use evidence::{Atom, Literal, Reader};

/// An atom's index times two, plus one for its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Signed(usize);

impl Signed {
    fn atom(self) -> usize {
        self.0 / 2
    }

    fn positive(self) -> bool {
        self.0.is_multiple_of(2)
    }

    fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// A reader that some clause speaks of.
struct Choice {
    /// Its atoms: those of its candidates that some clause mentions.
    atoms: Range<usize>,
    /// How many of its candidates no clause mentions.
    unmentioned: usize,
    /// How many of its candidates are not known to be wrong.
    open: usize,
}

/// A contradiction was reached.
struct Contradiction;

pub(crate) struct Clauses {
    /// All atoms of the proof, sorted; those of one reader stand together.
    atoms: Vec<Atom>,
    value: Vec<Option<bool>>,
    choices: Vec<Choice>,
    /// The choice that an atom belongs to.
    choice_of: Vec<Option<usize>>,
    clauses: Vec<Vec<Signed>>,
    /// For each literal, the clauses that watch it; a clause watches its first two.
    watchers: Vec<Vec<usize>>,
    /// What is true, in the order in which it was found, and how much of it has been propagated.
    trail: Vec<Signed>,
    propagated: usize,
    /// The clauses contradict each other: everything follows.
    contradictory: bool,
}

/// The atom as stored: of the two ways to name the order of two writes, one.
fn stored(atom: Atom) -> (Atom, bool) {
    match atom {
        Atom::Before(a, b) if b < a => (Atom::Before(b, a), false),
        _ => (atom, true),
    }
}

impl Clauses {
    /// No clauses yet, but all the literals that will occur. `candidates` says how many sources
    /// each reader has.
    pub(crate) fn new(
        literals: impl Iterator<Item = Literal>,
        candidates: impl Fn(Reader) -> usize,
    ) -> Self {
        let mut atoms: Vec<Atom> = literals.map(|literal| stored(literal.atom).0).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let mut this = Self {
            value: vec![None; atoms.len()],
            choices: Vec::new(),
            choice_of: vec![None; atoms.len()],
            clauses: Vec::new(),
            watchers: vec![Vec::new(); 2 * atoms.len()],
            trail: Vec::new(),
            propagated: 0,
            contradictory: false,
            atoms,
        };
        this.find_choices(candidates);
        this.settle();
        this
    }

    fn find_choices(&mut self, candidates: impl Fn(Reader) -> usize) {
        let reader_of = |atom: &Atom| match *atom {
            Atom::Reads(reader, _) => Some(reader),
            Atom::Before(..) => None,
        };
        let mut start = 0;
        while start < self.atoms.len() {
            let reader = reader_of(&self.atoms[start]);
            let length = self.atoms[start..].iter().take_while(|a| reader_of(a) == reader).count();
            let atoms = start..start + length;
            start += length;
            let Some(reader) = reader else { continue };
            self.choice_of[atoms.clone()].fill(Some(self.choices.len()));
            let open = candidates(reader);
            self.choices.push(Choice { unmentioned: open.saturating_sub(length), open, atoms });
            if open == 1 {
                self.force(self.choices.len() - 1);
            }
        }
    }

    /// Everything follows from here on.
    pub(crate) fn contradict(&mut self) {
        self.contradictory = true;
    }

    /// Whether a clause follows from those added before it.
    pub(crate) fn imply(&mut self, clause: &[Literal]) -> bool {
        if self.contradictory {
            return true;
        }
        let known = self.trail.len();
        let mut clause = clause.iter().map(|&literal| self.signed(literal)).collect::<Vec<_>>();
        clause.sort_unstable();
        let assumed = clause.into_iter().all(|literal| self.assert(literal.negated()).is_ok());
        let implied = !assumed || self.propagate().is_err();
        self.undo(known);
        implied
    }

    /// Adds a clause that has been shown to hold.
    pub(crate) fn add(&mut self, clause: &[Literal]) {
        let mut clause: Vec<Signed> = clause.iter().map(|&literal| self.signed(literal)).collect();
        clause.sort_unstable();
        clause.dedup();
        if clause.iter().any(|&literal| self.is(literal, true)) {
            return;
        }
        clause.retain(|&literal| !self.is(literal, false));
        match clause[..] {
            [] => self.contradictory = true,
            [literal] => {
                self.contradictory |= self.assert(literal).is_err();
                self.settle();
            }
            [first, second, ..] => {
                self.watchers[first.0].push(self.clauses.len());
                self.watchers[second.0].push(self.clauses.len());
                self.clauses.push(clause);
            }
        }
    }

    /// Keeps what is forced with nothing assumed.
    fn settle(&mut self) {
        self.contradictory |= self.propagate().is_err();
    }

    fn signed(&self, literal: Literal) -> Signed {
        let (atom, same) = stored(literal.atom);
        let index =
            self.atoms.binary_search(&atom).expect("all literals of the proof were given to `new`");
        Signed(2 * index + usize::from(literal.positive != same))
    }

    fn is(&self, literal: Signed, truth: bool) -> bool {
        self.value[literal.atom()] == Some(literal.positive() == truth)
    }

    fn assert(&mut self, literal: Signed) -> Result<(), Contradiction> {
        if self.is(literal, false) {
            return Err(Contradiction);
        }
        if self.value[literal.atom()].is_none() {
            self.value[literal.atom()] = Some(literal.positive());
            self.trail.push(literal);
        }
        Ok(())
    }

    fn undo(&mut self, known: usize) {
        while self.trail.len() > known
            && let Some(literal) = self.trail.pop()
        {
            self.value[literal.atom()] = None;
            // Only what had been propagated was counted.
            if self.trail.len() < self.propagated
                && !literal.positive()
                && let Some(choice) = self.choice_of[literal.atom()]
            {
                self.choices[choice].open += 1;
            }
        }
        self.propagated = self.propagated.min(known);
    }

    fn propagate(&mut self) -> Result<(), Contradiction> {
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            self.choose(literal)?;
            self.visit_watchers(literal.negated())?;
        }
        Ok(())
    }

    /// A reader read from exactly one of its candidates.
    fn choose(&mut self, literal: Signed) -> Result<(), Contradiction> {
        let Some(choice) = self.choice_of[literal.atom()] else { return Ok(()) };
        if literal.positive() {
            let others = self.choices[choice].atoms.clone().filter(|&a| a != literal.atom());
            return others.into_iter().try_for_each(|a| self.assert(Signed(2 * a + 1)));
        }
        self.choices[choice].open -= 1;
        match self.choices[choice].open {
            0 => Err(Contradiction),
            1 => {
                self.force(choice);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// One candidate of a reader is left: it is the source, unless no clause mentions it.
    fn force(&mut self, choice: usize) {
        let Choice { atoms, unmentioned, .. } = &self.choices[choice];
        if *unmentioned == 0
            && let Some(last) = atoms.clone().find(|&a| self.value[a].is_none())
        {
            self.value[last] = Some(true);
            self.trail.push(Signed(2 * last));
        }
    }

    /// A literal became false: its clauses watch another one, or force their last.
    fn visit_watchers(&mut self, false_one: Signed) -> Result<(), Contradiction> {
        let mut visiting = std::mem::take(&mut self.watchers[false_one.0]);
        let mut result = Ok(());
        visiting.retain(|&c| {
            if result.is_err() {
                return true;
            }
            let clause = &mut self.clauses[c];
            if clause[0] == false_one {
                clause.swap(0, 1);
            }
            let value = &self.value;
            let is_false = |l: Signed| value[l.atom()] == Some(!l.positive());
            match clause[2..].iter().position(|&other| !is_false(other)) {
                _ if value[clause[0].atom()] == Some(clause[0].positive()) => true,
                Some(other) => {
                    clause.swap(1, other + 2);
                    self.watchers[clause[1].0].push(c);
                    false
                }
                None => {
                    let last = clause[0];
                    result = self.assert(last);
                    true
                }
            }
        });
        self.watchers[false_one.0] = visiting;
        result
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use history::{AddressId, EventId, Source};
    use oracle::Rng;

    use super::*;

    /// Everything is among these: orders of four writes, and two readers with three candidates.
    fn random_literal(rng: &mut Rng) -> Literal {
        let event = |rng: &mut Rng| EventId::new(rng.below(4));
        if rng.percent(50) {
            let a = event(rng);
            let b = EventId::new((a.index() + 1 + rng.below(3)) % 4);
            return Literal::before(a, b);
        }
        let reader = match rng.below(2) {
            0 => Reader::Event(EventId::new(9)),
            _ => Reader::Final(AddressId::new(0)),
        };
        let source =
            [Source::Initial, Source::Write(EventId::new(1)), Source::Write(EventId::new(2))]
                [rng.below(3)];
        let literal = Literal::reads(reader, source);
        if rng.percent(50) { literal } else { literal.negated() }
    }

    fn random_clause(rng: &mut Rng) -> Vec<Literal> {
        (0..1 + rng.below(3)).map(|_| random_literal(rng)).collect()
    }

    /// Unit propagation as one would define it: over and over, over everything.
    fn implied_naively(clauses: &[Vec<Literal>], clause: &[Literal]) -> bool {
        let mut all = clauses.to_vec();
        for reader in [Reader::Event(EventId::new(9)), Reader::Final(AddressId::new(0))] {
            let candidates: Vec<Literal> =
                [Source::Initial, Source::Write(EventId::new(1)), Source::Write(EventId::new(2))]
                    .map(|source| Literal::reads(reader, source))
                    .to_vec();
            for (i, a) in candidates.iter().enumerate() {
                all.extend(candidates[i + 1..].iter().map(|b| vec![a.negated(), b.negated()]));
            }
            all.push(candidates);
        }
        let mut known: BTreeSet<Literal> = clause.iter().map(|literal| literal.negated()).collect();
        loop {
            if known.iter().any(|literal| known.contains(&literal.negated())) {
                return true;
            }
            let before = known.len();
            for clause in &all {
                let mut open: Vec<Literal> =
                    clause.iter().copied().filter(|l| !known.contains(&l.negated())).collect();
                open.dedup();
                match open[..] {
                    [] => return true,
                    [last] => {
                        known.insert(last);
                    }
                    _ => {}
                }
            }
            if known.len() == before {
                return false;
            }
        }
    }

    #[test]
    fn watching_two_literals_finds_what_watching_all_finds() {
        let mut found = [0; 2];
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let clauses: Vec<Vec<Literal>> = (0..12).map(|_| random_clause(&mut rng)).collect();
            let questions: Vec<Vec<Literal>> = (0..12).map(|_| random_clause(&mut rng)).collect();
            let all = clauses.iter().chain(&questions).flatten().copied();
            let mut watched = Clauses::new(all, |_| 3);
            for (count, (clause, question)) in clauses.iter().zip(&questions).enumerate() {
                let expected = implied_naively(&clauses[..count], question);
                assert_eq!(watched.imply(question), expected, "seed {seed}, clause {count}");
                found[usize::from(expected)] += 1;
                watched.add(clause);
            }
        }
        assert!(found.iter().all(|&times| times > 500), "{found:?}");
    }

    #[test]
    fn a_reader_with_one_candidate_read_from_it() {
        let reader = Reader::Event(EventId::new(0));
        let literal = Literal::reads(reader, Source::Initial);
        let mut clauses = Clauses::new([literal].into_iter(), |_| 1);
        assert!(clauses.imply(&[literal]));
        assert!(!clauses.imply(&[literal.negated()]));
        assert!(!clauses.imply(&[]));
    }

    #[test]
    fn a_candidate_that_no_clause_mentions_stays_open() {
        let reader = Reader::Event(EventId::new(0));
        let literal = Literal::reads(reader, Source::Initial);
        let mut clauses = Clauses::new([literal].into_iter(), |_| 2);
        clauses.add(&[literal.negated()]);
        assert!(!clauses.imply(&[]));
    }

    #[test]
    fn long_proofs_are_propagated_quickly() {
        let mut rng = Rng::new(1);
        let mut random = |length: usize| -> Vec<Literal> {
            let mut literal = || {
                let a = rng.below(400);
                Literal::before(EventId::new(a), EventId::new((a + 1 + rng.below(399)) % 400))
            };
            (0..length).map(|_| literal()).collect()
        };
        let count = if cfg!(debug_assertions) { 4_000 } else { 20_000 };
        let proof: Vec<Vec<Literal>> = (0..count).map(|_| random(10)).collect();
        let mut clauses = Clauses::new(proof.iter().flatten().copied(), |_| 2);
        let started = std::time::Instant::now();
        for clause in &proof {
            clauses.imply(clause);
            clauses.add(clause);
        }
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}
