//! The reaction to alarms of the abstraction: the facts that exclude their steps become lemmas, or
//! lemmas that turned out to be false are dropped.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::fact::Fact;
use super::implied_rows::{Abstract, StepRows};
use super::result;
use super::table::{Combination, Rows, Table};
use super::vocabulary::{Term, Vocabulary};
use super::{ActiveLemma, Alarm, FACTS_OF_A_STEP, FACTS_TO_CHOOSE_FROM, Refinement};

impl Refinement<'_, '_> {
    /// Adds lemmas that exclude the alarms. Returns whether any was added.
    pub(super) fn exclude(&mut self, current: &Abstract, alarms: &[Alarm]) -> bool {
        let tried = self.active.len();
        let mut found: Vec<Fact> = Vec::new();
        for alarm in alarms {
            let facts = self.facts_against(current, alarm, tried);
            found.extend(facts.into_iter().flatten());
        }
        // A guessed fact may be false, so several are added. Once the rows are closed, facts are
        // true, and one is enough.
        if self.is_closed {
            found = self.fewest(current, alarms, found);
        }
        for fact in found {
            if self.known(&fact).is_none() {
                (self.listener)(&format!("+ {}: {}", fact.called_for, fact.text), None);
                self.active.push(ActiveLemma::guessed(fact));
            }
        }
        self.active.len() > tried
    }

    /// Drops lemmas that failed although every step of the run is supported, or gives up a claim.
    /// If no alarm is affected, returns the most important alarm as the answer.
    pub(super) fn drop_failed(
        &mut self,
        current: &Abstract,
        alarms: &[Alarm],
    ) -> Result<(), Alarm> {
        let before = self.active.clone();
        let (mut is_progress, mut stuck) = (false, None);
        for alarm in alarms {
            let failed = alarm.claim.as_ref().and_then(|claim| {
                current.abstraction.claims.iter().position(|candidate| candidate == claim)
            });
            match failed {
                Some(lemma) => is_progress |= self.give_up(current, alarm, &before[lemma]),
                None => stuck = stuck.or(Some(alarm)),
            }
        }
        match (is_progress, stuck.or(alarms.first())) {
            (false, Some(alarm)) if self.leave_out(alarm) => Ok(()),
            (false, Some(alarm)) => Err(alarm.clone()),
            _ => Ok(()),
        }
    }

    /// Stops claiming an invariant that fails, if the abstraction had to strengthen it.
    pub(super) fn leave_out(&mut self, alarm: &Alarm) -> bool {
        let claim = alarm.claim.iter().find(|claim| self.strengthened.contains(claim));
        self.left_out.extend(claim.cloned());
        claim.is_some()
    }

    /// The number of the lemma with the same condition.
    fn known(&self, fact: &Fact) -> Option<usize> {
        let same =
            |active: &ActiveLemma| active.lemma.rule == fact.lemma.rule && active.text == fact.text;
        self.active.iter().position(same)
    }

    /// The facts that exclude the first unsupported step of a run. `None` if every step is
    /// supported, or if all such facts are among the first `tried` lemmas, which did not exclude
    /// the run.
    fn facts_against(
        &mut self,
        current: &Abstract,
        alarm: &Alarm,
        tried: usize,
    ) -> Option<Vec<Fact>> {
        for (state, rule, number) in alarm.steps() {
            let suspects = current.suspects(state, rule, number);
            if suspects.is_empty() {
                continue;
            }
            let called_for = self.sentence(current, state, rule, number);
            let facts = suspects.iter().map(|suspect| self.facts_of(suspect, &called_for, tried));
            // If one of the rows of the step is supported, the step is possible.
            let facts: Option<Vec<Vec<Fact>>> = facts.collect();
            if let Some(facts) = facts {
                return Some(facts.concat());
            }
        }
        None
    }

    /// The facts that exclude one step, as in [`Refinement::facts_against`].
    fn facts_of(
        &mut self,
        suspect: &StepRows,
        called_for: &str,
        tried: usize,
    ) -> Option<Vec<Fact>> {
        let vocabulary = Arc::clone(&self.vocabularies);
        let vocabulary = &vocabulary[suspect.vocabulary];
        let mut combinations = self.missing(vocabulary, suspect);
        // Fewer atoms are more general. The sort is stable and keeps the ranks of equals.
        combinations.sort_by_key(Vec::len);
        let mut facts: Vec<Fact> = Vec::new();
        let most = if self.is_closed { FACTS_TO_CHOOSE_FROM } else { FACTS_OF_A_STEP };
        for combination in &combinations {
            let is_longer = |fact: &Fact| fact.atoms() < combination.len();
            if facts.len() >= most || facts.first().is_some_and(is_longer) {
                break;
            }
            let table = self.table(suspect.vocabulary);
            let fact = Fact::new(suspect.vocabulary, vocabulary, table, combination, called_for);
            let Some(fact) = fact else { continue };
            let is_new = !facts.iter().any(|known| known.text == fact.text);
            let is_given_up = self.given_up.contains(&(fact.lemma.rule, fact.text.clone()));
            // A fact that is already a lemma and did not exclude the step is of no use here.
            let is_in_vain = self.known(&fact).is_some_and(|at| at < tried);
            if is_new
                && !is_given_up
                && !is_in_vain
                && self.claimable.allows(self.prepared, &fact.lemma)
            {
                facts.push(fact);
            }
        }
        (!facts.is_empty()).then_some(facts)
    }

    /// A small subset of the facts that excludes every alarm that all of them together exclude
    /// (greedy set cover).
    fn fewest(&self, current: &Abstract, alarms: &[Alarm], facts: Vec<Fact>) -> Vec<Fact> {
        let suspects: Vec<Vec<StepRows>> = alarms
            .iter()
            .map(|alarm| {
                let steps = alarm.steps().into_iter();
                steps
                    .flat_map(|(state, rule, number)| current.suspects(state, rule, number))
                    .collect()
            })
            .collect();
        let excludes = |fact: &Fact, suspects: &Vec<StepRows>| {
            let of_it = suspects.iter().filter(|suspect| suspect.vocabulary == fact.vocabulary);
            of_it.into_iter().any(|suspect| {
                let vocabulary = &self.vocabularies[suspect.vocabulary];
                suspect.rows.iter().any(|row| fact.is_false(vocabulary, row, &suspect.cube))
            })
        };
        let mut facts: Vec<(Fact, Vec<usize>)> = facts
            .into_iter()
            .map(|fact| {
                let excluded = (0..alarms.len()).filter(|&at| excludes(&fact, &suspects[at]));
                let excluded = excluded.collect();
                (fact, excluded)
            })
            .collect();
        let mut fewest: Vec<Fact> = Vec::new();
        let mut is_open = vec![true; alarms.len()];
        loop {
            let gain = |(_, excluded): &(Fact, Vec<usize>)| {
                excluded.iter().filter(|&&alarm| is_open[alarm]).count()
            };
            // Of equally good facts, the first.
            let best = (0..facts.len()).rev().max_by_key(|&at| gain(&facts[at]));
            let Some(best) = best.filter(|&at| gain(&facts[at]) > 0) else { break };
            let (fact, excluded) = facts.remove(best);
            excluded.into_iter().for_each(|alarm| is_open[alarm] = false);
            fewest.push(fact);
        }
        fewest
    }

    /// Adds the row at which a lemma failed to the observed rows, and drops every fact that it
    /// contradicts. Returns whether any was dropped.
    fn give_up(&mut self, current: &Abstract, alarm: &Alarm, lemma: &ActiveLemma) -> bool {
        let Some(last) = alarm.run.last() else { return false };
        let rule = lemma.lemma.rule;
        (self.listener)(&format!("- {}", lemma.text), None);
        let mut met = Vec::new();
        for (number, (origin, other)) in current.abstraction.origins.iter().enumerate() {
            if *origin != rule || other.is_some() {
                continue;
            }
            for instance in current.applying(&last.state, number as u32) {
                met.extend(current.rows(&last.state, number as u32, instance));
            }
        }
        let vocabularies = Arc::clone(&self.vocabularies);
        let mut dropped = false;
        for suspect in &met {
            let vocabulary = &vocabularies[suspect.vocabulary];
            let is_contradicted = |active: &ActiveLemma, row: &[u8]| {
                active.fact.as_ref().is_some_and(|fact| {
                    fact.vocabulary == suspect.vocabulary
                        && fact.is_false(vocabulary, row, &suspect.cube)
                })
            };
            for row in &suspect.rows {
                if !self.active.iter().any(|active| is_contradicted(active, row)) {
                    continue;
                }
                self.observations.rows[suspect.vocabulary].add(row);
                self.tables[suspect.vocabulary] = None;
                self.missed[suspect.vocabulary].clear();
                let before = self.active.len();
                self.active.retain(|active| !is_contradicted(active, row));
                dropped |= self.active.len() < before;
            }
        }
        // If the row does not contradict any fact, the failed lemma itself is dropped.
        let is_it = |active: &ActiveLemma| active.lemma.rule == rule && active.text == lemma.text;
        if lemma.fact.is_some() && self.active.iter().any(is_it) {
            self.active.retain(|active| !is_it(active));
            self.given_up.insert((rule, lemma.text.clone()));
            dropped = true;
        }
        dropped
    }

    /// The combinations of a suspect step that were never observed. Runs share steps, so results
    /// are kept until new rows are observed.
    fn missing(&mut self, vocabulary: &Vocabulary, suspect: &StepRows) -> Vec<Combination> {
        let mut combinations = Vec::new();
        for row in &suspect.rows {
            let key = (row.clone(), suspect.cube.clone());
            let found = match self.missed[suspect.vocabulary].get(&key) {
                Some(found) => found.clone(),
                None => {
                    let found =
                        self.table(suspect.vocabulary).missing(vocabulary, row, &suspect.cube);
                    self.missed[suspect.vocabulary].insert(key, found.clone());
                    found
                }
            };
            combinations.extend(found);
        }
        combinations
    }

    fn table(&mut self, number: usize) -> &Table {
        let (vocabularies, rows) = (&self.vocabularies, &self.observations.rows);
        let (prepared, claimable) = (self.prepared, &self.claimable);
        let places = self.undefined.get_or_insert_with(|| undefined_places(vocabularies, rows));
        self.tables[number].get_or_insert_with(|| {
            let vocabulary = &vocabularies[number];
            let elsewhere: Vec<bool> =
                vocabulary.terms.iter().map(|term| places.contains(&path(term))).collect();
            let mut table = Table::new(vocabulary, &rows[number], &elsewhere);
            table.forbid(&|atom| !claimable.allows(prepared, &Fact::claim_of(vocabulary, atom)));
            table
        })
    }

    /// The rule that was fired, with its parameters, in one line.
    fn sentence(&self, current: &Abstract, state: &[u8], rule: u32, number: u64) -> String {
        result::step_sentence(&current.interpreter, state, rule, number)
    }
}

/// The path of a term, without its indices.
fn path(term: &Term) -> String {
    let mut depth = 0;
    let outside = term.text.chars().filter(|character| {
        depth += i32::from(*character == '[') - i32::from(*character == ']');
        depth == 0 || (depth == 1 && *character == '[')
    });
    outside.collect()
}

/// The paths of all terms that were observed undefined, for any rule. A lemma must not read them:
/// it would fail where its rule is enabled in the abstraction only.
fn undefined_places(vocabularies: &[Vocabulary], rows: &[Rows]) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for (vocabulary, rows) in vocabularies.iter().zip(rows) {
        let undefined = rows.undefined(vocabulary);
        let terms = vocabulary.terms.iter().zip(undefined).filter(|(_, undefined)| *undefined);
        found.extend(terms.map(|(term, _)| path(term)));
    }
    found
}
