//! One address that stands for any number of them.
//!
//! A claim about one address at a time needs only one in view. What happens to the others is
//! over-approximated as it is for processors: the same construction, with addresses in the place of
//! processors and one of them concrete. What is left of a rule for another address is what it does to
//! the state that is not by address, under the part of its guard that is not about that address.
//!
//! The result is a program with one address, of which processors can be abstracted in their turn:
//! every step of the protocol, seen with any one address in view, is a step of it or changes nothing
//! there, whatever the number of processors. If its claims hold, so do those of the protocol with any
//! number of addresses. That it does not says nothing.
//!
//! Errors are made explicit before that (T7), so that nothing that is left out at another address is
//! left out with its errors: a check is claimed in each instance in which the address that it is
//! about is the one in view (L3), and a check about two addresses is refused (W1).
//!
//! Transformation T15 of docs/abstraction.md.
//!
//! ```text
//! before: ruleset p: P; a: Address do rule "load" c[p][a] != I ==> seen[p] := d[p][a]; end
//! after:  the same of one address, and
//!         ruleset p: P; d_p_a: Value do rule "load, a = Other" true ==> seen[p] := d_p_a; end
//! before: ruleset a, b: Address do rule "look" true ==> if t[level[b]] then end; x[a] := 0; end
//! after:  of a and b in view the same, and  "look, a = Other" ==> assert level[b] <= 2; end
//! ```

use murphi::ast::{Declaration, DeclarationKind, Item, Program};
use murphi::check::Dialect;
use murphi::diagnostic::Diagnostic;

use crate::abstraction::{OTHER, Options, abstraction};
use crate::exclusions::Exclusion;
use crate::types::Types;
use crate::{Abstraction, Prepared, View, prepare};

/// Abstracts any number of addresses to one. `address` is the type of addresses, a scalarset; no
/// variable may store an address. The exclusions must hold.
pub fn one_address(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
    dialect: Dialect,
) -> Result<Program, Vec<Diagnostic>> {
    let (prepared, options) = by_address(program, address, exclusions, dialect)?;
    abstracted(&prepared, &options, address)
}

/// A program prepared for the abstraction of its addresses, with the options, for crate `refine`,
/// which finds lemmas about one address. [`of_one_address`] turns the abstraction into a program.
pub fn by_address(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
    dialect: Dialect,
) -> Result<(Prepared, Options), Vec<Diagnostic>> {
    let prepared = without_stored(program, address)?;
    let of_rules = |exclusion: &Exclusion| {
        prepared.rules.iter().filter_map(|rule| exclusion.lemma(rule, address)).collect::<Vec<_>>()
    };
    let proved = exclusions.iter().flat_map(of_rules).collect();
    let view = View { concrete: 1, named: false };
    let options = Options { view, sets: false, proved, dialect, ..Options::default() };
    Ok((prepared, options))
}

/// The program prepared for the abstraction of addresses; refused if a variable stores an address.
pub(crate) fn without_stored(
    program: &Program,
    address: &str,
) -> Result<Prepared, Vec<Diagnostic>> {
    let prepared = prepare(program, Some(address))?;
    let types = Types::new(&prepared);
    for item in &prepared.program.items {
        if let Item::Declaration(Declaration { kind: DeclarationKind::Variable(variables), span }) =
            item
            && types.stores_processors(&variables.ty)
        {
            let message = "an address is stored here, so the proof cannot abstract to one address";
            return Err(vec![Diagnostic::error(*span, message)]);
        }
    }
    Ok(prepared)
}

pub(crate) fn abstracted(
    prepared: &Prepared,
    options: &Options,
    address: &str,
) -> Result<Program, Vec<Diagnostic>> {
    Ok(of_one_address(abstraction(prepared, options, &[])?, address))
}

/// The program in which one address stands for all. Its invariants include the claims about that
/// address and the lemmas.
pub fn of_one_address(abstraction: Abstraction, address: &str) -> Program {
    let mut program = abstraction.program;
    // No variable stores an address, so nothing has this type.
    let stored = format!("{address}Or{OTHER}");
    program.items.retain(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Type { names, .. }, .. }) => {
            names.iter().all(|name| name.text != stored)
        }
        _ => true,
    });
    program
}
