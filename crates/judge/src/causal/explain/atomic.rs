//! The steps behind an edge that a block of read-modify-writes derived.
//!
//! A block answers for all its members at once; evidence applies the rule of atomicity one
//! read-modify-write at a time, from the member that a path leads to or from, to the end of the
//! block.

use evidence::Node;

use super::Explainer;
use super::facts::Fact;
use super::lines::{Line, Link};
use super::paths::{Paths, path};
use crate::causal::atomic::AtomicEdge;
use crate::causal::operations::{From, Op};
use crate::causal::relation::Tag;

/// One application of the rule of atomicity.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicStep {
    pub(super) from: Op,
    pub(super) to: Op,
    /// The read-modify-write.
    pub(super) update: Op,
    pub(super) side: usize,
    premise: Premise,
}

/// What an application of the rule of atomicity rests on.
#[derive(Clone, Copy, Debug)]
enum Premise {
    /// A path, over atomic edges of earlier rounds.
    Path { from: Op, to: Op, round: u32 },
    /// The write comes after the initial write.
    Initial(Op),
    /// The step before.
    Step(u32),
}

impl<'c> Explainer<'c> {
    /// Two read-modify-writes read one write: each must come before the other.
    pub(super) fn rival(&mut self, first: Op, second: Op) -> Line {
        let premise = match self.source_of_update(first) {
            From::Write(source) => Premise::Path { from: source, to: second, round: 0 },
            From::Initial | From::Open => Premise::Initial(second),
        };
        let step =
            self.step(AtomicStep { from: first, to: second, update: first, side: 0, premise });
        self.line(first, second, Link::Fact(Fact::Atomic { step }))
    }

    fn source_of_update(&self, update: Op) -> From {
        let read = self.check.problem.ops.read_half_of(update);
        read.map_or(From::Open, |read| self.check.reads_from.source(read))
    }

    fn step(&mut self, step: AtomicStep) -> u32 {
        self.steps.push(step);
        self.steps.len() as u32 - 1
    }

    /// The last of the steps that an edge of a block stands for.
    pub(super) fn atomic_step(&mut self, edge: u32) -> u32 {
        if let Some(&step) = self.steps_of_edges.get(&edge) {
            return step;
        }
        let atomic = self.check.atomic_edges[edge as usize];
        let block = self.check.blocks.as_ref().map(|b| &b.blocks[atomic.block as usize]);
        let members = block.map_or(&[][..], |b| &b.members);
        let step = if members.last() == Some(&atomic.from) {
            self.steps_after(atomic, members)
        } else {
            self.steps_before(atomic, members)
        };
        self.steps_of_edges.insert(edge, step);
        step
    }

    fn earlier_than(&self, round: u32) -> impl Fn(Tag) -> bool + use<'c> {
        let edges = &self.check.atomic_edges;
        move |tag| match tag {
            Tag::Atomic { edge } => edges[edge as usize].round < round,
            _ => true,
        }
    }

    /// A write after some member comes after the next, and so on to the last.
    fn steps_after(&mut self, edge: AtomicEdge, members: &[Op]) -> u32 {
        let mut start = (0, 0, Premise::Initial(edge.to));
        for side in 0..self.check.problem.sides.len() {
            let allowed = self.earlier_than(edge.round);
            let paths = Paths::to(edge.to, &self.check.whole(side), allowed, |_| false);
            let reached = (0..members.len() - 1).rev().find(|&i| paths.reaches_from(members[i]));
            if let Some(i) = reached
                && i + 1 > start.0
            {
                let premise = Premise::Path { from: members[i], to: edge.to, round: edge.round };
                start = (i + 1, side, premise);
            }
        }
        let (first, side, mut premise) = start;
        for &update in &members[first..] {
            let step = AtomicStep { from: update, to: edge.to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    /// A write before some member comes before the one it read, and so on to the first.
    fn steps_before(&mut self, edge: AtomicEdge, members: &[Op]) -> u32 {
        let Some(&last) = members.last() else { return 0 };
        let mut start = (members.len(), 0, Premise::Initial(edge.from));
        for side in 0..self.check.problem.sides.len() {
            let hops =
                path(edge.from, last, &self.check.whole(side), self.earlier_than(edge.round));
            let met = hops.iter().find_map(|hop| members.iter().skip(1).position(|&m| m == hop.to));
            let met = met.map(|i| i + 1);
            if let Some(i) = met
                && i < start.0
            {
                let to = members[i];
                start = (i, side, Premise::Path { from: edge.from, to, round: edge.round });
            }
        }
        let (first, side, mut premise) = start;
        for i in (1..=first.min(members.len() - 1)).rev() {
            let (update, to) = (members[i], members[i - 1]);
            let step = AtomicStep { from: edge.from, to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    pub(super) fn premise_of_step(&mut self, step: u32) -> Vec<Line> {
        let AtomicStep { side, premise, .. } = self.steps[step as usize];
        match premise {
            Premise::Path { from, to, round } => {
                let allowed = self.earlier_than(round);
                let hops = path(from, to, &self.check.whole(side), allowed);
                self.lines(&hops)
            }
            Premise::Initial(write) => {
                let from = Node::Initial(self.address(write));
                vec![Line { from, to: self.node(write), link: Link::Program }]
            }
            Premise::Step(before) => {
                let AtomicStep { from, to, .. } = self.steps[before as usize];
                vec![self.line(from, to, Link::Fact(Fact::Atomic { step: before }))]
            }
        }
    }
}
