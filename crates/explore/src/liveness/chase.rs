//! Where a state does not know its goals from its successors, a successor that knows nothing either
//! is followed, and so on for some steps. What the last of them knows is carried back. Without it a
//! run towards a goal that goes up and down the levels would take a sweep for each turn.

use std::sync::atomic::Ordering::Relaxed;

use murphi::machine::Machine;

use super::{Onward, Shared, Worker};
use crate::reduction::Reduction;
use crate::storage::Storage;

/// How far successors are followed.
const FAR: usize = 1000;

impl<M: Machine, C: Storage, R: Reduction> Worker<'_, '_, M, C, R> {
    /// Sets what bits of a state can be learnt from the states after it.
    pub(super) fn chase(&mut self, at: u64, packed: &[u8]) {
        let mut way: Vec<(u64, Onward)> = Vec::new();
        let (mut at, mut onward) = (at, self.look(at, packed));
        while let Some(step) = onward {
            let next = step.state;
            way.push((at, step));
            if way.len() == FAR {
                break;
            }
            at = next;
            onward = self.look(at, self.shared.states.get(at));
        }
        let Shared { bits, question, changed, .. } = self.shared;
        for (at, step) in way.iter().rev() {
            for goal in bits.missing(*at) {
                if bits.has(step.state, step.image(question.goals, goal)) {
                    bits.set(*at, goal);
                    changed.store(true, Relaxed);
                }
            }
        }
    }
}
