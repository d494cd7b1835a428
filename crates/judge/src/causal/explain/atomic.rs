//! The steps behind an edge that a block of read-modify-writes derived.
//!
//! A block answers for all its members at once; evidence applies the rule of atomicity one
//! read-modify-write at a time, from the member that a path leads to or from, to the end of the
//! block.

use evidence::Node;

use super::Explainer;
use super::facts::Fact;
use super::lines::{Line, Link};
use super::paths::path;
use crate::Reason;
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
        let members = self.check.blocks.as_ref().map_or(&[][..], |b| b.members(atomic.block));
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
        let AtomicEdge { to, member, round, .. } = edge;
        let side = edge.side as usize;
        let (first, mut premise) = match members.iter().position(|&m| m == member) {
            Some(i) => (i + 1, Premise::Path { from: member, to, round }),
            None => (0, Premise::Initial(to)),
        };
        for &update in &members[first..] {
            let step = AtomicStep { from: update, to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    /// A write before some member comes before the one it read, and so on to the first.
    fn steps_before(&mut self, edge: AtomicEdge, members: &[Op]) -> u32 {
        let AtomicEdge { from, member, round, .. } = edge;
        let side = edge.side as usize;
        let reached = members.iter().position(|&m| m == member).unwrap_or(0);
        let mut premise = Premise::Path { from, to: member, round };
        for i in (1..=reached).rev() {
            let (update, to) = (members[i], members[i - 1]);
            let step = AtomicStep { from, to, update, side, premise };
            premise = Premise::Step(self.step(step));
        }
        self.steps.len() as u32 - 1
    }

    pub(super) fn premise_of_step(&mut self, step: u32) -> Result<Vec<Line>, Reason> {
        let AtomicStep { side, premise, .. } = self.steps[step as usize];
        Ok(match premise {
            Premise::Path { from, to, round } => {
                let allowed = self.earlier_than(round);
                let hops = path(from, to, &self.check.whole(side), allowed);
                self.lines(&hops)?
            }
            Premise::Initial(write) => {
                let from = Node::Initial(self.address(write));
                vec![Line { from, to: self.node(write), link: Link::Program }]
            }
            Premise::Step(before) => {
                let AtomicStep { from, to, .. } = self.steps[before as usize];
                vec![self.line(from, to, Link::Fact(Fact::Atomic { step: before }))]
            }
        })
    }
}
