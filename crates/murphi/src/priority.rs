//! Which rules fire where rules have priorities (CMurphi: a number between `rule` and its name).
//!
//! In each state, the least number among the rules with an instance whose condition holds is the one
//! that counts: rules with a greater number do not fire there. A rule without a number has 0. All
//! conditions are evaluated in any case, so that an error in one is an error whatever its priority.
//! Machines run all rules and then leave out the firings that do not count.

use crate::ir::Model;
use crate::machine::{Firing, Outcome, Successors};

/// The priorities of the rules of a model, if they differ.
#[derive(Debug, Clone)]
pub struct Priorities(Vec<u64>);

impl Priorities {
    /// Those of a model; nothing if they make no difference.
    pub fn of(model: &Model) -> Option<Priorities> {
        let numbers: Vec<u64> = model.rules.iter().map(|rule| rule.priority).collect();
        let differ = numbers.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then_some(Priorities(numbers))
    }

    /// The number of a rule.
    pub fn number(&self, rule: usize) -> u64 {
        self.0[rule]
    }

    fn of_firing(&self, firing: &Firing) -> u64 {
        self.number(firing.rule as usize)
    }

    /// The least number among firings of rules whose condition holds.
    fn least(&self, firings: &[Firing]) -> Option<u64> {
        let applies = firings.iter().filter(|firing| firing.outcome != Outcome::GuardFailed);
        applies.map(|firing| self.of_firing(firing)).min()
    }

    /// Whether a firing counts, `least` being the least number in its state.
    fn counts(&self, firing: &Firing, least: Option<u64>) -> bool {
        firing.outcome == Outcome::GuardFailed || Some(self.of_firing(firing)) == least
    }

    /// Leaves out the firings from `first` on, which are all of one state, that do not count.
    pub fn leave_out(&self, batch: &mut Successors, first: usize) {
        let least = self.least(&batch.firings[first..]);
        let mut kept = first;
        let tracked = batch.written.len() == batch.firings.len();
        for number in first..batch.firings.len() {
            let firing = batch.firings[number];
            if !self.counts(&firing, least) {
                continue;
            }
            batch.firings[kept] = firing;
            if tracked {
                batch.written[kept] = batch.written[number];
            }
            let from = number * batch.size;
            batch.states.copy_within(from..from + batch.size, kept * batch.size);
            kept += 1;
        }
        batch.firings.truncate(kept);
        batch.written.truncate(kept);
        batch.states.truncate(kept * batch.size);
    }
}
