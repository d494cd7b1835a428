//! What was observed: the events of one execution, and the trace formats they come in.
//!
//! A [`History`] is a set of events (reads, writes, atomic read-modify-writes, fences) on threads
//! and addresses, with everything a trace says about them. It is well-formed by construction: a
//! [`Builder`] is the only way to make one, and bad input is met there and nowhere else.
//!
//! ```
//! use tribunal_history::{ReadOptions, TraceReader, write_jsonl};
//!
//! let trace = "
//!     0: M[x] := 1
//!     1: <M[x] == 1; M[x] := 2>   # an atomic read-modify-write
//!     final M[x] == 2
//!     check";
//! for history in TraceReader::new(trace.as_bytes(), "example", ReadOptions::default()) {
//!     let history = history?;
//!     assert_eq!((history.len(), history.thread_count()), (2, 2));
//!     write_jsonl(&history, &mut std::io::stdout())?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotation;
mod build_error;
mod builder;
mod columns;
mod commit;
mod dense;
mod equality;
mod event;
mod history;
mod join;
mod labels;
pub mod lexicon;
mod marks;
mod misaligned;
mod mixed;
mod origin;
mod read;
mod retain;
mod times;
mod workers;
mod write;
mod writers;

pub use annotation::{AccessOrder, DependencyKind, DependencyKinds, FenceName};
pub use build_error::{BuildError, BuildErrorKind};
pub use builder::{
    Builder, Draft, MAX_ADDRESSES, MAX_EVENTS, MAX_THREADS, Recorded, ThinAir, WriteName,
};
pub use commit::Commit;
pub use event::{
    AddressId, AddressLabel, ByteRange, Event, EventId, Kinds, MAX_ACCESS_SIZE, Operation, Source,
    ThreadId, Times, Value,
};
pub use history::{Address, Final, History, OrderChain};
pub use misaligned::Misaligned;
pub use mixed::Mixed;
pub use read::{
    CommitOptions, DiscardedAmo, Format, InputError, InputErrorKind, Piece, ReadOptions,
    TraceReader, Traces, UnknownFormat, is_complete, open, parse_text, shown, traces, unpack,
};
pub use retain::Lines;
pub use riscv::Xlen;
pub use write::{write_jsonl, write_text};
