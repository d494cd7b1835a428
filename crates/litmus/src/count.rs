//! How many outcomes satisfy a proposition, without going through them one by one.
//!
//! Down the diagram of the outcomes, each value decides some atoms of the proposition. As soon as
//! these decide the whole, the outcomes below are counted or are not; where two ways down reach one
//! node with the same atoms decided alike, they are counted once. A conjunction of atoms, which
//! conditions mostly are, costs about as much as the diagram is large.

use rustc_hash::FxHashMap;

use crate::condition::{Node, Proposition};
use crate::diagram::{Diagrams, NONE, Set, UNIT};

/// The known part of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum KnownAtom {
    Nothing,
    Truth(bool),
    /// The value of one of the two places it compares.
    Half(i128),
}

/// How values decide atoms, place by place.
pub(crate) trait AtomEvaluator {
    /// Whether the value of the `level`-th place satisfies this atom.
    fn equals(&self, atom: &Node, level: usize, value: u64) -> bool;
    /// The value as a number.
    fn number(&self, level: usize, value: u64) -> i128;
    /// The places that an atom speaks of, by level.
    fn levels(&self, atom: &Node) -> (usize, Option<usize>);
}

pub(crate) struct Counter<'a, D> {
    diagrams: &'a Diagrams,
    proposition: &'a Proposition,
    decides: &'a D,
    /// For each level, the atoms that speak of it.
    atoms: Vec<Vec<usize>>,
    known: FxHashMap<(Set, Vec<KnownAtom>), u128>,
    room: Vec<Option<bool>>,
}

impl<'a, D: AtomEvaluator> Counter<'a, D> {
    pub(crate) fn new(
        diagrams: &'a Diagrams,
        proposition: &'a Proposition,
        decides: &'a D,
        levels: usize,
    ) -> Self {
        let mut atoms = vec![Vec::new(); levels];
        for (index, node) in proposition.nodes().iter().enumerate() {
            if matches!(node, Node::Equals(..) | Node::Same(..)) {
                let (one, other) = decides.levels(node);
                atoms[one].push(index);
                if let Some(other) = other.filter(|&other| other != one) {
                    atoms[other].push(index);
                }
            }
        }
        let (known, room) = (FxHashMap::default(), Vec::new());
        Counter { diagrams, proposition, decides, atoms, known, room }
    }

    /// The number of outcomes of a set that satisfy the proposition; the first variable of the set
    /// is decided first.
    pub(crate) fn count(&mut self, set: Set) -> u128 {
        let nothing = vec![KnownAtom::Nothing; self.proposition.nodes().len()];
        self.below(set, 0, nothing)
    }

    fn below(&mut self, set: Set, level: usize, atoms: Vec<KnownAtom>) -> u128 {
        if set == NONE {
            return 0;
        }
        match self.truth(&atoms) {
            Some(false) => return 0,
            Some(true) => return self.diagrams.count(set),
            None if set == UNIT => return 0,
            None => {}
        }
        let key = (set, atoms);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut sum = 0_u128;
        for (value, next) in self.diagrams.choices(set) {
            let mut decided = key.1.clone();
            for &atom in &self.atoms[level] {
                decided[atom] = self.decide(atom, level, value, decided[atom]);
            }
            sum = sum.saturating_add(self.below(next, level + 1, decided));
        }
        self.known.insert(key, sum);
        sum
    }

    fn decide(&self, atom: usize, level: usize, value: u64, known: KnownAtom) -> KnownAtom {
        let node = &self.proposition.nodes()[atom];
        match (node, known) {
            (Node::Equals(..), _) => KnownAtom::Truth(self.decides.equals(node, level, value)),
            (_, KnownAtom::Half(other)) => {
                KnownAtom::Truth(self.decides.number(level, value) == other)
            }
            // A place compared with itself.
            _ if self.decides.levels(node).1 == Some(self.decides.levels(node).0) => {
                KnownAtom::Truth(true)
            }
            _ => KnownAtom::Half(self.decides.number(level, value)),
        }
    }

    /// The value of the proposition, if the known atoms determine it.
    fn truth(&mut self, atoms: &[KnownAtom]) -> Option<bool> {
        let room = &mut self.room;
        room.clear();
        for (node, known) in self.proposition.nodes().iter().zip(atoms) {
            let at = |index: u32| room[index as usize];
            let truth = match *node {
                Node::Constant(truth) => Some(truth),
                Node::Equals(..) | Node::Same(..) => match known {
                    KnownAtom::Truth(truth) => Some(*truth),
                    KnownAtom::Nothing | KnownAtom::Half(_) => None,
                },
                Node::Not(p) => at(p).map(|truth| !truth),
                Node::And(p, q) => both(at(p), at(q)),
                Node::Or(p, q) => both(at(p).map(|p| !p), at(q).map(|q| !q)).map(|truth| !truth),
                Node::Implies(p, q) => both(at(p), at(q).map(|q| !q)).map(|truth| !truth),
            };
            room.push(truth);
        }
        room.last().copied().unwrap_or(Some(true))
    }
}

/// Three-valued conjunction.
fn both(p: Option<bool>, q: Option<bool>) -> Option<bool> {
    match (p, q) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
