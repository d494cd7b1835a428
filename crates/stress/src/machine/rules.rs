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
//!
//! In all of them an access waits for what a fence between them orders before it.

use std::fmt;
use std::str::FromStr;

use history::Kinds;
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
}

impl MemoryModel {
    /// All of them, from strong to weak.
    pub const ALL: &'static [MemoryModel] =
        &[MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::Wmo, MemoryModel::Rmo];

    /// The model that its runs satisfy.
    pub fn model(self) -> Model {
        match self {
            MemoryModel::Sc => Model::Sc,
            MemoryModel::Tso => Model::Tso,
            MemoryModel::Pso => Model::Pso,
            MemoryModel::Wmo => Model::Wmo,
            MemoryModel::Rmo => Model::Rmo,
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.model().name())
    }
}

/// A name that no machine has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoMachine(pub String);

impl fmt::Display for NoMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no machine `{}`; there are ", self.0)?;
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

/// Whether an access waits for an earlier one of its thread, by program order alone.
pub(super) fn waits(model: MemoryModel, earlier: Kinds, later: Kinds, same_place: bool) -> bool {
    match model {
        MemoryModel::Sc => true,
        MemoryModel::Tso => earlier.reads || later.writes,
        MemoryModel::Pso => earlier.reads || (later.writes && same_place),
        MemoryModel::Wmo => same_place && (earlier.reads || later.writes),
        MemoryModel::Rmo => same_place && later.writes,
    }
}
