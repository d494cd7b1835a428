//! Why things stand as they do, as text: of a violation the few events that matter with their
//! simulation times, the argument, and the same events as a trace for `tribunal check`.

use std::fmt::Write as _;
use std::time::Duration;

use evidence::Verdict;
use history::{History, write_text};
use judge::{Budget, ShrinkOptions, Shrunk, Violation, shrink};
use report::{count, event_text, reason};

use crate::{Stage, TestBench, TraceStatus};

/// How long a violation is shrunk. What is found by then is explained.
const SHRINK_TIME: Duration = Duration::from_secs(10);

impl TestBench {
    /// The violation, if one is certain: the events that were recorded around it.
    pub fn violation(&self) -> Option<&Violation> {
        match &self.stage {
            Stage::Running(session) => session.violation(),
            Stage::Finished(finished) => match &finished.verdict {
                Verdict::Broken(violation) => Some(violation),
                Verdict::Holds(()) | Verdict::Undecided(_) => None,
            },
        }
    }

    /// The smallest part of the violation that is found in some seconds.
    pub fn shrunk(&self) -> Option<Shrunk> {
        let violation = self.violation()?;
        let budget = Budget::unlimited().with_time(SHRINK_TIME);
        let (history, proof) = (&violation.history, &violation.proof);
        Some(shrink(history, self.model, proof, ShrinkOptions::default(), &budget))
    }

    /// Why things stand as they do, whole lines.
    pub fn explanation(&self) -> String {
        let (model, events) = (self.model.name(), self.events());
        let came = count(usize::try_from(events).unwrap_or(usize::MAX), "event");
        if let (Some(violation), Some(shrunk)) = (self.violation(), self.shrunk()) {
            return self.render(violation, &shrunk);
        }
        match (&self.stage, self.standing()) {
            (Stage::Finished(finished), TraceStatus::Undecided) => {
                let Verdict::Undecided(why) = &finished.verdict else { return String::new() };
                let mut text = format!("{came} under {model}: undecided: {}", reason(&why.reason));
                if !why.established.is_empty() {
                    let _ = write!(text, "; {}", why.established);
                }
                text + "\n"
            }
            (_, TraceStatus::Consistent) => format!("{came}: consistent with {model}\n"),
            (_, standing) => format!("{came} under {model}: {} so far\n", standing.name()),
        }
    }

    fn render(&self, violation: &Violation, shrunk: &Shrunk) -> String {
        let history = &shrunk.history;
        let mut text = format!(
            "{}: violation of {} after {} events\n\nThe events that matter, a line for each:\n",
            self.model.name(),
            self.model.title(),
            violation.events
        );
        for (line, shown) in self.timed(history) {
            let _ = writeln!(text, "  line {line}  {shown}");
        }
        text += "Lines number the events in the order in which they were recorded.\n\n";
        text += &report::explain::text(history, self.model, &shrunk.proof, false);
        text += "\nThe same as a trace:\n";
        let mut trace = Vec::new();
        if write_text(history, &mut trace).is_ok() {
            text += &String::from_utf8_lossy(&trace);
        }
        text
    }

    /// The events of a part in the order in which they were recorded, with their times.
    fn timed(&self, history: &History) -> Vec<(u32, String)> {
        let mut rows: Vec<(u32, String)> = (history.event_ids())
            .map(|event| {
                let line = history.line_of(event);
                let time = self.time_of(line.into());
                let time = time.map_or_else(|| "time unknown".to_owned(), |t| format!("time {t}"));
                let thread = history.thread_label(history.event(event).thread);
                (line, format!("{time}  {thread}: {}", event_text(history, event)))
            })
            .collect();
        rows.sort();
        rows
    }
}
