//! Histories around a critical cycle whose threads keep their accesses in order by some means of an
//! architecture: a fence by name, annotations, dependencies, what stands between.
//!
//! The cycle is that of a litmus test: the second access of each thread is seen to come before the
//! first of the next. A model forbids it if each thread's means is strong enough, so these are the
//! histories on which the rules of hardware models differ. Made as text, which is short and shows
//! what is made.

use chance::Rng;
use history::{AccessOrder, FenceName, History, parse_text};

/// A random history around a cycle of two or three threads.
pub fn ordered_cycle(rng: &mut Rng) -> History {
    let threads = if rng.percent(70) { 2 } else { 3 };
    let links: Vec<Link> = (0..threads).map(|_| LINKS[rng.below(LINKS.len())]).collect();
    let mut lines = Vec::new();
    let mut ends = Vec::new();
    for thread in 0..threads {
        let before = (thread + threads - 1) % threads;
        let mut one = Thread { rng, thread, lines: Vec::new(), next: 0 };
        // The access that the link of the thread before leads to, and that where its own begins.
        let first =
            Access { address: before, writes: links[before] != Link::ReadsFrom, last: true };
        let second =
            Access { address: thread, writes: links[thread] != Link::FromRead, last: false };
        one.accesses(links[before], first, links[thread], second);
        lines.append(&mut one.lines);
        if links[thread] == Link::Coherence {
            ends.push(match rng.percent(50) {
                true => format!("final {} == 2", ADDRESSES[thread]),
                false => format!("order {}: 1 < 2", ADDRESSES[thread]),
            });
        }
    }
    lines.append(&mut ends);
    let text = lines.join("\n");
    parse_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const ADDRESSES: [&str; 4] = ["x", "y", "z", "w"];

/// How an access is seen to come before one of another thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    ReadsFrom,
    FromRead,
    Coherence,
}

const LINKS: [Link; 5] =
    [Link::ReadsFrom, Link::ReadsFrom, Link::FromRead, Link::FromRead, Link::Coherence];

/// An end of a link.
#[derive(Clone, Copy)]
struct Access {
    address: usize,
    writes: bool,
    /// Whether it is where the link leads to.
    last: bool,
}

struct Thread<'r> {
    rng: &'r mut Rng,
    thread: usize,
    lines: Vec<String>,
    /// The number of the next event.
    next: usize,
}

impl Thread<'_> {
    fn line(&mut self, event: &str) -> String {
        let name = format!("e{}_{}", self.thread, self.next);
        self.next += 1;
        self.lines.push(format!("{}: {event} as {name}", self.thread));
        name
    }

    /// Adds to the last line.
    fn say(&mut self, word: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }

    fn annotation(&mut self) -> &'static str {
        AccessOrder::ALL[self.rng.below(AccessOrder::ALL.len())].spelling()
    }

    /// The two accesses and what is between them.
    fn accesses(&mut self, to: Link, first: Access, from: Link, second: Access) {
        let first = self.access(to, first, "");
        let mut relation = String::new();
        for _ in 0..if self.rng.percent(70) { 1 } else { 2 } {
            relation += &self.means(first.as_deref());
        }
        self.access(from, second, &relation);
    }

    /// An access in one of its forms. Returns the name of the last event in it that reads.
    fn access(&mut self, link: Link, access: Access, relation: &str) -> Option<String> {
        let address = ADDRESSES[access.address];
        let seen = u64::from(link == Link::ReadsFrom || link == Link::Coherence && access.last);
        let written = if link == Link::Coherence && access.last { 2 } else { 1 };
        let form = self.rng.below(10);
        let name = match (access.writes, form) {
            (true, 0..7) => {
                self.line(&format!("{address} := {written}"));
                None
            }
            (true, 7) => {
                let load = self.line(&format!("{address} == {}", written - 1));
                if self.rng.percent(50) {
                    let order = self.annotation();
                    self.say(order);
                }
                self.line(&format!("{address} := {written} pair {load}"));
                None
            }
            (true, _) => {
                let read = written - 1;
                Some(self.line(&format!("<{address} == {read}; {address} := {written}>")))
            }
            (false, 0..8) => Some(self.line(&format!("{address} == {seen}"))),
            (false, _) => {
                let value = 20 + self.thread;
                Some(self.line(&format!("<{address} == {seen}; {address} := {value}>")))
            }
        };
        self.say(relation);
        if self.rng.percent(45) {
            let order = self.annotation();
            self.say(order);
        }
        name
    }

    /// Something that may keep the second access behind the first. Returns what the second says.
    fn means(&mut self, first: Option<&str>) -> String {
        match (self.rng.below(12), first) {
            (0 | 1, _) => {
                let kinds = ["r", "w", "rw"];
                let (before, after) = (kinds[self.rng.below(3)], kinds[self.rng.below(3)]);
                self.line(&format!("fence {before},{after}"));
            }
            (2 | 3, _) => {
                let fence = FenceName::ALL[self.rng.below(FenceName::ALL.len())];
                self.line(fence.spelling());
            }
            (4, _) => {
                let value = 30 + self.next;
                self.line(&format!("<w == 0; w := {value}>"));
                let order = self.annotation();
                self.say(order);
            }
            (5, Some(first)) => {
                let kind = self.kind();
                self.line(&format!("isb {kind} {first}"));
            }
            (6, Some(first)) => {
                let kind = self.kind();
                let event = if self.rng.percent(50) { "v == 0" } else { "v := 7" };
                self.line(&format!("{event} {kind} {first}"));
                if self.rng.percent(30) {
                    self.line("isb");
                }
            }
            (7, Some(first)) => {
                let (kind, next) = (self.kind(), self.kind());
                let own = 40 + self.thread;
                match self.rng.below(4) {
                    0 => drop(self.line(&format!("<u{own} == 0; u{own} := 1> {kind} {first}"))),
                    1 => {
                        let load = self.line(&format!("u{own} == 0"));
                        self.line(&format!("u{own} := 1 pair {load} {kind} {first}"));
                    }
                    _ => drop(self.line(&format!("u{own} := 1 {kind} {first}"))),
                }
                let read = self.line(&format!("u{own} == 1"));
                if self.rng.percent(30) {
                    let order = self.annotation();
                    self.say(order);
                }
                return format!("{next} {read} ");
            }
            (8.., Some(first)) => {
                let kind = self.kind();
                return format!("{kind} {first} ");
            }
            _ => {}
        }
        String::new()
    }

    fn kind(&mut self) -> &'static str {
        ["addr", "data", "ctrl"][self.rng.below(3)]
    }
}
