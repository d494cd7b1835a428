//! Drops lemmas that are not needed.
//!
//! Half of them are left out, and then quarters, and so on down to single ones, as long as the
//! abstraction still keeps its promise without them. What is left at the end is minimal: no single
//! lemma can be left out.

use std::sync::atomic::Ordering::Relaxed;

use explore::Exploration;

use super::result::{Failure, Verdict, Verification};
use super::suspect::Abstract;
use super::{Refinement, Standing};
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
        while size > 0 {
            let mut at = 0;
            let mut dropped = false;
            while at < self.standing.len() {
                if self.interrupt.load(Relaxed) {
                    complete = false;
                    break;
                }
                let end = (at + size).min(self.standing.len());
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
}
