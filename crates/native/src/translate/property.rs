//! Some properties, looked at one after the other, as a native function.
//!
//! It stops at the first property that decides, or goes through all of them. What it gives says how
//! it stopped: 0 not at all, else a status in the lowest bits and the number of the property above
//! them. A cover never stops it, but is noted when an instance holds. A condition that calls something
//! that may change the state is evaluated on a copy, made anew for each instance.

use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, types};
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{Parameter, Property, PropertyKind};

use super::call::{EXCLUDED, FAILED};
use super::domain::{Loop, Rounds};
use super::memory::{Memory, plain};
use super::nest::Nest;
use super::place::{Address, Binding, Scope};
use super::{Translated, Translator, Unit, new_function};
use crate::Error;
use crate::facts::Facts;
use crate::host::Context;

/// The status when an invariant is broken.
pub(crate) const BROKEN: i64 = 3;
/// How many bits the status has.
pub(crate) const STATUS_BITS: u32 = 2;

/// Translates some properties, given with their numbers.
pub(crate) fn properties(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    properties: &[(u32, &Property)],
) -> Result<Translated, Error> {
    let all_facts: Vec<Facts> = properties
        .iter()
        .map(|(_, property)| {
            let (frame, knowledge) = (&property.frame, unit.knowledge);
            let parameters = knowledge.parameters(frame, &property.parameters);
            parameters.and(knowledge.expression(frame, &property.condition))
        })
        .collect();
    let calls: Vec<_> = all_facts.iter().flat_map(|facts| facts.calls.clone()).collect();

    let mut signature = Signature::new(unit.isa.default_call_conv());
    signature.params.resize(2, AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let mut native = new_function(signature);
    let memory = Memory::of_caller(unit, &calls);
    let mut translator = Translator::begin(unit, &mut native, builders, memory);
    for ((number, property), facts) in properties.iter().zip(&all_facts) {
        let nest = Nest::of(unit.model, &property.name, &property.parameters)?;
        if !nest.is_empty() {
            translator.scope = Scope::of(&property.frame, !facts.writes);
            translator.shrunk = facts.writes && facts.shrinks;
            translator.look_at(*number, property, &nest, facts.writes);
        }
    }
    let nothing = translator.constant(0);
    translator.builder.ins().return_(&[nothing]);
    let need = translator.end()?;
    Ok(Translated { function: native, need })
}

impl<'m> Translator<'_, 'm> {
    fn look_at(&mut self, number: u32, property: &'m Property, nest: &Nest, on_copies: bool) {
        let original = self.state;
        let [error, exclude, found] = [(); 3].map(|()| self.cold_block());
        let [next, end] = [(); 2].map(|()| self.block());
        (self.exits.error, self.exits.exclude) = (error, exclude);
        let mut loops: Vec<Loop> = Vec::new();
        match on_copies {
            false => self.bind_in_loops(property, &mut loops),
            true => self.bind_on_copies(property, nest, next, &mut loops),
        }
        match property.kind {
            PropertyKind::Cover => self.branch(&property.condition, found, next),
            _ => self.branch(&property.condition, next, found),
        }
        self.enter(next);
        while let Some(each) = loops.pop() {
            self.jump(each.latch);
            self.end_loop(each);
        }
        self.jump(end);
        self.stop_at(error, FAILED, number);
        match property.kind {
            PropertyKind::Cover => {
                self.enter(exclude);
                self.jump(end);
                self.enter(found);
                self.note_cover(number);
                self.jump(end);
            }
            PropertyKind::Assumption => {
                self.stop_at(exclude, EXCLUDED, number);
                self.stop_at(found, EXCLUDED, number);
            }
            PropertyKind::Invariant | PropertyKind::Liveness => {
                self.stop_at(exclude, EXCLUDED, number);
                self.stop_at(found, BROKEN, number);
            }
        }
        self.enter(end);
        self.state = original;
    }

    fn stop_at(&mut self, block: Block, status: i64, number: u32) {
        self.enter(block);
        let answer = self.constant(i64::from(number) << STATUS_BITS | status);
        self.builder.ins().return_(&[answer]);
    }

    fn note_cover(&mut self, number: u32) {
        let at = std::mem::offset_of!(Context, covered) as i32;
        let covered = self.builder.ins().load(types::I64, plain(), self.context, at);
        let noted = self.builder.ins().iconst(types::I8, 1);
        self.builder.ins().store(plain(), noted, covered, number as i32);
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
        let mut digits = loops.iter().map(|each| each.round).collect::<Vec<_>>().into_iter();
        for parameter in &property.parameters {
            match parameter {
                Parameter::Alias { local, target } => self.bind_alias(*local, target),
                Parameter::Each(binder) => {
                    let digit = digits.next().expect("there is a loop for each parameter");
                    let value = self.value_of_digit(&binder.domain, digit, Some(next));
                    self.scope.bind(binder.local, Binding::Value(value));
                }
            }
        }
    }
}
