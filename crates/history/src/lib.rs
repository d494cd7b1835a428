//! What was observed: the events of one execution, and the trace formats they come in.
//!
//! A [`History`] is a set of events (reads, writes, atomic read-modify-writes, fences) on threads
//! and addresses, with everything a trace says about them. It is well-formed by construction: a
//! [`Builder`] is the only way to make one, and bad input is met there and nowhere else.

mod builder;
mod event;
mod history;

pub use builder::{
    BuildError, BuildErrorKind, Builder, Draft, MAX_EVENTS, MAX_THREADS, ThinAir, WriteName,
};
pub use event::{
    AddressId, AddressLabel, Event, EventId, Kinds, Operation, Source, ThreadId, Times, Value,
};
pub use history::{Address, Final, History, OrderChain};
