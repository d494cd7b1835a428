//! Evidence for a causal model that the kernel follows in one pass: a run of a store model that
//! implies it.
//!
//! What a causal model asks for is a fixpoint, and the kernel can only compute it again, with plainer
//! and slower code than that of `check`. But traces of real machines are runs of sc or tso, as a rule,
//! and such a run is an order of events that is replayed in O(n). It is looked for when a certificate
//! is written: in the order of the lines, in linear time, and then by saturation, in polynomial time,
//! within what the check has left of its budget. Where there is none, the evidence that the check
//! found remains. `cc` is not worth a saturation, as the kernel computes it nearly as fast.

use evidence::Witness;
use history::History;
use models::Model;

use crate::{Budget, Engine, Outcome, judge};

/// A run of a store model that implies this causal model, if one is found within the budget.
pub(crate) fn run_of_a_stronger_model(
    history: &History,
    model: Model,
    budget: &Budget,
) -> Option<Witness> {
    let attempts: &[(Model, Engine)] = match model {
        Model::Cc => &[(Model::Sc, Engine::Recorded), (Model::Tso, Engine::Recorded)],
        Model::Cm | Model::Ccm => &[(Model::Sc, Engine::Recorded), (Model::Sc, Engine::Saturation)],
        Model::Ccv | Model::Wccm => &[
            (Model::Sc, Engine::Recorded),
            (Model::Tso, Engine::Recorded),
            (Model::Tso, Engine::Saturation),
        ],
        _ => return None,
    };
    attempts.iter().take_while(|_| !budget.is_spent()).find_map(|&(stronger, engine)| match judge(
        history, stronger, engine, budget,
    )
    .outcome
    {
        Outcome::Holds(run) => Some(run),
        Outcome::Broken(_) | Outcome::Undecided(_) => None,
    })
}
