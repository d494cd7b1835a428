//! The one violation that `shrink` and `explain` look at: the trace asked for, or the first of the
//! file that violates the model.

use evidence::Proof;
use history::History;
use judge::{Engine, Judgement, Outcome, judge};

use super::{budget, count, remark};
use crate::arguments::SubjectFlags;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// A violating trace.
pub(super) struct Subject {
    pub(super) number: u64,
    pub(super) history: History,
    pub(super) verdict: Judgement,
}

impl Subject {
    pub(super) fn proof(&self) -> Option<&Proof> {
        match &self.verdict.outcome {
            Outcome::Broken(proof) => Some(proof),
            _ => None,
        }
    }
}

/// Finds the violation, or says that there is none and how the run ends.
pub(super) fn find(
    flags: &SubjectFlags,
    interrupt: &Interrupt,
) -> Result<Result<Subject, Ending>, Failure> {
    let options = flags.input.options(&flags.file, &flags.limits.memory);
    let mut traces = input::traces(&flags.file, options)?;
    let progress = Progress::start(flags.quiet.quiet);
    let mut number = 0;
    let mut ending = Ending::Kept;
    while let Some(history) = traces.next_trace()? {
        number += 1;
        if flags.trace.is_some_and(|wanted| wanted != number) {
            continue;
        }
        progress.teller().say(|| format!("judging trace {number} ({} events)", history.len()));
        let budget = budget(&flags.limits, interrupt);
        let verdict = judge(&history, flags.model, Engine::Auto, &budget);
        match verdict.outcome {
            Outcome::Broken(_) => return Ok(Ok(Subject { number, history, verdict })),
            Outcome::Undecided(_) => {
                progress.hide();
                remark(&format!("trace {number} is undecided: the budget ran out"));
                ending = Ending::Undecided;
            }
            Outcome::Holds(_) => {}
        }
        if flags.trace.is_some() {
            break;
        }
    }
    if let Some(wanted) = flags.trace.filter(|&wanted| number < wanted) {
        let have = count(usize::try_from(number).unwrap_or(usize::MAX), "trace");
        let file = input::shown(&flags.file);
        return Err(Failure::Usage(format!("there is no trace {wanted}: {file} has {have}")));
    }
    drop(progress);
    if ending == Ending::Kept && !flags.quiet.quiet {
        let file = input::shown(&flags.file);
        let which = flags.trace.map_or("every trace".to_owned(), |n| format!("trace {n}"));
        remark(&format!("{which} of {file} is consistent with {}", flags.model));
    }
    Ok(Err(ending))
}
