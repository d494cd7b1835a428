//! Something that is wrong at a state, and which of several such things is reported.
//!
//! A search with many threads finds them in any order. Of all that are found at the same distance
//! from the start the least is reported: what is wrong with a state itself comes before what goes
//! wrong on the way out of it, then the least packed state, then rule and parameters.

use serde::{Deserialize, Serialize};

use crate::result::Violation;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    /// The packed representative of the state, by which findings are put in order.
    pub(crate) packed: Vec<u8>,
    /// The rule and its parameters, or the property and 0.
    pub(crate) rule: u32,
    pub(crate) instance: u64,
    /// The representative as it is stored.
    pub(crate) stored: Vec<u8>,
}

/// The kinds, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    StartFailed,
    Broken,
    PropertyFailed,
    Deadlock,
    GuardFailed,
    RuleFailed,
    OutOfReach,
}

impl Finding {
    /// Keeps the lesser of two findings in `best`.
    pub(crate) fn keep_least(self, best: &mut Option<Finding>) {
        if best.as_ref().is_none_or(|best| self < *best) {
            *best = Some(self);
        }
    }

    /// The violation it means, given the parameters in the names of the run.
    pub(crate) fn violation(&self, instance: u64) -> Violation {
        let rule = self.rule;
        match self.kind {
            Kind::StartFailed => Violation::StartFailed { rule, instance },
            Kind::Broken => Violation::Broken { property: rule },
            Kind::PropertyFailed => Violation::PropertyFailed { property: rule },
            Kind::GuardFailed => Violation::GuardFailed { rule, instance },
            Kind::RuleFailed => Violation::RuleFailed { rule, instance },
            Kind::Deadlock => Violation::Deadlock,
            Kind::OutOfReach => Violation::OutOfReach { property: rule, instance },
        }
    }
}

impl Kind {
    /// Whether it is known from looking at the state alone, without expanding it.
    pub(crate) fn is_property(self) -> bool {
        self <= Kind::PropertyFailed
    }
}
