//! One address that stands for any number of them.
//!
//! A claim about one address at a time needs only one in view. What happens to the others is
//! over-approximated as it is for processors: the same construction, with addresses in the place of
//! processors and one of them concrete. What is left of a rule for another address is what it does to
//! the state that is not by address, under the part of its guard that is not about that address.
//!
//! The result is a program with one address, of which processors can be abstracted in their turn:
//! every step of the protocol, seen with any one address in view, is a step of it or changes nothing
//! there, whatever the number of processors. If it keeps its promise, so does the protocol with any
//! number of addresses. That it does not says nothing.

use murphi::ast::{Declaration, DeclarationKind, Item, Program};
use murphi::diagnostic::Diagnostic;

use crate::abstraction::{OTHER, Options, abstraction};
use crate::prepare;
use crate::types::Types;

/// A program in which one address stands for any number of them. `address` is the type of addresses,
/// a scalarset, of which none may be stored.
pub fn one_address(program: &Program, address: &str) -> Result<Program, Vec<Diagnostic>> {
    let prepared = prepare(program, Some(address))?;
    let types = Types::new(&prepared.program, &prepared.processor.name);
    for item in &prepared.program.items {
        if let Item::Declaration(Declaration { kind: DeclarationKind::Variable(variables), span }) =
            item
            && types.stores_processors(&variables.ty)
        {
            let message = "an address is stored here, so one address cannot stand for the others";
            return Err(vec![Diagnostic::error(*span, message)]);
        }
    }
    let options = Options { concrete: 1, sets: false, ..Options::default() };
    let mut program = abstraction(&prepared, &options, &[])?.program;
    // Nothing is stored, so nothing is of this type.
    let stored = format!("{address}Or{OTHER}");
    program.items.retain(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Type { names, .. }, .. }) => {
            names.iter().all(|name| name.text != stored)
        }
        _ => true,
    });
    Ok(program)
}
