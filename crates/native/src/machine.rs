//! A compiled model, run: states in, batches of successors out.
//!
//! This is the door to native code. What it takes for granted is checked here, whoever calls: a
//! state has the right size, and every slot holds a number that its type has (then no index
//! computed from it leaves the state). What native code appends to a batch becomes part of it only
//! after the call.

use std::sync::Arc;

use murphi::ir::PropertyKind;
use murphi::machine::{Check, Machine, Successors};

use crate::host::Context;
use crate::program::{Program, RunRule};
use crate::translate::{EXCLUDED, FAILED, FOUND};

/// Runs a compiled model. One for each thread.
pub struct NativeMachine {
    program: Arc<Program>,
    /// Room for locals that are too large for the stack; words, so that it is aligned.
    arena: Vec<u64>,
    undefined: Vec<u8>,
    covered: Vec<bool>,
}

impl NativeMachine {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let arena = vec![0; program.arena.div_ceil(8)];
        let undefined = vec![0; program.size];
        let covered = vec![false; program.property_count];
        NativeMachine { program, arena, undefined, covered }
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn require_state(program: &Program, state: &[u8]) {
        assert_eq!(state.len(), program.size, "the state of another model");
        assert!(program.limits.admit(state), "bytes that are no state of the model");
    }
}

/// Runs rules on a state that has been checked.
fn run_all(
    program: &Program,
    arena: &mut [u64],
    rules: &[RunRule],
    state: &[u8],
    out: &mut Successors,
) {
    assert_eq!(out.size, program.size, "a batch for another model");
    assert_eq!(out.states.len(), out.firings.len() * out.size, "a batch that does not add up");
    // SAFETY: `out` is borrowed for the whole function and not used otherwise until `finish`;
    // `arena` has the size that the code was made for; the state is well-formed.
    unsafe {
        let mut context = Context::begin(out, arena.as_mut_ptr().cast());
        for rule in rules {
            rule(state.as_ptr(), &mut context);
        }
        context.finish();
    }
}

impl Machine for NativeMachine {
    fn start(&mut self, out: &mut Successors) {
        let program = &*self.program;
        run_all(program, &mut self.arena, &program.start_states, &self.undefined, out);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        let program = &*self.program;
        Self::require_state(program, state);
        run_all(program, &mut self.arena, &program.rules, state, out);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        let program = &*self.program;
        Self::require_state(program, state);
        let mut context = Context::for_properties(self.arena.as_mut_ptr().cast());
        for &(kind, number, search) in &program.properties {
            // SAFETY: as in `run_all`; properties append nothing to a batch.
            let status = unsafe { search(state.as_ptr(), &mut context) };
            match (status, kind) {
                (FAILED, _) => return Check::Failed(number),
                (EXCLUDED, PropertyKind::Cover) => {}
                (EXCLUDED, _) | (FOUND, PropertyKind::Assumption) => return Check::Excluded,
                (FOUND, PropertyKind::Cover) => self.covered[number as usize] = true,
                (FOUND, _) => return Check::Broken(number),
                _ => {}
            }
        }
        Check::Holds
    }

    fn covered(&self) -> &[bool] {
        &self.covered
    }
}
