//! The headline of a report, in one sentence: what is established, and its scope.

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
                format!("no ordering cycle through {}", counted(only, "processor"))
            }
            (memory_model, _) => memory_model.kept().to_owned(),
        },
        None => {
            let proved = own_claims(found).unwrap_or(0);
            match (found.left_out.len(), proved) {
                (0, 1) => "1 invariant holds".to_owned(),
                (0, proved) => format!("{proved} invariants hold"),
                (open, proved) => format!("{proved} of {} invariants hold", proved + open),
            }
        }
    };
    let open = match &found.left_out[..] {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            format!("; undecided: {}", names.join(", "))
        }
    };
    format!("{what} for any number of processors, {least} or more{open}")
}

/// The number of invariants of the abstraction that are the protocol's own.
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

/// The prepared program violates a claim, and the protocol does not.
pub(super) fn unconfirmed(processors: u64) -> String {
    format!(
        "with {} the prepared model fails where the protocol does not: a counter does not count \
         processors as assumed, or time ran out; nothing is proved or refuted",
        counted(processors, "processor")
    )
}

/// The part of the sentence about instances that were searched exhaustively.
pub(super) fn searched(audit: &Audit) -> String {
    let Some(processors) = audit.searched else { return String::new() };
    format!(
        "; instances with up to {} were searched exhaustively: {}, no violation",
        counted(processors, "processor"),
        counted(audit.states, "state")
    )
}

/// The part of the sentence about random steps of instances.
pub(super) fn audited(audit: &Audit) -> String {
    format!(
        "audit: {} of instances with up to {} are steps of the abstraction in all {}",
        counted(audit.steps, "random step"),
        counted(audit.processors, "processor"),
        counted(audit.views, "view")
    )
}

/// The sentence if the audit contradicts the proof.
pub(super) fn contradicted(contradiction: &str) -> String {
    format!(
        "the audit contradicts the proof; this is a bug in tribunal, please report it with the \
         model: {contradiction}"
    )
}
