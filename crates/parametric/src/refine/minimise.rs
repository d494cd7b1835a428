//! Drops lemmas that are not needed.
//!
//! Half of them are left out, and then quarters, and so on down to single ones, as long as the
//! abstraction still keeps its promise without them. What is left at the end is minimal: no single
//! lemma can be left out.
//!
//! If a lemma was left out and some claim failed, the same happens when fewer of the others are
//! there: they only exclude runs. So it need not be tried again as long as this is claimed.

use std::sync::atomic::Ordering::Relaxed;

use explore::Exploration;
use rustc_hash::FxHashMap;

use super::result::{Failure, Verdict, Verification};
use super::suspect::Abstract;
use super::{Alarm, LemmaId, Refinement, Standing, alarms};
use crate::Lemma;

impl Refinement<'_, '_> {
    /// The lemmas of a verified abstraction made as few as possible.
    pub(super) fn minimised(
        &mut self,
        current: Abstract,
        exploration: Exploration,
        verification: &mut Verification,
    ) -> Result<(), Failure> {
        let (mut best, mut found) = (current, exploration);
        let mut size = self.standing.len().div_ceil(2);
        let mut complete = true;
        let mut needed: FxHashMap<LemmaId, Broken> = FxHashMap::default();
        while size > 0 {
            let mut at = 0;
            let mut dropped = false;
            while at < self.standing.len() {
                if self.interrupt.load(Relaxed) {
                    complete = false;
                    break;
                }
                let end = (at + size).min(self.standing.len());
                if size == 1 && self.is_needed(&needed, &self.standing[at]) {
                    at = end;
                    continue;
                }
                let is_left = |number: &usize| !(at..end).contains(number);
                let rest: Vec<Standing> = (0..self.standing.len())
                    .filter(is_left)
                    .map(|number| self.standing[number].clone())
                    .collect();
                let lemmas: Vec<Lemma> =
                    rest.iter().map(|standing| standing.lemma.clone()).collect();
                let candidate = self.abstract_with(&lemmas)?;
                let task = format!("minimising, {} lemmas", self.standing.len());
                let exploration = self.search(&candidate, &task, 0);
                if exploration.verdict == explore::Verdict::Verified {
                    self.standing = rest;
                    (best, found) = (candidate, exploration);
                    dropped = true;
                } else {
                    if size == 1 && !self.interrupt.load(Relaxed) {
                        let broken = alarms(&candidate, &exploration).into_iter().next();
                        let broken = broken.map(|alarm| Broken::of(&alarm, &candidate, &rest));
                        needed.extend(broken.map(|broken| (self.standing[at].id(), broken)));
                    }
                    at = end;
                }
            }
            // Without one lemma, another may have become superfluous.
            size = match size {
                1 if dropped && complete => 1,
                1 => 0,
                _ => size.div_ceil(2),
            };
            if !complete {
                break;
            }
        }
        verification.verdict = Verdict::Verified;
        verification.minimal = complete;
        self.tell(verification, best, found);
        Ok(())
    }

    /// Whether something that is still claimed is known to fail without a lemma.
    fn is_needed(&self, needed: &FxHashMap<LemmaId, Broken>, standing: &Standing) -> bool {
        match needed.get(&standing.id()) {
            Some(Broken::Protocol) => true,
            Some(Broken::Lemma(broken)) => {
                self.standing.iter().any(|standing| standing.id() == *broken)
            }
            None => false,
        }
    }
}

/// What fails without a lemma.
enum Broken {
    /// Something that the protocol claims.
    Protocol,
    Lemma(LemmaId),
}

impl Broken {
    fn of(alarm: &Alarm, current: &Abstract, standing: &[Standing]) -> Broken {
        let claims = &current.abstraction.claims;
        let lemma = claims.iter().position(|claim| alarm.claim.as_ref() == Some(claim));
        lemma.map_or(Broken::Protocol, |lemma| Broken::Lemma(standing[lemma].id()))
    }
}
