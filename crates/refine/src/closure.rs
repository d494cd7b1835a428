//! The closure of the observed rows: all rows that are possible for any number of processors, if abstract
//! processors do only what some processor was observed to do. (The idea of Abdulla, Haziza and Holík,
//! "All for the price of few", with the vocabulary of a lemma in the place of whole views.)
//!
//! Many facts about small instances hold only because there are few processors, and would be refuted one
//! by one. Here they are refuted at once: the abstraction is explored by those steps of abstract
//! processors that some row supports; where a rule whose processors are all concrete is enabled, the
//! state yields a row; new rows support new steps, until nothing is added.
//!
//! Every fact that holds of the closure holds in every instance. All rows of the closure stay reachable
//! under the lemmas of any proof, so if the closure violates a claim, there is no proof with these
//! vocabularies. Otherwise there are enough facts: each unsupported step is excluded by one.
//!
//! As a guess it cannot make an answer wrong. It costs an exploration of the supported part of the
//! abstraction.

mod search;

use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashMap;

use super::atoms::atoms;
use super::fact::Fact;
use super::implied_rows::Abstract;
use super::lookup::Lookup;
use super::observe::Observations;
use super::result::Failure;
use super::table::Rows;
use super::vocabulary::{Origin, Vocabulary};
use super::{Alarm, Refinement};
use search::Search;

/// The name of this step in progress messages.
const FOLLOWS: &str = "closure of the observations";

/// The result of closing the rows.
pub(super) enum Closed {
    /// No claim fails. Facts that were guessed before are dropped.
    Right,
    /// A claim fails in this abstraction, after steps that are all supported.
    StateViolation(Alarm, Box<Abstract>),
    /// The closure ended early, or cannot be computed.
    Unknown,
}

impl Refinement<'_, '_> {
    /// Adds all rows that follow from the observed ones.
    pub(super) fn close(&mut self) -> Result<Closed, Failure> {
        let is_probe = |vocabulary: &Vocabulary| {
            vocabulary.terms.iter().any(|term| term.origin == Origin::Probe)
        };
        // The values of probed expressions are unknown in abstract states.
        if self.vocabularies.iter().any(is_probe) {
            return Ok(Closed::Unknown);
        }
        loop {
            let closed = self.close_with_claims()?;
            match &closed {
                Closed::StateViolation(alarm, _) if self.leave_out(alarm) => {}
                _ => return Ok(closed),
            }
        }
    }

    /// Computes the closure under the claims that are not given up.
    fn close_with_claims(&mut self) -> Result<Closed, Failure> {
        let given = self.active.iter().filter(|active| active.fact.is_none());
        let lemmas: Vec<_> = given.map(|active| active.lemma.clone()).collect();
        let current = self.abstract_with(&lemmas)?;
        let key = format!("closure-{}", current.digest());
        if let Some(observed) = self.recalled(&key) {
            self.observations = observed;
            self.forget_facts();
            return Ok(Closed::Right);
        }
        let lookups = self.lookups();
        (self.listener)(FOLLOWS, None);
        let mut search = Search::new(&current, self, lookups);
        let mut found = search.start();
        while found.is_none() {
            let Some(number) = search.next() else { break };
            if self.interrupt.load(Relaxed) || search.is_too_large(self.options.search.memory) {
                return Ok(Closed::Unknown);
            }
            if let Some(progress) = search.progress() {
                (self.listener)(FOLLOWS, Some(&progress));
            }
            found = search.look_at(number, &mut self.observations);
        }
        if let Some(wrong) = found {
            let alarm = search.alarm(wrong);
            return Ok(Closed::StateViolation(alarm, Box::new(current)));
        }
        if let Some(journal) = &self.options.search.journal {
            // If that fails, the next search cannot be noted either, and says so.
            let _ = journal.note_bytes(&key, &self.observations.written());
        }
        self.forget_facts();
        Ok(Closed::Right)
    }

    /// Forgets what was guessed from fewer observations.
    fn forget_facts(&mut self) {
        self.tables.iter_mut().for_each(|table| *table = None);
        self.missed.iter_mut().for_each(FxHashMap::clear);
        self.undefined = None;
        self.active.retain(|active| active.fact.is_none());
    }

    /// The observations with what follows from them, if a journal has them.
    fn recalled(&self, key: &str) -> Option<Observations> {
        let bytes = self.options.search.journal.as_ref()?.recall_bytes(key)?;
        Observations::read(&bytes, self.vocabularies.len())
    }

    /// The observed rows, indexed for look-up.
    fn lookups(&self) -> Vec<Lookup> {
        let vocabularies = self.vocabularies.iter().zip(&self.observations.rows);
        let lookup = |(vocabulary, rows): (&Vocabulary, &Rows)| {
            let is_sayable =
                |atom: &_| self.claimable.allows(self.prepared, &Fact::claim_of(vocabulary, *atom));
            let sayable = atoms(vocabulary).into_iter().filter(is_sayable);
            let mut lookup = Lookup::new(vocabulary, sayable.collect());
            rows.iter().for_each(|row| lookup.add(vocabulary, row, &mut Vec::new()));
            lookup
        };
        vocabularies.map(lookup).collect()
    }
}
