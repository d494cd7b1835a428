//! Work on large tables, on several threads. What comes out does not depend on how many there are.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// Tables of fewer items are not worth a thread.
const LARGE: usize = 1 << 16;

/// How many threads are worth it for a table of so many items.
pub(crate) fn worthwhile(workers: usize, items: usize) -> usize {
    if items < LARGE { 1 } else { workers.max(1) }
}

/// What both have to say, at the same time if there are two workers.
pub(crate) fn both<A: Send, B>(
    workers: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if workers < 2 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (joined(one), other)
    })
}

/// Calls `work` for one part of the table for each worker, with the index of the first item of the
/// part.
pub(crate) fn in_parts<T: Send, A: Send>(
    workers: usize,
    table: &mut [T],
    work: impl Fn(usize, &mut [T]) -> A + Sync,
) -> Vec<A> {
    if workers < 2 {
        return vec![work(0, table)];
    }
    let length = table.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let work = &work;
        let mut parts = table.chunks_mut(length).enumerate();
        let first = parts.next();
        let others: Vec<_> =
            parts.map(|(i, part)| scope.spawn(move || work(i * length, part))).collect();
        let first = first.map(|(_, part)| work(0, part));
        first.into_iter().chain(others.into_iter().map(joined)).collect()
    })
}

/// The same for a number of items: calls `work` for one range of them for each worker.
pub(crate) fn in_ranges<A: Send>(
    workers: usize,
    items: usize,
    work: impl Fn(Range<usize>) -> A + Sync,
) -> Vec<A> {
    if workers < 2 {
        return vec![work(0..items)];
    }
    let bound = |part: usize| items * part / workers;
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..workers)
            .map(|part| scope.spawn(move || work(bound(part)..bound(part + 1))))
            .collect();
        let first = work(0..bound(1));
        std::iter::once(first).chain(others.into_iter().map(joined)).collect()
    })
}

/// What a thread has to say; if it panicked, so does this one.
pub(crate) fn joined<A>(handle: ScopedJoinHandle<'_, A>) -> A {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}
