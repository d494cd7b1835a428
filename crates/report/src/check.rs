//! What is printed about a stream of judged traces: lines about each answer, for people or as JSON,
//! and how many traces were found to be what.

mod by_file;
mod live;
mod pages;

pub use live::live_lines;
pub use pages::{Listed, MOST_PAGES, TracePage, index_page, trace_pages};

use std::fmt::Write as _;

use evidence::Verdict;
use judge::stream::{Answer, Asked, Interrupted, Judged, Trace, UnreadableTrace};
use judge::{Gradual, Judgement, Outcome};
use models::Model;
use serde::Serialize;

use crate::verdict::{Fields, Line, decorated, summary_line, verdict_json};
use crate::{count, cycle_lines, json};

/// How answers are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// As JSON objects.
    pub json: bool,
    /// Without the cycle that shows a violation.
    pub quiet: bool,
    /// Whether to print statistics of the decision.
    pub stats: bool,
    /// With the witness of a consistent trace, in JSON.
    pub witness: bool,
    /// In colours.
    pub colour: bool,
}

/// Whole lines about an answer.
///
/// ```
/// use judge::stream::{Answer, Asked, Judged, Trace};
/// use tribunal_report::check::{Style, lines};
///
/// let history = history::parse_text("0: x := 1\n1: x == 1\n1: x == 0")?;
/// let (model, budget) = (models::Model::Sc, judge::Budget::unlimited());
/// let judgement = judge::judge(&history, model, judge::Engine::Auto, &budget);
/// let judged = Judged {
///     trace: Trace { file: "t".into(), number: 1, history }.into(),
///     asked: Asked::Model(model),
///     answer: Answer::Model(judgement),
///     time: std::time::Duration::from_micros(41),
/// };
/// let quiet = Style { quiet: true, ..Style::default() };
/// assert_eq!(lines(&judged, quiet), "t #1: sc: violation (decided by saturation, 3 events, 41 µs)\n");
/// # Ok::<(), history::InputError>(())
/// ```
pub fn lines(judged: &Judged, style: Style) -> String {
    match &judged.answer {
        Answer::Model(judgement) => model_lines(judged, judgement, style),
        Answer::File(judgement) => by_file::lines(judged, judgement, style),
        Answer::Gradual(gradual) => gradual_line(judged, gradual, style) + "\n",
    }
}

/// What was asked about a trace that could not be judged, in the order in which fields are printed.
#[derive(Serialize)]
struct Unanswered<'a> {
    file: &'a str,
    trace: Option<u64>,
    #[serde(flatten)]
    model: json::MemoryModelName<'a>,
    verdict: &'static str,
    reason: &'static str,
    established: String,
}

impl Unanswered<'_> {
    /// A question about this trace.
    fn new<'a>(
        (file, trace): (&'a str, Option<u64>),
        asked: &'a Asked,
        (reason, established): (&'static str, &str),
    ) -> Unanswered<'a> {
        let model = json::MemoryModelName::new(asked.name());
        let verdict = Verdict::<(), (), ()>::Undecided(()).of_trace();
        Unanswered { file, trace, model, verdict, reason, established: established.to_owned() }
    }

    fn line(&self, asked: &Asked, style: Style) -> String {
        if style.json {
            return json::line(self) + "\n";
        }
        let Unanswered { file, trace, reason, established, .. } = self;
        let at = trace.map_or_else(String::new, |number| format!(" #{number}"));
        let name = decorated(&Verdict::<(), (), ()>::Undecided(()), style.colour);
        format!("{file}{at}: {}: {name}: {reason}; {established}\n", asked.name())
    }
}

/// A trace that makes no sense, in the order in which fields are printed.
#[derive(Serialize)]
struct Malformed<'a> {
    file: &'a str,
    trace: Option<u64>,
    verdict: &'static str,
    line: u64,
    column: u64,
    message: String,
}

/// Whole lines about a trace that could not be read, so that every trace has an answer: of one that
/// is larger than its budget a line for everything that was asked, of one that makes no sense one
/// line.
pub fn unread_lines(unread: &UnreadableTrace, asked: &[Asked], style: Style) -> String {
    let UnreadableTrace { file, number, error } = unread;
    if unread.is_too_large() {
        let reason = "the trace does not fit the memory limit (raise --memory)";
        let established = format!("read up to line {}", error.line);
        let line = |asked| {
            Unanswered::new((file, *number), asked, (reason, &established)).line(asked, style)
        };
        return asked.iter().map(line).collect();
    }
    let line = match style.json {
        true => json::line(&Malformed {
            file,
            trace: *number,
            verdict: "malformed",
            line: error.line,
            column: error.column,
            message: error.kind().to_string(),
        }),
        false => {
            let at = number.map_or_else(String::new, |number| format!(" #{number}"));
            format!("{file}{at}: malformed (line {})", error.line)
        }
    };
    line + "\n"
}

/// A line about a question that an interruption left without an answer.
pub fn interrupted_line(interrupted: &Interrupted, style: Style) -> String {
    let Interrupted { file, number, asked, events } = interrupted;
    let established = match events {
        Some(events) => format!("read to its end ({})", count(*events, "event")),
        None => "its end was not read".to_owned(),
    };
    let why = ("interrupted", &*established);
    Unanswered::new((file, Some(*number)), asked, why).line(asked, style)
}

fn model_lines(judged: &Judged, judgement: &Judgement, style: Style) -> String {
    let Trace { file, number, history } = &*judged.trace;
    let line = Line { file, trace: *number, history, judgement, micros: judged.micros() };
    if style.json {
        let fields = Fields { witness: style.witness, stats: style.stats };
        return verdict_json(&line, fields) + "\n";
    }
    let mut text = summary_line(&line, style.colour) + "\n";
    if style.stats {
        text.push_str(&stats_line(judgement));
    }
    if let (Outcome::Broken(proof), false) = (&judgement.outcome, style.quiet) {
        for line in cycle_lines(history, proof) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn stats_line(judgement: &Judgement) -> String {
    let stats = &judgement.stats;
    let mut parts = Vec::new();
    if let Some(pairs) = stats.write_pairs {
        parts.push(format!("{pairs} write pairs"));
    }
    if let Some(pairs) = stats.unordered_write_pairs {
        parts.push(format!("{pairs} not ordered by saturation"));
    }
    parts.push(format!("{} inferred edges", stats.inferred_edges));
    parts.push(format!("{} decisions", stats.decisions));
    parts.push(format!("{} conflicts", stats.conflicts));
    format!("  {}\n", parts.join(", "))
}

/// The fields about all models, in the order in which they are printed.
#[derive(Serialize)]
struct GradualObject<'a> {
    addresses: usize,
    events: usize,
    file: &'a str,
    #[serde(flatten)]
    took: json::CheckTime,
    #[serde(flatten)]
    model: json::MemoryModelName<'a>,
    strongest: Vec<&'static str>,
    threads: usize,
    trace: u64,
    undecided: Vec<&'static str>,
    verdict: &'static str,
    violated: Vec<&'static str>,
}

/// A line about the strongest models that hold.
fn gradual_line(judged: &Judged, gradual: &Gradual, style: Style) -> String {
    let Trace { file, number, history } = &*judged.trace;
    let (strongest, violated) = (names(&gradual.strongest()), names(&gradual.violated()));
    let undecided = names(&gradual.undecided());
    if style.json {
        return json::line(&GradualObject {
            addresses: history.address_count(),
            events: history.len(),
            file,
            took: json::CheckTime::micros(judged.micros()),
            model: json::MemoryModelName::new(judged.asked.name()),
            strongest,
            threads: history.thread_count(),
            trace: *number,
            undecided,
            verdict: gradual.verdict().of_trace(),
            violated,
        });
    }
    let mut line = format!("{file} #{number}: gradual: ");
    match &*strongest {
        [] if undecided.is_empty() => line.push_str("no model allows the trace"),
        [] => line.push_str("no model is known to allow the trace"),
        strongest => {
            let (s, allow) = if strongest.len() == 1 { ("", "allows") } else { ("s", "allow") };
            let models = strongest.join(", ");
            let _ = write!(line, "strongest model{s} that {allow} the trace: {models}");
        }
    }
    for (what, models) in [("violated", violated), ("undecided", undecided)] {
        if !models.is_empty() {
            let _ = write!(line, "; {what}: {}", models.join(", "));
        }
    }
    line
}

fn names(models: &[Model]) -> Vec<&'static str> {
    models.iter().map(|model| model.name()).collect()
}

/// The number of traces with each verdict, for each model.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<(Asked, [usize; 3])>,
}

impl Tally {
    /// Counts an answer.
    pub fn add(&mut self, asked: Asked, verdict: Verdict<(), (), ()>) {
        let at = match self.rows.iter().position(|(a, _)| *a == asked) {
            Some(at) => at,
            None => {
                self.rows.push((asked, [0; 3]));
                self.rows.len() - 1
            }
        };
        let column = match verdict {
            Verdict::Holds(()) => 0,
            Verdict::Broken(()) => 1,
            Verdict::Undecided(()) => 2,
        };
        self.rows[at].1[column] += 1;
    }

    /// The verdict on all of them: broken if one is, else undecided if one is.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        let any = |column: usize| self.rows.iter().any(|(_, counts)| counts[column] > 0);
        match (any(1), any(2)) {
            (true, _) => Verdict::Broken(()),
            (false, true) => Verdict::Undecided(()),
            (false, false) => Verdict::Holds(()),
        }
    }

    /// Whether there is more than fits a look.
    pub fn is_long(&self) -> bool {
        self.rows.iter().map(|(_, counts)| counts.iter().sum::<usize>()).sum::<usize>() > 10
    }

    /// `sc: 2000 traces: 150 consistent, 1850 violations`
    pub fn summary(&self) -> String {
        if self.rows.is_empty() {
            return "no trace was checked".to_owned();
        }
        let rows = self.rows.iter().map(|(asked, [kept, broken, undecided])| {
            let traces = count(kept + broken + undecided, "trace");
            let open = match undecided {
                0 => String::new(),
                undecided => format!(", {undecided} undecided"),
            };
            let name = asked.name();
            format!("{name}: {traces}: {kept} consistent, {}{open}", count(*broken, "violation"))
        });
        rows.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_outweighs_what_is_undecided() {
        let mut tally = Tally::default();
        assert_eq!(tally.summary(), "no trace was checked");
        tally.add(Asked::Gradual, Verdict::Undecided(()));
        assert_eq!(tally.verdict(), Verdict::Undecided(()));
        tally.add(Asked::Model(Model::Sc), Verdict::Holds(()));
        tally.add(Asked::Model(Model::Sc), Verdict::Broken(()));
        assert_eq!(tally.verdict(), Verdict::Broken(()));
        assert_eq!(
            tally.summary(),
            "gradual: 1 trace: 0 consistent, 0 violations, 1 undecided; \
             sc: 2 traces: 1 consistent, 1 violation"
        );
    }
}
