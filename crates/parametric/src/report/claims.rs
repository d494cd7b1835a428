//! The report if no violation was found: what the proofs of the claims establish, and the counterexample
//! of the abstraction if a lemma is missing.

use evidence::Verdict;
use explore::report::{Open as Ended, confirmed, counted};
use explore::{Exploration, Stop, ViolatingRun, Violation};
use refine::{AbstractCounterexample, Unknown, UsedLemma, Verification};

use super::{BrokenProtocol, ClaimSummary, MissingLemma, Open, Report, sentence};
use crate::outcome::{Abstracted, ClaimProof, Outcome};
use crate::plan::Plan;
use crate::question::Question;

/// The report on the last claim. All assumptions of the claim are established, or were allowed by
/// the user.
pub(super) fn summarise(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    stop: &Stop,
) -> Report {
    let Some(last) = outcome.shown.last().map(|shown| &shown.found) else {
        return nothing(question, outcome);
    };
    let undecided = |open, sentence| report(question, outcome, Verdict::Undecided(open), sentence);
    match &last.verdict {
        Verdict::Holds(()) => verified(question, plan, outcome, last),
        Verdict::Undecided(Unknown::Missing(stuck)) => undecided(
            Open::Missing(missing(question, last, stuck).map(Box::new)),
            format!(
                "a lemma is missing: nothing observed in small instances excludes an abstract run \
                 in which {}",
                complaint(last, stuck)
            ),
        ),
        Verdict::Undecided(Unknown::Ended(reason)) => {
            let reason = stop.reason(reason);
            let sentence =
                Ended::Ended { reason: reason.clone(), bound: None, unchecked: Vec::new() }
                    .to_string();
            undecided(Open::Ended(reason), sentence)
        }
        Verdict::Broken(_) => nothing(question, outcome),
    }
}

fn nothing(question: &Question<'_>, outcome: &Outcome) -> Report {
    let sentence = "nothing was checked".to_owned();
    report(question, outcome, Verdict::Undecided(Open::Nothing), sentence)
}

fn verified(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    last: &Verification,
) -> Report {
    let verdict = match outcome.holds(plan) {
        true => Verdict::Holds(()),
        false => Verdict::Undecided(Open::LeftOut),
    };
    let mut report = report(question, outcome, verdict, String::new());
    report.sentence = sentence::verified(question, last, report.concrete);
    if let Some(addresses) = outcome.shown.last().and_then(|shown| shown.claim.addresses) {
        report.sentence += &sentence::addresses(addresses);
    }
    report.sentence = conform::report::assuming(report.sentence, &outcome.assumed);
    report.sentence = conform::report::with_unchecked(report.sentence, &plan.unchecked);
    report.assumed.clone_from(&outcome.assumed);
    if let Some(values) = outcome.values {
        report.notes.push(format!(
            "for the {} of the protocol (no data independence needed)",
            counted(values, "value")
        ));
    }
    report
}

/// The report with this verdict.
pub(super) fn report(
    question: &Question<'_>,
    outcome: &Outcome,
    verdict: Verdict<(), BrokenProtocol, Open>,
    sentence: String,
) -> Report {
    let shown = &outcome.shown;
    let mut notes: Vec<String> = Vec::new();
    for claim in shown.iter().flat_map(|shown| &shown.found.left_out) {
        let line = format!(
            "undecided: \"{claim}\" requires some processor, which the abstraction may not keep"
        );
        if !notes.contains(&line) {
            notes.push(line);
        }
    }
    let processor = shown.first().map(|shown| shown.claim.prepared.processor.name.clone());
    Report {
        source: question.source.clone(),
        options: question.options.clone(),
        memory_model: question.memory_model,
        verdict,
        sentence,
        processor: processor.unwrap_or_default(),
        concrete: shown.iter().map(|shown| shown.view.concrete).max().unwrap_or_default(),
        claims: shown.iter().map(summary).collect(),
        notes,
        assumed: Vec::new(),
        audit: None,
    }
}

fn summary(shown: &ClaimProof) -> ClaimSummary {
    let found = &shown.found;
    let at_addresses: &[UsedLemma] = match &shown.via {
        Abstracted::OneAddress(proof) => &proof.lemmas,
        Abstracted::Composition => &[],
    };
    let last = found.exploration.as_ref();
    ClaimSummary {
        name: shown.claim.name.clone(),
        holds: match found.verdict {
            Verdict::Holds(()) => Some(true),
            Verdict::Broken(_) => Some(false),
            Verdict::Undecided(_) => None,
        },
        states: last.map_or(0, |last| last.states),
        rules_fired: last.map_or(0, |last| last.rules_fired),
        depth: last.map_or(0, |last| last.depth),
        seconds: last.map_or(0.0, |last| last.seconds),
        rounds: found.rounds,
        named: shown.view.named,
        minimal: found.minimal,
        lemmas: at_addresses.iter().chain(&found.lemmas).cloned().collect(),
        instances: found.small.clone(),
    }
}

/// The violation at the end of a counterexample of the abstraction, in words.
fn complaint(found: &Verification, stuck: &AbstractCounterexample) -> String {
    let model = found.interpreter.as_ref().map(|found| found.model());
    match (&stuck.claim, stuck.failed, model) {
        (Some(claim), _, _) => format!("\"{claim}\" does not hold"),
        (None, Some((rule, _)), Some(model)) => {
            format!("rule \"{}\" fails", model.rules[rule as usize].name)
        }
        _ => "an error occurs".to_owned(),
    }
}

/// The counterexample of the abstraction that no lemma excludes, replayed by the reference
/// interpreter.
fn missing(
    question: &Question<'_>,
    found: &Verification,
    stuck: &AbstractCounterexample,
) -> Option<MissingLemma> {
    let (interpreter, exploration) = found.interpreter.as_ref().zip(found.exploration.as_ref())?;
    let properties = &interpreter.model().properties;
    let claim = stuck
        .claim
        .as_ref()
        .and_then(|claim| properties.iter().position(|property| property.name == *claim));
    let violation = match (stuck.failed, claim) {
        (Some((rule, instance)), _) => Violation::RuleFailed { rule, instance },
        (None, Some(property)) => Violation::Broken { property: property as u32 },
        (None, None) => return None,
    };
    let steps = stuck.run.clone();
    let exploration = Exploration {
        verdict: explore::Verdict::Broken(ViolatingRun { violation, steps }),
        ..exploration.clone()
    };
    // If evaluating a claim or guard fails, there is no value to report.
    let finding = match confirmed(interpreter, &exploration, false).map(|run| run.verdict) {
        Ok(Verdict::Broken(finding)) => Some(finding),
        _ => None,
    };
    let wider = question.concrete.unwrap_or(3) + 1;
    Some(MissingLemma { finding, rule: stuck.rule.clone(), wider })
}

impl Outcome {
    /// Whether the last claim was proved.
    pub(super) fn is_verified(&self) -> bool {
        self.shown.last().is_some_and(ClaimProof::holds)
    }
}
