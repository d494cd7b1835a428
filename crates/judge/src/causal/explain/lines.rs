//! Paths of relations as edges of evidence.

use evidence::{Because, Edge, Node, Reader};

use super::Explainer;
use super::facts::Fact;
use super::paths::{Hop, path};
use crate::Reason;
use crate::causal::operations::Op;
use crate::causal::relation::Tag;

/// Why one node comes before another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    Program,
    Fence,
    Reads(Op),
    Declared { final_line: Option<u32> },
    Fact(Fact),
}

/// An edge of the evidence, before its facts have numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) link: Link,
}

impl Explainer<'_> {
    /// A path as lines: runs of program order become one, pairs of pww are spelled out.
    pub(super) fn lines(&mut self, hops: &[Hop]) -> Result<Vec<Line>, Reason> {
        let mut lines: Vec<Line> = Vec::with_capacity(hops.len());
        for Hop { from, to, tag } in joined(hops) {
            let link = match tag {
                Tag::Program => Link::Program,
                Tag::Fence => Link::Fence,
                Tag::Reads => Link::Reads(to),
                Tag::Observed { side, scope, entry } => {
                    Link::Fact(Fact::Observed { side, scope, entry })
                }
                Tag::Conflict { side, read } => {
                    Link::Fact(Fact::Conflict { side, read, write: from })
                }
                Tag::Declared { final_line } => Link::Declared { final_line },
                Tag::HappensBefore => Link::Fact(Fact::StoreOrder { from, to }),
                Tag::StoreOrder => {
                    lines.extend(self.store_path(from, to)?);
                    continue;
                }
                Tag::Overwritten => Link::Fact(Fact::Overwritten { read: from, write: to }),
                Tag::Atomic { edge } => Link::Fact(Fact::Atomic { step: self.atomic_step(edge) }),
            };
            lines.push(self.line(from, to, link));
        }
        Ok(merge(lines, |node| self.is_write(node)))
    }

    fn is_write(&self, node: Node) -> bool {
        match node {
            Node::Initial(_) => true,
            Node::ReadOf(_) => false,
            Node::Event(event) => self.check.problem.history.event(event).is_write(),
        }
    }

    /// A path in pww.
    pub(super) fn store_path(&mut self, from: Op, to: Op) -> Result<Vec<Line>, Reason> {
        // Before pww is built, what it is asked for is causality.
        if !self.check.has_store_order {
            return Ok(vec![self.line(from, to, Link::Fact(Fact::StoreOrder { from, to }))]);
        }
        let pairs = self.check.store_pairs(self.happens_before()?);
        let hops = path(from, to, &pairs, |_| true);
        self.lines(&hops)
    }

    pub(super) fn edge(&mut self, line: &Line) -> Edge {
        let because = match line.link {
            Link::Program => Because::ProgramOrder,
            Link::Fence => Because::Fence,
            Link::Reads(read) => {
                self.readers.insert(Reader::Event(self.check.problem.ops.event(read)));
                Because::ReadsFrom
            }
            Link::Declared { final_line } => {
                if let Some(number) = final_line {
                    let line = &self.check.problem.history.finals()[number as usize];
                    self.readers.insert(Reader::Final(line.address));
                }
                Because::WriteOrder
            }
            Link::Fact(fact) => {
                Because::Derived(self.numbers.get(&fact).copied().unwrap_or(u32::MAX))
            }
        };
        Edge { from: line.from, to: line.to, because }
    }
}

/// Observed edges of a scope, with its name.
pub(super) fn named(mut hops: Vec<Hop>, side: u8, scope: u32) -> Vec<Hop> {
    for hop in &mut hops {
        if let Tag::Observed { entry, .. } = hop.tag {
            hop.tag = Tag::Observed { side, scope, entry };
        }
    }
    hops
}

/// Pairs of happens-before that follow each other are one.
fn joined(hops: &[Hop]) -> Vec<Hop> {
    let mut joined: Vec<Hop> = Vec::with_capacity(hops.len());
    for &hop in hops {
        match joined.last_mut() {
            Some(last) if (last.tag, hop.tag) == (Tag::HappensBefore, Tag::HappensBefore) => {
                last.to = hop.to;
            }
            _ => joined.push(hop),
        }
    }
    joined
}

/// Joins runs of program order, and program order to a fence it leads to or from.
fn merge(lines: Vec<Line>, is_write: impl Fn(Node) -> bool) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines {
        let joined = match (merged.last().map(|last| last.link), line.link) {
            (Some(Link::Program), Link::Program) => Some(Link::Program),
            (Some(Link::Program), Link::Fence) => {
                let leads = merged.last().is_some_and(|last| is_write(last.from));
                leads.then_some(Link::Fence)
            }
            (Some(Link::Fence), Link::Program) => (!is_write(line.to)).then_some(Link::Fence),
            _ => None,
        };
        match (joined, merged.last_mut()) {
            (Some(link), Some(last)) => (last.to, last.link) = (line.to, link),
            _ => merged.push(line),
        }
    }
    merged
}
