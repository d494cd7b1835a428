//! How long a command has been waited for.
//!
//! The time-out of a target is about the target. A command that prints two million traces at once
//! has done its work long before they are all read and judged, so only the time counts in which a
//! read of its output had to wait.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time that is left for a command.
pub(super) struct TimeLeft {
    timeout: Duration,
    waited: Mutex<WaitTime>,
}

/// Waits that are over, and when the one began that is not.
#[derive(Default)]
struct WaitTime {
    before: Duration,
    since: Option<Instant>,
}

impl TimeLeft {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, waited: Mutex::default() }
    }

    /// The remaining time.
    pub(super) fn left(&self) -> Duration {
        let waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        let now = waited.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.timeout.saturating_sub(waited.before + now)
    }

    fn begin(&self) {
        let mut waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        waited.since = Some(Instant::now());
    }

    fn end(&self) {
        let mut waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = waited.since.take() {
            waited.before += since.elapsed();
        }
    }
}

/// The output of a command, of which every read is a wait.
pub(super) struct Timed<R> {
    pub(super) input: R,
    pub(super) patience: Arc<TimeLeft>,
}

impl<R: Read> Read for Timed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patience.begin();
        let read = self.input.read(buffer);
        self.patience.end();
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    /// An input that takes its time.
    struct Slow;

    impl Read for Slow {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            sleep(Duration::from_millis(20));
            Ok(1)
        }
    }

    #[test]
    fn only_waiting_for_the_output_counts() {
        let patience = Arc::new(TimeLeft::new(Duration::from_secs(1)));
        sleep(Duration::from_millis(60));
        assert_eq!(patience.left(), Duration::from_secs(1));
        let mut timed = Timed { input: Slow, patience: Arc::clone(&patience) };
        timed.read_exact(&mut [0]).unwrap();
        let left = patience.left();
        assert!(left <= Duration::from_millis(980), "{left:?}");
        sleep(Duration::from_millis(20));
        assert_eq!(patience.left(), left);
    }
}
