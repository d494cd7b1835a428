//! What came of a campaign, for people and for programs.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::campaign_log::{CampaignLog, MOST_FINDINGS, State};
use crate::coverage::{COMMUNICATIONS, Coverage, LINKS, PAIRS, WAYS};
use crate::folder::SavedFinding;
use crate::plan::Plan;

/// The summary of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    log: &'a CampaignLog,
    plan: &'a Plan,
    target: &'a str,
    model: &'a str,
}

/// So many names are listed before the others are counted.
const LISTED: usize = 8;

impl<'a> Summary<'a> {
    /// The summary of a campaign as it stands.
    pub fn new(log: &'a CampaignLog, plan: &'a Plan, target: &'a str, model: &'a str) -> Self {
        Summary { log, plan, target, model }
    }

    fn state(&self) -> &'a State {
        self.log.state()
    }

    /// The seconds of all runs of the campaign.
    fn seconds(&self) -> f64 {
        let (now, before) = self.log.seconds();
        now + before
    }

    /// In a few lines.
    pub fn brief(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}: {}: {}", self.target, self.model, self.verdict());
        for kept in self.log.kept().iter().take(MOST_FINDINGS) {
            let _ = writeln!(text, "  {}", self.line(kept));
        }
        text + &self.totals() + &self.gaps()
    }

    /// The summary with the tables of coverage.
    pub fn full(&self) -> String {
        let coverage = &self.state().coverage;
        let mut text = self.brief();
        text.push_str("\nCommunication edges (number of distinct outcomes)\n");
        text += &table(&COMMUNICATIONS, &WAYS, coverage.communication.as_flattened());
        text.push_str("\nProgram-order edges (number of tests)\n");
        text += &table(&PAIRS, &LINKS, coverage.program_order.as_flattened());
        if !coverage.litmus.is_empty() {
            text.push_str("\nLitmus tests: runs, and runs with the target outcome\n");
            let wide = coverage.litmus.keys().map(String::len).max().unwrap_or(0);
            for (name, row) in &coverage.litmus {
                let (runs, seen) = (grouped(row.runs), grouped(row.seen));
                let _ = writeln!(text, "  {name:wide$} {runs:>15} {seen:>13}");
            }
        }
        text
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        let State { totals, coverage, next, shapes, unsuitable, .. } = self.state();
        let seconds = self.seconds();
        let findings: Vec<Value> = self
            .log
            .kept()
            .iter()
            .map(|kept| {
                let mut row = serde_json::to_value(kept).unwrap_or_default();
                row["tests"] = json!(shapes.get(&kept.shape));
                row
            })
            .collect();
        json!({
            "event": "summary",
            "target": self.target,
            "model": self.model,
            "memory_model": self.model,
            "verdict": self.word(),
            "tests": totals.tests,
            "next_test": next,
            "runs": totals.runs,
            "operations": totals.operations,
            "outcomes": totals.outcomes,
            "violations": totals.violations,
            "undecided": totals.undecided,
            "misbehaved": totals.misbehaved,
            "unfinished": totals.unfinished,
            "unsuitable": totals.unsuitable,
            "unsuitable_because": unsuitable,
            "shapes": shapes.len(),
            "seconds": seconds,
            "operations_per_second": self.rate().round(),
            "findings": findings,
            "coverage": {
                "communication": cells(&COMMUNICATIONS, &WAYS, coverage.communication.as_flattened()),
                "program_order": cells(&PAIRS, &LINKS, coverage.program_order.as_flattened()),
                "litmus": coverage.litmus,
                "not_exercised": self.not_exercised(),
                "litmus_not_run": self.litmus_not_run(),
            },
            "folder": self.log.folder().path().display().to_string(),
        })
        .to_string()
    }

    fn word(&self) -> &'static str {
        let totals = &self.state().totals;
        match () {
            () if !self.log.kept().is_empty() => "violation",
            () if totals.undecided > 0 || totals.runs == 0 => "undecided",
            () => "consistent",
        }
    }

    fn verdict(&self) -> String {
        match self.log.kept() {
            [] if self.state().totals.undecided > 0 => {
                let undecided = counted(self.state().totals.undecided, "outcome");
                format!("undecided: {undecided} without a verdict; no violation found")
            }
            [] if self.state().totals.runs == 0 => "undecided: no test was run".to_owned(),
            [] => "no violation found".to_owned(),
            [_] => "1 finding".to_owned(),
            kept => format!("{} findings", kept.len()),
        }
    }

    /// One finding in a line.
    pub fn line(&self, kept: &SavedFinding) -> String {
        let often = self.state().shapes.get(&kept.shape).copied().unwrap_or(1);
        let often = counted(often, "test");
        let path = self.log.folder().path().join(&kept.path);
        match kept.kind.as_str() {
            "violation" => format!(
                "{}: {} of {} events matter: {} (in {often}), {}",
                kept.name,
                kept.events,
                kept.of,
                kept.shape,
                path.display()
            ),
            _ => format!("{} (in {often}), {}", complaint(kept, &path), path.display()),
        }
    }

    fn rate(&self) -> f64 {
        self.state().totals.operations as f64 / self.seconds().max(1e-3)
    }

    fn totals(&self) -> String {
        let State { totals, shapes, unsuitable, .. } = self.state();
        let mut text = String::new();
        let _ = writeln!(
            text,
            "  {}, {}, {} in {:.1} s ({}/s)",
            counted(totals.tests, "test"),
            counted(totals.runs, "run"),
            counted(totals.operations, "operation"),
            self.seconds(),
            grouped(self.rate() as u64)
        );
        let _ = write!(text, "  {}", counted(totals.outcomes, "distinct outcome"));
        if totals.violations > 0 {
            let shapes = counted(shapes.len() as u64, "shape");
            let _ = write!(text, ", {} violate the model ({shapes})", grouped(totals.violations));
        }
        text.push('\n');
        if totals.misbehaved > 0 {
            let tests = counted(totals.misbehaved, "test");
            let _ = writeln!(text, "  the target failed on {tests}");
        }
        if totals.unfinished > 0 {
            let runs = counted(totals.unfinished, "run");
            let _ = writeln!(
                text,
                "  {runs} did not finish; their events up to that point were checked"
            );
        }
        if let (1.., Some(why)) = (totals.unsuitable, unsuitable) {
            let tests = counted(totals.unsuitable, "test");
            let _ = writeln!(text, "  {tests} cannot run on this target: {why}");
        }
        text
    }

    fn gaps(&self) -> String {
        let mut text = String::new();
        let (gaps, unrun) = (self.not_exercised(), self.litmus_not_run());
        let _ = match gaps.is_empty() {
            true => {
                writeln!(text, "  every kind of communication and program-order edge was exercised")
            }
            false => writeln!(text, "  not exercised: {}", listed(&gaps)),
        };
        let litmus = &self.state().coverage.litmus;
        if !self.plan.litmus().is_empty() {
            let seen = litmus.values().filter(|row| row.seen > 0).count();
            let run = litmus.values().filter(|row| row.runs > 0).count();
            let _ = writeln!(
                text,
                "  litmus tests: {run} of {} were run; {seen} showed their target outcome",
                run + unrun.len(),
            );
        }
        text
    }

    /// The edges that the target supports and no outcome showed.
    fn not_exercised(&self) -> Vec<String> {
        let abilities = self.plan.abilities();
        let Coverage { communication, program_order, .. } = &self.state().coverage;
        let mut gaps = Vec::new();
        for (row, name) in communication.iter().zip(COMMUNICATIONS) {
            for ((&count, way), column) in row.iter().zip(WAYS).zip(0..) {
                let possible = match column {
                    1..=3 => abilities.atomics,
                    4 => abilities.programs,
                    _ => true,
                };
                if count == 0 && possible {
                    gaps.push(format!("{name} {way}"));
                }
            }
        }
        for (row, name) in program_order.iter().zip(PAIRS) {
            for (&count, link) in row.iter().zip(LINKS) {
                let possible = abilities.programs
                    && match link {
                        "fenced" => abilities.fences,
                        "dependent" => abilities.dependencies,
                        _ => true,
                    };
                if count == 0 && possible {
                    gaps.push(format!("{name} {link}"));
                }
            }
        }
        gaps
    }

    fn litmus_not_run(&self) -> Vec<String> {
        let litmus = &self.state().coverage.litmus;
        let was_run = |name: &String| litmus.get(name).is_some_and(|row| row.runs > 0);
        let names = self.plan.litmus().iter().map(|test| test.program.name.clone());
        let mut names: Vec<String> = names.filter(|name| !was_run(name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The misbehaviour of the target: the first line of the first description. If the file is missing,
/// the shape of the finding, which has no numbers.
fn complaint(kept: &SavedFinding, folder: &Path) -> String {
    let what = std::fs::read_to_string(folder.join("what.txt")).ok();
    let first = what.as_deref().and_then(|text| text.lines().next());
    first.map_or_else(|| kept.shape.clone(), |line| format!("target failure: {line}"))
}

fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len() - names.len().min(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A table of counts.
fn table(rows: &[&str], columns: &[&str], counts: &[u64]) -> String {
    let mut text = format!("  {:5}", "");
    for column in columns {
        let _ = write!(text, " {column:>13}");
    }
    text.push('\n');
    for (row, counts) in rows.iter().zip(counts.chunks(columns.len())) {
        let _ = write!(text, "  {row:5}");
        for &count in counts {
            let shown = if count == 0 { "-".to_owned() } else { grouped(count) };
            let _ = write!(text, " {shown:>13}");
        }
        text.push('\n');
    }
    text
}

fn cells(rows: &[&str], columns: &[&str], counts: &[u64]) -> Value {
    let row = |counts: &[u64]| -> Value {
        columns.iter().zip(counts).map(|(name, count)| ((*name).to_owned(), json!(count))).collect()
    };
    let rows = rows.iter().zip(counts.chunks(columns.len()));
    rows.map(|(name, counts)| ((*name).to_owned(), row(counts))).collect()
}

/// `1 test`, `1,234 tests`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
