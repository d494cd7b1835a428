//! What is printed about a trace that was judged while it grew.

use std::fmt::Write as _;

use evidence::Verdict;
use judge::Undecided;
use judge::live::LiveAnswer;

use super::Style;
use crate::verdict::{Evidence, Object, cycle, decorated, duration, reason, undecided};
use crate::{count, cycle_lines, json};

/// Whole lines about an answer.
pub fn live_lines(file: &str, watched: &LiveAnswer, style: Style) -> String {
    let finished = &watched.finished;
    let micros = u64::try_from(watched.time.as_micros()).unwrap_or(u64::MAX);
    let events = usize::try_from(finished.events).unwrap_or(usize::MAX);
    if style.json {
        let evidence = match &finished.verdict {
            Verdict::Holds(()) => Evidence::default(),
            Verdict::Broken(violation) => cycle(&violation.history, &violation.proof),
            Verdict::Undecided(why) => undecided(why),
        };
        return json::line(&Object {
            file,
            trace: watched.trace,
            model: json::MemoryModelName::new(finished.model.name()),
            verdict: finished.verdict.of_trace(),
            decided_by: "live".into(),
            events,
            threads: finished.threads,
            addresses: finished.addresses,
            took: json::CheckTime::micros(micros),
            write_pairs: None,
            unordered_write_pairs: None,
            evidence,
            stats: None,
        }) + "\n";
    }
    let mut text = format!(
        "{file} #{}: {}: {} (live, {}, {})",
        watched.trace,
        finished.model,
        decorated(&finished.verdict, style.colour),
        count(events, "event"),
        duration(micros)
    );
    if let Verdict::Undecided(Undecided { reason: why, established }) = &finished.verdict {
        let _ = write!(text, ": {}", reason(why));
        if !established.is_empty() {
            let _ = write!(text, "; {established}");
        }
    }
    text.push('\n');
    if let (Verdict::Broken(violation), false) = (&finished.verdict, style.quiet) {
        for line in cycle_lines(&violation.history, &violation.proof) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}
