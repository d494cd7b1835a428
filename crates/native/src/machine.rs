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
use crate::memo::RESULT_BITS;
use crate::orders::Trial;
use crate::program::{Entry, Program, RunRules};
use crate::translate::{BROKEN, EXCLUDED, FAILED, STATUS_BITS};

/// Runs a compiled model. One for each thread.
pub struct NativeMachine {
    program: Arc<Program>,
    /// Room for locals that are too large for the stack; words, so that it is aligned.
    arena: Vec<u64>,
    guard_arena: Vec<u64>,
    undefined: Vec<u8>,
    /// The state that was last found to be well-formed.
    admitted: Vec<u8>,
    /// The results of functions that are kept while the state is the same, and how many runs there
    /// were.
    results: Vec<u64>,
    runs: u64,
    covered: Vec<bool>,
    stop: Arc<AtomicBool>,
    /// Where rules are run in all orders of tried loops.
    trial: Option<Box<Trial>>,
}

impl NativeMachine {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let arena = vec![0; program.arena.div_ceil(8)];
        let guard_arena = vec![0; program.guard_arena.div_ceil(8)];
        let undefined = vec![0; program.size];
        let covered = vec![false; program.cover_count + program.goal_count];
        let results = vec![0; program.results];
        NativeMachine {
            program,
            arena,
            guard_arena,
            undefined,
            admitted: Vec::new(),
            results,
            runs: 0,
            covered,
            stop: Arc::default(),
            trial: None,
        }
    }

    /// From now on, runs each rule that goes through members in an order that may show once for each
    /// order, and sets the flag if what it leads to differs.
    pub fn try_orders(&mut self, shows: &Arc<AtomicBool>) {
        self.trial = Some(Box::new(Trial::new(shows)));
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Makes sure that a state is well-formed, unless it is the one that was last: properties are
    /// looked at and rules are run in the same state.
    fn require(&mut self, state: &[u8]) {
        let program = &*self.program;
        assert_eq!(state.len(), program.size, "the state of another model");
        if self.admitted != state {
            assert!(program.limits.admit(state), "bytes that are no state of the model");
            self.admitted.clear();
            self.admitted.extend_from_slice(state);
        }
    }

    /// What native code works with, if it may use so many bytes of the stack for recursion.
    fn context(&mut self, stack: usize) -> Context {
        let arena = self.arena.as_mut_ptr().cast();
        let guard_arena = self.guard_arena.as_mut_ptr().cast();
        let covered = self.covered.as_mut_ptr();
        let (stop, constants) = (Arc::as_ptr(&self.stop), self.program.constants());
        let mut context = Context::new(arena, guard_arena, covered, stop, constants);
        self.runs += 1;
        context.results = self.results.as_mut_ptr();
        context.run = self.runs << RESULT_BITS;
        // The stack grows downwards from about here.
        let here = &raw const context as usize;
        context.stack_end = here.saturating_sub(stack) as u64;
        context
    }

    /// The same for rules, which may be run in all orders of tried loops.
    fn context_of_rules(&mut self, stack: usize) -> Context {
        let mut context = self.context(stack);
        if let Some(trial) = &mut self.trial {
            trial.reset();
            context.trial = &raw mut **trial;
        }
        context
    }

    /// Runs rules or start states on a well-formed state, whatever their priority.
    fn run(&mut self, which: Entries, state: &[u8], out: &mut Successors) {
        let first = out.firings.len();
        with_enough_stack(|stack| {
            out.firings.truncate(first);
            out.written.truncate(first);
            out.states.truncate(first * out.size);
            let context = match which {
                Entries::Rules => self.context_of_rules(stack),
                Entries::StartStates => self.context(stack),
            };
            let program = &*self.program;
            run_all(program, context, which.of(program), state, out, None)
        });
    }

    /// Everything at once, then handed on in portions: for what must be seen whole first.
    fn run_then_portion(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let mut whole = Successors::new(out.size);
        match state {
            Some(state) => self.expand(state, &mut whole),
            None => self.start(&mut whole),
        }
        whole.hand_on(most, out, full);
    }

    /// Looks at the properties of a well-formed state. Nothing if the stack was too small.
    fn look(&mut self, stack: usize, state: &[u8]) -> Option<Check> {
        let mut context = self.context(stack);
        for properties in &self.program.properties {
            // SAFETY: as in `run_all`; properties append nothing to a batch.
            let answer =
                unsafe { (properties.call)(state.as_ptr(), &mut context, properties.first) };
            if context.overflowed != 0 {
                return None;
            }
            let number = (answer >> STATUS_BITS) as u32;
            match answer & ((1 << STATUS_BITS) - 1) {
                FAILED => return Some(Check::Failed(number)),
                EXCLUDED => return Some(Check::Excluded),
                BROKEN => return Some(Check::Broken(number)),
                _ => {}
            }
        }
        Some(Check::Holds)
    }

    /// Notes the goals that hold in a well-formed state, or says which cannot be evaluated. Nothing
    /// if the stack was too small.
    fn look_at_goals(&mut self, stack: usize, state: &[u8]) -> Option<Result<(), usize>> {
        let mut context = self.context(stack);
        for goals in &self.program.goals {
            // SAFETY: as in `look`; `covered` has room for the goals after all covers.
            let answer = unsafe { (goals.call)(state.as_ptr(), &mut context, goals.first) };
            if context.overflowed != 0 {
                return None;
            }
            if answer & ((1 << STATUS_BITS) - 1) == FAILED {
                let number = (answer >> STATUS_BITS) as usize;
                return Some(Err(number - self.program.cover_count));
            }
        }
        Some(Ok(()))
    }
}

/// What is run.
#[derive(Clone, Copy)]
enum Entries {
    Rules,
    StartStates,
}

impl Entries {
    fn of(self, program: &Program) -> &[Entry<RunRules>] {
        match self {
            Entries::Rules => &program.rules,
            Entries::StartStates => &program.start_states,
        }
    }
}

/// How much of the stack of the caller recursive functions may use.
const STACK_HERE: usize = 256 << 10;
/// How much is left for what is not recursive.
const STACK_BESIDES: usize = 1 << 20;
/// The stacks on which a run is tried that needs more.
const STACKS: [usize; 4] = [8 << 20, 64 << 20, 512 << 20, 4 << 30];

/// Does something that says whether so many bytes of stack were enough, with more until they are.
fn with_enough_stack(mut run: impl FnMut(usize) -> bool + Send) {
    if run(STACK_HERE) {
        return;
    }
    for stack in STACKS {
        let mut enough = false;
        let joined = std::thread::scope(|scope| {
            let run = || enough = run(stack);
            let thread = std::thread::Builder::new().stack_size(stack + STACK_BESIDES);
            thread.spawn_scoped(scope, run).map(|thread| thread.join())
        });
        match joined {
            Ok(Ok(())) if enough => return,
            Ok(Ok(())) => {}
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // There is no memory for such a stack: the run counts as one that failed.
            Err(_) => return,
        }
    }
}

/// Runs rules on a well-formed state. Says whether the stack was large enough.
fn run_all(
    program: &Program,
    mut context: Context,
    guards: &[Entry<RunRules>],
    state: &[u8],
    out: &mut Successors,
    portions: Option<&mut Portions<'_>>,
) -> bool {
    assert_eq!(out.size, program.size, "a batch for another model");
    assert_eq!(out.states.len(), out.firings.len() * out.size, "a batch that does not add up");
    let portions = portions.map_or(std::ptr::null_mut(), |portions| portions);
    // SAFETY: `out` and `portions` are borrowed for the whole function and not used otherwise
    // until `finish`; the context is that of a machine of this program, so its arenas and its
    // results have the size that the code was made for, and its flag and its trial live as long as the machine; the
    // state is well-formed.
    unsafe {
        context.begin(out, portions);
        for guards in guards {
            (guards.call)(state.as_ptr(), &mut context, guards.first);
        }
        context.finish();
    }
    context.overflowed == 0
}

impl Machine for NativeMachine {
    fn start(&mut self, out: &mut Successors) {
        let undefined = std::mem::take(&mut self.undefined);
        self.run(Entries::StartStates, &undefined, out);
        self.undefined = undefined;
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.require(state);
        let first = out.firings.len();
        self.run(Entries::Rules, state, out);
        if let Some(priorities) = &self.program.priorities {
            priorities.leave_out(out, first);
        }
    }

    fn check(&mut self, state: &[u8]) -> Check {
        self.require(state);
        let mut found = None;
        with_enough_stack(|stack| {
            found = self.look(stack, state);
            found.is_some()
        });
        found.unwrap_or(Check::Failed(0))
    }

    fn covered(&self) -> &[bool] {
        &self.covered[..self.program.cover_count]
    }

    fn goals(&mut self, state: &[u8], reached: &mut [bool]) -> Result<(), usize> {
        self.require(state);
        let (first, mut ended) = (self.program.cover_count, None);
        self.covered[first..].fill(false);
        with_enough_stack(|stack| {
            ended = self.look_at_goals(stack, state);
            ended.is_some()
        });
        let noted = &self.covered[first..];
        reached.iter_mut().zip(noted).for_each(|(reached, &noted)| *reached = noted);
        ended.unwrap_or(Err(0))
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        if self.program.is_recursive || state.is_some() && self.program.priorities.is_some() {
            return self.run_then_portion(state, most, out, full);
        }
        let context = match state {
            Some(state) => {
                self.require(state);
                self.context_of_rules(STACK_HERE)
            }
            None => self.context(STACK_HERE),
        };
        let program = &*self.program;
        let mut portions = Portions { most: most.max(1), full, panic: None };
        let portioned = Some(&mut portions);
        match state {
            Some(state) => {
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
        let words = self.arena.len() + self.guard_arena.len() + self.results.len();
        8 * words + 2 * self.undefined.len()
    }
}
