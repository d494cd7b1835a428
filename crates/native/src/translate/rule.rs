//! A rule as a native function that runs all its instances.
//!
//! The parameters are nested loops. Where the guard holds, the state is copied to the end of the
//! batch, the body runs on the copy, and a firing is recorded; a run-time error in a parameter or
//! the guard is recorded for all instances that it concerns. What is evaluated before the body does
//! not change the state, except in rules whose guard calls a function that does: those run their
//! parameters and guard for each instance on a copy of its own, as the body then sees it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Value, types};
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{Domain, Parameter, Rule};
use murphi::machine::{Firing, Outcome};

use super::domain::{Loop, Rounds};
use super::memory::plain;
use super::nest::{Nest, place_conjuncts};
use super::operand::{Bounds, Operand};
use super::place::{Address, Binding, Scope};
use super::{Exits, Translated, Translator, Unit, new_function};
use crate::Error;
use crate::facts::Usage;
use crate::host::{self, Context};

/// Translates a rule or start state with this number.
pub(crate) fn rule(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    number: u32,
    rule: &Rule,
) -> Result<Translated, Error> {
    let too_many = || Error::TooManyInstances(rule.name.clone());
    let nest = Nest::of(unit.model, &rule.parameters).ok_or_else(too_many)?;
    let knowledge = unit.knowledge;
    let mut before = knowledge.parameters(&rule.frame, &rule.parameters);
    if let Some(guard) = &rule.guard {
        let guard = knowledge.expression(&rule.frame, guard);
        before.writes |= guard.writes;
        before.shrinks |= guard.shrinks;
        before.calls.extend(guard.calls);
    }
    let mut calls = knowledge.statements(&rule.frame, &rule.body).calls;
    calls.append(&mut before.calls);

    let mut signature = Signature::new(unit.isa.default_call_conv());
    signature.params.resize(2, AbiParam::new(types::I64));
    let mut native = new_function(signature);
    let mut translator = Translator::begin(unit, &mut native, builders, &calls);
    translator.scope = Scope::of(&rule.frame, !before.writes);
    let mut firing = FiringNest { number, rule, nest, digits: Vec::new(), segments: Vec::new() };
    let end = translator.block();
    if firing.nest.is_empty() {
        translator.jump(end);
    } else if before.writes {
        translator.shrunk = before.shrinks;
        firing.run_on_copies(&mut translator, end);
    } else {
        firing.run(&mut translator, end);
    }
    translator.enter(end);
    translator.builder.ins().return_(&[]);
    let arena_end = translator.end()?;
    Ok(Translated { function: native, arena_end })
}

/// The loops of a rule while they are being translated.
struct FiringNest<'m> {
    number: u32,
    rule: &'m Rule,
    nest: Nest,
    /// The rounds of the open loops.
    digits: Vec<Operand>,
    segments: Vec<Segment>,
}

/// The code between one loop and the next.
struct Segment {
    /// The loop it is in.
    around: Option<Loop>,
    /// Where to go on when this instance (with all below it) does not fire.
    next: Block,
    exits: Exits,
}

impl<'m> FiringNest<'m> {
    /// Guards on the state itself, copies only for bodies.
    fn run(&mut self, translator: &mut Translator<'_, 'm>, end: Block) {
        let rule = self.rule;
        let guard = rule.guard.as_ref();
        let conjuncts = guard.map_or_else(Vec::new, |guard| {
            place_conjuncts(translator.model(), &rule.frame, &rule.parameters, guard)
        });
        let mut conjuncts = conjuncts.into_iter().peekable();
        self.open_segment(translator, None, end);
        for bound in 0..=rule.parameters.len() {
            while let Some((_, conjunct)) = conjuncts.next_if(|(at, _)| *at == bound) {
                let holds = translator.block();
                translator.branch(conjunct, holds, self.next());
                translator.enter(holds);
            }
            match rule.parameters.get(bound) {
                Some(Parameter::Alias { local, target }) => translator.bind_alias(*local, target),
                Some(Parameter::Each(binder)) => {
                    let each = translator.begin_domain(binder);
                    self.open_loop(translator, each);
                }
                None => {}
            }
        }
        let state = Address::in_state(0);
        let copy = self.copy_state(translator, &state);
        translator.state = copy;
        translator.scope.state_is_constant = false;
        self.fire(translator);
        self.close(translator);
    }

    /// Everything on a copy, parameters and guard too.
    fn run_on_copies(&mut self, translator: &mut Translator<'_, 'm>, end: Block) {
        let rule = self.rule;
        self.open_segment(translator, None, end);
        for number in 0..self.nest.radices.len() {
            let each = translator.begin_loop(Rounds::Fixed(self.nest.radices[number]));
            self.open_loop(translator, each);
        }
        let original = translator.state;
        let copy = self.copy_state(translator, &Address::at(original));
        translator.state = copy;
        let mut digits = self.digits.clone().into_iter();
        for parameter in &rule.parameters {
            match parameter {
                Parameter::Alias { local, target } => translator.bind_alias(*local, target),
                Parameter::Each(binder) => {
                    let digit = digits.next().expect("there is a loop for each parameter");
                    let value = translator.value_of_digit(&binder.domain, digit, self.next());
                    translator.scope.bind(binder.local, Binding::Value(value));
                }
            }
        }
        if let Some(guard) = &rule.guard {
            let holds = translator.block();
            translator.branch(guard, holds, self.next());
            translator.enter(holds);
        }
        self.fire(translator);
        self.close(translator);
    }

    fn next(&self) -> Block {
        self.segments.last().expect("a segment is open").next
    }

    fn open_loop(&mut self, translator: &mut Translator<'_, 'm>, each: Loop) {
        self.digits.push(each.round);
        let next = each.latch;
        self.open_segment(translator, Some(each), next);
    }

    fn open_segment(
        &mut self,
        translator: &mut Translator<'_, 'm>,
        around: Option<Loop>,
        next: Block,
    ) {
        let [error, exclude] = [(); 2].map(|()| translator.cold_block());
        translator.exits = Exits { error, exclude, ..translator.exits };
        self.segments.push(Segment { around, next, exits: translator.exits });
    }

    /// Ends all loops, from the innermost.
    fn close(&mut self, translator: &mut Translator<'_, 'm>) {
        while let Some(segment) = self.segments.pop() {
            let stops = [
                (segment.exits.error, Outcome::GuardFailed),
                (segment.exits.exclude, Outcome::Excluded),
            ];
            for (block, outcome) in stops {
                translator.enter(block);
                let rule = translator.constant(i64::from(self.number));
                let first = self.first_instance(translator);
                let below = self.nest.instances_below(self.digits.len());
                let below = translator.constant(below as i64);
                let outcome = translator.constant(outcome as i64);
                let arguments = [translator.context, rule, first, below, outcome];
                translator.call_host(host::record as *const () as usize, &arguments, 0);
                translator.jump(segment.next);
            }
            if let Some(each) = segment.around {
                translator.end_loop(each);
                self.digits.pop();
                // After a loop comes the end of a round of the loop around it.
                translator.jump(self.next());
            }
        }
    }

    /// The first instance with the digits of the open loops.
    fn first_instance(&self, translator: &mut Translator<'_, 'm>) -> Value {
        let mut instance = translator.constant(0);
        for (digit, &weight) in self.digits.iter().zip(&self.nest.weights) {
            let digit = translator.number(*digit);
            let weighted = translator.builder.ins().imul_imm_s(digit, weight as i64);
            instance = translator.builder.ins().iadd(instance, weighted);
        }
        instance
    }

    /// Copies the state to the end of the batch.
    fn copy_state(&self, translator: &mut Translator<'_, 'm>, state: &Address) -> Value {
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
        translator.copy(&Address::at(copy), state, translator.layout().size);
        copy
    }

    /// Runs the body and records how it ended.
    fn fire(&self, translator: &mut Translator<'_, 'm>) {
        let rule = self.rule;
        let [failed, excluded] = [(); 2].map(|()| translator.cold_block());
        let [done, record] = [(); 2].map(|()| translator.block());
        let outcome = translator.builder.append_block_param(record, types::I8);
        let guard_exits = translator.exits;
        translator.exits =
            Exits { error: failed, exclude: excluded, leave: done, result: None, room: None };
        translator.enter_locals(&Usage::of(&rule.frame, &rule.parameters, &rule.body));
        translator.statements(&rule.body);
        translator.jump(done);
        let ends =
            [(done, Outcome::Done), (failed, Outcome::Failed), (excluded, Outcome::Excluded)];
        for (block, outcome) in ends {
            translator.enter(block);
            let outcome = translator.builder.ins().iconst(types::I8, outcome as i64);
            translator.jump_with(record, outcome);
        }
        translator.enter(record);
        self.record(translator, outcome);
        translator.jump(self.next());
        translator.exits = guard_exits;
    }

    /// Writes a firing and moves on in the batch.
    fn record(&self, translator: &mut Translator<'_, 'm>, outcome: Value) {
        let context = translator.context;
        let instance = self.first_instance(translator);
        let at = std::mem::offset_of!(Context, next_firing) as i32;
        let firing = translator.builder.ins().load(types::I64, plain(), context, at);
        let number = translator.builder.ins().iconst(types::I32, i64::from(self.number));
        let fields = [
            (number, std::mem::offset_of!(Firing, rule)),
            (instance, std::mem::offset_of!(Firing, instance)),
            (outcome, std::mem::offset_of!(Firing, outcome)),
        ];
        for (value, offset) in fields {
            translator.builder.ins().store(plain(), value, firing, offset as i32);
        }
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
}

impl<'m> Translator<'_, 'm> {
    /// The value with the number `digit` in a domain; if that is a position that is not occupied,
    /// goes on at `unoccupied`.
    pub(super) fn value_of_digit(
        &mut self,
        domain: &'m Domain,
        digit: Operand,
        unoccupied: Block,
    ) -> Operand {
        match domain {
            Domain::Type(ty) => digit.plus(self.model().lowest(*ty), Bounds::of(self.model(), *ty)),
            Domain::Range { from, by, .. } => {
                let (from, by) = (self.operand(from), self.operand(by));
                let (first, step) = (self.number(from), self.number(by));
                let round = self.number(digit);
                let distance = self.builder.ins().imul(round, step);
                Operand::register(self.builder.ins().iadd(first, distance), Bounds::ALL)
            }
            Domain::Multiset(place) => {
                let Rounds::Counted { rounds, .. } = self.occupied_positions(place) else {
                    unreachable!("the size of a multiset is not known before the run");
                };
                let occupied = self.block();
                let position = self.number(digit);
                let is_occupied =
                    self.builder.ins().icmp(IntCC::UnsignedLessThan, position, rounds);
                self.choose(is_occupied, occupied, unoccupied);
                self.enter(occupied);
                digit
            }
        }
    }
}
