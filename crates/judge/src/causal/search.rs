//! Which write did each read see, where values repeat: a conflict-driven search over the choices.
//!
//! A choice "this reader read from there" is a variable; every reader has one of its candidates. A
//! choice, complete or partial, is put to the model's polynomial check; what the check refutes
//! becomes a lemma, "not all of these choices", with its derivation as the reason. Lemmas and
//! candidate lists are propagated, conflicts are resolved to the first unique implication point,
//! and every clause learned this way follows from those before it by unit propagation. When no
//! choice is left, the clauses that the last conflict rests on are the proof.
//!
//! Variables come into being when they are first touched: a thousand reads with a thousand
//! candidates each are a million variables that nobody looks at.

use evidence::{Literal, Proof, Step, Why};
use rustc_hash::FxHashMap;

use super::candidate_filter::CandidateFilter;
use super::check::{Established, Problem, Stop, check};
use super::choices::Choices;
use super::explain::{Lemma, from_the_future};
use super::operations::ReadsFrom;
use super::queue::Queue;
use crate::{Budget, Reason};

/// How the search ended.
pub(super) enum Found {
    /// A choice that satisfies the model.
    Choice(ReadsFrom, Established),
    /// There is none.
    Refuted(Proof),
    /// Time or memory ran out.
    Spent(Reason),
}

/// How much the search did.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Effort {
    pub(super) decisions: u64,
    pub(super) conflicts: u64,
}

/// How many entries of clocks the partial checks of one descent may fill, about.
const DESCENT: usize = 4_000_000;

/// Searches for a choice of reads-from that satisfies the model.
pub(super) fn search(problem: &Problem<'_>, budget: &Budget) -> (Found, Effort) {
    let choices = Choices::new(problem, budget);
    let mut search = Search::new(problem, &choices);
    let found = search.run(budget);
    (found, search.effort)
}

/// A variable: this reader, that candidate.
#[derive(Clone, Copy, Debug)]
struct Variable {
    reader: u32,
    candidate: u32,
    value: Option<bool>,
    level: u32,
    cause: Cause,
}

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Lit {
    variable: u32,
    positive: bool,
}

impl Lit {
    fn index(self) -> usize {
        self.variable as usize * 2 + usize::from(self.positive)
    }

    fn negated(self) -> Self {
        Lit { positive: !self.positive, ..self }
    }
}

/// Why a variable has its value, or what is in conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    Decision,
    Clause(u32),
    /// Every other candidate of this reader is refuted.
    OneOf(u32),
}

/// What a clause rests on.
enum Origin {
    Lemma(Box<Lemma>),
    /// Resolution of these clauses, and of facts without decisions.
    Learned {
        clauses: Vec<u32>,
        facts: Vec<u32>,
    },
}

struct Clause {
    literals: Vec<Lit>,
    origin: Origin,
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    choices: &'a Choices<'a>,
    reads_from: ReadsFrom,
    variables: Vec<Variable>,
    numbers: FxHashMap<(u32, u32), u32>,
    clauses: Vec<Clause>,
    /// The clauses that watch a literal, by the literal that would falsify it.
    watchers: Vec<Vec<u32>>,
    /// Two candidates of each reader; not both are refuted unless all are.
    watched: Vec<[u32; 2]>,
    /// The candidate each reader has now, and the one it had last.
    chosen: Vec<Option<u32>>,
    saved: Vec<Option<u32>>,
    queue: Queue,
    candidate_filter: CandidateFilter,
    trail: Vec<Lit>,
    /// Where the decisions stand on the trail.
    levels: Vec<usize>,
    propagated: usize,
    open_readers: usize,
    /// Readers that got a source since the last check.
    unchecked: usize,
    effort: Effort,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, choices: &'a Choices<'a>) -> Self {
        let readers = choices.len();
        Search {
            problem,
            choices,
            reads_from: ReadsFrom::certain(problem.history, &problem.ops),
            variables: Vec::new(),
            numbers: FxHashMap::default(),
            clauses: Vec::new(),
            watchers: Vec::new(),
            watched: vec![[0, 1]; readers],
            chosen: vec![None; readers],
            saved: vec![None; readers],
            queue: Queue::new(readers),
            candidate_filter: CandidateFilter::new(problem),
            trail: Vec::new(),
            levels: Vec::new(),
            propagated: 0,
            open_readers: readers,
            unchecked: 0,
            effort: Effort::default(),
        }
    }

    fn run(&mut self, budget: &Budget) -> Found {
        for (reader, candidate, read, write) in self.choices.sources_from_the_future() {
            let literal = self.choices.literal(reader, candidate).negated();
            let lemma = from_the_future(self.problem, read, write, literal);
            let not = self.literal(reader, candidate, false);
            let clause = self.add_clause(vec![not], Origin::Lemma(Box::new(lemma)));
            self.assign(not, Cause::Clause(clause));
        }
        loop {
            if let Some(conflict) = self.propagate() {
                if let Some(proof) = self.resolve(conflict) {
                    return Found::Refuted(proof);
                }
                continue;
            }
            if self.is_time_to_check() {
                self.unchecked = 0;
                match check(self.problem, &self.reads_from, budget) {
                    Err(Stop::Spent(reason)) => return Found::Spent(reason),
                    Err(Stop::Broken(lemma)) => {
                        if let Some(proof) = self.refute(lemma) {
                            return Found::Refuted(proof);
                        }
                        continue;
                    }
                    Ok(established) if self.open_readers == 0 => {
                        return Found::Choice(self.reads_from.clone(), established);
                    }
                    Ok(_) => {}
                }
            }
            if budget.is_spent() {
                return Found::Spent(Reason::Time);
            }
            self.decide(budget);
        }
    }

    /// The first guess is checked whole. After it has failed, partial choices are checked on the way
    /// down: all of them in a small history, a few in a large one.
    fn is_time_to_check(&self) -> bool {
        let entries = self.problem.ops.len().saturating_mul(self.problem.ops.thread_count());
        let share = 1 + self.choices.len().saturating_mul(entries) / DESCENT;
        self.open_readers == 0 || (self.effort.conflicts > 0 && self.unchecked >= share)
    }

    fn literal(&mut self, reader: u32, candidate: u32, positive: bool) -> Lit {
        let next = self.variables.len() as u32;
        let variable = *self.numbers.entry((reader, candidate)).or_insert(next);
        if variable == next {
            let (value, level, cause) = (None, 0, Cause::Decision);
            self.variables.push(Variable { reader, candidate, value, level, cause });
            self.watchers.extend([Vec::new(), Vec::new()]);
        }
        Lit { variable, positive }
    }

    fn is_refuted(&self, reader: u32, candidate: u32) -> bool {
        let variable = self.numbers.get(&(reader, candidate));
        variable.is_some_and(|&v| self.variables[v as usize].value == Some(false))
    }

    fn level_of(&self, literal: Lit) -> u32 {
        self.variables[literal.variable as usize].level
    }

    fn assign(&mut self, literal: Lit, cause: Cause) {
        let level = self.levels.len() as u32;
        let variable = &mut self.variables[literal.variable as usize];
        if variable.value.is_some() {
            return;
        }
        (variable.value, variable.level, variable.cause) = (Some(literal.positive), level, cause);
        let Variable { reader, candidate, .. } = *variable;
        self.trail.push(literal);
        // A reader keeps the first source it got; another one would only be a further constraint.
        if literal.positive && self.chosen[reader as usize].is_none() {
            self.chosen[reader as usize] = Some(candidate);
            self.saved[reader as usize] = Some(candidate);
            self.choices.set(&mut self.reads_from, reader, Some(candidate));
            self.open_readers -= 1;
            self.unchecked += 1;
        }
    }

    fn backtrack(&mut self, level: u32) {
        let Some(&start) = self.levels.get(level as usize) else { return };
        for literal in self.trail.drain(start..) {
            let variable = &mut self.variables[literal.variable as usize];
            variable.value = None;
            let Variable { reader, candidate, .. } = *variable;
            if literal.positive && self.chosen[reader as usize] == Some(candidate) {
                self.chosen[reader as usize] = None;
                self.choices.set(&mut self.reads_from, reader, None);
                self.open_readers += 1;
                self.unchecked = self.unchecked.saturating_sub(1);
                self.queue.reopen(reader);
            }
        }
        self.levels.truncate(level as usize);
        self.propagated = self.propagated.min(start);
    }

    fn decide(&mut self, budget: &Budget) {
        let chosen = &self.chosen;
        let Some(reader) = self.queue.next(|reader| chosen[reader as usize].is_none()) else {
            return;
        };
        // Until the first guess has failed there is nothing to advise about.
        if self.effort.conflicts > 0 {
            self.candidate_filter.refresh(&self.problem.ops, &self.reads_from, budget);
        }
        let Some(candidate) = self.best_candidate(reader) else { return };
        self.effort.decisions += 1;
        self.levels.push(self.trail.len());
        let literal = self.literal(reader, candidate, true);
        self.assign(literal, Cause::Decision);
    }

    /// What the reader had last or what was guessed, if causality leaves room for it, or else the
    /// least doubtful of all.
    fn best_candidate(&self, reader: u32) -> Option<u32> {
        let is_open = |&c: &u32| !self.is_refuted(reader, c);
        let count = self.choices.candidates(reader).len() as u32;
        [self.saved[reader as usize], self.choices.guessed(reader)]
            .into_iter()
            .flatten()
            .filter(is_open)
            .find(|&c| self.choices.is_possible(&self.candidate_filter, reader, c))
            .or_else(|| {
                let doubt = |&c: &u32| self.choices.doubt(&self.candidate_filter, reader, c);
                (0..count).filter(is_open).min_by_key(doubt)
            })
    }

    fn propagate(&mut self) -> Option<Cause> {
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            if let Some(conflict) = self.propagate_clauses(literal) {
                return Some(conflict);
            }
            if !literal.positive
                && let Some(conflict) = self.propagate_reader(literal.variable)
            {
                return Some(conflict);
            }
        }
        None
    }

    fn propagate_clauses(&mut self, made_true: Lit) -> Option<Cause> {
        let made_false = made_true.negated();
        let mut watchers = std::mem::take(&mut self.watchers[made_true.index()]);
        let mut conflict = None;
        watchers.retain(|&number| {
            if conflict.is_some() {
                return true;
            }
            let literals = &mut self.clauses[number as usize].literals;
            if literals[0] == made_false {
                literals.swap(0, 1);
            }
            let variables = &self.variables;
            let value = |l: Lit| variables[l.variable as usize].value.map(|v| v == l.positive);
            if value(literals[0]) == Some(true) {
                return true;
            }
            if let Some(i) = (2..literals.len()).find(|&i| value(literals[i]) != Some(false)) {
                literals.swap(1, i);
                let watch = literals[1].negated().index();
                self.watchers[watch].push(number);
                return false;
            }
            let first = literals[0];
            match value(first) {
                Some(_) => conflict = Some(Cause::Clause(number)),
                None => self.assign(first, Cause::Clause(number)),
            }
            true
        });
        // Nothing else can have come to watch this literal: it is false.
        self.watchers[made_true.index()] = watchers;
        conflict
    }

    /// A candidate was refuted: are there two others, one, or none?
    fn propagate_reader(&mut self, variable: u32) -> Option<Cause> {
        let Variable { reader, candidate, .. } = self.variables[variable as usize];
        let watched = self.watched[reader as usize];
        let mine = watched.iter().position(|&c| c == candidate)?;
        let other = watched[1 - mine];
        let count = self.choices.candidates(reader).len() as u32;
        let replacement = (1..count)
            .map(|step| (candidate + step) % count)
            .find(|&c| c != other && !self.is_refuted(reader, c));
        if let Some(replacement) = replacement {
            self.watched[reader as usize][mine] = replacement;
            return None;
        }
        if self.is_refuted(reader, other) {
            return Some(Cause::OneOf(reader));
        }
        let last = self.literal(reader, other, true);
        self.assign(last, Cause::OneOf(reader));
        None
    }

    /// Adds the lemma that a check came back with, and resolves the conflict it is. Returns a proof
    /// if that ends the search.
    fn refute(&mut self, lemma: Box<Lemma>) -> Option<Proof> {
        let mut literals: Vec<Lit> = Vec::with_capacity(lemma.clause.len());
        for &literal in &lemma.clause {
            let (reader, candidate) =
                self.choices.find(literal).expect("a lemma speaks of choices in effect");
            literals.push(self.literal(reader, candidate, false));
        }
        if literals.is_empty() {
            self.effort.conflicts += 1;
            return Some(Proof { steps: vec![step_of(&lemma)] });
        }
        let clause = self.add_clause(literals, Origin::Lemma(lemma));
        self.resolve(Cause::Clause(clause))
    }

    /// Adds a clause; its two literals of the highest levels are watched.
    fn add_clause(&mut self, mut literals: Vec<Lit>, origin: Origin) -> u32 {
        let number = self.clauses.len() as u32;
        literals.sort_by_key(|&l| std::cmp::Reverse((self.level_of(l), l)));
        if literals.len() >= 2 {
            self.watchers[literals[0].negated().index()].push(number);
            self.watchers[literals[1].negated().index()].push(number);
        }
        self.clauses.push(Clause { literals, origin });
        number
    }

    /// The literals that made something happen: all false.
    fn antecedents(&self, cause: Cause, but: Option<Lit>) -> Vec<Lit> {
        match cause {
            Cause::Decision => Vec::new(),
            Cause::Clause(clause) => (self.clauses[clause as usize].literals.iter())
                .copied()
                .filter(|&l| Some(l) != but)
                .collect(),
            Cause::OneOf(reader) => (0..self.choices.candidates(reader).len() as u32)
                .filter_map(|candidate| self.numbers.get(&(reader, candidate)))
                .map(|&variable| Lit { variable, positive: true })
                .filter(|&l| Some(l) != but)
                .collect(),
        }
    }

    /// Learns from a conflict and goes back to where it could have been avoided. Returns a proof
    /// if it could not.
    fn resolve(&mut self, conflict: Cause) -> Option<Proof> {
        self.effort.conflicts += 1;
        let literals = self.antecedents(conflict, None);
        let level = literals.iter().map(|&l| self.level_of(l)).max().unwrap_or(0);
        if level == 0 {
            return Some(self.proof(conflict));
        }
        self.backtrack(level);
        let (learned, clauses, facts) = self.first_implication_point(conflict, level);
        let back = learned.iter().skip(1).map(|&l| self.level_of(l)).max().unwrap_or(0);
        let asserted = learned[0];
        for literal in &learned {
            self.queue.bump(self.variables[literal.variable as usize].reader);
        }
        // Where nothing was resolved, the clause itself is the one learned.
        let clause = match (conflict, &clauses[..]) {
            (Cause::Clause(only), [_]) if facts.is_empty() && learned.len() == literals.len() => {
                only
            }
            _ => self.add_clause(learned, Origin::Learned { clauses, facts }),
        };
        self.backtrack(back);
        self.assign(asserted, Cause::Clause(clause));
        None
    }

    /// The learned clause with its literal of the conflict's level first, and what it rests on.
    fn first_implication_point(
        &self,
        conflict: Cause,
        level: u32,
    ) -> (Vec<Lit>, Vec<u32>, Vec<u32>) {
        let mut learned = Vec::new();
        let mut clauses = Vec::new();
        let mut facts = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = 0;
        let mut at = self.trail.len();
        let mut cause = conflict;
        let mut pivot = None;
        loop {
            if let Cause::Clause(clause) = cause {
                clauses.push(clause);
            }
            for literal in self.antecedents(cause, pivot) {
                if !seen.insert(literal.variable) {
                    continue;
                }
                match self.level_of(literal) {
                    0 => facts.push(literal.variable),
                    l if l == level => open += 1,
                    _ => learned.push(literal),
                }
            }
            // The latest literal of this level that is still to be resolved.
            let latest = loop {
                at -= 1;
                let literal = self.trail[at];
                if seen.contains(&literal.variable) && self.level_of(literal) == level {
                    break literal;
                }
            };
            open -= 1;
            if open == 0 {
                learned.insert(0, latest.negated());
                return (learned, clauses, facts);
            }
            cause = self.variables[latest.variable as usize].cause;
            pivot = Some(latest);
        }
    }

    /// The clauses that a conflict without decisions rests on, and the empty clause.
    fn proof(&self, conflict: Cause) -> Proof {
        let mut is_used = vec![false; self.clauses.len()];
        let mut seen = vec![false; self.variables.len()];
        let mut causes = vec![(conflict, None)];
        while let Some((cause, pivot)) = causes.pop() {
            for literal in self.antecedents(cause, pivot) {
                self.follow_fact(literal.variable, &mut seen, &mut causes);
            }
            if let Cause::Clause(clause) = cause
                && !std::mem::replace(&mut is_used[clause as usize], true)
                && let Origin::Learned { clauses, facts } = &self.clauses[clause as usize].origin
            {
                for &fact in facts {
                    self.follow_fact(fact, &mut seen, &mut causes);
                }
                self.follow_clauses(clauses, &mut is_used, &mut seen, &mut causes);
            }
        }
        let used = self.clauses.iter().zip(&is_used).filter(|(_, used)| **used);
        let mut steps: Vec<Step> = used.map(|(clause, _)| self.step(clause)).collect();
        steps.push(Step { clause: Vec::new(), why: Why::Propagation });
        Proof { steps }
    }

    fn follow_fact(
        &self,
        variable: u32,
        seen: &mut [bool],
        causes: &mut Vec<(Cause, Option<Lit>)>,
    ) {
        if !std::mem::replace(&mut seen[variable as usize], true) {
            let Variable { value, cause, .. } = self.variables[variable as usize];
            causes.push((cause, value.map(|positive| Lit { variable, positive })));
        }
    }

    /// Marks learned clauses with all they rest on. Unlike the cause of a fact, their literals
    /// need not be facts themselves.
    fn follow_clauses(
        &self,
        clauses: &[u32],
        is_used: &mut [bool],
        seen: &mut [bool],
        causes: &mut Vec<(Cause, Option<Lit>)>,
    ) {
        let mut open = clauses.to_vec();
        while let Some(clause) = open.pop() {
            if std::mem::replace(&mut is_used[clause as usize], true) {
                continue;
            }
            if let Origin::Learned { clauses, facts } = &self.clauses[clause as usize].origin {
                open.extend(clauses);
                for &fact in facts {
                    self.follow_fact(fact, seen, causes);
                }
            }
        }
    }

    fn step(&self, clause: &Clause) -> Step {
        match &clause.origin {
            Origin::Lemma(lemma) => step_of(lemma),
            Origin::Learned { .. } => {
                let mut literals: Vec<Literal> = (clause.literals.iter())
                    .map(|&literal| {
                        let Variable { reader, candidate, .. } =
                            self.variables[literal.variable as usize];
                        let reads = self.choices.literal(reader, candidate);
                        if literal.positive { reads } else { reads.negated() }
                    })
                    .collect();
                literals.sort_unstable();
                Step { clause: literals, why: Why::Propagation }
            }
        }
    }
}

fn step_of(lemma: &Lemma) -> Step {
    let Lemma { clause, derived, cycle } = lemma.clone();
    Step { clause, why: Why::Derivation { derived, cycle } }
}
