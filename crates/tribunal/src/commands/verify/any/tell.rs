//! What came of verifying for any number of processors, in words.

use explore::report::{Finding, Open, told};
use explore::{Report, Violation};
use murphi::ir::PropertyKind;
use parametric::{Addresses, Audit, Outcome, Plan, Shown, Via};
use refine::{Kept, Small, Stuck, Verdict, Verification};
use report::any_number::{AnyNumber, Claim, Instance, Lemma, Verdict as Told};
use report::exploration::text::counted;

use super::super::tell::settings;
use super::super::{Question, grounds};
use crate::arguments::MemoryModelChoice;
use crate::ending::Failure;
use crate::input;

/// What was found, unless it is a violation.
pub(super) fn tell(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    timed_out: bool,
) -> Result<AnyNumber, Failure> {
    let done = &outcome.shown;
    let mut shown = asked(question, done);
    let last = done.last().map(|done| &done.found);
    match last.map(|found| &found.verdict) {
        Some(Verdict::Verified) if !outcome.open.is_empty() => {
            shown = not_established(question, shown, outcome);
        }
        Some(Verdict::Verified) => {
            shown.verdict = match outcome.holds(plan) {
                true => Told::Verified,
                false => Told::Undecided,
            };
            shown.sentence = verified(question, last, shown.concrete);
            if let Some(addresses) = done.last().and_then(|done| done.claim.addresses) {
                let addresses = match addresses {
                    Addresses::Exactly(1) => "1 address".to_owned(),
                    Addresses::Exactly(many) => format!("{many} addresses"),
                    Addresses::Any => "any number of addresses".to_owned(),
                };
                shown.sentence += &format!(", and {addresses}");
            }
            (shown.sentence, shown.assuming) = grounds::assuming(&shown.sentence, &outcome.assumed);
            shown.sentence = grounds::with_unchecked(&shown.sentence, &plan.unchecked);
            if let Some(values) = outcome.values {
                shown.notes.push(format!("for {}, compared as they are", counted(values, "value")));
            }
        }
        Some(Verdict::Missing(stuck)) => {
            shown.sentence = format!(
                "a lemma is missing: no fact about small instances excludes a run in which {}",
                complaint(last, stuck)
            );
            tell_stuck(question, &mut shown, last, stuck)?;
        }
        Some(Verdict::Undecided(reason)) => {
            let reason = match (reason, timed_out) {
                (explore::Reason::Interrupted, true) => &explore::Reason::Time,
                (reason, _) => reason,
            };
            shown.sentence = Open::Ended { reason: reason.clone(), bound: None }.to_string();
        }
        Some(Verdict::Violation { .. }) | None => {
            shown.sentence = "nothing was looked at".to_owned();
        }
    }
    Ok(shown)
}

/// What trying the verdict out has shown.
pub(super) fn audit(told: &mut AnyNumber, audit: Result<Audit, String>) {
    let audit = match audit {
        Ok(audit) => audit,
        Err(contradiction) => {
            told.verdict = Told::Undecided;
            told.sentence = format!(
                "the audit contradicts a proof, which is a bug in tribunal, please report it with \
                 the model: {contradiction}"
            );
            return;
        }
    };
    if let Some(processors) = audit.searched {
        told.sentence += &format!(
            "; and no instance with up to {}, {}, is broken",
            counted(processors, "processor"),
            counted(audit.states, "state")
        );
    }
    told.notes.push(format!(
        "audit: {} with up to {} are steps of the abstraction in all their {}",
        counted(audit.steps, "random step"),
        counted(audit.processors, "processor"),
        counted(audit.views, "view")
    ));
    told.audit = Some(report::any_number::Audit {
        steps: audit.steps,
        views: audit.views,
        processors: audit.processors,
        searched: audit.searched,
        states: audit.states,
    });
}

/// Claims hold, but not everything that they rest on is established.
pub(super) fn not_established(
    question: &Question<'_>,
    mut shown: AnyNumber,
    outcome: &Outcome,
) -> AnyNumber {
    shown.open = grounds::open(&outcome.open, question.source);
    shown.sentence = grounds::undecided(&shown.open);
    if grounds::can_be_assumed(&shown.open) {
        shown.advice.push(format!("take it for granted: {}", grounds::ASSUME));
    }
    shown
}

/// A violation of the protocol's own claims.
pub(super) fn violation(
    question: &Question<'_>,
    done: &[Shown],
    processors: u64,
    found: Report,
) -> AnyNumber {
    let Finding { broken, counterexample } = match found.verdict {
        evidence::Verdict::Broken(finding) => finding,
        evidence::Verdict::Holds(()) | evidence::Verdict::Undecided(_) => Finding::default(),
    };
    let steps = counterexample.as_ref().map_or(0, |run| run.steps.len());
    AnyNumber {
        verdict: Told::Violation,
        sentence: format!(
            "with {}, after {}: {}",
            counted(processors, "processor"),
            counted(steps as u64, "step"),
            broken.sentence
        ),
        broken: Some(broken),
        counterexample,
        processors: Some(processors),
        ..asked(question, done)
    }
}

/// Something is wrong with the prepared program that is not wrong with the protocol.
pub(super) fn unconfirmed(question: &Question<'_>, done: &[Shown], processors: u64) -> AnyNumber {
    AnyNumber {
        sentence: format!(
            "with {} the model that is abstracted fails where the protocol does not: its counters \
             do not count what they were taken for, or time was too short; nothing is known",
            counted(processors, "processor")
        ),
        ..asked(question, done)
    }
}

pub(super) fn asked(question: &Question<'_>, done: &[Shown]) -> AnyNumber {
    let arguments = question.arguments;
    let mut notes: Vec<String> = Vec::new();
    for Shown { found, .. } in done {
        for claim in &found.left_out {
            let line = format!(
                "nothing is said about \"{claim}\": it asks for some processor, which may be any of \
                 the others"
            );
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
    }
    AnyNumber {
        model: input::shown(&arguments.file).to_owned(),
        memory_model: arguments.model.map(|model| match model {
            MemoryModelChoice::Sc => "sc".to_owned(),
            MemoryModelChoice::Tso => "tso".to_owned(),
        }),
        processor: done
            .first()
            .map(|done| done.claim.prepared.processor.name.clone())
            .unwrap_or_default(),
        concrete: done.iter().map(|done| done.view.concrete).max().unwrap_or_default(),
        settings: settings(question),
        claims: done.iter().map(claim).collect(),
        notes,
        ..AnyNumber::default()
    }
}

fn claim(done: &Shown) -> Claim {
    let found = &done.found;
    let at_addresses: &[Kept] = match &done.via {
        Via::OneAddress(proof) => &proof.lemmas,
        Via::Composition => &[],
    };
    let last = found.exploration.as_ref();
    Claim {
        name: done.claim.name.clone(),
        named: done.view.named,
        holds: match found.verdict {
            Verdict::Verified => Some(true),
            Verdict::Violation { .. } => Some(false),
            Verdict::Missing(_) | Verdict::Undecided(_) => None,
        },
        states: last.map_or(0, |last| last.states),
        rules_fired: last.map_or(0, |last| last.rules_fired),
        depth: last.map_or(0, |last| u64::from(last.depth)),
        seconds: last.map_or(0.0, |last| last.seconds),
        rounds: found.rounds,
        minimal: found.minimal,
        lemmas: at_addresses.iter().chain(&found.lemmas).map(lemma).collect(),
        instances: found.small.iter().map(instance).collect(),
    }
}

fn lemma(kept: &Kept) -> Lemma {
    Lemma {
        rule: kept.rule.clone(),
        condition: kept.condition.clone(),
        invariant: kept.text.clone(),
        called_for: kept.called_for.clone(),
    }
}

fn instance(small: &Small) -> Instance {
    Instance { processors: small.processors, states: small.states, complete: small.complete }
}

/// `2 invariants hold for any number of processors`
fn verified(question: &Question<'_>, found: Option<&Verification>, least: u64) -> String {
    let what = match question.arguments.model {
        Some(MemoryModelChoice::Sc) => match question.options.only {
            Some(only) => format!("no nice cycle of {}", counted(only, "processor")),
            None => "sequentially consistent".to_owned(),
        },
        Some(MemoryModelChoice::Tso) => "implements total store order".to_owned(),
        None => {
            let claims = found.and_then(|found| {
                let (abstraction, model) =
                    (found.abstraction.as_ref()?, found.interpreter.as_ref()?);
                let lemmas = abstraction.claims.len() + abstraction.checks.len();
                let properties = model.model().properties.iter();
                let invariants = properties.filter(|it| it.kind == PropertyKind::Invariant);
                Some(invariants.count().saturating_sub(lemmas))
            });
            match claims.unwrap_or(0) {
                1 => "1 invariant holds".to_owned(),
                claims => format!("{claims} invariants hold"),
            }
        }
    };
    let open = match found.map_or(0, |found| found.left_out.len()) {
        0 => String::new(),
        1 => ", and nothing is known about another one".to_owned(),
        many => format!(", and nothing is known about {many} others"),
    };
    format!("{what} for any number of processors, {least} or more{open}")
}

/// What goes wrong at the end of a run of the abstraction.
fn complaint(found: Option<&Verification>, stuck: &Stuck) -> String {
    let model = found.and_then(|found| found.interpreter.as_ref()).map(|found| found.model());
    match (&stuck.claim, stuck.failed, model) {
        (Some(claim), _, _) => format!("\"{claim}\" does not hold"),
        (None, Some((rule, _)), Some(model)) => {
            format!("rule \"{}\" fails", model.rules[rule as usize].name)
        }
        _ => "something fails".to_owned(),
    }
}

fn tell_stuck(
    question: &Question<'_>,
    shown: &mut AnyNumber,
    found: Option<&Verification>,
    stuck: &Stuck,
) -> Result<(), Failure> {
    let Some((interpreter, exploration)) =
        found.and_then(|found| found.interpreter.as_ref().zip(found.exploration.as_ref()))
    else {
        return Ok(());
    };
    let properties = &interpreter.model().properties;
    let claim = stuck
        .claim
        .as_ref()
        .and_then(|claim| properties.iter().position(|property| property.name == *claim));
    let violation = match (stuck.failed, claim) {
        (Some((rule, instance)), _) => Violation::RuleFailed { rule, instance },
        (None, Some(property)) => Violation::Broken { property: property as u32 },
        (None, None) => return Ok(()),
    };
    let exploration = explore::Exploration {
        verdict: explore::Verdict::Violation(violation),
        counterexample: stuck.run.clone(),
        ..exploration.clone()
    };
    // A claim or a guard that fails rather than being false is not told as such.
    if let Ok(told) = told(interpreter, &exploration, false)
        && let evidence::Verdict::Broken(finding) = told.verdict
    {
        shown.broken = Some(finding.broken);
        shown.counterexample = finding.counterexample;
    }
    if let Some(rule) = &stuck.rule {
        shown.advice.push(format!(
            "if others cannot do this last: give `invariant \"lemma for {rule}\" …` by --lemmas FILE"
        ));
    }
    let more = question.arguments.any.concrete.unwrap_or(3) + 1;
    shown.advice.push(format!("keep more processors as they are: --concrete {more}"));
    Ok(())
}
