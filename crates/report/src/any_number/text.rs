//! A verification for any number of processors as a person reads it: the verdict in one line, what
//! was searched, each lemma with the step that called for it, and the counterexample if there is one.

use std::fmt::Write as _;

use evidence::Verdict;
use explore::report::counted;
use parametric::report::{ClaimSummary, Open, Report};
use refine::UsedLemma;

use crate::exploration::text::{explanation, run, seconds};
use crate::style::{Style, paint};
use crate::verification::can_be_assumed;
use crate::verification::keep::ASSUME;
use crate::verification::text::{next_steps, open_lines};

/// If there are more lemmas than this, only their number is printed, unless --print-lemmas is
/// given.
const PRINTED: usize = 10;

/// How much of a report is printed, and whether in colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail {
    /// Only the verdict.
    pub quiet: bool,
    /// Every lemma, however many there are.
    pub lemmas: bool,
    /// In colours.
    pub colour: bool,
}

/// The whole report, each line ended by a newline.
pub fn report(report: &Report, detail: Detail) -> String {
    let Detail { quiet, lemmas, colour } = detail;
    let mut text = verdict_line(report, colour) + "\n";
    if quiet {
        return text;
    }
    for claim in &report.claims {
        text.push_str(&claim_lines(claim, report.concrete, colour));
    }
    let open = open_lines(report.not_established(), &report.source);
    for note in report.notes.iter().chain(&open) {
        let _ = writeln!(text, "  {note}");
    }
    for claim in &report.claims {
        if claim.lemmas.len() > PRINTED && !lemmas {
            let many = claim.lemmas.len();
            let _ =
                writeln!(text, "  (--print-lemmas prints the {many} lemmas for {})", claim.name);
            continue;
        }
        if !claim.lemmas.is_empty() {
            let _ = writeln!(text, "\nLemmas for {}:", claim.name);
        }
        for lemma in &claim.lemmas {
            text.push_str(&lemma_lines(lemma));
        }
    }
    let finding = report.finding();
    if let Some(counterexample) = finding.and_then(|finding| finding.counterexample.as_ref()) {
        let whose = match &report.verdict {
            Verdict::Broken(broken) => {
                format!("Counterexample with {}:", counted(broken.processors, "processor"))
            }
            _ => "Counterexample of the abstraction that no lemma excludes (it may be spurious):"
                .to_owned(),
        };
        let _ = write!(text, "\n{whose}\n{}", run(counterexample, colour));
    }
    text.push_str(&explanation(finding.map(|finding| &finding.broken), colour));
    text + &next_steps(&advice(report))
}

/// What could be done, a line each.
fn advice(report: &Report) -> Vec<String> {
    match &report.verdict {
        Verdict::Undecided(Open::NotEstablished(doubts)) if can_be_assumed(doubts) => {
            vec![format!("if you know that the protocol only copies values: {ASSUME}")]
        }
        Verdict::Undecided(Open::Missing(Some(missing))) => {
            let lemma = missing.rule.as_ref().map(|rule| {
                format!(
                    "if no processor can take the last step: write the reason as `invariant \
                     \"lemma for {rule}\" …` into a file and pass --lemmas FILE"
                )
            });
            let wider = format!("use more concrete processors: --concrete {}", missing.wider);
            lemma.into_iter().chain([wider]).collect()
        }
        _ => Vec::new(),
    }
}

/// `german.m: verified: 2 invariants hold for any number of processors`
pub fn verdict_line(report: &Report, colour: bool) -> String {
    let name = paint(report.verdict_name(), Style::of(&report.verdict), colour);
    format!("{}: {name}: {}", report.source.name, report.sentence)
}

fn claim_lines(claim: &ClaimSummary, concrete: u64, colour: bool) -> String {
    let (outcome, style) = match claim.holds {
        Some(true) => ("proved", Style::Good),
        Some(false) => ("violated", Style::Bad),
        None => ("undecided", Style::Open),
    };
    let mut text = format!("  {}: {}", claim.name, paint(outcome, style, colour));
    if claim.states > 0 {
        let _ = write!(
            text,
            ", {}, {} fired, depth {}, {} s",
            counted(claim.states, "state"),
            counted(claim.rules_fired, "rule"),
            claim.depth,
            seconds(claim.seconds)
        );
    }
    text.push('\n');
    if claim.rounds > 0 {
        let named = if claim.named { ", 1 known by name" } else { "" };
        let concrete = counted(concrete, "concrete processor");
        let _ = writeln!(text, "    abstraction: {concrete}{named}, Other for the rest");
        let minimal = match (claim.minimal, claim.lemmas.len()) {
            (true, 1..) => " (minimal)",
            _ => "",
        };
        let rounds = counted(claim.rounds as u64, "refinement round");
        let lemmas = claim.lemmas.len();
        let _ = writeln!(text, "    lemmas: {lemmas}{minimal}, found in {rounds}");
    }
    // A walk in an instance that was searched adds nothing.
    let is_searched =
        |count| claim.instances.iter().any(|other| other.complete && other.processors == count);
    let shown = claim.instances.iter();
    let shown = shown.filter(|instance| instance.complete || !is_searched(instance.processors));
    let instances = shown.map(|instance| {
        let extent = if instance.complete { "all" } else { "partial" };
        let states = counted(instance.states, "state");
        format!("{}: {states} ({extent})", counted(instance.processors, "processor"))
    });
    let instances: Vec<String> = instances.collect();
    if !instances.is_empty() {
        let _ = writeln!(text, "    observed: {}", instances.join("; "));
    }
    text
}

fn lemma_lines(lemma: &UsedLemma) -> String {
    let mut text = String::new();
    for line in lemma.text.lines() {
        let _ = writeln!(text, "  {line}");
    }
    match &lemma.called_for {
        Some(step) => {
            let _ = writeln!(text, "    -- excludes {step}");
        }
        None => text.push_str("    -- given by --lemmas\n"),
    }
    text
}
