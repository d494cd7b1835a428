//! A model evaluated where not all is known: for each set and relation what is certainly in it, and
//! what may be.
//!
//! Every operator is monotone in each operand, or antitone (`~`, and `\` in its second), so bounds
//! of the operands give bounds of the result: `must(a \ b) = must(a) \ may(b)`. If everything is
//! known the two are equal, and are the value. An axiom whose certain part already breaks it is
//! broken whatever the rest turns out to be; one whose possible part meets it is met. That is all
//! the search needs.

use crate::base::BaseRelation;
use crate::bits::{Bits, Matrix};
use crate::execution::{Execution, Knowledge, MixedSizeRules};
use crate::graph::{AxiomNode, Graph, Kind, NodeId, Operation};
use crate::syntax::Test;

/// What is known of a set or relation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Set { must: Bits, may: Bits },
    Relation { must: Matrix, may: Matrix },
}

/// Whether an axiom is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxiomStatus {
    /// However the rest turns out.
    Met,
    /// However the rest turns out.
    Broken,
    Open,
}

/// The operations of a model on one execution, those that do not depend on choices done once.
pub(crate) struct Evaluation<'a> {
    graph: &'a Graph,
    size: usize,
    values: Vec<Option<Value>>,
    /// Of mixed sizes: the execution, whose accesses are several events.
    wholes: Option<&'a Execution>,
    mixed_sizes: MixedSizeRules,
    /// The nodes that depend on `rf` or `co`, in order, without those inside of recursions.
    changing: Vec<NodeId>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        execution: &'a Execution,
        mixed_sizes: MixedSizeRules,
    ) -> Self {
        let mut evaluation = Evaluation {
            graph,
            wholes: Some(execution).filter(|execution| !execution.wholes.is_empty()),
            mixed_sizes,
            size: execution.size(),
            values: vec![None; graph.nodes.len()],
            changing: Vec::new(),
        };
        let changes = nodes_that_change(graph);
        for (at, node) in graph.nodes.iter().enumerate() {
            let id = graph.id(at);
            if node.is_open {
                continue;
            }
            if changes[at] {
                evaluation.changing.push(id);
                continue;
            }
            let value = match node.operation {
                Operation::BaseSet(set) => {
                    let set = execution.set(set);
                    Value::Set { must: set.clone(), may: set }
                }
                Operation::BaseRelation(relation) => {
                    let relation = execution.relation(relation).expect("rf and co change");
                    Value::Relation { must: relation.clone(), may: relation }
                }
                _ => {
                    evaluation.evaluate(id);
                    continue;
                }
            };
            evaluation.values[at] = Some(value);
        }
        evaluation
    }

    /// How each axiom stands with this knowledge, up to the first that is broken.
    pub(crate) fn standings(&mut self, knowledge: &Knowledge) -> Vec<AxiomStatus> {
        for at in 0..self.changing.len() {
            let id = self.changing[at];
            match self.graph.node(id).operation {
                Operation::BaseRelation(relation) => {
                    let bounds = match relation {
                        BaseRelation::ReadsFrom => &knowledge.reads_from,
                        _ => &knowledge.coherence,
                    };
                    let value =
                        Value::Relation { must: bounds.must.clone(), may: bounds.may.clone() };
                    self.values[id.index()] = Some(value);
                }
                _ => self.evaluate(id),
            }
        }
        let axioms = self.graph.axioms.iter().enumerate();
        axioms.map(|(number, axiom)| self.standing(number, axiom)).collect()
    }

    fn standing(&self, number: usize, axiom: &AxiomNode) -> AxiomStatus {
        let wholes = self.wholes.filter(|_| self.mixed_sizes.location != Some(number));
        let (certainly, possibly) = match self.value(axiom.node) {
            Value::Set { must, may } => (must.is_empty(), may.is_empty()),
            Value::Relation { must, may } => {
                let holds = |relation: &Matrix| match axiom.test {
                    Test::Acyclic => match wholes {
                        Some(execution) => {
                            execution.reaching_wholes(relation, &self.mixed_sizes).is_acyclic()
                        }
                        None => relation.is_acyclic(),
                    },
                    Test::Irreflexive => relation.is_irreflexive(),
                    Test::Empty => relation.is_empty(),
                };
                (holds(must), holds(may))
            }
        };
        // The tests are antitone: what holds of all that may be holds of what is.
        match (possibly, certainly, axiom.negated) {
            (true, _, false) | (_, false, true) => AxiomStatus::Met,
            (_, false, false) | (true, _, true) => AxiomStatus::Broken,
            _ => AxiomStatus::Open,
        }
    }

    fn value(&self, id: NodeId) -> &Value {
        self.values[id.index()].as_ref().expect("operands come before what is made from them")
    }

    fn set(&self, id: NodeId) -> (&Bits, &Bits) {
        match self.value(id) {
            Value::Set { must, may } => (must, may),
            Value::Relation { .. } => unreachable!("elaboration distinguishes sets from relations"),
        }
    }

    fn relation(&self, id: NodeId) -> (&Matrix, &Matrix) {
        match self.value(id) {
            Value::Relation { must, may } => (must, may),
            Value::Set { .. } => unreachable!("elaboration distinguishes sets from relations"),
        }
    }

    fn nothing(&self, kind: Kind) -> Value {
        match kind {
            Kind::Set => Value::Set { must: Bits::empty(self.size), may: Bits::empty(self.size) },
            Kind::Relation => {
                Value::Relation { must: Matrix::empty(self.size), may: Matrix::empty(self.size) }
            }
        }
    }

    fn evaluate(&mut self, id: NodeId) {
        let node = *self.graph.node(id);
        let relation = |inner: NodeId, apply: &dyn Fn(&Matrix) -> Matrix| {
            let (must, may) = self.relation(inner);
            Value::Relation { must: apply(must), may: apply(may) }
        };
        let value = match node.operation {
            Operation::Empty(kind) => self.nothing(kind),
            Operation::Universe => {
                let all = Bits::of(self.size, |_| true);
                Value::Set { must: all.clone(), may: all }
            }
            Operation::Union(left, right) => self.combine(left, right, |a, b| a | b, false),
            Operation::Intersection(left, right) => self.combine(left, right, |a, b| a & b, false),
            Operation::Difference(left, right) => self.combine(left, right, |a, b| a & !b, true),
            Operation::Complement(inner) => match self.value(inner) {
                Value::Set { must, may } => {
                    Value::Set { must: may.complement(), may: must.complement() }
                }
                Value::Relation { must, may } => {
                    Value::Relation { must: may.complement(), may: must.complement() }
                }
            },
            Operation::Sequence(left, right) => {
                let ((must, may), (must_then, may_then)) =
                    (self.relation(left), self.relation(right));
                Value::Relation { must: must.then(must_then), may: may.then(may_then) }
            }
            Operation::Inverse(inner) => relation(inner, &Matrix::inverse),
            Operation::Plus(inner) => relation(inner, &Matrix::closure),
            Operation::Optional(inner) => relation(inner, &|relation| {
                relation.with(&Matrix::of(self.size, |a, b| a == b), |a, b| a | b)
            }),
            Operation::Identity(inner) => {
                let (must, may) = self.set(inner);
                Value::Relation { must: Matrix::identity_on(must), may: Matrix::identity_on(may) }
            }
            Operation::Product(left, right) => {
                let ((must, may), (must_to, may_to)) = (self.set(left), self.set(right));
                Value::Relation {
                    must: Matrix::product(must, must_to),
                    may: Matrix::product(may, may_to),
                }
            }
            Operation::Domain(inner) => {
                let (must, may) = self.relation(inner);
                Value::Set { must: must.domain(), may: may.domain() }
            }
            Operation::Range(inner) => {
                let (must, may) = self.relation(inner);
                Value::Set { must: must.range(), may: may.range() }
            }
            Operation::Fixpoint(recursion, index) => {
                // All fixpoints of a recursion are found with its first.
                if index == 0 {
                    self.solve(recursion);
                }
                let body = self.graph.recursions[recursion as usize].variables[index as usize].1;
                self.value(body).clone()
            }
            Operation::BaseSet(_) | Operation::BaseRelation(_) | Operation::Variable(..) => return,
        };
        self.values[id.index()] = Some(value);
    }

    /// Two sets or two relations, word by word; `is_taken_away` if the second is antitone.
    fn combine(
        &self,
        left: NodeId,
        right: NodeId,
        words: impl Fn(u64, u64) -> u64,
        is_taken_away: bool,
    ) -> Value {
        match (self.value(left), self.value(right)) {
            (Value::Set { must, may }, Value::Set { must: other_must, may: other_may }) => {
                let (low, high) =
                    if is_taken_away { (other_may, other_must) } else { (other_must, other_may) };
                Value::Set { must: must.with(low, &words), may: may.with(high, &words) }
            }
            (
                Value::Relation { must, may },
                Value::Relation { must: other_must, may: other_may },
            ) => {
                let (low, high) =
                    if is_taken_away { (other_may, other_must) } else { (other_must, other_may) };
                Value::Relation { must: must.with(low, &words), may: may.with(high, &words) }
            }
            _ => unreachable!("elaboration distinguishes sets from relations"),
        }
    }

    /// The least fixpoint of a recursion: from nothing, until nothing is added.
    fn solve(&mut self, number: u32) {
        let graph = self.graph;
        let recursion = &graph.recursions[number as usize];
        for &(variable, _) in &recursion.variables {
            self.values[variable.index()] = Some(self.nothing(graph.kind(variable)));
        }
        loop {
            for &node in &recursion.nodes {
                self.evaluate(node);
            }
            let mut changed = false;
            for &(variable, body) in &recursion.variables {
                if self.value(variable) != self.value(body) {
                    self.values[variable.index()] = Some(self.value(body).clone());
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// Which nodes depend on `rf` or `co`. A fixpoint does if a node of its recursion does.
fn nodes_that_change(graph: &Graph) -> Vec<bool> {
    let mut changes = vec![false; graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        changes[at] = match node.operation {
            Operation::BaseRelation(relation) => {
                matches!(relation, BaseRelation::ReadsFrom | BaseRelation::Coherence)
            }
            Operation::Fixpoint(recursion, _) => {
                let recursion = &graph.recursions[recursion as usize];
                recursion.nodes.iter().any(|node| changes[node.index()])
                    || recursion.variables.iter().any(|(_, body)| changes[body.index()])
            }
            operation => {
                let operands = crate::graph::operands(operation);
                operands.into_iter().flatten().any(|operand| changes[operand.index()])
            }
        };
    }
    changes
}
