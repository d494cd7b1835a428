//! Cycles through chosen edges: the conflicts of a search.
//!
//! Given the saturated graph and the edges that an assignment activates, finds whether they close
//! cycles, and if so several of them, each with as few chosen edges as possible: fewer choices on
//! a cycle make a stronger clause. Strongly connected components first (iterative Tarjan), then
//! one 0-1 breadth-first search per chosen edge inside a component, where edges of the graph cost
//! nothing and chosen ones cost one.

use std::collections::VecDeque;

use super::choices::{Combined, Hop};
use super::graph::NodeId;

const NONE: u32 = u32::MAX;

/// Up to `most` cycles, through different chosen edges where possible; none if there is none.
pub(crate) fn cycles(edges: &Combined, most: usize) -> Vec<Vec<Hop>> {
    let component = components(edges);
    let mut found = Vec::new();
    let mut search = Search::new(edges, &component);
    let mut covered = vec![false; edges.chosen.len()];
    for (i, edge) in edges.chosen.iter().enumerate() {
        if found.len() >= most {
            break;
        }
        if covered[i] || component[edge.from as usize] != component[edge.to as usize] {
            continue;
        }
        if let Some(mut cycle) = search.path(edge.to, edge.from) {
            cycle.push(Step::Chosen(i as u32));
            for step in &cycle {
                if let Step::Chosen(i) = step {
                    covered[*i as usize] = true;
                }
            }
            found.push(cycle.into_iter().map(|s| s.hop(edges)).collect());
        }
    }
    found
}

/// A step of a path: an edge of the graph, or a chosen edge by index.
#[derive(Clone, Copy)]
enum Step {
    Fixed(u32),
    Chosen(u32),
}

impl Step {
    fn hop(self, edges: &Combined) -> Hop {
        match self {
            Step::Fixed(edge) => Hop::Fixed(edge),
            Step::Chosen(i) => Hop::Chosen(edges.chosen[i as usize]),
        }
    }

    fn from(self, edges: &Combined) -> NodeId {
        match self {
            Step::Fixed(edge) => edges.graph.from(edge),
            Step::Chosen(i) => edges.chosen[i as usize].from,
        }
    }
}

/// The 0-1 breadth-first search, with tables that are reset lazily.
struct Search<'a> {
    edges: &'a Combined<'a>,
    component: &'a [u32],
    round: u32,
    seen: Vec<u32>,
    done: Vec<u32>,
    distance: Vec<u32>,
    reached_by: Vec<Step>,
}

impl<'a> Search<'a> {
    fn new(edges: &'a Combined<'a>, component: &'a [u32]) -> Self {
        let n = component.len();
        Self {
            edges,
            component,
            round: 0,
            seen: vec![0; n],
            done: vec![0; n],
            distance: vec![0; n],
            reached_by: vec![Step::Fixed(NONE); n],
        }
    }

    fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Step>> {
        self.round += 1;
        let mut queue = VecDeque::from([from]);
        self.seen[from as usize] = self.round;
        self.distance[from as usize] = 0;
        while let Some(n) = queue.pop_front() {
            if self.done[n as usize] == self.round {
                continue;
            }
            self.done[n as usize] = self.round;
            if n == to {
                return Some(self.path_back(from, to));
            }
            let distance = self.distance[n as usize];
            let mut next = self.edges.graph.first(n);
            while let Some(edge) = next {
                let target = self.edges.graph.to(edge);
                if self.improve(n, target, distance, Step::Fixed(edge)) {
                    queue.push_front(target);
                }
                next = self.edges.graph.next(n, edge);
            }
            let start = self.edges.chosen.partition_point(|c| c.from < n);
            for (i, edge) in self.edges.chosen_from(n).iter().enumerate() {
                if self.improve(n, edge.to, distance + 1, Step::Chosen((start + i) as u32)) {
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    fn improve(&mut self, from: NodeId, to: NodeId, distance: u32, by: Step) -> bool {
        let t = to as usize;
        let better = self.component[from as usize] == self.component[t]
            && self.done[t] != self.round
            && (self.seen[t] != self.round || distance < self.distance[t]);
        if better {
            self.seen[t] = self.round;
            self.distance[t] = distance;
            self.reached_by[t] = by;
        }
        better
    }

    fn path_back(&self, from: NodeId, to: NodeId) -> Vec<Step> {
        let mut path = Vec::new();
        let mut n = to;
        while n != from {
            let step = self.reached_by[n as usize];
            path.push(step);
            n = step.from(self.edges);
        }
        path.reverse();
        path
    }
}

/// The strongly connected component of every node.
fn components(edges: &Combined) -> Vec<u32> {
    let n = edges.graph.node_count();
    let mut tarjan = Tarjan {
        edges,
        index: vec![NONE; n],
        low: vec![0; n],
        component: vec![NONE; n],
        stack: Vec::new(),
        next_index: 0,
        next_component: 0,
    };
    for node in 0..n as NodeId {
        if tarjan.index[node as usize] == NONE {
            tarjan.visit(node);
        }
    }
    tarjan.component
}

struct Tarjan<'a> {
    edges: &'a Combined<'a>,
    index: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<NodeId>,
    next_index: u32,
    next_component: u32,
}

/// A node being visited, and which of its edges come next.
struct Frame {
    node: NodeId,
    fixed: Option<u32>,
    chosen: usize,
}

impl Tarjan<'_> {
    fn enter(&mut self, node: NodeId) -> Frame {
        self.index[node as usize] = self.next_index;
        self.low[node as usize] = self.next_index;
        self.next_index += 1;
        self.stack.push(node);
        Frame { node, fixed: self.edges.graph.first(node), chosen: 0 }
    }

    fn successor(&self, frame: &mut Frame) -> Option<NodeId> {
        if let Some(edge) = frame.fixed {
            frame.fixed = self.edges.graph.next(frame.node, edge);
            return Some(self.edges.graph.to(edge));
        }
        let chosen = self.edges.chosen_from(frame.node).get(frame.chosen)?;
        frame.chosen += 1;
        Some(chosen.to)
    }

    fn visit(&mut self, root: NodeId) {
        let mut frames = vec![self.enter(root)];
        while let Some(frame) = frames.last_mut() {
            let node = frame.node as usize;
            match self.successor(frame) {
                Some(to) if self.index[to as usize] == NONE => frames.push(self.enter(to)),
                Some(to) => {
                    if self.component[to as usize] == NONE {
                        self.low[node] = self.low[node].min(self.index[to as usize]);
                    }
                }
                None => {
                    frames.pop();
                    if let Some(parent) = frames.last() {
                        let parent = parent.node as usize;
                        self.low[parent] = self.low[parent].min(self.low[node]);
                    }
                    if self.low[node] == self.index[node] {
                        self.close(node as NodeId);
                    }
                }
            }
        }
    }

    fn close(&mut self, root: NodeId) {
        while let Some(node) = self.stack.pop() {
            self.component[node as usize] = self.next_component;
            if node == root {
                break;
            }
        }
        self.next_component += 1;
    }
}
