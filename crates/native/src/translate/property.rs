//! A property as a native function: whether some instance of its condition has a given truth value.
//!
//! It gives 0 if none has, [`FOUND`] for the first that has, or the status of what stopped the
//! evaluation before. A condition that calls a function that changes the state is evaluated on a
//! copy, made anew for each instance.

use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, types};
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{Parameter, Property};

use super::call::{EXCLUDED, FAILED};
use super::domain::{Loop, Rounds};
use super::nest::Nest;
use super::place::{Address, Binding, Scope};
use super::{Translated, Translator, Unit, new_function};
use crate::Error;

/// The status when an instance was found.
pub(crate) const FOUND: i64 = 3;

/// Translates the search for an instance of a property whose condition is `wanted`.
pub(crate) fn property(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    property: &Property,
    wanted: bool,
) -> Result<Translated, Error> {
    let too_many = || Error::TooManyInstances(property.name.clone());
    let nest = Nest::of(unit.model, &property.parameters).ok_or_else(too_many)?;
    let knowledge = unit.knowledge;
    let mut facts = knowledge.parameters(&property.frame, &property.parameters);
    let condition = knowledge.expression(&property.frame, &property.condition);
    facts.writes |= condition.writes;
    facts.shrinks |= condition.shrinks;
    facts.calls.extend(condition.calls);

    let mut signature = Signature::new(unit.isa.default_call_conv());
    signature.params.resize(2, AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let mut native = new_function(signature);
    let mut translator = Translator::begin(unit, &mut native, builders, &facts.calls);
    translator.scope = Scope::of(&property.frame, !facts.writes);
    translator.shrunk = facts.writes && facts.shrinks;
    translator.search(property, &nest, wanted, facts.writes);
    let arena_end = translator.end()?;
    Ok(Translated { function: native, arena_end })
}

impl<'m> Translator<'_, 'm> {
    fn search(&mut self, property: &'m Property, nest: &Nest, wanted: bool, on_copies: bool) {
        let found = self.cold_block();
        if !nest.is_empty() {
            let mut loops: Vec<Loop> = Vec::new();
            let next = self.block();
            match on_copies {
                false => self.bind_in_loops(property, &mut loops),
                true => self.bind_on_copies(property, nest, next, &mut loops),
            }
            match wanted {
                true => self.branch(&property.condition, found, next),
                false => self.branch(&property.condition, next, found),
            }
            self.enter(next);
            while let Some(each) = loops.pop() {
                self.jump(each.latch);
                self.end_loop(each);
            }
        }
        let none = self.constant(0);
        self.builder.ins().return_(&[none]);
        let ends = [(self.exits.error, FAILED), (self.exits.exclude, EXCLUDED), (found, FOUND)];
        for (block, status) in ends {
            self.builder.set_cold_block(block);
            self.enter(block);
            let status = self.constant(status);
            self.builder.ins().return_(&[status]);
        }
    }

    fn bind_in_loops(&mut self, property: &'m Property, loops: &mut Vec<Loop>) {
        for parameter in &property.parameters {
            match parameter {
                Parameter::Alias { local, target } => self.bind_alias(*local, target),
                Parameter::Each(binder) => loops.push(self.begin_domain(binder)),
            }
        }
    }

    fn bind_on_copies(
        &mut self,
        property: &'m Property,
        nest: &Nest,
        next: Block,
        loops: &mut Vec<Loop>,
    ) {
        let size = self.layout().size;
        let copy = self.allocate(size);
        let pointer = self.full_pointer(&copy);
        for &radix in &nest.radices {
            loops.push(self.begin_loop(Rounds::Fixed(radix)));
        }
        self.copy(&copy, &Address::at(self.state), size);
        self.state = pointer;
        let mut digits: Vec<_> = loops.iter().map(|each| each.round).collect();
        digits.reverse();
        for parameter in &property.parameters {
            match parameter {
                Parameter::Alias { local, target } => self.bind_alias(*local, target),
                Parameter::Each(binder) => {
                    let digit = digits.pop().expect("there is a loop for each parameter");
                    let value = self.value_of_digit(&binder.domain, digit, next);
                    self.scope.bind(binder.local, Binding::Value(value));
                }
            }
        }
    }
}
