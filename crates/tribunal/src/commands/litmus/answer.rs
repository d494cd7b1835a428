//! One test under one model: what is found, and how it is told.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use evidence::{Certificate, Evidence};
use litmus::layout::{self, Tally};
use litmus::{Limits, Litmus, Outcomes, Quantifier, State, Stopped, outcomes};
use models::Model;
use serde_json::{Map, Value as Json, json};

use super::Test;
use crate::arguments::LitmusArguments;
use crate::ending::Ending;
use crate::input;
use crate::interrupt::Interrupt;
use crate::progress::Teller;

/// What every answer needs.
pub(super) struct Asking<'a> {
    pub(super) arguments: &'a LitmusArguments,
    pub(super) interrupt: &'a Interrupt,
    pub(super) teller: Teller,
}

/// The outcomes with their number, or why there are none.
pub(super) type Answer<'a> = Result<(Outcomes<'a>, Tally), Stopped>;

impl Asking<'_> {
    /// Enumerates.
    pub(super) fn answer<'t>(&self, test: &'t Test, model: Model) -> Answer<'t> {
        let limits = &self.arguments.limits;
        let deadline = limits.budget.map(|budget| Instant::now() + budget);
        let go_on = |states| {
            self.teller.say(|| format!("{} under {model}: {states} states", test.litmus.name));
            !self.interrupt.happened() && deadline.is_none_or(|end| Instant::now() < end)
        };
        let limits = Limits { memory: limits.memory.memory, go_on: &go_on };
        let found = outcomes(&test.litmus, model, &limits)?;
        let tally = Tally::of(&test.litmus, &found);
        Ok((found, tally))
    }

    /// Tells.
    pub(super) fn write<W: Write + ?Sized>(
        &self,
        answer: &Answer<'_>,
        test: &Test,
        model: Model,
        time: Duration,
        mut out: &mut W,
    ) -> io::Result<Ending> {
        let (found, tally) = match answer {
            Ok(answer) => answer,
            Err(stopped) => return self.stopped(stopped, test, model, time, out),
        };
        if self.arguments.json.json {
            self.object(found, *tally, test, model, time, out)?;
        } else {
            if self.arguments.model.len() > 1 {
                writeln!(out, "Model {model}")?;
            }
            layout::write(&mut out, &test.litmus, found, *tally, time, |out, state| {
                if !self.arguments.witness {
                    return Ok(());
                }
                let (trace, _) = execution(found, model, state);
                trace.lines().try_for_each(|line| writeln!(out, "  {line}"))
            })?;
        }
        if let (Some(rounds), false) = (found.unrolled(), self.arguments.quiet.quiet) {
            super::remark(&format!(
                "{}: under {model}, loops were followed {rounds} times and no further",
                input::shown(&test.file)
            ));
        }
        Ok(match holds_as_promised(&test.litmus, *tally) {
            true => Ending::Kept,
            false => Ending::Broken,
        })
    }

    /// Says why there is no answer.
    fn stopped<W: Write + ?Sized>(
        &self,
        stopped: &Stopped,
        test: &Test,
        model: Model,
        time: Duration,
        out: &mut W,
    ) -> io::Result<Ending> {
        let (why, ending) = self.why_stopped(stopped);
        let file = input::shown(&test.file);
        if self.arguments.json.json && ending != Ending::Unasked {
            let object = json!({
                "file": file, "test": test.litmus.name, "model": model.name(),
                "verdict": "undecided", "why": why, "micros": micros(time),
            });
            writeln!(out, "{object}")?;
        }
        super::remark(&format!("{file}: {} under {model}: {why}", test.litmus.name));
        Ok(ending)
    }

    /// The reason as a sentence, and how the run ends for it.
    pub(super) fn why_stopped(&self, stopped: &Stopped) -> (String, Ending) {
        match stopped {
            Stopped::Asked { .. } if self.interrupt.happened() => {
                ("interrupted".to_owned(), Ending::Interrupted)
            }
            Stopped::Asked { states } => {
                (format!("the time ran out after {states} states"), Ending::Undecided)
            }
            Stopped::Memory { states } => {
                (format!("the memory ran out after {states} states"), Ending::Undecided)
            }
            Stopped::Endless { thread } => {
                let what = "computes without end between two accesses";
                (format!("thread {thread} {what}"), Ending::Undecided)
            }
            Stopped::Runs { thread } => {
                (format!("thread {thread} has too many runs"), Ending::Undecided)
            }
            Stopped::Fault { thread, address } => {
                let what = "which is not the address of a location";
                (format!("thread {thread} accesses {address:#x}, {what}"), Ending::Unasked)
            }
        }
    }

    /// Writes the answer as a JSON object. The states, which may be many, come last, one at a time.
    fn object<W: Write + ?Sized>(
        &self,
        found: &Outcomes<'_>,
        tally: Tally,
        test: &Test,
        model: Model,
        time: Duration,
        out: &mut W,
    ) -> io::Result<()> {
        let litmus = &test.litmus;
        let (positive, negative) = tally.witnesses(litmus);
        let number = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
        let mut object = json!({
            "file": input::shown(&test.file),
            "test": litmus.name,
            "architecture": litmus.architecture.name(),
            "model": model.name(),
            "verdict": if tally.validates(litmus) { "ok" } else { "no" },
            "kind": litmus.condition.quantifier.kind(),
            "condition": litmus.condition.spelled(litmus),
            "observation": tally.observation(),
            "positive": number(positive),
            "negative": number(negative),
            "machine_states": found.machine_states(),
            "micros": micros(time),
        });
        if let Some(rounds) = found.unrolled() {
            object["loops_followed"] = rounds.into();
        }
        let head = object.to_string();
        write!(out, "{},\"states\":[", head.strip_suffix('}').unwrap_or(&head))?;
        let mut result = Ok(());
        let mut separator = "";
        found.each(|state| {
            result = write!(out, "{separator}{}", self.state(found, test, model, state));
            separator = ",";
            result.is_ok()
        });
        result?;
        writeln!(out, "]}}")
    }

    fn state(&self, found: &Outcomes<'_>, test: &Test, model: Model, state: &State) -> Json {
        let values = place_values(found, &test.litmus, state);
        let holds = found.holds(&test.litmus.condition.proposition, state);
        let mut object = json!({ "values": values, "holds": holds });
        if self.arguments.witness {
            let (trace, order) = execution(found, model, state);
            object["trace"] = trace.into();
            object["witness"] = order;
        }
        object
    }
}

/// Whether a promise of the test, if its condition is one, is kept.
pub(super) fn holds_as_promised(litmus: &Litmus, tally: Tally) -> bool {
    litmus.condition.quantifier == Quantifier::Exists || tally.validates(litmus)
}

/// The values of a state by their places.
pub(super) fn place_values(
    found: &Outcomes<'_>,
    litmus: &Litmus,
    state: &State,
) -> Map<String, Json> {
    let places = found.places().iter().zip(state).enumerate();
    places
        .map(|(index, (&place, &value))| {
            let shown = found.value(index, value);
            let value = match shown.parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => shown.parse::<u64>().map_or(shown.into(), Json::from),
            };
            (litmus.place(place), value)
        })
        .collect()
}

pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A trace that ends in this state, and the order of its events, accepted by the kernel.
fn execution(found: &Outcomes<'_>, model: Model, state: &State) -> (String, Json) {
    let execution = found.execution(state).ok().flatten();
    let execution = execution.expect("what was reached can be reached again");
    let history = &execution.history;
    let evidence = Evidence::Consistent(execution.witness());
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify::certify(history, &certificate) {
        panic!("the kernel rejects an execution under {model}: {rejection}");
    }
    let mut text = Vec::new();
    history::write_text(history, &mut text).expect("a vector takes everything");
    let pair = |&event: &history::EventId| {
        let thread = history.thread_of(event);
        json!([history.thread_label(thread), event.index() - history.thread_range(thread).start])
    };
    let order = execution.order.iter().map(pair).collect();
    (String::from_utf8_lossy(&text).into_owned(), order)
}
