//! A protocol that writes its memory events down: what is walked at random to record traces.
//!
//! The procedures that mark events append to a small array in the state, which whoever runs the
//! protocol reads and empties after every step. So several events of one step are known, in their
//! order. The array has room for as many as a step can have, by the source.
//!
//! If the protocol treats data as cargo (see `independence`), every store can have a value of its
//! own. The type of values becomes as large as asked for, and a parameter of a rule that lets a
//! value in no longer goes through all of them: it takes what a hidden variable holds, which
//! whoever runs the protocol fills with a fresh value before every step. A parameter that only
//! names a value which is somewhere (`cache[p].data = v`) stays. Start states begin with the lowest
//! value. Where independence is not established, values and parameters stay as they are.

use std::sync::Arc;

use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::ir::{
    AliasTarget, Base, Binder, Call, Domain, Expression, ExpressionKind, FunctionId, GlobalId,
    LocalId, Model, Operator, Parameter, Place, Rule, Statement, StatementKind, Storage, TypeId,
    TypeKind, Variable,
};
use murphi::layout::Layout;
use murphi::print::print;
use murphi::source::{Source, Span};
use murphi::value::render_simple;

use crate::compose::{Observer, compose_with_claims};
use crate::events::{self, EventNames, Marker, Protocol};
use crate::failure::Failure;
use crate::independence::{self, is_local};
use crate::trace::{thread, value_type};

mod roles;

pub use roles::Role;

/// The most events of one step that are recorded.
const MOST_EVENTS: u64 = 1024;

/// How a protocol is to be recorded.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// How the protocol is read.
    pub language: check::Options,
    /// What the procedures that mark loads and stores are called.
    pub events: EventNames,
    /// How many values there should be, so that every store can have its own.
    pub values: u64,
    /// Whether there are to be that many also where data independence is not established.
    pub insist: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        RecordOptions {
            language: check::Options::default(),
            events: EventNames::default(),
            values: 256,
            insist: false,
        }
    }
}

/// A protocol that writes its memory events down.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The composed model. Spans point into its own text.
    pub interpreter: Interpreter,
    /// The processors: what the protocol calls each, and its number as a thread.
    pub processors: Vec<(String, u64)>,
    /// What the protocol calls each address.
    pub addresses: Vec<String>,
    /// How many values there are.
    pub values: u64,
    /// Whether values enter fresh, by [`Recording::offer`], the first ones being the value 0.
    pub fresh: bool,
    /// Whether causality and data independence are evident from the source.
    pub independent: bool,
    /// Whether the protocol marks where stores begin to count.
    pub commits: bool,
    /// What could not be established about the protocol from its source, and other warnings.
    pub warnings: Vec<Diagnostic>,
    recorded: Slot,
    /// The events, one after the other: the bytes of all, and the parts of each.
    first: usize,
    length: usize,
    stride: usize,
    parts: [Slot; 4],
    /// Where fresh values go.
    offered: Vec<Slot>,
    /// How many of these each rule takes.
    taken: Vec<usize>,
    /// Where the protocol keeps values.
    data: Vec<Slot>,
    processor: TypeId,
    address: TypeId,
    value: TypeId,
}

/// What a processor did to memory, by numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedEvent {
    /// What it was.
    pub kind: EventKind,
    /// Which of [`Recording::processors`].
    pub processor: u32,
    /// Which of [`Recording::addresses`].
    pub address: u32,
    /// Which value.
    pub value: u64,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A processor took a value.
    Load,
    /// A processor wrote a value.
    Store,
    /// A store took its place in the order of its address.
    Commit,
}

/// A number in a state: 0 if undefined, else one more than it is.
#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: usize,
    width: usize,
}

impl Slot {
    fn get(self, state: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..self.width].copy_from_slice(&state[self.offset..self.offset + self.width]);
        u64::from_le_bytes(bytes)
    }

    fn put(self, state: &mut [u8], number: u64) {
        let bytes = number.to_le_bytes();
        state[self.offset..self.offset + self.width].copy_from_slice(&bytes[..self.width]);
    }

    fn moved(self, by: usize) -> Slot {
        Slot { offset: self.offset + by, ..self }
    }
}

impl Recording {
    /// Whether the step that led to a state had memory events.
    pub fn has_events(&self, state: &[u8]) -> bool {
        self.recorded.get(state) > 1
    }

    /// The events of the step that led to a state, in their order.
    pub fn read_events(&self, state: &[u8], events: &mut Vec<RecordedEvent>) {
        let count = self.recorded.get(state).saturating_sub(1) as usize;
        for number in 0..count {
            let [kind, processor, address, value] =
                self.parts.map(|part| part.moved(number * self.stride).get(state));
            let kind = match kind {
                1 => EventKind::Load,
                2 => EventKind::Store,
                _ => EventKind::Commit,
            };
            let (processor, address) = ((processor - 1) as u32, (address - 1) as u32);
            events.push(RecordedEvent { kind, processor, address, value: value - 1 });
        }
    }

    /// Takes the events of the step that led to a state out of it, in their order.
    pub fn take_events(&self, state: &mut [u8], events: &mut Vec<RecordedEvent>) {
        self.read_events(state, events);
        self.forget_events(state);
    }

    /// Empties the array of events.
    pub fn forget_events(&self, state: &mut [u8]) {
        if self.has_events(state) {
            self.recorded.put(state, 1);
            state[self.first..self.first + self.length].fill(0);
        }
    }

    /// How many values a step may take at most.
    pub fn offers(&self) -> usize {
        self.offered.len()
    }

    /// Says which value the next step takes; `number` is below [`Recording::offers`].
    pub fn offer(&self, state: &mut [u8], number: usize, value: u64) {
        self.offered[number].put(state, value + 1);
    }

    /// How many of the offered values a rule takes.
    pub fn takes(&self, rule: u32) -> usize {
        self.taken[rule as usize]
    }

    /// The values that the protocol keeps in a state, each once.
    pub fn values_in(&self, state: &[u8]) -> Vec<u64> {
        let slots = self.data.iter().map(|slot| slot.get(state));
        let mut values: Vec<u64> = slots.filter_map(|slot| slot.checked_sub(1)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// Composes a protocol with what records its events.
pub fn record(source: &Source, options: &RecordOptions) -> Result<Recording, Failure> {
    let protocol =
        events::find(source, &options.language, &options.events).map_err(Failure::Unsuitable)?;
    let doubts = independence::doubts(&protocol);
    let independent = doubts.is_empty();
    let warnings = protocol.warnings.iter().cloned().chain(doubts).collect();
    let wanted = (independent || options.insist).then_some(options.values.max(2));
    let mut model = composed(&protocol, wanted)?;
    let value = value_type(&model, &protocol);
    let fresh = wanted.is_some_and(|wanted| model.count(value) >= wanted);
    let (taken, offered) = match fresh {
        true => let_values_in(&mut model, value, &protocol.prefix),
        false => (vec![0; model.rules.len()], Vec::new()),
    };
    let interpreter = Interpreter::new(Arc::new(model)).map_err(|_| Failure::TooLarge)?;
    let places = Places::of(&interpreter, &protocol, value);
    let model = Arc::clone(interpreter.model());
    let named = |ty: TypeId| -> Vec<String> {
        let lowest = model.lowest(ty);
        (0..model.count(ty)).map(|at| render_simple(&model, ty, lowest + at as i64)).collect()
    };
    let marker = model.functions.iter().find(|other| other.name == protocol.store.name);
    let marker = &marker.expect("the protocol marks its stores").frame.locals;
    let processors = named(marker[0].ty).into_iter().map(|name| {
        let number = thread(&model, marker[0].ty, &name).unwrap_or(0);
        (name, number)
    });
    Ok(Recording {
        processors: processors.collect(),
        addresses: named(marker[1].ty),
        values: model.count(value),
        fresh,
        independent,
        commits: protocol.commit.is_some(),
        warnings,
        recorded: places.recorded,
        first: places.first,
        length: places.length,
        stride: places.stride,
        parts: places.parts,
        offered: offered.iter().map(|&global| places.slot(&interpreter, global)).collect(),
        taken,
        data: places.data,
        processor: marker[0].ty,
        address: marker[1].ty,
        value,
        interpreter,
    })
}

/// The protocol with its recorder, checked.
fn composed(protocol: &Protocol, values: Option<u64>) -> Result<Model, Failure> {
    let observer = recorder(protocol, most_events(protocol));
    let text = print(&compose_with_claims(protocol, values, &observer));
    let source = Source { name: protocol.model.source.name.clone(), text };
    let checked = murphi::load(source.clone(), &protocol.options)
        .map_err(|problems| Failure::Composition(source, problems))?;
    Ok(checked.model)
}

/// What records up to `most` events of a step.
fn recorder(protocol: &Protocol, most: u64) -> Observer {
    let prefix = &protocol.prefix;
    let (processor, address, value) =
        (&protocol.processor.text, &protocol.address.text, &protocol.value.text);
    let mut declarations = format!(
        "type {prefix}event: record kind: 0..2; p: {processor}; a: {address}; v: {value}; end; \
         var {prefix}recorded: 0..{most}; \
         {prefix}events: array [0..{last}] of {prefix}event; ",
        last = most - 1
    );
    for (number, kind) in ["load", "store", "commit"].iter().enumerate() {
        declarations.push_str(&format!(
            "procedure {prefix}on_{kind}({prefix}p: {processor}; {prefix}a: {address}; \
                                         {prefix}v: {value}); \
             begin \
               assert !isundefined({prefix}p) \"a {kind} has a processor that is defined\"; \
               assert !isundefined({prefix}a) \"a {kind} has an address that is defined\"; \
               assert !isundefined({prefix}v) \"a {kind} has a value that is defined\"; \
               assert {prefix}recorded < {most} \"a step has at most {most} memory events\"; \
               {prefix}events[{prefix}recorded].kind := {number}; \
               {prefix}events[{prefix}recorded].p := {prefix}p; \
               {prefix}events[{prefix}recorded].a := {prefix}a; \
               {prefix}events[{prefix}recorded].v := {prefix}v; \
               {prefix}recorded := {prefix}recorded + 1; \
             end; "
        ));
    }
    Observer {
        declarations,
        start: format!("{prefix}recorded := 0;"),
        on_load: format!("{prefix}on_load"),
        on_store: format!("{prefix}on_store"),
        on_commit: format!("{prefix}on_commit"),
        ..Observer::default()
    }
}

/// How many events a step of the protocol has at most. Loops without an evident end are given
/// [`MOST_EVENTS`].
fn most_events(protocol: &Protocol) -> u64 {
    let model = &*protocol.model;
    let markers = [Some(&protocol.load), Some(&protocol.store), protocol.commit.as_ref()];
    let is_marker =
        |id: usize| markers.iter().flatten().any(|marker: &&Marker| marker.id.0 as usize == id);
    let mut of_function = Vec::with_capacity(model.functions.len());
    for (id, function) in model.functions.iter().enumerate() {
        let inside = Counting { model, of_function: &of_function }.block(&function.body);
        of_function.push(inside.saturating_add(u64::from(is_marker(id))));
    }
    let counting = Counting { model, of_function: &of_function };
    let rules = model.rules.iter().chain(&model.start_states);
    rules.map(|rule| counting.block(&rule.body)).max().unwrap_or(0).clamp(1, MOST_EVENTS)
}

/// Counts the most events of statements. Functions only call those before them.
struct Counting<'a> {
    model: &'a Model,
    of_function: &'a [u64],
}

impl Counting<'_> {
    fn block(&self, statements: &[Statement]) -> u64 {
        let counts = statements.iter().map(|statement| self.statement(statement));
        counts.fold(0, u64::saturating_add)
    }

    fn statement(&self, statement: &Statement) -> u64 {
        match &statement.kind {
            StatementKind::Call(Call { function: FunctionId(id), .. }) => {
                self.of_function[*id as usize]
            }
            StatementKind::If { branches, otherwise } => {
                let bodies = branches.iter().map(|(_, body)| self.block(body));
                bodies.max().unwrap_or(0).max(self.block(otherwise))
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                let bodies = cases.iter().map(|(_, body)| self.block(body));
                bodies.max().unwrap_or(0).max(self.block(otherwise))
            }
            StatementKind::For { binder, body } => {
                self.block(body).saturating_mul(self.rounds(binder))
            }
            StatementKind::While { body, .. } => self.block(body).saturating_mul(MOST_EVENTS),
            StatementKind::Alias { body, .. } => self.block(body),
            _ => 0,
        }
    }

    fn rounds(&self, binder: &Binder) -> u64 {
        match &binder.domain {
            Domain::Type(ty) => self.model.count(*ty),
            Domain::Range { from, to, .. } => match (&from.kind, &to.kind) {
                (ExpressionKind::Constant(from), ExpressionKind::Constant(to)) => {
                    to.abs_diff(*from).saturating_add(1)
                }
                _ => MOST_EVENTS,
            },
            Domain::Multiset(place) => match self.model.kind(place.ty) {
                TypeKind::Multiset { capacity, .. } => u64::from(*capacity),
                _ => MOST_EVENTS,
            },
        }
    }
}

/// Lets values in through hidden variables instead of parameters that go through all of them.
/// Gives, for each rule, how many it takes, and the hidden variables.
fn let_values_in(model: &mut Model, value: TypeId, prefix: &str) -> (Vec<usize>, Vec<GlobalId>) {
    let taken: Vec<Vec<LocalId>> =
        model.rules.iter().map(|rule| free_values(rule, value)).collect();
    let most = taken.iter().map(Vec::len).max().unwrap_or(0);
    let mut offered = Vec::new();
    for number in 0..most {
        offered.push(GlobalId(model.globals.len() as u32));
        let name = format!("{prefix}offered_{number}");
        model.globals.push(Variable { name, ty: value, span: Span::default() });
    }
    for (rule, locals) in model.rules.iter_mut().zip(&taken) {
        let sources = offered.iter().map(|&global| read(global, value));
        bind(rule, locals.iter().copied().zip(sources));
    }
    let lowest = ExpressionKind::Constant(model.lowest(value));
    let lowest = Expression { kind: lowest, ty: value, span: Span::default() };
    for rule in &mut model.start_states {
        let locals = free_values(rule, value);
        bind(rule, locals.into_iter().zip(std::iter::repeat(lowest.clone())));
    }
    (taken.iter().map(Vec::len).collect(), offered)
}

/// The parameters of a rule that may have any value.
fn free_values(rule: &Rule, value: TypeId) -> Vec<LocalId> {
    let free = rule.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Each(Binder { local, domain: Domain::Type(ty), .. }) if *ty == value => {
            let names = |guard: &Expression| names_value(guard, *local);
            (!rule.guard.as_ref().is_some_and(names)).then_some(*local)
        }
        _ => None,
    });
    free.collect()
}

/// Whether a guard says that a parameter equals what is somewhere.
fn names_value(guard: &Expression, local: LocalId) -> bool {
    match &guard.kind {
        ExpressionKind::Binary(Operator::And, left, right) => {
            names_value(left, local) || names_value(right, local)
        }
        ExpressionKind::Binary(Operator::Equal, left, right) => {
            is_local(left, local) || is_local(right, local)
        }
        _ => false,
    }
}

/// Binds parameters to these values, before all others so that guards stay where they are cheap.
fn bind(rule: &mut Rule, bound: impl Iterator<Item = (LocalId, Expression)>) {
    for (local, source) in bound {
        rule.frame.locals[local.0 as usize].storage = Storage::Own;
        rule.parameters.retain(
            |parameter| !matches!(parameter, Parameter::Each(binder) if binder.local == local),
        );
        let target = AliasTarget::Value(source);
        rule.parameters.insert(0, Parameter::Alias { local, target });
    }
}

fn read(global: GlobalId, ty: TypeId) -> Expression {
    let span = Span::default();
    let place = Place { base: Base::Global(global), steps: Vec::new(), ty, span };
    Expression { kind: ExpressionKind::Read(place), ty, span }
}

/// Where things are in a state.
struct Places {
    recorded: Slot,
    first: usize,
    length: usize,
    stride: usize,
    parts: [Slot; 4],
    data: Vec<Slot>,
}

impl Places {
    fn of(interpreter: &Interpreter, protocol: &Protocol, value: TypeId) -> Places {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let offset_of = |name: &str| {
            let name = format!("{}{name}", protocol.prefix);
            let at = model.globals.iter().position(|global| global.name == name);
            let at = at.expect("the recorder declares its variables");
            (layout.globals[at] as usize, model.globals[at].ty)
        };
        let (recorded, recorded_type) = offset_of("recorded");
        let (first, events) = offset_of("events");
        let array = layout.of_type(events);
        let TypeKind::Array { element, .. } = model.kind(events) else {
            unreachable!("the recorder declares an array of events")
        };
        let TypeKind::Record(fields) = model.kind(*element) else {
            unreachable!("an event is a record")
        };
        let offsets = &layout.of_type(*element).fields;
        let part = |at: usize| Slot {
            offset: first + offsets[at] as usize,
            width: layout.of_type(fields[at].ty).size as usize,
        };
        Places {
            recorded: Slot { offset: recorded, width: layout.of_type(recorded_type).size as usize },
            first,
            length: array.size as usize,
            stride: array.stride as usize,
            parts: [part(0), part(1), part(2), part(3)],
            data: data(model, layout, value, &protocol.prefix),
        }
    }

    fn slot(&self, interpreter: &Interpreter, global: GlobalId) -> Slot {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let ty = model.globals[global.0 as usize].ty;
        let offset = layout.globals[global.0 as usize] as usize;
        Slot { offset, width: layout.of_type(ty).size as usize }
    }
}

/// Where the variables of the protocol have values.
fn data(model: &Model, layout: &Layout, value: TypeId, prefix: &str) -> Vec<Slot> {
    let mut leaves = Vec::new();
    for (global, &offset) in model.globals.iter().zip(&layout.globals) {
        if !global.name.starts_with(prefix) {
            layout.push_leaves(model, global.ty, offset, &mut leaves);
        }
    }
    let data = leaves.iter().filter(|leaf| leaf.ty == Some(value));
    data.map(|leaf| Slot { offset: leaf.offset as usize, width: leaf.width as usize }).collect()
}
