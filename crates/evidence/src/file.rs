//! Evidence about models that are files: conditions ("axioms") over relations that the file defines.
//!
//! Nothing is known of a model here but that it has axioms, by their numbers. An atomic
//! read-modify-write is two nodes: [`Node::ReadOf`], then [`Node::Event`] for its write. Of a history
//! of mixed sizes, events and addresses are those of [`history::Mixed::parts`].

use history::{EventId, Source};

use crate::{Literal, Node};

/// What a verdict about a model file rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileEvidence {
    /// An execution that meets every axiom.
    Consistent(Execution),
    /// A proof that there is none.
    Violation(FileProof),
    /// All executions can be tried, and each breaks an axiom. Whoever checks it gives up beyond
    /// [`MOST_EXECUTIONS`].
    Enumeration,
}

/// Who read what and the order of writes, as one order of all accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// All events but fences. The writes of each address are in coherence order. An order that the
    /// relations of acyclic axioms follow lets an execution of any length be checked. An atomic may
    /// stand here twice: where it reads, and where it writes.
    pub order: Vec<EventId>,
    /// What each reader with more than one candidate source read.
    pub reads: Vec<(EventId, Source)>,
}

/// Clauses, the last of them empty, as for the store models.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileProof {
    /// The clauses with what shows each.
    pub steps: Vec<FileStep>,
}

/// A clause and what shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileStep {
    /// One of these literals holds.
    pub clause: Vec<Literal>,
    /// Why.
    pub why: FileWhy,
}

/// Why a clause holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileWhy {
    /// Were all its literals false, these pairs would be in the relation of an axiom and break it:
    /// a closed walk for `acyclic`, one pair for `irreflexive` and `empty`.
    Axiom {
        /// The number of the axiom, from 0.
        axiom: usize,
        /// The pairs.
        links: Vec<Link>,
    },
    /// It follows from the clauses before it by unit propagation.
    Propagation,
}

/// A pair of a relation, with the stops of the composition that it comes from: for
/// `[R] ; po ; [F] ; po ; [W]` the fence in between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The first node.
    pub from: Node,
    /// The nodes between the steps of a composition, each once.
    pub through: Vec<Node>,
    /// The second node.
    pub to: Node,
}

/// The most executions, finished or not, that are tried one by one.
pub const MOST_EXECUTIONS: u64 = 20_000;
