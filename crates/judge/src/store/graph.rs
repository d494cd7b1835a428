//! The graph of what must come before what.
//!
//! Nodes are the events of the history (fences included) and *gathering* nodes, which stand for
//! "all of these" so that a fence after n writes costs n edges and not n times what follows it.
//! Edges are kept in the order in which they were derived: the fixed ones first (program order,
//! fences, reads-from), then those that an engine infers. An inferred edge remembers its origin,
//! and only edges older than itself can have led to it, so a derivation is found afterwards by
//! searching the older part of the graph. Nothing has to be recorded on the way.

use evidence::{Because, Edge, Node};
use history::{EventId, History};

/// A node: an event by its index, or a gathering node beyond them.
pub(crate) type NodeId = u32;

/// An edge by its place in the order of derivation.
pub(crate) type EdgeId = u32;

const NONE: u32 = u32::MAX;

/// What an inferred edge was inferred from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Write → write: an `order` or `final` line says so.
    Given,
    /// Write → write: two accesses of one thread to one address saw them in this order.
    Coherence { first: EventId, second: EventId },
    /// Write → write, rule R6: the first comes before this read of the second.
    SeenBefore { read: EventId },
    /// Read → write: the read saw the initial value.
    OverwritesInitial,
    /// Read → write, rules A7 and R7: the write comes after this one, which was read.
    Overwrites { source: EventId },
}

#[derive(Clone, Copy, Debug)]
struct EdgeRecord {
    from: NodeId,
    to: NodeId,
    because: Because,
}

/// The graph. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    events: usize,
    /// Why a gathering node, or a fence, orders what it orders. Indexed from the first
    /// gathering node.
    gathers: Vec<Because>,
    edges: Vec<EdgeRecord>,
    /// How many of the edges are fixed; the others have an origin each.
    fixed: usize,
    origins: Vec<Origin>,
    first_out: Vec<EdgeId>,
    next_out: Vec<EdgeId>,
}

impl Graph {
    /// A graph with the events of a history and no edges.
    pub(crate) fn new(history: &History) -> Self {
        Self {
            events: history.len(),
            gathers: Vec::new(),
            edges: Vec::new(),
            fixed: 0,
            origins: Vec::new(),
            first_out: vec![NONE; history.len()],
            next_out: Vec::new(),
        }
    }

    /// How many nodes there are.
    pub(crate) fn node_count(&self) -> usize {
        self.first_out.len()
    }

    /// How many edges there are; also the id of the next one.
    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// How many edges were inferred.
    pub(crate) fn inferred_count(&self) -> usize {
        self.origins.len()
    }

    /// The event a node stands for, if it is not a gathering node.
    pub(crate) fn event(&self, node: NodeId) -> Option<EventId> {
        ((node as usize) < self.events).then(|| EventId::new(node as usize))
    }

    /// A new node that gathers others for the given reason.
    pub(crate) fn gather(&mut self, because: Because) -> NodeId {
        self.gathers.push(because);
        self.first_out.push(NONE);
        (self.first_out.len() - 1) as NodeId
    }

    /// Adds a fixed edge. All fixed edges come before the first inferred one.
    pub(crate) fn fix(&mut self, from: NodeId, to: NodeId, because: Because) {
        debug_assert!(self.origins.is_empty(), "fixed edges come first");
        self.push(EdgeRecord { from, to, because });
        self.fixed += 1;
    }

    /// Adds an inferred edge.
    pub(crate) fn infer(&mut self, from: EventId, to: EventId, origin: Origin) -> EdgeId {
        let because = match origin {
            Origin::Given | Origin::Coherence { .. } | Origin::SeenBefore { .. } => {
                Because::WriteOrder
            }
            Origin::OverwritesInitial | Origin::Overwrites { .. } => Because::FromRead,
        };
        self.origins.push(origin);
        self.push(EdgeRecord { from: node(from), to: node(to), because })
    }

    fn push(&mut self, edge: EdgeRecord) -> EdgeId {
        let id = self.edges.len() as EdgeId;
        self.next_out.push(self.first_out[edge.from as usize]);
        self.first_out[edge.from as usize] = id;
        self.edges.push(edge);
        id
    }

    /// Where an edge comes from.
    pub(crate) fn from(&self, edge: EdgeId) -> NodeId {
        self.edges[edge as usize].from
    }

    /// Where an edge leads.
    pub(crate) fn to(&self, edge: EdgeId) -> NodeId {
        self.edges[edge as usize].to
    }

    /// The origin of an edge; `None` if it is fixed.
    pub(crate) fn origin(&self, edge: EdgeId) -> Option<Origin> {
        (edge as usize).checked_sub(self.fixed).map(|i| self.origins[i])
    }

    /// The youngest edge that leaves a node.
    pub(crate) fn first(&self, node: NodeId) -> Option<EdgeId> {
        Some(self.first_out[node as usize]).filter(|&e| e != NONE)
    }

    /// The next older edge that leaves the same node.
    pub(crate) fn next(&self, edge: EdgeId) -> Option<EdgeId> {
        Some(self.next_out[edge as usize]).filter(|&e| e != NONE)
    }

    /// The edges that leave a node, youngest first.
    pub(crate) fn out(&self, node: NodeId) -> impl Iterator<Item = EdgeId> + '_ {
        std::iter::successors(self.first(node), |&edge| self.next(edge))
    }

    /// All nodes in an order that every edge follows, or a cycle.
    pub(crate) fn topological_order(&self) -> Result<Vec<NodeId>, Vec<EdgeId>> {
        let mut indegree = vec![0u32; self.node_count()];
        for edge in &self.edges {
            indegree[edge.to as usize] += 1;
        }
        let mut order: Vec<NodeId> = Vec::with_capacity(self.node_count());
        order.extend((0..self.node_count() as u32).filter(|&n| indegree[n as usize] == 0));
        let mut done = 0;
        while done < order.len() {
            let node = order[done];
            done += 1;
            for edge in self.out(node) {
                let to = self.to(edge) as usize;
                indegree[to] -= 1;
                if indegree[to] == 0 {
                    order.push(to as NodeId);
                }
            }
        }
        if order.len() == self.node_count() {
            return Ok(order);
        }
        let within: Vec<bool> = indegree.iter().map(|&d| d > 0).collect();
        Err(self.some_cycle(&within))
    }

    /// A short cycle among nodes that each have a predecessor among them.
    fn some_cycle(&self, within: &[bool]) -> Vec<EdgeId> {
        // Walk backwards until a node repeats: it lies on a cycle. Then take the shortest cycle
        // through a few nodes of that one.
        let mut into = vec![NONE; self.node_count()];
        for (id, edge) in self.edges.iter().enumerate() {
            if within[edge.from as usize] && within[edge.to as usize] {
                into[edge.to as usize] = id as EdgeId;
            }
        }
        let start = within.iter().position(|&w| w).expect("a graph without order has such nodes");
        let mut seen = vec![false; self.node_count()];
        let mut node = start as NodeId;
        while !seen[node as usize] {
            seen[node as usize] = true;
            node = self.from(into[node as usize]);
        }
        let mut on_cycle = vec![node];
        let mut walk = self.from(into[node as usize]);
        while walk != node && on_cycle.len() < 16 {
            on_cycle.push(walk);
            walk = self.from(into[walk as usize]);
        }
        on_cycle
            .into_iter()
            .filter_map(|n| self.shortest_path(n, n, self.edge_count()))
            .min_by_key(Vec::len)
            .expect("the walk came back to this node")
    }

    /// The shortest non-empty path between two nodes that uses only edges older than `limit`.
    pub(crate) fn shortest_path(
        &self,
        from: NodeId,
        to: NodeId,
        limit: usize,
    ) -> Option<Vec<EdgeId>> {
        let mut reached_by = vec![NONE; self.node_count()];
        let mut queue = vec![from];
        let mut done = 0;
        while done < queue.len() {
            let node = queue[done];
            done += 1;
            for edge in self.out(node).filter(|&e| (e as usize) < limit) {
                let next = self.to(edge);
                if next == to {
                    return Some(self.path_back(from, edge, &reached_by));
                }
                if reached_by[next as usize] == NONE && next != from {
                    reached_by[next as usize] = edge;
                    queue.push(next);
                }
            }
        }
        None
    }

    fn path_back(&self, from: NodeId, last: EdgeId, reached_by: &[EdgeId]) -> Vec<EdgeId> {
        let mut path = vec![last];
        let mut node = self.from(last);
        while node != from {
            let edge = reached_by[node as usize];
            path.push(edge);
            node = self.from(edge);
        }
        path.reverse();
        path
    }

    /// A path as evidence: steps between accesses, with fences and gathering nodes folded into
    /// the reason. The path starts and ends at accesses, or is a cycle through one.
    pub(crate) fn evidence(&self, history: &History, path: &[EdgeId]) -> Vec<Edge> {
        let is_access = |n: NodeId| self.event(n).is_some_and(|e| !history.event(e).is_fence());
        let first = path.iter().position(|&e| is_access(self.from(e))).unwrap_or(0);
        let rotated = path[first..].iter().chain(&path[..first]);
        let mut edges = Vec::with_capacity(path.len());
        let mut start: Option<(NodeId, Because)> = None;
        for &id in rotated {
            let EdgeRecord { from, to, because } = self.edges[id as usize];
            let (origin, reason) = start.take().unwrap_or((from, because));
            if is_access(to) {
                let node = |n: NodeId| Node::Event(EventId::new(n as usize));
                edges.push(Edge { from: node(origin), to: node(to), because: reason });
                continue;
            }
            let through = match self.event(to) {
                Some(_) => Because::Fence,
                None => self.gathers[to as usize - self.events],
            };
            // What passes a fence is ordered by the fence, whatever gathered it before.
            let passed = reason == Because::Fence || through == Because::Fence;
            start = Some((origin, if passed { Because::Fence } else { through }));
        }
        edges
    }
}

/// The node of an event.
pub(crate) fn node(event: EventId) -> NodeId {
    event.index() as NodeId
}
