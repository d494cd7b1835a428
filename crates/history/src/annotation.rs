//! What an instruction says beyond reading and writing: how an access is ordered, how one event
//! depends on another, and fences by the name of their instruction.
//!
//! This is the one vocabulary for it. Trace formats spell these words, litmus tests translate their
//! instructions to them, and model files find them again as sets and relations.

use crate::event::{Kinds, Operation};

/// How an access is ordered with what stands around it in its thread, by its instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessOrder {
    /// `acq`: `.aq` of RISC-V, `LDAR` of Arm.
    Acquire,
    /// `acqpc`: `LDAPR` of Arm, an acquire that earlier releases need not wait for.
    AcquirePc,
    /// `rel`: `.rl` of RISC-V, `STLR` of Arm.
    Release,
    /// `acqrel`: both, `.aq.rl` of RISC-V, `SWPAL` of Arm.
    AcquireRelease,
    /// `sc`: an access that is sequentially consistent with all others of its kind.
    Sequential,
}

impl AccessOrder {
    /// All of them.
    pub const ALL: [AccessOrder; 5] = [
        AccessOrder::Acquire,
        AccessOrder::AcquirePc,
        AccessOrder::Release,
        AccessOrder::AcquireRelease,
        AccessOrder::Sequential,
    ];

    /// How trace formats spell it.
    pub fn spelling(self) -> &'static str {
        match self {
            AccessOrder::Acquire => "acq",
            AccessOrder::AcquirePc => "acqpc",
            AccessOrder::Release => "rel",
            AccessOrder::AcquireRelease => "acqrel",
            AccessOrder::Sequential => "sc",
        }
    }

    /// The one that is spelled like this.
    pub fn from_spelling(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.spelling() == word)
    }
}

/// How an event depends on an earlier read of its thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DependencyKind {
    /// `addr`: the address was computed from what was read. A dependency of unknown kind (`dep`)
    /// counts as one.
    Address,
    /// `data`: the value written was computed from what was read.
    Data,
    /// `ctrl`: a branch that was decided by what was read stands between the two.
    Control,
}

impl DependencyKind {
    /// All of them.
    pub const ALL: [DependencyKind; 3] =
        [DependencyKind::Address, DependencyKind::Data, DependencyKind::Control];

    /// How trace formats spell it.
    pub fn spelling(self) -> &'static str {
        match self {
            DependencyKind::Address => "addr",
            DependencyKind::Data => "data",
            DependencyKind::Control => "ctrl",
        }
    }

    /// The one that is spelled like this.
    pub fn from_spelling(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.spelling() == word)
    }
}

/// A set of kinds: in which ways one event depends on another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DependencyKinds(u8);

impl DependencyKinds {
    /// Only this kind.
    pub const fn only(kind: DependencyKind) -> Self {
        DependencyKinds(1 << kind as u8)
    }

    /// Whether the kind is among them.
    pub const fn contains(self, kind: DependencyKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// All of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        DependencyKinds(self.0 | other.0)
    }

    /// The kinds, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = DependencyKind> {
        DependencyKind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}

/// A fence by the name of its instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FenceName {
    /// `fence.tso` of RISC-V: reads before everything later, writes before later writes.
    Tso,
    /// `fence.i` of RISC-V: instruction fetches, no accesses.
    Instructions,
    /// `dmb.sy` of Arm.
    DmbSy,
    /// `dmb.ld` of Arm.
    DmbLd,
    /// `dmb.st` of Arm.
    DmbSt,
    /// `dsb.sy` of Arm.
    DsbSy,
    /// `dsb.ld` of Arm.
    DsbLd,
    /// `dsb.st` of Arm.
    DsbSt,
    /// `isb` of Arm: orders no accesses by itself, only together with a dependency before it.
    Isb,
    /// `mfence` of x86.
    Mfence,
    /// `sfence` of x86.
    Sfence,
    /// `lfence` of x86.
    Lfence,
}

impl FenceName {
    /// All of them.
    pub const ALL: [FenceName; 12] = [
        FenceName::Tso,
        FenceName::Instructions,
        FenceName::DmbSy,
        FenceName::DmbLd,
        FenceName::DmbSt,
        FenceName::DsbSy,
        FenceName::DsbLd,
        FenceName::DsbSt,
        FenceName::Isb,
        FenceName::Mfence,
        FenceName::Sfence,
        FenceName::Lfence,
    ];

    /// How trace formats spell it.
    pub fn spelling(self) -> &'static str {
        match self {
            FenceName::Tso => "fence.tso",
            FenceName::Instructions => "fence.i",
            FenceName::DmbSy => "dmb.sy",
            FenceName::DmbLd => "dmb.ld",
            FenceName::DmbSt => "dmb.st",
            FenceName::DsbSy => "dsb.sy",
            FenceName::DsbLd => "dsb.ld",
            FenceName::DsbSt => "dsb.st",
            FenceName::Isb => "isb",
            FenceName::Mfence => "mfence",
            FenceName::Sfence => "sfence",
            FenceName::Lfence => "lfence",
        }
    }

    /// The one that is spelled like this.
    pub fn from_spelling(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.spelling() == word)
    }

    /// How model files call the set of these fences.
    pub fn set_name(self) -> &'static str {
        match self {
            FenceName::Tso => "Fence.tso",
            FenceName::Instructions => "Fence.i",
            FenceName::DmbSy => "DMB.SY",
            FenceName::DmbLd => "DMB.LD",
            FenceName::DmbSt => "DMB.ST",
            FenceName::DsbSy => "DSB.SY",
            FenceName::DsbLd => "DSB.LD",
            FenceName::DsbSt => "DSB.ST",
            FenceName::Isb => "ISB",
            FenceName::Mfence => "MFENCE",
            FenceName::Sfence => "SFENCE",
            FenceName::Lfence => "LFENCE",
        }
    }

    /// What it orders, as far as a set before and a set after can say it. That is all, but for
    /// `fence.tso`, which also orders reads before later reads.
    pub fn operation(self) -> Operation {
        let (before, after) = match self {
            FenceName::Tso => (Kinds::ALL, Kinds::WRITES),
            FenceName::Instructions | FenceName::Isb => (Kinds::NONE, Kinds::NONE),
            FenceName::DmbSy | FenceName::DsbSy | FenceName::Mfence => (Kinds::ALL, Kinds::ALL),
            FenceName::DmbLd | FenceName::DsbLd => (Kinds::READS, Kinds::ALL),
            FenceName::DmbSt | FenceName::DsbSt | FenceName::Sfence => {
                (Kinds::WRITES, Kinds::WRITES)
            }
            FenceName::Lfence => (Kinds::READS, Kinds::READS),
        };
        Operation::Fence { before, after }
    }
}
