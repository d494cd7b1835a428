//! What `check` prints about a verdict: a line for people and why, or a JSON object.

use std::fmt::Write;

use judge::{Judgement, Outcome};
use models::Model;
use serde_json::json;

use super::{Court, Trace, gradual_ending};
use crate::arguments::Stats;
use crate::ending::Ending;
use crate::gradual::Gradual;

impl Court {
    /// Whole lines about a verdict.
    pub(super) fn verdict_text(&self, trace: &Trace, verdict: &Judgement, micros: u64) -> String {
        let Trace { file, number, history } = trace;
        if self.json {
            let witness = self.stats == Some(Stats::Full);
            let json = report::verdict_json(file, *number, history, verdict, micros, witness);
            return self.with_stats(json, verdict) + "\n";
        }
        let mut text =
            report::summary_line(file, *number, history, verdict, micros, self.colour) + "\n";
        if self.stats.is_some() {
            text.push_str(&stats_line(verdict));
        }
        if let (Outcome::Broken(proof), false) = (&verdict.outcome, self.quiet) {
            for line in report::cycle_lines(history, proof) {
                let _ = writeln!(text, "  {line}");
            }
        }
        text
    }

    /// The numbers that --stats adds to the fields every verdict has.
    fn with_stats(&self, json: String, verdict: &Judgement) -> String {
        let Some(open) = json.strip_suffix('}').filter(|_| self.stats.is_some()) else {
            return json;
        };
        let stats = &verdict.stats;
        format!(
            "{open},\"inferred_edges\":{},\"decisions\":{},\"conflicts\":{}}}",
            stats.inferred_edges, stats.decisions, stats.conflicts
        )
    }

    /// A line about the strongest models that hold.
    pub(super) fn gradual_text(&self, trace: &Trace, gradual: &Gradual, micros: u64) -> String {
        let Trace { file, number, history } = trace;
        let (strongest, undecided) = (gradual.strongest(), gradual.undecided());
        if self.json {
            let verdict = match gradual_ending(gradual) {
                Ending::Kept => "consistent",
                Ending::Broken => "violation",
                _ => "undecided",
            };
            let names = |models: &[Model]| models.iter().map(|m| m.name()).collect::<Vec<_>>();
            let object = json!({
                "file": &**file, "trace": number, "model": "gradual", "verdict": verdict,
                "strongest": names(&strongest), "violated": names(&gradual.violated()),
                "undecided": names(&undecided), "events": history.len(),
                "threads": history.thread_count(), "addresses": history.address_count(),
                "micros": micros,
            });
            return format!("{object}\n");
        }
        let mut line = format!("{file} #{number}: gradual: ");
        match &*strongest {
            [] if undecided.is_empty() => line.push_str("no model holds"),
            [] => line.push_str("no model is known to hold"),
            strongest => {
                let _ = write!(line, "strongest that holds: {}", listed(strongest));
            }
        }
        for (what, models) in [("violated", gradual.violated()), ("undecided", undecided)] {
            if !models.is_empty() {
                let _ = write!(line, "; {what}: {}", listed(&models));
            }
        }
        line + "\n"
    }
}

fn listed(models: &[Model]) -> String {
    models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ")
}

fn stats_line(verdict: &Judgement) -> String {
    let stats = &verdict.stats;
    let mut parts = Vec::new();
    if let Some(pairs) = stats.write_pairs {
        parts.push(format!("{pairs} write pairs"));
    }
    if let Some(pairs) = stats.unordered_write_pairs {
        parts.push(format!("{pairs} left open by saturation"));
    }
    parts.push(format!("{} inferred edges", stats.inferred_edges));
    parts.push(format!("{} decisions", stats.decisions));
    parts.push(format!("{} conflicts", stats.conflicts));
    format!("  {}\n", parts.join(", "))
}
