//! Paths and cycles by breadth-first search, for provers that need not be fast.

use std::collections::{BTreeMap, VecDeque};

use evidence::{Because, Edge, Literal, Node};

/// An edge and the assumptions it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Supported {
    pub(crate) edge: Edge,
    pub(crate) rests_on: Vec<Literal>,
}

impl Supported {
    pub(crate) fn new(from: Node, to: Node, because: Because, rests_on: Vec<Literal>) -> Self {
        Self { edge: Edge { from, to, because }, rests_on }
    }
}

/// A shortest path of at least one edge.
pub(crate) fn path(edges: &[Supported], from: Node, to: Node) -> Option<Vec<Supported>> {
    let mut found: BTreeMap<Node, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for (index, supported) in edges.iter().enumerate().filter(|(_, s)| s.edge.from == node) {
            let next = supported.edge.to;
            if found.contains_key(&next) {
                continue;
            }
            found.insert(next, index);
            if next == to {
                let mut steps = Vec::new();
                let mut at = to;
                loop {
                    let step = &edges[found[&at]];
                    steps.push(step.clone());
                    at = step.edge.from;
                    if at == from {
                        steps.reverse();
                        return Some(steps);
                    }
                }
            }
            queue.push_back(next);
        }
    }
    None
}

/// A shortest cycle.
pub(crate) fn cycle(edges: &[Supported]) -> Option<Vec<Supported>> {
    let mut nodes: Vec<Node> = edges.iter().map(|s| s.edge.from).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().filter_map(|node| path(edges, node, node)).min_by_key(Vec::len)
}

/// The edges alone.
pub(crate) fn edges(path: &[Supported]) -> Vec<Edge> {
    path.iter().map(|s| s.edge).collect()
}

/// What a path rests on, each assumption once.
pub(crate) fn rests_on(path: &[Supported]) -> Vec<Literal> {
    let mut all: Vec<Literal> = path.iter().flat_map(|s| s.rests_on.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
