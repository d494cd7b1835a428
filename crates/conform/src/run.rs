//! Explores one composed model: by native code if the host can, else by the interpreter.

use std::sync::atomic::AtomicBool;

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Codec, Exploration, Options, Progress, System};
use murphi::interpret::Interpreter;
use murphi::machine::Machine;

use crate::forgiving::Forgiving;

/// How to search.
pub(crate) struct Search<'a> {
    pub(crate) options: &'a Options,
    pub(crate) symmetry: Symmetry,
    /// Whether a rule that fails is passed by.
    pub(crate) forgiving: bool,
    pub(crate) interrupt: &'a AtomicBool,
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
    let (options, interrupt) = (search.options, search.interrupt);
    let reduction = &reduction;
    match search.forgiving {
        true => {
            let machine = || Forgiving(machine());
            let system = System { machine, codec, reduction, state_size, rules };
            explore::explore(options, &system, progress, interrupt)
        }
        false => {
            let system = System { machine, codec, reduction, state_size, rules };
            explore::explore(options, &system, progress, interrupt)
        }
    }
}
