//! `tribunal shrink`: the smallest sub-trace that still violates a model.

use history::Format;
use judge::{ShrinkOptions, Shrunk, shrink};

use super::subject::{self, Subject};
use super::{count, remark};
use crate::arguments::{ShrinkArguments, SubjectFlags};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

pub(crate) fn run(arguments: &ShrinkArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let flags = &arguments.subject;
    let subject = match subject::find(flags, interrupt)? {
        Ok(subject) => subject,
        Err(unbroken) => return Ok(unbroken.ending),
    };
    let options = ShrinkOptions { keep_sources: arguments.keep_sources };
    let shrunk = shrunk(&subject, flags, options, interrupt);
    let place = (input::shown(&flags.file), subject.judged.trace.number);
    let text = match arguments.json.json {
        true => Format::JsonLines.text(&shrunk.history),
        false => report::shrunk_text(place, subject.history(), subject.model.name(), &shrunk),
    };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::Violation };
    output::deliver(&text, arguments.out.output.as_deref(), ending, interrupt)
}

/// Shrinks a violation, and warns if the result may not be minimal.
pub(super) fn shrunk(
    subject: &Subject,
    flags: &SubjectFlags,
    options: ShrinkOptions,
    interrupt: &Interrupt,
) -> Shrunk {
    interrupt.listen(|| ());
    let progress = Progress::start(flags.quiet.quiet);
    progress.reporter().say(|| format!("shrinking {}", count(subject.history().len(), "event")));
    // The limit is for the trace: what judging took of it is spent.
    let budget = flags.limits.limits().rest(subject.judged.time, &interrupt.flag());
    let shrunk = shrink(subject.history(), &subject.model, &subject.proof, options, &budget);
    drop(progress);
    if shrunk.undecided > 0 && !flags.quiet.quiet {
        let parts = count(usize::try_from(shrunk.undecided).unwrap_or(usize::MAX), "smaller part");
        remark(&format!(
            "{parts} could not be decided within --budget; this sub-trace may not be minimal"
        ));
    }
    shrunk
}
