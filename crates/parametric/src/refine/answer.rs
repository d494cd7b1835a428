//! What is done about alarms: the facts that exclude them, or the lemmas that are given up.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::fact::Fact;
use super::result;
use super::suspect::{Abstract, Suspect};
use super::table::{Combination, Rows, Table};
use super::vocabulary::{Term, Vocabulary};
use super::{Alarm, FACTS_OF_A_STEP, Refinement, Standing};
use crate::abstraction::may_be_claimed;

impl Refinement<'_, '_> {
    /// Adds lemmas that exclude the alarms. If there are none, gives lemmas up. If neither can be
    /// done about any of them, the one that matters most is the answer.
    pub(super) fn answer(&mut self, current: &Abstract, alarms: &[Alarm]) -> Result<(), Alarm> {
        let before = self.standing.clone();
        let mut is_progress = false;
        for alarm in alarms {
            let Some(facts) = self.facts_against(current, alarm, before.len()) else { continue };
            is_progress = true;
            for fact in facts {
                if self.known(&fact).is_none() {
                    (self.listener)(&format!("+ {}: {}", fact.called_for, fact.text), None);
                    self.standing.push(Standing::guessed(fact));
                }
            }
        }
        if is_progress {
            return Ok(());
        }
        let mut stuck = None;
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
            (false, Some(alarm)) if self.leave_out(current, alarm) => Ok(()),
            (false, Some(alarm)) => Err(alarm.clone()),
            _ => Ok(()),
        }
    }

    /// Leaves out the claim that an alarm breaks, if the abstraction had to make it stronger than it
    /// is.
    fn leave_out(&mut self, current: &Abstract, alarm: &Alarm) -> bool {
        let strengthened = &current.abstraction.strengthened;
        match alarm.claim.as_ref().filter(|claim| strengthened.contains(claim)) {
            Some(claim) => {
                self.left_out.push(claim.clone());
                true
            }
            None => false,
        }
    }

    /// The number of the lemma that says the same.
    fn known(&self, fact: &Fact) -> Option<usize> {
        let same = |standing: &Standing| {
            standing.lemma.rule == fact.lemma.rule && standing.text == fact.text
        };
        self.standing.iter().position(same)
    }

    /// The facts that exclude the first impossible step of a run. `None` if every step is as
    /// observed, or nothing can be said about it that is not said already by one of the first
    /// `tried` lemmas, in vain.
    fn facts_against(
        &mut self,
        current: &Abstract,
        alarm: &Alarm,
        tried: usize,
    ) -> Option<Vec<Fact>> {
        let steps = alarm
            .run
            .windows(2)
            .map(|pair| (pair[0].state.as_slice(), pair[1].rule, pair[1].instance));
        let last = alarm.run.last().map(|step| step.state.as_slice());
        let failed = last.zip(alarm.failed).map(|(state, (rule, number))| (state, rule, number));
        let steps: Vec<(&[u8], u32, u64)> = steps.chain(failed).collect();
        for (state, rule, number) in steps {
            let Some(suspect) = current.suspect(state, rule, number) else { continue };
            let vocabulary = Arc::clone(&self.vocabularies);
            let vocabulary = &vocabulary[suspect.vocabulary];
            let called_for = self.sentence(current, state, rule, number);
            let mut combinations = self.missing(vocabulary, &suspect);
            // The fewer atoms, the more general. The sort keeps the ranks of equals.
            combinations.sort_by_key(Vec::len);
            let mut facts: Vec<Fact> = Vec::new();
            for combination in &combinations {
                let is_longer = |fact: &Fact| fact.atoms() < combination.len();
                if facts.len() >= FACTS_OF_A_STEP || facts.first().is_some_and(is_longer) {
                    break;
                }
                let table = self.table(suspect.vocabulary);
                let fact =
                    Fact::new(suspect.vocabulary, vocabulary, table, combination, &called_for);
                let Some(fact) = fact else { continue };
                let is_new = !facts.iter().any(|known| known.text == fact.text);
                let is_given_up = self.given_up.contains(&(fact.lemma.rule, fact.text.clone()));
                // What was claimed and did not exclude the step says nothing here.
                let is_in_vain = self.known(&fact).is_some_and(|at| at < tried);
                if is_new && !is_given_up && !is_in_vain && self.may_be_claimed(&fact) {
                    facts.push(fact);
                }
            }
            if !facts.is_empty() {
                return Some(facts);
            }
        }
        None
    }

    /// Whether a fact speaks of few enough processors to be looked at where they are concrete.
    fn may_be_claimed(&self, fact: &Fact) -> bool {
        may_be_claimed(self.prepared, &fact.lemma, self.options.abstraction.view)
    }

    /// Takes what a failed lemma met for something that happens, and drops every fact that it
    /// contradicts. Whether anything was dropped.
    fn give_up(&mut self, current: &Abstract, alarm: &Alarm, lemma: &Standing) -> bool {
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
            let is_contradicted = |standing: &Standing, row: &[u8]| {
                standing.fact.as_ref().is_some_and(|fact| {
                    fact.vocabulary == suspect.vocabulary && fact.is_false(vocabulary, row)
                })
            };
            for row in &suspect.rows {
                if !self.standing.iter().any(|standing| is_contradicted(standing, row)) {
                    continue;
                }
                self.observations.rows[suspect.vocabulary].add(row);
                self.tables[suspect.vocabulary] = None;
                self.missed[suspect.vocabulary].clear();
                let before = self.standing.len();
                self.standing.retain(|standing| !is_contradicted(standing, row));
                dropped |= self.standing.len() < before;
            }
        }
        // Where the row does not show it, the lemma itself is what was wrong.
        let is_it =
            |standing: &Standing| standing.lemma.rule == rule && standing.text == lemma.text;
        if lemma.fact.is_some() && self.standing.iter().any(is_it) {
            self.standing.retain(|standing| !is_it(standing));
            self.given_up.insert((rule, lemma.text.clone()));
            dropped = true;
        }
        dropped
    }

    /// What is said by a step and was never observed. Runs have steps in common, so what was found
    /// is kept as long as nothing more is observed.
    fn missing(&mut self, vocabulary: &Vocabulary, suspect: &Suspect) -> Vec<Combination> {
        let mut combinations = Vec::new();
        for row in &suspect.rows {
            let key = (row.clone(), suspect.others, suspect.chosen.clone());
            let found = match self.missed[suspect.vocabulary].get(&key) {
                Some(found) => found.clone(),
                None => {
                    let found = self.table(suspect.vocabulary).missing(vocabulary, row, suspect);
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
        let (prepared, view) = (self.prepared, self.options.abstraction.view);
        let places = self.undefined.get_or_insert_with(|| undefined_places(vocabularies, rows));
        self.tables[number].get_or_insert_with(|| {
            let vocabulary = &vocabularies[number];
            let elsewhere: Vec<bool> =
                vocabulary.terms.iter().map(|term| places.contains(&path(term))).collect();
            let mut table = Table::new(vocabulary, &rows[number], &elsewhere);
            table
                .forbid(&|atom| !may_be_claimed(prepared, &Fact::claim_of(vocabulary, atom), view));
            table
        })
    }

    /// Which rule was run, with what, in one line.
    fn sentence(&self, current: &Abstract, state: &[u8], rule: u32, number: u64) -> String {
        result::step_sentence(&current.interpreter, state, rule, number)
    }
}

/// The path of a term, without the values of its indices.
fn path(term: &Term) -> String {
    let mut depth = 0;
    let outside = term.text.chars().filter(|character| {
        depth += i32::from(*character == '[') - i32::from(*character == ']');
        depth == 0 || (depth == 1 && *character == '[')
    });
    outside.collect()
}

/// The paths of all that was seen undefined, whatever rule applied. A lemma must not fail where its
/// rule applies in the abstraction only.
fn undefined_places(vocabularies: &[Vocabulary], rows: &[Rows]) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for (vocabulary, rows) in vocabularies.iter().zip(rows) {
        let undefined = rows.undefined(vocabulary);
        let terms = vocabulary.terms.iter().zip(undefined).filter(|(_, undefined)| *undefined);
        found.extend(terms.map(|(term, _)| path(term)));
    }
    found
}
