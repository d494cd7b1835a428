//! Ctrl-C. The first asks a command that listens to stop and to print what it has; the second, or
//! the first while no one listens, ends the process with exit code 130. Temporary files are
//! removed either way.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use explore::Stop;

use crate::ending::Ending;

type Listener = Box<dyn Fn() + Send>;

/// The reaction to Ctrl-C. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    stop: Arc<AtomicBool>,
    listener: Arc<Mutex<Option<Listener>>>,
    temporary: Arc<Mutex<Vec<PathBuf>>>,
}

impl Interrupt {
    /// Installs the handler of Ctrl-C.
    pub(crate) fn install() -> Self {
        let interrupt = Self::default();
        let handler = interrupt.clone();
        // Where signals cannot be handled, Ctrl-C ends the process without it.
        let _ = ctrlc::set_handler(move || handler.pressed());
        interrupt
    }

    fn pressed(&self) {
        let again = self.stop.swap(true, Ordering::SeqCst);
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        match &*listener {
            Some(listener) if !again => listener(),
            _ => {
                self.remove_temporary_files();
                std::process::exit(Ending::Interrupted.code().into());
            }
        }
    }

    /// Makes the first Ctrl-C call this function, in a thread of its own, instead of ending the
    /// process.
    pub(crate) fn listen(&self, listener: impl Fn() + Send + 'static) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
    }

    /// A stop for a search: the first Ctrl-C, or the end of the budget.
    pub(crate) fn stop(&self, budget: Option<Duration>) -> Stop {
        let stop = Stop::after(budget);
        let pressed = stop.shared();
        self.listen(move || pressed.store(true, Ordering::SeqCst));
        stop
    }

    /// The flag that a Ctrl-C sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn happened(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Registers a file that is removed if the process is ended.
    pub(crate) fn add_temporary(&self, path: &Path) {
        self.temporary.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    /// Unregisters a temporary file.
    pub(crate) fn forget_temporary(&self, path: &Path) {
        self.temporary.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| p != path);
    }

    fn remove_temporary_files(&self) {
        for path in self.temporary.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}
