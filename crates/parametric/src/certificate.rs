//! The certificate of a verdict, for `tribunal certify`.
//!
//! It has the question, and for each claim the view and the lemmas. Crate `recheck` derives the abstract
//! programs from these, the same way in which it will derive them when it checks the certificate, so
//! that nothing of the search that found the proof is needed.

use abstraction::{View, Witness};
use conform::MemoryModel;
use murphi::check::Dialect;
use recheck::{AddressLemmas, Certificate, ExclusionProof, Layer, OneAddress, Proof};
use refine::UsedLemma;

use crate::outcome::{Abstracted, AddressProof, ClaimProof, Outcome, ProvedExclusion};
use crate::plan::Plan;
use crate::question::Question;

/// Makes the certificate of a proof; `None` if the outcome does not prove the question.
///
/// # Errors
///
/// A sentence that says why an abstract program cannot be derived again from its view and lemmas.
pub fn certificate(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
) -> Result<Option<Certificate>, String> {
    if !outcome.holds(plan) {
        return Ok(None);
    }
    let holding = outcome.shown.iter().filter(|shown| shown.holds());
    let proofs: Vec<Proof> = holding.map(proof).collect();
    recheck::certificate(asked(question, plan), &proofs).map(Some)
}

fn asked(question: &Question<'_>, plan: &Plan) -> recheck::Question {
    let Question { source, options, memory_model, processors, .. } = question;
    let (language, events) = (&options.language, &options.events);
    recheck::Question {
        certificate: recheck::FORMAT.to_owned(),
        version: 1,
        name: source.name.clone(),
        digest: recheck::Question::digest_of(&source.text),
        protocol: source.text.clone(),
        constants: language.constants.clone(),
        dialect: match language.dialect {
            Dialect::CMurphi => "cmurphi".to_owned(),
            Dialect::Rumur => "rumur".to_owned(),
        },
        loop_limit: language.loop_limit,
        memory_model: memory_model.map(|model| match model {
            MemoryModel::Sc => "sc".to_owned(),
            MemoryModel::Tso => "tso".to_owned(),
        }),
        load: events.load.clone(),
        store: events.store.clone(),
        commit: events.commit.clone(),
        only: options.only,
        exact: options.exact,
        processors: processors.map(str::to_owned),
        assume: match options.assume_independence {
            true => vec![recheck::INDEPENDENCE.to_owned()],
            false => Vec::new(),
        },
        plan: plan.to_string().lines().map(str::to_owned).collect(),
    }
}

fn proof(shown: &ClaimProof) -> Proof {
    let one_address = match &shown.via {
        Abstracted::Composition => None,
        Abstracted::OneAddress(proof) => Some(of_one_address(proof)),
    };
    let processors = layer(shown.view, &shown.found.lemmas);
    let witnesses = shown.witnesses.iter().map(witness).collect();
    Proof { claim: shown.claim.name.clone(), one_address, witnesses, processors }
}

fn witness(witness: &Witness) -> recheck::Witness {
    let Witness { invariant, site, kept, set } = witness.clone();
    recheck::Witness { invariant, site, kept, set }
}

fn of_one_address(proof: &AddressProof) -> OneAddress {
    let excluded = |one: &ProvedExclusion| ExclusionProof {
        conditions: one.exclusions.iter().map(ToString::to_string).collect(),
        processors: layer(one.view, &one.lemmas),
    };
    OneAddress {
        exclusions: proof.exclusions.iter().map(excluded).collect(),
        lemmas: proof
            .processors
            .map(|processors| AddressLemmas { processors, lemmas: texts(&proof.lemmas) }),
        program: String::new(),
    }
}

/// One entry of a certificate: a view and lemmas, from which the abstract program is derived.
fn layer(View { concrete, named }: View, lemmas: &[UsedLemma]) -> Layer {
    Layer { concrete, named, lemmas: texts(lemmas), ..Layer::default() }
}

fn texts(lemmas: &[UsedLemma]) -> Vec<String> {
    lemmas.iter().map(|kept| kept.text.clone()).collect()
}
