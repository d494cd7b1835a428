//! What verification says about a protocol, and what its traces say.
//!
//! `verify` visits all states, within so many bytes of memory; random walks record so many traces,
//! which the trace checker judges. So the answer is the same on every machine. Claims of the
//! protocol itself (invariants, assertions) are left out on both sides, and a rule that fails (it
//! copies a value that is not there) does not apply: what is compared is what software would see.
//! Where no trace violates a model that verification says is broken, a walk is taken along the run
//! that it says so by.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use conform::mutate::without_claims;
use conform::{
    Counterexample, Failure, MemoryModel, Options, RecordOptions, Unknown, Verdict, Verification,
    ViolationKind, record, verify,
};
use judge::{Budget, Engine, Outcome, judge};
use models::Model;
use murphi::ast::Program;
use murphi::instance::bindings;
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;
use murphi::value::State;
use tribunal_stress::protocol::{
    Clients, Ending, Plan, Protocol, ScheduledStep, TraceWriter, Walk, WalkJob, walk_all,
};

/// How both halves are asked.
#[derive(Clone)]
pub(crate) struct Asked {
    /// `sc` or `tso`.
    pub(crate) model: Model,
    /// Constants of the model.
    pub(crate) constants: Vec<(String, String)>,
    /// How many traces, if none violates the model.
    pub(crate) traces: u64,
    /// So many more, if verification does not say that none should.
    pub(crate) more: u64,
    /// Loads and stores of each trace.
    pub(crate) operations: usize,
    pub(crate) clients: Clients,
    /// Rules by their names, and how much likelier than usual they are.
    pub(crate) weights: Vec<(String, f64)>,
    pub(crate) seed: u64,
    /// Bytes of memory for each lemma.
    pub(crate) memory: u64,
    /// How many alarms of a lemma are looked at.
    pub(crate) alarms: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            model: Model::Sc,
            constants: Vec::new(),
            traces: 1000,
            more: 20_000,
            operations: 64,
            clients: Clients::Swarm,
            weights: Vec::new(),
            seed: 0,
            memory: 256 << 20,
            alarms: 20,
        }
    }
}

/// What both halves say.
pub(crate) struct Answers {
    pub(crate) verified: Verified,
    /// The run that verification objects to.
    pub(crate) objection: Option<Objection>,
    pub(crate) traces: Traces,
}

/// What verification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verified {
    Holds,
    Violated,
    FalseAlarm,
    /// It cannot be asked: a start state fails, or the composition with an observer cannot be run.
    Broken,
    Undecided,
}

/// A run that an observer objects to, and its loads and stores.
pub(crate) struct Objection {
    pub(crate) steps: Vec<ScheduledStep>,
    pub(crate) trace: String,
}

/// What the traces say.
#[derive(Default)]
pub(crate) struct Traces {
    /// How many there are, up to the first that violates the model.
    pub(crate) count: u64,
    pub(crate) violates: bool,
    /// How many ended early.
    pub(crate) short: u64,
    /// If none violates the model, whether one does that is walked along the run that verification
    /// refutes the protocol by: then there are such walks, and chance has not found one.
    pub(crate) retraced: bool,
}

impl Answers {
    /// Whether the two say the same; `None` where one of them has no answer.
    pub(crate) fn agree(&self) -> Option<bool> {
        match self.verified {
            Verified::Holds => Some(!self.traces.violates),
            Verified::Violated => Some(self.traces.violates || self.traces.retraced),
            // What violates the model violates it, whatever the other half can say.
            _ => None,
        }
    }
}

/// Asks both; `None` if the protocol cannot be recorded at all.
pub(crate) fn ask(name: &str, program: &Program, asked: &Asked) -> Option<Answers> {
    let source = Source { name: name.to_owned(), text: print(&without_claims(program)) };
    let constants = asked.constants.clone();
    let language = murphi::check::Options { constants, ..murphi::check::Options::default() };
    let options = RecordOptions {
        language: language.clone(),
        values: 2 * asked.operations as u64 + 32,
        ..RecordOptions::default()
    };
    let mut protocol = Protocol::new(record(&source, &options).ok()?).ok()?;
    for (rule, factor) in &asked.weights {
        protocol.favour(rule, *factor).expect("there is such a rule");
    }
    let (verified, objection) = verified(&source, language, asked);
    let count = asked.traces + if verified == Verified::Holds { 0 } else { asked.more };
    let mut traces = traces(&protocol, asked, count);
    if let (false, Verified::Violated, Some(run)) = (traces.violates, verified, &objection) {
        let walk = protocol.walker().retrace(&run.steps);
        traces.retraced =
            walk.is_ok_and(|walk| violates(&TraceWriter::new(&protocol), asked, &walk));
    }
    Some(Answers { verified, objection, traces })
}

fn verified(
    source: &Source,
    language: murphi::check::Options,
    asked: &Asked,
) -> (Verified, Option<Objection>) {
    let memory_model = match asked.model {
        Model::Tso => MemoryModel::Tso,
        _ => MemoryModel::Sc,
    };
    let mut options = Options { memory_model, language, protocol: false, ..Options::default() };
    options.search.memory = Some(asked.memory);
    options.pass_over = asked.alarms;
    options.forgiving = true;
    let found = match verify(source, &options, &mut |_, _| (), &AtomicBool::new(false)) {
        Ok(found) => found,
        Err(Failure::Unsuitable(_) | Failure::Composition(..)) => return (Verified::Broken, None),
        Err(_) => return (Verified::Undecided, None),
    };
    match &found.verdict {
        Verdict::Broken(ViolationKind::MemoryModel(run)) => {
            (Verified::Violated, Some(objection(&found, run)))
        }
        Verdict::Undecided(Unknown::FalseAlarm(run)) => {
            (Verified::FalseAlarm, Some(objection(&found, run)))
        }
        Verdict::Holds(()) => (Verified::Holds, None),
        Verdict::Broken(ViolationKind::Protocol) => (Verified::Broken, None),
        Verdict::Undecided(_) => (Verified::Undecided, None),
    }
}

fn objection(found: &Verification, alarm: &Counterexample) -> Objection {
    let steps = called(&found.lemmas[alarm.lemma].interpreter, &alarm.run);
    Objection { steps, trace: alarm.trace.text(false) }
}

/// The steps of a run, by the names of their parameters.
fn called(lemma: &Interpreter, run: &[explore::Step]) -> Vec<ScheduledStep> {
    let (model, layout) = (lemma.model(), lemma.layout());
    let steps = run.windows(2).map(|pair| {
        let from = State::decode(model, layout, &pair[0].state).expect("it is a state");
        let rule = &model.rules[pair[1].rule as usize];
        let parameters = bindings(model, rule, pair[1].instance, &from);
        ScheduledStep { rule: pair[1].rule, parameters }
    });
    steps.collect()
}

fn violates(scribe: &TraceWriter<'_>, asked: &Asked, walk: &Walk) -> bool {
    let history = scribe.history(walk, false).expect("what a protocol records is a history");
    let verdict = judge(&history, asked.model, Engine::Auto, &Budget::unlimited());
    matches!(verdict.outcome, Outcome::Broken(_))
}

fn traces(protocol: &Protocol, asked: &Asked, count: u64) -> Traces {
    let plan = Plan {
        operations: asked.operations,
        seed: asked.seed,
        clients: asked.clients,
        ..Plan::default()
    };
    let scribe = TraceWriter::new(protocol);
    let stop = AtomicBool::new(false);
    let fleet = WalkJob { count, jobs: 1, stop: &stop };
    let make = |walk: Walk| (violates(&scribe, asked, &walk), walk.ending != Ending::Complete);
    let mut found = Traces::default();
    walk_all(protocol, &plan, fleet, make, &mut |(violates, short)| {
        found.count += 1;
        found.short += u64::from(short);
        found.violates = violates;
        if violates { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}
