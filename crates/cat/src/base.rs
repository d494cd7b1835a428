//! The sets and relations that every execution has, by the names that cat gives them.
//!
//! Everything else that models take for granted (`po-loc`, `rfe`, `fr`, `M`, the kinds of fences by
//! other names) is defined in terms of these in `prelude.cat`.

use history::Kinds;

/// A set of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BaseSet {
    /// `R`: reads, the reading halves of atomics included.
    Reads,
    /// `W`: writes, initial writes and the writing halves of atomics included.
    Writes,
    /// `IW`: initial writes.
    InitialWrites,
    /// `X`: the halves of atomic read-modify-writes.
    Atomic,
    /// `F`: fences.
    Fences,
    /// `Fence.r.rw`, …: fences that order accesses of exactly these kinds.
    Fence(FenceKind),
}

/// What a fence orders: one of the nine pairs of `r`, `w`, `rw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FenceKind {
    before: u8,
    after: u8,
}

impl FenceKind {
    /// The kind of a fence; `None` for one that orders nothing.
    pub(crate) fn new(before: Kinds, after: Kinds) -> Option<Self> {
        let number = |kinds: Kinds| LETTERS.iter().position(|each| *each == kinds.letters());
        Some(FenceKind { before: number(before)? as u8, after: number(after)? as u8 })
    }
}

const LETTERS: [&str; 3] = ["r", "w", "rw"];

/// A relation between events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BaseRelation {
    /// `id`
    Same,
    /// `po`: program order. The halves of an atomic are not ordered by it.
    ProgramOrder,
    /// `loc`: accesses of one address.
    SameAddress,
    /// `int`: events of one thread; an initial write is of no thread.
    SameThread,
    /// `rf`: from a write to the reads that return its value.
    ReadsFrom,
    /// `co`: a total order of the writes of each address, the initial write first.
    Coherence,
    /// `addr`: from a read to what declares that it depends on it.
    Dependency,
    /// `amo`: from the reading half of an atomic to its writing half.
    AtomicPair,
    /// `rt`: from an event to those that began after it had ended.
    RealTime,
}

/// The set of a name.
pub(crate) fn set(name: &str) -> Option<BaseSet> {
    let plain = match name {
        "R" => BaseSet::Reads,
        "W" => BaseSet::Writes,
        "IW" => BaseSet::InitialWrites,
        "X" => BaseSet::Atomic,
        "F" => BaseSet::Fences,
        _ => {
            let (before, after) = name.strip_prefix("Fence.")?.split_once('.')?;
            let number = |letters| LETTERS.iter().position(|each| *each == letters);
            let kind = FenceKind { before: number(before)? as u8, after: number(after)? as u8 };
            BaseSet::Fence(kind)
        }
    };
    Some(plain)
}

/// The relation of a name.
pub(crate) fn relation(name: &str) -> Option<BaseRelation> {
    RELATIONS.iter().find(|(known, _)| *known == name).map(|&(_, relation)| relation)
}

const RELATIONS: [(&str, BaseRelation); 9] = [
    ("id", BaseRelation::Same),
    ("po", BaseRelation::ProgramOrder),
    ("loc", BaseRelation::SameAddress),
    ("int", BaseRelation::SameThread),
    ("rf", BaseRelation::ReadsFrom),
    ("co", BaseRelation::Coherence),
    ("addr", BaseRelation::Dependency),
    ("amo", BaseRelation::AtomicPair),
    ("rt", BaseRelation::RealTime),
];
