//! Which events an explanation shows: those its argument speaks of, and how many it leaves out.

use std::collections::BTreeSet;

use evidence::{Atom, Literal, Node, Reader};
use history::{AddressId, EventId, History, Source, ThreadId};

use super::argument::{
    Argument, Case, Claim, Contradiction, Ending, Ground, Item, Link, LinkKind, Reason, Step, Walk,
};
use crate::names::event_of;

/// Everything an argument speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) events: BTreeSet<EventId>,
    /// Initial writes that are nodes of a walk.
    pub(crate) initials: BTreeSet<AddressId>,
    /// Addresses whose initial value somebody read.
    pub(crate) initial_reads: BTreeSet<AddressId>,
    /// Lines of the `order` and `final` statements used.
    pub(crate) lines: BTreeSet<u32>,
}

/// A row of a thread's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Event(EventId),
    /// This many events left out.
    Gap(usize),
}

impl Shown {
    /// The events that the whole argument mentions.
    pub(crate) fn of(history: &History, argument: &Argument) -> Self {
        let mut shown = Self::default();
        let mut open: Vec<&Item> = argument.items.iter().collect();
        while let Some(item) = open.pop() {
            match item {
                Item::Step(step) => shown.add_step(history, step),
                Item::LeftOut(_) => {}
                Item::Cases(cases) => {
                    for Case { assumes, items, .. } in cases {
                        shown.add_literal(*assumes);
                        open.extend(items);
                    }
                }
                Item::End(ending) => shown.add_ending(history, ending),
            }
        }
        shown
    }

    fn add_ending(&mut self, history: &History, ending: &Ending) {
        match ending {
            Ending::Cycle(cycle) => self.add_walk(history, cycle),
            Ending::NobodyWrote(reader) => self.add_reader(*reader),
            Ending::NoCandidateLeft { reader, excluded } => {
                self.add_reader(*reader);
                excluded.iter().for_each(|&(source, _)| self.add_source(source));
            }
            Ending::Search(search) => {
                if let Some((supposed, contradiction)) = &search.example {
                    supposed.iter().for_each(|&literal| self.add_literal(literal));
                    self.add_contradiction(history, contradiction);
                }
            }
            Ending::Missing => {}
        }
    }

    // Recursion is one deep: a step within a step has no steps within.
    pub(crate) fn add_step(&mut self, history: &History, step: &Step) {
        match step.claim {
            Claim::Literal(literal) => self.add_literal(literal),
            Claim::Edge(from, to) => [from, to].into_iter().for_each(|node| self.add_node(node)),
        }
        match &step.reason {
            Reason::Otherwise(contradiction) => self.add_contradiction(history, contradiction),
            Reason::Rule { via, path, .. } => {
                via.iter().for_each(|&node| self.add_node(node));
                self.add_walk(history, path);
            }
            Reason::LastCandidate { excluded } => {
                excluded.iter().for_each(|&(source, _)| self.add_source(source));
            }
        }
    }

    fn add_contradiction(&mut self, history: &History, contradiction: &Contradiction) {
        contradiction.derived.iter().for_each(|step| self.add_step(history, step));
        self.add_walk(history, &contradiction.cycle);
    }

    pub(crate) fn add_walk(&mut self, history: &History, walk: &Walk) {
        walk.links.iter().for_each(|link| self.add_link(history, link));
    }

    fn add_link(&mut self, history: &History, link: &Link) {
        self.add_node(link.from);
        self.add_node(link.to);
        match &link.kind {
            LinkKind::Fence(Some(fence)) => {
                self.events.insert(*fence);
            }
            LinkKind::FromRead { source: Some(source), .. } => {
                self.add_source(*source);
                let address = event_of(link.from).and_then(|e| history.event(e).address());
                if *source == Source::Initial {
                    self.initial_reads.extend(address);
                }
            }
            _ => {}
        }
        let (LinkKind::WriteOrder(order) | LinkKind::FromRead { order, .. }) = &link.kind else {
            return;
        };
        for ordered in order {
            if let (Node::Event(a), Node::Event(b)) = (ordered.from, ordered.to) {
                self.events.extend([a, b]);
            }
            if let Ground::OrderLine(line) | Ground::FinalLine(line) = ordered.ground {
                self.lines.insert(line);
            }
        }
    }

    pub(crate) fn add_literal(&mut self, literal: Literal) {
        match literal.atom {
            Atom::Before(a, b) => self.events.extend([a, b]),
            Atom::Reads(reader, source) => {
                self.add_reader(reader);
                self.add_source(source);
            }
        }
    }

    fn add_reader(&mut self, reader: Reader) {
        if let Reader::Event(event) | Reader::Part(event, _) = reader {
            self.events.insert(event);
        }
    }

    fn add_source(&mut self, source: Source) {
        if let Source::Write(write) = source {
            self.events.insert(write);
        }
    }

    fn add_node(&mut self, node: Node) {
        match node {
            Node::Initial(address) => {
                self.initials.insert(address);
            }
            Node::Event(event) | Node::ReadOf(event) => {
                self.events.insert(event);
            }
        }
    }

    /// The threads with an event to show, by their labels.
    pub(crate) fn threads(&self, history: &History) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> =
            self.events.iter().map(|&e| history.event(e).thread).collect();
        threads.dedup(); // events are thread-major
        threads.sort_by_key(|&thread| history.thread_label(thread));
        threads
    }

    /// The column of a thread: the events to show, with the numbers of those left out between them.
    pub(crate) fn column(&self, history: &History, thread: ThreadId) -> Vec<Slot> {
        let range = history.thread_range(thread);
        let mut column = Vec::new();
        let mut next = range.start;
        let shown = self.events.range(EventId::new(range.start)..EventId::new(range.end));
        for &event in shown {
            if event.index() > next {
                column.push(Slot::Gap(event.index() - next));
            }
            column.push(Slot::Event(event));
            next = event.index() + 1;
        }
        if range.end > next {
            column.push(Slot::Gap(range.end - next));
        }
        column
    }
}
