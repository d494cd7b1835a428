//! Explores one composed model, by native code if the host can, else by the interpreter, and takes
//! the step again that failed.

use std::sync::atomic::AtomicBool;

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Codec, Exploration, Options, Progress, System, Verdict, Violation};
use murphi::interpret::{End, Interpreter, RuntimeError};
use murphi::machine::Machine;
use murphi::value::State;

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

/// The run-time error that a search met.
pub(crate) fn failure(
    interpreter: &Interpreter,
    exploration: &Exploration,
) -> Option<RuntimeError> {
    let Verdict::Violation(violation) = &exploration.verdict else { return None };
    let last = || {
        let step = exploration.counterexample.last()?;
        State::decode(interpreter.model(), interpreter.layout(), &step.state).ok()
    };
    let run = match *violation {
        Violation::Broken { .. } => return None,
        Violation::PropertyFailed { property } => {
            return interpreter.check_property(&last()?, property as usize).err();
        }
        Violation::GuardFailed { rule, instance } | Violation::RuleFailed { rule, instance } => {
            interpreter.run_rule(&last()?, rule as usize, instance)
        }
        Violation::StartFailed { rule, instance } => interpreter.start(rule as usize, instance),
    };
    match run.end {
        End::GuardFailed(error) | End::Failed(error) => Some(error),
        End::Disabled | End::Done(_) | End::Excluded => None,
    }
}
