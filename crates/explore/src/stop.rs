//! When to stop: when somebody says so, or when the time for several searches together has run out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::Reason;

/// A flag that is set when it is time to stop. The clock is forgotten when this is dropped.
///
/// ```
/// use std::sync::atomic::Ordering;
/// use tribunal_explore::Stop;
///
/// let stop = Stop::after(None);
/// let handle = stop.shared(); // for a thread that listens to Ctrl-C, say
/// handle.store(true, Ordering::SeqCst);
/// assert!(stop.flag().load(Ordering::SeqCst) && !stop.timed_out());
/// ```
#[derive(Debug)]
pub struct Stop {
    stop: Arc<AtomicBool>,
    timed_out: Arc<AtomicBool>,
    /// Never used to send: dropping it ends the clock's thread.
    _clock: Option<Sender<()>>,
}

impl Stop {
    /// Stops when this time has passed, if there is one.
    pub fn after(budget: Option<Duration>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let timed_out = Arc::new(AtomicBool::new(false));
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

    /// The flag that ends searches.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The flag, to be shared.
    pub fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the time ran out.
    pub fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::SeqCst)
    }

    /// Why a search ended that took this for the reason: the search does not know who has set the flag.
    pub fn reason(&self, reason: &Reason) -> Reason {
        match reason {
            Reason::Interrupted if self.timed_out() => Reason::Time,
            reason => reason.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_when_the_time_has_run_out_and_not_before() {
        let patient = Stop::after(Some(Duration::from_secs(3600)));
        let hasty = Stop::after(Some(Duration::ZERO));
        while !hasty.flag().load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(hasty.timed_out());
        assert_eq!(hasty.reason(&Reason::Interrupted), Reason::Time);
        assert_eq!(patient.reason(&Reason::Interrupted), Reason::Interrupted);
        assert!(!patient.timed_out() && !patient.flag().load(Ordering::SeqCst));
    }
}
