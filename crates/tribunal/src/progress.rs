//! The progress line on standard error, for work that takes longer than two seconds on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_millis(250);

/// The progress line. Does nothing if standard error is not a terminal, or with `--quiet`.
pub(crate) struct Progress {
    shared: Option<Arc<Shared>>,
    ticker: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    message: String,
    visible: bool,
    ended: bool,
}

impl Progress {
    pub(crate) fn start(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self { shared: None, ticker: None };
        }
        let shared = Arc::new(Shared::default());
        let ticking = Arc::clone(&shared);
        let ticker = thread::Builder::new().spawn(move || tick(&ticking)).ok();
        Self { shared: Some(shared), ticker }
    }

    /// A handle with which other threads change the line.
    pub(crate) fn reporter(&self) -> Reporter {
        Reporter(self.shared.clone())
    }

    /// Clears the line, to make room for a result.
    pub(crate) fn hide(&self) {
        if let Some(shared) = &self.shared {
            hide(&mut shared.lock());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            let mut state = shared.lock();
            hide(&mut state);
            state.ended = true;
            shared.ended.notify_all();
        }
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

/// Changes the text of the line.
#[derive(Clone)]
pub(crate) struct Reporter(Option<Arc<Shared>>);

impl Reporter {
    /// Sets the text of the line.
    pub(crate) fn say(&self, message: impl FnOnce() -> String) {
        if let Some(shared) = &self.0 {
            shared.lock().message = message();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hide(state: &mut State) {
    if std::mem::take(&mut state.visible) {
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
}

fn tick(shared: &Shared) {
    let start = Instant::now();
    let mut state = shared.lock();
    while !state.ended {
        if start.elapsed() >= PATIENCE && !state.message.is_empty() {
            let line = format!("\r\x1b[2K{} ({} s)", state.message, start.elapsed().as_secs());
            let _ = io::stderr().write_all(line.as_bytes());
            state.visible = true;
        }
        state = match shared.ended.wait_timeout(state, PERIOD) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}
