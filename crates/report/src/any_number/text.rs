//! A verification for any number of processors as a person reads it: the verdict in one line, what
//! was searched, each lemma with the step that called for it, and the run if there is one.

use std::fmt::Write as _;

use super::{AnyNumber, Claim, Lemma, Verdict};
use crate::exploration::text::{counted, explanation, grouped, run, seconds};
use crate::style::{Style, paint};
use crate::verification::text::open_lines;

/// The whole report, each line ended by a newline. If `quiet`, only the verdict.
pub fn report(found: &AnyNumber, quiet: bool, colour: bool) -> String {
    let mut text = verdict_line(found, colour) + "\n";
    if quiet {
        return text;
    }
    for claim in &found.claims {
        text.push_str(&claim_lines(claim, found.concrete, colour));
    }
    for note in found.notes.iter().cloned().chain(open_lines(&found.open)) {
        let _ = writeln!(text, "  {note}");
    }
    for claim in &found.claims {
        if !claim.lemmas.is_empty() {
            let _ = writeln!(text, "\nLemmas for {}:", claim.name);
        }
        for lemma in &claim.lemmas {
            text.push_str(&lemma_lines(lemma));
        }
    }
    if let Some(counterexample) = &found.counterexample {
        let whose = match found.processors {
            Some(processors) => format!("A run with {}:", counted(processors, "processor")),
            None => "A run of the abstraction that no lemma excludes:".to_owned(),
        };
        let _ = write!(text, "\n{whose}\n{}", run(counterexample, colour));
    }
    text.push_str(&explanation(found.broken.as_ref(), colour));
    if !found.advice.is_empty() {
        text.push_str("\nTo go on:\n");
        for line in &found.advice {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// `german.m: verified: 2 invariants hold for any number of processors`
pub fn verdict_line(found: &AnyNumber, colour: bool) -> String {
    let style = match found.verdict {
        Verdict::Verified => Style::Good,
        Verdict::Violation => Style::Bad,
        Verdict::Undecided => Style::Open,
    };
    format!("{}: {}: {}", found.model, paint(found.verdict.name(), style, colour), found.sentence)
}

fn claim_lines(claim: &Claim, concrete: u64, colour: bool) -> String {
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

fn lemma_lines(lemma: &Lemma) -> String {
    let mut text = String::new();
    for line in lemma.invariant.lines() {
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
