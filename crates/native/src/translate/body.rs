//! The body of a rule as a native function that fires one instance.
//!
//! It is given the state and the digits of the instance. It copies the state to the end of the
//! batch, runs the body on the copy and records a firing. The parameters are bound again rather than
//! handed over: nothing has changed since the guard was evaluated, so they get the same values.
//!
//! A rule whose parameters or guard call something that may change the state is a case of its own:
//! everything is evaluated here, on the copy, as the body then sees it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{Domain, Parameter, Rule};
use murphi::machine::{Firing, Outcome};

use super::domain::Rounds;
use super::instances::{InstanceSpace, facts_before_body};
use super::memory::{Memory, plain};
use super::operand::{Bounds, Operand};
use super::place::{Address, Binding, Scope};
use super::{Exits, Translated, Translator, Unit, new_function};
use crate::Error;
use crate::facts::Usage;
use crate::host::{self, Context};

/// The parameters of a body: state, context, the number of the rule, and a digit for each `Each`
/// parameter. The number is a parameter so that a rule has the same code wherever it stands.
pub(super) fn signature(isa: &dyn TargetIsa, instances: &InstanceSpace) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.resize(3 + instances.radices.len(), AbiParam::new(types::I64));
    signature
}

/// Translates the body of a rule or start state.
pub(crate) fn body(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    rule: &Rule,
) -> Result<Translated, Error> {
    let instances = InstanceSpace::of(unit.model, &rule.name, &rule.parameters)?;
    let before = facts_before_body(unit.knowledge, rule);
    let facts = unit.knowledge.statements(&rule.frame, &rule.body);
    let removes = before.removes || facts.removes;
    let mut calls = facts.calls;
    calls.extend(&before.calls);

    let mut native = new_function(signature(unit.isa, &instances));
    let memory = Memory::of_caller(unit, &calls);
    let mut translator = Translator::begin(unit, &mut native, builders, memory);
    translator.scope = Scope::of(&rule.frame, !before.writes);
    let (number, digits) = (translator.parameter(2), translator.digits(&instances));
    let firing = Instance { number, rule, instances, digits, removes };
    let end = translator.block();
    match before.writes {
        false => {
            firing.bind(&mut translator, None);
            firing.begin_copy(&mut translator);
        }
        true => {
            translator.shrunk = before.shrinks;
            firing.begin_copy(&mut translator);
            firing.bind(&mut translator, Some(end));
            if let Some(guard) = &rule.guard {
                let holds = translator.block();
                translator.branch(guard, holds, end);
                translator.enter(holds);
            }
        }
    }
    firing.fire(&mut translator, end);
    firing.fill_stops(&mut translator, end);
    translator.enter(end);
    translator.builder.ins().return_(&[]);
    let need = translator.end()?;
    Ok(Translated { function: native, need })
}

/// The instance being translated.
struct Instance<'m> {
    /// The number of the rule.
    number: Value,
    rule: &'m Rule,
    instances: InstanceSpace,
    digits: Vec<Operand>,
    /// It may leave gaps in multisets.
    removes: bool,
}

impl<'m> Instance<'m> {
    /// Binds the parameters. With `unoccupied`, positions may be ones that are not occupied: that
    /// is where to go then.
    fn bind(&self, translator: &mut Translator<'_, 'm>, unoccupied: Option<Block>) {
        let mut digits = self.digits.iter();
        for parameter in &self.rule.parameters {
            match parameter {
                Parameter::Alias { local, target } => translator.bind_alias(*local, target),
                Parameter::Each(binder) => {
                    let digit = digits.next().expect("there is a digit for each parameter");
                    let value = translator.value_of_digit(&binder.domain, *digit, unoccupied);
                    translator.scope.bind(binder.local, Binding::Value(value));
                }
            }
        }
    }

    /// Copies the state to the end of the batch and goes on with the copy.
    fn begin_copy(&self, translator: &mut Translator<'_, 'm>) {
        let context = translator.context;
        let [full, there] = [translator.cold_block(), translator.block()];
        let at = std::mem::offset_of!(Context, room) as i32;
        let room = translator.builder.ins().load(types::I64, plain(), context, at);
        translator.choose(room, there, full);
        translator.enter(full);
        translator.call_host(host::make_room as *const () as usize, &[context], 0);
        translator.jump(there);
        translator.enter(there);
        let at = std::mem::offset_of!(Context, next_state) as i32;
        let copy = translator.builder.ins().load(types::I64, plain(), context, at);
        let original = Address::at(translator.state);
        translator.copy_state(&Address::at(copy), &original, translator.layout().size);
        translator.state = copy;
        translator.begin_writing();
        translator.scope.state_is_constant = false;
    }

    /// Runs the body and records how it ended.
    fn fire(&self, translator: &mut Translator<'_, 'm>, end: Block) {
        let rule = self.rule;
        let [failed, excluded] = [(); 2].map(|()| translator.cold_block());
        let [done, record] = [(); 2].map(|()| translator.block());
        let outcome = translator.builder.append_block_param(record, types::I8);
        let exits =
            Exits { error: failed, exclude: excluded, leave: done, result: None, room: None };
        let stops = std::mem::replace(&mut translator.exits, exits);
        translator.enter_locals(&Usage::of(&rule.frame, &rule.parameters, &rule.body));
        translator.statements(&rule.body);
        translator.jump(done);
        let ends =
            [(done, Outcome::Done), (failed, Outcome::Failed), (excluded, Outcome::Excluded)];
        for (block, outcome) in ends {
            translator.enter(block);
            if self.removes && outcome == Outcome::Done {
                translator.close_gaps();
            }
            let outcome = translator.builder.ins().iconst(types::I8, outcome as i64);
            translator.jump_with(record, outcome);
        }
        translator.enter(record);
        self.record(translator, outcome);
        translator.jump(end);
        translator.exits = stops;
    }

    /// Writes a firing and moves on in the batch.
    fn record(&self, translator: &mut Translator<'_, 'm>, outcome: Value) {
        let context = translator.context;
        let instance = translator.instance(&self.instances, &self.digits);
        let at = std::mem::offset_of!(Context, next_firing) as i32;
        let firing = translator.builder.ins().load(types::I64, plain(), context, at);
        let number = translator.builder.ins().ireduce(types::I32, self.number);
        let fields = [
            (number, std::mem::offset_of!(Firing, rule)),
            (instance, std::mem::offset_of!(Firing, instance)),
            (outcome, std::mem::offset_of!(Firing, outcome)),
        ];
        for (value, offset) in fields {
            translator.builder.ins().store(plain(), value, firing, offset as i32);
        }
        translator.record_written();
        let moves = [
            (std::mem::offset_of!(Context, next_firing), host::FIRING_SIZE as i64),
            (std::mem::offset_of!(Context, next_state), i64::from(translator.layout().size)),
            (std::mem::offset_of!(Context, room), -1),
        ];
        for (offset, by) in moves {
            let at = offset as i32;
            let old = translator.builder.ins().load(types::I64, plain(), context, at);
            let new = translator.builder.ins().iadd_imm_s(old, by);
            translator.builder.ins().store(plain(), new, context, at);
        }
    }

    /// Records what stopped the instance before its body.
    fn fill_stops(&self, translator: &mut Translator<'_, 'm>, end: Block) {
        let stops = [
            (translator.exits.error, Outcome::GuardFailed),
            (translator.exits.exclude, Outcome::Excluded),
        ];
        for (block, outcome) in stops {
            translator.builder.set_cold_block(block);
            translator.enter(block);
            let first = translator.instance(&self.instances, &self.digits);
            translator.record_stopped(self.number, first, 1, outcome);
            translator.jump(end);
        }
    }
}

impl<'m> Translator<'_, 'm> {
    /// The digits that the function was given.
    fn digits(&mut self, instances: &InstanceSpace) -> Vec<Operand> {
        let digits = (3..).zip(&instances.radices).map(|(at, &radix)| {
            let last = i64::try_from(radix.saturating_sub(1)).unwrap_or(i64::MAX);
            Operand::register(self.parameter(at), Bounds::new(0, last))
        });
        digits.collect()
    }

    /// The number of the instance with these digits, or of the first one that begins with them.
    pub(super) fn instance(&mut self, instances: &InstanceSpace, digits: &[Operand]) -> Value {
        let mut instance = self.constant(0);
        for (digit, &weight) in digits.iter().zip(&instances.weights) {
            let digit = self.number(*digit);
            let weighted = self.builder.ins().imul_imm_s(digit, weight as i64);
            instance = self.builder.ins().iadd(instance, weighted);
        }
        instance
    }

    /// Closes the gaps that the rule has left in multisets of the state.
    fn close_gaps(&mut self) {
        let shapes = self.shapes();
        let size = self.constant(i64::from(self.layout().size));
        let written = self.written();
        let arguments = [shapes, self.state, size, written];
        self.call_host(host::close_gaps as *const () as usize, &arguments, 0);
    }

    /// Records `count` instances that did not get to their bodies.
    pub(super) fn record_stopped(
        &mut self,
        rule: Value,
        first: Value,
        count: u64,
        outcome: Outcome,
    ) {
        let count = self.constant(count as i64);
        let outcome = self.constant(outcome as i64);
        let arguments = [self.context, rule, first, count, outcome];
        self.call_host(host::record as *const () as usize, &arguments, 0);
    }

    /// The value with the number `digit` in a domain. With `unoccupied`, a position is looked at
    /// first, and that is where to go if it is not occupied.
    pub(super) fn value_of_digit(
        &mut self,
        domain: &'m Domain,
        digit: Operand,
        unoccupied: Option<Block>,
    ) -> Operand {
        match domain {
            Domain::Type(ty) => digit.plus(self.model().lowest(*ty), Bounds::of(self.model(), *ty)),
            Domain::Range { from, to, by } => {
                let (from, to, by) = (self.operand(from), self.operand(to), self.operand(by));
                let hull = from.bounds.hull(to.bounds);
                let (first, step) = (self.number(from), self.number(by));
                let round = self.number(digit);
                let distance = self.builder.ins().imul(round, step);
                Operand::register(self.builder.ins().iadd(first, distance), hull)
            }
            Domain::Multiset(place) => {
                if let Some(unoccupied) = unoccupied {
                    let Rounds::Counted { rounds, .. } = self.occupied_positions(place) else {
                        unreachable!("the size of a multiset is not known before the run");
                    };
                    let occupied = self.block();
                    let position = self.number(digit);
                    let is_occupied =
                        self.builder.ins().icmp(IntCC::UnsignedLessThan, position, rounds);
                    self.choose(is_occupied, occupied, unoccupied);
                    self.enter(occupied);
                    // Nothing can have been removed yet: what changes the state may not be
                    // called in a `choose` or around it.
                }
                digit
            }
        }
    }
}
