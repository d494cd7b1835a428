//! A machine whose rules never fail: a rule that would fail is disabled instead.
//!
//! A rule that fails (it copies an undefined value, or writes beyond a queue) usually ends a
//! search, because the rest of the model means little afterwards. A random walk skips such a rule
//! and continues with the others, and a search that is to answer about the same runs must skip it,
//! too. A start state that fails is still an error.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::Hook;
use murphi::machine::{Check, Machine, Outcome, Successors};

/// A machine that skips failing rules.
pub(crate) struct SkipFailures<M>(pub(crate) M);

/// Wraps machines so that they skip failing rules.
pub(crate) struct SkippingFailures;

impl Hook for SkippingFailures {
    type Around<M: Machine> = SkipFailures<M>;

    fn around<M: Machine>(&self, machine: M) -> SkipFailures<M> {
        SkipFailures(machine)
    }
}

impl<M: Machine> Machine for SkipFailures<M> {
    fn start(&mut self, out: &mut Successors) {
        self.0.start(out);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.0.expand(state, out);
        forgive(out);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        self.0.check(state)
    }

    fn covered(&self) -> &[bool] {
        self.0.covered()
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let applies = state.is_some();
        let mut forgiven = |portion: &mut Successors| {
            if applies {
                forgive(portion);
            }
            full(portion);
        };
        self.0.run_in_portions(state, most, out, &mut forgiven);
        // The last batch of states is left in the buffer.
        if applies {
            forgive(out);
        }
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.0.obey(stop);
    }

    fn footprint(&self) -> usize {
        self.0.footprint()
    }
}

/// Treats a failure like a violated assumption.
fn forgive(out: &mut Successors) {
    for firing in &mut out.firings {
        if matches!(firing.outcome, Outcome::Failed | Outcome::GuardFailed) {
            firing.outcome = Outcome::Excluded;
        }
    }
}
