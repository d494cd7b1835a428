//! Searches small concrete instances: a violation in one of them is a violation of the protocol, and
//! facts that hold in all their states are candidates for lemmas.
//!
//! Instances with as many processors as are concrete, and with one more, are searched exhaustively if the
//! limits allow. Random walks with two more processors refute facts that hold only because there are few
//! processors.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use abstraction::with_processors;
use explore::symmetry::Symmetry;
use explore::{Deadlock, Engine, Strategy};
use murphi::interpret::Interpreter;

use super::instance::{self, Watch};
use super::observe::{Log, RowReader};
use super::probe::Probes;
use super::result::{BrokenInstance, Failure, ObservedInstance, Verdict};
use super::{Alarm, Refinement};

/// The limit of states of a search for a violation that the abstraction suggests.
const STATES_OF_SUGGESTION: u64 = 4_000_000;

/// The limit of states of an observed search. It is a number and not a time, so that the lemmas are
/// the same on every machine.
const STATES: u64 = 400_000;

/// The number of random steps, and the length of a walk.
const STEPS: u64 = 60_000;
const WALK: u64 = 200;

/// The observed instances.
pub(super) struct Observed {
    pub(super) instances: Vec<ObservedInstance>,
    /// A violation in one of them.
    pub(super) violation: Option<Verdict>,
}

/// One way to observe an instance.
struct ObservedView {
    processors: u64,
    strategy: Strategy,
}

impl Refinement<'_, '_> {
    /// Explores small instances and records their rows.
    pub(super) fn look_at_small_instances(&mut self) -> Result<Observed, Failure> {
        let concrete = self.options.abstraction.view.concrete;
        let mut observed = Observed { instances: Vec::new(), violation: None };
        for processors in [concrete, concrete + 1] {
            let whole = ObservedView { processors, strategy: Strategy::Breadth };
            self.look_at(&whole, &mut observed)?;
            if observed.violation.is_some() || self.interrupt.load(Relaxed) {
                return Ok(observed);
            }
        }
        for (processors, seed) in [(concrete + 1, 1), (concrete + 2, 2)] {
            let strategy = Strategy::Simulate { steps: STEPS, seed, length: WALK };
            self.look_at(&ObservedView { processors, strategy }, &mut observed)?;
            if observed.violation.is_some() || self.interrupt.load(Relaxed) {
                break;
            }
        }
        Ok(observed)
    }

    fn look_at(&mut self, look: &ObservedView, observed: &mut Observed) -> Result<(), Failure> {
        let processors = look.processors;
        let program = with_processors(&self.prepared.program, &self.prepared.processor, processors);
        let name = format!("{} with {processors} processors", self.options.name);
        let interpreter = instance::interpreter(&program, &name, &self.options.language)?;
        let probes =
            Probes::new(&program, &self.prepared.rules, &self.vocabularies, &self.options.language);
        let lens = RowReader::new(&interpreter, &self.vocabularies, probes);
        let seen = std::mem::take(&mut self.observations);
        let most_states = seen.states + STATES;
        let enough = Arc::new(AtomicBool::new(false));
        let log = Arc::new(Mutex::new(Log { lens, seen, most_states, enough }));
        let is_walk = matches!(look.strategy, Strategy::Simulate { .. });
        let search = explore::Options {
            strategy: look.strategy,
            // Observed walks and searches run on one thread.
            threads: 1,
            deadlock: if is_walk { Deadlock::Off } else { self.options.search.deadlock },
            pass_over: 0,
            ..self.options.search.clone()
        };
        let task = format!("{processors} processors{}", if is_walk { ", walks" } else { "" });
        let listener = &mut self.listener;
        let watch = Watch {
            progress: &mut |now| listener(&task, Some(now)),
            interrupt: self.interrupt,
            log: Some(&log),
        };
        let symmetry = if is_walk { Symmetry::Off } else { self.options.symmetry };
        let engine = Engine::new(&interpreter);
        let exploration = instance::search(&engine, &interpreter, &search, symmetry, watch);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        self.observations = std::mem::take(&mut log.seen);
        drop(log);
        observed.instances.push(ObservedInstance {
            processors,
            walked: is_walk,
            states: exploration.states,
            complete: exploration.verdict == explore::Verdict::Holds(()),
            seconds: exploration.seconds,
        });
        observed.violation = violation(processors, interpreter, exploration);
        Ok(())
    }

    /// Searches the next larger instance for a violation, because an alarm of the abstraction
    /// cannot be excluded.
    pub(super) fn concretised(&mut self, alarm: &Alarm) -> Result<Option<Verdict>, Failure> {
        let steps = alarm.run.len() as u32 + 4;
        let processors = self.options.abstraction.view.concrete + 2;
        let program = with_processors(&self.prepared.program, &self.prepared.processor, processors);
        let name = format!("{} with {processors} processors", self.options.name);
        let interpreter = instance::interpreter(&program, &name, &self.options.language)?;
        let search = explore::Options {
            states: Some(STATES_OF_SUGGESTION),
            depth: Some(2 * steps),
            pass_over: 0,
            ..self.options.search.clone()
        };
        let task = format!("{processors} processors");
        let listener = &mut self.listener;
        let watch = Watch {
            progress: &mut |now| listener(&task, Some(now)),
            interrupt: self.interrupt,
            log: None,
        };
        let (engine, symmetry) = (Engine::new(&interpreter), self.options.symmetry);
        let exploration = instance::search(&engine, &interpreter, &search, symmetry, watch);
        Ok(violation(processors, interpreter, exploration))
    }
}

/// The violation of a concrete instance, if the search found one.
fn violation(
    processors: u64,
    interpreter: Interpreter,
    exploration: explore::Exploration,
) -> Option<Verdict> {
    match exploration.verdict {
        explore::Verdict::Broken(_) => {
            let (interpreter, exploration) = (Box::new(interpreter), Box::new(exploration));
            Some(Verdict::Broken(BrokenInstance { processors, interpreter, exploration }))
        }
        _ => None,
    }
}
