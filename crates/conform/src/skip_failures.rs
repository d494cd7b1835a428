//! A machine whose rules never fail: where one would, it does not apply.
//!
//! A rule that fails (it copies a value that is not there, writes beyond a queue) ends a search,
//! since the rest of the model means little then. Sometimes the rest is what is asked about: a
//! random walk passes such a rule by and goes on with the others, and a search that is to answer
//! about the same runs has to pass it by, too. A start state that fails still does.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::Hook;
use murphi::machine::{Check, Machine, Outcome, Successors};

/// A machine that passes by what fails.
pub(crate) struct SkipFailures<M>(pub(crate) M);

/// Makes machines forgiving.
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
        // The last portion is left in the batch.
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

/// Takes what failed as excluded by an assumption.
fn forgive(out: &mut Successors) {
    for firing in &mut out.firings {
        if matches!(firing.outcome, Outcome::Failed | Outcome::GuardFailed) {
            firing.outcome = Outcome::Excluded;
        }
    }
}
