//! What the parameters of a rule name: so that whoever watches a run can say "the processor that
//! this rule is about", without knowing the protocol.

use murphi::instance::{binders, radices};
use murphi::ir::Domain;

use super::Recording;

/// What a parameter of a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One of [`Recording::processors`].
    Processor,
    /// One of [`Recording::addresses`].
    Address,
    /// What is loaded and stored.
    Value,
    /// Something else.
    Other,
}

impl Recording {
    /// How many rules there are.
    pub fn rules(&self) -> u32 {
        self.interpreter.model().rules.len() as u32
    }

    /// What the parameters of a rule name, and how many values each has: the digits of the number
    /// of an instance, the first one the outermost. A digit counts processors and addresses as
    /// [`RecordedEvent`](super::RecordedEvent) does.
    pub fn roles(&self, rule: u32) -> Vec<(Role, u64)> {
        let model = self.interpreter.model();
        let parameters = &model.rules[rule as usize].parameters;
        let role = |domain: &Domain| match domain {
            Domain::Type(ty) if *ty == self.processor => Role::Processor,
            Domain::Type(ty) if *ty == self.address => Role::Address,
            Domain::Type(ty) if *ty == self.value => Role::Value,
            _ => Role::Other,
        };
        let roles = binders(parameters).map(|binder| role(&binder.domain));
        roles.zip(radices(model, parameters)).collect()
    }
}
