//! When to stop: at Ctrl-C, or when the time for all lemmas together has run out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::interrupt::Interrupt;

/// A flag that is set when it is time to stop. The clock is forgotten when this is dropped.
pub(in crate::commands) struct Stop {
    stop: Arc<AtomicBool>,
    timed_out: Arc<AtomicBool>,
    /// Never sent on: hanging up tells the clock that nobody waits for it any more.
    _clock: Option<Sender<()>>,
}

impl Stop {
    pub(in crate::commands) fn new(budget: Option<Duration>, interrupt: &Interrupt) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let timed_out = Arc::new(AtomicBool::new(false));
        let pressed = Arc::clone(&stop);
        interrupt.listen(move || pressed.store(true, Ordering::SeqCst));
        let clock = budget.map(|budget| {
            let (sender, receiver) = mpsc::channel::<()>();
            let (stop, timed_out) = (Arc::clone(&stop), Arc::clone(&timed_out));
            std::thread::spawn(move || {
                if receiver.recv_timeout(budget) == Err(RecvTimeoutError::Timeout) {
                    timed_out.store(true, Ordering::SeqCst);
                    stop.store(true, Ordering::SeqCst);
                }
            });
            sender
        });
        Stop { stop, timed_out, _clock: clock }
    }

    pub(in crate::commands) fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The flag, to be shared.
    pub(in crate::commands) fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the time ran out.
    pub(in crate::commands) fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_when_the_time_has_run_out_and_not_before() {
        let interrupt = Interrupt::default();
        let patient = Stop::new(Some(Duration::from_secs(3600)), &interrupt);
        let hasty = Stop::new(Some(Duration::ZERO), &interrupt);
        while !hasty.flag().load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(hasty.timed_out());
        assert!(!patient.timed_out() && !patient.flag().load(Ordering::SeqCst));
    }
}
