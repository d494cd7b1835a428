//! From a program to the form that is abstracted: rules without functions, counters as sets, flags
//! as errors, no name that hides another. Each step keeps what the program does, errors included.
//!
//! Transformations T1 to T6 of docs/abstraction.md, in this order.

use murphi::ast::{Program, Quantifier};
use murphi::diagnostic::Diagnostic;
use murphi::transform::{
    Flattened, Inliner, Scope, assembled, bind, declarations, flatten_all, names_apart,
    without_idle_puts,
};

use crate::Prepared;
use crate::counters::{counters_to_sets, sized};
use crate::flags::flags_to_errors;
use crate::implications::comparisons_to_implications;
use crate::processor::find_processor;
use crate::reserved::{RESERVED, nothing_reserved};
use crate::types::ProcessorTypes;

/// Brings a program into the form that is abstracted. `processor` is the name of the type of
/// processors, if it is known. `murphi::check` must accept the program.
pub fn prepare(program: &Program, processor: Option<&str>) -> Result<Prepared, Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    let processor = find_processor(program, processor).map_err(one)?;
    let types = ProcessorTypes::new(program, &processor.name);
    let mut flattened = flatten_all(program)?;
    names_apart(&mut flattened, &types, &RESERVED);
    inline(program, &types, &mut flattened).map_err(one)?;
    // Inlined functions have added their own variables.
    names_apart(&mut flattened, &types, &RESERVED);
    nothing_reserved(program, &flattened)?;
    let mut declarations: Vec<_> = declarations(program).cloned().collect();
    // A proof that an expression cannot fail must not use the declared number of processors.
    let any_number = types.forgetting(&sized(&declarations, &processor));
    without_idle_puts(&any_number, &mut flattened);
    flags_to_errors(&mut flattened, &types);
    counters_to_sets(&mut declarations, &mut flattened, &types, &processor).map_err(one)?;
    comparisons_to_implications(&mut flattened, &types);
    let program = assembled(&declarations, &flattened);
    Ok(Prepared { program, processor, rules: flattened.rules, witnessed: Vec::new() })
}

fn inline(
    program: &Program,
    types: &ProcessorTypes,
    flattened: &mut Flattened,
) -> Result<(), Diagnostic> {
    let inliner = Inliner::new(program, types)?;
    let around = |quantifiers: &[Quantifier]| {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        scope
    };
    for rule in &mut flattened.rules {
        let scope = around(&rule.quantifiers);
        rule.body = inliner.body(&scope, &rule.body)?;
        if let Some(guard) = &mut rule.guard {
            *guard = inliner.condition(&scope, guard)?;
        }
    }
    for start in &mut flattened.start_states {
        start.item.1 = inliner.body(&around(&start.quantifiers), &start.item.1)?;
    }
    for property in &mut flattened.properties {
        let scope = around(&property.quantifiers);
        property.item.condition = inliner.condition(&scope, &property.item.condition)?;
    }
    Ok(())
}
