//! A verification for any number of processors as a person reads it: the verdict in one line, what
//! was searched, each lemma with the step that called for it, and the run if there is one.

use std::fmt::Write as _;

use evidence::Verdict;
use explore::report::{counted, grouped};
use parametric::report::{ClaimSummary, Open, Report};
use refine::Kept;

use crate::exploration::text::{explanation, run, seconds};
use crate::style::{Style, paint};
use crate::verification::can_be_assumed;
use crate::verification::keep::ASSUME;
use crate::verification::text::{open_lines, to_go_on};

/// The whole report, each line ended by a newline. If `quiet`, only the verdict.
pub fn report(report: &Report, quiet: bool, colour: bool) -> String {
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
                format!("A run with {}:", counted(broken.processors, "processor"))
            }
            _ => "A run of the abstraction that no lemma excludes:".to_owned(),
        };
        let _ = write!(text, "\n{whose}\n{}", run(counterexample, colour));
    }
    text.push_str(&explanation(finding.map(|finding| &finding.broken), colour));
    text + &to_go_on(&advice(report))
}

/// What could be done, a line each.
fn advice(report: &Report) -> Vec<String> {
    match &report.verdict {
        Verdict::Undecided(Open::NotEstablished(doubts)) if can_be_assumed(doubts) => {
            vec![format!("take it for granted: {ASSUME}")]
        }
        Verdict::Undecided(Open::Missing(Some(missing))) => {
            let lemma = missing.rule.as_ref().map(|rule| {
                format!(
                    "if others cannot do this last: give `invariant \"lemma for {rule}\" …` by \
                     --lemmas FILE"
                )
            });
            let wider = format!("keep more processors as they are: --concrete {}", missing.wider);
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
        Some(true) => ("holds", Style::Good),
        Some(false) => ("does not hold", Style::Bad),
        None => ("not decided", Style::Open),
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
    let lemmas = counted(claim.lemmas.len() as u64, "lemma");
    if claim.rounds > 0 {
        let minimal = match (claim.minimal, claim.lemmas.len()) {
            (true, 1..) => ", none of which can be left out",
            _ => "",
        };
        let named = if claim.named { "of another the name is kept, " } else { "" };
        let _ = writeln!(
            text,
            "    {} stay as they are, {named}the others are one; {lemmas}{minimal}, in {}",
            counted(concrete, "processor"),
            counted(claim.rounds as u64, "round")
        );
    }
    let instances = claim.instances.iter().map(|instance| {
        let how = if instance.complete { "all " } else { "" };
        format!("{how}{} of {}", grouped(instance.states), instance.processors)
    });
    let instances: Vec<String> = instances.collect();
    if !instances.is_empty() {
        let _ = writeln!(
            text,
            "    looked at first: states with so many processors: {}",
            instances.join(", ")
        );
    }
    text
}

fn lemma_lines(lemma: &Kept) -> String {
    let mut text = String::new();
    for line in lemma.text.lines() {
        let _ = writeln!(text, "  {line}");
    }
    match &lemma.called_for {
        Some(step) => {
            let _ = writeln!(text, "    -- excludes {step}");
        }
        None => text.push_str("    -- given\n"),
    }
    text
}
