//! A walk along steps that are given: the run that somebody else has found, taken by the protocol
//! that records its loads and stores.
//!
//! A step is a rule and what its parameters are called. Values are not compared, since here every
//! store has its own: a parameter that takes a value takes a fresh one, and one that names a value
//! that is somewhere can only be that one. Cost: for each step, running all possible ones.

use conform::Role;
use murphi::instance::bindings;
use murphi::value::State;

use super::walk::{Ending, Walk, Walker};

/// A step that is to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledStep {
    /// Which rule.
    pub rule: u32,
    /// Its parameters: what each is called in the source, and what it is.
    pub parameters: Vec<(String, String)>,
}

impl Walker<'_> {
    /// Takes these steps from some start state. Without success, the number of the first step, from
    /// 0, that is possible from none where those before it were.
    pub fn retrace(&mut self, steps: &[ScheduledStep]) -> Result<Walk, usize> {
        let mut furthest = 0;
        for start in 0..self.stand.starts() {
            match self.retrace_from(start, steps) {
                Ok(walk) => return Ok(walk),
                Err(step) => furthest = furthest.max(step),
            }
        }
        Err(furthest)
    }

    fn retrace_from(&mut self, start: usize, steps: &[ScheduledStep]) -> Result<Walk, usize> {
        let recording = self.stand.recording();
        let initial = self.stand.start_at(start);
        let mut walk = Walk::begin(0, initial, steps.len());
        recording.take_events(&mut self.stand.state, &mut walk.events);
        let mut entered = 0;
        for (number, step) in steps.iter().enumerate() {
            self.stand.offer(entered, initial);
            self.stand.look(explore::Deadlock::Off);
            let called = |rule: u32, instance: u64, state: &[u8]| {
                rule == step.rule && self.is_called(step, instance, state)
            };
            let possible = self.stand.find(called).ok_or(number)?;
            self.stand.take(possible);
            entered += recording.takes(step.rule) as u64;
            recording.take_events(&mut self.stand.state, &mut walk.events);
            walk.length += 1;
        }
        walk.ending = Ending::Complete;
        Ok(walk)
    }

    /// Whether the parameters of an instance are called so.
    fn is_called(&self, step: &ScheduledStep, instance: u64, state: &[u8]) -> bool {
        let recording = self.stand.recording();
        let interpreter = &recording.interpreter;
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let Ok(state) = State::decode(model, layout, state) else { return false };
        let own = bindings(model, &model.rules[step.rule as usize], instance, &state);
        own.iter().zip(recording.roles(step.rule)).all(|(parameter, (role, _))| {
            role == Role::Value || step.parameters.contains(parameter)
        })
    }
}
