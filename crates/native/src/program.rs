//! A compiled model: everything that its machines share.

use std::sync::{Arc, Mutex};

use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use murphi::goal::Goals;
use murphi::ir::{
    FunctionId, Model, Place, Property, PropertyKind, Rule, Statement, StatementKind,
};
use murphi::layout::{Layout, TypeLayout};
use murphi::machine::Codec;
use murphi::priority::Priorities;

use crate::Error;
use crate::code::{self, Code, Compiled};
use crate::facts::Knowledge;
use crate::host::Context;
use crate::machine::NativeMachine;
use crate::pack::Packing;
use crate::shape::{self, Limits, Shapes};
use crate::translate::{
    GREATEST_ARENA, Guarded, Translated, Unit, body, function, guards, properties,
};
use murphi::walk::{self, Visitor};

/// Runs all instances of some rules in a state.
pub(crate) type RunRules = unsafe extern "C" fn(state: *const u8, context: *mut Context);
/// Looks at some properties of a state.
pub(crate) type LookAt = unsafe extern "C" fn(state: *const u8, context: *mut Context) -> i64;

/// About how large the native functions are that guards or properties share, in nodes of the model.
const SHARED_SIZE: u32 = 400;

/// A model as machine code.
///
/// Made once, used by any number of [`NativeMachine`]s.
pub struct Program {
    /// Keeps what the entries point to.
    _code: Code,
    /// Used by the code.
    _shapes: Box<Shapes>,
    /// Used by the code.
    _cleared: Vec<Vec<u8>>,
    /// All rules, in order.
    pub(crate) rules: Vec<RunRules>,
    /// All start states, in order.
    pub(crate) start_states: Vec<RunRules>,
    /// Assumptions, then invariants, then covers.
    pub(crate) properties: Vec<LookAt>,
    /// Properties and `cover` statements.
    pub(crate) cover_count: usize,
    /// Liveness properties, each with values for its parameters, as covers that are counted after
    /// all others.
    pub(crate) goals: Vec<LookAt>,
    pub(crate) goal_count: usize,
    pub(crate) limits: Limits,
    /// Bytes of a state.
    pub(crate) size: usize,
    /// Bytes that a machine needs for large locals.
    pub(crate) arena: usize,
    /// Bytes that a machine needs for large values in guards.
    pub(crate) guard_arena: usize,
    /// How far the arena of a recursive function is from that of its caller.
    pub(crate) arena_step: usize,
    /// Whether there are functions that call themselves.
    pub(crate) is_recursive: bool,
    pub(crate) priorities: Option<Priorities>,
    packing: Packing,
}

/// What one native function is made from.
enum Job<'m> {
    Function(FunctionId),
    Body(u32, &'m Rule),
    Rules(Vec<Guarded<'m>>),
    StartStates(Vec<Guarded<'m>>),
    Properties(Vec<(u32, &'m Property)>),
    Goals(Vec<(u32, &'m Property)>),
}

impl Program {
    /// Compiles a model.
    ///
    /// # Panics
    ///
    /// If `layout` is not that of `model`.
    pub fn compile(model: &Model, layout: &Layout) -> Result<Arc<Program>, Error> {
        Program::compile_unless(model, layout, &|| false)
    }

    /// Compiles a model, unless `stop` says before it is done that it is no longer wanted: then
    /// the answer is [`Error::Stopped`]. It is asked between native functions, by any thread.
    ///
    /// # Panics
    ///
    /// If `layout` is not that of `model`.
    pub fn compile_unless(
        model: &Model,
        layout: &Layout,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<Program>, Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::Host("big-endian".to_owned()));
        }
        // The code trusts it with its life, so it is not taken on trust.
        assert!(is_layout_of(model, layout), "the layout of another model");
        let isa = code::host()?;
        let knowledge = Knowledge::of(model);
        let shapes = Box::new(Shapes::of(model, layout));
        let cleared = cleared_values(model, layout);
        let unit = Unit {
            model,
            layout,
            knowledge: &knowledge,
            shapes: &raw const *shapes as usize,
            cleared: &cleared,
            isa: &*isa,
            needs: Vec::new(),
        };
        let goals = Goals::of(model).unwrap_or_default().covers(model);
        let cover_count = model.properties.len() + model.covers.len();
        let mut jobs = jobs(model, &knowledge);
        let numbered = (cover_count as u32..).zip(&goals).collect();
        jobs.extend(shared_properties(numbered, &knowledge).into_iter().map(Job::Goals));
        let compiled = compile_all(unit, &*isa, &jobs, stop)?;
        let (mut arena, mut guard_arena) = (0, 0);
        for (job, (_, end)) in jobs.iter().zip(&compiled) {
            let arena = match job {
                Job::Rules(_) | Job::StartStates(_) => &mut guard_arena,
                _ => &mut arena,
            };
            *arena = (*arena).max(*end as usize);
        }
        let compiled: Vec<Compiled> = compiled.into_iter().map(|(compiled, _)| compiled).collect();
        let arena_step = arena.next_multiple_of(16);
        let is_recursive = model.functions.iter().any(|function| function.is_recursive);
        let arenas = if is_recursive { model.call_limit.saturating_add(1) } else { 1 };
        let arena = (arena_step as u64).saturating_mul(arenas);
        if arena > GREATEST_ARENA {
            return Err(Error::TooLarge);
        }
        let (code, entries) = Code::new(isa, &compiled)?;

        let mut program = Program {
            _code: code,
            _shapes: shapes,
            _cleared: cleared,
            rules: Vec::new(),
            start_states: Vec::new(),
            properties: Vec::new(),
            cover_count,
            goals: Vec::new(),
            goal_count: goals.len(),
            limits: Limits::of(model, layout),
            size: layout.size as usize,
            arena: arena as usize,
            guard_arena,
            arena_step,
            is_recursive,
            priorities: Priorities::of(model),
            packing: Packing::of(model, layout),
        };
        program.take_entries(&jobs, &entries);
        Ok(Arc::new(program))
    }

    fn take_entries(&mut self, jobs: &[Job<'_>], entries: &[*const u8]) {
        for (job, &entry) in jobs.iter().zip(entries) {
            match job {
                Job::Function(_) | Job::Body(..) => {}
                Job::Rules(_) => {
                    // SAFETY: guards are translated with this signature.
                    let run = unsafe { std::mem::transmute::<*const u8, RunRules>(entry) };
                    self.rules.push(run);
                }
                Job::StartStates(_) => {
                    // SAFETY: guards are translated with this signature.
                    let run = unsafe { std::mem::transmute::<*const u8, RunRules>(entry) };
                    self.start_states.push(run);
                }
                Job::Properties(_) | Job::Goals(_) => {
                    // SAFETY: properties are translated with this signature.
                    let look = unsafe { std::mem::transmute::<*const u8, LookAt>(entry) };
                    match job {
                        Job::Goals(_) => self.goals.push(look),
                        _ => self.properties.push(look),
                    }
                }
            }
        }
    }

    /// A machine that runs the model; one for each thread.
    pub fn machine(self: &Arc<Self>) -> NativeMachine {
        NativeMachine::new(Arc::clone(self))
    }

    /// Bytes of an unpacked state.
    pub fn state_size(&self) -> usize {
        self.size
    }

    /// Bytes of a packed state.
    pub fn packed_size(&self) -> usize {
        self.packing.size()
    }

    /// Packs a state: its slots in the order of the layout, each as many bits as its numbers need,
    /// least significant first.
    ///
    /// # Panics
    ///
    /// If `state` or `out` does not have the size of an unpacked or a packed state.
    #[inline]
    pub fn pack(&self, state: &[u8], out: &mut [u8]) {
        self.packing.pack(state, out);
    }

    /// Reverses [`Program::pack`].
    ///
    /// # Panics
    ///
    /// If `packed` or `state` does not have the size of a packed or an unpacked state.
    #[inline]
    pub fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        self.packing.unpack(packed, state);
    }
}

impl Codec for Program {
    fn packed_size(&self) -> usize {
        Program::packed_size(self)
    }

    #[inline(always)]
    fn pack(&self, state: &[u8], packed: &mut [u8]) {
        Program::pack(self, state, packed);
    }

    #[inline(always)]
    fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        Program::unpack(self, packed, state);
    }
}

fn is_layout_of(model: &Model, layout: &Layout) -> bool {
    let Ok(expected) = Layout::of(model) else {
        return false;
    };
    let parts = |ty: &TypeLayout| (ty.size, ty.align, ty.stride, ty.length, ty.elements);
    let same = |(one, other): (&TypeLayout, &TypeLayout)| {
        parts(one) == parts(other)
            && one.fields == other.fields
            && one.count_width == other.count_width
            && one.marks == other.marks
    };
    expected.types.len() == layout.types.len()
        && expected.globals == layout.globals
        && expected.size == layout.size
        && expected.types.iter().zip(&layout.types).all(same)
}

/// All native functions. Calls name functions and bodies by their position, so these come first.
fn jobs<'m>(model: &'m Model, knowledge: &Knowledge) -> Vec<Job<'m>> {
    let functions = (0..model.functions.len() as u32).map(|id| Job::Function(FunctionId(id)));
    let mut jobs: Vec<Job<'m>> = functions.collect();
    let mut guarded = |rules: &'m [Rule]| -> Vec<Guarded<'m>> {
        let numbered = (0..).zip(rules).map(|(number, rule)| {
            let body = jobs.len() as u32;
            jobs.push(Job::Body(number, rule));
            Guarded { number, rule, body }
        });
        numbered.collect()
    };
    let (rules, start_states) = (guarded(&model.rules), guarded(&model.start_states));
    let size_of_guard = |guarded: &Guarded<'_>| {
        let rule = guarded.rule;
        let guard = rule.guard.as_ref();
        let guard = guard.map(|guard| knowledge.expression(&rule.frame, guard).size);
        knowledge.parameters(&rule.frame, &rule.parameters).size + guard.unwrap_or(0) + 1
    };
    jobs.extend(shared(rules, size_of_guard).into_iter().map(Job::Rules));
    jobs.extend(shared(start_states, size_of_guard).into_iter().map(Job::StartStates));
    let kinds = [PropertyKind::Assumption, PropertyKind::Invariant, PropertyKind::Cover];
    let properties = kinds.into_iter().flat_map(|kind| {
        (0..).zip(&model.properties).filter(move |(_, property)| property.kind == kind)
    });
    let properties = shared_properties(properties.collect(), knowledge);
    jobs.extend(properties.into_iter().map(Job::Properties));
    jobs
}

/// Properties, put together by their sizes.
fn shared_properties<'m>(
    properties: Vec<(u32, &'m Property)>,
    knowledge: &Knowledge,
) -> Vec<Vec<(u32, &'m Property)>> {
    shared(properties, |(_, property)| {
        knowledge.expression(&property.frame, &property.condition).size
    })
}

/// Puts neighbours together until they have about [`SHARED_SIZE`].
fn shared<T>(parts: Vec<T>, size: impl Fn(&T) -> u32) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for part in parts {
        let size = size(&part);
        match groups.last_mut() {
            Some(group) if size <= room => {
                group.push(part);
                room -= size;
            }
            _ => {
                groups.push(vec![part]);
                room = SHARED_SIZE.saturating_sub(size);
            }
        }
    }
    groups
}

/// Translates and compiles everything; with each function, the end of the arena that it uses.
fn compile_all(
    mut unit: Unit<'_>,
    isa: &dyn TargetIsa,
    jobs: &[Job<'_>],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<(Compiled, u64)>, Error> {
    let mut builders = FunctionBuilderContext::new();
    let mut functions = Vec::new();
    for number in 0..unit.model.functions.len() {
        let translated = function(&unit, &mut builders, FunctionId(number as u32))?;
        unit.needs.push(translated.need);
        functions.push(Mutex::new(Some(translated)));
    }
    let unit = &unit;
    code::in_parallel(jobs.len(), |number| {
        if stop() {
            return Err(Error::Stopped);
        }
        let builders = &mut FunctionBuilderContext::new();
        let Translated { function, need } = match &jobs[number] {
            Job::Function(id) => {
                let mut slot = functions[id.0 as usize].lock().expect("no other work uses it");
                slot.take().expect("each function is compiled once")
            }
            Job::Body(number, rule) => body(unit, builders, *number, rule)?,
            Job::Rules(rules) | Job::StartStates(rules) => guards(unit, builders, rules)?,
            Job::Properties(parts) | Job::Goals(parts) => properties(unit, builders, parts)?,
        };
        Ok((code::compile(isa, number, function)?, need.arena_end))
    })
}

/// For each type that something clears, what that makes of it.
fn cleared_values(model: &Model, layout: &Layout) -> Vec<Vec<u8>> {
    struct Cleared<'m>(&'m Model, &'m Layout, Vec<Vec<u8>>);
    impl Cleared<'_> {
        fn add(&mut self, place: &Place) {
            let image = &mut self.2[place.ty.0 as usize];
            if image.is_empty() {
                *image = shape::cleared(self.0, self.1, place.ty);
            }
        }
    }
    impl Visitor for Cleared<'_> {
        fn statement(&mut self, statement: &Statement) {
            if let StatementKind::Clear(place) = &statement.kind {
                self.add(place);
            }
        }
    }
    let mut cleared = Cleared(model, layout, vec![Vec::new(); model.types.len()]);
    let rules = model.rules.iter().chain(&model.start_states).map(|rule| &rule.body);
    let functions = model.functions.iter().map(|function| &function.body);
    for body in rules.chain(functions) {
        walk::statements(body, &mut cleared);
    }
    cleared.2
}
