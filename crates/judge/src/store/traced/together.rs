//! Cycles of one location where several conditions make locations coherent together.
//!
//! A cycle goes from an access to a later one of its thread and back by `rf`, `co` and `fr`. Which
//! condition it breaks depends on what the two are, and on whether the write on the way back is of
//! their thread; the cases are those of `cat`'s `coherence`. A cycle of another form has no
//! certificate.

use evidence::Node;
use evidence::file::{FileWhy, Link};
use history::{EventId, History, Kinds};

/// The condition that a cycle of one location breaks, of the three on threads (a read then a write, two
/// writes, a write then a read) and the global one.
pub(super) fn broken(
    trace: &History,
    [read_then_write, write_then_write, write_then_read]: [usize; 3],
    global: usize,
    links: Vec<Link>,
) -> Option<FileWhy> {
    let within = |axiom, at: Node, through: Vec<Node>| {
        let links = vec![Link { from: at, through, to: at }];
        Some(FileWhy::Axiom { axiom, links })
    };
    let all = |links| Some(FileWhy::Axiom { axiom: global, links });
    let nodes = Nodes(trace);
    let Some((own, back)) = nodes.one_thread_and_back(&links) else {
        let is_between = |link: &Link| !nodes.is_of_one_thread(link.from, link.to);
        return if links.iter().all(is_between) { all(links) } else { None };
    };
    let (first, second) = (own.from, own.to);
    match &back[..] {
        [back] => match (nodes.is_read(first), nodes.is_read(second)) {
            (false, false) => within(write_then_write, first, vec![second]),
            (false, true) => {
                let through = [&[second][..], &back.through].concat();
                within(write_then_read, first, through)
            }
            (true, false) => within(read_then_write, first, vec![second]),
            (true, true) => None,
        },
        [out, into] => {
            let write = out.to;
            if nodes.is_own_order(first, write) {
                return within(read_then_write, first, vec![write]);
            }
            let is_own = nodes.is_own_order(write, first);
            match (nodes.is_read(second), is_own) {
                (false, true) => within(write_then_write, write, vec![second]),
                (true, true) => {
                    within(write_then_read, write, [&[second][..], &out.through].concat())
                }
                (false, false) => all(vec![own, out.clone(), into.clone()]),
                (true, false) => {
                    let through = [&[second][..], &out.through].concat();
                    let hazard = Link { from: first, through, to: write };
                    all(vec![hazard, into.clone()])
                }
            }
        }
        _ => None,
    }
}

/// What nodes of a cycle are.
struct Nodes<'h>(&'h History);

impl Nodes<'_> {
    fn event(node: Node) -> Option<EventId> {
        match node {
            Node::Event(event) | Node::ReadOf(event) => Some(event),
            _ => None,
        }
    }

    fn is_read(&self, node: Node) -> bool {
        match node {
            Node::ReadOf(_) => true,
            Node::Event(event) => self.0.kinds_of(event) == Kinds::READS,
            _ => false,
        }
    }

    fn is_of_one_thread(&self, a: Node, b: Node) -> bool {
        let thread = |node| Self::event(node).map(|event| self.0.thread_of(event));
        thread(a).is_some() && thread(a) == thread(b)
    }

    /// Whether a node comes before another in its thread: `po`, or `amo`.
    fn is_own_order(&self, a: Node, b: Node) -> bool {
        let in_order = |a, b| self.0.program_order(a, b);
        let events = Self::event(a).zip(Self::event(b));
        events.is_some_and(|(first, second)| in_order(first, second))
            || matches!((a, b), (Node::ReadOf(read), Node::Event(write)) if read == write)
    }

    /// A cycle as one link within a thread and the others, if it has that form; links within a thread
    /// that follow each other are one.
    fn one_thread_and_back(&self, links: &[Link]) -> Option<(Link, Vec<Link>)> {
        let is_own = |link: &Link| self.is_own_order(link.from, link.to);
        let count = links.len();
        let follows = |at: usize| is_own(&links[(at + count - 1) % count]);
        let mut starts = (0..count).filter(|&at| is_own(&links[at]) && !follows(at));
        let start = starts.next().filter(|_| starts.next().is_none())?;
        let around: Vec<&Link> = (0..count).map(|at| &links[(start + at) % count]).collect();
        let owned = around.iter().take_while(|link| is_own(link)).count();
        let to = around[owned - 1].to;
        let own = Link { from: links[start].from, through: Vec::new(), to };
        Some((own, around[owned..].iter().map(|&link| link.clone()).collect()))
    }
}
