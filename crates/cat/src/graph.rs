//! A model as a graph of operations, each of them once.
//!
//! Names, functions and files are gone; what is left are nodes, each of them a set or a relation
//! made from nodes before it. Equal nodes are one node, so a definition that is used five times is
//! evaluated once. The nodes of a `let rec` depend on the variables of its [`Recursion`] and are
//! evaluated again and again until nothing changes; everything else is evaluated in the order of
//! the list.

use rustc_hash::FxHashMap;

use crate::base::{BaseRelation, BaseSet};
use crate::syntax::{Place, Test};

/// A node of the graph: its number in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Set,
    Relation,
}

/// How a node is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// A set or relation of the execution.
    BaseSet(BaseSet),
    BaseRelation(BaseRelation),
    /// Nothing, of either kind.
    Empty(Kind),
    /// All events.
    Universe,
    /// Of two sets or two relations.
    Union(NodeId, NodeId),
    Intersection(NodeId, NodeId),
    Difference(NodeId, NodeId),
    Complement(NodeId),
    /// Of relations.
    Sequence(NodeId, NodeId),
    Inverse(NodeId),
    /// One step or more.
    Plus(NodeId),
    /// `r | id`.
    Optional(NodeId),
    /// From sets to relations.
    Identity(NodeId),
    Product(NodeId, NodeId),
    /// From relations to sets.
    Domain(NodeId),
    Range(NodeId),
    /// The variable of a recursion: which recursion, and which of its variables.
    Variable(u32, u32),
    /// What the variable is in the least fixpoint.
    Fixpoint(u32, u32),
}

/// A node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) operation: Operation,
    pub(crate) kind: Kind,
    /// Whether it depends on the variable of a recursion.
    pub(crate) is_open: bool,
}

/// `let rec a = … and b = …`: the least sets and relations that satisfy all of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recursion {
    /// For each variable its node, and the node of its body.
    pub(crate) variables: Vec<(NodeId, NodeId)>,
    /// The nodes between them that depend on a variable of this recursion, in order.
    pub(crate) nodes: Vec<NodeId>,
}

/// A condition that every execution has to meet.
#[derive(Debug, Clone)]
pub(crate) struct AxiomNode {
    pub(crate) test: Test,
    pub(crate) negated: bool,
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// All operations of a model, and its axioms.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) recursions: Vec<Recursion>,
    pub(crate) axioms: Vec<AxiomNode>,
    known: FxHashMap<Operation, NodeId>,
}

impl Graph {
    /// The node at a place of the list.
    pub(crate) fn id(&self, at: usize) -> NodeId {
        NodeId(at as u32)
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.node(id).kind
    }

    /// The node of an operation, a new one if there is none yet and nothing simpler is the same.
    pub(crate) fn add(&mut self, operation: Operation, kind: Kind) -> NodeId {
        if let Some(simpler) = self.simpler(operation) {
            return match simpler {
                Simpler::Empty => self.add(Operation::Empty(kind), kind),
                Simpler::Node(node) => node,
            };
        }
        if let Some(&known) = self.known.get(&operation) {
            return known;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("elaboration is bounded"));
        let is_open = match operation {
            Operation::Variable(..) => true,
            other => operands(other).into_iter().flatten().any(|each| self.node(each).is_open),
        };
        self.nodes.push(Node { operation, kind, is_open });
        self.known.insert(operation, id);
        id
    }

    /// What an operation with the empty set or relation is, or with `id`: architectures lack events that
    /// files speak of, and files of herdtools end relations in `; sm`, which is `id` here.
    fn simpler(&self, operation: Operation) -> Option<Simpler> {
        let is_empty = |id| matches!(self.node(id).operation, Operation::Empty(_));
        let is_same = |id| self.node(id).operation == Operation::BaseRelation(BaseRelation::Same);
        match operation {
            Operation::Union(a, b) | Operation::Difference(b, a) if is_empty(a) => {
                (self.kind(a) == self.kind(b)).then_some(Simpler::Node(b))
            }
            Operation::Union(a, b) if is_empty(b) => {
                (self.kind(a) == self.kind(b)).then_some(Simpler::Node(a))
            }
            Operation::Difference(a, _) if is_empty(a) => Some(Simpler::Empty),
            Operation::Intersection(a, b)
            | Operation::Sequence(a, b)
            | Operation::Product(a, b)
                if is_empty(a) || is_empty(b) =>
            {
                Some(Simpler::Empty)
            }
            Operation::Sequence(a, b) if is_same(b) => Some(Simpler::Node(a)),
            Operation::Sequence(a, b) if is_same(a) => Some(Simpler::Node(b)),
            Operation::Identity(inner)
            | Operation::Plus(inner)
            | Operation::Inverse(inner)
            | Operation::Domain(inner)
            | Operation::Range(inner)
                if is_empty(inner) =>
            {
                Some(Simpler::Empty)
            }
            _ => None,
        }
    }

    /// A new recursion with variables of these kinds; the nodes of its variables.
    pub(crate) fn begin_recursion(&mut self, kinds: &[Kind]) -> Vec<NodeId> {
        let recursion = self.recursions.len() as u32;
        let variable =
            |(index, &kind)| self.add(Operation::Variable(recursion, index as u32), kind);
        let variables: Vec<NodeId> = kinds.iter().enumerate().map(variable).collect();
        let unknown = variables.iter().map(|&node| (node, node)).collect();
        self.recursions.push(Recursion { variables: unknown, nodes: Vec::new() });
        variables
    }

    /// Closes the last recursion with the bodies of its variables; its fixpoints. Recursions are
    /// not nested, so every open node since its first variable is one of its own.
    pub(crate) fn end_recursion(&mut self, bodies: &[NodeId]) -> Vec<NodeId> {
        let number = self.recursions.len() as u32 - 1;
        let recursion = &mut self.recursions[number as usize];
        for (variable, &body) in recursion.variables.iter_mut().zip(bodies) {
            variable.1 = body;
        }
        let last = recursion.variables.iter().map(|each| each.0.index()).max();
        let first = last.map_or(self.nodes.len(), |last| last + 1);
        let own = (first..self.nodes.len()).filter(|&at| self.nodes[at].is_open);
        recursion.nodes = own.map(|at| NodeId(at as u32)).collect();
        let kinds: Vec<Kind> = bodies.iter().map(|&body| self.kind(body)).collect();
        let fixpoint = |(index, kind)| self.add(Operation::Fixpoint(number, index as u32), kind);
        kinds.into_iter().enumerate().map(fixpoint).collect()
    }
}

/// What an operation comes to without a node of its own.
enum Simpler {
    Empty,
    Node(NodeId),
}

/// What a node is made from.
pub(crate) fn operands(operation: Operation) -> [Option<NodeId>; 2] {
    match operation {
        Operation::Union(left, right)
        | Operation::Intersection(left, right)
        | Operation::Difference(left, right)
        | Operation::Sequence(left, right)
        | Operation::Product(left, right) => [Some(left), Some(right)],
        Operation::Complement(inner)
        | Operation::Inverse(inner)
        | Operation::Plus(inner)
        | Operation::Optional(inner)
        | Operation::Identity(inner)
        | Operation::Domain(inner)
        | Operation::Range(inner) => [Some(inner), None],
        Operation::BaseSet(_)
        | Operation::BaseRelation(_)
        | Operation::Empty(_)
        | Operation::Universe
        | Operation::Variable(..)
        | Operation::Fixpoint(..) => [None, None],
    }
}
