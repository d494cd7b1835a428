//! Causal models from a run of a store model that implies them, replayed in one pass.
//!
//! **sc** shows each of the five. Let L be the order of the events; an operation stands where its
//! event does, the read of a read-modify-write right before its write. The replay has shown that L
//! extends po and agrees with the `order` and `final` lines, and that a read returns the last write
//! of its address before it in L, or the initial value if there is none.
//!
//! 1. rf is in L, and so is co. If r read w, and w co w′ co r, then w′ would stand between w and r:
//!    cc.
//! 2. hb of any thread is in L, by induction: if w₁ is hb-before r, a read of w₂, then w₁ stands
//!    before r, and w₂ is the last write before r. So hb of all threads together is in L, and cf
//!    over co or hb, for the same reason; hence pww, and what is asked to be acyclic but for rw.
//! 3. If r read w and w is pww-before w′, then w′ stands behind w, and not between w and r: rw is in
//!    L.
//! 4. L has the pairs of atomicity, since no write of the address stands between a read-modify-write
//!    and what it read.
//!
//! Each relation that a model asks to be acyclic is the least one that is closed under its rules, L
//! is closed under them, and L has no cycle. wccm asks for less than ccm does, over parts of po and
//! rf.
//!
//! **tso** shows wccm (Zennou et al., Lemma 3), ccv and cc (docs/models.md): there the order of the
//! writes, which includes those of `order` and `final` lines and of atomics, extends everything that
//! these models derive between writes. Tests compare both with the definitions.
//!
//! O(n).

use history::{EventId, History};
use models::Model;

use crate::machine::replay;
use crate::rejection::Fault;

/// Checks that the order is a run of sc or, where that will do, of tso.
pub(super) fn holds(history: &History, model: Model, order: &[EventId]) -> Result<(), Fault> {
    let run_of = |stronger: Model| match stronger.store_rules() {
        Some(rules) => replay(history, rules, order),
        None => Err(Fault::WrongEvidence { model }),
    };
    match model {
        Model::Cm | Model::Ccm => run_of(Model::Sc),
        // A run of sc is one of tso.
        Model::Cc | Model::Ccv | Model::Wccm => run_of(Model::Tso),
        _ => Err(Fault::WrongEvidence { model }),
    }
}
