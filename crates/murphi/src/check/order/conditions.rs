//! The functions that guards and properties may run.

use crate::ir::{Call, Model};
use crate::walk::{self, Visitor};

/// For each function, whether a guard, a parameter of a rule or a property may run it, perhaps
/// through others.
pub(super) fn functions(model: &Model) -> Vec<bool> {
    let mut calls = Calls(Vec::new());
    for rule in model.rules.iter().chain(&model.start_states) {
        walk::parameters(&rule.parameters, &mut calls);
        rule.guard.iter().for_each(|guard| walk::expression(guard, &mut calls));
    }
    for property in &model.properties {
        walk::parameters(&property.parameters, &mut calls);
        walk::expression(&property.condition, &mut calls);
    }
    let mut reached = vec![false; model.functions.len()];
    while let Some(function) = calls.0.pop() {
        if !std::mem::replace(&mut reached[function], true) {
            walk::statements(&model.functions[function].body, &mut calls);
        }
    }
    reached
}

/// The functions that are called in what was looked at.
struct Calls(Vec<usize>);

impl Visitor for Calls {
    fn call(&mut self, call: &Call) {
        self.0.push(call.function.0 as usize);
    }
}
