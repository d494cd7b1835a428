//! Murphi protocols as a source of traces: walked at random, with random clients.
//!
//! A protocol calls procedures where its processors load and store; [`conform::record`] makes it
//! write these events down and lets every store have a value of its own. A [`Walker`] takes random
//! steps and collects the events; a [`TraceWriter`] makes histories and text of them; [`walk_all`] does
//! both on all cores, with results that depend on nothing but the seed. [`Programs`] are reported by a
//! test program what to load and store instead: a target like any other. A run that a search has
//! found is walked along by [`Walker::retrace`].
//!
//! ```
//! use conform::{RecordOptions, record};
//! use murphi::source::Source;
//! use tribunal_stress::protocol::{Plan, Protocol, TraceWriter};
//!
//! let text = "
//!     type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
//!     var memory: array [Addr] of Value;
//!     procedure Load(p: Proc; a: Addr; v: Value); begin end;
//!     procedure Store(p: Proc; a: Addr; v: Value); begin end;
//!     startstate begin for a: Addr do memory[a] := 0; end; end;
//!     ruleset p: Proc; a: Addr do
//!       rule begin Load(p, a, memory[a]); end;
//!       ruleset v: Value do rule begin memory[a] := v; Store(p, a, v); end; end;
//!     end;";
//! let source = Source { name: "memory.m".into(), text: text.into() };
//! let options = RecordOptions { values: 100, ..RecordOptions::default() };
//! let recording = record(&source, &options).expect("it marks its loads and stores");
//! let protocol = Protocol::new(recording)?;
//! let plan = Plan { operations: 10, ..Plan::default() };
//! let walk = protocol.walker().walk(&plan, 0);
//! let history = TraceWriter::new(&protocol).history(&walk, false)?;
//! assert_eq!(history.len(), 10);
//! assert!(history.is_unambiguous());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parallel_walks;
mod parameters;
mod program_run;
mod programs;
mod protocol_state;
mod retrace;
mod rule_effects;
mod rule_preferences;
mod rule_weights;
mod trace_writer;
mod walk;

use std::fmt;

use conform::Recording;
use explore::Engine;
use murphi::interpret::{End, RuntimeError};
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::value::State;

use parameters::Parameters;
use rule_weights::RuleWeights;

pub use parallel_walks::{WalkJob, walk_all};
pub use programs::Programs;
pub use protocol_state::Broken;
pub use retrace::ScheduledStep;
pub use rule_preferences::Clients;
pub use rule_weights::{MAX_WEIGHT, WeightError};
pub use trace_writer::TraceWriter;
pub use walk::{Ending, Plan, Step, Walk, Walker};

/// A protocol that can be walked.
pub struct Protocol {
    recording: Recording,
    /// For each rule.
    parameters: Vec<Parameters>,
    favour: RuleWeights,
    engine: Engine,
    /// The states to begin with, and what every address holds there.
    starts: Vec<(Vec<u8>, u64)>,
}

impl Protocol {
    /// Makes a protocol ready to be walked: compiles it, and runs its start states.
    pub fn new(recording: Recording) -> Result<Self, ProtocolError> {
        let interpreter = &recording.interpreter;
        let engine = Engine::new(interpreter);
        let parameters = Parameters::of_rules(&recording);
        let favour = RuleWeights::default();
        let mut protocol = Protocol { recording, parameters, favour, engine, starts: Vec::new() };
        protocol.starts = protocol.find_starts()?;
        Ok(protocol)
    }

    /// From now on, steps by the rules with this name (`*` stands for any text) are so many times as
    /// likely in comparison with others: from 0, which is never, to [`MAX_WEIGHT`]. If a rule is
    /// named several times, the last time counts.
    pub fn favour(&mut self, name: &str, factor: f64) -> Result<(), WeightError> {
        let rules = &self.recording.interpreter.model().rules;
        let names: Vec<&str> = rules.iter().map(|rule| &*rule.name).collect();
        self.favour.give(&names, name, factor)
    }

    /// What was composed.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Something that walks it; one for each thread.
    pub fn walker(&self) -> Walker<'_> {
        Walker::new(self)
    }

    fn machine(&self) -> Box<dyn Machine> {
        self.engine.machine()
    }

    fn find_starts(&self) -> Result<Vec<(Vec<u8>, u64)>, ProtocolError> {
        let mut machine = self.machine();
        let mut started = Successors::new(self.recording.interpreter.layout().size as usize);
        machine.start(&mut started);
        let mut starts = Vec::new();
        for (number, firing) in started.firings.iter().enumerate() {
            match firing.outcome {
                Outcome::Done => {}
                Outcome::Excluded => continue,
                Outcome::Failed | Outcome::GuardFailed => {
                    let rule = firing.rule as usize;
                    let run = self.recording.interpreter.start(rule, firing.instance);
                    return Err(match run.end {
                        End::Failed(error) => ProtocolError::Start(error),
                        _ => ProtocolError::NoStart,
                    });
                }
            }
            let state = started.state(number);
            if machine.check(state) == Check::Excluded {
                continue;
            }
            let initial = match self.recording.values_in(state)[..] {
                [] => 0,
                [value] => value,
                _ => return Err(ProtocolError::Mixed),
            };
            starts.push((state.to_vec(), initial));
        }
        if starts.is_empty() { Err(ProtocolError::NoStart) } else { Ok(starts) }
    }

    /// Says in words what is broken, by asking the reference interpreter.
    pub fn explain(&self, broken: &Broken) -> String {
        let interpreter = &self.recording.interpreter;
        let model = interpreter.model();
        let decode = |bytes: &[u8]| State::decode(model, interpreter.layout(), bytes).ok();
        match broken {
            Broken::Invariant { property, .. } => {
                let name = &model.properties[*property as usize].name;
                format!("invariant \"{name}\" does not hold")
            }
            Broken::Property { property, .. } => {
                let name = &model.properties[*property as usize].name;
                format!("evaluating \"{name}\" fails")
            }
            Broken::Rule { rule, instance, state } => {
                let name = &model.rules[*rule as usize].name;
                let run = decode(state)
                    .map(|state| interpreter.run_rule(&state, *rule as usize, *instance));
                match run.map(|run| run.end) {
                    Some(End::Failed(error)) => {
                        format!("rule \"{name}\" fails: {}", error.message)
                    }
                    _ => format!("rule \"{name}\" fails"),
                }
            }
            Broken::Deadlock => "deadlock: no rule leads to another state".to_owned(),
        }
    }
}

/// Why a protocol cannot be walked.
#[derive(Debug, Clone)]
pub enum ProtocolError {
    /// A start state fails.
    Start(RuntimeError),
    /// There is no start state, or assumptions exclude all of them.
    NoStart,
    /// A start state has different values in it, so that what an address holds is not known.
    Mixed,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolError::Start(error) => write!(f, "a start state fails: {}", error.message),
            ProtocolError::NoStart => f.write_str("the protocol has no start state"),
            ProtocolError::Mixed => f.write_str(
                "a start state has different values in it, so the initial values of the addresses \
                 are not known; let all addresses start with the lowest value",
            ),
        }
    }
}

impl std::error::Error for ProtocolError {}
