//! Decides whether an alarm is a violation of the memory model.
//!
//! The run becomes a memory trace with a distinct value for each store, and the trace checker
//! judges the trace with no order of stores given. If the memory model allows the trace, the run is
//! extended for some steps, so that loads can reveal the coherence order. Only a trace that the
//! trace checker rejects is a violation.

use explore::Step;
use history::{History, ReadOptions, ThinAir, TraceReader};
use judge::{Budget, Engine, Outcome};
use murphi::interpret::Interpreter;

use crate::events::Protocol;
use crate::trace::{self, MemoryTrace, NotRepeatable};
use crate::verify::MemoryModel;

/// The number of states to which a single alarm's run is extended.
pub(crate) const EXTENSION_OF_ONE: usize = 2000;

/// The same for each of many alarms.
pub(crate) const EXTENSION_OF_MANY: usize = 50;

/// An alarm, with the verdict on its memory trace.
pub(crate) struct Judged {
    /// The run of the composed model: the run of the alarm, or an extension of it.
    pub(crate) run: Vec<Step>,
    pub(crate) trace: MemoryTrace,
    /// The trace as the trace checker reads it, and its verdict.
    pub(crate) history: History,
    pub(crate) verdict: judge::Judgement,
}

impl Judged {
    pub(crate) fn is_violation(&self) -> bool {
        matches!(self.verdict.outcome, Outcome::Broken(_))
    }
}

/// Judges the run to an alarm of `lemma`, a composition with `protocol`. If the memory model allows
/// the trace, the run is extended through at most `states` states.
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

/// The history that the trace checker reads, and its verdict. A load of a value that was never
/// stored is a violation. If `ordered`, the coherence order is the order in which the stores
/// happened.
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
