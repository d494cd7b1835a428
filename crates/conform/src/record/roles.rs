//! The roles of the parameters of a rule, so that a caller can determine the processor of a step
//! without knowing the protocol.

use murphi::instance::{binders, radices};
use murphi::ir::Domain;

use super::Recording;

/// The role of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One of [`Recording::processors`].
    Processor,
    /// One of [`Recording::addresses`].
    Address,
    /// A value that is loaded or stored.
    Value,
    /// Anything else.
    Other,
}

impl Recording {
    /// The number of rules.
    pub fn rules(&self) -> u32 {
        self.interpreter.model().rules.len() as u32
    }

    /// The roles of the parameters of a rule, and how many values each has: the digits of the
    /// number of an instance, the outermost first. Processors and addresses are numbered as in
    /// [`RecordedEvent`](super::RecordedEvent).
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
