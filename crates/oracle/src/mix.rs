//! Measuring a collection of histories: a test that never sees a violation, or never sees a
//! fence, proves little.

use std::fmt;

use history::{History, Operation};
use models::{IMPLICATIONS, Model};

use crate::allows;

/// Something a history may have.
#[derive(Clone, Copy)]
pub struct Feature {
    /// What it is called.
    pub name: &'static str,
    /// Whether a history has it.
    pub is_in: fn(&History) -> bool,
}

/// Every feature that is counted.
pub const FEATURES: [Feature; 11] = [
    Feature { name: "atomic", is_in: |h| h.events().any(|e| e.is_atomic()) },
    Feature { name: "sync", is_in: |h| h.events().any(|e| e.operation == Operation::SYNC) },
    Feature {
        name: "weaker fence",
        is_in: |h| h.events().any(|e| e.is_fence() && e.operation != Operation::SYNC),
    },
    Feature { name: "dependency", is_in: |h| !h.dependencies().is_empty() },
    Feature { name: "times", is_in: History::has_times },
    Feature { name: "ambiguous read", is_in: |h| !h.is_unambiguous() },
    Feature { name: "init", is_in: |h| h.address_ids().any(|x| h.address(x).init_line.is_some()) },
    Feature { name: "final", is_in: |h| !h.finals().is_empty() },
    Feature { name: "order", is_in: |h| h.orders().iter().any(|o| o.writes.len() >= 2) },
    Feature { name: "several addresses", is_in: |h| h.address_count() > 1 },
    Feature { name: "several threads", is_in: |h| h.thread_count() > 1 },
];

/// How many histories of a collection are, have, and distinguish what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mix {
    /// How many there are.
    pub histories: usize,
    /// How many satisfy each model, in the order of [`Model::ALL`].
    pub consistent: [usize; Model::ALL.len()],
    /// How many have each feature, in the order of [`FEATURES`].
    pub having: [usize; FEATURES.len()],
    /// How many satisfy the weaker and not the stronger model, in the order of [`IMPLICATIONS`].
    pub separating: [usize; IMPLICATIONS.len()],
}

/// Counts what is in a collection of histories.
pub fn mix_report(histories: impl IntoIterator<Item = History>) -> Mix {
    let mut mix = Mix::default();
    for history in histories {
        let verdicts = Model::ALL.map(|model| allows(&history, model));
        mix.histories += 1;
        for (count, holds) in mix.consistent.iter_mut().zip(verdicts) {
            *count += usize::from(holds);
        }
        for (count, feature) in mix.having.iter_mut().zip(&FEATURES) {
            *count += usize::from((feature.is_in)(&history));
        }
        for (count, pair) in mix.separating.iter_mut().zip(IMPLICATIONS) {
            let separates = verdicts[pair.weaker as usize] && !verdicts[pair.stronger as usize];
            *count += usize::from(separates);
        }
    }
    mix
}

impl Mix {
    /// The share of histories, in percent, that satisfy a model.
    pub fn percent_consistent(&self, model: Model) -> f64 {
        self.percent(self.consistent[model as usize])
    }

    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.histories.max(1) as f64
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} histories", self.histories)?;
        write!(f, "consistent:")?;
        for model in Model::ALL {
            write!(f, " {model} {:.0}%", self.percent_consistent(model))?;
        }
        write!(f, "\nhaving:")?;
        for (feature, &count) in FEATURES.iter().zip(&self.having) {
            write!(f, " {} {:.0}%,", feature.name, self.percent(count))?;
        }
        write!(f, "\nseparating:")?;
        for (pair, count) in IMPLICATIONS.iter().zip(&self.separating) {
            write!(f, " {}/{} {count}", pair.stronger, pair.weaker)?;
        }
        writeln!(f)
    }
}
