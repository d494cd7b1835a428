//! What an exploration answers.

use std::fmt;
use std::path::{Path, PathBuf};

use cluster::{Loss, Share};
use serde::{Deserialize, Serialize, Serializer};

use crate::growth::{Depths, Growth};

/// The outcome of an exploration.
#[derive(Debug, Clone, PartialEq)]
pub struct Exploration {
    /// Whether all is well.
    pub verdict: Verdict,
    /// How many states were reached, start states included, those that an assumption excludes
    /// not. After a violation: those no further away than the state where it was found.
    pub states: u64,
    /// How often a rule was run, whether it led to a new state or not. Neither start states nor
    /// rules that an `assume` of theirs ended are counted. After a violation: those from states
    /// nearer than the one where it was found.
    pub rules_fired: u64,
    /// How many rules the farthest state is away from a start state.
    pub depth: u32,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that states, tables and buffers took.
    pub bytes: u64,
    /// For each rule, how often it was run.
    pub firings: Vec<u64>,
    /// For each property, whether it is a cover that has held in some state.
    pub covered: Vec<bool>,
    /// If properties were passed over, where they are broken, the nearest first. The first of them is
    /// in the verdict, unless something worse was found.
    pub passed_over: Vec<PassedOver>,
    /// What is known of liveness. Nothing is asked unless every state was visited and is fine.
    pub liveness: Liveness,
    /// With hash compaction, a bound on the probability that some state was taken for another.
    pub omission_probability: Option<f64>,
    /// Of a best-first search, the state that came nearest to the condition.
    pub nearest: Option<Nearest>,
    /// With states on disk, how much they take there.
    pub disk_bytes: Option<u64>,
    /// What the search can go on from, if it did not come to an end and keeps checkpoints.
    pub checkpoint: Option<Checkpoint>,
    /// Of a breadth-first search, how many states are how far away; the sum is `states`.
    pub depths: Depths,
    /// Of a breadth-first search, states and memory at the beginning of each level.
    pub growth: Growth,
}

/// How near to a condition a search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// The distance; 0 if the condition held.
    pub distance: u32,
    /// Steps from a start state to the first state at this distance, on the way that was found.
    pub steps: u32,
}

/// What a search can go on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// Where it is.
    #[serde(serialize_with = "shown")]
    pub directory: PathBuf,
    /// The level that comes next: the distance of its states from the start states.
    pub level: u32,
}

fn shown<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

impl Exploration {
    /// Nothing found yet in a model with so many rules.
    pub(crate) fn nothing(rules: usize) -> Self {
        Exploration {
            verdict: Verdict::Holds(()),
            states: 0,
            rules_fired: 0,
            depth: 0,
            seconds: 0.0,
            bytes: 0,
            firings: vec![0; rules],
            covered: Vec::new(),
            passed_over: Vec::new(),
            liveness: Liveness::Open,
            omission_probability: None,
            nearest: None,
            disk_bytes: None,
            checkpoint: None,
            depths: Depths::default(),
            growth: Growth::default(),
        }
    }

    /// What is wrong, if something is.
    pub fn violation(&self) -> Option<Violation> {
        self.verdict.broken().map(|run| run.violation)
    }

    /// The way to what is wrong; empty if nothing is, or if a start state fails.
    pub fn counterexample(&self) -> &[Step] {
        self.verdict.broken().map_or(&[], |run| &run.steps)
    }

    /// Memory for each state.
    pub fn bytes_per_state(&self) -> f64 {
        self.bytes as f64 / self.states.max(1) as f64
    }

    /// With states on disk, what is there for each state.
    pub fn disk_bytes_per_state(&self) -> Option<f64> {
        self.disk_bytes.map(|bytes| bytes as f64 / self.states.max(1) as f64)
    }
}

/// What is known of the goals that have to stay within reach ([`Options::goals`](crate::Options)).
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Liveness {
    /// Nothing: there were none, or the search cannot decide them.
    #[default]
    Open,
    /// All of them are within reach of every state. Deciding it took so many seconds.
    Holds {
        /// How long it took, beside the search.
        seconds: f64,
    },
    /// The search was over, but finding out was ended early.
    Ended(Reason),
}

/// Whether all is well: every state was visited and is fine; or a run ends where something is wrong;
/// or nothing wrong was found, but not everything was looked at.
pub type Verdict = evidence::Verdict<(), ViolatingRun, Reason>;

/// A run that ends where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolatingRun {
    /// What is wrong with its last state.
    pub violation: Violation,
    /// The way there, from a start state (whose rule is the number of the start state) on. Members
    /// of scalarsets have the same name in all of it.
    pub steps: Vec<Step>,
}

/// What is wrong with the last state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Violation {
    /// No rule leads out of it.
    Deadlock,
    /// The property with this number does not hold.
    Broken {
        /// Which.
        property: u32,
    },
    /// Evaluating the property with this number ended in a run-time error.
    PropertyFailed {
        /// Which.
        property: u32,
    },
    /// Evaluating the guard of a rule ended in a run-time error.
    GuardFailed {
        /// Which rule.
        rule: u32,
        /// With which parameters, in the names of the counterexample.
        instance: u64,
    },
    /// A rule ended in a run-time error.
    RuleFailed {
        /// Which rule.
        rule: u32,
        /// With which parameters, in the names of the counterexample.
        instance: u64,
    },
    /// No run leads from it to a state in which this liveness property holds.
    OutOfReach {
        /// Which property.
        property: u32,
        /// With which parameters, in the names of the counterexample.
        instance: u64,
    },
    /// A start state ended in a run-time error. The run is empty.
    StartFailed {
        /// Which start state.
        rule: u32,
        /// With which parameters.
        instance: u64,
    },
}

/// Why an exploration did not look at everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The time was up.
    Time,
    /// The memory was used up.
    Memory,
    /// There are states farther away than was allowed, or more of them.
    Depth,
    /// Somebody interrupted it.
    Interrupted,
    /// Random walks never look at everything.
    Simulated,
    /// Reading or writing a file of states failed, with this message.
    Disk(String),
    /// A process of the cluster was lost.
    Lost(Loss),
}

/// A state that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// Which property is broken.
    pub property: u32,
    /// The way there, as in [`ViolatingRun::steps`].
    pub run: Vec<Step>,
}

/// A step of a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which rule was run (of the first step: which start state).
    pub rule: u32,
    /// With which parameters.
    pub instance: u64,
    /// The state it led to, unpacked.
    pub state: Vec<u8>,
}

/// How far an exploration has got.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// States reached so far.
    pub states: u64,
    /// Rules fired so far.
    pub rules_fired: u64,
    /// States that are known but not expanded yet.
    pub frontier: u64,
    /// How far from a start state.
    pub depth: u32,
    /// Memory in use.
    pub bytes: u64,
    /// Time since the start.
    pub seconds: f64,
    /// States a second since the last report.
    pub rate: f64,
    /// If several processes search, what each has done.
    pub processes: Vec<Share>,
}

/// `4.06M states, 16.5M rules fired, 888k states/s, 429k waiting, depth 41, 60 MiB`
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.states as f64 / self.seconds.max(0.001);
        write!(
            f,
            "{} states, {} rules fired, {} states/s, frontier {}, depth {}, {} MiB",
            brief(self.states),
            brief(self.rules_fired),
            brief(rate as u64),
            brief(self.frontier),
            self.depth,
            self.bytes >> 20,
        )?;
        for (number, share) in self.processes.iter().enumerate() {
            let rate = brief((share.states as f64 / self.seconds.max(0.001)) as u64);
            let (states, bytes) = (brief(share.states), share.bytes >> 20);
            write!(f, "; process {number}: {states} states, {rate}/s, {bytes} MiB")?;
        }
        Ok(())
    }
}

/// Three digits of a number: `999`, `1.23k`, `45.6M`.
fn brief(number: u64) -> String {
    let mut value = number as f64;
    for unit in ["", "k", "M", "G"] {
        match value {
            value if value < 1000.0 && unit.is_empty() => return number.to_string(),
            value if value < 9.995 => return format!("{value:.2}{unit}"),
            value if value < 99.95 => return format!("{value:.1}{unit}"),
            value if value < 999.5 => return format!("{value:.0}{unit}"),
            _ => {}
        }
        value /= 1000.0;
    }
    format!("{value:.0}T")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_numbers_have_three_digits() {
        let shown = [0, 999, 1_000, 12_345, 999_499, 999_999, 45_600_000, 7_000_000_000].map(brief);
        assert_eq!(shown, ["0", "999", "1.00k", "12.3k", "999k", "1.00M", "45.6M", "7.00G"]);
    }
}
