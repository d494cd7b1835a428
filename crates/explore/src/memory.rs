//! The memory budget: what the search has allocated, counted before it is.
//!
//! Only what grows with the number of states is counted: records, tables, buffers. Whoever wants
//! more asks first, and a search that is refused stops with what it has, so the budget is never
//! exceeded. Asking is rare (a slab of records, a table of a shard), so one shared counter does.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How much is used, and how much may be.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Meter {
    /// Nothing used yet; no limit if `None`.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        Meter { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Takes `bytes` if there are as many left.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        if used > self.limit {
            self.give(bytes);
            return false;
        }
        self.peak.fetch_max(used, Relaxed);
        true
    }

    /// Gives `bytes` back.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    /// What is used now.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The most that was ever used.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_limit_is_refused_and_not_counted() {
        let meter = Meter::new(Some(100));
        assert!(meter.take(60));
        assert!(!meter.take(41));
        assert!(meter.take(40));
        meter.give(70);
        assert_eq!((meter.used(), meter.peak()), (30, 100));
    }
}
