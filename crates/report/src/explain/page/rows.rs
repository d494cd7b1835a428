//! In which row of its lane each event stands. Linear in the number of events.

use std::collections::BTreeMap;

use history::{EventId, History, Source};

/// Rows in which program order goes down and a read stands below the write it read; where that
/// cannot be, as in some violations, a read that waits in vain is placed all the same.
pub(super) fn by_program_order(history: &History) -> (usize, Vec<u32>) {
    const UNPLACED: u32 = u32::MAX;
    let mut row = vec![UNPLACED; history.len()];
    let start: Vec<usize> = history.threads().map(|t| history.thread_range(t).start).collect();
    let mut next = start.clone();
    let end: Vec<usize> = history.threads().map(|t| history.thread_range(t).end).collect();
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut active: Vec<usize> = (0..next.len()).rev().collect();
    let mut forced = None;
    loop {
        while let Some(thread) = active.pop() {
            while next[thread] < end[thread] {
                let at = next[thread];
                let above = if at == start[thread] { 0 } else { row[at - 1] + 1 };
                let source = source(history, at).filter(|&source| source != at);
                match source {
                    Some(source) if row[source] == UNPLACED && forced != Some(at) => {
                        waiting.entry(source).or_default().push(thread);
                        break;
                    }
                    Some(source) if row[source] != UNPLACED => row[at] = above.max(row[source] + 1),
                    _ => row[at] = above,
                }
                next[thread] += 1;
                active.extend(waiting.remove(&at).unwrap_or_default());
            }
        }
        // The thread that has come least far waits for something that waits for it.
        let stuck = (0..next.len()).filter(|&thread| next[thread] < end[thread]);
        let Some(thread) = stuck.min_by_key(|&t| next[t] - start[t]) else { break };
        forced = Some(next[thread]);
        for threads in waiting.values_mut() {
            threads.retain(|&other| other != thread);
        }
        waiting.retain(|_, threads| !threads.is_empty());
        active.push(thread);
    }
    let rows = row.iter().max().map_or(0, |&last| last as usize + 1);
    (rows, row)
}

/// The write that an event read from, if there is only one candidate.
fn source(history: &History, event: usize) -> Option<usize> {
    match history.only_source(EventId::new(event)) {
        Some(Source::Write(write)) if history.mixed().is_none() => Some(write.index()),
        _ => None,
    }
}

/// A row for each event, in this order; a fence stands below the events of its thread before it.
pub(super) fn by_order(history: &History, order: &[EventId]) -> (usize, Vec<u32>) {
    let mut place = vec![None; history.len()];
    for (at, event) in order.iter().enumerate() {
        place[event.index()] = Some(at);
    }
    let mut keys: Vec<(usize, usize)> = Vec::with_capacity(history.len());
    for thread in history.threads() {
        let mut last = 0;
        for event in history.thread_range(thread) {
            if let Some(at) = place[event] {
                keys.push((2 * at + 1, event));
                last = last.max(2 * at + 2);
            } else {
                keys.push((last, event));
            }
        }
    }
    keys.sort_unstable();
    let mut row = vec![0; history.len()];
    for (at, &(_, event)) in keys.iter().enumerate() {
        row[event] = u32::try_from(at).unwrap_or(u32::MAX);
    }
    (row.len(), row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<u32> {
        let history = history::parse_text(text).expect("a trace");
        by_program_order(&history).1
    }

    #[test]
    fn reads_stand_below_what_they_read() {
        let text = "0: x == 1\n0: y == 2\n1: z := 5\n1: x := 1\n1: y := 2";
        assert_eq!(rows(text), [2, 3, 0, 1, 2]);
    }

    #[test]
    fn reads_that_wait_for_each_other_are_placed_all_the_same() {
        let text = "0: y == 1\n0: x := 1\n1: x == 1\n1: y := 1";
        assert_eq!(rows(text), [0, 1, 2, 3]);
    }

    #[test]
    fn fences_stand_where_their_thread_is() {
        let text = "0: x := 1\n0: sync\n0: y == 0\n1: x == 1";
        let history = history::parse_text(text).expect("a trace");
        let order: Vec<EventId> = [0, 3, 2].map(EventId::new).into();
        assert_eq!(by_order(&history, &order).1, [0, 1, 3, 2]);
    }
}
