//! An execution as a trace: its events in the text format, and as remarks the write that each read
//! took its value from and the order of the writes of each location.

use cat::{Action, Atomicity, CatEvent, Link};
use history::AccessOrder;

use super::join::Reached;
use crate::lower;
use crate::test::{Litmus, LocationId};

impl Reached {
    /// The trace, a line for each event. The halves of an atomic are one event of it.
    pub fn text(&self, test: &Litmus) -> String {
        let mut text = String::new();
        // Of mixed sizes, an access is reported with its first part.
        let wholes = &self.execution.wholes;
        let is_shown = |at: &usize| wholes.is_empty() || wholes[*at] == *at;
        for at in (0..self.execution.events.len()).filter(is_shown) {
            if let Some(line) = self.line(test, at) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        for (cell, order) in self.choice.write_orders.iter().enumerate() {
            if order.len() > 1 {
                let writes: Vec<String> = order.iter().map(|&write| self.name(write)).collect();
                text.push_str(&format!("# {}: {}\n", self.place(test, cell), writes.join(" < ")));
            }
        }
        text
    }

    /// The line of an event; the writing half of an atomic is reported with the reading one.
    fn line(&self, test: &Litmus, at: usize) -> Option<String> {
        let event = &self.execution.events[at];
        let place = event.address.map_or_else(String::new, |_| self.place(test, at));
        let (read, written) = self.values[at];
        let value = |value: Option<u64>| value.unwrap_or(0);
        let Some(thread) = event.thread else {
            return Some(format!("init M[{place}] == {}", value(written)));
        };
        if self.reading_half(at).is_some() {
            return None;
        }
        let written = self.writing_half(at).map_or(written, |half| self.values[half].1);
        let both =
            |written| format!("<M[{place}] == {}; M[{place}] := {}>", value(read), value(written));
        let what = match event.action {
            Action::Read if written.is_some() => both(written),
            Action::Read => format!("M[{place}] == {}", value(read)),
            Action::Write => format!("M[{place}] := {}", value(written)),
            Action::Update => both(written),
            Action::Fence { name: Some(name), .. } => name.spelling().to_owned(),
            Action::Fence { before, after, .. } => {
                format!("fence {},{}", before.letters(), after.letters())
            }
        };
        let mut line = format!("{thread}: {what}");
        if let Some(order) = self.order(at) {
            line.push_str(&format!(" {}", order.spelling()));
        }
        if event.address.is_some() {
            line.push_str(&format!(" as {}", self.name(at)));
            line.push_str(&self.links(at));
        }
        let mut sources = Vec::new();
        for (_, write) in self.choice.reads_from.iter().filter(|(each, _)| self.whole(*each) == at)
        {
            let initial = self.execution.events[*write].is_initial();
            let from = if initial { "the initial value".to_owned() } else { self.name(*write) };
            if !sources.contains(&from) {
                sources.push(from);
            }
        }
        if !sources.is_empty() {
            line.push_str(&format!("  # from {}", sources.join(", ")));
        }
        Some(line)
    }

    /// Where an event is: a location by its name, or bytes by their numbers if some accesses are of
    /// parts of locations.
    fn place(&self, test: &Litmus, at: usize) -> String {
        match self.bytes.get(at).copied().flatten() {
            Some(bytes) => {
                let start = lower::address(bytes.at) + u64::from(bytes.start);
                format!("{start:#x}:{}", bytes.size)
            }
            None => {
                let address = self.execution.events[at].address;
                address.map_or_else(String::new, |id| test.trace_name(LocationId(id as u32)))
            }
        }
    }

    /// What an access depends on and is paired with.
    fn links(&self, at: usize) -> String {
        let mut words = Vec::new();
        for half in [Some(at), self.writing_half(at)].into_iter().flatten() {
            for &(link, from, _) in self.execution.links.iter().filter(|each| each.2 == half) {
                let word = match link {
                    Link::Dependency(kind) if self.execution.events[from].is_read() => {
                        kind.spelling()
                    }
                    Link::Exclusive => "pair",
                    Link::Dependency(_) | Link::Atomic => continue,
                };
                let said = format!(" {word} {}", self.name(from));
                if !words.contains(&said) {
                    words.push(said);
                }
            }
        }
        words.concat()
    }

    /// How an access is ordered; an atomic by both of its halves.
    fn order(&self, at: usize) -> Option<AccessOrder> {
        let own = self.execution.events[at].order;
        let other = self.writing_half(at).and_then(|half| self.execution.events[half].order);
        match (own, other) {
            (Some(_), Some(AccessOrder::Release)) => Some(AccessOrder::AcquireRelease),
            (own, other) => own.or(other),
        }
    }

    fn writing_half(&self, at: usize) -> Option<usize> {
        let links = &self.execution.links;
        links.iter().find(|each| each.0 == Link::Atomic && each.1 == at).map(|each| each.2)
    }

    fn reading_half(&self, at: usize) -> Option<usize> {
        let is_half = |event: &CatEvent| event.atomicity == Atomicity::Atomic;
        let links = self.execution.links.iter().filter(|_| is_half(&self.execution.events[at]));
        links.into_iter().find(|each| each.0 == Link::Atomic && each.2 == at).map(|each| each.1)
    }

    /// The event that an event is reported with: the first part of its access.
    fn whole(&self, at: usize) -> usize {
        self.execution.wholes.get(at).copied().unwrap_or(at)
    }

    /// The name of an event: that of the line it is reported in.
    fn name(&self, at: usize) -> String {
        format!("e{}", self.whole(self.reading_half(at).unwrap_or(at)))
    }
}
