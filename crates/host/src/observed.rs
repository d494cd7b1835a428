//! A litmus test on this machine: how often each final state was seen, in litmus7's layout, and
//! whether models allow all of them.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use evidence::Verdict;
use litmus::{Histogram, Litmus, Outcomes, Values, bounded, holds_as_promised, micros, values};
use models::Model;
use serde::Serialize;
use stress::{Runs, TargetError};

use crate::{Host, Observation};

/// The observed outcomes of a test.
pub struct Observed<'a> {
    test: &'a Litmus,
    seen: Histogram,
    /// Runs that were abandoned, because a loop took too many iterations.
    pub given_up: u64,
    /// Whether the time ran out.
    pub cut_short: bool,
    time: Duration,
    /// How states are spelled: by the first of the models.
    compared: Vec<Compared<'a>>,
}

/// The comparison of the outcomes with a model.
struct Compared<'a> {
    model: Model,
    allowed: Outcomes<'a>,
    /// States that were seen and that it does not allow.
    outside: Vec<Vec<u64>>,
}

impl<'a> Observed<'a> {
    /// Runs a test and compares the outcomes with the models, at least one. `watch` is called with
    /// the number of runs so far.
    pub fn run(
        host: &mut Host,
        test: &'a Litmus,
        allowed: Vec<(Model, Outcomes<'a>)>,
        runs: Runs<'_>,
        time: Option<Duration>,
        watch: &mut dyn FnMut(u64),
    ) -> Result<Self, TargetError> {
        let compared = allowed.into_iter();
        let compared =
            compared.map(|(model, allowed)| Compared { model, allowed, outside: vec![] });
        let mut observed = Observed {
            test,
            seen: Histogram::default(),
            given_up: 0,
            cut_short: false,
            time: Duration::ZERO,
            compared: compared.collect(),
        };
        observed.gather(host, runs, time, watch)?;
        observed.compare();
        Ok(observed)
    }

    fn gather(
        &mut self,
        host: &mut Host,
        runs: Runs<'_>,
        time: Option<Duration>,
        watch: &mut dyn FnMut(u64),
    ) -> Result<(), TargetError> {
        let Some(spelling) = self.compared.first() else { return Ok(()) };
        let start = Instant::now();
        let ends = time.map(|time| start + time);
        let (seen, given_up, cut_short) = (&mut self.seen, &mut self.given_up, &mut self.cut_short);
        let mut done = 0;
        host.litmus(self.test, runs, &mut |came| {
            match came {
                Observation::State(state, times) => {
                    seen.add(&spelling.allowed, state, times);
                    done += times;
                }
                Observation::GivenUp(times) => {
                    *given_up += times;
                    done += times;
                }
            }
            watch(done);
            *cut_short |= ends.is_some_and(|ends| Instant::now() >= ends);
            match *cut_short || runs.stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        *cut_short &= done < runs.count;
        self.time = start.elapsed();
        Ok(())
    }

    fn compare(&mut self) {
        for compared in &mut self.compared {
            let allowed = &compared.allowed;
            let outside = self.seen.states().filter(|(state, _)| !allowed.contains(state));
            compared.outside = outside.map(|(state, _)| state.to_vec()).collect();
        }
    }

    /// Broken if a `forall` or `~exists` of the test fails, or a model forbids an observed outcome;
    /// undecided if the time limit was reached before all runs.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        let Some(spelling) = self.compared.first() else { return Verdict::Holds(()) };
        let kept = holds_as_promised(self.test, self.seen.tally(self.test, &spelling.allowed));
        let outside = self.compared.iter().any(|compared| !compared.outside.is_empty());
        match kept && !outside {
            false => Verdict::Broken(()),
            true if self.cut_short => Verdict::Undecided(()),
            true => Verdict::Holds(()),
        }
    }

    /// What else is to be said, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let name = &self.test.name;
        let given_up = (self.given_up > 0).then(|| {
            format!(
                "{name}: {} runs were abandoned, because a loop took too many iterations",
                self.given_up
            )
        });
        let cut_short = (self.cut_short)
            .then(|| format!("{name}: the time limit was reached before all runs were made"));
        given_up.into_iter().chain(cut_short).collect()
    }

    /// Writes the outcomes as text or as a JSON object.
    pub fn write(&self, file: &str, json: bool, out: &mut dyn Write) -> io::Result<()> {
        let Some(spelling) = self.compared.first() else { return Ok(()) };
        if json {
            serde_json::to_writer(&mut *out, &self.object(file, &spelling.allowed))?;
            return writeln!(out);
        }
        self.seen.write(out, self.test, &spelling.allowed, self.time)?;
        for compared in &self.compared {
            compared.write(self.test, &self.seen, out)?;
        }
        writeln!(out)
    }

    /// The outcomes as JSON for a page; `None` if they were not compared with a model.
    pub fn shown(&self, file: &str) -> Option<serde_json::Value> {
        let spelling = self.compared.first()?;
        serde_json::to_value(self.object(file, &spelling.allowed)).ok()
    }

    fn object<'o>(&'o self, file: &'o str, spelling: &Outcomes<'_>) -> Object<'o> {
        let test = self.test;
        let tally = self.seen.tally(test, spelling);
        let (positive, negative) = tally.witnesses(test);
        let states = self.seen.states().map(|(state, count)| StateObject {
            count,
            holds: spelling.holds(&test.condition.proposition, state),
            values: values(spelling, test, state),
        });
        let compared = self.compared.iter().map(|compared| ComparedObject {
            allowed: bounded(compared.allowed.count()),
            memory_model: compared.model.name(),
            model: compared.model.name(),
            outside: compared.outside.iter().map(|state| values(spelling, test, state)).collect(),
            seen: self.seen.len() - compared.outside.len(),
            verdict: if compared.outside.is_empty() { "consistent" } else { "violation" },
        });
        Object {
            architecture: test.architecture.name(),
            compared: compared.collect(),
            condition: test.condition.spelled(test),
            cut_short: self.cut_short,
            file,
            given_up: self.given_up,
            kind: test.condition.quantifier.kind(),
            micros: micros(self.time),
            negative: bounded(negative),
            observation: tally.observation(),
            on: "host",
            positive: bounded(positive),
            runs: bounded(tally.states),
            seconds: self.time.as_secs_f64(),
            states: states.collect(),
            test: &test.name,
            verdict: if tally.validates(test) { "ok" } else { "no" },
        }
    }
}

/// The fields of the JSON object, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    architecture: &'static str,
    compared: Vec<ComparedObject>,
    condition: String,
    cut_short: bool,
    file: &'a str,
    given_up: u64,
    kind: &'static str,
    micros: u64,
    negative: u64,
    observation: &'static str,
    on: &'static str,
    positive: u64,
    runs: u64,
    seconds: f64,
    states: Vec<StateObject>,
    test: &'a str,
    verdict: &'static str,
}

#[derive(Serialize)]
struct ComparedObject {
    allowed: u64,
    memory_model: &'static str,
    model: &'static str,
    outside: Vec<Values>,
    seen: usize,
    verdict: &'static str,
}

#[derive(Serialize)]
struct StateObject {
    count: u64,
    holds: bool,
    values: Values,
}

impl Compared<'_> {
    /// `Compared SB tso Ok: 4 of 4 states seen`
    fn write(&self, test: &Litmus, seen: &Histogram, out: &mut dyn Write) -> io::Result<()> {
        let (name, model, allowed) = (&test.name, self.model, self.allowed.count());
        let inside = seen.len() - self.outside.len();
        if self.outside.is_empty() {
            return writeln!(out, "Compared {name} {model} Ok: {inside} of {allowed} states seen");
        }
        let outside = self.outside.len();
        writeln!(
            out,
            "Compared {name} {model} No: {inside} of {allowed} states seen, and {outside} that \
             {model} does not allow"
        )?;
        let spelled = |state: &Vec<u64>| self.allowed.spelled(state);
        self.outside
            .iter()
            .try_for_each(|state| writeln!(out, "Outside {model} {}", spelled(state)))
    }
}
