//! The graph of what must come before what.
//!
//! Nodes are the events of the history (fences included) and *gathering* nodes, which stand for
//! "all of these" so that a fence after n writes costs n edges and not n times what follows it.
//! Edges are numbered in the order in which they were derived: the fixed ones first (program
//! order, fences, reads-from), then those that an engine infers. An inferred edge remembers its
//! origin, and only edges older than itself can have led to it, so a derivation is found afterwards
//! by searching the older part of the graph. Nothing has to be recorded on the way.
//!
//! Fixed edges are many and never change: they lie side by side, grouped by source. Inferred edges
//! are few: lists, youngest first, so that the youngest can be taken back.

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
    /// Write → write: an engine tries it.
    Tried,
}

#[derive(Clone, Copy, Debug)]
struct Inferred {
    from: NodeId,
    to: NodeId,
    /// The next older inferred edge from the same node.
    next: EdgeId,
    origin: Origin,
}

/// Takes edges as they are made.
pub(crate) trait EdgeSink {
    /// A new node that gathers others for the given reason. Edges to it are made before edges from
    /// it.
    fn gather(&mut self, because: Because) -> NodeId;

    /// Takes an edge.
    fn fix(&mut self, from: NodeId, to: NodeId, because: Because);
}

/// Fixed edges while they are collected. Sealing a graph groups them by source.
#[derive(Debug)]
pub(crate) struct FixedEdges {
    events: usize,
    gathers: Vec<Because>,
    edges: Vec<(NodeId, NodeId, Because)>,
}

impl FixedEdges {
    /// The events of a history and no edges.
    pub(crate) fn new(history: &History) -> Self {
        let edges = Vec::with_capacity(2 * history.len());
        Self { events: history.len(), gathers: Vec::new(), edges }
    }

    /// The graph of these edges.
    pub(crate) fn seal(self) -> Graph {
        let nodes = self.events + self.gathers.len();
        let mut starts = vec![0u32; nodes + 1];
        for &(from, ..) in &self.edges {
            starts[from as usize] += 1;
        }
        // From counts to ends; filling from the back turns the ends into starts.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut targets = vec![0; self.edges.len()];
        let mut because = vec![Because::ProgramOrder; self.edges.len()];
        for &(from, to, why) in self.edges.iter().rev() {
            let place = &mut starts[from as usize];
            *place -= 1;
            targets[*place as usize] = to;
            because[*place as usize] = why;
        }
        Graph {
            events: self.events,
            gathers: self.gathers,
            starts,
            targets,
            because,
            youngest: vec![NONE; nodes],
            inferred: Vec::new(),
        }
    }
}

impl EdgeSink for FixedEdges {
    fn gather(&mut self, because: Because) -> NodeId {
        self.gathers.push(because);
        (self.events + self.gathers.len() - 1) as NodeId
    }

    #[inline]
    fn fix(&mut self, from: NodeId, to: NodeId, because: Because) {
        self.edges.push((from, to, because));
    }
}

/// The graph. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    events: usize,
    /// Why a gathering node orders what it orders. Indexed from the first gathering node.
    gathers: Vec<Because>,
    /// `targets[starts[n]..starts[n + 1]]` are where the fixed edges of `n` lead.
    starts: Vec<u32>,
    targets: Vec<NodeId>,
    because: Vec<Because>,
    /// The youngest inferred edge from each node, as an index into `inferred`.
    youngest: Vec<u32>,
    inferred: Vec<Inferred>,
}

impl Graph {
    /// How many nodes there are.
    pub(crate) fn node_count(&self) -> usize {
        self.youngest.len()
    }

    /// How many edges there are; also the id of the next one.
    pub(crate) fn edge_count(&self) -> usize {
        self.targets.len() + self.inferred.len()
    }

    /// The inferred edges, oldest first.
    pub(crate) fn inferred_edges(&self) -> std::ops::Range<EdgeId> {
        self.targets.len() as EdgeId..self.edge_count() as EdgeId
    }

    /// How many edges were inferred.
    pub(crate) fn inferred_count(&self) -> usize {
        self.inferred.len()
    }

    /// The event a node stands for, if it is not a gathering node.
    pub(crate) fn event(&self, node: NodeId) -> Option<EventId> {
        ((node as usize) < self.events).then(|| EventId::new(node as usize))
    }

    /// Adds an inferred edge.
    pub(crate) fn infer(&mut self, from: EventId, to: EventId, origin: Origin) {
        let next = std::mem::replace(&mut self.youngest[from.index()], self.inferred.len() as u32);
        self.inferred.push(Inferred { from: node(from), to: node(to), next, origin });
    }

    /// Takes back the youngest inferred edges until this many are left; calls `f` with where each
    /// led.
    pub(crate) fn take_back_to(&mut self, count: usize, mut f: impl FnMut(NodeId)) {
        while self.inferred.len() > count
            && let Some(edge) = self.inferred.pop()
        {
            self.youngest[edge.from as usize] = edge.next;
            f(edge.to);
        }
    }

    /// Where an edge comes from.
    pub(crate) fn from(&self, edge: EdgeId) -> NodeId {
        match (edge as usize).checked_sub(self.targets.len()) {
            Some(i) => self.inferred[i].from,
            None => self.starts.partition_point(|&start| start <= edge) as NodeId - 1,
        }
    }

    /// Where an edge leads.
    pub(crate) fn to(&self, edge: EdgeId) -> NodeId {
        match (edge as usize).checked_sub(self.targets.len()) {
            Some(i) => self.inferred[i].to,
            None => self.targets[edge as usize],
        }
    }

    /// The origin of an edge; `None` if it is fixed.
    pub(crate) fn origin(&self, edge: EdgeId) -> Option<Origin> {
        (edge as usize).checked_sub(self.targets.len()).map(|i| self.inferred[i].origin)
    }

    fn because(&self, edge: EdgeId) -> Because {
        match self.origin(edge) {
            None => self.because[edge as usize],
            Some(Origin::OverwritesInitial | Origin::Overwrites { .. }) => Because::FromRead,
            Some(_) => Because::WriteOrder,
        }
    }

    /// The first edge that leaves a node: its inferred edges come first, youngest first.
    pub(crate) fn first(&self, node: NodeId) -> Option<EdgeId> {
        match self.youngest[node as usize] {
            NONE => self.first_fixed(node),
            youngest => Some(youngest + self.targets.len() as u32),
        }
    }

    /// The edge that leaves a node after this one.
    pub(crate) fn next(&self, node: NodeId, edge: EdgeId) -> Option<EdgeId> {
        match (edge as usize).checked_sub(self.targets.len()) {
            Some(i) => match self.inferred[i].next {
                NONE => self.first_fixed(node),
                next => Some(next + self.targets.len() as u32),
            },
            None => Some(edge + 1).filter(|&e| e < self.starts[node as usize + 1]),
        }
    }

    fn first_fixed(&self, node: NodeId) -> Option<EdgeId> {
        let start = self.starts[node as usize];
        (start < self.starts[node as usize + 1]).then_some(start)
    }

    /// The edges that leave a node.
    pub(crate) fn out(&self, node: NodeId) -> impl Iterator<Item = EdgeId> + '_ {
        std::iter::successors(self.first(node), move |&edge| self.next(node, edge))
    }

    /// Where the fixed edges of a node lead.
    pub(crate) fn fixed_successors(&self, node: NodeId) -> &[NodeId] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Where the inferred edges of a node lead.
    pub(crate) fn inferred_successors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let edge = |i: u32| (i != NONE).then(|| &self.inferred[i as usize]);
        std::iter::successors(edge(self.youngest[node as usize]), move |e| edge(e.next))
            .map(|e| e.to)
    }

    /// Where all edges of a node lead.
    pub(crate) fn successors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.inferred_successors(node).chain(self.fixed_successors(node).iter().copied())
    }

    /// How many edges lead to each node.
    pub(crate) fn indegrees(&self) -> Vec<u32> {
        let mut indegree = vec![0u32; self.node_count()];
        let inferred = self.inferred.iter().map(|e| e.to);
        for to in inferred.chain(self.targets.iter().copied()) {
            indegree[to as usize] += 1;
        }
        indegree
    }

    /// All nodes in an order that every edge follows, or a cycle.
    pub(crate) fn topological_order(&self) -> Result<Vec<NodeId>, Vec<EdgeId>> {
        let mut indegree = self.indegrees();
        let mut order: Vec<NodeId> = Vec::with_capacity(self.node_count());
        order.extend((0..self.node_count() as u32).filter(|&n| indegree[n as usize] == 0));
        let mut done = 0;
        while done < order.len() {
            let node = order[done];
            done += 1;
            for to in self.successors(node) {
                indegree[to as usize] -= 1;
                if indegree[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        if order.len() == self.node_count() {
            return Ok(order);
        }
        Err(self.some_cycle(|n| indegree[n as usize] > 0))
    }

    /// A short cycle among nodes that each have a predecessor among them.
    pub(crate) fn some_cycle(&self, within: impl Fn(NodeId) -> bool) -> Vec<EdgeId> {
        // Walk backwards until a node repeats: it lies on a cycle. Then take the shortest cycle
        // through a few nodes of that one.
        let mut before = vec![NONE; self.node_count()];
        let mut start = NONE;
        for node in (0..self.node_count() as NodeId).filter(|&n| within(n)) {
            start = start.min(node);
            for to in self.successors(node).filter(|&to| within(to)) {
                before[to as usize] = node;
            }
        }
        let mut seen = vec![false; self.node_count()];
        let mut node = start;
        while !seen[node as usize] {
            seen[node as usize] = true;
            node = before[node as usize];
        }
        let mut on_cycle = vec![node];
        let mut walk = before[node as usize];
        while walk != node && on_cycle.len() < 16 {
            on_cycle.push(walk);
            walk = before[walk as usize];
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
            let (from, to, because) = (self.from(id), self.to(id), self.because(id));
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
