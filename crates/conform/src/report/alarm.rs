//! Confirms an alarm: the reference interpreter replays its run, and the certificate checker
//! accepts the verdict on its memory trace.

use evidence::{Certificate, Evidence};
use explore::{Exploration, ViolatingRun, Violation};
use judge::Outcome;
use murphi::source::Source;

use super::{Alarm, Edge, Memory, Run, Unanswered, confirmed_run};
use crate::alarm::judge_trace;
use crate::{Counterexample, MemoryModel, NiceCycle, Verification};

/// Confirms an alarm.
pub(super) fn confirmed(
    source: &Source,
    memory_model: MemoryModel,
    found: &Verification,
    alarm: &Counterexample,
) -> Result<Alarm, Unanswered> {
    let run = run(source, found, alarm)?;
    let memory = memory(memory_model, alarm)?;
    Ok(Alarm { run, memory })
}

/// The run, with its loads and stores among the lines that its steps print.
fn run(source: &Source, found: &Verification, alarm: &Counterexample) -> Result<Run, Unanswered> {
    let lemma = &found.lemmas[alarm.lemma];
    let properties = &lemma.interpreter.model().properties;
    let property = properties.iter().position(|property| property.name == alarm.claim);
    let exploration = Exploration {
        verdict: explore::Verdict::Broken(ViolatingRun {
            violation: Violation::Broken { property: property.unwrap_or_default() as u32 },
            steps: alarm.run.clone(),
        }),
        ..lemma.exploration.clone()
    };
    let mut run = confirmed_run(source, alarm.lemma, lemma, &exploration)?;
    if let Some(run) = &mut run.finding.counterexample {
        for event in &alarm.trace.events {
            if let Some(step) = event.step.checked_sub(1).and_then(|at| run.steps.get_mut(at)) {
                step.printed.push(event.line());
            }
        }
    }
    Ok(run)
}

/// The memory trace, with a certified verdict.
fn memory(memory_model: MemoryModel, alarm: &Counterexample) -> Result<Memory, Unanswered> {
    let Counterexample { trace, history, judged, .. } = alarm;
    let (evidence, is_allowed) = match &judged.outcome {
        Outcome::Broken(proof) => (Evidence::Violation(proof.clone()), false),
        Outcome::Holds(witness) => (Evidence::Consistent(witness.clone()), true),
        Outcome::Undecided(_) => return Err(Unanswered::NotJudged),
    };
    let certificate = Certificate { trace: 1, model: judged.model, evidence };
    certify::certify(history, &certificate)
        .map_err(|rejection| Unanswered::Rejected(rejection.to_string()))?;
    let in_order = || judge_trace(trace, true, memory_model).ok().map(|(_, verdict)| verdict);
    Ok(Memory {
        trace: trace.with_order_as_comment(),
        thin_air: trace.has_thin_air(),
        cycle: alarm.cycle.as_ref().map(|cycle| edges(cycle, alarm)).unwrap_or_default(),
        history: history.clone(),
        judged: judged.clone(),
        in_order_of_run: is_allowed.then(in_order).flatten(),
        certificate,
    })
}

/// The edges of an ordering cycle.
fn edges(cycle: &NiceCycle, alarm: &Counterexample) -> Vec<Edge> {
    let line = |event: usize| alarm.trace.events[event].line();
    let mut edges = Vec::new();
    for (number, &(first, second)) in cycle.parts.iter().enumerate() {
        let next = cycle.parts[(number + 1) % cycle.parts.len()].0;
        let (from, to) = (line(first), line(second));
        edges.push(Edge { from, to, because: "program-order" });
        let (from, to) = (line(second), line(next));
        edges.push(Edge { from, to, because: "location-order" });
    }
    edges
}
