//! The start states of a model. Also part of the soundness tests.

use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::value::State;

/// All states that a model starts in.
pub(crate) fn starts(machine: &Interpreter) -> Vec<State> {
    let model = machine.model();
    let mut found = Vec::new();
    for (number, start) in model.start_states.iter().enumerate() {
        for instance in 0..instance::count(model, &start.parameters).unwrap_or(0) {
            if let End::Done(state) = machine.start(number, instance).end {
                found.push(state);
            }
        }
    }
    found
}
