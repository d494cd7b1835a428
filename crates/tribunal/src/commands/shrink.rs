//! `tribunal shrink`: the smallest sub-trace that still violates a model.

use std::fmt::Write;

use history::Format;
use judge::{ShrinkOptions, Shrunk, shrink};

use super::convert::write_trace;
use super::subject::{self, Subject};
use super::{budget, count, remark};
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
        Err(ending) => return Ok(ending),
    };
    let options = ShrinkOptions { keep_sources: arguments.keep_sources };
    let shrunk = shrunk(&subject, flags, options, interrupt);
    let text = match arguments.json.json {
        true => body(&shrunk, Format::JsonLines)?,
        false => header(&subject, flags, &shrunk) + &body(&shrunk, Format::Text)?,
    };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::Broken };
    output::deliver(&text, arguments.out.output.as_deref(), ending, interrupt)
}

/// Shrinks a violation, and says on standard error what may be wrong with the result.
pub(super) fn shrunk(
    subject: &Subject,
    flags: &SubjectFlags,
    options: ShrinkOptions,
    interrupt: &Interrupt,
) -> Shrunk {
    interrupt.listen(|| ());
    let progress = Progress::start(flags.quiet.quiet);
    progress.teller().say(|| format!("shrinking {}", count(subject.history.len(), "event")));
    let proof = subject.proof().cloned().unwrap_or_default();
    let budget = budget(&flags.limits, interrupt);
    let shrunk = shrink(&subject.history, flags.model, &proof, options, &budget);
    drop(progress);
    if shrunk.undecided > 0 && !flags.quiet.quiet {
        let parts = count(usize::try_from(shrunk.undecided).unwrap_or(usize::MAX), "smaller part");
        remark(&format!(
            "{parts} could not be judged within the budget; this may not be the least"
        ));
    }
    shrunk
}

fn header(subject: &Subject, flags: &SubjectFlags, shrunk: &Shrunk) -> String {
    let Subject { number, history, .. } = subject;
    let mut lines: Vec<u32> = shrunk.history.events().map(|e| e.line).collect();
    lines.sort_unstable();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# {} of the {} of {}, trace {number}, that violate {} on their own",
        shrunk.history.len(),
        count(history.len(), "event"),
        input::shown(&flags.file),
        flags.model,
    );
    if lines.len() <= 40 {
        let _ = writeln!(text, "# (lines {})", lines.join(", "));
    }
    if shrunk.sources_dropped {
        text.push_str(
            "# Values repeat: writes that a read may also have seen were left out \
             (--keep-sources keeps them).\n",
        );
    }
    text
}

fn body(shrunk: &Shrunk, format: Format) -> Result<String, Failure> {
    let mut text = Vec::new();
    write_trace(&shrunk.history, format, &mut text).map_err(Failure::of_stdout)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
