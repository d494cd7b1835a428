//! The lemmas of a memory model, with the names of their claims.
//!
//! For `sc` there is one for each length of an ordering cycle, and all must hold. For `tso` each is
//! an attempt to prove the same, more expensive than the one before, and the first that holds is
//! sufficient.

use murphi::diagnostic::Diagnostic;

use super::{MemoryModel, Options};
use crate::compose::Composition;
use crate::events::Protocol;
use crate::failure::Failure;
use crate::sc;
use crate::tso::{self, Propagation};

/// The claim of the exact observer of `tso`.
pub(super) const AT_ANY_TIME: &str = "the protocol refines TSO-LB (exact observer)";

/// Checks that the lemma of `--lemma` exists.
pub(super) fn require_lemma(protocol: &Protocol, options: &Options) -> Result<(), Failure> {
    let most = sc::lemmas(protocol);
    match options.only {
        Some(only) if !(1..=most).contains(&only) => {
            let span = protocol.model.functions[protocol.store.id.0 as usize].span;
            let message = format!(
                "--lemma {only} does not exist: the largest K for this protocol is {most}, the \
                 smaller one of its numbers of processors and addresses"
            );
            Err(Failure::Unsuitable(vec![Diagnostic::error(span, message)]))
        }
        _ => Ok(()),
    }
}

/// The lemmas of a memory model. For `tso`, the first one that holds is sufficient.
pub(crate) fn plan(protocol: &Protocol, options: &Options) -> Vec<(String, Composition)> {
    match options.memory_model {
        MemoryModel::Sc => sc_lemmas(protocol, options, sc::lemmas(protocol)),
        MemoryModel::Tso => {
            let lazy = ("the protocol refines TSO-LB (approximate observer)", Propagation::Lazy);
            let exact = (AT_ANY_TIME, Propagation::Any);
            let at_once = options.exact || protocol.commit.is_some();
            let tries = if at_once { vec![exact] } else { vec![lazy, exact] };
            let composed = |(name, propagation): (&str, Propagation)| {
                (name.to_owned(), tso::lemma(protocol, options.values, propagation))
            };
            tries.into_iter().map(composed).collect()
        }
    }
}

/// The lemmas that there is no ordering cycle of up to `most` processors.
pub(super) fn sc_lemmas(
    protocol: &Protocol,
    options: &Options,
    most: u64,
) -> Vec<(String, Composition)> {
    let ks = (1..=most).filter(|k| options.only.is_none_or(|only| only == *k));
    ks.map(|k| (sc::no_cycle(k), sc::lemma(protocol, k))).collect()
}
