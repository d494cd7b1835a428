//! The terms of witnesses and proofs.

use std::fmt;

use history::{AddressId, EventId, Source};
use serde::{Deserialize, Serialize};

/// Evidence that a history satisfies a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// Store models: all events but fences, in the order in which the model's machine performs
    /// them. A write stands where it reaches memory, a read where it takes its value. Causal models:
    /// the same for a store model that implies them, `sc`, or `tso` for `cc`, `ccv` and `wccm`.
    Order(Vec<EventId>),
    /// `ccv`, for histories without read-modify-writes: all events but fences in one order that
    /// extends causality and agrees with every thread about conflicting writes (later wins), and
    /// what each ambiguous reader read.
    Arbitration {
        /// The order.
        order: Vec<EventId>,
        /// The choices made for readers with more than one candidate source.
        reads: Vec<(Reader, Source)>,
    },
    /// `cm`: for each thread, in thread order, one sequence of everything it has heard of (all
    /// writes and its own reads) that explains its reads.
    Views {
        /// The sequence of each thread. A read-modify-write of the thread itself is read and
        /// written at its place; one of another thread is only written.
        views: Vec<Vec<EventId>>,
        /// The choices made for readers with more than one candidate source.
        reads: Vec<(Reader, Source)>,
    },
    /// `ccm` and `wccm`, and `ccv` with read-modify-writes: an order that the whole relation of the
    /// model is part of, so that its fixpoints can be followed in one pass.
    Extensions {
        /// All events but fences, a read-modify-write twice: where it reads, and where it writes. For
        /// `wccm` two such orders, for the relation over ppo and for that over po-loc.
        orders: Vec<Vec<EventId>>,
        /// Pairs of writes, the first before the second, that atomicity adds to the relation.
        atomicity: Vec<(EventId, EventId)>,
        /// The choices made for readers with more than one candidate source.
        reads: Vec<(Reader, Source)>,
    },
    /// Causal models: the definition is a fixpoint to recompute, given what each ambiguous reader
    /// read. The only form for `cc` where the history is of no stronger model, and for `cm` where the
    /// read and the write of a read-modify-write cannot stand at one place.
    Choices(Vec<(Reader, Source)>),
}

/// Someone who took a value from memory: a read, or a `final` line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reader {
    /// A read or read-modify-write.
    Event(EventId),
    /// The `final` line of an address: a read after everything.
    Final(AddressId),
    /// A part of a read, in a history of mixed sizes: the cell with this number among those that the
    /// access covers, from 0, lowest first.
    Part(EventId, u8),
    /// A part of a `final` line, in the same way.
    FinalPart(AddressId, u8),
}

/// A fact that a store model leaves open until it is proved or assumed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// The first write comes before the second in the order of their address.
    Before(EventId, EventId),
    /// This reader took its value from there.
    Reads(Reader, Source),
}

/// An atom or its negation.
///
/// The writes of an address are totally ordered, so "not a before b" is "b before a": orders
/// appear only positively.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal {
    /// The atom.
    pub atom: Atom,
    /// Whether the literal asserts it.
    pub positive: bool,
}

impl Literal {
    /// "a comes before b."
    pub fn before(a: EventId, b: EventId) -> Self {
        Self { atom: Atom::Before(a, b), positive: true }
    }

    /// "This reader read from there."
    pub fn reads(reader: Reader, source: Source) -> Self {
        Self { atom: Atom::Reads(reader, source), positive: true }
    }

    /// The opposite.
    pub fn negated(self) -> Self {
        match self.atom {
            Atom::Before(a, b) => Self { atom: Atom::Before(b, a), positive: self.positive },
            Atom::Reads(..) => Self { atom: self.atom, positive: !self.positive },
        }
    }
}

/// A node of a relation. For store models a read-modify-write is one node, [`Node::Event`]. For
/// causal models it is two operations: [`Node::ReadOf`], then [`Node::Event`] for its write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// The initial write of an address.
    Initial(AddressId),
    /// An event.
    Event(EventId),
    /// The read half of a read-modify-write, under a causal model.
    ReadOf(EventId),
}

/// Why one node comes before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// Program order, as far as the graph keeps it. Initial writes come first in program order.
    ProgramOrder,
    /// A fence stands between them.
    Fence,
    /// The second declared a dependency on the first.
    Dependency,
    /// The first, a read, ended before the second began.
    Time,
    /// The second read what the first wrote.
    ReadsFrom,
    /// Two writes of one address, ordered by an `order` line, a `final` line, a proved or assumed
    /// literal, or because the first is the initial write.
    WriteOrder,
    /// The first read what the second overwrote.
    FromRead,
    /// Causal models: an edge derived earlier in the same lemma, by its index.
    Derived(u32),
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Because::ProgramOrder => "program-order",
            Because::Fence => "fence",
            Because::Dependency => "dependency",
            Because::Time => "time",
            Because::ReadsFrom => "reads-from",
            Because::WriteOrder => "write-order",
            Because::FromRead => "from-read",
            Because::Derived(_) => "derived",
        })
    }
}

/// An edge of a path or cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// What comes first.
    pub from: Node,
    /// What comes after it.
    pub to: Node,
    /// Why.
    pub because: Because,
}

/// Which relation a cycle or path lives in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Graph {
    /// Store models: po-loc ∪ rf ∪ ww ∪ fr. Relaxed causal models: the relation over po-loc.
    Location,
    /// Store models: kept program order ∪ fences ∪ visible rf ∪ ww ∪ fr. Relaxed causal models:
    /// the relation over ppo ∪ fences. Other causal models: the relation over program order.
    Global,
    /// `rmo`: dependencies ∪ rf.
    ThinAir,
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Graph::Location => "location",
            Graph::Global => "global",
            Graph::ThinAir => "thin-air",
        })
    }
}

/// A closed walk in a graph: each edge ends where the next begins, the last where the first began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The graph it lives in.
    pub graph: Graph,
    /// Its edges, at least one.
    pub edges: Vec<Edge>,
}

/// How a causal model derives an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// hb_o: write → write, because the first is hb_o-before a read (`via`) of the second done
    /// before or at o (`scope`) in its thread. The path runs from the first write to the read.
    Observed,
    /// cf: write → write, because the first comes before a read (`via`) of the second. The path
    /// runs from the first write to the read: in co for `ccv`, in hb for `ccm`, in hb of the
    /// rule's graph for `wccm` (where `via` reads from another thread).
    Conflict,
    /// pww: write → write of one address along a path in hb (`ccm`), or in the hb of both graphs
    /// together (`wccm`).
    StoreOrder,
    /// rw: read (`via` = the edge's source) → write, because the write comes after what was read.
    /// The path runs from what was read to the write: in co for `cc` (and `cm` and `ccv`, as far as
    /// they ask for cc), in pww otherwise. It is empty when what was read is the initial write.
    Overwritten,
    /// Atomicity, where the model orders writes: u is a read-modify-write that read w, v another
    /// write of the address. From a path w ⇒ v: u → v. From a path v ⇒ u: v → w. `via` is u; the
    /// path lives in the model's whole relation (for `wccm`, in that of the rule's graph).
    Atomic,
}

/// An edge derived by a rule of a causal model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derived {
    /// What comes first.
    pub from: Node,
    /// What comes after it.
    pub to: Node,
    /// The rule.
    pub rule: Rule,
    /// The graph of its path; [`Graph::Global`] except for `wccm`.
    pub graph: Graph,
    /// For [`Rule::Observed`]: the operation o.
    pub scope: Option<Node>,
    /// The read or read-modify-write the rule speaks of.
    pub via: Option<Node>,
    /// The premise.
    pub path: Vec<Edge>,
}

/// Why a clause holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// Were every literal of the clause false, this cycle would close. Clauses of one literal
    /// proved earlier may be used.
    Cycle(Cycle),
    /// The same for a causal model: with the literals false, these edges follow, and the cycle.
    Derivation {
        /// In an order in which each uses only those before it.
        derived: Vec<Derived>,
        /// The cycle they close.
        cycle: Cycle,
    },
    /// It follows by unit propagation from the clauses before it and "every reader read from
    /// exactly one of its candidates".
    Propagation,
}

/// One step of a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// At least one of these literals is true.
    pub clause: Vec<Literal>,
    /// Why.
    pub why: Why,
}

/// Evidence that a history violates a model: steps that end in the empty clause.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// The steps; the last clause is empty.
    pub steps: Vec<Step>,
}
