//! What becomes of an alarm: is it a violation of the memory model?
//!
//! The run becomes a memory trace with a value for each store, and the trace is judged completely,
//! with no order of the stores given. If it is allowed, the run goes on for a while, so that the
//! order in which the stores count can be seen. Only what the trace checker refuses is a violation.

use explore::Step;
use history::{History, ReadOptions, ThinAir, TraceReader};
use judge::{Budget, Engine, Outcome};
use murphi::interpret::Interpreter;

use crate::events::Protocol;
use crate::trace::{self, MemoryTrace, NotRepeatable};
use crate::verify::MemoryModel;

/// How many states the run to an alarm goes on through if there is only this one.
pub(crate) const PATIENCE: usize = 2000;

/// The same if there are many.
pub(crate) const HASTE: usize = 50;

/// An alarm with a verdict on its memory trace.
pub(crate) struct Judged {
    /// The run of the composed model: that of the alarm, or one that goes on from there.
    pub(crate) run: Vec<Step>,
    pub(crate) trace: MemoryTrace,
    /// The trace as the trace checker reads it, and what it says.
    pub(crate) history: History,
    pub(crate) verdict: judge::Judgement,
}

impl Judged {
    pub(crate) fn is_violation(&self) -> bool {
        matches!(self.verdict.outcome, Outcome::Broken(_))
    }
}

/// Judges the run to an alarm of `lemma`, which is a composition with `protocol`. If it is allowed,
/// it goes on through so many states at most.
pub(crate) fn judge_run(
    protocol: &Protocol,
    lemma: &Interpreter,
    run: &[Step],
    memory_model: MemoryModel,
    states: usize,
) -> Result<Judged, NotRepeatable> {
    let lifted = trace::lift(protocol, lemma, run)?;
    let (history, verdict) = judge_trace(&lifted.trace, false, memory_model)?;
    let alarm = Judged { run: run.to_vec(), trace: lifted.trace.clone(), history, verdict };
    if alarm.is_violation() {
        return Ok(alarm);
    }
    let mut is_refused = |trace: &MemoryTrace| {
        let judged = judge_trace(trace, false, memory_model);
        judged.is_ok_and(|(_, verdict)| matches!(verdict.outcome, Outcome::Broken(_)))
    };
    match trace::extend(&lifted, run, states, &mut is_refused) {
        Some(extension) => {
            let (history, verdict) = judge_trace(&extension.trace, false, memory_model)?;
            Ok(Judged { run: extension.run, trace: extension.trace, history, verdict })
        }
        None => Ok(alarm),
    }
}

/// What the trace checker reads, and what it says about it. A value that nobody stored is a violation.
/// If `ordered`, stores count in the order in which they happened.
pub(crate) fn judge_trace(
    trace: &MemoryTrace,
    ordered: bool,
    memory_model: MemoryModel,
) -> Result<(History, judge::Judgement), NotRepeatable> {
    let model = memory_model.of_traces();
    let text = trace.text(ordered);
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    match TraceReader::new(text.as_bytes(), "trace", options).next() {
        Some(Ok(history)) => {
            let verdict = judge::judge(&history, model, Engine::Auto, &Budget::unlimited());
            Ok((history, verdict))
        }
        Some(Err(error)) => Err(NotRepeatable(error.to_string())),
        None => Err(NotRepeatable("the trace has no events".to_owned())),
    }
}
