//! Drops lemmas that the proof does not need, until no single lemma can be dropped.
//!
//! Half of the lemmas are dropped at first, then quarters, and so on, as long as the proof still goes
//! through. The states that are reached are kept (`reached`), so that each attempt explores only what the
//! dropped lemmas excluded. The last search, from the start states, is the proof.
//!
//! If a claim fails without a lemma, it also fails without further lemmas, because lemmas only exclude
//! runs; so a lemma that was needed once is not tried again.

mod reached;

use std::sync::atomic::Ordering::Relaxed;

use explore::Exploration;
use rustc_hash::{FxHashMap, FxHashSet};

use super::implied_rows::Abstract;
use super::result::{Failure, Verdict, Verification};
use super::{ActiveLemma, LemmaId, Refinement, lemmas};
use reached::{Reached, RemovalResult, Watch};

/// An abstraction with more states than this keeps all its lemmas: minimising would take longer
/// than the proof. The limit is a number of states and not a time, so that the lemmas are the same
/// on every machine.
const MOST_STATES: u64 = 20_000_000;

impl Refinement<'_, '_> {
    /// Records that an abstraction is verified, with a minimal set of lemmas.
    pub(super) fn minimised(
        &mut self,
        current: Abstract,
        exploration: Exploration,
        verification: &mut Verification,
    ) -> Result<(), Failure> {
        verification.verdict = Verdict::Holds(());
        let all = self.active.clone();
        verification.minimal = self.leave_lemmas_out(&current, exploration.states)?;
        if self.active.len() == all.len() {
            self.record(verification, current, exploration);
            return Ok(());
        }
        let fewer = self.abstract_with(&lemmas(&self.active))?;
        let task = format!("{} lemmas", self.active.len());
        let found = self.search(&fewer, &task, 0);
        if found.verdict == explore::Verdict::Holds(()) {
            self.record(verification, fewer, found);
        } else {
            // Minimising ended early; the proof with all lemmas stands.
            self.active = all;
            verification.minimal = false;
            self.record(verification, current, exploration);
        }
        Ok(())
    }

    /// Drops lemmas as long as the proof goes through. Returns whether no single lemma can be
    /// dropped.
    fn leave_lemmas_out(&mut self, current: &Abstract, states: u64) -> Result<bool, Failure> {
        if self.active.is_empty() {
            return Ok(true);
        }
        if states > MOST_STATES {
            return Ok(false);
        }
        // What the lemmas in use let be reached, once it is needed, and the abstraction with them.
        let mut reached: Option<Reached> = None;
        let mut latest: Option<Abstract> = None;
        let mut size = self.active.len().div_ceil(2);
        let mut needed: FxHashMap<LemmaId, Broken> = FxHashMap::default();
        while size > 0 {
            let mut at = 0;
            let mut dropped = false;
            while at < self.active.len() {
                let end = (at + size).min(self.active.len());
                if size == 1 && self.is_needed(&needed, &self.active[at]) {
                    at = end;
                    continue;
                }
                let mut rest = self.active.clone();
                let left_out: Vec<ActiveLemma> = rest.drain(at..end).collect();
                let rules: FxHashSet<_> = left_out.iter().map(|active| active.lemma.rule).collect();
                let candidate = self.abstract_with(&lemmas(&rest))?;
                let key = format!("without-{}", candidate.digest());
                let known = self.options.search.journal.as_ref().and_then(|one| one.recall(&key));
                let result = match known {
                    Some(known) => {
                        if known == RemovalResult::Fine {
                            reached = None;
                        }
                        known
                    }
                    None => {
                        if reached.is_none() {
                            let current = latest.as_ref().unwrap_or(current);
                            reached = Reached::new(current, self.code.clone(), &mut self.watch());
                        }
                        let Some(reached) = &mut reached else { return Ok(false) };
                        let result = reached.extend(&candidate, &rules, &mut self.watch());
                        self.note_removal(&key, &result);
                        result
                    }
                };
                match result {
                    RemovalResult::Fine => {
                        self.active = rest;
                        latest = Some(candidate);
                        dropped = true;
                    }
                    RemovalResult::StateViolation(claim) => {
                        if size == 1 {
                            let broken = Broken::of(claim.as_deref(), &candidate, &rest);
                            needed.insert(left_out[0].id(), broken);
                        }
                        at = end;
                    }
                    RemovalResult::Unknown => return Ok(false),
                }
                if self.interrupt.load(Relaxed) {
                    return Ok(false);
                }
            }
            // After one lemma was dropped, another may have become unnecessary.
            size = match size {
                1 if dropped => 1,
                1 => 0,
                _ => size.div_ceil(2),
            };
        }
        Ok(true)
    }

    /// Notes what came of leaving lemmas out, unless that was ended early.
    fn note_removal(&self, key: &str, result: &RemovalResult) {
        if let Some(journal) = &self.options.search.journal
            && *result != RemovalResult::Unknown
        {
            // If that fails, the next search cannot be noted either, and says so.
            let _ = journal.note(key, result);
        }
    }

    fn watch(&mut self) -> Watch<'_, '_> {
        Watch::new(
            self.options,
            self.interrupt,
            format!("minimising, lemmas left: {}", self.active.len()),
            &mut *self.listener,
        )
    }

    /// Whether a claim that is still needed is known to fail without a lemma.
    fn is_needed(&self, needed: &FxHashMap<LemmaId, Broken>, active: &ActiveLemma) -> bool {
        match needed.get(&active.id()) {
            Some(Broken::Protocol) => true,
            Some(Broken::Lemma(broken)) => self.active.iter().any(|active| active.id() == *broken),
            None => false,
        }
    }
}

/// The claim that fails without a lemma.
enum Broken {
    /// A claim of the protocol.
    Protocol,
    Lemma(LemmaId),
}

impl Broken {
    fn of(claim: Option<&str>, current: &Abstract, active: &[ActiveLemma]) -> Broken {
        let claims = &current.abstraction.claims;
        let lemma = claims.iter().position(|of_lemma| claim == Some(of_lemma));
        lemma.map_or(Broken::Protocol, |lemma| Broken::Lemma(active[lemma].id()))
    }
}
