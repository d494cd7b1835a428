//! Many walks on several cores, handed over in the order of their numbers.
//!
//! Workers take numbers a handful at a time, walk, and turn each walk into what the caller wants.
//! The caller receives these in order, so nothing depends on the number of workers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{Plan, Protocol, Walk};

/// How many walks a worker takes at a time.
const HANDFUL: u64 = 8;

/// How many walks, by how many.
#[derive(Debug, Clone, Copy)]
pub struct WalkJob<'a> {
    /// How many walks.
    pub count: u64,
    /// How many workers.
    pub jobs: usize,
    /// Ends it early when set.
    pub stop: &'a AtomicBool,
}

/// Walks number 0, 1, 2 … of a plan. `make` turns a walk into a result, in the thread that walked;
/// `receive` takes the results in order, until it breaks.
pub fn walk_all<T: Send>(
    protocol: &Protocol,
    plan: &Plan,
    fleet: WalkJob<'_>,
    make: impl Fn(Walk) -> T + Sync,
    receive: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    let next = AtomicU64::new(0);
    let left = AtomicBool::new(false);
    thread::scope(|scope| {
        let jobs = fleet.jobs.max(1);
        let (sender, receiver) = mpsc::sync_channel::<(u64, Vec<T>)>(4 * jobs);
        for _ in 0..jobs {
            let (sender, next, left, make) = (sender.clone(), &next, &left, &make);
            scope.spawn(move || {
                let mut walker = protocol.walker();
                let ended = || left.load(Ordering::Relaxed) || fleet.stop.load(Ordering::Relaxed);
                while !ended() {
                    let first = next.fetch_add(HANDFUL, Ordering::Relaxed);
                    let last = fleet.count.min(first.saturating_add(HANDFUL));
                    let numbers = (first..last).take_while(|_| !ended());
                    let made: Vec<T> =
                        numbers.map(|number| make(walker.walk(plan, number))).collect();
                    if made.is_empty() || sender.send((first, made)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        hand_over(&receiver, receive);
        left.store(true, Ordering::Relaxed);
        // Workers that wait for room find that nobody is there.
        drop(receiver);
    });
}

/// Hands results over in the order of their numbers. A handful that was cut short is the last.
fn hand_over<T>(
    receiver: &mpsc::Receiver<(u64, Vec<T>)>,
    receive: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    let mut waiting = BTreeMap::new();
    let mut due = 0;
    for (first, made) in receiver {
        waiting.insert(first, made);
        while let Some(made) = waiting.remove(&due) {
            let whole = made.len() as u64 == HANDFUL;
            for result in made {
                if receive(result).is_break() {
                    return;
                }
            }
            if !whole {
                return;
            }
            due += HANDFUL;
        }
    }
}
