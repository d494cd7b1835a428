//! A protocol that records its memory events, for random walks that produce traces.
//!
//! The procedures that mark events append them to a small array in the state (`recorder.rs`); the
//! caller reads and empties the array after every step (`places.rs`). So several events of one step
//! are recorded in their order. The array has room for the largest number of events that a step can
//! have, according to the source (`most_events.rs`).
//!
//! If the protocol is data independent (see `independence`), every store can have a distinct value:
//! the type of values is enlarged as requested, and rules take fresh values from hidden variables
//! (`fresh.rs`). If independence is not established, values and parameters are unchanged.

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

/// How to record a protocol.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// How the protocol is read.
    pub language: check::Options,
    /// The names of the procedures that mark loads and stores.
    pub events: EventNames,
    /// The number of values, so that every store can have a distinct one.
    pub values: u64,
    /// Whether to use that number of values even if data independence is not established.
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

/// A protocol that records its memory events.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The composed model. Spans point into its own text.
    pub interpreter: Interpreter,
    /// The processors: the name in the protocol, and the number of the thread.
    pub processors: Vec<(String, u64)>,
    /// The names of the addresses in the protocol.
    pub addresses: Vec<String>,
    /// The number of values.
    pub values: u64,
    /// Whether values are fresh, chosen by [`Recording::offer`]; the initial value is 0.
    pub fresh: bool,
    /// Whether the source establishes causality and data independence.
    pub independent: bool,
    /// Whether the protocol marks where stores enter the coherence order.
    pub commits: bool,
    /// The assumptions that the source does not establish, and other warnings.
    pub warnings: Vec<Diagnostic>,
    places: Places,
    /// For each rule, how many of the offered values it takes.
    taken: Vec<usize>,
    processor: TypeId,
    address: TypeId,
    value: TypeId,
}

/// A memory event, with numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The kind of event.
    pub kind: EventKind,
    /// The index in [`Recording::processors`].
    pub processor: u32,
    /// The index in [`Recording::addresses`].
    pub address: u32,
    /// The number of the value.
    pub value: u64,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A processor took a value.
    Load,
    /// A processor wrote a value.
    Store,
    /// A store entered the coherence order of its address.
    Commit,
}

/// Composes a protocol with the recorder.
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

/// The names of the values of a type.
fn names(model: &Model, ty: TypeId) -> Vec<String> {
    let lowest = model.lowest(ty);
    (0..model.count(ty)).map(|at| render_simple(model, ty, lowest + at as i64)).collect()
}
