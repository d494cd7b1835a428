//! Every execution of a small trace: each breaks an axiom, or the claim is wrong.
//!
//! What each read read is chosen first, then the orders of writes, a write at a time. As soon as
//! what is chosen breaks an axiom, whatever else is, there is no need to go on.

use evidence::file::MOST_EXECUTIONS;
use history::Source;

use super::dense::{self, Knowledge};
use super::events::{BaseRelation, Events, Id};
use super::execution::{NONE, Run};
use super::mixed_sizes::MixedSizeRules;
use super::terms::Terms;
use crate::rejection::Fault;

pub(super) fn check(
    terms: &Terms,
    mixed_sizes: &MixedSizeRules,
    events: &Events<'_>,
) -> Result<(), Fault> {
    if events.len() > dense::MOST_EVENTS {
        return Err(Fault::TooManyExecutions { allowed: MOST_EXECUTIONS });
    }
    Search { terms, mixed_sizes, choice: Choice::none(events), tried: 0 }.go_on(0)
}

/// An execution of which not all is chosen.
struct Choice<'a> {
    events: &'a Events<'a>,
    /// The reads, each with the writes that it may have read.
    reads: Vec<(Id, Vec<u32>)>,
    /// What is chosen of them.
    source: Vec<u32>,
    /// The writes of each address that have a place, in order, and those that come after them.
    orders: Vec<Vec<Id>>,
    left: Vec<Vec<Id>>,
    /// For each write its place.
    place: Vec<u32>,
    /// For each write, those that a line of the trace puts before it.
    after: Vec<Vec<Id>>,
}

impl<'a> Choice<'a> {
    fn none(events: &'a Events<'a>) -> Self {
        let history = events.history;
        let reads = events.ids().filter(|&id| events.is_read(id)).filter_map(|id| {
            let (event, address) = events.origin(id).zip(events.address(id))?;
            let sources = history.sources(event).iter();
            let sources = sources.filter(|&&source| source != Source::Write(event));
            Some((id, sources.map(|&source| events.write(source, address) as u32).collect()))
        });
        let writes = |address| {
            let all = events.ids().filter(|&id| events.is_write(id) && events.origin(id).is_some());
            all.filter(|&id| events.address(id) == Some(address)).collect()
        };
        let mut after = vec![Vec::new(); events.len()];
        for line in history.orders() {
            for pair in line.writes.windows(2) {
                let [before, later] = [0, 1].map(|at| events.write(pair[at], line.address));
                after[later].push(before);
            }
        }
        let mut place = vec![NONE; events.len()];
        history.address_ids().for_each(|address| place[address.index()] = 0);
        Choice {
            events,
            reads: reads.collect(),
            source: vec![NONE; events.len()],
            orders: history.address_ids().map(|address| vec![address.index()]).collect(),
            left: history.address_ids().map(writes).collect(),
            place,
            after,
        }
    }
}

impl Knowledge for Choice<'_> {
    fn events(&self) -> &Events<'_> {
        self.events
    }

    fn must(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        match relation {
            BaseRelation::ReadsFrom => self.source[b] == a as u32,
            // What has a place comes before what has a later one, and before what has none yet.
            BaseRelation::Coherence => {
                self.are_writes_of_one(a, b) && self.place[a] < self.place[b]
            }
            _ => self.events.fixed(relation, a, b),
        }
    }

    fn may(&self, relation: BaseRelation, a: Id, b: Id) -> bool {
        match relation {
            BaseRelation::ReadsFrom => match self.source[b] {
                NONE => {
                    let of = self.reads.iter().find(|(read, _)| *read == b);
                    of.is_some_and(|(_, sources)| sources.contains(&(a as u32)))
                }
                source => source == a as u32,
            },
            BaseRelation::Coherence => {
                let both_open = self.place[a] == NONE && self.place[b] == NONE && a != b;
                self.must(relation, a, b) || self.are_writes_of_one(a, b) && both_open
            }
            _ => self.events.fixed(relation, a, b),
        }
    }
}

impl Choice<'_> {
    fn are_writes_of_one(&self, a: Id, b: Id) -> bool {
        let events = self.events;
        events.is_write(a) && events.is_write(b) && events.address(a) == events.address(b)
    }
}

struct Search<'a> {
    terms: &'a Terms,
    mixed_sizes: &'a MixedSizeRules,
    choice: Choice<'a>,
    tried: u64,
}

impl Search<'_> {
    /// Tries all ways to go on after so many reads have been chosen. As deep as there are choices,
    /// of which a small trace has few.
    fn go_on(&mut self, reads: usize) -> Result<(), Fault> {
        self.tried += 1;
        if self.tried > MOST_EXECUTIONS {
            return Err(Fault::TooManyExecutions { allowed: MOST_EXECUTIONS });
        }
        if !dense::broken(self.terms, self.mixed_sizes, &self.choice).is_empty() {
            return Ok(());
        }
        if let Some((read, sources)) = self.choice.reads.get(reads).cloned() {
            for source in sources {
                self.choice.source[read] = source;
                self.go_on(reads + 1)?;
            }
            self.choice.source[read] = NONE;
            return Ok(());
        }
        let Some(address) = self.choice.left.iter().position(|left| !left.is_empty()) else {
            return self.finished();
        };
        for at in 0..self.choice.left[address].len() {
            let write = self.choice.left[address][at];
            let waits = |before: &Id| self.choice.place[*before] == NONE;
            if self.choice.after[write].iter().any(waits) {
                continue;
            }
            self.choice.left[address].remove(at);
            self.choice.place[write] = self.choice.orders[address].len() as u32;
            self.choice.orders[address].push(write);
            self.go_on(reads)?;
            self.choice.orders[address].pop();
            self.choice.place[write] = NONE;
            self.choice.left[address].insert(at, write);
        }
        Ok(())
    }

    /// An execution that contradicts the lines of the trace is none; any other refutes the claim.
    fn finished(&self) -> Result<(), Fault> {
        let Choice { events, source, orders, .. } = &self.choice;
        match Run::new(events, source.clone(), orders.clone()) {
            Ok(_) => Err(Fault::AnExecutionMeetsAll),
            Err(_) => Ok(()),
        }
    }
}
