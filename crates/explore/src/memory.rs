//! The memory budget: what the search has allocated, counted before it is.
//!
//! Only what grows with the number of states is counted: records, tables, buffers. Whoever wants
//! more asks first, and a search that is refused stops with what it has, so the budget is never
//! exceeded. Asking is rare (a slab of records, a table of a shard), so one shared counter does.
//! A part of a budget may be set aside, for what gives all of it back at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How much is used, and how much may be.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    /// What this is a part of.
    whole: Option<Arc<Meter>>,
}

impl Meter {
    /// Nothing used yet; no limit if `None`.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Meter::of(limit.unwrap_or(u64::MAX), None)
    }

    fn of(limit: u64, whole: Option<Arc<Meter>>) -> Self {
        Meter { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0), whole }
    }

    /// A part of another: what it takes counts there, too, until it is dropped.
    pub(crate) fn part_of(whole: &Arc<Meter>, limit: u64) -> Self {
        Meter::of(limit, Some(Arc::clone(whole)))
    }

    /// Takes `bytes` if there are as many left.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        if used > self.limit || !self.whole.as_ref().is_none_or(|whole| whole.take(bytes)) {
            self.used.fetch_sub(bytes, Relaxed);
            return false;
        }
        self.peak.fetch_max(used, Relaxed);
        true
    }

    /// Gives `bytes` back.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
        if let Some(whole) = &self.whole {
            whole.give(bytes);
        }
    }

    /// What may still be taken.
    pub(crate) fn left(&self) -> u64 {
        let own = self.limit.saturating_sub(self.used());
        self.whole.as_ref().map_or(own, |whole| own.min(whole.left()))
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

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(whole) = &self.whole {
            whole.give(self.used());
        }
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

    #[test]
    fn a_part_counts_in_the_whole_until_it_is_dropped() {
        let whole = Arc::new(Meter::new(Some(100)));
        let part = Meter::part_of(&whole, 60);
        assert!(whole.take(50) && !part.take(61) && !part.take(51) && part.take(50));
        assert_eq!((part.used(), whole.used()), (50, 100));
        part.give(20);
        assert_eq!((part.used(), whole.used()), (30, 80));
        drop(part);
        assert_eq!((whole.used(), whole.peak()), (50, 100));
    }
}
