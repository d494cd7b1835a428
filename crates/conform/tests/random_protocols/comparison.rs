//! What `verify` says of a protocol beside what brute force has found.
//!
//! Two things are wrong: `verified` where a trace is forbidden, and `violation` where the shown
//! trace is allowed or no run of the protocol has it. Everything else is an answer that may be weak
//! but is not false.

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::source::Source;
use murphi::value::State;
use tribunal_conform::{
    Counterexample, MemoryModel, Options, Unknown, Verdict, Verification, ViolationKind, verify,
};

use crate::brute_force::interpreter;
use crate::machine::{self, Event, Trace};
use crate::protocol::{Protocol, Reader};
use crate::sabotage::Sabotage;

/// The answers that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    Verified,
    Violation,
    FalseAlarm,
    Undecided,
    Broken,
    Refused,
}

impl Answer {
    pub(crate) const ALL: [Answer; 6] = [
        Answer::Verified,
        Answer::Violation,
        Answer::FalseAlarm,
        Answer::Undecided,
        Answer::Broken,
        Answer::Refused,
    ];
}

/// What was said, and what is wrong with it.
pub(crate) struct Said {
    pub(crate) answer: Answer,
    pub(crate) wrong: Option<String>,
    /// The claim that was broken, if one was.
    pub(crate) claim: Option<String>,
}

/// The most states of a search.
const MOST_STATES: u64 = 20_000;

/// How many alarms are passed over.
const MOST_ALARMS: usize = 8;

/// The most rules that are run to take a run again.
const MOST_RUNS: usize = 100_000;

fn options(memory_model: MemoryModel) -> Options {
    let mut options = Options { memory_model, protocol: false, ..Options::default() };
    options.search.threads = 1;
    options.search.deadlock = explore::Deadlock::Off;
    options.search.states = Some(MOST_STATES);
    options.pass_over = MOST_ALARMS;
    options
}

/// Asks about a protocol.
pub(crate) fn ask(protocol: &Protocol, memory_model: MemoryModel, sabotage: Sabotage) -> Said {
    let mut options = options(memory_model);
    let asked = sabotage.done(protocol, &mut options);
    let text = asked.text(Reader::Verify, protocol.value_count);
    let source = Source { name: "protocol.m".to_owned(), text };
    let stop = AtomicBool::new(false);
    let asked = AssertUnwindSafe(|| verify(&source, &options, &mut |_, _| (), &stop));
    let said = |answer| Said { answer, wrong: None, claim: None };
    match catch_unwind(asked) {
        Err(_) => Said { wrong: Some("verify panics".to_owned()), ..said(Answer::Refused) },
        Ok(Err(_)) => said(Answer::Refused),
        Ok(Ok(found)) => judged(protocol, memory_model, &found),
    }
}

fn judged(protocol: &Protocol, memory_model: MemoryModel, found: &Verification) -> Said {
    let mut said = Said { answer: Answer::Undecided, wrong: None, claim: None };
    said.answer = match &found.verdict {
        Verdict::Holds(()) => Answer::Verified,
        Verdict::Broken(ViolationKind::Protocol) => Answer::Broken,
        Verdict::Undecided(Unknown::FalseAlarm(found)) => {
            said.claim = Some(found.claim.clone());
            Answer::FalseAlarm
        }
        Verdict::Broken(ViolationKind::MemoryModel(counterexample)) => {
            said.claim = Some(counterexample.claim.clone());
            said.wrong = not_a_violation(protocol, memory_model, counterexample);
            Answer::Violation
        }
        _ => Answer::Undecided,
    };
    said
}

/// Why a counterexample shows nothing, if so.
fn not_a_violation(
    protocol: &Protocol,
    memory_model: MemoryModel,
    found: &Counterexample,
) -> Option<String> {
    let trace = shown(found);
    if machine::allows(&trace, memory_model == MemoryModel::Tso) {
        return Some(format!("the trace is allowed:\n{}", trace.text()));
    }
    let most = found.trace.events.iter().map(|event| event.value).max().unwrap_or(0);
    let values = protocol.value_count.max(most as usize + 1);
    match interpreter(&protocol.text(Reader::BruteForce, values)) {
        Err(why) => Some(format!("with {values} values the protocol is refused: {why}")),
        Ok(interpreter) => {
            let mut replay =
                Replay { interpreter: &interpreter, found, dead: HashSet::new(), left: MOST_RUNS };
            let is_wrong = !replay.runs() && replay.left > 0;
            is_wrong.then(|| format!("no run of the protocol has this trace:\n{}", trace.text()))
        }
    }
}

/// The trace of a counterexample: 0 is what everything holds at first.
fn shown(found: &Counterexample) -> Trace {
    let mut trace = Trace::default();
    let mut names: [Vec<&str>; 2] = [Vec::new(), Vec::new()];
    for event in &found.trace.events {
        let [processor, address] =
            [(0, &*event.processor), (1, &*event.address)].map(|(at, name)| {
                let known = names[at].iter().position(|known| *known == name);
                let number = known.unwrap_or_else(|| {
                    names[at].push(name);
                    names[at].len() - 1
                });
                number as u8
            });
        let (is_store, value) = (event.is_store, event.value as u8);
        trace.begin(address, 0);
        trace.push(Event { processor, is_store, address, value });
    }
    trace
}

/// What a value of the shown trace is in the run: by address.
type Names = BTreeMap<(String, u64), String>;

/// Takes a run again by the rules that it names, with any values, so that the events are those of
/// the trace.
struct Replay<'a> {
    interpreter: &'a Interpreter,
    found: &'a Counterexample,
    dead: HashSet<(usize, Vec<u8>, Names)>,
    /// How many more rules may be run. If there are none left, nothing is known.
    left: usize,
}

impl Replay<'_> {
    fn runs(&mut self) -> bool {
        let interpreter = self.interpreter;
        let model = interpreter.model();
        let Some(first) = self.found.run.first() else { return false };
        let Some(rule) = model.start_states.get(first.rule as usize) else { return false };
        (0..instance::count(model, &rule.parameters).unwrap_or(0)).any(|number| {
            match interpreter.start(first.rule as usize, number).end {
                End::Done(state) => self.goes_on(1, &state, &Names::new()),
                _ => false,
            }
        })
    }

    /// Whether the run goes on from its step with a number.
    fn goes_on(&mut self, step: usize, state: &State, names: &Names) -> bool {
        let interpreter = self.interpreter;
        let model = interpreter.model();
        let Some(taken) = self.found.run.get(step) else { return true };
        let key = (step, state.encode(model, interpreter.layout()), names.clone());
        if self.dead.contains(&key) {
            return false;
        }
        let rule = taken.rule as usize;
        let instances = instance::count(model, &model.rules[rule].parameters).unwrap_or(0);
        for number in 0..instances {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return false;
            }
            let run = interpreter.run_rule(state, rule, number);
            let End::Done(next) = run.end else { continue };
            if let Some(names) = self.matched(step, &run.output, names)
                && self.goes_on(step + 1, &next, &names)
            {
                return true;
            }
        }
        self.dead.insert(key);
        false
    }

    /// The names of values after a step, if it has the events of the trace.
    fn matched(&self, step: usize, output: &str, names: &Names) -> Option<Names> {
        let mut names = names.clone();
        let mut wanted = self.found.trace.events.iter().filter(|event| event.step == step);
        for line in output.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [kind @ ("load" | "store"), processor, address, value] = words[..] else {
                continue;
            };
            let event = wanted.next()?;
            if (event.is_store, &*event.processor, &*event.address)
                != (kind == "store", processor, address)
            {
                return None;
            }
            let key = (event.address.clone(), event.value);
            let taken = |names: &Names| {
                names.iter().any(|((other, _), name)| *other == event.address && *name == value)
            };
            match names.get(&key) {
                Some(name) if name == value => {}
                None if !taken(&names) => drop(names.insert(key, value.to_owned())),
                _ => return None,
            }
        }
        wanted.next().is_none().then_some(names)
    }
}
