//! One test under one model: what is found, and how it is shown, in herd7's layout or as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use evidence::{Certificate, Evidence, Verdict};
use history::{EventId, Format};
use models::Model;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::condition::Quantifier;
use crate::layout::{self, Tally};
use crate::model::LitmusModel;
use crate::outcomes::{Outcomes, State, outcomes_of};
use crate::search::{Limits, Stopped};
use crate::test::Litmus;

/// A test, under a model.
pub struct Answer<'a> {
    /// The test.
    pub test: &'a Litmus,
    /// The model.
    pub model: LitmusModel,
    /// The outcomes with their number, or why there are none.
    pub found: Result<(Outcomes<'a>, Tally), Stopped>,
    /// The time that the answer took.
    pub time: Duration,
}

/// How answers are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// As JSON objects.
    pub json: bool,
    /// With an execution for each state.
    pub witness: bool,
    /// With a line for the model.
    pub heading: bool,
    /// In one line, without the states.
    pub summary: bool,
    /// For JSON: the largest number of states, those that meet the condition first; `None` for all.
    pub most_states: Option<usize>,
}

impl<'a> Answer<'a> {
    /// Enumerates the outcomes of a test under a model.
    ///
    /// ```
    /// use tribunal_litmus::{Answer, Limits, LitmusModel, parse};
    ///
    /// let text = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
    ///             MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
    /// let test = parse(text).map_err(|problem| problem.message)?;
    /// let tso = LitmusModel::named("tso").expect("it is shipped");
    /// let answer = Answer::of(&test, tso, &Limits::NONE);
    /// assert_eq!(answer.found.unwrap().1.observation(), "Sometimes");
    /// # Ok::<(), String>(())
    /// ```
    pub fn of(test: &'a Litmus, model: LitmusModel, limits: &Limits<'_>) -> Self {
        let start = Instant::now();
        let found = outcomes_of(test, &model, limits).map(|found| {
            let tally = Tally::of(test, &found);
            (found, tally)
        });
        Answer { test, model, found, time: start.elapsed() }
    }

    /// Whether the condition holds, if the test requires or forbids an outcome. What holds in all runs
    /// that were enumerated is undecided if there are longer ones.
    pub fn verdict(&self) -> Verdict<(), (), &Stopped> {
        match &self.found {
            Ok((found, tally)) if holds_as_promised(self.test, *tally) => {
                let is_claim = self.test.condition.quantifier != Quantifier::Exists;
                match is_claim && found.unrolled().is_some() {
                    true => Verdict::Undecided(&Stopped::Unrolled),
                    false => Verdict::Holds(()),
                }
            }
            Ok(_) => Verdict::Broken(()),
            Err(stopped) => Verdict::Undecided(stopped),
        }
    }

    /// How often loops were unrolled, if longer runs exist.
    pub fn unrolled(&self) -> Option<u32> {
        self.found.as_ref().ok().and_then(|(found, _)| found.unrolled())
    }

    /// Writes the answer, if there is one. The states, which may be many, are written one at a time.
    pub fn write(&self, file: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let Ok((found, tally)) = &self.found else { return Ok(()) };
        if style.json {
            serde_json::to_writer(&mut *out, &self.object(file, found, *tally, style))?;
            return writeln!(out);
        }
        if style.summary {
            let (positive, negative) = tally.witnesses(self.test);
            let (name, model) = (&self.test.name, self.model.name());
            let observation = tally.observation();
            let verdict = layout::verdict(self.test, found, *tally);
            return writeln!(
                out,
                "{file}: {name}: {model}: {verdict}: {observation} ({positive} positive, {negative} \
                 negative states)"
            );
        }
        if style.heading {
            writeln!(out, "Model {}", self.model.name())?;
        }
        layout::write(&mut &mut *out, self.test, found, *tally, self.time, |out, state| {
            if !style.witness {
                return Ok(());
            }
            let trace = witness(found, self.test, &self.model, state).0;
            trace.lines().try_for_each(|line| writeln!(out, "  {line}"))
        })
    }

    /// The answer as JSON with an execution for each state, as a page shows it; `None` if there is no
    /// answer.
    pub fn shown(&self, file: &str, most_states: usize) -> Option<serde_json::Value> {
        let (found, tally) = self.found.as_ref().ok()?;
        let style = Style { witness: true, most_states: Some(most_states), ..Style::default() };
        serde_json::to_value(self.object(file, found, *tally, style)).ok()
    }

    fn object<'o>(
        &'o self,
        file: &'o str,
        found: &'o Outcomes<'a>,
        tally: Tally,
        style: Style,
    ) -> Object<'o, 'a> {
        let Answer { test, model, .. } = self;
        let (positive, negative) = tally.witnesses(test);
        Object {
            architecture: test.architecture.name(),
            condition: test.condition.spelled(test),
            file,
            kind: test.condition.quantifier.kind(),
            loops_followed: found.unrolled(),
            machine_states: found.machine_states(),
            memory_model: model.name(),
            micros: micros(self.time),
            model: model.name(),
            negative: bounded(negative),
            observation: tally.observation(),
            positive: bounded(positive),
            seconds: self.time.as_secs_f64(),
            test: &test.name,
            verdict: match (self.verdict(), tally.validates(test)) {
                (Verdict::Undecided(_), _) => "undecided",
                (_, true) => "ok",
                (_, false) => "no",
            },
            why: match self.verdict() {
                Verdict::Undecided(stopped) => Some(stopped.to_string()),
                Verdict::Holds(()) | Verdict::Broken(()) => None,
            },
            states: States { found, test, model, witness: style.witness, most: style.most_states },
        }
    }
}

/// Whether the condition holds, if the test requires or forbids an outcome.
pub fn holds_as_promised(test: &Litmus, tally: Tally) -> bool {
    test.condition.quantifier == Quantifier::Exists || tally.validates(test)
}

/// A time in microseconds.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A count as JSON can have it.
pub fn bounded(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Why there is no answer, as a JSON object, in the order in which its fields are printed.
#[derive(Serialize)]
pub struct Unanswered<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The time in microseconds.
    pub micros: u64,
    /// The model that could not be used, if there is one.
    pub model: Option<&'a str>,
    /// The same model, under the name that it has in every command.
    pub memory_model: Option<&'a str>,
    /// The time in seconds.
    pub seconds: f64,
    /// The machine that it was run on, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<&'static str>,
    /// The name of the test.
    pub test: &'a str,
    /// `undecided`.
    pub verdict: &'static str,
    /// The reason.
    pub why: &'a str,
}

impl Unanswered<'_> {
    /// The object in one line, without the newline.
    pub fn json(&self) -> String {
        // It has strings for keys, and nothing in it refuses to be serialised.
        serde_json::to_string(self).expect("a report has a JSON form")
    }
}

/// The fields of an answer, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'o, 'a> {
    architecture: &'static str,
    condition: String,
    file: &'o str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    loops_followed: Option<u32>,
    machine_states: u64,
    memory_model: &'o str,
    micros: u64,
    model: &'o str,
    negative: u64,
    observation: &'static str,
    positive: u64,
    seconds: f64,
    test: &'o str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    states: States<'o, 'a>,
}

/// All states, made as they are written.
struct States<'o, 'a> {
    found: &'o Outcomes<'a>,
    test: &'o Litmus,
    model: &'o LitmusModel,
    witness: bool,
    most: Option<usize>,
}

#[derive(Serialize)]
struct StateObject {
    holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    values: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Vec<(u64, usize)>>,
}

impl Serialize for States<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut states = to.serialize_seq(None)?;
        let mut failure = None;
        if let Some(most) = self.most {
            for state in self.first(most) {
                states.serialize_element(&self.state(&state))?;
            }
            return states.end();
        }
        self.found.each(|state| {
            failure = states.serialize_element(&self.state(state)).err();
            failure.is_none()
        });
        match failure {
            Some(error) => Err(S::Error::custom(error)),
            None => states.end(),
        }
    }
}

impl States<'_, '_> {
    /// At most `most` states, those that meet the condition first.
    fn first(&self, most: usize) -> Vec<Vec<u64>> {
        /// If there are more states than this, not all are considered.
        const MOST_SEEN: usize = 100_000;
        let (mut meet, mut rest, mut seen) = (Vec::new(), Vec::new(), 0);
        self.found.each(|state| {
            seen += 1;
            let holds = self.found.holds(&self.test.condition.proposition, state);
            let kept = if holds { &mut meet } else { &mut rest };
            if kept.len() < most {
                kept.push(state.to_vec());
            }
            (meet.len() < most || rest.len() < most) && seen < MOST_SEEN
        });
        meet.append(&mut rest);
        meet.truncate(most);
        meet
    }

    fn state(&self, state: &State) -> StateObject {
        let (trace, witness) = match self.witness {
            true => {
                let (trace, order) = witness(self.found, self.test, self.model, state);
                (Some(trace), order)
            }
            false => (None, None),
        };
        StateObject {
            holds: self.found.holds(&self.test.condition.proposition, state),
            trace,
            values: values(self.found, self.test, state),
            witness,
        }
    }
}

/// The values of a state by their places.
pub type Values = BTreeMap<String, ShownValue>;

/// A value as JSON has it: a number, if it is one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum ShownValue {
    /// A number with a sign.
    Signed(i64),
    /// A number too large for one.
    Unsigned(u64),
    /// The name of a location.
    Name(String),
}

/// The values of a state by their places.
pub fn values(found: &Outcomes<'_>, test: &Litmus, state: &State) -> Values {
    let places = found.places().iter().zip(state).enumerate();
    let value = |index: usize, value: u64| {
        let shown = found.value(index, value);
        match (shown.parse(), shown.parse()) {
            (Ok(number), _) => ShownValue::Signed(number),
            (_, Ok(number)) => ShownValue::Unsigned(number),
            _ => ShownValue::Name(shown),
        }
    };
    places.map(|(index, (&place, &bits))| (test.place(place), value(index, bits))).collect()
}

/// A trace that ends in this state, and if it is the run of a machine the order of its events. It
/// is accepted by the kernel, or by the definition of the file.
fn witness(
    found: &Outcomes<'_>,
    test: &Litmus,
    model: &LitmusModel,
    state: &State,
) -> (String, Option<Vec<(u64, usize)>>) {
    if let Some(reached) = found.reached(state) {
        let allowed = cat::allows(model.file(), &reached.execution, &reached.choice);
        assert!(allowed, "the definition rejects an execution under {}", model.name());
        return (reached.text(test), None);
    }
    let machine = model.machine().expect("what no file has found was found by a machine");
    let (trace, order) = execution(found, machine, state);
    (trace, Some(order))
}

/// A run of a machine that ends in this state, and the order of its events, accepted by the kernel.
fn execution(found: &Outcomes<'_>, model: Model, state: &State) -> (String, Vec<(u64, usize)>) {
    let execution = found.execution(state).ok().flatten();
    let execution = execution.expect("what was reached can be reached again");
    let history = &execution.history;
    let evidence = Evidence::Consistent(execution.witness());
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify::certify(history, &certificate) {
        panic!("the kernel rejects an execution under {model}: {rejection}");
    }
    let pair = |&event: &EventId| {
        let thread = history.thread_of(event);
        (history.thread_label(thread), event.index() - history.thread_range(thread).start)
    };
    (Format::Text.text(history), execution.order.iter().map(pair).collect())
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Asked { states } => {
                write!(f, "the time limit was reached after {states} states (raise --budget)")
            }
            Stopped::Memory { states } => {
                write!(f, "the memory limit was reached after {states} states (raise --memory)")
            }
            Stopped::Endless { thread } => {
                write!(f, "thread {thread} has an endless loop without memory accesses")
            }
            Stopped::Runs { thread } => write!(f, "thread {thread} has too many possible runs"),
            Stopped::Unrolled => f.write_str(
                "the claim holds in all runs that were enumerated; there are longer ones, since \
                 loops were unrolled a few times only",
            ),
            Stopped::Mixed { thread, .. } => {
                let what =
                    "mixed sizes need aligned accesses and a model with a coherence condition";
                write!(f, "thread {thread} accesses a part of a location: {what}")
            }
            Stopped::Fault { thread, address } => {
                let what = "which is not the address of a location";
                write!(f, "thread {thread} accesses {address:#x}, {what}")
            }
        }
    }
}
