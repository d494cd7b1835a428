//! From the clauses of a proof to a small tree of cases.
//!
//! A proof that needed search is a list of clauses, each excluding one combination of choices by
//! a cycle, and unit propagation that combines them. A reader wants a case distinction instead.
//! So the lemmas are refuted once more, by DPLL: propagate, choose what helps most on both sides
//! (look-ahead), go into each case. The tree is then cut down to what the contradictions use, and
//! a case distinction that one of its cases does not need is dropped (backjumping).
//!
//! The tree is worth having only while it is small. Beyond [`MOST_ENDS`] ends or [`MOST_DEPTH`]
//! cases within cases, [`refute`] says so and the argument summarises the search instead.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{Atom, Literal, Reader};
use history::{EventId, History, Mixed, Source};

/// The most branches a case distinction may have in all.
const MOST_ENDS: usize = 16;

/// How deep cases may nest.
const MOST_DEPTH: usize = 6;

/// The number of variables that are tried before one is chosen to distinguish.
const MOST_TRIED: usize = 48;

/// Why a clause holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The lemma at this step of the proof.
    Lemma(usize),
    /// Every reader read from one of its candidates.
    Candidates(Reader),
}

/// A clause with all that its lemma rests on made explicit as literals.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) literals: Vec<Literal>,
    pub(super) origin: Origin,
}

/// A literal that must be true, and the clause whose other literals are false.
#[derive(Clone, Debug)]
pub(super) struct Forced {
    pub(super) literal: Literal,
    pub(super) clause: Clause,
}

/// A refutation: what follows, and how it ends.
#[derive(Clone, Debug)]
pub(super) struct Refutation {
    pub(super) forced: Vec<Forced>,
    pub(super) end: End,
}

#[derive(Clone, Debug)]
pub(super) enum End {
    /// Every literal of this clause is false.
    Conflict(Clause),
    /// One of these is true, and each is refuted. `because` are the facts that exclude others.
    Cases { because: Vec<Literal>, cases: Vec<(Literal, Refutation)> },
}

/// A small case tree that refutes the clauses, if one is found.
pub(super) fn refute(history: &History, clauses: Vec<Clause>) -> Option<Refutation> {
    let mut solver = Solver::new(history, clauses);
    let tree = solver.refute(0)?;
    Some(prune(tree).0)
}

type Lit = u32;

fn opposite(lit: Lit) -> Lit {
    lit ^ 1
}

struct Solver {
    clauses: Vec<(Clause, Vec<Lit>)>,
    literals: Vec<Literal>,
    occurrences: Vec<Vec<u32>>,
    /// True for each literal that is true.
    holds: Vec<bool>,
    /// The true literals in order, and the clause that forced each.
    trail: Vec<(Lit, Option<u32>)>,
    propagated: usize,
    ends: usize,
}

impl Solver {
    fn new(history: &History, mut clauses: Vec<Clause>) -> Self {
        clauses.extend(candidates(history, &clauses));
        let mut ids: BTreeMap<Literal, Lit> = BTreeMap::new();
        let mut literals = Vec::new();
        for literal in clauses.iter().flat_map(|c| c.literals.iter().copied()) {
            if !ids.contains_key(&literal) {
                ids.insert(literal, literals.len() as Lit);
                ids.insert(literal.negated(), literals.len() as Lit + 1);
                literals.extend([literal, literal.negated()]);
            }
        }
        let mut occurrences = vec![Vec::new(); literals.len()];
        let mut numbered = Vec::with_capacity(clauses.len());
        for (index, clause) in clauses.into_iter().enumerate() {
            let lits: Vec<Lit> = clause.literals.iter().map(|l| ids[l]).collect();
            for &lit in &lits {
                occurrences[lit as usize].push(index as u32);
            }
            numbered.push((clause, lits));
        }
        let holds = vec![false; literals.len()];
        Self {
            clauses: numbered,
            literals,
            occurrences,
            holds,
            trail: Vec::new(),
            propagated: 0,
            ends: 0,
        }
    }

    fn refute(&mut self, depth: usize) -> Option<Refutation> {
        let start = self.trail.len();
        let conflict = self.propagate(depth == 0);
        let forced = self.trail[start..].iter().filter_map(|&(lit, clause)| {
            let clause = self.clauses[clause? as usize].0.clone();
            Some(Forced { literal: self.literals[lit as usize], clause })
        });
        let forced: Vec<Forced> = forced.collect();
        if let Some(clause) = conflict {
            self.ends += 1;
            let clause = self.clauses[clause as usize].0.clone();
            return (self.ends <= MOST_ENDS)
                .then_some(Refutation { forced, end: End::Conflict(clause) });
        }
        if depth == MOST_DEPTH {
            return None;
        }
        let (because, choices) = self.choose()?;
        let mut cases = Vec::with_capacity(choices.len());
        for lit in choices {
            let mark = self.trail.len();
            self.assume(lit);
            let refutation = self.refute(depth + 1)?;
            self.undo(mark);
            cases.push((self.literals[lit as usize], refutation));
        }
        Some(Refutation { forced, end: End::Cases { because, cases } })
    }

    fn assume(&mut self, lit: Lit) {
        self.holds[lit as usize] = true;
        self.trail.push((lit, None));
    }

    fn undo(&mut self, mark: usize) {
        for (lit, _) in self.trail.drain(mark..) {
            self.holds[lit as usize] = false;
        }
        self.propagated = mark;
    }

    /// Follows unit clauses to the end; the clause that became false, if one did.
    fn propagate(&mut self, everything: bool) -> Option<u32> {
        if everything {
            for clause in 0..self.clauses.len() as u32 {
                if self.visit(clause) {
                    return Some(clause);
                }
            }
        }
        while self.propagated < self.trail.len() {
            let falsified = opposite(self.trail[self.propagated].0);
            self.propagated += 1;
            for at in 0..self.occurrences[falsified as usize].len() {
                let clause = self.occurrences[falsified as usize][at];
                if self.visit(clause) {
                    return Some(clause);
                }
            }
        }
        None
    }

    /// Visits a clause: forces its last open literal; true if it has none and is false.
    fn visit(&mut self, clause: u32) -> bool {
        let lits = &self.clauses[clause as usize].1;
        if lits.iter().any(|&lit| self.holds[lit as usize]) {
            return false;
        }
        let mut open = lits.iter().copied().filter(|&l| !self.holds[opposite(l) as usize]);
        match (open.next(), open.next()) {
            (None, _) => true,
            (Some(lit), None) => {
                self.holds[lit as usize] = true;
                self.trail.push((lit, Some(clause)));
                false
            }
            _ => false,
        }
    }

    /// What to distinguish next: the choice whose two sides have the most consequences.
    fn choose(&mut self) -> Option<(Vec<Literal>, Vec<Lit>)> {
        let mut best: Option<(usize, Lit)> = None;
        for lit in self.worth_trying() {
            let sides = [lit, opposite(lit)].map(|side| self.consequences(side));
            let score = sides[0].saturating_mul(sides[1]);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, lit));
            }
        }
        let lit = best?.1;
        match self.literals[lit as usize].atom {
            Atom::Before(a, b) if a < b => Some((Vec::new(), vec![lit, opposite(lit)])),
            Atom::Before(..) => Some((Vec::new(), vec![opposite(lit), lit])),
            Atom::Reads(reader, _) => self.candidates_of(reader),
        }
    }

    /// Open variables of the shortest open clauses.
    fn worth_trying(&self) -> Vec<Lit> {
        let mut open: Vec<(usize, &[Lit])> = Vec::new();
        for (_, lits) in &self.clauses {
            if lits.iter().any(|&lit| self.holds[lit as usize]) {
                continue;
            }
            open.push((lits.iter().filter(|&&lit| self.is_open(lit)).count(), lits));
        }
        open.sort_by_key(|&(count, _)| count);
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for lit in open.iter().flat_map(|(_, lits)| lits.iter().copied()) {
            if self.is_open(lit) && seen.insert(lit >> 1) {
                found.push(lit);
            }
            if found.len() == MOST_TRIED {
                break;
            }
        }
        found
    }

    fn is_open(&self, lit: Lit) -> bool {
        !self.holds[lit as usize] && !self.holds[opposite(lit) as usize]
    }

    /// How much follows from a literal; very much if it leads to a contradiction at once.
    fn consequences(&mut self, lit: Lit) -> usize {
        let mark = self.trail.len();
        self.assume(lit);
        let conflict = self.propagate(false);
        let count = self.trail.len() - mark;
        self.undo(mark);
        if conflict.is_some() { 1_000_000 / (count + 1) } else { count }
    }

    fn candidates_of(&self, reader: Reader) -> Option<(Vec<Literal>, Vec<Lit>)> {
        let (_, lits) =
            self.clauses.iter().find(|(c, _)| c.origin == Origin::Candidates(reader))?;
        let (open, excluded): (Vec<Lit>, Vec<Lit>) =
            lits.iter().partition(|&&lit| self.is_open(lit));
        let because = excluded.iter().map(|&l| self.literals[opposite(l) as usize]).collect();
        Some((because, open))
    }
}

/// "Every reader read from one of its candidates", for the readers the clauses speak of.
fn candidates(history: &History, clauses: &[Clause]) -> Vec<Clause> {
    let readers: BTreeSet<Reader> = clauses
        .iter()
        .flat_map(|c| &c.literals)
        .filter_map(|l| match l.atom {
            Atom::Reads(reader, _) => Some(reader),
            Atom::Before(..) => None,
        })
        .collect();
    let clause = |reader: Reader| Clause {
        literals: sources_of(history, reader)
            .iter()
            .map(|&source| Literal::reads(reader, source))
            .collect(),
        origin: Origin::Candidates(reader),
    };
    readers.into_iter().map(clause).collect()
}

/// The candidate sources of a reader, as accesses.
pub(super) fn sources_of(history: &History, reader: Reader) -> Vec<Source> {
    let of_final = |history: &History, address| {
        let line = history.finals().iter().find(|f| f.address == address);
        line.map_or_else(Vec::new, |f| f.sources.clone())
    };
    match (reader, history.mixed()) {
        (Reader::Event(event) | Reader::Part(event, _), None) => history.sources(event).to_vec(),
        (Reader::Final(address) | Reader::FinalPart(address, _), None) => {
            of_final(history, address)
        }
        (Reader::Part(event, number), Some(mixed)) => {
            let part = mixed.parts_of(event).nth(number.into());
            accesses(mixed, part.map_or(&[], |part| mixed.parts().sources(part)))
        }
        (Reader::FinalPart(address, number), Some(mixed)) => {
            let cell = mixed.cells_of(history, address).nth(number.into());
            accesses(mixed, &cell.map_or_else(Vec::new, |cell| of_final(mixed.parts(), cell)))
        }
        // A whole access of mixed sizes has no sources of its own.
        (Reader::Event(_) | Reader::Final(_), Some(_)) => Vec::new(),
    }
}

/// The accesses that parts are of.
fn accesses(mixed: &Mixed, parts: &[Source]) -> Vec<Source> {
    let access = |source: &Source| match *source {
        Source::Initial => Source::Initial,
        Source::Write(part) => Source::Write(mixed.access_of(part)),
    };
    parts.iter().map(access).collect()
}

/// The readers that an event is: itself, or its parts.
pub(super) fn readers_of(history: &History, event: EventId) -> Vec<Reader> {
    match history.mixed() {
        None => vec![Reader::Event(event)],
        Some(mixed) => (0..)
            .zip(mixed.parts_of(event))
            .map(|(number, _)| Reader::Part(event, number))
            .collect(),
    }
}

/// The tree without unneeded parts, and the outside facts that it uses.
fn prune(tree: Refutation) -> (Refutation, BTreeSet<Literal>) {
    let Refutation { forced, end } = tree;
    let (mut below, end, mut needs) = match end {
        End::Conflict(clause) => {
            let needs = clause.literals.iter().map(|l| l.negated()).collect();
            (Vec::new(), End::Conflict(clause), needs)
        }
        End::Cases { because, cases } => prune_cases(because, cases),
    };
    let mut kept = Vec::new();
    for forced in forced.into_iter().rev() {
        if needs.remove(&forced.literal) {
            let others = forced.clause.literals.iter().filter(|&&l| l != forced.literal);
            needs.extend(others.map(|l| l.negated()));
            kept.push(forced);
        }
    }
    kept.reverse();
    kept.append(&mut below);
    (Refutation { forced: kept, end }, needs)
}

fn prune_cases(
    because: Vec<Literal>,
    cases: Vec<(Literal, Refutation)>,
) -> (Vec<Forced>, End, BTreeSet<Literal>) {
    let mut needs: BTreeSet<Literal> = because.iter().copied().collect();
    let mut kept = Vec::with_capacity(cases.len());
    for (literal, refutation) in cases {
        let (refutation, mut needed) = prune(refutation);
        if !needed.remove(&literal) {
            return (refutation.forced, refutation.end, needed);
        }
        needs.extend(needed);
        kept.push((literal, refutation));
    }
    (Vec::new(), End::Cases { because, cases: kept }, needs)
}
