//! Evidence for causal models.
//!
//! A causal model asks for relations over *operations* to be acyclic: a read-modify-write is two,
//! its read and then its write. Initial writes come before everything; co = (po ∪ rf)⁺.
//!
//! * **cc**: co is acyclic, and nothing that a read read is overwritten in its causal past.
//! * **ccv**: cc, and po ∪ rf ∪ cf is acyclic, where w₁ cf w₂ if w₁ co r and r reads w₂ of the same
//!   address: the write that a read did not choose is the earlier one.
//! * **cm**: cc, and for every thread hb is acyclic: co, and w₁ before w₂ if w₁ is hb-before a read
//!   of w₂ *by this thread*.
//! * **ccm**: with hb of all threads together, and pww the order of writes of one address that hb
//!   and the conflicts over hb force: po ∪ rf ∪ pww ∪ rw is acyclic, where r rw w′ if r read what
//!   w′ overwrites in pww.
//! * **wccm**: ccm with what tso keeps in the place of po. Two program orders stand for it, ppo
//!   (with fences) and po-loc, each with reads from other threads only; hb of both together gives
//!   pww, and the two relations are acyclic each.
//!
//! ccv, ccm and wccm order writes, so `order` and `final` lines count, and so does atomicity: if u
//! read w, no write of the address comes between them.
//!
//! Operationally: in cc each thread reads from its own past, with no agreement about concurrent
//! writes. In cm each thread executes, one at a time, all writes it hears of, in an order of its
//! own (`views`). In ccv there is one order for all, and a read takes the latest write of it that
//! its thread has heard of (`arbitration`). ccm and wccm have no machine simpler than their
//! definition; an order that their relation is part of lets it be followed in one pass (`extension`,
//! for ccv with read-modify-writes as well). A run of a store model that implies the causal one will do
//! as well (`stronger`). Without evidence `definition` recomputes what a model asks for, for each of
//! the five.

mod arbitration;
pub(crate) mod definition;
pub(crate) mod derivation;
mod extension;
mod operations;
mod relation;
mod stronger;
mod views;

use evidence::Witness;
use history::History;
use models::Model;

use crate::rejection::Fault;
use extension::Extensions;
use operations::Operations;

/// Checks that the witness shows that the history satisfies the causal model, with tables of at
/// most so many bytes.
pub(crate) fn satisfies(
    history: &History,
    model: Model,
    witness: &Witness,
    memory: usize,
) -> Result<(), Fault> {
    let operations = |reads| Operations::new(history, reads, orders_writes(model), memory);
    match witness {
        Witness::Choices(reads) => definition::holds(&operations(reads)?, model),
        Witness::Order(order) => stronger::holds(history, model, order),
        Witness::Arbitration { order, reads } if model == Model::Ccv => {
            arbitration::holds(&operations(reads)?, order)
        }
        Witness::Extensions { orders, atomicity, reads } => {
            let operations = operations(reads)?;
            let extensions = Extensions { orders, atomicity };
            match extension::hold(&operations, model, extensions) {
                // Recomputing takes less room, and more time.
                Err(Fault::TooLarge { .. }) => definition::holds(&operations, model),
                checked => checked,
            }
        }
        Witness::Views { views, reads } if model == Model::Cm => {
            views::hold(&operations(reads)?, views)
        }
        _ => Err(Fault::WrongEvidence { model }),
    }
}

/// Whether the model has an order of writes: then `order` and `final` lines and atomicity count.
pub(crate) fn orders_writes(model: Model) -> bool {
    model.causal_rules().is_some_and(|rules| rules.convergent || rules.store_order)
}
