//! One instance of a program, concrete or abstract: parsed from its text, compiled and explored.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use explore::symmetry::Symmetry;
use explore::{Bare, Engine, Exploration, Options, Progress};
use murphi::ast::Program;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;

use super::observe::{Log, Observer};

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

/// Explores a program by an engine that was made of it.
pub(crate) fn search(
    engine: &Engine,
    interpreter: &Interpreter,
    options: &Options,
    symmetry: Symmetry,
    watch: Watch<'_>,
) -> Exploration {
    let Watch { progress, interrupt, log } = watch;
    let how = (options, symmetry);
    let Some(log) = log else {
        return engine.explore(interpreter, how, &Bare, progress, interrupt);
    };
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
    engine.explore(interpreter, how, &Observer(log), &mut progress, &enough)
}
