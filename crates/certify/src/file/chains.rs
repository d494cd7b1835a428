//! Images along the orders that a trace gives: threads, and times.

use history::EventId;

use super::flow::{Flow, Join, thread_events};

/// The image under `po`, or `po-loc` if `by_address`; with `ends`, only where no event of that set
/// stands in between.
pub(super) fn along_threads<L: Join>(
    flow: &Flow<'_>,
    f: &[L],
    back: bool,
    by_address: bool,
    ends: Option<&[bool]>,
    image: &mut [L],
) {
    let (history, events) = (flow.history(), flow.run.events);
    // What has come so far at an address, and in which thread; older entries are stale.
    let addresses = if by_address { history.address_count() } else { 0 };
    let mut at_address = vec![(usize::MAX, L::NONE); addresses];
    for thread in history.threads() {
        let mut anywhere = L::NONE;
        for event in thread_events(history, thread, back) {
            let sofar = match (by_address, history.address_of(event)) {
                (false, _) => &mut anywhere,
                (true, None) => continue,
                (true, Some(address)) => {
                    let (of_thread, sofar) = &mut at_address[address.index()];
                    if *of_thread != thread.index() {
                        (*of_thread, *sofar) = (thread.index(), L::NONE);
                    }
                    sofar
                }
            };
            let parts = events.parts(event);
            parts.clone().for_each(|part| image[part] = *sofar);
            if ends.is_some_and(|ends| parts.clone().any(|part| ends[part])) {
                *sofar = L::NONE;
            }
            parts.for_each(|part| sofar.join(f[part]));
        }
    }
}

/// The image under `rt`: what ended before an event began.
pub(super) fn along_times<L: Join>(flow: &Flow<'_>, f: &[L], back: bool, image: &mut [L]) {
    let (history, events) = (flow.history(), flow.run.events);
    let (mut ends, mut begins) = (Vec::new(), Vec::new());
    for event in history.event_ids() {
        let times = history.times(event);
        ends.extend(times.end.map(|end| (end, event)));
        begins.extend(times.begin.map(|begin| (begin, event)));
    }
    ends.sort_unstable();
    begins.sort_unstable();
    let mut sofar = L::NONE;
    let mut pass = |arrivals: Vec<(u64, EventId)>, departures: Vec<(u64, EventId)>| {
        let is_past =
            |departed: u64, time: u64| if back { time < departed } else { departed < time };
        let mut departures = departures.into_iter().peekable();
        for (time, event) in arrivals {
            while let Some((_, other)) = departures.next_if(|&(other, _)| is_past(other, time)) {
                events.parts(other).for_each(|part| sofar.join(f[part]));
            }
            events.parts(event).for_each(|part| image[part] = sofar);
        }
    };
    if back {
        ends.reverse();
        begins.reverse();
        pass(ends, begins);
    } else {
        pass(begins, ends);
    }
}

/// The image under `po & rt`.
pub(super) fn earlier_in_time<L: Join>(flow: &Flow<'_>, f: &[L], back: bool, image: &mut [L]) {
    let (history, events) = (flow.history(), flow.run.events);
    // Backwards, later begins are earlier ends: times are counted from the other side.
    let mirrored = |time: u64| if back { u64::MAX - time } else { time };
    for thread in history.threads() {
        let leaves = |event| {
            let times = history.times(event);
            (if back { times.begin } else { times.end }).map(mirrored)
        };
        let arrives = |event| {
            let times = history.times(event);
            (if back { times.end } else { times.begin }).map(mirrored)
        };
        let mut known: Vec<u64> = thread_events(history, thread, back).filter_map(leaves).collect();
        known.sort_unstable();
        known.dedup();
        let mut prefixes = Prefixes { nodes: vec![L::NONE; known.len() + 1] };
        for event in thread_events(history, thread, back) {
            if let Some(time) = arrives(event) {
                let sofar = prefixes.among_first(known.partition_point(|&other| other < time));
                events.parts(event).for_each(|part| image[part] = sofar);
            }
            if let Some(time) = leaves(event) {
                let place = known.partition_point(|&other| other < time);
                events.parts(event).for_each(|part| prefixes.add(place, f[part]));
            }
        }
    }
}

/// Joins of prefixes of a list that grows in the middle: a Fenwick tree.
struct Prefixes<L> {
    nodes: Vec<L>,
}

impl<L: Join> Prefixes<L> {
    fn add(&mut self, place: usize, number: L) {
        let mut at = place + 1;
        while at < self.nodes.len() {
            self.nodes[at].join(number);
            at += at & at.wrapping_neg();
        }
    }

    fn among_first(&self, count: usize) -> L {
        let mut join = L::NONE;
        let mut at = count;
        while at > 0 {
            join.join(self.nodes[at]);
            at -= at & at.wrapping_neg();
        }
        join
    }
}
