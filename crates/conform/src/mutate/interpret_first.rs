//! A search that starts with the interpreter.
//!
//! Most mutants fail after a few states, and most lemmas of small protocols have few states.
//! Compiling them would take longer than interpreting them for a moment, so a short interpreted
//! search is tried first. The result of a search does not depend on the engine.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Exploration, Options, Reason, System, Verdict};
use murphi::interpret::Interpreter;

use crate::run::{self, Search};

/// How long to interpret: about as long as compiling takes.
const SHORT_SEARCH: Duration = Duration::from_millis(500);

/// Searches a model, first by interpretation.
pub(super) fn search(
    interpreter: &Interpreter,
    options: &Options,
    symmetry: Symmetry,
    interrupt: &AtomicBool,
) -> Exploration {
    short_search(interpreter, options, symmetry, interrupt).unwrap_or_else(|| {
        let search = Search { options, symmetry, forgiving: false, interrupt };
        run::search(interpreter, &search, &mut |_| ())
    })
}

/// Searches a model by interpretation; `None` if the time was too short.
pub(super) fn short_search(
    interpreter: &Interpreter,
    options: &Options,
    symmetry: Symmetry,
    interrupt: &AtomicBool,
) -> Option<Exploration> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let reduction = Canonicalizer::new(model, layout, symmetry);
    let system = System {
        machine: || interpreter.clone(),
        codec: &BitCodec::new(model, layout),
        reduction: &reduction,
        state_size: layout.size as usize,
        rules: model.rules.len(),
    };
    let options = Options { time: Some(SHORT_SEARCH), ..options.clone() };
    let found = explore::explore(&options, &system, &mut |_| (), interrupt);
    (found.verdict != Verdict::Undecided(Reason::Time)).then_some(found)
}
