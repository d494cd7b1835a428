//! A protocol that writes its memory events down: what is walked at random to record traces.
//!
//! The procedures that mark events append to a small array in the state (`recorder.rs`), which
//! whoever runs the protocol reads and empties after every step (`places.rs`). So several events of
//! one step are known, in their order. The array has room for as many as a step can have, by the
//! source (`most_events.rs`).
//!
//! If the protocol treats data as cargo (see `independence`), every store can have a value of its
//! own: the type of values becomes as large as asked for, and rules take fresh values from hidden
//! variables (`fresh.rs`). Where independence is not established, values and parameters stay as they
//! are.

mod fresh;
mod most_events;
mod places;
mod recorder;
mod roles;

use std::sync::Arc;

use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::ir::{Model, TypeId};
use murphi::source::Source;
use murphi::value::render_simple;

use crate::events::EventNames;
use crate::failure::{self, Failure};
use crate::trace::{thread, value_type};

use fresh::let_values_in;
use places::Places;
use recorder::with_recorder;
pub use roles::Role;

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
    places: Places,
    /// How many of the offered values each rule takes.
    taken: Vec<usize>,
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

/// Composes a protocol with what records its events.
pub fn record(source: &Source, options: &RecordOptions) -> Result<Recording, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let doubts = &protocol.treatment.doubts;
    let independent = doubts.is_empty();
    let doubts = doubts.iter().map(|doubt| doubt.diagnostic.clone());
    let warnings = protocol.warnings.iter().cloned().chain(doubts).collect();
    let wanted = (independent || options.insist).then_some(options.values.max(2));
    let mut model = failure::composed(&protocol, &with_recorder(&protocol, wanted))?;
    let value = value_type(&model, &protocol);
    let fresh = wanted.is_some_and(|wanted| model.count(value) >= wanted);
    let (taken, offered) = match fresh {
        true => let_values_in(&mut model, value, &protocol.prefix),
        false => (vec![0; model.rules.len()], Vec::new()),
    };
    let interpreter = Interpreter::new(Arc::new(model)).map_err(|_| Failure::TooLarge)?;
    let places = Places::of(&interpreter, &protocol, value, &offered);
    let model = Arc::clone(interpreter.model());
    let marker = model.functions.iter().find(|other| other.name == protocol.store.name);
    let marker = &marker.expect("the protocol marks its stores").frame.locals;
    let (processor, address) = (marker[0].ty, marker[1].ty);
    let processors = names(&model, processor).into_iter().map(|name| {
        let number = thread(&model, processor, &name).unwrap_or(0);
        (name, number)
    });
    Ok(Recording {
        processors: processors.collect(),
        addresses: names(&model, address),
        values: model.count(value),
        fresh,
        independent,
        commits: protocol.commit.is_some(),
        warnings,
        places,
        taken,
        processor,
        address,
        value,
        interpreter,
    })
}

/// What the protocol calls each value of a type.
fn names(model: &Model, ty: TypeId) -> Vec<String> {
    let lowest = model.lowest(ty);
    (0..model.count(ty)).map(|at| render_simple(model, ty, lowest + at as i64)).collect()
}
