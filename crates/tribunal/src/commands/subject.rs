//! The one violation that `shrink` and `explain` look at: the trace asked for, or the first of the
//! file that violates the model.

use evidence::{Proof, Verdict};
use history::History;
use judge::{Engine, Promise};

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
    pub(super) model: Promise,
    pub(super) proof: Proof,
}

/// Finds the violation, or says that there is none and how the run ends.
pub(super) fn find(
    flags: &SubjectFlags,
    interrupt: &Interrupt,
) -> Result<Result<Subject, Ending>, Failure> {
    let model = flags.model.promise()?;
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
        match model.refute(&history, Engine::Auto, &budget) {
            Verdict::Broken(proof) => return Ok(Ok(Subject { number, history, model, proof })),
            Verdict::Undecided(undecided) => {
                progress.hide();
                let reason = report::reason(&undecided.reason);
                remark(&format!("trace {number} is undecided: {reason}"));
                ending = Ending::Undecided;
            }
            Verdict::Holds(()) => {}
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
        remark(&format!("{which} of {file} is consistent with {model}"));
    }
    Ok(Err(ending))
}
