//! Calls. A native function takes the state, the context, room for a result with components, and
//! its arguments: for simple ones what their slots would hold, for others and for `var` parameters
//! a pointer. It gives a status (0 done, 1 error, 2 excluded) and a simple result as a slot.
//!
//! Small functions are translated in place. So is a function whose code or other arguments may
//! remove an element that one of its arguments refers to, because only the caller's code knows how
//! to check for that.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{
    Argument, Call, Expression, ExpressionKind, Function, FunctionId, Model, Place, TypeId,
};

use super::memory::{Memory, plain};
use super::operand::Operand;
use super::place::{Address, Binding, Location, Scope};
use super::{Exits, Translated, Translator, Unit, new_function};
use crate::Error;
use crate::facts::Usage;
use crate::host::Context;
use crate::memo::RESULT_BITS;

/// The status of a call that met a run-time error.
pub(crate) const FAILED: i64 = 1;
/// The status of a call in which an `assume` did not hold.
pub(crate) const EXCLUDED: i64 = 2;

/// An argument that has been evaluated.
enum ArgumentValue {
    /// What the slot of a simple parameter holds.
    Slot(Value),
    /// The value of a simple parameter, defined and of its type.
    Value(Operand, TypeId),
    /// Where the parameter is.
    Memory(Address),
}

/// What the context of a recursive function was when it was called.
#[derive(Clone, Copy)]
struct Entered {
    open: Value,
    arena: Value,
}

/// How results of a type leave a function.
#[derive(PartialEq, Eq)]
enum ResultPassing {
    Nothing,
    InSlot,
    InMemory,
}

fn leaving(model: &Model, function: &Function) -> ResultPassing {
    match function.result {
        None => ResultPassing::Nothing,
        Some(ty) if model.simple(ty).is_some() => ResultPassing::InSlot,
        Some(_) => ResultPassing::InMemory,
    }
}

fn signature(model: &Model, isa: &dyn TargetIsa, function: &Function) -> Signature {
    let leaving = leaving(model, function);
    let parameters = 2 + function.parameters + usize::from(leaving == ResultPassing::InMemory);
    let results = 1 + usize::from(leaving == ResultPassing::InSlot);
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.resize(parameters, AbiParam::new(types::I64));
    signature.returns.resize(results, AbiParam::new(types::I64));
    signature
}

/// Translates a function of the model.
pub(crate) fn function(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    id: FunctionId,
) -> Result<Translated, Error> {
    let source = &unit.model.functions[id.0 as usize];
    let mut native = new_function(signature(unit.model, unit.isa, source));
    let facts = unit.knowledge.function(id);
    let memory = match source.is_recursive {
        true => Memory::of_recursive(unit, &facts.calls),
        false => Memory::of_caller(unit, &facts.calls),
    };
    let mut translator = Translator::begin(unit, &mut native, builders, memory);
    // The caller may have removed elements before.
    translator.shrunk = unit.knowledge.has_gaps();
    let state_is_constant = !facts.writes && !facts.writes_parameters;
    translator.whole_function(source, state_is_constant);
    let need = translator.end()?;
    Ok(Translated { function: native, need })
}

impl<'m> Translator<'_, 'm> {
    pub(super) fn result_type(&self, function: FunctionId) -> TypeId {
        let result = self.model().functions[function.0 as usize].result;
        result.expect("a function in an expression has a result")
    }

    fn whole_function(&mut self, function: &'m Function, state_is_constant: bool) {
        let entry = self.builder.current_block().expect("the entry is being filled");
        let given: Vec<Value> = self.builder.block_params(entry)[2..].to_vec();
        let mut given = given.into_iter();
        let leaving = leaving(self.model(), function);
        self.exits.result = function.result;
        self.exits.room = (leaving == ResultPassing::InMemory).then(|| {
            given.next().expect("the signature has a parameter for the room of the result")
        });
        let passed = given.enumerate().map(|(number, value)| {
            let local = &function.frame.locals[number];
            let by_slot = local.storage == murphi::ir::Storage::Own
                && self.unit.model.simple(local.ty).is_some();
            match by_slot {
                true => ArgumentValue::Slot(value),
                false => ArgumentValue::Memory(Address::at(value)),
            }
        });
        let passed = passed.collect();
        let result = (leaving == ResultPassing::InSlot)
            .then(|| self.builder.append_block_param(self.exits.leave, types::I64));
        let entered = function.is_recursive.then(|| self.enter_recursion(result.is_some()));
        self.function_body(function, passed, state_is_constant);
        for (block, status) in [(self.exits.error, FAILED), (self.exits.exclude, EXCLUDED)] {
            self.builder.set_cold_block(block);
            self.enter(block);
            self.leave_recursion(entered);
            self.return_status(status, result.is_some());
        }
        self.enter(self.exits.leave);
        self.leave_recursion(entered);
        let done = self.constant(0);
        let results: Vec<Value> = [Some(done), result].into_iter().flatten().collect();
        self.builder.ins().return_(&results);
    }

    /// At the beginning of a recursive function: counts it, fails if it is one too many, and moves
    /// the arena.
    fn enter_recursion(&mut self, result: bool) -> Entered {
        let open = self.load_context(offset_of!(Context, recursion));
        let limit = self.constant(self.model().call_limit as i64);
        let within = self.builder.ins().icmp(IntCC::UnsignedLessThan, open, limit);
        let (too_many, next) = (self.cold_block(), self.block());
        self.choose(within, next, too_many);
        self.enter(too_many);
        self.return_status(FAILED, result);
        self.enter(next);
        let here = self.builder.ins().get_stack_pointer(types::I64);
        let end = self.load_context(offset_of!(Context, stack_end));
        let within = self.builder.ins().icmp(IntCC::UnsignedLessThan, end, here);
        let (overflow, next) = (self.cold_block(), self.block());
        self.choose(within, next, overflow);
        self.enter(overflow);
        let overflowed = self.constant(1);
        self.store_context(offset_of!(Context, overflowed), overflowed);
        self.return_status(FAILED, result);
        self.enter(next);
        let more = self.builder.ins().iadd_imm_s(open, 1);
        self.store_context(offset_of!(Context, recursion), more);
        let arena = self.load_context(offset_of!(Context, arena));
        let step = self.load_context(offset_of!(Context, arena_step));
        let moved = self.builder.ins().iadd(arena, step);
        self.store_context(offset_of!(Context, arena), moved);
        Entered { open, arena }
    }

    /// At the end of a function: the context is as it was.
    fn leave_recursion(&mut self, entered: Option<Entered>) {
        if let Some(Entered { open, arena }) = entered {
            self.store_context(offset_of!(Context, recursion), open);
            self.store_context(offset_of!(Context, arena), arena);
        }
    }

    pub(super) fn load_context(&mut self, at: usize) -> Value {
        self.builder.ins().load(types::I64, plain(), self.context, at as i32)
    }

    pub(super) fn store_context(&mut self, at: usize, value: Value) {
        self.builder.ins().store(plain(), value, self.context, at as i32);
    }

    fn return_status(&mut self, status: i64, result: bool) {
        let status = self.constant(status);
        let nothing = self.constant(0);
        let results = [status, nothing];
        self.builder.ins().return_(&results[..1 + usize::from(result)]);
    }

    /// Translates the body of a function in a scope of its own, up to a jump out of it.
    fn function_body(
        &mut self,
        function: &'m Function,
        passed: Vec<ArgumentValue>,
        state_is_constant: bool,
    ) {
        let usage = Usage::of(&function.frame, &[], &function.body);
        let scope = Scope::of(&function.frame, state_is_constant);
        let outer = std::mem::replace(&mut self.scope, scope);
        for (number, passed) in passed.into_iter().enumerate() {
            let binding = match passed {
                ArgumentValue::Memory(address) => Binding::Memory(address),
                ArgumentValue::Value(operand, _) => Binding::Value(operand),
                ArgumentValue::Slot(slot) => {
                    let variable = self.builder.declare_var(types::I64);
                    self.builder.def_var(variable, slot);
                    Binding::Variable(variable)
                }
            };
            self.scope.bindings[number] = binding;
        }
        self.enter_locals(&usage);
        self.statements(&function.body);
        match function.result {
            None => self.jump(self.exits.leave),
            Some(_) => self.jump(self.exits.error),
        }
        self.scope = outer;
    }

    /// Calls a function: the slot of a simple result, or a pointer to one with components.
    pub(super) fn call(&mut self, call: &'m Call) -> Option<Value> {
        let function = &self.model().functions[call.function.0 as usize];
        let facts = self.unit.knowledge.function(call.function);
        let room = match leaving(self.model(), function) {
            ResultPassing::InMemory => {
                let ty = self.result_type(call.function);
                let room = self.allocate(self.layout().of_type(ty).size);
                Some(self.full_pointer(&room))
            }
            _ => None,
        };
        let passed = self.arguments(call, function);
        let through_elements = passed.iter().any(|passed| match passed {
            ArgumentValue::Slot(..) | ArgumentValue::Value(..) => false,
            ArgumentValue::Memory(address) => address.has_elements(),
        });
        let shrinks = facts.shrinks || self.arguments_shrink(&call.arguments);
        // A recursive function cannot be translated in place; such arguments are refused before.
        let must_be_in_place = shrinks && through_elements && !facts.is_recursive;
        let in_place = self.unit.knowledge.is_small(call.function) || must_be_in_place;
        self.unchecked |= shrinks && through_elements && facts.is_recursive;
        match in_place {
            true => self.call_in_place(function, passed, room),
            false => {
                let memo = self.unit.memos.of_function(call.function);
                let result = match memo {
                    Some(first) if self.keeps_results && self.scope.state_is_constant => {
                        self.call_once(call.function, function, passed, first)
                    }
                    _ => self.call_native(call.function, function, passed, room),
                };
                self.shrunk |= facts.shrinks;
                result
            }
        }
    }

    fn arguments(&mut self, call: &'m Call, function: &'m Function) -> Vec<ArgumentValue> {
        let mut passed = Vec::with_capacity(call.arguments.len());
        for (number, argument) in call.arguments.iter().enumerate() {
            let ty = function.frame.locals[number].ty;
            passed.push(match argument {
                Argument::Value(value) if self.model().simple(ty).is_some() => {
                    self.simple_argument(value, ty)
                }
                Argument::Value(value) => {
                    let address = self.aggregate(value);
                    let facts = self.unit.knowledge.function(call.function);
                    let constant = !facts.writes
                        && !facts.writes_parameters
                        && !self.later_arguments_write(&call.arguments[number + 1..]);
                    match constant && !address.has_elements() {
                        true => ArgumentValue::Memory(address),
                        false => ArgumentValue::Memory(self.duplicate(&address, value.ty)),
                    }
                }
                Argument::Reference(place) => ArgumentValue::Memory(self.reference(place)),
            });
        }
        passed
    }

    fn simple_argument(&mut self, value: &'m Expression, ty: TypeId) -> ArgumentValue {
        let may_be_undefined = match &value.kind {
            ExpressionKind::Read(place) => !self.is_bound_value(place),
            _ => self.unit.knowledge.may_be_undefined(value),
        };
        match may_be_undefined {
            true => ArgumentValue::Slot(self.slot_value(value, ty, true)),
            false => {
                let operand = self.operand(value);
                ArgumentValue::Value(self.admitted(operand, ty), ty)
            }
        }
    }

    fn arguments_shrink(&self, arguments: &[Argument]) -> bool {
        arguments.iter().any(|argument| {
            let (knowledge, frame) = (self.unit.knowledge, self.scope.frame);
            match argument {
                Argument::Value(value) => knowledge.expression(frame, value).shrinks,
                Argument::Reference(place) => knowledge.place(frame, place).shrinks,
            }
        })
    }

    fn later_arguments_write(&self, arguments: &[Argument]) -> bool {
        arguments.iter().any(|argument| {
            let (knowledge, frame) = (self.unit.knowledge, self.scope.frame);
            match argument {
                Argument::Value(value) => knowledge.expression(frame, value).changes,
                Argument::Reference(place) => knowledge.place(frame, place).changes,
            }
        })
    }

    /// The address of what is passed by reference. Locals that are passed so are in memory.
    fn reference(&mut self, place: &'m Place) -> Address {
        match self.locate(place) {
            Location::Memory(address) => address,
            Location::Variable(_) | Location::Value(_) => self.locate_memory(place),
        }
    }

    fn call_in_place(
        &mut self,
        function: &'m Function,
        passed: Vec<ArgumentValue>,
        room: Option<Value>,
    ) -> Option<Value> {
        let leave = self.block();
        let result = (leaving(self.model(), function) == ResultPassing::InSlot)
            .then(|| self.builder.append_block_param(leave, types::I64));
        let exits = Exits { leave, result: function.result, room, ..self.exits };
        let outer = std::mem::replace(&mut self.exits, exits);
        self.function_body(function, passed, self.scope.state_is_constant);
        self.exits = outer;
        self.enter(leave);
        result.or(room)
    }

    /// Calls a function unless its result is kept from a call with the same arguments in this run.
    /// Results are from entry `first` on.
    fn call_once(
        &mut self,
        id: FunctionId,
        function: &'m Function,
        passed: Vec<ArgumentValue>,
        first: u32,
    ) -> Option<Value> {
        let mut entry = self.constant(0);
        let mut slots = Vec::with_capacity(passed.len());
        for (passed, parameter) in passed.into_iter().zip(&function.frame.locals) {
            let slot = match passed {
                ArgumentValue::Slot(slot) => slot,
                ArgumentValue::Value(operand, ty) => self.slot_of(operand, ty),
                ArgumentValue::Memory(_) => unreachable!("arguments of kept results are simple"),
            };
            let choices = self.model().count(parameter.ty) + 1;
            let before = self.builder.ins().imul_imm_s(entry, choices as i64);
            entry = self.builder.ins().iadd(before, slot);
            slots.push(ArgumentValue::Slot(slot));
        }
        let results = self.load_context(offset_of!(Context, results));
        let distance = self.builder.ins().imul_imm_s(entry, size_of::<u64>() as i64);
        let at = self.builder.ins().iadd(results, distance);
        let offset = size_of::<u64>() as i32 * first as i32;
        let kept = self.builder.ins().load(types::I64, plain(), at, offset);
        let run = self.load_context(offset_of!(Context, run));
        let result = self.builder.ins().bxor(kept, run);
        let (miss, join) = (self.block(), self.block());
        let joined = self.builder.append_block_param(join, types::I64);
        let limit = 1 << RESULT_BITS;
        let hit = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, result, limit);
        let known = self.block();
        self.choose(hit, known, miss);
        self.enter(known);
        self.jump_with(join, result);
        self.enter(miss);
        let result = self.call_native(id, function, slots, None).expect("it has a simple result");
        let kept = self.builder.ins().bor(run, result);
        self.builder.ins().store(plain(), kept, at, offset);
        self.jump_with(join, result);
        self.enter(join);
        Some(joined)
    }

    fn call_native(
        &mut self,
        id: FunctionId,
        function: &'m Function,
        passed: Vec<ArgumentValue>,
        room: Option<Value>,
    ) -> Option<Value> {
        let mut arguments = vec![self.state, self.context];
        arguments.extend(room);
        for passed in passed {
            arguments.push(match passed {
                ArgumentValue::Slot(slot) => slot,
                ArgumentValue::Value(operand, ty) => self.slot_of(operand, ty),
                ArgumentValue::Memory(address) => self.full_pointer(&address),
            });
        }
        let signature = signature(self.model(), self.unit.isa, function);
        let callee = self.native_callee(signature, id.0);
        let call = self.builder.ins().call(callee, &arguments);
        let results = self.builder.inst_results(call).to_vec();
        self.after_call(results[0], self.unit.knowledge.function(id).excludes);
        results.get(1).copied().or(room)
    }

    /// Leaves if a call did not end well.
    fn after_call(&mut self, status: Value, excludes: bool) {
        let next = self.block();
        if !excludes {
            self.choose(status, self.exits.error, next);
        } else {
            let stopped = self.cold_block();
            self.choose(status, stopped, next);
            self.enter(stopped);
            let failed = self.builder.ins().iadd_imm_s(status, -EXCLUDED);
            self.choose(failed, self.exits.error, self.exits.exclude);
        }
        self.enter(next);
    }
}
