//! How long and how large a check may get.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What working tables may take when nothing is said: enough for traces of millions of events, and
/// a refusal instead of an abort for one that would need more than most machines have.
const DEFAULT_MEMORY: usize = 8 << 30;

/// A limit on time and memory, and a flag that ends the check early. Cheap to clone; clones share
/// the flag.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    memory: Option<usize>,
    stop: Arc<AtomicBool>,
}

impl Budget {
    /// No limit on time, and a generous one on memory.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// This budget, ending after `time` from now.
    pub fn with_time(self, time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..self }
    }

    /// This budget, with no more than about this many bytes for working tables.
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// This budget, ended early when `stop` becomes true.
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// Whether time is up or a stop was asked for. Reads the clock: call it every few thousand
    /// steps, not every step.
    pub fn is_spent(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Whether there is a limit on time.
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// Whether a table of this many bytes is allowed.
    pub fn allows(&self, bytes: usize) -> bool {
        bytes <= self.memory.unwrap_or(DEFAULT_MEMORY)
    }
}

/// How long and how large each judgement of many may get.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The time; no limit if `None`.
    pub time: Option<Duration>,
    /// The bytes of its tables; a generous limit if `None`.
    pub memory: Option<usize>,
}

impl Limits {
    /// The budget of one judgement, starting now, which ends when `stop` is set.
    pub fn budget(&self, stop: &Arc<AtomicBool>) -> Budget {
        let mut budget = Budget::unlimited().with_stop(Arc::clone(stop));
        if let Some(time) = self.time {
            budget = budget.with_time(time);
        }
        if let Some(bytes) = self.memory {
            budget = budget.with_memory(bytes);
        }
        budget
    }

    /// What is left of the budget of a judgement that has taken so long.
    pub fn rest(&self, taken: Duration, stop: &Arc<AtomicBool>) -> Budget {
        let time = self.time.map(|time| time.saturating_sub(taken));
        Limits { time, ..*self }.budget(stop)
    }
}
