//! What must be performed before what: the models of docs/models.md, as rules for a machine.
//!
//! * **sc**: everything in program order.
//! * **tso**: as sc, but stores wait in a buffer, first in, first out, while later loads go on.
//!   An atomic waits for the buffer to drain.
//! * **pso**: as tso, with a buffer for each place.
//! * **wmo**: only accesses of one place stay in order; a load does not wait for a store of its
//!   place, whose value it takes.
//! * **rmo**: as wmo, and loads of one place may overtake each other too; but what depends on a
//!   read waits for it.
//! * **rvwmo**, **aarch64**: as wmo, and what depends on a read waits for it, as does a load for what
//!   the store that it may take its value from depends on, and a store for what the addresses before
//!   it depend on. Everything waits for an earlier acquire, a release for everything earlier; of
//!   rvwmo, annotated atomics keep their order, of aarch64 an acquire waits for an earlier release.
//!
//! The machines of rvwmo and aarch64 do less than their models allow: loads of one place never
//! overtake each other, also where both return the same write, and a fence between any kinds counts.
//!
//! In all of them an access waits for what a fence between them orders before it.

use std::fmt;
use std::str::FromStr;

use history::{AccessOrder, Kinds};
use models::Model;

/// A model with a machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemoryModel {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
    /// Weak memory order.
    Wmo,
    /// Relaxed memory order.
    Rmo,
    /// The weak memory order of RISC-V.
    Rvwmo,
    /// The model of Armv8-A, user level.
    AArch64,
}

impl MemoryModel {
    /// All of them, from strong to weak.
    pub const ALL: &'static [MemoryModel] = &[
        MemoryModel::Sc,
        MemoryModel::Tso,
        MemoryModel::Pso,
        MemoryModel::Wmo,
        MemoryModel::Rmo,
        MemoryModel::Rvwmo,
        MemoryModel::AArch64,
    ];

    /// The built-in model that its runs satisfy; `None` if that is a model file.
    pub fn model(self) -> Option<Model> {
        match self {
            MemoryModel::Sc => Some(Model::Sc),
            MemoryModel::Tso => Some(Model::Tso),
            MemoryModel::Pso => Some(Model::Pso),
            MemoryModel::Wmo => Some(Model::Wmo),
            MemoryModel::Rmo => Some(Model::Rmo),
            MemoryModel::Rvwmo | MemoryModel::AArch64 => None,
        }
    }

    /// What the model that its runs satisfy is called, built in or a shipped file.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Rvwmo => "rvwmo",
            MemoryModel::AArch64 => "aarch64",
            model => model.model().map_or("", Model::name),
        }
    }

    /// What the model promises, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            MemoryModel::Rvwmo => "the weak memory order of RISC-V (models/rvwmo.cat)",
            MemoryModel::AArch64 => "Armv8-A at user level (models/aarch64.cat)",
            model => model.model().map_or("", Model::summary),
        }
    }

    /// Whether what depends on a read waits for it.
    pub(super) fn keeps_dependencies(self) -> bool {
        matches!(self, MemoryModel::Rmo | MemoryModel::Rvwmo | MemoryModel::AArch64)
    }

    /// Whether a store waits for what the addresses of earlier accesses depend on, and a load for what
    /// the store that it may take its value from depends on.
    pub(super) fn settles_addresses(self) -> bool {
        matches!(self, MemoryModel::Rvwmo | MemoryModel::AArch64)
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no machine has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoMachine(pub String);

impl fmt::Display for NoMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown machine `{}`; the machines are ", self.0)?;
        let last = MemoryModel::ALL.len() - 1;
        for (at, model) in MemoryModel::ALL.iter().enumerate() {
            let before = match at {
                0 => "",
                at if at == last => " and ",
                _ => ", ",
            };
            write!(f, "{before}{model}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NoMachine {}

impl FromStr for MemoryModel {
    type Err = NoMachine;

    fn from_str(name: &str) -> Result<Self, NoMachine> {
        let found =
            MemoryModel::ALL.iter().copied().find(|m| m.to_string().eq_ignore_ascii_case(name));
        found.ok_or_else(|| NoMachine(name.to_owned()))
    }
}

/// What an access is to others of its thread.
#[derive(Clone, Copy)]
pub(super) struct AccessRole {
    pub(super) kinds: Kinds,
    pub(super) order: Option<AccessOrder>,
}

impl AccessRole {
    fn is_atomic(self) -> bool {
        self.kinds == Kinds::ALL
    }

    fn acquires(self) -> bool {
        use AccessOrder::{Acquire, AcquireRelease, Sequential};
        matches!(self.order, Some(Acquire | AcquireRelease | Sequential))
    }

    fn releases(self) -> bool {
        use AccessOrder::{AcquireRelease, Release, Sequential};
        matches!(self.order, Some(Release | AcquireRelease | Sequential))
    }
}

/// Whether an access waits for an earlier one of its thread, by program order and annotations.
pub(super) fn waits(
    model: MemoryModel,
    earlier: AccessRole,
    later: AccessRole,
    same_place: bool,
) -> bool {
    let weakly = same_place && (earlier.kinds.reads || later.kinds.writes);
    match model {
        MemoryModel::Sc => true,
        MemoryModel::Tso => earlier.kinds.reads || later.kinds.writes,
        MemoryModel::Pso => earlier.kinds.reads || (later.kinds.writes && same_place),
        MemoryModel::Wmo => weakly,
        MemoryModel::Rmo => same_place && later.kinds.writes,
        MemoryModel::Rvwmo => {
            let annotated = |party: AccessRole| party.acquires() || party.releases();
            let is_rcsc = |party: AccessRole| party.is_atomic() && annotated(party);
            let both = is_rcsc(earlier) && is_rcsc(later);
            weakly || earlier.acquires() || later.releases() || both
        }
        MemoryModel::AArch64 => {
            let acquires_pc = earlier.order == Some(AccessOrder::AcquirePc);
            let in_turn = earlier.releases() && later.acquires();
            weakly || earlier.acquires() || acquires_pc || later.releases() || in_turn
        }
    }
}
