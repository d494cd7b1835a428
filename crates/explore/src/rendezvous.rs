//! Where the threads of a search meet between levels.
//!
//! A barrier that can break: a thread that panics breaks it on its way out, and the others leave
//! as well instead of waiting for ever.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The meeting point.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    round: u64,
    broken: bool,
}

/// A thread panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

impl Rendezvous {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Rendezvous { threads, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all threads are here.
    pub(crate) fn wait(&self) -> Result<(), Broken> {
        let mut state = self.lock();
        state.arrived += 1;
        if state.arrived == self.threads {
            state.arrived = 0;
            state.round += 1;
            self.changed.notify_all();
        } else {
            let round = state.round;
            while state.round == round && !state.broken {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        match state.broken {
            true => Err(Broken),
            false => Ok(()),
        }
    }

    /// Whether a thread has panicked.
    pub(crate) fn is_broken(&self) -> bool {
        self.lock().broken
    }

    /// Something that breaks the rendezvous if its thread panics.
    pub(crate) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// Breaks a rendezvous when it is dropped by a panic.
#[derive(Debug)]
pub(crate) struct Guard<'a>(&'a Rendezvous);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().broken = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wait_for_each_other() {
        let rendezvous = Rendezvous::new(3);
        let count = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=100 {
                        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        rendezvous.wait().unwrap();
                        assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 3 * round);
                        rendezvous.wait().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_releases_the_others() {
        let rendezvous = Rendezvous::new(2);
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _guard = rendezvous.guard();
                panic!("expected in this test");
            });
            assert_eq!(rendezvous.wait(), Err(Broken));
            assert!(panicking.join().is_err());
        });
        assert!(rendezvous.is_broken());
    }
}
