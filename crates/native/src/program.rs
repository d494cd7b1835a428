//! A compiled model: everything that its machines share.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};

use cranelift_frontend::FunctionBuilderContext;
use murphi::goal::Goals;
use murphi::ir::{
    FunctionId, Model, Place, Property, PropertyKind, Rule, Statement, StatementKind,
};
use murphi::layout::{Layout, TypeLayout};
use murphi::machine::{Codec, Step};
use murphi::priority::Priorities;

use crate::Error;
use crate::cache::CodeCache;
use crate::code::{self, Code, Compiled, FunctionCompiler, Host};
use crate::facts::Knowledge;
use crate::host::{Constants, Context};
use crate::machine::NativeMachine;
use crate::memo::Memos;
use crate::orders::Orders;
use crate::pack::Packing;
use crate::shape::{self, Limits, Shapes};
use crate::translate::{
    GREATEST_ARENA, Guarded, Translated, Unit, body, function, guards, properties,
};
use murphi::walk::{self, Visitor};
use rustc_hash::FxBuildHasher;

/// Runs all instances of some rules in a state, given the number of the first rule.
pub(crate) type RunRules =
    unsafe extern "C" fn(state: *const u8, context: *mut Context, first: u64);
/// Looks at some properties of a state, given the number of the first.
pub(crate) type EvaluateProperties =
    unsafe extern "C" fn(state: *const u8, context: *mut Context, first: u64) -> i64;

/// A native function for some rules or properties.
#[derive(Clone, Copy)]
pub(crate) struct Entry<F> {
    pub(crate) call: F,
    /// The number of the first rule or property.
    pub(crate) first: u64,
}

/// How a program is compiled, where that makes no difference to what its machines do.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether the code says which lines of a state each rule writes.
    pub tracks: bool,
    /// Whether all functions are compiled in one pass, not only large ones.
    pub in_one_pass: bool,
}

impl Manner {
    /// That a rule says what it writes costs a few instructions a write, and saves looking for what
    /// differs.
    const USUAL: Manner = Manner { tracks: true, in_one_pass: false };
}

/// About how large the native functions are that guards or properties share, in nodes of the model.
const SHARED_SIZE: u32 = 400;

/// A model as machine code.
///
/// Made once, used by any number of [`NativeMachine`]s.
pub struct Program {
    /// Keeps what the entries point to.
    _code: Code,
    /// Used by the code.
    shapes: Box<Shapes>,
    /// What [`Program::cleared_at`] points to.
    _cleared: Vec<Vec<u8>>,
    /// For each type, the address of its cleared value. Used by the code.
    cleared_at: Vec<usize>,
    /// All rules, in order.
    pub(crate) rules: Vec<Entry<RunRules>>,
    /// All start states, in order.
    pub(crate) start_states: Vec<Entry<RunRules>>,
    /// Assumptions, then invariants, then covers.
    pub(crate) properties: Vec<Entry<EvaluateProperties>>,
    /// Properties and `cover` statements.
    pub(crate) cover_count: usize,
    /// Liveness properties, each with values for its parameters, as covers that are counted after
    /// all others.
    pub(crate) goals: Vec<Entry<EvaluateProperties>>,
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
    /// How many results of functions a machine keeps.
    pub(crate) results: usize,
    /// Whether there are functions that call themselves.
    pub(crate) is_recursive: bool,
    /// Whether the code says which lines of a state it writes.
    tracks: bool,
    pub(crate) priorities: Option<Priorities>,
    /// The orders of loops that can be tried. Used by the code.
    orders: Option<Box<Orders>>,
    packing: Packing,
}

/// What one native function is made from.
enum Job<'m> {
    Function(FunctionId),
    Body(&'m Rule),
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
        Program::compile_unless(model, layout, None, &|| false)
    }

    /// Compiles a model, unless `stop` says before it is done that it is no longer wanted: then
    /// the answer is [`Error::Stopped`]. It is asked between native functions, by any thread.
    /// Functions that are in the cache, if there is one, are not compiled again.
    ///
    /// # Panics
    ///
    /// If `layout` is not that of `model`.
    pub fn compile_unless(
        model: &Model,
        layout: &Layout,
        cache: Option<&CodeCache>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<Program>, Error> {
        Program::compile_for(model, layout, cache, Manner::USUAL, stop)
    }

    /// Compiles a model in any manner. For tests of that: the code must do the same.
    #[doc(hidden)]
    pub fn compile_in_manner(
        model: &Model,
        layout: &Layout,
        manner: Manner,
    ) -> Result<Arc<Program>, Error> {
        Program::compile_for(model, layout, None, manner, &|| false)
    }

    fn compile_for(
        model: &Model,
        layout: &Layout,
        cache: Option<&CodeCache>,
        manner: Manner,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<Program>, Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::Host("big-endian".to_owned()));
        }
        // The code trusts it with its life, so it is not taken on trust.
        assert!(is_layout_of(model, layout), "the layout of another model");
        let host = match manner.in_one_pass {
            false => Host::new()?,
            true => Host::new()?.in_one_pass(),
        };
        let knowledge = Knowledge::of(model);
        let shapes = Box::new(Shapes::of(model, layout));
        let cleared = cleared_values(model, layout);
        let orders = Orders::of(model).map(Box::new);
        // Where a function of a cache finds its results would depend on the functions before it.
        let memos = match cache {
            Some(_) => Memos::default(),
            None => Memos::of(model, &knowledge),
        };
        let unit = Unit {
            model,
            layout,
            knowledge: &knowledge,
            isa: &*host.isa,
            tracks: manner.tracks,
            memos: &memos,
            orders: orders.as_deref(),
            needs: Vec::new(),
        };
        let goals = Goals::of(model).unwrap_or_default().covers(model);
        let cover_count = model.properties.len() + model.covers.len();
        let grouping = if cache.is_some() { Grouping::ByName } else { Grouping::BySize };
        let mut jobs = jobs(model, &knowledge, grouping);
        let numbered = (cover_count as u32..).zip(&goals).collect();
        jobs.extend(shared_properties(numbered, &knowledge, grouping).into_iter().map(Job::Goals));
        let compiled = compile_all(unit, &host, cache, &jobs, stop)?;
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
        let (code, entries) = Code::new(host, &compiled)?;

        let mut program = Program {
            _code: code,
            shapes,
            cleared_at: cleared.iter().map(|value| value.as_ptr() as usize).collect(),
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
            results: memos.entries(),
            is_recursive,
            tracks: manner.tracks,
            priorities: Priorities::of(model),
            orders,
            packing: Packing::of(model, layout),
        };
        program.take_entries(&jobs, &entries);
        Ok(Arc::new(program))
    }

    fn take_entries(&mut self, jobs: &[Job<'_>], entries: &[*const u8]) {
        for (job, &entry) in jobs.iter().zip(entries) {
            match job {
                Job::Function(_) | Job::Body(_) => {}
                Job::Rules(rules) | Job::StartStates(rules) => {
                    let entries = match job {
                        Job::Rules(_) => &mut self.rules,
                        _ => &mut self.start_states,
                    };
                    let first = rules.first().map_or(0, |guarded| u64::from(guarded.number));
                    // SAFETY: guards are translated with this signature.
                    let call = unsafe { std::mem::transmute::<*const u8, RunRules>(entry) };
                    entries.push(Entry { call, first });
                }
                Job::Properties(parts) | Job::Goals(parts) => {
                    let first = parts.first().map_or(0, |(number, _)| u64::from(*number));
                    // SAFETY: properties are translated with this signature.
                    let call =
                        unsafe { std::mem::transmute::<*const u8, EvaluateProperties>(entry) };
                    let entries = match job {
                        Job::Goals(_) => &mut self.goals,
                        _ => &mut self.properties,
                    };
                    entries.push(Entry { call, first });
                }
            }
        }
    }

    /// What the code finds in every context.
    pub(crate) fn constants(&self) -> Constants {
        Constants {
            arena_step: self.arena_step as u64,
            shapes: &raw const *self.shapes,
            cleared: self.cleared_at.as_ptr(),
            orders: self.orders.as_deref().map_or(std::ptr::null(), std::ptr::from_ref),
            tracks: self.tracks,
        }
    }

    /// A machine that runs the model; one for each thread.
    pub fn machine(self: &Arc<Self>) -> NativeMachine {
        NativeMachine::new(Arc::clone(self))
    }

    /// Whether there are loops that a machine can [try](NativeMachine::try_orders) in all orders.
    pub fn has_tried_loops(&self) -> bool {
        self.orders.is_some()
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

    #[inline(always)]
    fn pack_step(&self, step: &Step<'_>, packed: &mut [u8]) -> bool {
        self.packing.pack_step(step, packed)
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
fn jobs<'m>(model: &'m Model, knowledge: &Knowledge, grouping: Grouping) -> Vec<Job<'m>> {
    let functions = (0..model.functions.len() as u32).map(|id| Job::Function(FunctionId(id)));
    let mut jobs: Vec<Job<'m>> = functions.collect();
    let mut guarded = |rules: &'m [Rule]| -> Vec<Guarded<'m>> {
        let numbered = (0..).zip(rules).map(|(number, rule)| {
            let body = jobs.len() as u32;
            jobs.push(Job::Body(rule));
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
    let shared_guards =
        |rules| shared(rules, size_of_guard, |guarded| grouping.ends_with(&guarded.rule.name));
    jobs.extend(shared_guards(rules).into_iter().map(Job::Rules));
    jobs.extend(shared_guards(start_states).into_iter().map(Job::StartStates));
    let kinds = [PropertyKind::Assumption, PropertyKind::Invariant, PropertyKind::Cover];
    let properties = kinds.into_iter().flat_map(|kind| {
        (0..).zip(&model.properties).filter(move |(_, property)| property.kind == kind)
    });
    let properties = shared_properties(properties.collect(), knowledge, grouping);
    jobs.extend(properties.into_iter().map(Job::Properties));
    jobs
}

/// Properties, put together by their sizes.
fn shared_properties<'m>(
    properties: Vec<(u32, &'m Property)>,
    knowledge: &Knowledge,
    grouping: Grouping,
) -> Vec<Vec<(u32, &'m Property)>> {
    let size = |(_, property): &(u32, &Property)| {
        knowledge.expression(&property.frame, &property.condition).size
    };
    shared(properties, size, |(_, property)| grouping.ends_with(&property.name))
}

/// Where one native function for several guards or properties ends and the next begins.
#[derive(Clone, Copy)]
enum Grouping {
    /// As few functions as possible.
    BySize,
    /// Also behind every rule or property whose name says so. Then one that is new, has changed or is
    /// missing changes its own group only, and the others are found in a cache.
    ByName,
}

/// Of how many names one ends a group, about.
const NAMES_IN_A_GROUP: u64 = 4;

impl Grouping {
    fn ends_with(self, name: &str) -> bool {
        match self {
            Grouping::BySize => false,
            Grouping::ByName => FxBuildHasher.hash_one(name) >> 32 & (NAMES_IN_A_GROUP - 1) == 0,
        }
    }
}

/// Puts neighbours together until they have about [`SHARED_SIZE`], or one ends its group.
fn shared<T>(parts: Vec<T>, size: impl Fn(&T) -> u32, ends: impl Fn(&T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for part in parts {
        let (size, ends) = (size(&part), ends(&part));
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
        if ends {
            room = 0;
        }
    }
    groups
}

/// Translates and compiles everything; with each function, the end of the arena that it uses.
fn compile_all(
    mut unit: Unit<'_>,
    host: &Host,
    cache: Option<&CodeCache>,
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
    code::in_parallel(jobs.len(), FunctionCompiler::new, |workshop, number| {
        if stop() {
            return Err(Error::Stopped);
        }
        let builders = &mut workshop.builders;
        let Translated { function, need } = match &jobs[number] {
            Job::Function(id) => {
                let mut slot = functions[id.0 as usize].lock().expect("no other work uses it");
                slot.take().expect("each function is compiled once")
            }
            Job::Body(rule) => body(unit, builders, rule)?,
            Job::Rules(rules) | Job::StartStates(rules) => guards(unit, builders, rules)?,
            Job::Properties(parts) | Job::Goals(parts) => properties(unit, builders, parts)?,
        };
        Ok((workshop.compile(host, cache, number, function)?, need.arena_end))
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
