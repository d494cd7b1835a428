//! Some properties, looked at one after the other, as a native function.
//!
//! It stops at the first property that decides, or goes through all of them. What it gives says how
//! it stopped: 0 not at all, else a status in the lowest bits and the number of the property above
//! them. A cover never stops it, but is noted when an instance holds. All instances of a property are
//! looked at before it decides, since an error of any of them is an error. A condition that calls
//! something that may change the state is evaluated on a copy, made anew for each instance.

use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Value, types};
use cranelift_frontend::{FunctionBuilderContext, Variable};
use murphi::ir::{Parameter, Property, PropertyKind};

use super::call::{EXCLUDED, FAILED};
use super::domain::{Loop, Rounds};
use super::instances::InstanceSpace;
use super::memory::{Memory, plain};
use super::place::{Address, Binding, Scope};
use super::{Translated, Translator, Unit, new_function};
use crate::Error;
use crate::facts::Facts;
use crate::host::Context;

/// The status when an invariant is broken.
pub(crate) const BROKEN: i64 = 3;
/// How many bits the status has.
pub(crate) const STATUS_BITS: u32 = 2;

/// Translates some properties, given with their numbers. The number of the first is a parameter, so
/// that properties have the same code wherever they stand.
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
    signature.params.resize(3, AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let mut native = new_function(signature);
    let memory = Memory::of_caller(unit, &calls);
    let mut translator = Translator::begin(unit, &mut native, builders, memory);
    translator.keeps_results = true;
    let first_number = properties.first().map_or(0, |(number, _)| *number);
    let first = translator.parameter(2);
    for ((number, property), facts) in properties.iter().zip(&all_facts) {
        let instances = InstanceSpace::of(unit.model, &property.name, &property.parameters)?;
        if !instances.is_empty() {
            translator.scope = Scope::of(&property.frame, !facts.writes);
            translator.shrunk = facts.writes && facts.shrinks;
            let number = Number { first, distance: i64::from(*number) - i64::from(first_number) };
            translator.look_at(number, property, &instances, facts.writes);
        }
    }
    let nothing = translator.constant(0);
    translator.builder.ins().return_(&[nothing]);
    let need = translator.end()?;
    Ok(Translated { function: native, need })
}

/// The number of a property, by its distance from the one that the function is given.
#[derive(Clone, Copy)]
struct Number {
    first: Value,
    distance: i64,
}

/// What has been seen of the instances of a property so far. All are looked at, because an error of
/// any of them comes first.
struct PropertyState {
    /// Raised if one does not hold; of a cover, if one holds.
    found: Variable,
    /// Raised if an `assume` excludes one.
    excluded: Variable,
    loops: Vec<Loop>,
    /// Where what is excluded leads: before the first loop, and in each.
    excludes: Vec<Block>,
}

impl<'m> Translator<'_, 'm> {
    fn look_at(
        &mut self,
        number: Number,
        property: &'m Property,
        instances: &InstanceSpace,
        on_copies: bool,
    ) {
        let original = self.state;
        let [error, found] = [(); 2].map(|()| self.cold_block());
        let next = self.block();
        self.exits.error = error;
        let mut seen = PropertyState {
            found: self.flag(),
            excluded: self.flag(),
            loops: Vec::new(),
            excludes: Vec::new(),
        };
        self.open(&mut seen);
        match on_copies {
            false => self.bind_in_loops(property, &mut seen),
            true => self.bind_on_copies(property, instances, next, &mut seen),
        }
        match property.kind {
            PropertyKind::Cover => self.branch(&property.condition, found, next),
            _ => self.branch(&property.condition, next, found),
        }
        self.enter(found);
        self.raise(seen.found);
        self.jump(next);
        self.enter(next);
        self.close(&mut seen);
        self.decide(number, property.kind, &seen);
        let after = self.block();
        self.jump(after);
        self.stop_at(error, FAILED, number);
        self.enter(after);
        self.state = original;
    }

    /// Begins what is between two loops: what is excluded there is noted, and the loop goes on.
    fn open(&mut self, seen: &mut PropertyState) {
        let exclude = self.cold_block();
        self.exits.exclude = exclude;
        seen.excludes.push(exclude);
    }

    /// Ends all loops, from the innermost.
    fn close(&mut self, seen: &mut PropertyState) {
        while let Some(exclude) = seen.excludes.pop() {
            let end = match seen.loops.last() {
                Some(each) => each.latch,
                None => self.block(),
            };
            self.jump(end);
            self.enter(exclude);
            self.raise(seen.excluded);
            self.jump(end);
            match seen.loops.pop() {
                Some(each) => self.end_loop(each),
                None => self.enter(end),
            }
        }
    }

    /// After all instances, none of which has failed.
    fn decide(&mut self, number: Number, kind: PropertyKind, seen: &PropertyState) {
        let decisions = match kind {
            PropertyKind::Cover => return self.note_cover_if(seen.found, number),
            PropertyKind::Assumption => [(seen.found, EXCLUDED), (seen.excluded, EXCLUDED)],
            PropertyKind::Invariant | PropertyKind::Liveness => {
                [(seen.found, BROKEN), (seen.excluded, EXCLUDED)]
            }
        };
        for (flag, status) in decisions {
            let (stop, next) = (self.cold_block(), self.block());
            let raised = self.builder.use_var(flag);
            self.choose(raised, stop, next);
            self.stop_at(stop, status, number);
            self.enter(next);
        }
    }

    /// Notes that a cover was seen to hold, if it was.
    fn note_cover_if(&mut self, found: Variable, number: Number) {
        let [noted, next] = [(); 2].map(|()| self.block());
        let found = self.builder.use_var(found);
        self.choose(found, noted, next);
        self.enter(noted);
        let number = self.number_of(number);
        self.note_cover_at(number, 0);
        self.jump(next);
        self.enter(next);
    }

    fn number_of(&mut self, number: Number) -> Value {
        self.builder.ins().iadd_imm_s(number.first, number.distance)
    }

    fn stop_at(&mut self, block: Block, status: i64, number: Number) {
        self.enter(block);
        let number = self.number_of(number);
        let above = self.builder.ins().ishl_imm_u(number, i64::from(STATUS_BITS));
        let status = self.constant(status);
        let answer = self.builder.ins().bor(above, status);
        self.builder.ins().return_(&[answer]);
    }

    /// Notes that a `cover` statement was reached; they are counted after the properties.
    pub(super) fn note_cover(&mut self, number: usize) {
        let zero = self.constant(0);
        self.note_cover_at(zero, number as i32);
    }

    /// Notes that the cover with the number `base + offset` was seen to hold.
    fn note_cover_at(&mut self, base: Value, offset: i32) {
        let at = std::mem::offset_of!(Context, covered) as i32;
        let covered = self.builder.ins().load(types::I64, plain(), self.context, at);
        let covered = self.builder.ins().iadd(covered, base);
        let noted = self.builder.ins().iconst(types::I8, 1);
        self.builder.ins().store(plain(), noted, covered, offset);
    }

    fn bind_in_loops(&mut self, property: &'m Property, seen: &mut PropertyState) {
        for parameter in &property.parameters {
            match parameter {
                Parameter::Alias { local, target } => self.bind_alias(*local, target),
                Parameter::Each(binder) => {
                    seen.loops.push(self.begin_domain(binder));
                    self.open(seen);
                }
            }
        }
    }

    fn bind_on_copies(
        &mut self,
        property: &'m Property,
        instances: &InstanceSpace,
        next: Block,
        seen: &mut PropertyState,
    ) {
        let size = self.layout().size;
        let copy = self.allocate(size);
        let pointer = self.full_pointer(&copy);
        for &radix in &instances.radices {
            seen.loops.push(self.begin_loop(Rounds::Fixed(radix)));
            self.open(seen);
        }
        self.copy(&copy, &Address::at(self.state), size);
        self.state = pointer;
        let mut digits = seen.loops.iter().map(|each| each.round).collect::<Vec<_>>().into_iter();
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
