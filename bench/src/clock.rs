//! CPU time of this process: what work costs on a machine that others use too.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process so far.
fn process_time() -> Duration {
    let clock = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    clock.map(Duration::from).unwrap_or_default()
}

/// Runs something, and says how many seconds of CPU time it took.
pub(crate) fn cpu_seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = process_time();
    let result = work();
    (result, process_time().saturating_sub(start).as_secs_f64())
}
