//! A compiled model, run: states in, batches of successors out.
//!
//! This is the door to native code. What it takes for granted is checked here, whoever calls: a
//! state has the right size, and every slot holds a number that its type has (then no index
//! computed from it leaves the state). What native code appends to a batch becomes part of it only
//! after the call.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use murphi::machine::{Check, Machine, Successors};

use crate::host::{Context, Portions};
use crate::program::{Program, RunRules};
use crate::translate::{BROKEN, EXCLUDED, FAILED, STATUS_BITS};

/// Runs a compiled model. One for each thread.
pub struct NativeMachine {
    program: Arc<Program>,
    /// Room for locals that are too large for the stack; words, so that it is aligned.
    arena: Vec<u64>,
    guard_arena: Vec<u64>,
    undefined: Vec<u8>,
    covered: Vec<bool>,
    stop: Arc<AtomicBool>,
}

impl NativeMachine {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let arena = vec![0; program.arena.div_ceil(8)];
        let guard_arena = vec![0; program.guard_arena.div_ceil(8)];
        let undefined = vec![0; program.size];
        let covered = vec![false; program.cover_count];
        NativeMachine { program, arena, guard_arena, undefined, covered, stop: Arc::default() }
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn context(&mut self) -> Context {
        let arena = self.arena.as_mut_ptr().cast();
        let guard_arena = self.guard_arena.as_mut_ptr().cast();
        Context::new(arena, guard_arena, self.covered.as_mut_ptr(), Arc::as_ptr(&self.stop))
    }
}

fn require_state(program: &Program, state: &[u8]) {
    assert_eq!(state.len(), program.size, "the state of another model");
    assert!(program.limits.admit(state), "bytes that are no state of the model");
}

/// Runs rules on a well-formed state.
fn run_all(
    program: &Program,
    mut context: Context,
    guards: &[RunRules],
    state: &[u8],
    out: &mut Successors,
    portions: Option<&mut Portions<'_>>,
) {
    assert_eq!(out.size, program.size, "a batch for another model");
    assert_eq!(out.states.len(), out.firings.len() * out.size, "a batch that does not add up");
    let portions = portions.map_or(std::ptr::null_mut(), |portions| portions);
    // SAFETY: `out` and `portions` are borrowed for the whole function and not used otherwise
    // until `finish`; the context is that of a machine of this program, so its arenas have the
    // size that the code was made for, and its flag lives as long as the machine; the state is
    // well-formed.
    unsafe {
        context.begin(out, portions);
        for guards in guards {
            guards(state.as_ptr(), &mut context);
        }
        context.finish();
    }
}

impl Machine for NativeMachine {
    fn start(&mut self, out: &mut Successors) {
        let context = self.context();
        let program = &*self.program;
        run_all(program, context, &program.start_states, &self.undefined, out, None);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        let context = self.context();
        let program = &*self.program;
        require_state(program, state);
        run_all(program, context, &program.rules, state, out, None);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        let mut context = self.context();
        require_state(&self.program, state);
        for properties in &self.program.properties {
            // SAFETY: as in `run_all`; properties append nothing to a batch.
            let answer = unsafe { properties(state.as_ptr(), &mut context) };
            let number = (answer >> STATUS_BITS) as u32;
            match answer & ((1 << STATUS_BITS) - 1) {
                FAILED => return Check::Failed(number),
                EXCLUDED => return Check::Excluded,
                BROKEN => return Check::Broken(number),
                _ => {}
            }
        }
        Check::Holds
    }

    fn covered(&self) -> &[bool] {
        &self.covered
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let context = self.context();
        let program = &*self.program;
        let mut portions = Portions { most: most.max(1), full, panic: None };
        let portioned = Some(&mut portions);
        match state {
            Some(state) => {
                require_state(program, state);
                run_all(program, context, &program.rules, state, out, portioned);
            }
            None => {
                run_all(program, context, &program.start_states, &self.undefined, out, portioned);
            }
        }
        if let Some(panic) = portions.panic {
            std::panic::resume_unwind(panic);
        }
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    fn footprint(&self) -> usize {
        8 * (self.arena.len() + self.guard_arena.len()) + self.undefined.len()
    }
}
