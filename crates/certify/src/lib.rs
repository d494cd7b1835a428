//! Is this evidence right? The small trusted kernel.
//!
//! [`certify`] takes a history and a certificate about it and checks every step. It shares no code
//! with the engines that write certificates, searches for nothing and guesses nothing: a verdict
//! it confirms rests on this crate, on the history, and on the table of models.
//!
//! | evidence | checked by |
//! |---|---|
//! | an order of events, for a store model | `machine`: the model's abstract machine replays it |
//! | clauses shown by cycles, for a store model | `proof`, `store`, `clauses` |
//! | clauses shown by derivations, for a causal model | `proof`, `causal::derivation`, `clauses` |
//! | an order of events, for a causal model | `causal::stronger`: a run of sc or tso implies it |
//! | an arbitration order (`ccv`), views (`cm`) | `causal::arbitration`, `causal::views` |
//! | orders that the relations of `ccv`, `ccm`, `wccm` are part of | `causal::extension` |
//! | choices of what was read, for a causal model | `causal::definition`: recomputed as defined |
//! | an execution, clauses shown by links, an enumeration, for a model that is a file | [`file`](mod@file) |
//!
//! ```
//! use evidence::{Certificate, Evidence, Witness};
//! use history::parse_text;
//! use models::Model;
//! use tribunal_certify::certify;
//!
//! let history = parse_text(
//!     "0: x := 1
//!      0: y == 0
//!      1: y := 1
//!      1: x == 0",
//! )?;
//! // Both threads read before their writes leave the store buffers.
//! let line = r#"{"tribunal":1,"trace":1,"model":"tso","verdict":"consistent","events":4,
//!                "witness":[[0,1],[1,1],[0,0],[1,0]]}"#;
//! let certificate = Certificate::from_json(line, &history)?;
//! certify(&history, &certificate)?;
//!
//! let under_sc = Certificate { model: Model::Sc, ..certificate };
//! let rejection = certify(&history, &under_sc).unwrap_err();
//! assert_eq!(
//!     rejection.to_string(),
//!     "[0,0] (line 1) must be performed before [0,1] (line 2), by program order"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod causal;
mod clauses;
mod facts;
pub mod file;
mod machine;
mod names;
mod proof;
mod rejection;
mod store;
pub mod stream;

pub use file::certify_by_file;
pub use rejection::{Fault, Name, Rejection};

use evidence::{Certificate, Evidence, Witness};
use history::History;
use models::{Model, Rules};

/// Checks that a certificate proves what it claims about this history. Never panics and always
/// ends: linear in the order of a store model, near-linear in the length of a proof, polynomial
/// for causal models. Tables that grow faster than the history are refused beyond 8 GiB.
pub fn certify(history: &History, certificate: &Certificate) -> Result<(), Rejection> {
    certify_within(history, certificate, 8 << 30)
}

/// The same with another bound, in bytes. What would not fit is a [`Fault::TooLarge`], which says
/// nothing about the certificate.
pub fn certify_within(
    history: &History,
    certificate: &Certificate,
    memory: usize,
) -> Result<(), Rejection> {
    names::all_exist(history, &certificate.evidence)?;
    knows_all(history, certificate.model)?;
    match &certificate.evidence {
        Evidence::Consistent(witness) => satisfies(history, certificate.model, witness, memory)?,
        Evidence::Violation(proof) => proof::check(history, certificate.model, proof)?,
    }
    Ok(())
}

/// Whether the model gives a meaning to everything that the trace says.
fn knows_all(history: &History, model: Model) -> Result<(), Fault> {
    let is_fence_tso = |event| history.fence_name(event) == Some(history::FenceName::Tso);
    let swaps_reads = match model.rules() {
        Rules::Store(rules) => rules.global && rules.read_read != models::Keeps::Always,
        Rules::Causal(_) => false,
    };
    let swaps_reads = swaps_reads && history.has_annotations();
    let causal = matches!(model.rules(), Rules::Causal(_));
    if !history.pairs().is_empty()
        || history.mixed().is_some() && causal
        || swaps_reads && history.event_ids().any(is_fence_tso)
    {
        return Err(Fault::Beyond { model });
    }
    Ok(())
}

fn satisfies(
    history: &History,
    model: Model,
    witness: &Witness,
    memory: usize,
) -> Result<(), Fault> {
    match (model.rules(), witness) {
        (Rules::Store(rules), Witness::Order(order)) => machine::replay(history, rules, order),
        (Rules::Store(_), _) => Err(Fault::WrongEvidence { model }),
        (Rules::Causal(_), witness) => causal::satisfies(history, model, witness, memory),
    }
}
