//! What was tried and what was answered, by kinds: whether a collection of protocols is worth
//! anything.

use std::collections::BTreeMap;

use crate::protocol::{Protocol, Start};

/// Counts by what was seen.
#[derive(Default)]
pub(crate) struct Mix(BTreeMap<String, u64>);

impl Mix {
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub(crate) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// One count a line.
    pub(crate) fn report(&self) -> String {
        self.0.iter().map(|(what, count)| format!("{count:>8}  {what}\n")).collect()
    }
}

/// The ways in which a verification can be led astray, each of which must occur.
pub(crate) const HARD: [&str; 11] = [
    "commits",
    "commit misplaced",
    "commit changed",
    "store lost",
    "decision by data",
    "one value stored twice",
    "value copied",
    "constant loaded",
    "unequal start",
    "unequal addresses",
    "high start",
];

/// What a verification has to take notice of in a protocol.
pub(crate) fn kinds(protocol: &Protocol) -> Vec<&'static str> {
    let mut kinds = protocol.twists.clone();
    if protocol.commits {
        kinds.push("commits");
    }
    kinds.push(match protocol.start {
        Start::Unequal if protocol.mentions("cache[") => "unequal start",
        Start::Highest => "high start",
        Start::EachAddress => "unequal addresses",
        _ => "equal start",
    });
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Whether values are only copied from stores that choose them freely.
pub(crate) fn treats_values_alike(protocol: &Protocol) -> bool {
    let special = ["decision by data", "one value stored twice", "value copied", "constant loaded"];
    !protocol.twists.iter().any(|twist| special.contains(twist))
}
