//! What a verdict for any number of processors says, in one sentence.

use conform::MemoryModel;
use explore::report::{Finding, counted};
use murphi::ir::PropertyKind;
use refine::Verification;

use crate::outcome::{Addresses, Audit};
use crate::question::Question;

/// `2 invariants hold for any number of processors, 2 or more`
pub(super) fn verified(question: &Question<'_>, found: &Verification, least: u64) -> String {
    let what = match question.memory_model {
        Some(memory_model) => match (memory_model, question.options.only) {
            (MemoryModel::Sc, Some(only)) => {
                format!("no nice cycle of {}", counted(only, "processor"))
            }
            (memory_model, _) => memory_model.kept().to_owned(),
        },
        None => match own_claims(found).unwrap_or(0) {
            1 => "1 invariant holds".to_owned(),
            claims => format!("{claims} invariants hold"),
        },
    };
    let open = match found.left_out.len() {
        0 => String::new(),
        1 => ", and nothing is known about another one".to_owned(),
        many => format!(", and nothing is known about {many} others"),
    };
    format!("{what} for any number of processors, {least} or more{open}")
}

/// How many invariants of the abstraction are the protocol's own.
fn own_claims(found: &Verification) -> Option<usize> {
    let (abstraction, model) = (found.abstraction.as_ref()?, found.interpreter.as_ref()?);
    let lemmas = abstraction.claims.len() + abstraction.checks.len();
    let properties = model.model().properties.iter();
    let invariants = properties.filter(|property| property.kind == PropertyKind::Invariant);
    Some(invariants.count().saturating_sub(lemmas))
}

/// `, and any number of addresses`
pub(super) fn addresses(addresses: Addresses) -> String {
    match addresses {
        Addresses::Exactly(1) => ", and 1 address".to_owned(),
        Addresses::Exactly(many) => format!(", and {many} addresses"),
        Addresses::Any => ", and any number of addresses".to_owned(),
    }
}

/// `with 3 processors, after 5 steps: invariant "small" does not hold`
pub(super) fn broken(processors: u64, finding: &Finding) -> String {
    let steps = finding.counterexample.as_ref().map_or(0, |run| run.steps.len());
    format!(
        "with {}, after {}: {}",
        counted(processors, "processor"),
        counted(steps as u64, "step"),
        finding.broken.sentence
    )
}

/// A prepared program is wrong, and the protocol is not.
pub(super) fn unconfirmed(processors: u64) -> String {
    format!(
        "with {} the model that is abstracted fails where the protocol does not: its counters do not \
         count what they were taken for, or time was too short; nothing is known",
        counted(processors, "processor")
    )
}

/// What is added to a verdict if all states of instances were visited.
pub(super) fn searched(audit: &Audit) -> String {
    let Some(processors) = audit.searched else { return String::new() };
    format!(
        "; and no instance with up to {}, {}, is broken",
        counted(processors, "processor"),
        counted(audit.states, "state")
    )
}

/// What random steps of instances have shown.
pub(super) fn audited(audit: &Audit) -> String {
    format!(
        "audit: {} with up to {} are steps of the abstraction in all their {}",
        counted(audit.steps, "random step"),
        counted(audit.processors, "processor"),
        counted(audit.views, "view")
    )
}

/// The audit has found a mistake in a proof.
pub(super) fn contradicted(contradiction: &str) -> String {
    format!(
        "the audit contradicts a proof, which is a bug in tribunal, please report it with the model: \
         {contradiction}"
    )
}
