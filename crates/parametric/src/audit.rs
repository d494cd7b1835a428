//! The audit of a proof (`--audit N`): does the abstraction really simulate concrete instances?
//!
//! Random steps of instances with up to seven processors, more than the refinement has searched, are
//! projected to every view and searched for in the abstraction. Then all states of instances are
//! visited, with one more processor each time, until an instance is too large. A step that the
//! abstraction lacks, or a violation in an instance, contradicts the proof, and the verdict is withdrawn.
//!
//! The audit is not part of the proof. It costs one expansion of the abstraction for each step and view.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use abstraction::Abstraction;
use chance::Rng;
use murphi::interpret::End;
use murphi::value::State;

use crate::instance::search_instance;
use crate::outcome::{Audit, ClaimProof, Outcome};
use crate::question::{Listener, Question};
use crate::simulation::{MissingStep, Simulation};

/// The most processors of an instance.
const MOST: u64 = 7;

/// An instance with more states than this is not searched exhaustively.
const STATES: u64 = 1_000_000;

/// The longest walk from a start state, in steps.
const WALK: u64 = 100;

/// Audits a verdict: takes `steps` random steps of instances, and searches small instances
/// exhaustively.
///
/// # Errors
///
/// A sentence that says which step or violation contradicts the proof.
pub fn audit(
    question: &Question<'_>,
    outcome: &Outcome,
    steps: u64,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Result<Audit, String> {
    let mut audit = Audit::default();
    for shown in outcome.shown.iter().filter(|shown| shown.holds()) {
        if let Some(abstraction) = &shown.found.abstraction {
            walks(question, shown, abstraction, steps, &mut audit, interrupt)?;
        }
    }
    if let Some(ClaimProof { claim, view, .. }) = outcome.shown.first() {
        let processor = &claim.prepared.processor;
        for processors in view.concrete..=MOST {
            let looked =
                search_instance(question, processor, processors, Some(STATES), listener, interrupt);
            if looked.found.is_some() {
                return Err(format!(
                    "the protocol violates its claim with {processors} processors"
                ));
            }
            if !looked.complete {
                break;
            }
            audit.searched = Some(processors);
            audit.states += looked.states;
        }
    }
    Ok(audit)
}

/// Audits one claim with random steps, the same number for each number of processors.
fn walks(
    question: &Question<'_>,
    shown: &ClaimProof,
    abstraction: &Abstraction,
    steps: u64,
    audit: &mut Audit,
    interrupt: &AtomicBool,
) -> Result<(), String> {
    let least = shown.view.concrete + u64::from(shown.view.named);
    let language = question.refinement(shown.view, &[]).language;
    let sizes = MOST + 1 - least.min(MOST);
    for processors in least..=MOST {
        let Some(simulation) =
            Simulation::new(&shown.claim.prepared, abstraction, processors, &language)
        else {
            continue;
        };
        let simulation = simulation.with_unordered_views();
        let share = steps / sizes + u64::from(processors - least < steps % sizes);
        let walked = walk(&simulation, share, processors, interrupt).map_err(|unseen| {
            let what = unseen
                .rule
                .as_ref()
                .map_or("a start state".to_owned(), |rule| format!("a step of rule \"{rule}\""));
            format!(
                "the abstraction lacks {what} of the instance with {processors} processors, in \
                 the view {:?}: {}",
                unseen.view, unseen.what
            )
        })?;
        audit.steps += walked;
        audit.views += walked * simulation.views() as u64;
        audit.processors = audit.processors.max(processors);
    }
    Ok(())
}

/// Takes up to `steps` random steps from a start state, and checks that the abstraction simulates
/// each. Returns how many were taken.
fn walk(
    simulation: &Simulation<'_>,
    steps: u64,
    seed: u64,
    interrupt: &AtomicBool,
) -> Result<u64, MissingStep> {
    let mut random = Rng::new(seed);
    let starts = simulation.starts()?;
    let mut state: Option<State> = None;
    for step in 0..steps {
        if interrupt.load(Relaxed) {
            return Ok(step);
        }
        if step % WALK == 0 {
            state = None;
        }
        let Some(from) = state.take().or_else(|| random.pick(&starts).cloned()) else { break };
        let next = simulation.steps(&from);
        let Some((rule, end)) = random.pick(&next) else { continue };
        simulation.sees(&from, *rule, end)?;
        state = match end {
            End::Done(after) => Some(after.clone()),
            _ => None,
        };
    }
    Ok(steps)
}
