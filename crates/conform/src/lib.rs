//! Does this protocol implement its memory model?

mod compose;
mod cycle;
mod events;
mod independence;
mod run;
mod sc;
mod trace;
mod tso;
mod verify;

pub use cycle::NiceCycle;
pub use events::EventNames;
pub use trace::{MemoryEvent, MemoryTrace};
pub use verify::{
    Counterexample, Failure, Lemma, MemoryModel, Options, Verdict, Verification, compositions,
    verify,
};
