//! Answers as herd7 prints them, so that scripts which read its output read ours.
//!
//! herd7 counts executions after `Positive`, `Negative` and `Observation`; here, where executions
//! are not enumerated, these are numbers of states. There is no `Hash` line.

use std::io::{self, Write};
use std::time::Duration;

use crate::outcomes::{Outcomes, State};
use crate::test::Litmus;

/// The number of final states, and of those that satisfy the proposition of the condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally {
    /// All states.
    pub states: u128,
    /// Those that satisfy it.
    pub satisfy: u128,
}

impl Tally {
    /// Counts the states.
    pub fn of(test: &Litmus, outcomes: &Outcomes<'_>) -> Tally {
        let satisfy = outcomes.count_where(&test.condition.proposition);
        Tally { states: outcomes.count(), satisfy }
    }

    fn others(self) -> u128 {
        self.states - self.satisfy
    }

    /// Whether the condition of the test holds.
    pub fn validates(self, test: &Litmus) -> bool {
        test.condition.quantifier.holds(self.satisfy, self.others())
    }

    /// `Never`, `Sometimes` or `Always`: how often the proposition is satisfied.
    pub fn observation(self) -> &'static str {
        match (self.satisfy, self.others()) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    /// States that speak for the condition, and states that speak against it.
    pub fn witnesses(self, test: &Litmus) -> (u128, u128) {
        match test.condition.quantifier {
            crate::Quantifier::NotExists => (self.others(), self.satisfy),
            crate::Quantifier::Exists | crate::Quantifier::ForAll => (self.satisfy, self.others()),
        }
    }
}

/// `Ok` or `No`, after `Loop` if there are runs that go around a loop too often to be enumerated.
pub(crate) fn verdict(test: &Litmus, outcomes: &Outcomes<'_>, tally: Tally) -> &'static str {
    match (outcomes.unrolled().is_some(), tally.validates(test)) {
        (false, true) => "Ok",
        (false, false) => "No",
        (true, true) => "Loop Ok",
        (true, false) => "Loop No",
    }
}

/// Writes an answer. After each state, `after_state` may add lines of its own.
pub fn write<W: Write>(
    out: &mut W,
    test: &Litmus,
    outcomes: &Outcomes<'_>,
    tally: Tally,
    time: Duration,
    mut after_state: impl FnMut(&mut W, &State) -> io::Result<()>,
) -> io::Result<()> {
    let name = &test.name;
    let (positive, negative) = tally.witnesses(test);
    writeln!(out, "Test {name} {}", test.condition.quantifier.kind())?;
    writeln!(out, "States {}", tally.states)?;
    let mut result = Ok(());
    outcomes.each(|state| {
        result = writeln!(out, "{}", outcomes.spelled(state));
        if result.is_ok() {
            result = after_state(out, state);
        }
        result.is_ok()
    });
    result?;
    writeln!(out, "{}", verdict(test, outcomes, tally))?;
    writeln!(out, "Witnesses")?;
    writeln!(out, "Positive: {positive} Negative: {negative}")?;
    writeln!(out, "Condition {}", test.condition.spelled(test))?;
    let observation = tally.observation();
    writeln!(out, "Observation {name} {observation} {} {}", tally.satisfy, tally.others())?;
    writeln!(out, "Time {name} {:.2}", time.as_secs_f64())?;
    writeln!(out)
}
