//! What the main thread does while workers search: it looks at the clock, at the interrupt flag
//! and at the workers' counters, and reports progress.
//!
//! Workers write their counters once for each batch, without waiting for anybody, and learn from
//! one flag that they should stop.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::memory::Meter;
use crate::options::Options;
use crate::result::{Progress, Reason};
use crate::store::StoreError;

/// How often the main thread looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often progress is reported at most.
const REPORT: Duration = Duration::from_millis(100);

/// One worker's counters, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    /// States stored, those not counted taken off.
    pub(crate) states: AtomicU64,
    /// Rules fired.
    pub(crate) fired: AtomicU64,
    /// States expanded (or only looked at).
    pub(crate) expanded: AtomicU64,
}

/// What workers and the main thread share.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Why to stop, as a number; 0 if there is no reason.
    stop: AtomicU8,
    disk: Mutex<String>,
    /// How far the search is.
    pub(crate) depth: AtomicU32,
    /// How many workers have ended.
    ended: AtomicU32,
    main: std::thread::Thread,
    /// For each worker, its counters.
    pub(crate) counters: Vec<Counters>,
    started: Instant,
}

impl Watch {
    /// Begins now. To be called by the main thread.
    pub(crate) fn new(workers: usize, started: Instant) -> Self {
        Watch {
            stop: AtomicU8::new(0),
            disk: Mutex::default(),
            depth: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            main: std::thread::current(),
            counters: (0..workers).map(|_| Counters::default()).collect(),
            started,
        }
    }

    /// Whether workers should stop.
    #[inline(always)]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Relaxed) != 0
    }

    /// Asks workers to stop. The first reason is kept.
    fn stop(&self, reason: u8) {
        let _ = self.stop.compare_exchange(0, reason, Relaxed, Relaxed);
    }

    /// Asks workers to stop since a store cannot go on.
    pub(crate) fn fail(&self, error: StoreError) {
        match error {
            StoreError::Memory => self.stop(MEMORY),
            StoreError::Disk(error) => {
                let message = error.to_string();
                *self.disk.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = message;
                self.stop(DISK);
            }
        }
    }

    /// Why workers were asked to stop.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.stop.load(Relaxed) {
            0 => None,
            TIME => Some(Reason::Time),
            MEMORY => Some(Reason::Memory),
            INTERRUPTED => Some(Reason::Interrupted),
            _ => {
                let disk = self.disk.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                Some(Reason::Disk(disk.clone()))
            }
        }
    }

    /// Tells the main thread, when dropped, that a worker has ended.
    pub(crate) fn worker(&self) -> Ended<'_> {
        Ended(self)
    }

    /// Whether it is time to stop: for searches that have no threads of their own.
    pub(crate) fn look(&self, options: &Options, interrupt: &AtomicBool) {
        if interrupt.load(Relaxed) {
            self.stop(INTERRUPTED);
        }
        if options.time.is_some_and(|time| self.started.elapsed() >= time) {
            self.stop(TIME);
        }
    }

    /// Watches until all workers have ended.
    pub(crate) fn watch(
        &self,
        options: &Options,
        meter: &Meter,
        progress: &mut dyn FnMut(&Progress),
        interrupt: &AtomicBool,
    ) {
        let mut reporter = Reporter::new(self.started);
        while (self.ended.load(Relaxed) as usize) < self.counters.len() {
            std::thread::park_timeout(LOOK);
            self.look(options, interrupt);
            reporter.report(|| self.progress(meter), progress);
        }
    }

    /// A look at all counters.
    pub(crate) fn progress(&self, meter: &Meter) -> Progress {
        let sum = |of: fn(&Counters) -> &AtomicU64| -> u64 {
            self.counters.iter().map(|counters| of(counters).load(Relaxed)).sum()
        };
        let states = sum(|counters| &counters.states);
        Progress {
            states,
            rules_fired: sum(|counters| &counters.fired),
            frontier: states.saturating_sub(sum(|counters| &counters.expanded)),
            depth: self.depth.load(Relaxed),
            bytes: meter.used(),
            seconds: self.started.elapsed().as_secs_f64(),
            rate: 0.0,
        }
    }
}

const TIME: u8 = 1;
const MEMORY: u8 = 2;
const INTERRUPTED: u8 = 3;
const DISK: u8 = 4;

/// A worker that has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Ended<'a>(&'a Watch);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Relaxed);
        self.0.main.unpark();
    }
}

/// Calls for progress at most every tenth of a second, and adds the rate.
#[derive(Debug)]
pub(crate) struct Reporter {
    last: Instant,
    states: u64,
}

impl Reporter {
    /// The first report is due a tenth of a second after `started`.
    pub(crate) fn new(started: Instant) -> Self {
        Reporter { last: started, states: 0 }
    }

    /// Reports if it is time.
    pub(crate) fn report(
        &mut self,
        snapshot: impl FnOnce() -> Progress,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let since = self.last.elapsed();
        if since >= REPORT {
            let mut snapshot = snapshot();
            let new = snapshot.states.saturating_sub(self.states);
            snapshot.rate = new as f64 / since.as_secs_f64();
            (self.last, self.states) = (Instant::now(), snapshot.states);
            progress(&snapshot);
        }
    }
}
