//! The guards of some rules, one after the other, as a native function.
//!
//! The parameters of a rule are nested loops. Where the guard holds, the body is called. A run-time
//! error in a parameter or the guard is recorded for all instances that it concerns. Several rules
//! share a function because most guards do not hold, and then entering and leaving a function would
//! cost more than they do.

use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Value, types};
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{Parameter, Rule};
use murphi::machine::Outcome;

use super::body;
use super::domain::{Loop, Rounds};
use super::instances::{InstanceSpace, facts_before_body, place_conjuncts};
use super::memory::Memory;
use super::operand::Operand;
use super::place::Scope;
use super::{Exits, Translated, Translator, Unit, new_function};
use crate::Error;
use crate::host::{self, Context};

/// A rule whose body is a native function.
#[derive(Clone, Copy)]
pub(crate) struct Guarded<'m> {
    /// Its number among rules or start states.
    pub(crate) number: u32,
    pub(crate) rule: &'m Rule,
    /// The number of the native function of its body.
    pub(crate) body: u32,
}

/// Translates the guards of some rules, whose numbers follow each other. The number of the first is a
/// parameter, so that rules have the same code wherever they stand.
pub(crate) fn guards(
    unit: &Unit<'_>,
    builders: &mut FunctionBuilderContext,
    rules: &[Guarded<'_>],
) -> Result<Translated, Error> {
    let mut signature = Signature::new(unit.isa.default_call_conv());
    signature.params.resize(3, AbiParam::new(types::I64));
    let mut native = new_function(signature);
    let mut translator = Translator::begin(unit, &mut native, builders, Memory::of_guards());
    let first = translator.parameter(2);
    let halt = translator.block();
    translator.halt = Some(halt);
    translator.keeps_results = true;
    for (distance, &guarded) in (0..).zip(rules) {
        let instances =
            InstanceSpace::of(unit.model, &guarded.rule.name, &guarded.rule.parameters)?;
        if instances.is_empty() {
            continue;
        }
        let writes = facts_before_body(unit.knowledge, guarded.rule).writes;
        translator.scope = Scope::of(&guarded.rule.frame, !writes);
        let end = translator.block();
        let number = translator.builder.ins().iadd_imm_s(first, distance);
        let (digits, segments) = (Vec::new(), Vec::new());
        let mut instances = GuardedInstances { guarded, number, instances, digits, segments };
        match writes {
            false => instances.look_at_guards(&mut translator, end),
            true => instances.fire_all(&mut translator, end),
        }
        translator.enter(end);
    }
    translator.jump(halt);
    translator.enter(halt);
    translator.builder.ins().return_(&[]);
    let need = translator.end()?;
    Ok(Translated { function: native, need })
}

/// The loops of a rule while they are being translated.
struct GuardedInstances<'m> {
    guarded: Guarded<'m>,
    /// The number of the rule.
    number: Value,
    instances: InstanceSpace,
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

impl<'m> GuardedInstances<'m> {
    fn look_at_guards(&mut self, translator: &mut Translator<'_, 'm>, end: Block) {
        let rule = self.guarded.rule;
        let conjuncts = rule.guard.as_ref().map_or_else(Vec::new, |guard| {
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
        self.call_body(translator);
        self.close(translator);
    }

    /// Leaves guards to the bodies.
    fn fire_all(&mut self, translator: &mut Translator<'_, 'm>, end: Block) {
        self.open_segment(translator, None, end);
        for number in 0..self.instances.radices.len() {
            let each = translator.begin_loop(Rounds::Fixed(self.instances.radices[number]));
            self.open_loop(translator, each);
        }
        self.call_body(translator);
        self.close(translator);
    }

    fn call_body(&self, translator: &mut Translator<'_, 'm>) {
        let signature = body::signature(translator.unit.isa, &self.instances);
        let callee = translator.native_callee(signature, self.guarded.body);
        let mut arguments = vec![translator.state, translator.context, self.number];
        for &digit in &self.digits {
            arguments.push(translator.number(digit));
        }
        translator.builder.ins().call(callee, &arguments);
        if translator.unit.orders.is_some_and(|orders| orders.concern(self.guarded.rule)) {
            let [tried, again] = [(); 2].map(|()| translator.cold_block());
            let looped = translator.load_context(std::mem::offset_of!(Context, looped));
            translator.choose(looped, tried, self.next());
            translator.builder.switch_to_block(tried);
            let context = translator.context;
            let another = host::another_order as *const () as usize;
            let more = translator.call_host(another, &[context], 1).expect("a word is the result");
            translator.choose(more, again, self.next());
            translator.enter(again);
            translator.builder.ins().call(callee, &arguments);
            translator.builder.ins().jump(tried, &[]);
            translator.builder.seal_block(tried);
            return;
        }
        translator.jump(self.next());
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
                let first = translator.instance(&self.instances, &self.digits);
                let below = self.instances.instances_below(self.digits.len());
                translator.record_stopped(self.number, first, below, outcome);
                // Not by the last stage, which only the last conjuncts should lead to.
                translator.builder.ins().jump(segment.next, &[]);
            }
            if let Some(each) = segment.around {
                translator.end_loop(each);
                self.digits.pop();
                // After a loop comes the end of a round of the loop around it.
                translator.jump(self.next());
            }
        }
    }
}
