//! Explores one composed model, and repeats the step that failed.

use std::sync::atomic::AtomicBool;

use explore::symmetry::Symmetry;
use explore::{Bare, Engine, Exploration, Options, Progress, Violation};
use murphi::interpret::{End, Interpreter, RuntimeError};
use murphi::value::State;

use crate::skip_failures::SkippingFailures;

/// The options of a search.
pub(crate) struct Search<'a> {
    pub(crate) options: &'a Options,
    pub(crate) symmetry: Symmetry,
    /// Whether a rule that fails counts as disabled.
    pub(crate) forgiving: bool,
    pub(crate) interrupt: &'a AtomicBool,
}

/// Searches a model.
pub(crate) fn search(
    interpreter: &Interpreter,
    search: &Search<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Exploration {
    let engine = Engine::new(interpreter);
    let how = (search.options, search.symmetry);
    match search.forgiving {
        true => engine.explore(interpreter, how, &SkippingFailures, progress, search.interrupt),
        false => engine.explore(interpreter, how, &Bare, progress, search.interrupt),
    }
}

/// The run-time error that a search found.
pub(crate) fn failure(
    interpreter: &Interpreter,
    exploration: &Exploration,
) -> Option<RuntimeError> {
    let last = || {
        let step = exploration.counterexample().last()?;
        State::decode(interpreter.model(), interpreter.layout(), &step.state).ok()
    };
    let run = match exploration.violation()? {
        Violation::Broken { .. } | Violation::OutOfReach { .. } | Violation::Deadlock => {
            return None;
        }
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
