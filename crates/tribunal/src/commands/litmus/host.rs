//! Litmus tests on this machine: how often each final state was seen, in litmus7's layout, and
//! whether a model allows all of them.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::{Host, Seen};
use litmus::{Histogram, Outcomes, State};
use models::Model;
use serde_json::{Map, Value as Json, json};
use stress::{Runs, TargetError, TargetName};

use super::answer::{Asking, holds_as_promised, micros, place_values};
use super::{Test, remark};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::output::Output;
use crate::progress::Progress;

/// A machine to run tests on; `None` if that was not asked for.
pub(super) fn asked(target: Option<&TargetName>) -> Result<Option<Host>, Failure> {
    match target {
        None => Ok(None),
        Some(TargetName::Host) => {
            let host = Host::new().map_err(|why| Failure::Usage(why.to_string()))?;
            Ok(Some(host))
        }
        Some(other) => Err(Failure::Usage(format!(
            "litmus tests are run on `host` or enumerated under a model (--model), not run on \
             {other}"
        ))),
    }
}

/// Runs the tests one after the other: each takes all cores.
pub(super) fn run_all(
    tests: &[Test],
    asking: &Asking<'_>,
    host: &mut Host,
    progress: &Progress,
    output: &mut Output,
) -> Result<Ending, Failure> {
    let mut ending = Ending::Kept;
    for test in tests {
        if asking.interrupt.happened() {
            break;
        }
        let ended = match one(test, asking, host, progress) {
            Ok(ran) => {
                progress.hide();
                ran.tell(asking, output.writer()).map_err(Failure::of_stdout)?
            }
            Err(unanswered) => {
                progress.hide();
                unanswered.tell(test, asking, output.writer()).map_err(Failure::of_stdout)?
            }
        };
        ending = ending.and(ended);
        output.flush()?;
    }
    Ok(ending)
}

/// What came of a test.
struct Ran<'a> {
    test: &'a Test,
    seen: Histogram,
    given_up: u64,
    /// Whether the time ran out.
    cut_short: bool,
    time: Duration,
    compared: Vec<Compared<'a>>,
}

/// What a model says of what was seen.
struct Compared<'a> {
    model: Model,
    allowed: Outcomes<'a>,
    /// States that were seen and that it does not allow.
    outside: Vec<Vec<u64>>,
}

/// Why there is no answer about a test.
struct Unanswered {
    /// As a sentence that follows the name of the test.
    why: String,
    /// The model that could not be asked; if there is none, it is the machine.
    model: Option<Model>,
    time: Duration,
    ending: Ending,
}

impl Unanswered {
    /// Says so; as an object, too, if what was asked is only undecided.
    fn tell(&self, test: &Test, asking: &Asking<'_>, out: &mut dyn Write) -> io::Result<Ending> {
        let (file, name) = (input::shown(&test.file), &test.litmus.name);
        if asking.arguments.json.json && self.ending != Ending::Unasked {
            let object = json!({
                "file": file, "test": name, "on": "host", "model": self.model.map(Model::name),
                "verdict": "undecided", "why": self.why, "micros": micros(self.time),
            });
            writeln!(out, "{object}")?;
        }
        match self.model {
            Some(model) => remark(&format!("{file}: {name} under {model}: {}", self.why)),
            None => remark(&format!("{file}: {name} is not run: {}", self.why)),
        }
        Ok(self.ending)
    }
}

/// Asks the models, then the machine.
fn one<'a>(
    test: &'a Test,
    asking: &Asking<'_>,
    host: &mut Host,
    progress: &Progress,
) -> Result<Ran<'a>, Unanswered> {
    let start = Instant::now();
    let mut compared = Vec::new();
    for &model in &asking.arguments.model {
        match asking.answer(test, model) {
            Ok((allowed, _)) => compared.push(Compared { model, allowed, outside: Vec::new() }),
            Err(stopped) => {
                let (why, ending) = asking.why_stopped(&stopped);
                return Err(Unanswered { why, model: Some(model), time: start.elapsed(), ending });
            }
        }
    }
    let spare = test.litmus.threads.len().saturating_sub(host.cores().len());
    if spare > 0 && !asking.arguments.quiet.quiet {
        progress.hide();
        remark(&format!(
            "{}: its {} threads share {} cores, so that only some of them race at a time",
            test.litmus.name,
            test.litmus.threads.len(),
            host.cores().len()
        ));
    }
    let mut ran = Ran {
        test,
        seen: Histogram::default(),
        given_up: 0,
        cut_short: false,
        time: Duration::ZERO,
        compared,
    };
    ran.run(asking, host).map_err(|why| Unanswered {
        why: why.to_string(),
        model: None,
        time: start.elapsed(),
        ending: Ending::Unasked,
    })?;
    Ok(ran)
}

impl Ran<'_> {
    fn run(&mut self, asking: &Asking<'_>, host: &mut Host) -> Result<(), TargetError> {
        let start = Instant::now();
        let ends = asking.arguments.limits.budget.map(|budget| start + budget);
        let stop: &AtomicBool = &asking.interrupt.flag();
        let runs = Runs { count: asking.arguments.runs, seed: asking.arguments.seed, stop };
        let (seen, given_up, cut_short) = (&mut self.seen, &mut self.given_up, &mut self.cut_short);
        let Some(spelling) = self.compared.first() else { return Ok(()) };
        let name = &self.test.litmus.name;
        let mut done = 0;
        host.litmus(&self.test.litmus, runs, &mut |came| {
            match came {
                Seen::State(state, times) => {
                    seen.add(&spelling.allowed, state, times);
                    done += times;
                }
                Seen::GivenUp(times) => {
                    *given_up += times;
                    done += times;
                }
            }
            asking.teller.say(|| format!("{name} on this machine: {done} runs"));
            *cut_short |= ends.is_some_and(|ends| Instant::now() >= ends);
            match *cut_short || stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        *cut_short &= done < asking.arguments.runs;
        self.time = start.elapsed();
        for compared in &mut self.compared {
            let allowed = &compared.allowed;
            let outside = self.seen.states().filter(|(state, _)| !allowed.contains(state));
            compared.outside = outside.map(|(state, _)| state.to_vec()).collect();
        }
        Ok(())
    }

    fn tell(&self, asking: &Asking<'_>, out: &mut dyn Write) -> io::Result<Ending> {
        let litmus = &self.test.litmus;
        let Some(spelling) = self.compared.first() else { return Ok(Ending::Kept) };
        if asking.arguments.json.json {
            writeln!(out, "{}", self.object(&spelling.allowed))?;
        } else {
            self.seen.write(out, litmus, &spelling.allowed, self.time)?;
            for compared in &self.compared {
                compared.tell(litmus, &self.seen, out)?;
            }
            writeln!(out)?;
        }
        if !asking.arguments.quiet.quiet {
            self.remarks();
        }
        let kept = holds_as_promised(litmus, self.seen.tally(litmus, &spelling.allowed));
        let outside = self.compared.iter().any(|compared| !compared.outside.is_empty());
        Ok(match kept && !outside {
            false => Ending::Broken,
            true if self.cut_short => Ending::Undecided,
            true => Ending::Kept,
        })
    }

    fn remarks(&self) {
        let name = &self.test.litmus.name;
        if self.given_up > 0 {
            remark(&format!(
                "{name}: {} runs were given up, because a thread went round a loop too often",
                self.given_up
            ));
        }
        if self.cut_short {
            remark(&format!("{name}: the time ran out before all runs were made"));
        }
    }

    fn object(&self, spelling: &Outcomes<'_>) -> Json {
        let litmus = &self.test.litmus;
        let tally = self.seen.tally(litmus, spelling);
        let (positive, negative) = tally.witnesses(litmus);
        let number = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
        let states = self.seen.states().map(|(state, times)| {
            let holds = spelling.holds(&litmus.condition.proposition, state);
            json!({ "values": values(spelling, self.test, state), "holds": holds, "count": times })
        });
        let compared = self.compared.iter().map(|compared| {
            let outside = compared.outside.iter();
            let outside = outside.map(|state| Json::from(values(spelling, self.test, state)));
            json!({
                "model": compared.model.name(),
                "verdict": if compared.outside.is_empty() { "consistent" } else { "violation" },
                "allowed": number(compared.allowed.count()),
                "seen": self.seen.len() - compared.outside.len(),
                "outside": outside.collect::<Vec<Json>>(),
            })
        });
        json!({
            "file": input::shown(&self.test.file),
            "test": litmus.name,
            "architecture": litmus.architecture.name(),
            "on": "host",
            "runs": number(tally.states),
            "given_up": self.given_up,
            "cut_short": self.cut_short,
            "verdict": if tally.validates(litmus) { "ok" } else { "no" },
            "kind": litmus.condition.quantifier.kind(),
            "condition": litmus.condition.spelled(litmus),
            "observation": tally.observation(),
            "positive": number(positive),
            "negative": number(negative),
            "micros": micros(self.time),
            "states": states.collect::<Vec<Json>>(),
            "compared": compared.collect::<Vec<Json>>(),
        })
    }
}

impl Compared<'_> {
    /// `Compared SB tso Ok: 4 of 4 states seen`
    fn tell(
        &self,
        litmus: &litmus::Litmus,
        seen: &Histogram,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (name, model, allowed) = (&litmus.name, self.model, self.allowed.count());
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

fn values(spelling: &Outcomes<'_>, test: &Test, state: &State) -> Map<String, Json> {
    place_values(spelling, &test.litmus, state)
}
