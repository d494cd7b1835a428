//! The outcome that shows a cycle, as a trace: what each thread did, with annotations, dependencies by
//! kind, fences by name and exclusive pairs, and what each read returned.
//!
//! A model allows the outcome of the litmus test iff it allows this history. A branch makes everything
//! behind it control-dependent, fences included, as it is in the test.

use history::{DependencyKind, History, Kinds, Value};

use super::cycle::{Cycle, finals};
use super::edge::{Access, Edge, Link};
use super::place_name;

impl Cycle {
    /// The outcome that shows the cycle, as a history.
    ///
    /// ```
    /// use tribunal_stress::Cycle;
    ///
    /// let cycle: Cycle = "PodWWPL RfeLA PodRRAP Fre".parse()?;
    /// assert_eq!(
    ///     cycle.trace(),
    ///     "0: M[x] := 1\n0: M[y] := 1 rel\n1: M[y] == 1 acq as a\n1: M[x] == 0 as b\ncheck\n"
    /// );
    /// assert_eq!(cycle.history().len(), 4);
    /// # Ok::<(), tribunal_stress::CycleError>(())
    /// ```
    pub fn history(&self) -> History {
        history::parse_text(&self.trace()).expect("the trace of a cycle is well-formed")
    }

    /// The same as text.
    pub fn trace(&self) -> String {
        let cycle = self.starting_at_a_thread();
        let (places, values) = cycle.places_and_values();
        let mut writer = Writer::default();
        let mut at = 0;
        while at < cycle.edges().len() {
            at = writer.access(cycle.edges(), &places, &values, at);
        }
        for (place, value) in finals(cycle.edges(), &places, &values) {
            writer.text += &format!("final M[{}] == {value}\n", place_name(place as usize));
        }
        writer.text + "check\n"
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    thread: usize,
    reads: usize,
    /// The last event of the thread that reads.
    last_read: Option<String>,
    /// What branches of the thread so far were decided by.
    branched_on: Vec<String>,
}

impl Writer {
    fn line(&mut self, event: &str, suffix: &str) {
        let mut branched = String::new();
        for read in &self.branched_on {
            branched += &format!(" ctrl {read}");
        }
        self.text += &format!("{}: {event}{suffix}{branched}\n", self.thread);
    }

    fn named_read(&mut self) -> String {
        let letter = char::from(b'a' + (self.reads % 26) as u8);
        let name = match self.reads / 26 {
            0 => letter.to_string(),
            round => format!("{letter}{round}"),
        };
        self.reads += 1;
        name
    }

    /// Writes the access that an edge begins at, with the fence behind it. Returns the number of the
    /// next one.
    fn access(&mut self, edges: &[Edge], places: &[u32], values: &[Value], at: usize) -> usize {
        let place = place_name(places[at] as usize);
        let edge = edges[at];
        let last = if edge.is_atomic() { at + 1 } else { at };
        let depends = self.dependency(at.checked_sub(1).and_then(|before| edges[before].link()));
        let order = |at: usize| {
            edges[at].marks[0].0.map_or(String::new(), |order| format!(" {}", order.spelling()))
        };
        match (edge.from(), edge.is_atomic()) {
            (Access::Write, _) => {
                self.line(&format!("M[{place}] := {}{}", values[at], order(at)), &depends);
            }
            (Access::Read, false) => {
                let name = self.named_read();
                let event = format!("M[{place}] == {}{} as {name}", values[at], order(at));
                self.line(&event, &depends);
                self.last_read = Some(name);
            }
            (Access::Read, true) => {
                let name = self.named_read();
                self.atomic(
                    edge,
                    &place,
                    [values[at], values[last]],
                    [at, last].map(order),
                    &name,
                    &depends,
                );
                self.last_read = Some(name);
            }
        }
        self.end(edges[last]);
        last + 1
    }

    fn atomic(
        &mut self,
        edge: Edge,
        place: &str,
        [read, written]: [Value; 2],
        [on_read, on_write]: [String; 2],
        name: &str,
        depends: &str,
    ) {
        if edge.relation == super::edge::Relation::Exclusive {
            self.line(&format!("M[{place}] == {read}{on_read} as {name}"), depends);
            self.line(&format!("M[{place}] := {written}{on_write} pair {name}"), "");
            return;
        }
        let order = match (on_read.as_str(), on_write.as_str()) {
            ("", "") => "",
            (one, "") | ("", one) => one,
            _ => " acqrel",
        };
        let event = format!("<M[{place}] == {read}; M[{place}] := {written}>{order} as {name}");
        self.line(&event, depends);
    }

    /// What an access says about the one before it.
    fn dependency(&mut self, link: Option<Link>) -> String {
        let kind = link.and_then(|link| link.dependency());
        match (kind, &self.last_read) {
            (Some(kind), Some(read)) if kind != DependencyKind::Control => {
                format!(" {} {read}", kind.spelling())
            }
            _ => String::new(),
        }
    }

    /// What stands behind an access: a branch, a fence, the end of its thread.
    fn end(&mut self, edge: Edge) {
        let Some(link) = edge.link() else {
            if edge.is_external() {
                self.thread += 1;
                self.last_read = None;
                self.branched_on.clear();
            }
            return;
        };
        if link.dependency() == Some(DependencyKind::Control) {
            self.branched_on.extend(self.last_read.clone());
        }
        let fence = match (link.fence_name(), link.fence()) {
            (Some(name), _) => name.spelling().to_owned(),
            (None, Some((Kinds::ALL, Kinds::ALL))) => "sync".to_owned(),
            (None, Some((before, after))) => {
                format!("fence {},{}", before.letters(), after.letters())
            }
            (None, None) => return,
        };
        self.line(&fence, "");
    }
}
