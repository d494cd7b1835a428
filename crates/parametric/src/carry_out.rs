//! Executes the steps of a [`Plan`] until one of them decides the question.
//!
//! Searches of small instances end with a violation or with nothing; a claim about one address decides
//! only if it is proved; a claim with all addresses of the model decides in either case, unless a lemma
//! is missing or a limit is reached. Whether one proved claim is enough is part of the plan.

use std::sync::atomic::AtomicBool;

use abstraction::{Lemma, View};
use explore::Progress;
use refine::{BrokenInstance, Unknown, Verdict, Verification};

use crate::by_address;
use crate::instance;
use crate::outcome::{Abstracted, ClaimProof, End, Found, Outcome};
use crate::place::refused;
use crate::plan::{Claim, Plan, Step};
use crate::question::{Failure, Listener, Question};
use crate::witness::by_witnesses;

/// Executes the steps of a plan until one of them decides the question.
pub fn carry_out(
    question: &Question<'_>,
    plan: &Plan,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut shown: Vec<ClaimProof> = Vec::new();
    for step in &plan.steps {
        match step {
            Step::Search { processors, states } => {
                for &processors in processors {
                    let looked = instance::search_instance(
                        question,
                        &plan.processor,
                        processors,
                        Some(*states),
                        listener,
                        interrupt,
                    );
                    if let Some(found) = looked.found.filter(is_definite) {
                        return Ok(Outcome::new(question, plan, shown, End::Found(found)));
                    }
                }
            }
            Step::OneAddress(claim) => {
                if let Some(one) = by_address::shown(question, claim, listener, interrupt) {
                    shown = vec![one];
                    break;
                }
            }
            Step::Claim(claim) => {
                let (view, found) = refined(question, claim, listener, interrupt)?;
                let is_settled = is_settled(plan, &found.verdict);
                let (claim, via) = (claim.clone(), Abstracted::Composition);
                let one = ClaimProof { claim, found, view, via, witnesses: Vec::new() };
                shown.push(by_witnesses(question, one, listener, interrupt));
                if is_settled {
                    break;
                }
            }
        }
    }
    let end = end(question, &shown, listener, interrupt);
    Ok(Outcome::new(question, plan, shown, end))
}

/// Whether this is a violation of the protocol. A false alarm decides nothing.
fn is_definite(found: &Found) -> bool {
    match found {
        Found::Memory { verification, .. } => !matches!(
            verification.verdict,
            conform::Verdict::Undecided(conform::Unknown::FalseAlarm(_))
        ),
        Found::Own { .. } => true,
    }
}

/// Whether this verdict on a claim makes the remaining claims unnecessary.
fn is_settled(plan: &Plan, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Holds(()) => plan.one_is_enough,
        Verdict::Broken(_) | Verdict::Undecided(Unknown::Missing(_)) => !plan.one_is_enough,
        Verdict::Undecided(Unknown::Ended(_)) => true,
    }
}

/// Turns the verdict on a claim into the end of the plan. A violation of a prepared program is
/// searched for again in the protocol as written.
fn end(
    question: &Question<'_>,
    shown: &[ClaimProof],
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> End {
    let has_no_start = match question.memory_model {
        Some(_) => shown.iter().any(ClaimProof::has_no_start),
        None => shown.iter().any(ClaimProof::is_vacuous),
    };
    if has_no_start {
        return End::NoStart;
    }
    let Some(ClaimProof { claim, found, .. }) = shown.last() else { return End::Claims };
    let Verdict::Broken(BrokenInstance { processors, .. }) = found.verdict else {
        return End::Claims;
    };
    let processor = &claim.prepared.processor;
    match instance::search_instance(question, processor, processors, None, listener, interrupt)
        .found
    {
        Some(found) => End::Found(found),
        None => End::Unconfirmed { processors },
    }
}

/// Refines one claim in one view after another until a view decides it.
pub(crate) fn refined(
    question: &Question<'_>,
    claim: &Claim,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Result<(View, Verification), Failure> {
    let lemmas = question.lemmas(&claim.prepared)?;
    with_lemmas(question, claim, &lemmas, listener, interrupt)
}

/// As `refined`, starting with these lemmas.
pub(crate) fn with_lemmas(
    question: &Question<'_>,
    claim: &Claim,
    lemmas: &[Lemma],
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Result<(View, Verification), Failure> {
    let failure = |why| match why {
        refine::Failure::Unsuitable(problems) => refused(question, &claim.source, problems),
        refine::Failure::Unrunnable(why) => Failure::Unrunnable(why),
    };
    let mut first = None;
    for &view in &claim.views {
        let mut progress = |what: &str, now: Option<&Progress>| {
            // There is no search to report progress of while lemmas are chosen.
            if let Some(now) = now {
                listener(&format!("{}: {what}", claim.name), now);
            }
        };
        let options = question.refinement(view, lemmas);
        let found = refine::verify(&claim.prepared, &options, &mut progress, interrupt);
        let is_open = match &found {
            Ok(found) => matches!(found.verdict, Verdict::Undecided(Unknown::Missing(_))),
            Err(refine::Failure::Unsuitable(_)) => true,
            Err(_) => false,
        };
        if !is_open {
            return found.map(|found| (view, found)).map_err(failure);
        }
        // If no view decides, the first is reported: its counterexample has the fewest processors.
        first.get_or_insert((view, found));
    }
    match first {
        Some((view, found)) => found.map(|found| (view, found)).map_err(failure),
        None => Err(Failure::Unsuitable(claim.source.clone(), Vec::new())),
    }
}
