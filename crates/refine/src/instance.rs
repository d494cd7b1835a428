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
    /// It contains errors. The diagnostics refer to this text.
    Refused(Source, Vec<Diagnostic>),
    /// A state is too large.
    TooLarge,
}

/// Parses a program from its printed text, so that the program that is searched is the one that can
/// be written out.
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

/// How a search reports progress and is stopped.
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a mut dyn FnMut(&Progress),
    pub(crate) interrupt: &'a AtomicBool,
    /// The log of observed rows, if the search is observed.
    pub(crate) log: Option<&'a Arc<Mutex<Log>>>,
}

/// Explores a program with an engine that was compiled from it.
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
    // The observer stops the search when the log is full.
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
