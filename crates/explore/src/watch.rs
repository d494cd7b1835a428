//! What the main thread does while workers search: it looks at the clock, at the interrupt flag
//! and at the workers' counters, and reports progress.
//!
//! Workers write their counters once for each batch, without waiting for anybody, and learn from
//! one flag that they should stop. Their machines look at another one in the middle of long loops.

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cluster::Share;

use crate::memory::Meter;
use crate::options::Options;
use crate::result::{Progress, Reason};
use crate::store::StoreError;

/// How often the main thread looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often progress is reported at most.
const REPORT: Duration = Duration::from_millis(100);

/// The caller of a search: its limits, how it receives progress, and how it ends the search.
pub(crate) struct Caller<'a> {
    pub(crate) options: &'a Options,
    pub(crate) progress: &'a mut dyn FnMut(&Progress),
    pub(crate) interrupt: &'a AtomicBool,
}

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
    /// Set with it.
    halt: Arc<AtomicBool>,
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
            halt: Arc::default(),
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

    /// What machines look at in the middle of a run.
    pub(crate) fn halt(&self) -> &Arc<AtomicBool> {
        &self.halt
    }

    /// Asks workers to stop. The first reason is kept.
    fn stop(&self, reason: u8) {
        // In this order: who finds a run cut short then finds the reason, too.
        let _ = self.stop.compare_exchange(0, reason, SeqCst, Relaxed);
        self.halt.store(true, SeqCst);
    }

    /// Why workers were asked to stop, as a number that other processes understand.
    pub(crate) fn stop_code(&self) -> Option<u8> {
        Some(self.stop.load(Relaxed)).filter(|&code| code != 0)
    }

    /// Asks workers to stop for the reason of another process, if it has one.
    pub(crate) fn hear(&self, code: Option<u8>) {
        if let Some(code) = code {
            self.stop(code);
        }
    }

    /// The same, with the message of a file that failed there.
    pub(crate) fn hear_of(&self, code: u8, message: &str) {
        if code == DISK {
            self.note_disk(message.to_owned());
        }
        self.stop(code);
    }

    /// Keeps the message of the first file that failed.
    fn note_disk(&self, message: String) {
        let mut disk = self.disk.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if disk.is_empty() {
            *disk = message;
        }
    }

    /// The message of a file that failed; empty if none did.
    pub(crate) fn disk_message(&self) -> String {
        self.disk.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Asks workers to stop since a store cannot go on.
    pub(crate) fn fail(&self, error: StoreError) {
        self.fail_for(&error);
    }

    /// The same, if the error is still needed.
    pub(crate) fn fail_for(&self, error: &StoreError) {
        match error {
            StoreError::Memory => self.stop(MEMORY),
            StoreError::Disk(error) => {
                self.note_disk(error.to_string());
                self.stop(DISK);
            }
            // It knows why.
            StoreError::Stopped => {}
        }
    }

    /// Why workers were asked to stop.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.stop.load(Relaxed) {
            0 => None,
            TIME => Some(Reason::Time),
            MEMORY => Some(Reason::Memory),
            INTERRUPTED => Some(Reason::Interrupted),
            _ => Some(Reason::Disk(self.disk_message())),
        }
    }

    /// Tells the main thread, when dropped, that a worker has ended.
    pub(crate) fn worker(&self) -> Ended<'_> {
        Ended(self)
    }

    /// Whether it is time to stop.
    fn look(&self, caller: &Caller) {
        if caller.interrupt.load(Relaxed) {
            self.stop(INTERRUPTED);
        }
        if caller.options.time.is_some_and(|time| self.started.elapsed() >= time) {
            self.stop(TIME);
        }
    }

    /// How long the search has taken so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Watches until all workers have ended.
    pub(crate) fn watch(&self, caller: &mut Caller, meter: &Meter) {
        let all = self.counters.len() as u32;
        self.watch_until(caller, meter, || self.ended.load(Relaxed) >= all);
    }

    /// Watches while another thread does some work.
    pub(crate) fn watch_over<T: Send>(
        &self,
        caller: &mut Caller,
        meter: &Meter,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _done = Done(self, &done);
                work()
            });
            self.watch_until(caller, meter, || done.load(Relaxed));
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn watch_until(&self, caller: &mut Caller, meter: &Meter, done: impl Fn() -> bool) {
        let mut reporter = Reporter::new(self.started);
        while !done() {
            std::thread::park_timeout(LOOK);
            self.look(caller);
            reporter.report(|| self.progress(meter), caller.progress);
        }
    }

    /// What the workers of this process have done.
    pub(crate) fn share(&self, meter: &Meter) -> Share {
        let sum = |of: fn(&Counters) -> &AtomicU64| -> u64 {
            self.counters.iter().map(|counters| of(counters).load(Relaxed)).sum()
        };
        Share {
            states: sum(|counters| &counters.states),
            rules_fired: sum(|counters| &counters.fired),
            expanded: sum(|counters| &counters.expanded),
            bytes: meter.used(),
        }
    }

    /// A look at all counters.
    fn progress(&self, meter: &Meter) -> Progress {
        let Share { states, rules_fired, expanded, bytes } = self.share(meter);
        Progress {
            states,
            rules_fired,
            frontier: states.saturating_sub(expanded),
            depth: self.depth.load(Relaxed),
            bytes,
            seconds: self.started.elapsed().as_secs_f64(),
            rate: 0.0,
            processes: Vec::new(),
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

/// Tells the main thread, when dropped, that some work is done.
struct Done<'a>(&'a Watch, &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.1.store(true, Relaxed);
        self.0.main.unpark();
    }
}

/// Calls for progress at most every tenth of a second, and adds the rate.
#[derive(Debug)]
struct Reporter {
    last: Instant,
    states: u64,
}

impl Reporter {
    /// The first report is due a tenth of a second after `started`.
    fn new(started: Instant) -> Self {
        Reporter { last: started, states: 0 }
    }

    /// Reports if it is time.
    fn report(&mut self, snapshot: impl FnOnce() -> Progress, progress: &mut dyn FnMut(&Progress)) {
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
