//! A protocol as a target of test programs.
//!
//! The threads of a program are given processors of the protocol, its places addresses, anew for
//! each run. Values are those of the program: the protocol carries a value of its own for every
//! store, which says who was read from. A run that does not come to an end is handed over as far as
//! it came: the beginning of a run is a run.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use murphi::instance::bindings;
use murphi::machine::Firing;
use murphi::value::State;

use super::program_run::{ProgramRun, ProgramRunner};
use super::rule_effects::RuleEffects;
use super::{Broken, Protocol};
use crate::program::{Action, Program};
use crate::target::{RunResult, Runs, Target, TargetError};

/// Runs programs on a protocol.
#[derive(Clone)]
pub struct Programs {
    protocol: Arc<Protocol>,
    rule_effects: Arc<RuleEffects>,
}

impl Programs {
    /// Makes a protocol ready for programs: some free walks show where its rules lead.
    pub fn new(protocol: Protocol) -> Result<Self, TargetError> {
        if !protocol.recording.fresh {
            let why = "data independence is not established (the protocol may do more than copy \
                       values), so its stores cannot take the values of a program";
            return Err(TargetError::Unavailable(why.to_owned()));
        }
        let rule_effects = Arc::new(RuleEffects::learn(&protocol));
        Ok(Programs { protocol: Arc::new(protocol), rule_effects })
    }

    /// How many processors and addresses there are.
    pub fn size(&self) -> (usize, usize) {
        let recording = &self.protocol.recording;
        (recording.processors.len(), recording.addresses.len())
    }

    /// Why a program cannot be run, if it cannot.
    fn unsuitable(&self, program: &Program) -> Option<String> {
        if let Err(error) = program.check() {
            return Some(error.to_string());
        }
        let (processors, addresses) = self.size();
        if program.threads.len() > processors {
            let have = program.threads.len();
            return Some(format!(
                "the program has {have} threads and the protocol {processors} processors: change \
                 the constant of the protocol with --const NAME=VALUE \
                 (`tribunal explore --list-constants` lists the constants)"
            ));
        }
        if program.places.len() > addresses {
            let have = program.places.len();
            return Some(format!(
                "the program has {have} addresses and the protocol {addresses}: change the \
                 constant of the protocol with --const NAME=VALUE \
                 (`tribunal explore --list-constants` lists the constants)"
            ));
        }
        let mut stores = 0;
        for (thread, instructions) in program.threads.iter().enumerate() {
            for (index, instruction) in instructions.iter().enumerate() {
                let what = match instruction.action {
                    Action::Load { .. } => continue,
                    Action::Store { .. } => {
                        stores += 1;
                        continue;
                    }
                    Action::Fence { .. } => "a fence",
                    _ => "an atomic",
                };
                return Some(format!(
                    "instruction {index} of thread {thread} is {what}; a protocol runs loads and \
                     stores only"
                ));
            }
        }
        let values = self.protocol.recording.values;
        (stores >= values).then(|| {
            format!(
                "the program has {stores} stores and the protocol {values} values: use \
                     --values N for more"
            )
        })
    }

    /// What is wrong with the protocol itself, and the steps that show it.
    fn describe(&self, broken: &Broken, path: &[Firing]) -> String {
        let mut text = self.protocol.explain(broken);
        text.push_str(", after these steps of the protocol:");
        let interpreter = &self.protocol.recording.interpreter;
        let (model, layout) = (interpreter.model(), interpreter.layout());
        // Parameters that name an element of a multiset are reported by their number.
        let nothing = State::decode(model, layout, &vec![0; layout.size as usize]);
        for firing in path {
            let rule = &model.rules[firing.rule as usize];
            text.push_str(&format!("\n  {}", rule.name));
            let Ok(state) = &nothing else { continue };
            for (at, (name, value)) in
                bindings(model, rule, firing.instance, state).iter().enumerate()
            {
                let before = if at == 0 { "  " } else { ", " };
                text.push_str(&format!("{before}{name} = {value}"));
            }
        }
        text
    }
}

impl Target for Programs {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        if let Some(why) = self.unsuitable(program) {
            return Err(TargetError::Unsuitable(why));
        }
        let mut follower = ProgramRunner::new(&self.protocol, &self.rule_effects);
        let mut wrong = None;
        for number in 0..runs.count {
            if runs.stop.load(Ordering::Relaxed) {
                break;
            }
            let followed = follower.follow(program, runs.seed, number);
            if let (None, Some((broken, path))) = (&wrong, &followed.broken) {
                wrong = Some(self.describe(broken, path));
            }
            if receive(ran(program, followed)).is_break() {
                break;
            }
        }
        wrong.map_or(Ok(()), |what| Err(TargetError::Misbehaved(what)))
    }
}

fn ran(program: &Program, followed: ProgramRun) -> RunResult {
    if followed.complete {
        return RunResult::Outcome(followed.outcome, 1);
    }
    let mut part = program.clone();
    for (thread, &done) in part.threads.iter_mut().zip(&followed.done) {
        thread.truncate(done);
    }
    match part.history(&followed.outcome) {
        Ok(history) => RunResult::Unfinished(Some(Box::new(history))),
        // Dependencies of instructions that are left out are left out with them, so it is one.
        Err(_) => RunResult::Unfinished(None),
    }
}
