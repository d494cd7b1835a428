//! What a few processors see if the others do only what some processors were seen to do.
//!
//! In small instances much is so only because there are few processors, and facts of this kind are
//! found out to be wrong one after the other. Here it is done at once: the abstraction is explored by
//! those steps of others that the rows agree with. Where a rule applies whose processors are all in
//! view, what is so there is a row like those that were observed. That speaks for more steps, and so
//! on until nothing is added.
//!
//! Then every fact that is so of the rows is so in every instance. Any lemmas that make a proof leave
//! all of this reachable, so if something is wrong in it, there are none; and if nothing is, there are
//! facts enough, because whatever else others may do, some fact excludes it.
//!
//! Like every other guess it cannot make an answer wrong.

mod search;

use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashMap;

use super::atoms::atoms;
use super::fact::Fact;
use super::lookup::Lookup;
use super::result::Failure;
use super::suspect::Abstract;
use super::table::Rows;
use super::vocabulary::{Origin, Vocabulary};
use super::{Alarm, Refinement};
use search::Search;

/// What it is called while it is done.
const FOLLOWS: &str = "what follows from that";

/// What came of it.
pub(super) enum Closed {
    /// Nothing is wrong, and every fact that was guessed before is forgotten.
    Right,
    /// Something is wrong in this abstraction, after steps each of which was seen.
    Wrong(Alarm, Box<Abstract>),
    /// It ended early, or cannot be done.
    Unknown,
}

impl Refinement<'_, '_> {
    /// Adds to what was observed whatever follows from it.
    pub(super) fn close(&mut self) -> Result<Closed, Failure> {
        let is_probe = |vocabulary: &Vocabulary| {
            vocabulary.terms.iter().any(|term| term.origin == Origin::Probe)
        };
        // What has to be computed is not known of the states of the abstraction.
        if self.vocabularies.iter().any(is_probe) {
            return Ok(Closed::Unknown);
        }
        loop {
            let closed = self.close_with_claims()?;
            match &closed {
                Closed::Wrong(alarm, _) if self.leave_out(alarm) => {}
                _ => return Ok(closed),
            }
        }
    }

    /// Does it with the claims that are not left out.
    fn close_with_claims(&mut self) -> Result<Closed, Failure> {
        let given = self.standing.iter().filter(|standing| standing.fact.is_none());
        let lemmas: Vec<_> = given.map(|standing| standing.lemma.clone()).collect();
        let current = self.abstract_with(&lemmas)?;
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
            return Ok(Closed::Wrong(alarm, Box::new(current)));
        }
        self.tables.iter_mut().for_each(|table| *table = None);
        self.missed.iter_mut().for_each(FxHashMap::clear);
        self.undefined = None;
        self.standing.retain(|standing| standing.fact.is_none());
        Ok(Closed::Right)
    }

    /// What was observed, to be looked up.
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
