//! From a program to the form that is abstracted.

use murphi::ast::Program;
use murphi::diagnostic::Diagnostic;

use crate::Prepared;
use crate::processor::find_processor;
use crate::rules::flatten;

/// Brings a program into the form that is abstracted. `processor` is the name of the type of
/// processors, if it is known.
pub fn prepare(program: &Program, processor: Option<&str>) -> Result<Prepared, Vec<Diagnostic>> {
    let processor = find_processor(program, processor).map_err(|problem| vec![problem])?;
    let rules = flatten(program)?;
    Ok(Prepared { program: program.clone(), processor, rules, notes: Vec::new() })
}
