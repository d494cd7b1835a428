//! The violation that `shrink` and `explain` are about: the requested trace, or the first of the
//! file that violates the model.

use std::sync::Arc;
use std::time::Instant;

use evidence::{Proof, Verdict};
use history::History;
use judge::stream::{Answer, Asked, Judged, Trace};
use judge::{AnyModel, Budget, Engine, Outcome, Undecided, judge, judge_by_file};

use super::{budget, count, remark};
use crate::arguments::SubjectFlags;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// A violating trace.
pub(super) struct Subject {
    pub(super) judged: Judged,
    pub(super) model: AnyModel,
    pub(super) proof: Proof,
}

impl Subject {
    pub(super) fn history(&self) -> &History {
        &self.judged.trace.history
    }
}

/// No trace violates the model: the message, the ending of the run, and the first consistent trace.
pub(super) struct NoViolationFound {
    pub(super) ending: Ending,
    pub(super) consistent: Option<Judged>,
}

/// Finds the violation.
pub(super) fn find(
    flags: &SubjectFlags,
    interrupt: &Interrupt,
) -> Result<Result<Subject, NoViolationFound>, Failure> {
    let model = flags.model.memory_model()?;
    let options = flags.input.options(&flags.file, &flags.limits.memory);
    let mut traces = input::traces(&flags.file, options)?;
    let progress = Progress::start(flags.quiet.quiet);
    let mut number = 0;
    let mut ending = Ending::NoViolation;
    let mut consistent = None;
    while let Some(history) = traces.next_trace()? {
        number += 1;
        if flags.trace.is_some_and(|wanted| wanted != number) {
            continue;
        }
        progress.reporter().say(|| format!("checking trace {number} ({} events)", history.len()));
        let budget = budget(&flags.limits, interrupt);
        let trace = Trace { file: input::shown(&flags.file).into(), number, history };
        let judged = judged(trace, &model, &budget);
        match verdict(&judged) {
            Verdict::Broken(proof) => return Ok(Ok(Subject { judged, model, proof })),
            Verdict::Undecided(undecided) => {
                progress.hide();
                let reason = report::reason(&undecided.reason);
                remark(&format!("trace {number} is undecided: {reason}"));
                ending = Ending::Undecided;
            }
            Verdict::Holds(()) => consistent = consistent.or(Some(judged)),
        }
        if flags.trace.is_some() {
            break;
        }
    }
    if let Some(wanted) = flags.trace.filter(|&wanted| number < wanted) {
        let have = count(usize::try_from(number).unwrap_or(usize::MAX), "trace");
        let file = input::shown(&flags.file);
        return Err(Failure::Usage(format!("--trace {wanted} does not exist: {file} has {have}")));
    }
    drop(progress);
    if ending == Ending::NoViolation && !flags.quiet.quiet {
        let file = input::shown(&flags.file);
        let which = flags.trace.map_or("every trace".to_owned(), |n| format!("trace {n}"));
        remark(&format!("{which} of {file} is consistent with {model}"));
    }
    Ok(Err(NoViolationFound { ending, consistent }))
}

/// Judges a trace by a built-in model or a model file.
pub(super) fn judged(trace: Trace, model: &AnyModel, budget: &Budget) -> Judged {
    let start = Instant::now();
    let history = &trace.history;
    let (asked, answer) = match model {
        AnyModel::Model(model) => {
            let judgement = judge(history, *model, Engine::Auto, budget);
            (Asked::Model(*model), Answer::Model(judgement))
        }
        AnyModel::File(file) => {
            let judgement = judge_by_file(history, file, budget);
            (Asked::File(Arc::clone(file)), Answer::File(judgement))
        }
    };
    Judged { trace: Arc::new(trace), asked, answer, time: start.elapsed() }
}

/// The verdict with the proof of a violation.
fn verdict(judged: &Judged) -> Verdict<(), Proof, Undecided> {
    match &judged.answer {
        Answer::Model(judgement) => match &judgement.outcome {
            Outcome::Holds(_) => Verdict::Holds(()),
            Outcome::Broken(proof) => Verdict::Broken(proof.clone()),
            Outcome::Undecided(undecided) => Verdict::Undecided(undecided.clone()),
        },
        Answer::File(judgement) => match &judgement.outcome {
            Verdict::Holds(_) => Verdict::Holds(()),
            Verdict::Broken(_) => Verdict::Broken(judgement.proof.clone().unwrap_or_default()),
            Verdict::Undecided(undecided) => Verdict::Undecided(undecided.clone()),
        },
        Answer::Gradual(_) => Verdict::Holds(()),
    }
}
