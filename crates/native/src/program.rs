//! A compiled model: everything that its machines share.

use std::sync::{Arc, Mutex};

use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use murphi::ir::{FunctionId, Model, Place, PropertyKind, Rule, Statement, StatementKind};
use murphi::layout::Layout;

use crate::code::{self, Code, Compiled};
use crate::facts::Knowledge;
use crate::host::Context;
use crate::machine::NativeMachine;
use crate::pack::Packing;
use crate::shape::{self, Limits, Shapes};
use crate::translate::{Translated, Unit, function, property, rule};
use crate::walk::{self, Visitor};
use crate::{Error, pack};

/// Runs all instances of a rule in a state.
pub(crate) type RunRule = unsafe extern "C" fn(state: *const u8, context: *mut Context);
/// Looks for an instance of a property.
pub(crate) type Search = unsafe extern "C" fn(state: *const u8, context: *mut Context) -> i64;

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
    pub(crate) rules: Vec<RunRule>,
    pub(crate) start_states: Vec<RunRule>,
    /// Assumptions, then invariants, then covers, each with its number among all properties.
    pub(crate) properties: Vec<(PropertyKind, u32, Search)>,
    pub(crate) property_count: usize,
    pub(crate) limits: Limits,
    /// Bytes of a state.
    pub(crate) size: usize,
    /// Bytes that a machine needs for large locals.
    pub(crate) arena: usize,
    packing: Packing,
}

/// What one native function is made from.
#[derive(Clone, Copy)]
enum Job<'m> {
    Function(usize),
    Rule(u32, &'m Rule),
    Property(u32),
}

impl Program {
    /// Compiles a model.
    pub fn compile(model: &Model, layout: &Layout) -> Result<Arc<Program>, Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::Host("big-endian".to_owned()));
        }
        let isa = code::host()?;
        let knowledge = Knowledge::of(model);
        let shapes = Box::new(Shapes::of(model, layout));
        let cleared = cleared_values(model, layout);
        let unit = Unit {
            model,
            layout,
            knowledge: &knowledge,
            shapes: &*shapes,
            cleared: &cleared,
            isa: &*isa,
            arena_ends: Vec::new(),
        };
        let jobs = jobs(model);
        let (compiled, arena) = compile_all(unit, &*isa, &jobs)?;
        let (code, entries) = Code::new(isa, &compiled)?;

        let mut program = Program {
            _code: code,
            _shapes: shapes,
            _cleared: cleared,
            rules: Vec::new(),
            start_states: Vec::new(),
            properties: Vec::new(),
            property_count: model.properties.len(),
            limits: Limits::of(model, layout),
            size: layout.size as usize,
            arena,
            packing: pack::Packing::of(model, layout),
        };
        program.take_entries(model, &jobs, &entries);
        Ok(Arc::new(program))
    }

    fn take_entries(&mut self, model: &Model, jobs: &[Job<'_>], entries: &[*const u8]) {
        for (job, &entry) in jobs.iter().zip(entries) {
            match job {
                Job::Function(_) => {}
                Job::Rule(..) => {
                    // SAFETY: rules and start states are translated with this signature.
                    let run = unsafe { std::mem::transmute::<*const u8, RunRule>(entry) };
                    match self.rules.len() < model.rules.len() {
                        true => self.rules.push(run),
                        false => self.start_states.push(run),
                    }
                }
                Job::Property(number) => {
                    // SAFETY: properties are translated with this signature.
                    let search = unsafe { std::mem::transmute::<*const u8, Search>(entry) };
                    let kind = model.properties[*number as usize].kind;
                    self.properties.push((kind, *number, search));
                }
            }
        }
        self.properties.sort_by_key(|(kind, number, _)| (order(*kind), *number));
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

    /// Packs a state.
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

/// Functions come first, because calls name them by their position.
fn jobs(model: &Model) -> Vec<Job<'_>> {
    let functions = (0..model.functions.len()).map(Job::Function);
    let rules = (0..).zip(&model.rules).map(|(number, rule)| Job::Rule(number, rule));
    let starts = (0..).zip(&model.start_states).map(|(number, rule)| Job::Rule(number, rule));
    let checked = (0..).zip(&model.properties);
    let checked = checked.filter(|(_, property)| property.kind != PropertyKind::Liveness);
    let properties = checked.map(|(number, _)| Job::Property(number));
    functions.chain(rules).chain(starts).chain(properties).collect()
}

fn order(kind: PropertyKind) -> u32 {
    match kind {
        PropertyKind::Assumption => 0,
        PropertyKind::Invariant => 1,
        PropertyKind::Cover => 2,
        PropertyKind::Liveness => 3,
    }
}

/// Translates and compiles everything; also gives the size of the arena.
fn compile_all(
    mut unit: Unit<'_>,
    isa: &dyn TargetIsa,
    jobs: &[Job<'_>],
) -> Result<(Vec<Compiled>, usize), Error> {
    let mut builders = FunctionBuilderContext::new();
    let mut functions = Vec::new();
    for number in 0..unit.model.functions.len() {
        let translated = function(&unit, &mut builders, FunctionId(number as u32))?;
        unit.arena_ends.push(translated.arena_end);
        functions.push(Mutex::new(Some(translated)));
    }
    let unit = &unit;
    let results = code::in_parallel(jobs.len(), |number| {
        let Translated { function, arena_end } = match jobs[number] {
            Job::Function(number) => {
                let mut slot = functions[number].lock().expect("no other work uses it");
                slot.take().expect("each function is compiled once")
            }
            Job::Rule(number, source) => {
                rule(unit, &mut FunctionBuilderContext::new(), number, source)?
            }
            Job::Property(number) => {
                let source = &unit.model.properties[number as usize];
                let wanted = source.kind == PropertyKind::Cover;
                property(unit, &mut FunctionBuilderContext::new(), source, wanted)?
            }
        };
        Ok((code::compile(isa, number, function)?, arena_end))
    })?;
    let arena = results.iter().map(|(_, end)| *end).max().unwrap_or(0);
    Ok((results.into_iter().map(|(compiled, _)| compiled).collect(), arena as usize))
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
