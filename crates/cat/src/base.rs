//! The sets and relations that every execution has, by the names that cat gives them.
//!
//! Everything else that models take for granted (`po-loc`, `rfe`, `fr`, `M`, the kinds of fences by
//! other names) is defined in terms of these in `prelude.cat`.

use history::{AccessOrder, DependencyKind, FenceName, Kinds};

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
    /// `Fence.tso`, `DMB.LD`, …: fences by the name of their instruction.
    Named(FenceName),
    /// `Acq`, …: accesses with an annotation; both halves of an annotated atomic.
    Annotated(AccessOrder),
    /// `EX`: the accesses of load-reserved and store-conditional pairs.
    Exclusive,
    /// `NoRet`: reads of atomics that return nothing to their thread.
    ReturnsNothing,
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
    /// `addr`, `data`, `ctrl`: from a read to what declares that it depends on it in this way.
    Dependency(DependencyKind),
    /// `lxsx`: from a load-reserved to its successful store-conditional.
    ExclusivePair,
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
        "EX" => BaseSet::Exclusive,
        "NoRet" => BaseSet::ReturnsNothing,
        _ => {
            if let Some(&(_, order)) = ANNOTATIONS.iter().find(|(known, _)| *known == name) {
                return Some(BaseSet::Annotated(order));
            }
            if let Some(fence) = FenceName::ALL.into_iter().find(|each| each.set_name() == name) {
                return Some(BaseSet::Named(fence));
            }
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

/// The sets of annotated accesses.
const ANNOTATIONS: [(&str, AccessOrder); 5] = [
    ("Acq", AccessOrder::Acquire),
    ("AcqPc", AccessOrder::AcquirePc),
    ("Rel", AccessOrder::Release),
    ("AcqRel", AccessOrder::AcquireRelease),
    ("Sc", AccessOrder::Sequential),
];

const RELATIONS: [(&str, BaseRelation); 12] = [
    ("id", BaseRelation::Same),
    ("po", BaseRelation::ProgramOrder),
    ("loc", BaseRelation::SameAddress),
    ("int", BaseRelation::SameThread),
    ("rf", BaseRelation::ReadsFrom),
    ("co", BaseRelation::Coherence),
    ("addr", BaseRelation::Dependency(DependencyKind::Address)),
    ("data", BaseRelation::Dependency(DependencyKind::Data)),
    ("ctrl", BaseRelation::Dependency(DependencyKind::Control)),
    ("lxsx", BaseRelation::ExclusivePair),
    ("amo", BaseRelation::AtomicPair),
    ("rt", BaseRelation::RealTime),
];
