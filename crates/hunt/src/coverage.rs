//! What a campaign has exercised, and what not.
//!
//! Three tables. *Communication*: which accesses were seen to communicate, by the names of litmus
//! edges. Only what an outcome shows for certain counts: a read took the value of a write (rf); a
//! read of the initial value came before every write of the place (fr); a write came before the one
//! whose value was there at the end (co). *Program order*: which accesses followed each other in
//! the programs that were run. *Litmus tests*: which were run how often, and how often what they
//! are about was seen. Linear in the events of an outcome.

use std::collections::BTreeMap;

use history::{EventId, History, Source};
use serde::{Deserialize, Serialize};
use stress::{Action, Program};

/// Kinds of communication: rf, fr and co, to another thread and within one.
pub const COMMUNICATIONS: [&str; 6] = ["Rfe", "Rfi", "Fre", "Fri", "Coe", "Coi"];

/// What communicates: plain and atomic accesses, and places that share a cache line with others.
pub const WAYS: [&str; 5] =
    ["plain-plain", "plain-atomic", "atomic-plain", "atomic-atomic", "shared line"];

/// Pairs of accesses of a thread.
pub const PAIRS: [&str; 8] =
    ["PodRR", "PodRW", "PodWR", "PodWW", "PosRR", "PosRW", "PosWR", "PosWW"];

/// How the later of a pair is kept behind the earlier, if it is.
pub const LINKS: [&str; 3] = ["plain", "fenced", "dependent"];

/// Counts of what a campaign exercised.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Distinct outcomes that show it: [`COMMUNICATIONS`] by [`WAYS`].
    pub communication: [[u64; 5]; 6],
    /// Tests that have it: [`PAIRS`] by [`LINKS`].
    pub program_order: [[u64; 3]; 8],
    /// Litmus tests, by name.
    pub litmus: BTreeMap<String, Litmus>,
}

/// What became of a litmus test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Litmus {
    /// The number of tests that are this litmus test.
    pub tests: u64,
    /// The number of its runs.
    pub runs: u64,
    /// The number of runs with its target outcome.
    pub seen: u64,
}

impl Coverage {
    /// Adds what another has counted.
    pub fn add(&mut self, other: &Coverage) {
        for (mine, more) in
            self.communication.as_flattened_mut().iter_mut().zip(other.communication.as_flattened())
        {
            *mine += more;
        }
        for (mine, more) in
            self.program_order.as_flattened_mut().iter_mut().zip(other.program_order.as_flattened())
        {
            *mine += more;
        }
        for (name, more) in &other.litmus {
            let mine = self.litmus.entry(name.clone()).or_default();
            mine.tests += more.tests;
            mine.runs += more.runs;
            mine.seen += more.seen;
        }
    }

    /// Counts the pairs of a program, each once.
    pub(crate) fn add_program(&mut self, program: &Program) {
        let mut has = [[false; 3]; 8];
        for thread in &program.threads {
            let mut last: Option<Action> = None;
            let mut fenced = false;
            for instruction in thread {
                let action = instruction.action;
                if action.place().is_none() {
                    fenced = true;
                    continue;
                }
                if let Some(earlier) = last {
                    let link = match (instruction.depends_on.is_empty(), fenced) {
                        (false, _) => 2,
                        (true, true) => 1,
                        (true, false) => 0,
                    };
                    for pair in pairs(earlier, action) {
                        has[pair][link] = true;
                    }
                }
                (last, fenced) = (Some(action), false);
            }
        }
        for (count, has) in self.program_order.as_flattened_mut().iter_mut().zip(has.as_flattened())
        {
            *count += u64::from(*has);
        }
    }

    /// Counts the edges of an outcome. `shared` says which addresses share a cache line.
    pub(crate) fn add_outcome(&mut self, history: &History, shared: &[bool]) {
        let mut seen = OutcomeCoverage { history, shared, cells: [[false; 5]; 6] };
        seen.reads();
        seen.finals();
        for (count, seen) in
            self.communication.as_flattened_mut().iter_mut().zip(seen.cells.as_flattened())
        {
            *count += u64::from(*seen);
        }
    }
}

/// The pairs that two accesses are: an atomic is a read and a write.
fn pairs(earlier: Action, later: Action) -> impl Iterator<Item = usize> {
    let same = usize::from(earlier.place() == later.place());
    let kinds = |action: Action| {
        let writes = !matches!(action, Action::Load { .. });
        [action.reads().then_some(0), writes.then_some(1)].into_iter().flatten()
    };
    kinds(earlier)
        .flat_map(move |first| kinds(later).map(move |second| same * 4 + first * 2 + second))
}

/// The edges of one outcome.
struct OutcomeCoverage<'a> {
    history: &'a History,
    shared: &'a [bool],
    cells: [[bool; 5]; 6],
}

impl OutcomeCoverage<'_> {
    fn reads(&mut self) {
        for read in self.history.event_ids() {
            if !self.history.kinds_of(read).reads {
                continue;
            }
            match self.history.only_source(read) {
                Some(Source::Write(write)) => self.mark(0, write, read),
                Some(Source::Initial) => self.before_all_writes(read),
                None => {}
            }
        }
    }

    fn before_all_writes(&mut self, read: EventId) {
        let Some(address) = self.history.address_of(read) else { return };
        for &write in &self.history.address(address).writes {
            if write != read {
                self.mark(2, read, write);
            }
        }
    }

    fn finals(&mut self) {
        for last in self.history.finals() {
            let [Source::Write(end)] = last.sources[..] else { continue };
            for &write in &self.history.address(last.address).writes {
                if write != end {
                    self.mark(4, write, end);
                }
            }
        }
    }

    /// Marks an edge of the kinds `row` (to another thread) and `row + 1` (within one).
    fn mark(&mut self, row: usize, from: EventId, to: EventId) {
        let history = self.history;
        let row = row + usize::from(history.thread_of(from) == history.thread_of(to));
        let atomic = |event| history.event(event).is_atomic();
        let way = usize::from(atomic(from)) * 2 + usize::from(atomic(to));
        self.cells[row][way] = true;
        let shared = |address: history::AddressId| self.shared.get(address.index()) == Some(&true);
        if history.address_of(to).is_some_and(shared) {
            self.cells[row][4] = true;
        }
    }
}

/// Which addresses of a history are places of the program that share a cache line with others.
pub(crate) fn shared_lines(program: &Program, history: &History) -> Vec<bool> {
    let in_line = |line| program.places.iter().filter(|place| place.line == line).count();
    let shares = |address| {
        let label = &history.address(address).label;
        let place = program.places.iter().find(|place| place.label == *label);
        place.is_some_and(|place| in_line(place.line) > 1)
    };
    history.address_ids().map(shares).collect()
}
