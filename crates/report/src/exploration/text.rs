//! An exploration as a person reads it: the verdict in one line, what was established, the
//! counterexample step by step, and what is wrong at its end.

use std::fmt::Write as _;
use std::slice;

use evidence::Verdict;
use explore::report::{
    Broken, Change, Counterexample, Effect, RuleCoverage, SearchOrder, Start, Step, counted,
    grouped,
};
use explore::{Checkpoint, Deadlock, Recorded, Refuted, Region, Report};

use crate::style::{Style, paint};

/// How much to print.
#[derive(Debug, Clone, Copy, Default)]
pub struct Detail<'a> {
    /// With the escape codes of colours.
    pub colour: bool,
    /// The verdict only.
    pub quiet: bool,
    /// All rules, not only those that never fired.
    pub coverage: bool,
    /// Places that are left out of a run: those that begin with one of these names; with `*`, all.
    pub hidden: &'a [String],
}

/// The whole report, each line ended by a newline.
pub fn report(exploration: &Report, detail: Detail<'_>) -> String {
    let mut text = verdict_line(exploration, detail.colour) + "\n";
    if detail.quiet {
        return text;
    }
    for line in totals_lines(exploration) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(line) = never_fired(exploration) {
        let _ = writeln!(text, "  {line}");
    }
    if detail.coverage {
        text.push_str(&coverage(exploration));
    }
    let Some(finding) = exploration.finding() else { return text };
    if let Some(counterexample) = &finding.counterexample {
        let _ = writeln!(text);
        text.push_str(&run_without(counterexample, detail.hidden, detail.colour));
        if let Some(region) = &counterexample.region {
            text.push_str(&caught(region, detail.hidden));
        }
    }
    text + &explanation(Some(&finding.broken), detail.colour)
}

/// Why something is broken, after an empty line; nothing if there is nothing to say.
pub(crate) fn explanation(broken: Option<&Broken>, colour: bool) -> String {
    match broken.map(|broken| broken.explanation.render(colour)) {
        Some(text) if !text.is_empty() => {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("\n{text}{end}")
        }
        _ => String::new(),
    }
}

/// `m.m: violation after 5 steps: invariant "small" does not hold`
pub fn verdict_line(exploration: &Report, colour: bool) -> String {
    let name = paint(exploration.verdict_name(), Style::of(&exploration.verdict), colour);
    let what = match &exploration.verdict {
        Verdict::Broken(finding) => {
            let run = finding.counterexample.as_ref();
            let place = run.map_or(String::new(), |run| match run.steps.len() {
                0 => " in a start state".to_owned(),
                steps => format!(" after {}", counted(steps as u64, "step")),
            });
            format!("{place}: {}", finding.broken.sentence)
        }
        Verdict::Undecided(open) => format!(": {open}"),
        Verdict::Holds(()) => established(exploration),
    };
    format!("{}: {name}{what}", exploration.model)
}

/// `: 2 invariants hold, no deadlock`
fn established(exploration: &Report) -> String {
    let mut facts = exploration.properties.clone();
    if exploration.settings.deadlock != Deadlock::Off {
        facts.push("no deadlock".to_owned());
    }
    if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) }
}

fn totals_lines(exploration: &Report) -> Vec<String> {
    let (totals, settings) = (&exploration.totals, &exploration.settings);
    let random = settings.search == SearchOrder::Simulate;
    let mut first = match random {
        true => vec![],
        false => vec![counted(totals.states, "state")],
    };
    first.push(format!("{} fired", counted(totals.rules_fired, "rule")));
    if !random {
        first.push(format!("depth {}", grouped(totals.depth)));
    }
    first.push(format!("{} s", seconds(totals.seconds)));
    let done = if random { totals.rules_fired } else { totals.states };
    // Of a small model these would be measurements of something else.
    let is_large = done >= 10_000;
    if is_large && totals.search_seconds >= 0.01 {
        let rate = (done as f64 / totals.search_seconds) as u64;
        let what = if random { "rules" } else { "states" };
        first.push(format!("{} {what}/s", grouped(rounded(rate))));
    }
    if is_large && totals.bytes_per_state > 0.0 && !random {
        first.push(format!("{:.1} bytes/state", totals.bytes_per_state));
    }
    if let Some(bytes) = totals.disk_bytes_per_state.filter(|&bytes| is_large && bytes > 0.0) {
        first.push(format!("{bytes:.1} bytes/state on disk"));
    }
    // Random walks go through states as they are.
    let mut second = match random {
        true => vec![],
        false if settings.asymmetric.is_empty() => {
            vec![format!("symmetry {}", settings.symmetry.name())]
        }
        false => {
            let names = settings.asymmetric.join(", ");
            vec![format!(
                "symmetry {} except {names} (the model depends on the order of members)",
                settings.symmetry.name()
            )]
        }
    };
    second.push(match settings.search {
        SearchOrder::Bfs => "breadth-first".to_owned(),
        SearchOrder::Dfs => "depth-first".to_owned(),
        SearchOrder::Best => "best-first".to_owned(),
        SearchOrder::Simulate => {
            format!("random walk, seed {}", settings.seed.unwrap_or_default())
        }
    });
    let threads = counted(settings.jobs as u64, "thread");
    second.push(match settings.processes {
        Some(1) => format!("1 process with {threads}"),
        Some(processes) => format!("{processes} processes with {threads} each"),
        None => threads,
    });
    if let Some(bound) = settings.bound {
        second.push(format!("at most {}", counted(bound, "step")));
    }
    if let Some(bits) = settings.compact {
        second.push(format!("{bits}-bit hashes"));
    }
    for (name, value) in &settings.constants {
        second.push(format!("{name} = {value}"));
    }
    let mut lines = vec![first.join(", "), second.join(", ")];
    if let Some(probability) = totals.omission_probability {
        lines.push(format!("probability that a state was missed: below {probability:.1e}"));
    }
    if let Some(decided) = totals.liveness_seconds.filter(|_| is_large) {
        lines.push(format!("liveness decided in {} s", seconds(decided)));
    }
    if let (Some(condition), Some(nearest)) = (&settings.towards, totals.nearest) {
        let after = counted(u64::from(nearest.steps), "step");
        lines.push(match nearest.distance {
            0 => format!("towards {condition}: reached after {after}"),
            distance => {
                format!("towards {condition}: nearest at distance {distance}, after {after}")
            }
        });
    }
    if let Some(Checkpoint { directory, level }) = &exploration.checkpoint {
        let level = grouped(u64::from(*level));
        lines.push(format!("checkpoint at depth {level}: --resume {}", directory.display()));
    }
    lines
}

/// Rules that have not fired once, each name once. Of a search that did not end, that says little
/// about the model.
fn never_fired(exploration: &Report) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for RuleCoverage { rule, fired } in &exploration.rules {
        let name = format!("\"{rule}\"");
        if *fired == 0 && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let what = match (&exploration.verdict, names.len()) {
        (Verdict::Holds(()), 1) => "rule that never fires",
        (Verdict::Holds(()), _) => "rules that never fire",
        (_, 1) => "rule that has not fired",
        (_, _) => "rules that have not fired",
    };
    Some(format!("{what}: {}", names.join(", ")))
}

fn coverage(exploration: &Report) -> String {
    let counts: Vec<String> = exploration.rules.iter().map(|rule| grouped(rule.fired)).collect();
    let width = counts.iter().map(String::len).max().unwrap_or_default().max("fired".len());
    let mut text = format!("\n  {:>width$}  rule\n", "fired");
    for (covered, fired) in exploration.rules.iter().zip(counts) {
        let _ = writeln!(text, "  {fired:>width$}  \"{}\"", covered.rule);
    }
    text
}

/// Whether a place is left out: `cache` hides `cache[Proc_1].state`, and `cache[Proc_1]` as well.
fn is_hidden(place: &str, hidden: &[String]) -> bool {
    let begins = |name: &String| {
        let rest = place.strip_prefix(name.as_str());
        name == "*" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.', '{']))
    };
    hidden.iter().any(begins)
}

/// A run, step by step.
pub fn run(counterexample: &Counterexample, colour: bool) -> String {
    run_without(counterexample, &[], colour)
}

fn run_without(counterexample: &Counterexample, hidden: &[String], colour: bool) -> String {
    let width = counterexample.steps.len().to_string().len().max(2);
    let indent = " ".repeat(width + 2);
    let mut text = start(&counterexample.start, &indent, hidden, colour);
    for (index, step) in counterexample.steps.iter().enumerate() {
        let number = format!("{:>width$}.", index + 1);
        let name = paint(&format!("\"{}\"", step.rule), Style::Strong, colour);
        let _ = writeln!(text, "{number} rule {name}{}", parameters(&step.bindings));
        text.push_str(&step_body(step, &indent, hidden, colour));
    }
    text
}

/// The number of places of a region that are listed.
const LISTED: usize = 30;

/// What can still happen after a run from whose end a goal is out of reach.
fn caught(region: &Region, hidden: &[String]) -> String {
    let states = counted(region.states, "state");
    let mut text = match (region.complete, region.states) {
        (_, 1) => {
            "\nFrom the last state every enabled rule leaves the state unchanged.\n".to_owned()
        }
        (true, _) => format!(
            "\nFrom the last state {states} can be reached; in none of them does the condition \
             hold:\n"
        ),
        (false, _) => {
            format!("\nFrom the last state more than {states} can be reached; in these:\n")
        }
    };
    if !region.rules.is_empty() {
        let names: Vec<String> = region.rules.iter().map(|rule| format!("\"{rule}\"")).collect();
        let _ = writeln!(text, "  rules that still fire: {}", names.join(", "));
    }
    let stays: Vec<_> =
        region.stays.iter().filter(|(place, _)| !is_hidden(place, hidden)).collect();
    if !stays.is_empty() {
        let _ = writeln!(text, "  variables that keep their value:");
    }
    for (place, value) in stays.iter().take(LISTED) {
        let _ = writeln!(text, "    {place} = {value}");
    }
    if let Some(more) = stays.len().checked_sub(LISTED).filter(|&more| more > 0) {
        let _ = writeln!(text, "    … and {more} more; --json lists all");
    }
    text
}

fn start(start: &Start, indent: &str, hidden: &[String], colour: bool) -> String {
    let name = paint(&format!("\"{}\"", start.rule), Style::Strong, colour);
    let mut text = format!("start {name}{}\n", parameters(&start.bindings));
    for (place, value) in start.folded.iter().filter(|(place, _)| !is_hidden(place, hidden)) {
        let _ = writeln!(text, "{indent}{place} = {value}");
    }
    text.push_str(&watched(&start.watched, indent, colour));
    text.push_str(&printed(&start.printed, indent));
    text.push_str(&failure(start.error.as_deref(), indent, colour));
    text
}

/// The expressions that are watched, with their values.
fn watched(values: &[(String, String)], indent: &str, colour: bool) -> String {
    let line = |(expression, value): &(String, String)| {
        format!("{indent}{expression} = {}\n", paint(value, Style::Strong, colour))
    };
    values.iter().map(line).collect()
}

/// Whether the changes of a step can be shown with messages in a line each: not if part of one is hidden.
fn can_be_folded(step: &Step, hidden: &[String]) -> bool {
    let hides_part = |change: &Change| {
        hidden
            .iter()
            .any(|name| is_hidden(name, slice::from_ref(&change.place)) && *name != change.place)
    };
    !step.folded.is_empty() && !step.folded.iter().any(hides_part)
}

fn step_body(step: &Step, indent: &str, hidden: &[String], colour: bool) -> String {
    let mut text = String::new();
    let (changed, error) = match &step.effect {
        Effect::Changed(changed) => (&**changed, None),
        Effect::Error(message) => (&[][..], Some(message.as_str())),
    };
    if error.is_none() && changed.is_empty() {
        let _ = writeln!(text, "{indent}{}", paint("no change", Style::Faint, colour));
    }
    let arrow = paint("→", Style::Faint, colour);
    let lines = match can_be_folded(step, hidden) {
        true => &step.folded,
        false => changed,
    };
    for change in lines.iter().filter(|change| !is_hidden(&change.place, hidden)) {
        let after = paint(&change.after, Style::Strong, colour);
        let before = match change.before.as_str() {
            "" => String::new(),
            before => format!("{before} {arrow} "),
        };
        let _ = writeln!(text, "{indent}{}: {before}{after}", change.place);
    }
    text.push_str(&watched(&step.watched, indent, colour));
    let whole = step.state.iter().flatten();
    for (place, value) in whole.filter(|(place, _)| !is_hidden(place, hidden)) {
        let line = paint(&format!("{place} = {value}"), Style::Faint, colour);
        let _ = writeln!(text, "{indent}  {line}");
    }
    text.push_str(&printed(&step.printed, indent));
    text.push_str(&failure(error, indent, colour));
    text
}

/// What `put` printed, a line each.
fn printed(lines: &[String], indent: &str) -> String {
    lines.iter().map(|line| format!("{indent}| {line}\n")).collect()
}

fn failure(message: Option<&str>, indent: &str, colour: bool) -> String {
    let line =
        |message: &str| format!("{indent}{} {message}\n", paint("fails:", Style::Bad, colour));
    message.map(line).unwrap_or_default()
}

/// `  p = Proc_1, a = Addr_2`
fn parameters(bindings: &[(String, String)]) -> String {
    let shown = bindings.iter().map(|(name, value)| format!("{name} = {value}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if shown.is_empty() { shown } else { format!("  {shown}") }
}

/// `run.json: m.m: violation: small: counterexample of 3 steps holds`
pub fn replayed(
    model: &str,
    file: &str,
    recorded: &Recorded,
    result: &Result<(), Refuted>,
) -> String {
    let claim = match recorded.verdict == recorded.property {
        true => recorded.verdict.clone(),
        false => format!("{}: {}", recorded.verdict, recorded.property),
    };
    match result {
        Ok(()) => {
            let steps = counted(recorded.steps.len() as u64, "step");
            format!("{file}: {model}: counterexample confirmed: {claim} after {steps}")
        }
        Err(Refuted { place, reason }) => {
            format!("{file}: {model}: counterexample rejected ({claim}): {place}: {reason}")
        }
    }
}

/// Three digits of a number that is measured: more would be noise.
fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 1000 {
        unit *= 10;
    }
    number / unit * unit
}

pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 10.0 => format!("{seconds:.2}"),
        seconds => format!("{seconds:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::report::{Change, Explanation, Finding, Settings, Totals};

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn report_of(verdict: Verdict<(), Finding, explore::report::Open>) -> Report {
        Report {
            model: "m.m".to_owned(),
            verdict,
            settings: Settings { jobs: 2, ..Settings::default() },
            totals: Totals::default(),
            rules: Vec::new(),
            properties: Vec::new(),
            checkpoint: None,
            depths: explore::Depths::default(),
            growth: Vec::new(),
        }
    }

    #[test]
    fn a_verified_model_is_reported_in_three_lines() {
        let covered = |rule: &str, fired| RuleCoverage { rule: rule.to_owned(), fired };
        let exploration = Report {
            totals: Totals {
                states: 929_674,
                rules_fired: 5_806_121,
                depth: 41,
                seconds: 1.9,
                search_seconds: 1.85,
                liveness_seconds: None,
                bytes_per_state: 22.14,
                nearest: None,
                disk_bytes_per_state: None,
                omission_probability: None,
            },
            rules: vec![covered("go", 5), covered("stop", 0), covered("stop", 0)],
            properties: vec!["2 invariants hold".to_owned()],
            ..report_of(Verdict::Holds(()))
        };
        assert_eq!(
            report(&exploration, Detail::default()),
            "m.m: verified: 2 invariants hold, no deadlock\n  \
             929,674 states, 5,806,121 rules fired, depth 41, 1.90 s, 502,000 states/s, 22.1 bytes/state\n  \
             symmetry full, breadth-first, 2 threads\n  \
             rule that never fires: \"stop\"\n"
        );
    }

    #[test]
    fn a_counterexample_shows_only_what_changed() {
        let change = |place: &str, before: &str, after: &str| Change {
            place: place.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            ..Change::default()
        };
        let start = Start {
            rule: "idle".to_owned(),
            folded: vec![pair("x[P_1..P_3]", "0"), pair("owner", "undefined")],
            ..Start::default()
        };
        let go = Step {
            rule: "go".to_owned(),
            bindings: vec![pair("p", "P_1"), pair("a", "A_2")],
            effect: Effect::Changed(vec![
                change("x[P_1]", "0", "1"),
                change("owner", "undefined", "P_1"),
            ]),
            ..Step::default()
        };
        let fail = Step {
            rule: "stop".to_owned(),
            effect: Effect::Error("index out of range".to_owned()),
            ..Step::default()
        };
        let exploration = report_of(Verdict::Broken(Finding {
            broken: Broken {
                sentence: "rule \"stop\" fails: index out of range".to_owned(),
                explanation: Explanation::Lines("error: index out of range\n".to_owned()),
                ..Broken::default()
            },
            counterexample: Some(Counterexample { start, steps: vec![go, fail], region: None }),
        }));
        let text = report(&exploration, Detail::default());
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(first, "m.m: violation after 2 steps: rule \"stop\" fails: index out of range");
        let (_, run) = rest.split_once("\n\n").unwrap();
        assert_eq!(
            run,
            "start \"idle\"\n    x[P_1..P_3] = 0\n    owner = undefined\n \
             1. rule \"go\"  p = P_1, a = A_2\n    x[P_1]: 0 → 1\n    owner: undefined → P_1\n \
             2. rule \"stop\"\n    fails: index out of range\n\nerror: index out of range\n"
        );
    }

    #[test]
    fn a_message_is_one_line_unless_a_part_of_it_is_hidden() {
        let change = |place: &str, after: &str| Change {
            place: place.to_owned(),
            before: "undefined".to_owned(),
            after: after.to_owned(),
            ..Change::default()
        };
        let step = Step {
            effect: Effect::Changed(vec![change("net[0].kind", "Get"), change("net[0].to", "P_1")]),
            folded: vec![change("net[0]", "{kind: Get, to: P_1}")],
            ..Step::default()
        };
        let lines = |hidden: &str| step_body(&step, "", &[hidden.to_owned()], false);
        assert_eq!(lines("owner"), "net[0]: undefined → {kind: Get, to: P_1}\n");
        assert_eq!(lines("net[0].to"), "net[0].kind: undefined → Get\n");
        assert_eq!(lines("net[1].to"), "net[0]: undefined → {kind: Get, to: P_1}\n");
        assert_eq!((lines("net"), lines("net[0]")), (String::new(), String::new()));
    }

    #[test]
    fn numbers_are_grouped_and_rates_rounded() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(rounded(12_345_678), 12_300_000);
        assert_eq!(rounded(999), 999);
    }
}
