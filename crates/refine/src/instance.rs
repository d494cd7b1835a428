//! One instance of a program, concrete or abstract: read from its own text, and explored.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Codec, Exploration, Options, Progress, System};
use murphi::ast::Program;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::machine::Machine;
use murphi::print::print;
use murphi::source::Source;

use super::observe::{Log, Watched};

/// Why a program cannot be run.
#[derive(Debug, Clone)]
pub enum Unrunnable {
    /// It is refused: the diagnostics are about this text.
    Refused(Source, Vec<Diagnostic>),
    /// A state is too large.
    TooLarge,
}

/// Reads a program from its own text, so that what is searched is what can be written out.
pub(crate) fn interpreter(
    program: &Program,
    name: &str,
    options: &check::Options,
) -> Result<Interpreter, Unrunnable> {
    let source = Source { name: name.to_owned(), text: print(program) };
    let checked = murphi::load(source.clone(), options)
        .map_err(|problems| Unrunnable::Refused(source, problems))?;
    Interpreter::new(Arc::new(checked.model)).map_err(|_| Unrunnable::TooLarge)
}

/// How a search is watched.
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a mut dyn FnMut(&Progress),
    pub(crate) interrupt: &'a AtomicBool,
    /// What is seen on the way, if anybody wants to know.
    pub(crate) log: Option<&'a Arc<Mutex<Log>>>,
}

/// What runs a program: native code if the host can, else the interpreter.
#[derive(Clone)]
pub(crate) enum Engine {
    Native(Arc<native::Program>),
    Interpreter(Box<Interpreter>, BitCodec),
}

impl Engine {
    pub(crate) fn new(interpreter: &Interpreter) -> Engine {
        match native::Program::compile(interpreter.model(), interpreter.layout()) {
            Ok(program) => Engine::Native(program),
            Err(_) => {
                let codec = BitCodec::new(interpreter.model(), interpreter.layout());
                Engine::Interpreter(Box::new(interpreter.clone()), codec)
            }
        }
    }

    /// A machine that runs it; one for each thread.
    pub(crate) fn machine(&self) -> Box<dyn Machine> {
        match self {
            Engine::Native(program) => Box::new(program.machine()),
            Engine::Interpreter(interpreter, _) => interpreter.clone(),
        }
    }

    /// Bytes of an unpacked state.
    pub(crate) fn state_size(&self) -> usize {
        match self {
            Engine::Native(program) => program.state_size(),
            Engine::Interpreter(interpreter, _) => interpreter.layout().size as usize,
        }
    }
}

impl Codec for Engine {
    fn packed_size(&self) -> usize {
        match self {
            Engine::Native(program) => program.packed_size(),
            Engine::Interpreter(_, codec) => codec.packed_size(),
        }
    }

    fn pack(&self, state: &[u8], packed: &mut [u8]) {
        match self {
            Engine::Native(program) => program.pack(state, packed),
            Engine::Interpreter(_, codec) => codec.pack(state, packed),
        }
    }

    fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        match self {
            Engine::Native(program) => program.unpack(packed, state),
            Engine::Interpreter(_, codec) => codec.unpack(packed, state),
        }
    }
}

/// Explores a program.
pub(crate) fn search(
    interpreter: &Interpreter,
    options: &Options,
    symmetry: Symmetry,
    watch: Watch<'_>,
) -> Exploration {
    match &Engine::new(interpreter) {
        Engine::Native(program) => {
            let machine = || program.machine();
            watched(interpreter, options, symmetry, machine, &**program, watch)
        }
        Engine::Interpreter(interpreter, codec) => {
            let machine = || (**interpreter).clone();
            watched(interpreter, options, symmetry, machine, codec, watch)
        }
    }
}

fn watched<M: Machine>(
    interpreter: &Interpreter,
    options: &Options,
    symmetry: Symmetry,
    machine: impl Fn() -> M + Sync,
    codec: &impl Codec,
    watch: Watch<'_>,
) -> Exploration {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let reduction = Canonicalizer::new(model, layout, symmetry);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let Watch { progress, interrupt, log } = watch;
    let Some(log) = log else {
        let system = System { machine, codec, reduction: &reduction, state_size, rules };
        return explore::explore(options, &system, progress, interrupt);
    };
    let machine = || Watched::new(machine(), log);
    let system = System { machine, codec, reduction: &reduction, state_size, rules };
    // The search may also be ended because enough was seen.
    let enough = match log.lock() {
        Ok(log) => Arc::clone(&log.enough),
        Err(poisoned) => Arc::clone(&poisoned.into_inner().enough),
    };
    let mut progress = |now: &Progress| {
        if interrupt.load(Relaxed) {
            enough.store(true, Relaxed);
        }
        progress(now);
    };
    explore::explore(options, &system, &mut progress, &enough)
}
