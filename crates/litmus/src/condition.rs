//! What is asked about final states: a quantifier, and a proposition over places.
//!
//! A proposition is kept as a list of nodes in which parts stand before the whole, so that neither
//! its size nor its depth is a matter of the stack.

use crate::test::{Constant, Litmus, Place};

/// A condition on all final states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The quantifier over states.
    pub quantifier: Quantifier,
    /// The proposition about each state.
    pub proposition: Proposition,
}

/// How a condition speaks of the final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// `exists`: some state satisfies it.
    Exists,
    /// `~exists`: none does.
    NotExists,
    /// `forall`: all do.
    ForAll,
}

/// Something that is true or false in a final state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposition {
    /// Its parts; each stands after those it is made of, and the last is the whole.
    pub(crate) nodes: Vec<Node>,
}

/// A part of a proposition. Numbers are indices of earlier parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// `true`, `false`
    Constant(bool),
    /// `0:rax=1`
    Equals(Place, Constant),
    /// `0:rax=1:rbx`
    Same(Place, Place),
    /// `not p`
    Not(u32),
    /// `p /\ q`
    And(u32, u32),
    /// `p \/ q`
    Or(u32, u32),
    /// `p => q`
    Implies(u32, u32),
}

impl Quantifier {
    /// What herd7 calls a test with this quantifier.
    pub fn kind(self) -> &'static str {
        match self {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::ForAll => "Required",
        }
    }

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        }
    }

    /// Whether the condition holds if `satisfy` states satisfy the proposition and `do_not` states
    /// do not.
    pub fn holds(self, satisfy: u128, do_not: u128) -> bool {
        match self {
            Quantifier::Exists => satisfy > 0,
            Quantifier::NotExists => satisfy == 0,
            Quantifier::ForAll => do_not == 0,
        }
    }
}

impl Proposition {
    /// What every state satisfies.
    pub fn always() -> Self {
        Proposition { nodes: vec![Node::Constant(true)] }
    }

    /// Both this and another.
    pub(crate) fn and(&self, other: &Proposition) -> Proposition {
        let first = self.nodes.len() as u32;
        let mut nodes = self.nodes.clone();
        nodes.extend(other.nodes.iter().map(|node| match *node {
            Node::Not(p) => Node::Not(p + first),
            Node::And(p, q) => Node::And(p + first, q + first),
            Node::Or(p, q) => Node::Or(p + first, q + first),
            Node::Implies(p, q) => Node::Implies(p + first, q + first),
            atom => atom,
        }));
        nodes.push(Node::And(first - 1, nodes.len() as u32 - 1));
        Proposition { nodes }
    }

    /// Its parts, of which the last is the whole.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The places it speaks of.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.nodes
            .iter()
            .flat_map(|node| match *node {
                Node::Equals(place, _) => [Some(place), None],
                Node::Same(one, other) => [Some(one), Some(other)],
                _ => [None, None],
            })
            .flatten()
    }

    /// Whether it is true, given which of its atoms are. `room` is scratch space.
    pub(crate) fn holds(&self, room: &mut Vec<bool>, atom: impl Fn(&Node) -> bool) -> bool {
        room.clear();
        for node in &self.nodes {
            let at = |index: u32| room[index as usize];
            let truth = match *node {
                Node::Constant(truth) => truth,
                Node::Equals(..) | Node::Same(..) => atom(node),
                Node::Not(p) => !at(p),
                Node::And(p, q) => at(p) && at(q),
                Node::Or(p, q) => at(p) || at(q),
                Node::Implies(p, q) => !at(p) || at(q),
            };
            room.push(truth);
        }
        room.last().copied().unwrap_or(true)
    }

    /// As herd7 writes it, in parentheses.
    pub fn spelled(&self, test: &Litmus) -> String {
        enum Piece {
            Node(u32, u8),
            Text(&'static str),
        }
        let mut text = String::from("(");
        let last = self.nodes.len().saturating_sub(1) as u32;
        let mut rest = vec![Piece::Node(last, 0)];
        while let Some(piece) = rest.pop() {
            let (index, around) = match piece {
                Piece::Text(piece) => {
                    text.push_str(piece);
                    continue;
                }
                Piece::Node(index, around) => (index, around),
            };
            let (strength, parts) = match self.nodes[index as usize] {
                Node::Constant(truth) => {
                    text.push_str(if truth { "true" } else { "false" });
                    continue;
                }
                Node::Equals(place, value) => {
                    text.push_str(&format!("{}={}", test.place(place), test.constant(value)));
                    continue;
                }
                Node::Same(one, other) => {
                    text.push_str(&format!("{}={}", test.place(one), test.place(other)));
                    continue;
                }
                Node::Not(p) => (4, vec![Piece::Text("not "), Piece::Node(p, 4)]),
                Node::Implies(p, q) => {
                    (0, vec![Piece::Node(p, 4), Piece::Text(" => "), Piece::Node(q, 4)])
                }
                Node::And(p, q) => {
                    (2, vec![Piece::Node(p, 2), Piece::Text(" /\\ "), Piece::Node(q, 3)])
                }
                Node::Or(p, q) => {
                    (1, vec![Piece::Node(p, 1), Piece::Text(" \\/ "), Piece::Node(q, 2)])
                }
            };
            let brackets = strength < around;
            if brackets {
                text.push('(');
                rest.push(Piece::Text(")"));
            }
            rest.extend(parts.into_iter().rev());
        }
        text.push(')');
        text
    }
}

impl Condition {
    /// As herd7 writes it: `exists (0:rax=0 /\ 1:rax=0)`.
    pub fn spelled(&self, test: &Litmus) -> String {
        format!("{} {}", self.quantifier.name(), self.proposition.spelled(test))
    }
}
