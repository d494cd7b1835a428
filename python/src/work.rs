//! Work that takes long: in a thread of its own, without the GIL, until it is done or Ctrl-C is
//! pressed, which sets the flag that every engine looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::{Interrupted, value_error};

/// How often signals are looked at.
const PULSE: Duration = Duration::from_millis(20);

/// Does it, and returns what came of it; an exception if Ctrl-C was pressed or it panicked.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let flag = Arc::clone(&stop);
    let worker = std::thread::Builder::new().name("tribunal".to_owned());
    let worker = worker.spawn(move || drop(sender.send(job(flag)))).map_err(value_error)?;
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let waited = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            receiver.recv_timeout(PULSE)
        });
        match waited {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => {
                let sentence = "a bug in Tribunal: please report it with what was asked";
                return Err(pyo3::exceptions::PyRuntimeError::new_err(sentence));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop.store(true, Ordering::SeqCst);
                    let _ = py.detach(|| worker.join());
                    let error = Interrupted::new_err("interrupted");
                    error.set_cause(py, Some(signal));
                    return Err(error);
                }
            }
        }
    }
}
