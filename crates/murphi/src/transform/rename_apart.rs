//! Each name means one thing where it is used.
//!
//! Places are recognised by the names in them (`identity.rs`), so a variable that hides another one gets a name of its own.
//!
//! Transformation T2 of docs/abstraction.md.

use crate::ast::{Body, Quantifier};

use super::declarations::{Declarations, local_variables};
use super::flatten::Flattened;
use super::substitute::Substitution;

/// Gives variables that hide others names of their own, other than those that are reserved.
pub fn names_apart(flattened: &mut Flattened, declarations: &Declarations, reserved: &[&str]) {
    let apart = |quantifiers: &[Quantifier], body: Option<&Body>| {
        let mut apart = Substitution::default();
        apart.avoid(declarations.declared().cloned());
        apart.avoid(reserved.iter().map(|&name| name.to_owned()));
        apart.avoid(quantifiers.iter().map(|each| each.name.text.clone()));
        let declarations = body.map_or(&[][..], |body| &body.declarations);
        apart.avoid(local_variables(declarations).map(|(name, _)| name.text.clone()));
        apart
    };
    for rule in &mut flattened.rules {
        let apart = apart(&rule.quantifiers, Some(&rule.body));
        rule.guard = rule.guard.as_ref().map(|guard| apart.expression(guard));
        rule.body.statements = apart.statements(&rule.body.statements);
    }
    for start in &mut flattened.start_states {
        let apart = apart(&start.quantifiers, Some(&start.item.1));
        start.item.1.statements = apart.statements(&start.item.1.statements);
    }
    for property in &mut flattened.properties {
        let apart = apart(&property.quantifiers, None);
        property.item.condition = apart.expression(&property.item.condition);
    }
}
