//! Faults to inject into a machine, for testing checkers: each happens now and then, by chance.

use std::fmt;
use std::str::FromStr;

use super::rules::MemoryModel;

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bug {
    /// A store never reaches memory.
    LostStore,
    /// A load returns what was in memory before the last write.
    StaleRead,
    /// A store reaches memory before an earlier one of its thread that it has to wait for.
    ReorderedDrain,
    /// A load overlooks its own thread's store that is still in the buffer.
    BrokenForwarding,
    /// Others get between the read and the write of an atomic.
    TornAtomic,
}

impl Bug {
    /// All of them, with their names and what happens.
    pub const ALL: &'static [(Bug, &'static str, &'static str)] = &[
        (Bug::LostStore, "lost-store", "a store never reaches memory"),
        (Bug::StaleRead, "stale-read", "a load returns the value before the last write"),
        (
            Bug::ReorderedDrain,
            "reordered-drain",
            "a store reaches memory before an earlier store that must come first",
        ),
        (
            Bug::BrokenForwarding,
            "broken-forwarding",
            "a load ignores its own thread's store in the store buffer",
        ),
        (
            Bug::TornAtomic,
            "torn-atomic",
            "another store comes between the read and the write of an atomic",
        ),
    ];

    /// Its name: `lost-store`.
    pub fn name(self) -> &'static str {
        Bug::ALL.iter().find(|(bug, ..)| *bug == self).map_or("", |(_, name, _)| name)
    }

    /// Why a machine cannot have it, if it cannot: sc has no store buffers.
    pub fn absent_from(self, model: MemoryModel) -> Option<String> {
        let of_buffers = matches!(self, Bug::ReorderedDrain | Bug::BrokenForwarding);
        (of_buffers && model == MemoryModel::Sc).then(|| {
            format!("the machine of sc has no store buffers, so {self} has no effect on it")
        })
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no bug has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownBug(String);

impl fmt::Display for UnknownBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown bug `{}`; the bugs are", self.0)?;
        for (at, (_, name, _)) in Bug::ALL.iter().enumerate() {
            write!(f, "{} {name}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownBug {}

impl FromStr for Bug {
    type Err = UnknownBug;

    fn from_str(name: &str) -> Result<Self, UnknownBug> {
        let found = Bug::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
        found.map(|&(bug, ..)| bug).ok_or_else(|| UnknownBug(name.to_owned()))
    }
}
