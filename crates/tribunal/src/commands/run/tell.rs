//! What `run` says about the traces it recorded.

use std::fmt::Write as _;

use history::{Format, History, ReadOptions, ThinAir, TraceReader};
use judge::{Budget, Engine, Outcome, ShrinkOptions, judge, shrink};
use models::Model;
use murphi::source::Source;
use serde_json::{Value, json};
use stress::protocol::{Broken, Protocol, Scribe, Walk};

use super::counted;
use crate::arguments::RunArguments;
use crate::commands::convert::write_trace;
use crate::ending::Failure;

/// What was found, so far.
#[derive(Default)]
pub(super) struct Tale {
    pub(super) traces: u64,
    pub(super) events: u64,
    pub(super) violating: u64,
    /// The first violating trace.
    pub(super) first: Option<Box<(Walk, History)>>,
    /// What is wrong with the protocol itself: in which walk, what, after how many events.
    pub(super) broken: Option<(u64, Broken, usize)>,
    /// Time ran out before all traces that were asked for.
    pub(super) cut_short: bool,
}

/// What a report is about.
pub(super) struct About<'a> {
    pub(super) arguments: &'a RunArguments,
    pub(super) source: &'a Source,
    pub(super) protocol: &'a Protocol,
    pub(super) tale: &'a Tale,
    pub(super) seconds: f64,
}

/// The comment at the top of a file of traces: how to get it again.
pub(super) fn header(arguments: &RunArguments, source: &Source, protocol: &Protocol) -> String {
    let mut text = format!(
        "# {}, walked at random: seed {}, {} operations a trace",
        source.name, arguments.seed, arguments.operations
    );
    for (name, value) in &arguments.protocol.language.constants {
        let _ = write!(text, ", {name}={value}");
    }
    for (rule, factor) in &arguments.protocol.weights {
        let _ = write!(text, ", weight of {rule} {factor}");
    }
    text.push('\n');
    for (name, thread) in &protocol.recording().processors {
        let _ = writeln!(text, "# thread {thread} is {name}");
    }
    text
}

/// The first violating trace as a file of its own.
pub(super) fn whole(
    about: &About<'_>,
    model: Model,
    first: &(Walk, History),
) -> Result<Vec<u8>, Failure> {
    let (walk, history) = first;
    let arguments = about.arguments;
    if arguments.format == Some(Format::JsonLines) {
        let mut text = Vec::new();
        write_trace(history, Format::JsonLines, &mut text).map_err(Failure::of_stdout)?;
        return Ok(text);
    }
    let mut text = header(arguments, about.source, about.protocol);
    let _ = writeln!(text, "# trace {}, which violates {model}", walk.number + 1);
    Scribe::new(about.protocol).text(walk, arguments.order, &mut text);
    Ok(text.into_bytes())
}

impl About<'_> {
    /// How much was recorded.
    pub(super) fn totals(&self) -> String {
        let Tale { traces, events, .. } = self.tale;
        format!(
            "{} with {} in {:.2} s ({:.0} events a second), seed {}",
            counted(*traces, "trace"),
            counted(*events, "event"),
            self.seconds,
            *events as f64 / self.seconds.max(1e-9),
            self.arguments.seed
        )
    }

    /// What is wrong with the protocol itself.
    pub(super) fn broken(&self) -> Option<String> {
        let (number, broken, events) = self.tale.broken.as_ref()?;
        Some(format!(
            "{}: {}; first in trace {} after {} (`tribunal explore` shows a shortest run)",
            self.source.name,
            self.protocol.explain(broken),
            number + 1,
            counted(*events as u64, "event")
        ))
    }

    fn verdict(&self) -> &'static str {
        match self.tale {
            Tale { violating: 1.., .. } => "violation",
            Tale { broken: Some(_), .. } => "broken",
            Tale { cut_short: true, .. } => "undecided",
            _ => "consistent",
        }
    }

    /// The report for people.
    pub(super) fn report(&self) -> String {
        let (tale, name) = (self.tale, &self.source.name);
        let model = self.arguments.check.unwrap_or(Model::Sc);
        let traces = counted(tale.traces, "trace");
        let mut text = match &tale.first {
            Some(_) => {
                let verb = if tale.violating == 1 { "violates" } else { "violate" };
                format!("{name}: violation: {} of {traces} {verb} {model}\n", tale.violating)
            }
            None => format!("{name}: {traces}, all allowed by {model}\n"),
        };
        if self.arguments.quiet.quiet {
            return text;
        }
        let _ = writeln!(text, "  {}", self.totals());
        if let Some(sentence) = self.broken() {
            let _ = writeln!(text, "  {sentence}");
        }
        if let Some(first) = &tale.first {
            self.show(&first.0, &first.1, model, &mut text);
        }
        text
    }

    /// The first violating trace, shrunk.
    fn show(&self, walk: &Walk, history: &History, model: Model, text: &mut String) {
        let lines = shrunk(history, model);
        let _ = writeln!(
            text,
            "\nThe first is trace {}. Of its {}, these violate {model} on their own:",
            walk.number + 1,
            counted(history.len() as u64, "event"),
        );
        for line in &lines {
            let _ = writeln!(text, "  {line}");
        }
        for line in cycle(&lines, model) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(path) = &self.arguments.out.output {
            let path = path.display();
            let _ = writeln!(text, "\nTo go on:");
            let _ = writeln!(text, "  tribunal check --model {model} {path}");
            let _ = writeln!(text, "  tribunal explain --model {model} --shrink {path}");
        }
    }

    /// The report for programs.
    pub(super) fn json(&self) -> String {
        let tale = self.tale;
        let model = self.arguments.check.unwrap_or(Model::Sc);
        let first = tale.first.as_ref().map_or(Value::Null, |first| {
            let (walk, history) = &**first;
            let lines = shrunk(history, model);
            json!({"trace": walk.number + 1, "events": history.len(), "shrunk": lines})
        });
        let broken = tale.broken.as_ref().map_or(Value::Null, |(number, broken, events)| {
            let what = self.protocol.explain(broken);
            json!({"trace": number + 1, "events": events, "what": what})
        });
        json!({
            "model": self.source.name, "memory_model": model.name(), "verdict": self.verdict(),
            "seed": self.arguments.seed, "traces": tale.traces, "events": tale.events,
            "violating": tale.violating,
            "seconds": self.seconds, "first": first, "broken": broken,
        })
        .to_string()
    }
}

/// The few events of a violating trace that matter, as lines of a trace.
fn shrunk(history: &History, model: Model) -> Vec<String> {
    let budget = Budget::unlimited();
    let part = match judge(history, model, Engine::Auto, &budget).outcome {
        Outcome::Broken(proof) => {
            shrink(history, model, &proof, ShrinkOptions::default(), &budget).history
        }
        _ => history.clone(),
    };
    let mut text = Vec::new();
    // Nothing can go wrong in memory.
    let _ = history::write_text(&part, &mut text);
    let text = String::from_utf8_lossy(&text);
    text.lines().filter(|line| *line != "check").map(str::to_owned).collect()
}

/// Why these lines cannot be, told with their numbers.
fn cycle(lines: &[String], model: Model) -> Vec<String> {
    let text = lines.join("\n");
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let Some(Ok(history)) = TraceReader::new(text.as_bytes(), "trace", options).next() else {
        return Vec::new();
    };
    match judge(&history, model, Engine::Auto, &Budget::unlimited()).outcome {
        Outcome::Broken(proof) => report::cycle_lines(&history, &proof),
        _ => Vec::new(),
    }
}
