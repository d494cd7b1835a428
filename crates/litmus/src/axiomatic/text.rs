//! An execution as text: its events in the words of the trace format, and beside each read the write
//! that it took its value from.

use cat::{Action, Link};

use super::join::Reached;
use crate::lower;
use crate::test::Litmus;

impl Reached {
    /// The events, a line each, and the order of the writes of each location below them.
    pub fn text(&self, test: &Litmus) -> String {
        let mut text = String::new();
        for at in 0..self.execution.events.len() {
            text.push_str(&self.line(test, at));
            text.push('\n');
        }
        for (location, order) in test.locations.iter().zip(&self.choice.write_orders) {
            if order.len() > 1 {
                let writes: Vec<String> = order.iter().map(|&write| name(write)).collect();
                text.push_str(&format!("# {}: {}\n", location.name, writes.join(" < ")));
            }
        }
        text
    }

    fn line(&self, test: &Litmus, at: usize) -> String {
        let event = &self.execution.events[at];
        let place = event.address.map_or("", |address| &test.locations[address].name);
        let value = |value: Option<u64>| {
            let value = value.unwrap_or(0);
            match lower::location_at(value, test.locations.len()) {
                Some(id) => format!("&{}", test.location(id)),
                None => value.to_string(),
            }
        };
        let (read, written) = self.values[at];
        let Some(thread) = event.thread else {
            return format!("init M[{place}] == {} as {}", value(written), name(at));
        };
        let what = match event.action {
            Action::Read => format!("M[{place}] == {}", value(read)),
            Action::Write => format!("M[{place}] := {}", value(written)),
            Action::Update => {
                format!("<M[{place}] == {}; M[{place}] := {}>", value(read), value(written))
            }
            Action::Fence { name: Some(name), .. } => name.spelling().to_owned(),
            Action::Fence { before, after, .. } => {
                format!("fence {},{}", before.letters(), after.letters())
            }
        };
        let mut line = format!("{thread}: {what}");
        if let Some(order) = event.order {
            line.push_str(&format!(" {}", order.spelling()));
        }
        if event.address.is_some() {
            line.push_str(&format!(" as {}", name(at)));
        }
        let links = self.execution.links.iter().filter(|each| each.2 == at);
        for &(link, from, _) in links {
            let word = match link {
                Link::Dependency(kind) => kind.spelling(),
                Link::Atomic => "atomic",
                Link::Exclusive => "pair",
            };
            line.push_str(&format!(" {word} {}", name(from)));
        }
        let source = self.choice.reads_from.iter().find(|(each, _)| *each == at);
        if let Some((_, write)) = source {
            line.push_str(&format!("  # from {}", name(*write)));
        }
        line
    }
}

/// The name of an event.
fn name(at: usize) -> String {
    format!("e{at}")
}
