//! Explores one composed model: by native code if the host can, else by the interpreter.
//!
//! States in which an alarm was already found to be false can be passed over: then the search goes
//! on as if they were not reachable. They are known by their canonical bytes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::symmetry::{Canonicalizer, Scratch, Symmetry};
use explore::{BitCodec, Codec, Exploration, Options, Progress, System};
use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Successors};

/// How to search, and what to pass over.
pub(crate) struct Search<'a> {
    pub(crate) options: &'a Options,
    pub(crate) symmetry: Symmetry,
    pub(crate) passed_over: &'a BTreeSet<Vec<u8>>,
    pub(crate) interrupt: &'a AtomicBool,
}

/// The bytes by which a state is known, whatever its members are called.
pub(crate) fn canonical(interpreter: &Interpreter, symmetry: Symmetry, state: &[u8]) -> Vec<u8> {
    let reduction = Canonicalizer::new(interpreter.model(), interpreter.layout(), symmetry);
    let mut state = state.to_vec();
    reduction.canonicalize(&mut Scratch::new(&reduction), &mut state);
    state
}

/// Searches a model.
pub(crate) fn search(
    interpreter: &Interpreter,
    search: &Search<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Exploration {
    match native::Program::compile(interpreter.model(), interpreter.layout()) {
        Ok(program) => search_with(interpreter, search, || program.machine(), &*program, progress),
        Err(_) => {
            let codec = BitCodec::new(interpreter.model(), interpreter.layout());
            search_with(interpreter, search, || interpreter.clone(), &codec, progress)
        }
    }
}

fn search_with<M: Machine>(
    interpreter: &Interpreter,
    search: &Search<'_>,
    machine: impl Fn() -> M + Sync,
    codec: &impl Codec,
    progress: &mut dyn FnMut(&Progress),
) -> Exploration {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let reduction = Canonicalizer::new(model, layout, search.symmetry);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let machine = || Passing {
        machine: machine(),
        reduction: &reduction,
        scratch: Scratch::new(&reduction),
        passed_over: search.passed_over,
    };
    let system = System { machine, codec, reduction: &reduction, state_size, rules };
    explore::explore(search.options, &system, progress, search.interrupt)
}

/// A machine that takes some states with a broken claim for excluded.
struct Passing<'a, M> {
    machine: M,
    reduction: &'a Canonicalizer,
    scratch: Scratch,
    passed_over: &'a BTreeSet<Vec<u8>>,
}

impl<M: Machine> Machine for Passing<'_, M> {
    fn start(&mut self, out: &mut Successors) {
        self.machine.start(out);
    }

    #[inline(always)]
    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.machine.expand(state, out);
    }

    #[inline(always)]
    fn check(&mut self, state: &[u8]) -> Check {
        match self.machine.check(state) {
            Check::Broken(property) if !self.passed_over.is_empty() => {
                let mut canonical = state.to_vec();
                self.reduction.canonicalize(&mut self.scratch, &mut canonical);
                match self.passed_over.contains(&canonical) {
                    true => Check::Excluded,
                    false => Check::Broken(property),
                }
            }
            check => check,
        }
    }

    fn covered(&self) -> &[bool] {
        self.machine.covered()
    }

    #[inline(always)]
    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        self.machine.run_in_portions(state, most, out, full);
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.machine.obey(stop);
    }

    fn footprint(&self) -> usize {
        self.machine.footprint()
    }
}
