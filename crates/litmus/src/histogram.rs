//! How often a machine ended in which state, as litmus7 prints it.
//!
//! litmus7 marks the states that decide the condition with a star: those that satisfy the
//! proposition, but for `forall` those that do not.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::condition::Quantifier;
use crate::layout::Tally;
use crate::outcomes::{Outcomes, State};
use crate::test::Litmus;

/// The count of each final state, in the order of their values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    counts: BTreeMap<Vec<i128>, (Vec<u64>, u64)>,
}

impl Histogram {
    /// Adds observations of a state. A state that the filter of the test excludes is not counted.
    pub fn add(&mut self, outcomes: &Outcomes<'_>, state: &State, times: u64) {
        if !outcomes.passes(state) {
            return;
        }
        let values = state.iter().enumerate();
        let key = values.map(|(place, &value)| outcomes.number(place, value)).collect();
        self.counts.entry(key).or_insert_with(|| (state.to_vec(), 0)).1 += times;
    }

    /// The states with their counts.
    pub fn states(&self) -> impl Iterator<Item = (&State, u64)> {
        self.counts.values().map(|(state, times)| (state.as_slice(), *times))
    }

    /// The number of distinct states.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The number of runs, and of those that satisfied the proposition of the condition.
    pub fn tally(&self, test: &Litmus, outcomes: &Outcomes<'_>) -> Tally {
        let holds = |state: &State| outcomes.holds(&test.condition.proposition, state);
        let satisfy = self.states().filter(|(state, _)| holds(state));
        Tally {
            states: self.states().map(|(_, times)| u128::from(times)).sum(),
            satisfy: satisfy.map(|(_, times)| u128::from(times)).sum(),
        }
    }

    /// Writes it. The outcomes, under whatever model, say how states are spelled.
    pub fn write<W: Write + ?Sized>(
        &self,
        out: &mut W,
        test: &Litmus,
        outcomes: &Outcomes<'_>,
        time: Duration,
    ) -> io::Result<()> {
        let (name, quantifier) = (&test.name, test.condition.quantifier);
        let tally = self.tally(test, outcomes);
        let valid = tally.validates(test);
        writeln!(out, "Test {name} {}", quantifier.kind())?;
        writeln!(out, "Histogram ({} states)", self.len())?;
        for (state, times) in self.states() {
            let holds = outcomes.holds(&test.condition.proposition, state);
            let mark = if holds == (quantifier != Quantifier::ForAll) { '*' } else { ':' };
            writeln!(out, "{times:<6}{mark}>{}", outcomes.spelled(state))?;
        }
        writeln!(out, "{}\n\nWitnesses", if valid { "Ok" } else { "No" })?;
        let (positive, negative) = tally.witnesses(test);
        writeln!(out, "Positive: {positive}, Negative: {negative}")?;
        let not = if valid { "" } else { "NOT " };
        writeln!(out, "Condition {} is {not}validated", test.condition.spelled(test))?;
        for (key, value) in &test.metadata {
            match key.as_str() {
                "Prefetch" => {}
                "Relax" => {
                    let seen = if tally.satisfy > 0 { "Ok" } else { "No" };
                    writeln!(out, "Relax {name} {seen} {value}")?;
                }
                _ => writeln!(out, "{key}={value}")?,
            }
        }
        let (observation, others) = (tally.observation(), tally.states - tally.satisfy);
        writeln!(out, "Observation {name} {observation} {} {others}", tally.satisfy)?;
        writeln!(out, "Time {name} {:.2}", time.as_secs_f64())
    }
}
