//! Histories whose violation, if there is one, needs several rules at once: a cycle of accesses that
//! leads from thread to thread by reads-from, by from-reads, by an order of writes that another thread
//! observed, and by atomicity; with a piece left out or changed, most are allowed.

use history::{History, parse_text};
use oracle::Rng;

use crate::common::mutate::mutated_history;

struct Web {
    /// The events of each thread.
    threads: Vec<Vec<String>>,
    value: u64,
}

impl Web {
    fn fresh(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    /// Puts an event so far behind the write of a value.
    fn insert(&mut self, address: usize, value: u64, behind: usize, event: String) {
        let write = format!("{} := {value}", name(address));
        for events in &mut self.threads {
            if let Some(place) =
                events.iter().position(|event| event.trim_end_matches('>').ends_with(&write))
            {
                events.insert(place + behind, event);
                return;
            }
        }
    }

    /// A thread that reads one value and then another: a new one, or one that is there already, which may
    /// read them in between or behind what it does. It may know of the first by what it wrote itself, or
    /// by a flag, and have read a third before that.
    fn observe(&mut self, rng: &mut Rng, address: usize, first: u64, second: u64) {
        let read = |value: u64| format!("{} == {value}", name(address));
        if rng.percent(20) {
            self.insert(address, first, 1, read(second));
            return;
        }
        let thread = match rng.below(3) {
            0 => rng.below(self.threads.len()),
            _ => {
                self.threads.push(Vec::new());
                self.threads.len() - 1
            }
        };
        if rng.percent(30) {
            let (third, flag, raised) = (self.fresh(), name(LAST), self.fresh());
            self.insert(address, first, 1, format!("{flag} := {raised}"));
            if rng.percent(50) {
                self.threads.push(vec![format!("{} := {third}", name(address))]);
                self.threads[thread].push(read(third));
            }
            self.threads[thread].extend([format!("{flag} == {raised}"), read(second)]);
            return;
        }
        let events = &mut self.threads[thread];
        let place = rng.below(events.len() + 1);
        events.insert(place, read(first));
        let place = place + 1 + rng.below(events.len() - place);
        events.insert(place, read(second));
    }
}

/// The address of flags.
const LAST: usize = 8;

fn name(address: usize) -> &'static str {
    ["a", "b", "c", "d", "e", "f", "g", "h", "i"][address]
}

/// A random one, as text that was parsed.
pub(super) fn web(rng: &mut Rng) -> History {
    let length = 2 + rng.below(3);
    // What leads to each thread of the cycle and from it.
    let mut web = Web { threads: vec![Vec::new(); length], value: 0 };
    let mut firsts = vec![String::new(); length];
    let mut lasts = vec![String::new(); length];
    let mut observers = Vec::new();
    for (at, last) in lasts.iter_mut().enumerate() {
        let (place, next) = (name(at), (at + 1) % length);
        let (one, other) = (web.fresh(), web.fresh());
        firsts[next] = format!("{place} := {other}");
        *last = match rng.below(7) {
            0 => {
                firsts[next] = format!("{place} == {one}");
                format!("{place} := {one}")
            }
            1 => format!("{place} == 0"),
            2 => {
                // Of a write that is observed to come before.
                web.threads.push(vec![format!("{place} := {one}")]);
                observers.push((at, one, other));
                format!("{place} == {one}")
            }
            3 => {
                // What updates the write comes before, too.
                let updated = web.fresh();
                web.threads.push(vec![format!("{place} := {one}")]);
                observers.push((at, one, other));
                format!("<{place} == {one}; {place} := {updated}>")
            }
            4 => {
                // What comes before an update comes before what it updates.
                let updated = web.fresh();
                web.threads.push(vec![format!("<{place} == {other}; {place} := {updated}>")]);
                observers.push((at, one, updated));
                format!("{place} := {one}")
            }
            _ => {
                observers.push((at, one, other));
                format!("{place} := {one}")
            }
        };
    }
    let fences = [15, 100][rng.below(2)];
    for (at, (first, last)) in firsts.into_iter().zip(lasts).enumerate() {
        web.threads[at].push(first);
        if rng.percent(fences) {
            web.threads[at].push("sync".to_owned());
        }
        web.threads[at].push(last);
    }
    for (number, (address, one, other)) in observers.into_iter().enumerate() {
        let flag = length + number;
        match rng.below(9) {
            0 => {}
            1..4 => web.observe(rng, address, one, other),
            4 | 5 => {
                // A read behind the first write comes before what is overwritten before the second.
                let (mut read, before) = (0, web.fresh());
                let is_initial = rng.percent(50);
                if !is_initial {
                    read = web.fresh();
                    web.threads.push(vec![format!("{} := {read}", name(flag))]);
                }
                web.insert(address, one, 1, format!("{} == {read}", name(flag)));
                if fences == 100 {
                    web.insert(address, one, 1, "sync".to_owned());
                }
                web.insert(address, other, 0, format!("{} := {before}", name(flag)));
                if !is_initial {
                    web.threads
                        .push([read, before].map(|v| format!("{} == {v}", name(flag))).into());
                }
            }
            _ => {
                // Writes of another address are: one behind the first write, the other before the second.
                let (behind, before) = (web.fresh(), web.fresh());
                web.insert(address, one, 1, format!("{} := {behind}", name(flag)));
                web.insert(address, other, 0, format!("{} := {before}", name(flag)));
                web.observe(rng, flag, behind, before);
            }
        }
    }
    let mut lines = String::new();
    for (thread, events) in web.threads.iter().enumerate() {
        for event in events {
            lines += &format!("{thread}: {event}\n");
        }
    }
    let history = parse_text(&lines).expect("a web is a trace");
    if rng.percent(30) { mutated_history(rng, &history) } else { history }
}
